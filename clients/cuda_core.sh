#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cuda-core and cuda-bindings, unmodified from PyPI: clients/cuda_core.sh BUILD
# Runs the seed's timing program (where it is), clients/cuda_core_check.py, clients/cuda_core_tests.py, clients/cuda_bindings_tests.py and
# clients/cuda_runtime_tests.py, the last with three versions of cuda-bindings. The packages' own tests are in their repository only.
. "$(dirname "$0")/common.sh"
client_begin cuda_core "${1:-build}"
install cuda-core-1.2-3 'cuda-core==1.2.*' 'cuda-bindings==13.3.*' numpy pytest || exit 1
for version in 13.0 12.9; do
    install "cuda-bindings-$version" --no-deps --target "$cache/bindings-$version" "cuda-bindings==$version.*" || exit 1
done
if [ -e "$programs/cuda_core_timing.py" ]; then
    check "cuda_core_timing.py" "$millrace" run -- "$venv/bin/python" "$programs/cuda_core_timing.py"
else
    skip "cuda_core_timing.py" "the seed programs are not here"
fi
check "cuda_core_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/cuda_core_check.py"
suite pytest cuda-core "$millrace" run -- "$venv/bin/python" "$root/clients/cuda_core_tests.py"
suite pytest cuda-bindings "$millrace" run -- "$venv/bin/python" "$root/clients/cuda_bindings_tests.py"
for version in 13.3 13.0 12.9; do
    suite pytest "cuda-runtime-$version" env PYTHONPATH="$cache/bindings-$version" "$millrace" run -- "$venv/bin/python" "$root/clients/cuda_runtime_tests.py"
done
for name in core bindings runtime; do
    check "cuda_${name}_tests.py under millrace check" "$millrace" check --tool race,mem,init -- \
        "$venv/bin/python" -m pytest -q -p no:cacheprovider "$root/clients/cuda_${name}_tests.py"
done
client_end
