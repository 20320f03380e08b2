#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# numba-cuda, unmodified from PyPI: clients/numba.sh BUILD
# Runs the driver tests and the kernel tests that its wheel holds. Numba makes PTX with NVIDIA's libnvvm, which has no other source: it comes from PyPI
# (nvidia-nvvm), as do the C++ headers that Numba's allocator includes (nvidia-cuda-cccl). NVRTC and the driver are Millrace's.
. "$(dirname "$0")/common.sh"
client_begin numba "${1:-build}"
install numba-cuda-0.30.4 'numba-cuda==0.30.4' 'numba==0.68.*' 'cuda-core==1.2.*' 'cuda-bindings==13.3.*' 'nvidia-nvvm==13.0.*' 'nvidia-cuda-cccl==13.0.*' \
    pytest filecheck cffi scipy psutil ml-dtypes || exit 1
tests=$("$venv/bin/python" -c 'import importlib.util as u; print(u.find_spec("numba_cuda").submodule_search_locations[0])')/numba/cuda/tests

modules_of() {
    for file in "$tests/$1"/test_*.py; do
        basename "$file" .py | sed "s/^/numba.cuda.tests.$1./"
    done
}

# shellcheck disable=SC2046
suite unittest numba-driver "$millrace" run -- "$venv/bin/python" $(modules_of cudadrv)
# shellcheck disable=SC2046
suite unittest numba-kernels "$millrace" run -- "$venv/bin/python" $(modules_of cudapy)
# These ask where cuda.h is when they are imported. The setting is not for the others: what Numba compiles at run time would get the folder, too.
export NUMBA_CUDA_INCLUDE_PATH="$build/include"
suite unittest numba-linked "$millrace" run -- "$venv/bin/python" numba.cuda.tests.cudadrv.test_linker numba.cuda.tests.cudapy.test_device_func
client_end
