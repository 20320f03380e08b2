#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# llama.cpp's CUDA backend, unmodified: clients/llama_cpp.sh BUILD [OPERATION…]
# The sources come with llama-cpp-python from PyPI, CCCL from PyPI too. CMake builds the backend with Millrace's nvcc, for one architecture and
# without flash attention, and llama.cpp's own test-backend-ops compares each operation with its CPU backend.
# Takes an hour or more on two cores, so `make test-clients` leaves it out.
. "$(dirname "$0")/common.sh"
client_begin llama_cpp "${1:-build}"
shift
version=0.3.36
for tool in cmake ninja; do
    command -v $tool >/dev/null || { echo "llama_cpp: $tool is not here; Debian has it as cmake, ninja-build"; exit 1; }
done
install cccl nvidia-cuda-cccl==13.3.5.0.6 || exit 1
sources=$cache/llama_cpp_python-$version/vendor/llama.cpp
if [ ! -e "$sources/tests/test-backend-ops.cpp" ]; then
    echo "llama_cpp: fetching the sources"
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary llama-cpp-python -d "$cache" "llama-cpp-python==$version" >"$work/pip.log" 2>&1 ||
        { pip_failed "the sources of llama-cpp-python"; exit 1; }
    tar -xzf "$cache/llama_cpp_python-$version.tar.gz" -C "$cache"
fi
made=$work/made
PATH=$venv/bin:$build/bin:$PATH
check "configure" cmake -G Ninja -S "$sources" -B "$made" -DCMAKE_BUILD_TYPE=Release -DGGML_CUDA=ON -DCMAKE_CUDA_COMPILER="$build/bin/nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES=80-virtual -DGGML_CUDA_FA=OFF -DGGML_CUDA_FA_QUANTS=f16-f16 -DGGML_CUDA_NCCL=OFF -DGGML_NATIVE=OFF \
    -DLLAMA_BUILD_TESTS=ON -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF
[ "$checks_failed" = 0 ] || exit 1
# Longer than a check may take.
ninja -C "$made" -j 2 ggml >"$work/build.log" 2>&1 || { tail -n 25 "$work/build.log"; echo "FAILED: llama_cpp: build"; exit 1; }
check "test-backend-ops: compile" g++ -O1 -std=c++17 -I"$sources/ggml/include" -I"$sources/common" -I"$sources/include" \
    "$sources/tests/test-backend-ops.cpp" -o "$made/bin/test-backend-ops" -L"$made/bin" -lggml -lggml-base -Wl,-rpath,"$made/bin" -lpthread
[ "$checks_failed" = 0 ] || exit 1
[ $# -gt 0 ] || set -- ADD MUL SCALE NORM RMS_NORM SOFT_MAX ROPE GET_ROWS SET_ROWS CPY CONT CONCAT UPSCALE PAD ARGSORT SUM_ROWS ARGMAX \
    CUMSUM TOP_K IM2COL POOL_2D SSM_CONV SSM_SCAN GROUP_NORM OUT_PROD CROSS_ENTROPY_LOSS SUM MEAN SUB DIV L2_NORM SOFT_MAX_BACK \
    CROSS_ENTROPY_LOSS_BACK GATED_DELTA_NET RWKV_WKV6 RWKV_WKV7 GATED_LINEAR_ATTN CONV_2D_DW CONV_TRANSPOSE_1D CONV_TRANSPOSE_2D MUL_MAT
for operation in "$@"; do
    log=$work/$operation.txt
    timeout 900 "$millrace" run -- "$made/bin/test-backend-ops" test -b CUDA0 -o "$operation" >"$log" 2>&1
    status=$?
    right=$(grep -c '^  .*): .*OK' "$log")
    wrong=$(grep -c '): .*FAIL' "$log")
    echo "llama_cpp: $operation: $right right, $wrong wrong, status $status"
    passed=$((passed + right)) failed=$((failed + wrong))
    # A name that no case has ends with 0, too.
    [ "$status" = 0 ] && [ "$right" -gt 0 ] || checks_failed=$((checks_failed + 1))
done
client_end
