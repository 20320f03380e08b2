#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorFlow from PyPI, unmodified, with no CUDA toolkit: clients/tensorflow.sh BUILD
# clients/tensorflow_check.py: operations, and a convolutional network that trains, beside TensorFlow's CPU.
# clients/tensorflow_programs_check.py: small programs after TensorFlow's guides, each beside its CPU.
# clients/tensorflow_limits_check.py: what it asks for and can't have is its own error, and it goes on.
# clients/tensorflow_devices_check.py: collectives and training on two devices, by NCCL.
. "$(dirname "$0")/common.sh"
client_begin tensorflow "${1:-build}"
install tensorflow-1 'tensorflow==2.21.*' || exit 1
check "tensorflow_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/tensorflow_check.py"
check "tensorflow_programs_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/tensorflow_programs_check.py"
check "tensorflow_limits_check.py" env MILLRACE_MEMORY=1G "$millrace" run -- "$venv/bin/python" "$root/clients/tensorflow_limits_check.py"
check "tensorflow_devices_check.py" env MILLRACE_DEVICES=2 "$millrace" run -- "$venv/bin/python" "$root/clients/tensorflow_devices_check.py"
client_end
