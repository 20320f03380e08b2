#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pytest plugin of millrace check (docs/check.md), with pytest and pytest-xdist from PyPI: clients/check_pytest.sh BUILD
. "$(dirname "$0")/common.sh"
client_begin check_pytest "${1:-build}"
install pytest pytest pytest-xdist || exit 1
check "millrace_pytest" env PYTEST_PYTHON="$venv/bin/python" /usr/bin/python3 "$root/tests/observer/test_pytest.py" "$millrace" none none Real
client_end
