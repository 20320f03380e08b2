#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what NVIDIA's libnvidia-ml answers, on a machine that has a GPU.
#
#     record.sh BUILD OUTPUT-DIRECTORY [arguments of the cases]
#
# BUILD is a build folder of Millrace's, for nvml.h and nvml_each.inc. Needs a C compiler and a CUDA toolkit's cuda.h (CUDA_HOME, or
# the usual place). Leaves in OUTPUT-DIRECTORY the golden file, named after GPU and driver, and stderr.txt.
set -eu

usage='usage: record.sh BUILD OUTPUT-DIRECTORY [arguments of the cases]'
build=${1:?$usage}
out=${2:?$usage}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out" "$work/include"
cp "$build/include/nvml.h" "$build/gen/nvml_each.inc" "$work/include"
library=$(ldconfig -p | awk '$1 == "libnvidia-ml.so.1" { print $NF; exit }')
[ -n "$library" ] || { echo "there is no libnvidia-ml.so.1 here" >&2; exit 1; }
common="$here/../gold_answer.c $here/../gold_main.c $here/../gold_names.c $here/../gold_peer.c"
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -O1 -g -Wno-deprecated-declarations "-I$work/include" "-I${CUDA_HOME:-/usr/local/cuda}/include" -o "$work/nvml_cases" \
    $common "$here"/*.c "$library" -lpthread -ldl -lm
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
short=$(echo "$gpu" | cut -d' ' -f1,2 | tr 'A-Z ' 'a-z-')
golden=$out/$short-${driver%%.*}.txt
{
    echo "# What NVIDIA's libnvidia-ml answered; made by record.sh, compared by compare.py."
    echo "# gpu: $gpu"
    echo "# driver: $driver"
    echo "# date: $(date -u +%Y-%m-%d)"
    "$work/nvml_cases" "$@" 2>"$out/stderr.txt"
} >"$golden"
echo "$(grep -vc '^#' "$golden") cases: $golden"
