#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyCUDA, unmodified from PyPI, built against Millrace's cuda.h and libcuda.so: clients/pycuda.sh BUILD
# Runs the four PyCUDA programs of the seed documents (where they are) and clients/pycuda_check.py.
. "$(dirname "$0")/common.sh"
version=2026.1
client_begin pycuda "${1:-build}"

# PyCUDA is configured by a file in its source folder (siteconf.py), as its own documentation says; the sources stay as they are.
fetch_and_build() {
    [ -e "$work/installed-pycuda-$version" ] && return 0
    rm -rf "$work/source" && mkdir -p "$work/source" || return 1
    echo "pycuda: fetching PyCUDA $version"
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary pycuda \
        -d "$work/source" "pycuda==$version" >"$work/pip.log" 2>&1 || { pip_failed "the sources of PyCUDA"; return 1; }
    tar -xzf "$work/source/pycuda-$version.tar.gz" -C "$work/source" || return 1
    cat >"$work/source/pycuda-$version/siteconf.py" <<END
CUDA_INC_DIR = ["$build/include"]
CUDADRV_LIB_DIR = ["$build/lib"]
CUDADRV_LIBNAME = ["cuda"]
CUDA_ENABLE_GL = False
CUDA_ENABLE_CURAND = False
CXXFLAGS = []
LDFLAGS = []
END
    install "pycuda-$version" --no-build-isolation "$work/source/pycuda-$version"
}

install base numpy setuptools wheel || exit 1
fetch_and_build || exit 1

export PYCUDA_CACHE_DIR="$work/cache"
mkdir -p "$PYCUDA_CACHE_DIR"
for program in serial streams events threads; do
    if [ -e "$programs/pycuda_$program.py" ]; then
        check "pycuda_$program.py" "$millrace" run -- "$venv/bin/python" "$programs/pycuda_$program.py"
    else
        skip "pycuda_$program.py" "the seed programs are not here"
    fi
done
check "pycuda_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pycuda_check.py"
client_end
