#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what one of NVIDIA's libraries of mathematics answers, on a machine that has a GPU.
#
#     record.sh LIBRARY OUTPUT-DIRECTORY [arguments of the cases]
#
# LIBRARY is a folder here (cublas). Needs a C compiler and a CUDA toolkit with its libraries (CUDA_HOME, or the usual
# place). Leaves in OUTPUT-DIRECTORY the golden file, named after GPU and driver, and stderr.txt.
set -eu

usage='usage: record.sh LIBRARY OUTPUT-DIRECTORY [arguments of the cases]'
library=${1:?$usage}
out=${2:?$usage}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"
# A library for linking, or the one that programs load.
find_library() {
    for name in "$1" "$1.*"; do
        found=$(find -L "$toolkit/lib64" "$toolkit/lib" "$toolkit/targets" /usr/lib -type f -name "$name" 2>/dev/null | head -n 1)
        [ -z "$found" ] || { echo "$found"; return; }
    done
}
case $library in
cublas) also=cublasLt ;;
cufftw) also=cufft ;;
*) also= ;;
esac
stub=$(find_library libcuda.so)
[ -n "$stub" ] || stub=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
runtime=$(find_library libcudart.so)
asked=$(find_library "lib$library.so")
[ -n "$stub" ] && [ -n "$runtime" ] && [ -n "$asked" ] || { echo "no libcuda, libcudart or lib$library under $toolkit" >&2; exit 1; }
linked=$asked
for name in $also; do
    linked="$linked $(find_library "lib$name.so")"
done
common="$here/../gold_answer.c $here/../gold_main.c $here/../gold_names.c $here/../gold_peer.c $here/../gold_ptx.c"
common="$common $here/../runtime/rt.c $here/../runtime/rt_names.c $here/../runtime/rt_register.c"
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -O1 -g -Wno-deprecated-declarations "-I$toolkit/include" -o "$build/math_cases" $common "$here/$library"/*.c $linked "$runtime" "$stub" \
    "-Wl,-rpath,$(dirname "$runtime")" -lpthread -ldl -lm
command -v nvidia-smi >/dev/null || { echo "the cases are built, but there is no GPU here: nothing is recorded" >&2; exit 1; }
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
short=$(echo "$gpu" | cut -d' ' -f1,2 | tr 'A-Z ' 'a-z-')
golden=$out/$short-${driver%%.*}.txt
{
    echo "# What NVIDIA's lib$library answered; made by record.sh, compared by compare.py."
    echo "# gpu: $gpu"
    echo "# driver: $driver"
    echo "# library: $(readlink -f "$asked" | sed 's|.*/||')"
    echo "# date: $(date -u +%Y-%m-%d)"
    "$build/math_cases" "$@" 2>"$out/stderr.txt"
} >"$golden"
echo "$(grep -vc '^#' "$golden") cases: $golden"
