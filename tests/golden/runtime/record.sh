#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what NVIDIA's runtime library answers, on a machine that has a GPU.
#
#     record.sh OUTPUT-DIRECTORY [--compiled] [runtime_cases arguments]
#
# Needs a C compiler and a CUDA toolkit with its libcudart (CUDA_HOME, or the
# usual place).  Leaves in OUTPUT-DIRECTORY the golden file, named after GPU
# and driver, and stderr.txt.  --compiled has the toolkit's nvcc compile and
# register the kernels that the host names (rt_compiled.cu) and records into a
# file of another name: it shows which answers belong to the registration by hand.
set -eu

out=${1:?usage: record.sh OUTPUT-DIRECTORY [runtime_cases arguments]}
shift
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"
registers=$here/rt_register.c suffix=
if [ "${1:-}" = --compiled ]; then
    shift
    registers="$build/compiled.o -lstdc++" suffix=-compiled
    "$toolkit/bin/nvcc" -gencode 'arch=compute_90,code=[compute_90,sm_90]' -c "$here/rt_compiled.cu" -o "$build/compiled.o"
    objcopy --redefine-sym _ZL15rt_host_counter=rt_host_counter --redefine-sym _ZL13rt_host_table=rt_host_table \
        --redefine-sym _ZL17rt_host_constants=rt_host_constants --globalize-symbol rt_host_counter --globalize-symbol rt_host_table \
        --globalize-symbol rt_host_constants "$build/compiled.o"
fi

library() {
    find -L "$toolkit/lib64" "$toolkit/lib" "$toolkit/targets" -type f -name "$1" 2>/dev/null | head -n 1
}
stub=$(library libcuda.so)
[ -n "$stub" ] || stub=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
runtime=$(library libcudart.so)
[ -n "$runtime" ] || runtime=$(library 'libcudart.so.*')
[ -n "$stub" ] && [ -n "$runtime" ] || { echo "no libcuda or no libcudart under $toolkit" >&2; exit 1; }
flags="-std=gnu17 -O1 -g -Wall -Wextra -Wno-deprecated-declarations -I$toolkit/include"
common="$here/../gold_answer.c $here/../gold_main.c $here/../gold_names.c $here/../gold_peer.c $here/../gold_ptx.c"
# shellcheck disable=SC2086
${CC:-cc} $flags -o "$build/runtime_cases" $common "$here/rt.c" "$here/rt_names.c" $registers "$here"/case_*.c "$runtime" "$stub" \
    "-Wl,-rpath,$(dirname "$runtime")" -lpthread -ldl
command -v nvidia-smi >/dev/null || { echo "the cases are built, but there is no GPU here: nothing is recorded" >&2; exit 1; }
"$build/runtime_cases" --list "$@" >"$build/names"

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
short=$(echo "$gpu" | tr 'A-Z ' 'a-z-')
golden=$out/$short-${driver%%.*}$suffix.txt
{
    echo "# What NVIDIA's runtime library answered; made by record.sh, compared by compare.py."
    echo "# gpu: $gpu"
    echo "# driver: $driver"
    echo "# runtime: $(readlink -f "$runtime" | sed 's|.*/||')"
    echo "# date: $(date -u +%Y-%m-%d)"
} >"$golden"
start=$(date +%s)
# Cases that need a process each are most of the time: several parts side by side.
parts=5
for part in 0 1 2 3 4; do
    "$build/runtime_cases" --shard $part/$parts "$@" >"$build/part$part" 2>"$build/stderr$part" &
done
wait
cat "$build"/part? >"$build/answers"
awk 'NR == FNR { name = $0; sub(/: .*|:$/, "", name); line[name] = $0; next } $0 in line { print line[$0] }' \
    "$build/answers" "$build/names" >>"$golden"
cat "$build"/stderr? >"$out/stderr.txt"
echo "$(grep -vc '^#' "$golden") cases in $(($(date +%s) - start)) s: $golden"
