#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CuPy, unmodified, from PyPI's wheel, which has NVIDIA's runtime library inside; no CUDA toolkit:
#   clients/cupy.sh [BUILD [SUITE…]]    SUITE: a name as below (sorting, raw), to run these alone
# Runs the two CuPy programs of the seed documents (where they are), clients/cupy_check.py, and a choice of CuPy's own tests, which its source distribution
# holds. clients/cupy_build.sh builds CuPy from that.
. "$(dirname "$0")/common.sh"
version=14.2.0
client_begin cupy "${1:-build}"
[ $# -eq 0 ] || shift
chosen=" $* "
source=$cache/source/cupy-$version
# The last four are what pip needs to look into the source distribution.
install wheel-$version "cupy-cuda13x==$version" 'numpy>=2.0,<2.5' scipy pytest packaging 'hypothesis<6.55' mpmath 'setuptools>=77' wheel 'Cython==3.2.*' \
    'cuda-pathfinder==1.*' || exit 1
cupy_source $version || exit 1

# Headers for kernels that CuPy compiles, and the compiler for those that name nvcc.
export CUDA_PATH="$build" NVCC="$build/bin/nvcc"
cupy_kernels
if [ $# -eq 0 ]; then
    cupy_programs
    for name in linalg fft sparse; do
        check "cupy_${name}_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_${name}_check.py"
    done
fi

# All these kernels take more than the cache of compiled kernels holds by default.
export MILLRACE_CACHE_SIZE=4G

# CuPy's own tests; two devices, since many need them. NumPy's threads, which the tests compare with, hinder each other on a busy machine.
rm -rf "$work/tests" && cp -r "$source/tests" "$work/tests" || exit 1
export OPENBLAS_NUM_THREADS=1 MILLRACE_DEVICES=2 PYTHONPATH="$root/clients" PYTEST_ADDOPTS="-p cupy_plugin -W ignore --confcutdir=$work/tests -o faulthandler_timeout=300"
# is_chosen SUITE
is_chosen() {
    case $chosen in "  " | *" $1 "*) return 0 ;; esac
    return 1
}
# tests NAME FOLDER "FILE…"…: a suite of test_FILE.py in these folders; ONE_IN=N keeps a sample (cupy_plugin.py)
tests() {
    name=$1
    shift
    is_chosen "$name" || return 0
    files=
    while [ $# -gt 0 ]; do
        for file in $2; do
            files="$files $work/tests/$1/test_$file.py"
        done
        shift 2
    done
    # shellcheck disable=SC2086
    suite pytest "cupy-$name" env "CUPY_TESTS_ONE_IN=${ONE_IN:-1}" "$millrace" run -- "$venv/bin/python" $files
}
# all NAME FOLDER…: a suite of all files in these folders
all() {
    name=$1
    shift
    is_chosen "$name" || return 0
    files=
    for folder in "$@"; do
        files="$files $(echo "$work/tests/cupy_tests/$folder"/test_*.py)"
    done
    # shellcheck disable=SC2086
    suite pytest "cupy-$name" "$millrace" run -- "$venv/bin/python" $files
}
cupy=cupy_tests scipy=cupyx_tests/scipy_tests
tests driver $cupy/cuda_tests "stream device graph pinned_memory runtime driver memory compiler compiler_cache nvrtc memory_hook profile nvtx texture"
tests arrays $cupy/core_tests "scan ndarray_get ndarray_owndata ndarray_contiguity flags function internal"
tests core $cupy/core_tests "carray core elementwise iter ndarray_byteswap ndarray_conversion ndarray_math ndarray_unary_op nep50_examples reduction syncdetect userkernel"
tests ndarray $cupy/core_tests "array_function ndarray ndarray_adv_indexing ndarray_copy_and_view ndarray_cuda_array_interface ndarray_indexing"
tests more $cupy/core_tests "bfloat16 cub_reduction dlpack gufuncs mdspan multithreading ndarray_complex_ops ndarray_reduction ndarray_scatter ndarray_ufunc structured \
    ufunc_methods"
for area in binary creation indexing; do
    all $area ${area}_tests
done
all functional functional_tests padding_tests misc_tests
tests manipulation $cupy/manipulation_tests "add_remove basic dims join kind rearrange shape split tiling transpose"
tests logic $cupy/logic_tests "comparison content ops truth type_test"
tests search $cupy/sorting_tests "count search"
tests sorting $cupy/sorting_tests "sort"
tests statistics $cupy/statistics_tests "histogram meanvar order correlation"
tests math $cupy/math_tests "explog floating hyperbolic misc rational rounding special trigonometric window"
tests sums $cupy/math_tests "sumprod"
tests linalg $cupy/linalg_tests "decomposition eigenvalue norms product solve"
tests random $cupy/random_tests "bit_generator generator init permutations random sample"
# These have thousands of tests, nearly each with a kernel of its own: a sample.
ONE_IN=3 tests matmul $cupy/math_tests matmul
ONE_IN=4 tests solver cupyx_tests "cusolver lapack"
ONE_IN=4 tests scipy-linalg $scipy/linalg_tests "array_utils decomp_lu matfuncs solve_triangular special_matrices uarray" cupyx_tests/linalg_tests solve
ONE_IN=4 tests cusparse cupyx_tests cusparse
ONE_IN=16 tests sparse-linalg $scipy/sparse_tests linalg
ONE_IN=32 tests sparse $scipy/sparse_tests "base construct coo csc csr dia extract index sparray"
ONE_IN=8 tests fft $cupy/fft_tests "cache callback fft"
ONE_IN=32 tests scipy-fft $scipy/fft_tests "fft fftlog helper realtransforms" $scipy/fftpack_tests fftpack
ONE_IN=8 tests arithmetic $cupy/math_tests arithmetic
# Raw kernels, not those through jitify, which CuPy deprecates: its warm-up compiles more than six hundred times.
PYTEST_ADDOPTS="$PYTEST_ADDOPTS -k 'not (jitify and not no-jitify)'"
tests raw $cupy/core_tests "raw include"
client_end
