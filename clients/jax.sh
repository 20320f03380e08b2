#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# JAX from PyPI, unmodified, with no CUDA toolkit: clients/jax.sh BUILD
# clients/jax_check.py: operations, and a small transformer that trains, beside JAX's CPU backend.
# clients/jax_programs_check.py: small programs after JAX's guides, each beside its CPU backend.
# clients/jax_limits_check.py: what it asks for and can't have is its own error, and it goes on.
# clients/jax_devices_check.py: collectives and training on two devices, by NCCL.
. "$(dirname "$0")/common.sh"
client_begin jax "${1:-build}"
install jax-1 'jax[cuda13]==0.10.*' || exit 1
check "jax_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/jax_check.py"
check "jax_programs_check.py" "$millrace" run -- "$venv/bin/python" "$root/clients/jax_programs_check.py"
check "jax_limits_check.py" env MILLRACE_MEMORY=1G "$millrace" run -- "$venv/bin/python" "$root/clients/jax_limits_check.py"
check "jax_devices_check.py" env MILLRACE_DEVICES=2 "$millrace" run -- "$venv/bin/python" "$root/clients/jax_devices_check.py"
client_end
