#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that NVIDIA's nvcc builds by its defaults, with NVIDIA's static runtime library inside: clients/static_runtime.sh BUILD
# The runtime library's conformance tests and the examples (clients/static_runtime_tests.py), with the compiler and the runtime of 13.0 and of 13.5, and
# with the runtime of 12.9, of which PyPI has no nvcc. Compilers and libraries are the packages on PyPI.
. "$(dirname "$0")/common.sh"
client_begin static_runtime "${1:-build}"
install pytest pytest || exit 1
install nvcc-13.0 --no-deps --target "$cache/13.0" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
    nvidia-cuda-cccl==13.0.85 || exit 1
install nvcc-13.5 --no-deps --target "$cache/13.5" nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37 \
    nvidia-cuda-cccl==13.3.5.0.6 || exit 1
install runtime-12.9 --no-deps --target "$cache/12.9" nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 || exit 1
# suite_of VERSION WORD…: settings of the tests
suite_of() {
    version=$1
    shift
    suite pytest "static-runtime-$version" env BUILD="$build" "$@" "$venv/bin/python" "$root/clients/static_runtime_tests.py"
}
for version in 13.0 13.5; do
    suite_of $version NVCC="$cache/$version/nvidia/cu13/bin/nvcc" RUNTIME="$cache/$version/nvidia/cu13"
done
suite_of 12.9 RUNTIME="$cache/12.9/nvidia/cuda_runtime" HEADERS="$cache/12.9/nvidia/cuda_nvcc/include"
client_end
