#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs random programs on NVIDIA's driver, on a machine that has a GPU: the model of the ordering rules is put to the same test as Millrace.
#
#     hardware.sh OUTPUT-DIRECTORY [seconds, by default 200] [first seed, by default 1] [more options of random_programs]
#
# Needs a C compiler and a CUDA toolkit's headers (CUDA_HOME, or the usual place). Goes on after a failure with the seed behind it, and gives up after
# ten. Leaves random.txt in OUTPUT-DIRECTORY: what was run, and every failure. With RUNTIME=1 in the environment the programs go through the toolkit's
# libcudart.
set -eu

out=${1:?usage: hardware.sh OUTPUT-DIRECTORY [seconds] [first seed] [options]}
seconds=${2:-200}
seed=${3:-1}
if [ $# -gt 3 ]; then shift 3; else set --; fi
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${CUDA_HOME:-/usr/local/cuda}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir -p "$out"

stub=$(find -L "$toolkit/lib64/stubs" "$toolkit/targets" -name libcuda.so 2>/dev/null | head -n 1)
[ -n "$stub" ] || stub=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
runtime=
if [ -n "${RUNTIME:-}" ]; then
    library=$(find -L "$toolkit/lib64" "$toolkit/lib" "$toolkit/targets" -name 'libcudart.so*' 2>/dev/null | head -n 1)
    runtime="-DRANDOM_RUNTIME $library -Wl,-rpath,$(dirname "$library")"
fi
# All but what calls libraries of mathematics, which such programs don't.
sources=$(ls "$here"/*.c | grep -v '/libraries\.c$')
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -I"$toolkit/include" -o "$build/random_programs" $sources $runtime "$stub" -lpthread

{
    echo "# gpu: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
    echo "# driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
    echo "# date: $(date -u +%Y-%m-%d)"
} >"$out/random.txt" 2>/dev/null
end=$(($(date +%s) + seconds))
failures=0
while [ $failures -lt 10 ] && [ "$(date +%s)" -lt $end ]; do
    if "$build/random_programs" --from "$seed" --seeds 100000 --seconds $((end - $(date +%s))) "$@" >"$build/log" 2>&1; then
        cat "$build/log" >>"$out/random.txt"
        break
    fi
    cat "$build/log" >>"$out/random.txt"
    failures=$((failures + 1))
    failed=$(sed -n 's/^random: seed \([0-9]*\).*/\1/p' "$build/log" | tail -n 1)
    [ -n "$failed" ] || break
    seed=$((failed + 1))
done
echo "# failures: $failures" >>"$out/random.txt"
cat "$out/random.txt"
