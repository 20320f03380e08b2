#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Triton, unmodified from PyPI: clients/triton.sh BUILD
# Its compiler makes PTX; the assembler that it calls is Millrace's (TRITON_PTXAS_PATH, which `millrace run` sets), and so is the driver. Its own tests want
# PyTorch: the programs are ours, each beside the same in NumPy.
. "$(dirname "$0")/common.sh"
client_begin triton "${1:-build}"
install triton-3.9.0 'triton==3.9.0' numpy || exit 1
TRITON_CACHE_DIR=$work/kernels
TRITON_DEFAULT_FP_FUSION=1
export TRITON_CACHE_DIR TRITON_DEFAULT_FP_FUSION
program=$root/clients/triton_check.py
check names "$millrace" run -- "$venv/bin/python" "$program" --names
for name in $(grep '^name: ' "$work/names.log" | cut -d' ' -f2); do
    check "$name" "$millrace" run -- "$venv/bin/python" "$program" "$name"
done
client_end
