#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what NVIDIA's driver answers, on a machine that has a GPU.
#
#     record.sh OUTPUT-DIRECTORY [golden_cases arguments]
#
# Needs a C compiler and a CUDA toolkit's headers (CUDA_HOME, or the usual
# place).  Leaves in OUTPUT-DIRECTORY the golden file, named after GPU and
# driver, and four files for reading: proc_table.txt, errors.txt,
# attributes.txt and times.txt, how many milliseconds each case took.
set -eu

out=${1:?usage: record.sh OUTPUT-DIRECTORY [golden_cases arguments]}
shift
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"

stub=$(find -L "$toolkit/lib64/stubs" "$toolkit/targets" -name libcuda.so 2>/dev/null | head -n 1)
[ -n "$stub" ] || stub=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
flags="-std=gnu17 -O1 -g -Wall -Wextra -Wno-deprecated-declarations -I$toolkit/include"
# shellcheck disable=SC2086
${CC:-cc} $flags -o "$build/golden_cases" "$here"/gold*.c "$here"/case_*.c "$stub" -lpthread -ldl -lm
# shellcheck disable=SC2086
${CC:-cc} $flags -o "$build/proc_table" "$here/proc_table.c" "$stub" -ldl

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
short=$(echo "$gpu" | tr 'A-Z ' 'a-z-')
golden=$out/$short-${driver%%.*}.txt
{
    echo "# What NVIDIA's driver answered; made by record.sh, compared by compare.py."
    echo "# gpu: $gpu"
    echo "# driver: $driver"
    echo "# date: $(date -u +%Y-%m-%d)"
} >"$golden"
start=$(date +%s)
# Cases that need a process each are most of the time, several parts side by side. What a process does until it has a context the driver does for one
# process at a time, so more parts make it no faster: on a machine with 16 processors 5 took 187 s, and 16 had not ended after 250 s.
parts=5
for part in 0 1 2 3 4; do
    "$build/golden_cases" --shard $part/$parts --times "$build/times$part" "$@" >"$build/part$part" 2>"$build/stderr$part" &
done
wait
cat "$build"/part? >"$build/answers"
"$build/golden_cases" --list "$@" |
    awk 'NR == FNR { name = $0; sub(/: .*|:$/, "", name); line[name] = $0; next } $0 in line { print line[$0] }' \
        "$build/answers" - >>"$golden"
cat "$build"/stderr? >"$out/stderr.txt"
sort -rn "$build"/times? >"$out/times.txt"
echo "$(grep -vc '^#' "$golden") cases in $(($(date +%s) - start)) s: $golden"

# The names that the toolkit's cuda.h declares are the names that are looked up.
grep -oE '\bcu[A-Z][A-Za-z0-9_]*' "$toolkit/include/cuda.h" "$toolkit/include/cudaTypedefs.h" 2>/dev/null |
    sed 's/.*://' | sort -u >"$build/names"
"$build/proc_table" "$build/names" >"$out/proc_table.txt" || echo "no table: $?" >&2
"$build/proc_table" --errors >"$out/errors.txt" || echo "no table: $?" >&2
"$build/proc_table" --attributes >"$out/attributes.txt" || echo "no table: $?" >&2
wc -l "$out"/*.txt
