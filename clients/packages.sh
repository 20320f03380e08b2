#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages from PyPI that bring kernels of their own, unmodified, with no CUDA toolkit: clients/packages.sh BUILD
# A check each, beside the processor: tinygrad (a network trains), Halide, CatBoost, the ASTRA toolbox, Qiskit Aer, Dr.Jit, Quadrants, PyKeOps (which
# builds a library with g++), SlangPy, OSQP, implicit (on RAPIDS' memory manager), cuda.compute, Warp.
. "$(dirname "$0")/common.sh"
client_begin packages "${1:-build}"
install tinygrad-0.14 'tinygrad==0.14.*' numpy || exit 1
install halide-21 'halide==21.*' || exit 1
install catboost-1.2 'catboost==1.2.*' || exit 1
install astra-2.5 'astra-toolbox==2.5.*' || exit 1
install qiskit-aer-0.18 'qiskit-aer-gpu==0.18.*' || exit 1
install drjit-1.5 'drjit==1.5.*' || exit 1
install quadrants-1.3 'quadrants==1.3.*' || exit 1
install pykeops-2.3 'pykeops==2.3' || exit 1
install slangpy-0.43 'slangpy==0.43.*' || exit 1
install osqp-1.1 'osqp-cu12==1.1.*' || exit 1
# implicit 0.7.3 was built with this version of the memory manager.
install implicit-0.7 'implicit==0.7.3' 'rmm-cu13==26.4.*' || exit 1
install cuda-compute-1.2 'cuda-cccl[cu13]==1.2.*' 'cupy-cuda13x==14.*' || exit 1
install warp-1.19 'warp-lang==1.19.*' || exit 1

for name in tinygrad halide catboost astra qiskit drjit quadrants keops slangpy osqp implicit cuda_compute; do
    check "${name}_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/${name}_check.py"
done
check "warp_check.py" env MILLRACE_DRIVER_VERSION=13.4 WARP_CACHE_PATH="$work/warp" "$millrace" run -- "$venv/bin/python" "$root/clients/warp_check.py"
client_end
