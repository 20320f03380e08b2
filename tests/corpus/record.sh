#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what the kernels of the corpus compute on a GPU.
#
#     record.sh OUTPUT-DIRECTORY
#
# Needs a C compiler, Python, and a CUDA toolkit (CUDA_HOME, or the usual place). Leaves the hashes, named after GPU and
# driver, and values-….txt.xz, what kernels gave whose results may differ within a bound.
set -eu

out=${1:?usage: record.sh OUTPUT-DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out" "$build/ptx"
start=$(date +%s)

stub=$(find -L "$toolkit/lib64/stubs" "$toolkit/targets" -name libcuda.so 2>/dev/null | head -n 1)
[ -n "$stub" ] || stub=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
${CC:-cc} -std=gnu17 -O1 -Wall -Wextra -I"$toolkit/include" -o "$build/corpus" "$here/corpus.c" "$stub"

python3 "$here/golden.py" unpack "$build/ptx"
# What this machine's nvcc makes of the sources that take headers of its own.
if [ -x "$toolkit/bin/nvcc" ]; then
    python3 "$here/compile.py" "$build/ptx" --nvcc "$toolkit/bin/nvcc" --sources header_half,header_groups,math || true
fi
echo "compiled after $(($(date +%s) - start)) s"

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
name=$(echo "$gpu" | tr 'A-Z ' 'a-z-')-${driver%%.*}
parts=8
for part in 0 1 2 3 4 5 6 7; do
    ls "$build"/ptx/*.ptx | awk "NR % $parts == $part" >"$build/list$part"
    # shellcheck disable=SC2046
    CUDA_CACHE_DISABLE=1 "$build/corpus" --values $(cat "$build/list$part") >"$build/raw$part" 2>"$build/err$part" || echo "part $part: status $?" &
done
wait
head -c 2000 "$build"/err?
python3 "$here/golden.py" fold "$out/$name.txt" "$out/$name-values.txt.xz" "$gpu" "$driver" "$build"/raw?
echo "$(grep -vc '^#' "$out/$name.txt") lines in $(($(date +%s) - start)) s"
