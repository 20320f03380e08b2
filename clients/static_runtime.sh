#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that NVIDIA's nvcc builds by its defaults, with NVIDIA's static runtime library inside: clients/static_runtime.sh BUILD
# The runtime library's conformance tests and the examples (clients/static_runtime_tests.py), with the runtime of 12.9, 13.0 and 13.5. Compiler and
# libraries are the packages on PyPI. nvcc is that of 13.0, because 13.5's makes PTX 9.5, which a driver of 13.0 refuses.
. "$(dirname "$0")/common.sh"
client_begin static_runtime "${1:-build}"
install pytest pytest || exit 1
install nvcc-13.0 --no-deps --target "$cache/13.0" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
    nvidia-cuda-cccl==13.0.85 || exit 1
install runtime-13.5 --no-deps --target "$cache/13.5" nvidia-cuda-runtime==13.5.37 || exit 1
install runtime-12.9 --no-deps --target "$cache/12.9" nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 || exit 1
nvcc=$cache/13.0/nvidia/cu13/bin/nvcc
# suite_of VERSION WORD…: settings of the tests
suite_of() {
    version=$1
    shift
    suite pytest "static-runtime-$version" env BUILD="$build" "$@" "$venv/bin/python" "$root/clients/static_runtime_tests.py"
}
suite_of 13.0 NVCC="$nvcc" RUNTIME="$cache/13.0/nvidia/cu13"
suite_of 13.5 NVCC="$nvcc" RUNTIME="$cache/13.5/nvidia/cu13"
suite_of 12.9 RUNTIME="$cache/12.9/nvidia/cuda_runtime" HEADERS="$cache/12.9/nvidia/cuda_nvcc/include"
client_end
