#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the tests of the runtime library by nvcc and runs them on NVIDIA's runtime and driver, which is what they claim to describe. Each line that a
# test prints is something that hardware answers otherwise. Needs a toolkit and a GPU; device, symbol and threads want two.
#
#     tests/cudart/on_hardware.sh [NVCC]
#
# What the runtime answers to bad input is recorded by tests/golden/runtime/record.sh.
nvcc=${1:-${CUDA_HOME:-/usr/local/cuda}/bin/nvcc}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in device.c memory.c stream.c ipc.c container.c launch.cu symbol.cu graph.cu fault.cu texture.cu threads.cu managed.cu per_thread.cu; do
    case $source in
    per_thread.cu) options="--default-stream per-thread" ;;
    *) options= ;;
    esac
    # C sources take GNU C17; nvcc hands them to the host compiler.
    case $source in
    *.c) options="-Xcompiler -std=gnu17" ;;
    esac
    # shellcheck disable=SC2086
    if ! "$nvcc" -arch=native -cudart shared -D_GNU_SOURCE $options "$here/$source" -o "$work/program" -lcuda -lpthread 2>"$work/errors"; then
        echo "$source: does not compile"
        cat "$work/errors"
    elif timeout 120 "$work/program" >"$work/output" 2>&1; then
        echo "$source: as expected"
    else
        echo "$source: status $?"
        cat "$work/output"
    fi
done
