#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch from PyPI, unmodified, with no CUDA toolkit: clients/pytorch.sh BUILD
# clients/pytorch_check.py: streams, events, graphs, its libraries, and what torch.compile makes.
# clients/pytorch_programs_check.py: small programs after its tutorials, each beside the CPU.
# clients/pytorch_places_check.py: operators whose values choose places, under millrace check.
# clients/pytorch_operators_check.py: its own database of operators, each beside the CPU.
# clients/pytorch_devices_check.py: two devices, two processes, NCCL.
# clients/pytorch_races_check.py: faults of order in its programs, which millrace check finds.
. "$(dirname "$0")/common.sh"
client_begin pytorch "${1:-build}"
install pytorch-2 'torch==2.15.*' numpy expecttest || exit 1
check "pytorch_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_check.py"
check "pytorch_check.py, without PyTorch's own kernels" env MILLRACE_KEEP=torch "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_check.py"
check "pytorch_programs_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_programs_check.py"
check "pytorch_programs_check.py under millrace check" "$millrace" check -- "$venv/bin/python" "$root/clients/pytorch_programs_check.py"
check "pytorch_places_check.py under millrace check" "$millrace" check --tool race,mem,init -- "$venv/bin/python" "$root/clients/pytorch_places_check.py"
check "pytorch_operators_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_operators_check.py"
check "pytorch_operators_check.py, as for large tensors" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_operators_check.py" --large
check "pytorch_devices_check.py" env MILLRACE_DEVICES=2 "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_devices_check.py"
check "pytorch_races_check.py" "$venv/bin/python" "$root/clients/pytorch_races_check.py" "$millrace"
client_end
