#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Wheels from PyPI that carry NVIDIA's runtime library inside, unmodified, with no CUDA toolkit: clients/wheels.sh BUILD
# CuPy: the two programs of the seed documents (where they are) and clients/cupy_check.py.
# XGBoost, CTranslate2, bitsandbytes' kernels, and Kernel Tuner on CuPy and on cuda.bindings: a check each.
. "$(dirname "$0")/common.sh"
client_begin wheels "${1:-build}"
install cupy-14.2 'cupy-cuda13x==14.2.*' 'numpy<2.5' || exit 1
# Its wheel asks for NCCL's, which one device needs nothing of.
install xgboost-3.2 --no-deps 'xgboost==3.2.*' || exit 1
install xgboost-needs scipy || exit 1
install ctranslate2-4.8 'ctranslate2==4.8.*' || exit 1
# Without PyTorch, which its Python needs and its kernels do not; it is linked to cuBLAS, which is loaded and not called.
install bitsandbytes-0.50 --no-deps 'bitsandbytes==0.50.*' nvidia-cublas || exit 1
install kernel-tuner-1.5 'kernel-tuner==1.5.*' 'numpy<2.5' || exit 1
install cuda-core-1.2-5 'cuda-core==1.2.*' 'cuda-bindings==13.5.*' || exit 1

cupy_kernels
cupy_programs
check "cupy_linalg_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_linalg_check.py"
check "cupy_fft_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_fft_check.py"
check "cupy_sparse_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_sparse_check.py"
check "cupy_nccl_check.py" env MILLRACE_DEVICES=2 "$millrace" run -- "$venv/bin/python" "$root/clients/cupy_nccl_check.py"
check "xgboost_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/xgboost_check.py"
for name in ctranslate2 bitsandbytes; do
    check "${name}_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/${name}_check.py"
done
for language in CuPy NVCUDA; do
    check "kernel_tuner_check.py $language" "$millrace" run -- "$venv/bin/python" "$root/clients/kernel_tuner_check.py" $language
done
client_end
