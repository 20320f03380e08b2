#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wheels from PyPI that carry NVIDIA's runtime library inside, unmodified, with no CUDA toolkit: clients/wheels.sh BUILD
# CuPy: the two programs of the seed documents (where they are) and clients/cupy_check.py. XGBoost: clients/xgboost_check.py.
. "$(dirname "$0")/common.sh"
client_begin wheels "${1:-build}"
install cupy-14.2 'cupy-cuda13x==14.2.*' 'numpy<2.5' || exit 1
# Its wheel asks for NCCL's, which one device needs nothing of.
install xgboost-3.2 --no-deps 'xgboost==3.2.*' || exit 1
install xgboost-needs scipy || exit 1

cupy_kernels
cupy_programs
check "xgboost_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/xgboost_check.py"
client_end
