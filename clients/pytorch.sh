#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch from PyPI, unmodified, with no CUDA toolkit: clients/pytorch.sh BUILD
# clients/pytorch_check.py: streams, events, graphs, its libraries, and what torch.compile makes.
# clients/pytorch_programs_check.py: small programs after its tutorials, each beside the CPU.
# clients/pytorch_places_check.py: operators whose values choose places, under millrace check.
# clients/pytorch_operators_check.py: its own database of operators, each beside the CPU.
# clients/pytorch_devices_check.py: two devices, two processes, NCCL.
# clients/pytorch_races_check.py: faults of order in its programs, which millrace check finds.
# clients/pytorch_trace_check.py: its operators' names in a timeline.
# clients/pytorch_extension_check.py: extensions in CUDA C++, built by its torch.utils.cpp_extension and Millrace's nvcc.
. "$(dirname "$0")/common.sh"
client_begin pytorch "${1:-build}"
install pytorch-2 'torch==2.15.*' numpy expecttest || exit 1
install extensions setuptools ninja nvidia-cuda-cccl || exit 1
check "pytorch_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_check.py"
check "pytorch_check.py, without PyTorch's own kernels" env MILLRACE_KEEP=torch "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_check.py"
check "pytorch_programs_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_programs_check.py"
check "pytorch_programs_check.py under millrace check" "$millrace" check -- "$venv/bin/python" "$root/clients/pytorch_programs_check.py"
check "pytorch_places_check.py under millrace check" "$millrace" check --tool race,mem,init -- "$venv/bin/python" "$root/clients/pytorch_places_check.py"
check "pytorch_operators_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_operators_check.py"
check "pytorch_operators_check.py, as for large tensors" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_operators_check.py" --large
check "pytorch_devices_check.py" env MILLRACE_DEVICES=2 "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_devices_check.py"
check "pytorch_devices_check.py under millrace check" env MILLRACE_DEVICES=2 "$millrace" check -- "$venv/bin/python" "$root/clients/pytorch_devices_check.py"
check "pytorch_races_check.py" "$venv/bin/python" "$root/clients/pytorch_races_check.py" "$millrace"
install tilelang-0.1 'tilelang==0.1.*' || exit 1
check "tilelang_check.py" env PATH="$venv/bin:$PATH" TILELANG_CACHE_DIR="$work/tilelang" "$millrace" run -- "$venv/bin/python" "$root/clients/tilelang_check.py"
check "pytorch_trace_check.py" "$venv/bin/python" "$root/clients/pytorch_trace_check.py" "$millrace"
# It builds for minutes, and its own Python has no headers if the machine's has none.
if "$venv/bin/python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; then
    check "pytorch_extension_check.py: what load_inline builds" env PATH="$venv/bin:$PATH" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_extension_check.py" "$work/extension" inline
    check "pytorch_extension_check.py: what setuptools builds" env PATH="$venv/bin:$PATH" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_extension_check.py" "$work/extension" project
    check "pytorch_extension_check.py: under millrace check" "$venv/bin/python" "$root/clients/pytorch_extension_check.py" "$work/extension" check "$millrace"
else
    skip "pytorch_extension_check.py" "the Python has no headers (python3-dev)"
fi
client_end
