#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Taichi, unmodified from PyPI: clients/taichi.sh BUILD
# Its kernels are PTX that its own LLVM makes; its sparse matrices and solvers open libcusparse, libcusolver and libcublas, which are Millrace's.
. "$(dirname "$0")/common.sh"
client_begin taichi "${1:-build}"
install taichi-1.7 'taichi==1.7.*' 'numpy<2.5' || exit 1
check taichi_check.py "$millrace" run -- "$venv/bin/python" "$root/clients/taichi_check.py"
client_end
