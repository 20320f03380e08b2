#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that NVIDIA's nvcc builds by its defaults, with NVIDIA's static runtime library inside: clients/static_runtime.sh BUILD
# The runtime library's conformance tests and the examples (clients/static_runtime_tests.py), with the compiler and the runtime of 13.0 and of 13.5, and
# with the runtime of 12.9, of which PyPI has no nvcc. Compilers and libraries are the packages on PyPI. Of versions 11.0 to 12.8, of which PyPI has no such
# library, packages that carry one (clients/stripped_runtime_tests.py); they are 1.3 GB.
. "$(dirname "$0")/common.sh"
client_begin static_runtime "${1:-build}"
install pytest pytest || exit 1
install nvcc-13.0 --no-deps --target "$cache/13.0" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
    nvidia-cuda-cccl==13.0.85 || exit 1
install nvcc-13.5 --no-deps --target "$cache/13.5" nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37 \
    nvidia-cuda-cccl==13.3.5.0.6 || exit 1
install runtime-12.9 --no-deps --target "$cache/12.9" nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 || exit 1
install numpy numpy || exit 1
# stripped FOLDER PACKAGE OPTION…: a package that carries the library
stripped() {
    folder=$1
    shift
    install "stripped-$folder" --no-deps --target "$cache/stripped/$folder" "$@" || exit 1
}
for version in 121 124 126 128; do
    stripped desilofhe-cu$version desilofhe-cu$version==1.17.0
done
for version in cu11-2.13.4 cu11-2.19.3 cu12-2.16.5 cu12-2.17.1 cu12-2.19.3; do
    stripped nccl-$version nvidia-nccl-${version%-*}==${version#*-}
done
for version in 3.5.0 4.0.0 4.8.5; do
    stripped ctranslate2-$version ctranslate2==$version --python-version 3.11 --only-binary :all:
done
stripped nvcomp-cu12-4.0.1 nvidia-nvcomp-cu12==4.0.1
stripped nvcomp-cu11-4.0.1 nvidia-nvcomp-cu11==4.0.1
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
suite pytest stripped-runtimes env BUILD="$build" STRIPPED="$cache/stripped" "$venv/bin/python" "$root/clients/stripped_runtime_tests.py"
client_end
