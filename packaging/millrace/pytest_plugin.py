# SPDX-License-Identifier: Apache-2.0
"""What every pytest gets where Millrace is installed: the option --millrace, and a line in the header."""
import json
import subprocess
import sys

from . import command, is_active, restart


def pytest_addoption(parser) -> None:
    parser.getgroup("millrace").addoption("--millrace", action="store_true", help="run the tests under `millrace run`: CUDA without a GPU")
    if "--millrace" in sys.argv[1:]:
        restart()


def pytest_report_header(config):
    """Asked of the command: a call in this process would settle what the devices are before the tests' own libraries are
    there to say what they want (MILLRACE_COMPUTE_CAPABILITY)."""
    del config
    if not is_active():
        return None
    done = subprocess.run([command(), "info", "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"millrace: {done.stderr.strip()}"
    said = json.loads(done.stdout)
    names = ", ".join(device["name"] for device in said["devices"])
    version = said["driver_version"]
    return f"millrace {said['version']}: {names or 'no device'}, driver {version // 1000}.{version % 1000 // 10}"
