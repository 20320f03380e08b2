#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CuPy from PyPI's source distribution, unmodified, built with Millrace's static runtime library: clients/cupy.sh BUILD
# Runs the two CuPy programs of the seed documents (where they are), clients/cupy_check.py, and a choice of CuPy's own tests.
#
# CuPy's wheels carry NVIDIA's runtime library inside, so it is built here. That takes a CUDA 13 toolkit: its nvcc for CuPy's three .cu files, its headers, and cuBLAS,
# cuFFT, cuRAND, cuSPARSE and cuSOLVER, with which CuPy's modules are linked. Those libraries load but can't work without NVIDIA's driver. Where there is no
# toolkit and CuPy has not been built before, all is skipped. The build takes about ten minutes of one core.
. "$(dirname "$0")/common.sh"
version=14.2.0
toolkit=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
client_begin cupy "${1:-build}"
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
        [ -e "$cache/installed-any" ] && { echo "cupy: there is no CUDA toolkit to build with; the CuPy that was built before is used"; return 0; }
        skip "all" "there is no CUDA toolkit at $toolkit"
        client_end
        exit
    fi
    install base --upgrade 'setuptools>=77' wheel 'Cython==3.2.*' 'numpy>=2.0,<2.5' 'cuda-pathfinder==1.*' pytest packaging 'hypothesis<6.55' mpmath || return 1
    make_prefix || return 1
    export CUDA_PATH="$prefix" NVCC="$toolkit/bin/nvcc"
    if [ ! -e "$source/setup.py" ]; then
        echo "cupy: fetching CuPy $version"
        rm -rf "$cache/source" && mkdir -p "$cache/source" || return 1
        "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-binary cupy -d "$cache/source" \
            "cupy==$version" >"$work/pip.log" 2>&1 || { pip_failed "the sources of CuPy"; return 1; }
        tar -xzf "$source.tar.gz" -C "$cache/source" || return 1
    fi
    compiler=
    command -v ccache >/dev/null && compiler="ccache "
    export CC="${compiler}gcc" CXX="${compiler}g++"
    # One architecture, as PTX: machine code for NVIDIA's chips can't run here. nvcc's objects are kept from one build to the next.
    echo "cupy: building CuPy $version"
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

# All these kernels take more than the cache of compiled kernels holds by default.
export MILLRACE_CACHE_SIZE=4G

# CuPy's own tests, from its sources; two devices, since many need them. Random numbers in them are NumPy's (cupy_plugin.py).
rm -rf "$work/tests" && cp -r "$source/tests" "$work/tests" || exit 1
export MILLRACE_DEVICES=2 PYTHONPATH="$root/clients" PYTEST_ADDOPTS="-p cupy_plugin -W ignore --confcutdir=$work/tests -o faulthandler_timeout=300"
files_of() {
    for file in $2; do
        echo "$work/tests/cupy_tests/$1/test_$file.py"
    done
}

# shellcheck disable=SC2046
suite pytest cupy-driver "$millrace" run -- "$venv/bin/python" $(files_of cuda_tests "stream device graph pinned_memory runtime driver memory compiler compiler_cache \
    nvrtc memory_hook profile nvtx texture")
# shellcheck disable=SC2046
suite pytest cupy-arrays "$millrace" run -- "$venv/bin/python" $(files_of core_tests "scan ndarray_get ndarray_owndata ndarray_contiguity flags function internal")
# shellcheck disable=SC2046
suite pytest cupy-core "$millrace" run -- "$venv/bin/python" $(files_of core_tests "carray core elementwise iter ndarray_byteswap ndarray_conversion ndarray_math ndarray_unary_op nep50_examples reduction \
    syncdetect userkernel")
# shellcheck disable=SC2046
suite pytest cupy-ndarray "$millrace" run -- "$venv/bin/python" $(files_of core_tests "array_function ndarray ndarray_adv_indexing ndarray_copy_and_view ndarray_cuda_array_interface \
    ndarray_indexing")
# shellcheck disable=SC2046
suite pytest cupy-more "$millrace" run -- "$venv/bin/python" $(files_of core_tests "bfloat16 cub_reduction dlpack gufuncs mdspan multithreading ndarray_complex_ops ndarray_reduction \
    ndarray_scatter ndarray_ufunc structured ufunc_methods")
for area in binary creation indexing; do
    suite pytest "cupy-$area" "$millrace" run -- "$venv/bin/python" "$work/tests/cupy_tests/${area}_tests"/test_*.py
done
suite pytest cupy-functional "$millrace" run -- "$venv/bin/python" "$work/tests/cupy_tests/functional_tests"/test_*.py "$work/tests/cupy_tests/padding_tests"/test_*.py \
    "$work/tests/cupy_tests/misc_tests"/test_*.py
# shellcheck disable=SC2046
suite pytest cupy-manipulation "$millrace" run -- "$venv/bin/python" $(files_of manipulation_tests "add_remove basic dims join kind rearrange shape split tiling transpose")
# shellcheck disable=SC2046
suite pytest cupy-logic "$millrace" run -- "$venv/bin/python" $(files_of logic_tests "comparison content ops truth type_test")
# shellcheck disable=SC2046
suite pytest cupy-search "$millrace" run -- "$venv/bin/python" $(files_of sorting_tests "count search")
# shellcheck disable=SC2046
suite pytest cupy-sorting "$millrace" run -- "$venv/bin/python" $(files_of sorting_tests "sort")
# shellcheck disable=SC2046
suite pytest cupy-statistics "$millrace" run -- "$venv/bin/python" $(files_of statistics_tests "histogram meanvar order")
# shellcheck disable=SC2046
suite pytest cupy-math "$millrace" run -- "$venv/bin/python" $(files_of math_tests "explog floating hyperbolic misc rational rounding special trigonometric window")
# shellcheck disable=SC2046
suite pytest cupy-sums "$millrace" run -- "$venv/bin/python" $(files_of math_tests "sumprod")
# 8,815 tests, nearly each with a kernel of its own: one in eight.
# shellcheck disable=SC2046
suite pytest cupy-arithmetic env CUPY_TESTS_ONE_IN=8 "$millrace" run -- "$venv/bin/python" $(files_of math_tests "arithmetic")
# Raw kernels, not those through jitify, which CuPy deprecates: its warm-up compiles more than six hundred times.
PYTEST_ADDOPTS="$PYTEST_ADDOPTS -k 'not (jitify and not no-jitify)'"
# shellcheck disable=SC2046
suite pytest cupy-raw "$millrace" run -- "$venv/bin/python" $(files_of core_tests "raw include")
client_end
