#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records what NVIDIA's libcupti answers, on a machine that has a GPU and a CUDA 13.0 toolkit (CUDA_HOME, or the usual
# place).
#
#     record.sh OUTPUT-DIRECTORY [arguments of the cases]
#
# Leaves in OUTPUT-DIRECTORY the golden file, named after GPU and driver, and stderr.txt.
set -eu

out=${1:?usage: record.sh OUTPUT-DIRECTORY [arguments of the cases]}
shift
here=$(cd "$(dirname "$0")" && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cupti=$cuda/extras/CUPTI
[ -e "$cupti/include/cupti.h" ] || cupti=$cuda
common="$here/../gold.c $here/../gold_answer.c $here/../gold_main.c $here/../gold_names.c $here/../gold_peer.c $here/../gold_ptx.c"
# shellcheck disable=SC2086
${CC:-cc} -std=gnu17 -O1 -g -Wno-deprecated-declarations "-I$cuda/include" "-I$cupti/include" -o "$work/cupti_cases" \
    $common "$here"/*.c "-L$cuda/lib64" "-L$cupti/lib64" "-L$cuda/lib64/stubs" "-Wl,-rpath,$cuda/lib64:$cupti/lib64" \
    -lcuda -lcudart -lcupti -lpthread -ldl -lm
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
short=$(echo "$gpu" | cut -d' ' -f1,2 | tr 'A-Z ' 'a-z-')
golden=$out/$short-${driver%%.*}.txt
{
    echo "# What NVIDIA's libcupti answered; made by record.sh, compared by compare.py."
    echo "# gpu: $gpu"
    echo "# driver: $driver"
    echo "# date: $(date -u +%Y-%m-%d)"
    "$work/cupti_cases" "$@" 2>"$out/stderr.txt"
} >"$golden"
echo "$(grep -vc '^#' "$golden") cases: $golden"
