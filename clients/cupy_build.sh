#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CuPy from PyPI's source distribution, unmodified, built with Millrace's static runtime library: clients/cupy_build.sh BUILD
# Runs the programs of clients/cupy.sh. make test-clients leaves it out.
#
# It takes a CUDA 13 toolkit: its nvcc for CuPy's .cu files, its headers, and cuBLAS, cuFFT, cuRAND, cuSPARSE and cuSOLVER, with which CuPy's modules are
# linked; when they run, Millrace's are loaded. Where there is no toolkit and CuPy has not been built before, all is skipped. The build takes about ten
# minutes of one core.
. "$(dirname "$0")/common.sh"
version=14.2.0
toolkit=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
client_begin cupy_build "${1:-build}"
prefix=$cache/prefix
source=$cache/source/cupy-$version

# What CuPy takes for the toolkit while it is built: the machine's, with Millrace's libraries in place of its runtime library, the driver and NVRTC.
make_prefix() {
    rm -rf "$prefix" && mkdir -p "$prefix/lib" || return 1
    for folder in include bin nvvm; do
        ln -s "$toolkit/$folder" "$prefix/$folder" || return 1
    done
    for name in cublas cufft curand cusparse cusolver; do
        ln -s "$toolkit"/lib64/lib$name.so* "$prefix/lib" || return 1
    done
    ln -s "$build/lib/libcudart_static.a" "$build/lib/libcuda.so" "$build/lib/libcuda.so.1" "$build"/lib/libnvrtc.so* "$prefix/lib"
}

fetch_and_build() {
    built=cupy-$version-$(cksum <"$build/lib/libcudart_static.a" | cut -d ' ' -f 1)
    [ -e "$cache/installed-$built" ] && return 0
    if [ ! -x "$toolkit/bin/nvcc" ]; then
        [ -e "$cache/installed-any" ] && { echo "cupy_build: there is no CUDA toolkit to build with; the CuPy that was built before is used"; return 0; }
        skip "all" "there is no CUDA toolkit at $toolkit"
        client_end
        exit
    fi
    install base --upgrade 'setuptools>=77' wheel 'Cython==3.2.*' 'numpy>=2.0,<2.5' 'cuda-pathfinder==1.*' scipy pytest packaging 'hypothesis<6.55' mpmath || return 1
    cupy_source $version || return 1
    make_prefix || return 1
    export CUDA_PATH="$prefix" NVCC="$toolkit/bin/nvcc"
    compiler=
    command -v ccache >/dev/null && compiler="ccache "
    export CC="${compiler}gcc" CXX="${compiler}g++"
    # One architecture, as PTX: machine code for NVIDIA's chips can't run here. nvcc's objects are kept from one build to the next.
    echo "cupy_build: building CuPy $version"
    rm -rf "$source"/build/lib.* "$source"/build/bdist.*
    CUPY_NVCC_GENERATE_CODE=arch=compute_75,code=compute_75 CUPY_NUM_BUILD_JOBS=2 CUPY_NUM_NVCC_THREADS=1 CFLAGS="-O1 -g0" CXXFLAGS="-O1 -g0" \
        LDFLAGS=-Wl,--as-needed install "$built" --no-build-isolation --no-cache-dir --force-reinstall --no-deps "$source" || return 1
    unset CUDA_PATH NVCC CC CXX
    # CuPy's modules look into the prefix first: what is Millrace's is to come from the build that is tested.
    rm -f "$prefix"/lib/libcuda* "$prefix"/lib/libnvrtc*
    for old in "$cache"/installed-cupy-*; do
        [ "$old" = "$cache/installed-$built" ] || rm -f "$old"
    done
    touch "$cache/installed-any"
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
