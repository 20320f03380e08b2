#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Monitors from PyPI, unmodified, on Millrace's NVML: clients/nvml.sh BUILD
# nvidia-ml-py (pynvml), nvitop and gpustat; clients/nvml_check.py looks at what they say of a process that it starts.
. "$(dirname "$0")/common.sh"
client_begin nvml "${1:-build}"
install monitors-1 nvidia-ml-py 'nvitop==1.7.*' 'gpustat==1.1.*' || exit 1
check "nvml_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/nvml_check.py"
check "nvitop" sh -c '"$@" | grep -q "Millrace"' - "$millrace" run -- "$venv/bin/nvitop" --once --no-unicode
check "gpustat" sh -c '"$@" | grep -q "Millrace"' - "$millrace" run -- "$venv/bin/gpustat" -cpu
client_end
