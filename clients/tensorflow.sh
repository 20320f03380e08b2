#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorFlow from PyPI, unmodified, with no CUDA toolkit: clients/tensorflow.sh BUILD
# clients/tensorflow_check.py: operations, and a convolutional network that trains, beside TensorFlow's CPU.
. "$(dirname "$0")/common.sh"
client_begin tensorflow "${1:-build}"
install tensorflow-1 'tensorflow==2.21.*' || exit 1
check "tensorflow_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/tensorflow_check.py"
client_end
