#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch from PyPI, unmodified, with no CUDA toolkit: clients/pytorch.sh BUILD
# clients/pytorch_check.py: streams, events, graphs, its libraries, and what torch.compile makes.
. "$(dirname "$0")/common.sh"
client_begin pytorch "${1:-build}"
install pytorch-1 'torch==2.15.*' numpy || exit 1
check "pytorch_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/pytorch_check.py"
client_end
