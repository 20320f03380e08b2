#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a test by NVIDIA's nvcc and runs it on Millrace's runtime library.

    by_nvcc.py BUILD_FOLDER SOURCE (shared|static) [OPTIONS...]

Exits with 77 (skip) where there is no nvcc: it is looked for in CUDA_HOME and the usual folder, never in PATH, where
Millrace's own may be.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(argv):
    build, source, library, *options = argv[1:]
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    nvcc = next((f"{f}/bin/nvcc" for f in folders if f and Path(f, "bin", "nvcc").exists()), None)
    if nvcc is None:
        print("no nvcc of NVIDIA's here")
        return 77
    lib = f"{build}/lib"
    link = ["-cudart", "shared"] if library == "shared" else ["-cudart", "none", "-Xlinker", f"{lib}/libcudart_static.a"]
    with tempfile.TemporaryDirectory() as work:
        # Nothing of nvcc's own run may load Millrace's libraries.
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        program = Path(work) / "program"
        subprocess.run([nvcc, "-std=c++17", "-gencode", "arch=compute_80,code=compute_80", source, "-o", program, *link, *options, "-lpthread", "-ldl"],
                       check=True, env=environment)
        return subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
