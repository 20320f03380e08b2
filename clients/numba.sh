#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# numba-cuda, unmodified from PyPI: clients/numba.sh BUILD
# Runs the driver tests and the kernel tests that its wheel holds. It is installed as its users do it, in the newest versions: `pip install "numba-cuda[cu13]"`.
# That brings NVIDIA's libraries along. Of these Numba uses libnvvm, which has no other source, and C++ headers; NVRTC, nvJitLink, the runtime and the
# driver are Millrace's.
. "$(dirname "$0")/common.sh"
client_begin numba "${1:-build}"
install numba-cuda-newest 'numba-cuda[cu13]' pytest filecheck cffi scipy psutil ml-dtypes || exit 1
"$venv/bin/pip" list --disable-pip-version-check 2>/dev/null | grep -iE '^(numba|cuda|nvidia|numpy)' | sed 's/^/    /'
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
