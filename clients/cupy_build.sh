#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CuPy from PyPI's source distribution, unmodified, built without NVIDIA's toolkit: clients/cupy_build.sh BUILD
# Runs the programs of clients/cupy.sh. make test-clients leaves it out.
#
# Headers, nvcc, runtime and libraries of mathematics are Millrace's, CCCL is in CuPy's sources. Device code is PTX for one architecture. The wheel stays in
# the cache's folder "wheel"; programs run it with `millrace run`. The build takes about eleven minutes of processor time.
. "$(dirname "$0")/common.sh"
version=14.2.0
client_begin cupy_build "${1:-build}"
source=$cache/source/cupy-$version

fetch_and_build() {
    built=cupy-$version-$(cksum <"$build/lib/libcudart_static.a" | cut -d ' ' -f 1)
    [ -e "$cache/installed-$built" ] && return 0
    install base --upgrade 'setuptools>=77' wheel 'Cython==3.2.*' 'numpy>=2.0,<2.5' 'cuda-pathfinder==1.*' scipy pytest packaging 'hypothesis<6.55' mpmath || return 1
    cupy_source $version || return 1
    export CUDA_PATH="$build" NVCC="$build/bin/nvcc"
    compiler=
    command -v ccache >/dev/null && compiler="ccache "
    export CC="${compiler}gcc" CXX="${compiler}g++"
    echo "cupy_build: building CuPy $version"
    rm -rf "$source"/build/lib.* "$source"/build/bdist.* "$cache/wheel"
    CUPY_NVCC_GENERATE_CODE=arch=compute_75,code=compute_75 CUPY_NUM_BUILD_JOBS=2 CUPY_NUM_NVCC_THREADS=1 CFLAGS="-O1 -g0" CXXFLAGS="-O1 -g0" \
        LDFLAGS=-Wl,--as-needed "$venv/bin/pip" wheel --quiet --no-build-isolation --no-cache-dir --no-deps -w "$cache/wheel" "$source" \
        >"$work/pip.log" 2>&1 || { pip_failed "CuPy"; return 1; }
    install "$built" --force-reinstall --no-deps "$cache"/wheel/cupy-*.whl || return 1
    unset CUDA_PATH NVCC CC CXX
    for old in "$cache"/installed-cupy-*; do
        [ "$old" = "$cache/installed-$built" ] || rm -f "$old"
    done
}

fetch_and_build || exit 1
# Headers for kernels that CuPy compiles, and the compiler for those that name nvcc.
export CUDA_PATH="$build" NVCC="$build/bin/nvcc"
cupy_kernels
cupy_programs
for name in linalg fft sparse; do
    check "cupy_${name}_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_${name}_check.py"
done
client_end
