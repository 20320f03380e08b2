# SPDX-License-Identifier: Apache-2.0
"""A program whose parts check each other, compiled by the nvcc shim and run. Usage: program.py NVCC_SHIM BUILD SOURCE
[OPTION...]"""
import os
import pathlib
import subprocess
import sys
import tempfile

SHIM, BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        subprocess.run([SHIM, "-arch=sm_80", *sys.argv[4:], SOURCE, "-o", program], check=True)
        return subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
