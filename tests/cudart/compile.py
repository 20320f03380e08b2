#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles one CUDA C++ source for host and device by clang, with Millrace's headers and no toolkit.

    compile.py CLANG BUILD_FOLDER SOURCE OUTPUT [--shared] [--per-thread] [--header] [-- LINKER_WORDS...]

--header includes cuda_runtime.h first, as compilers of CUDA do for their users. The device's PTX goes into a fat binary
with one entry, whose form is told in src/ptx/container.c.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def pack(ptx, entries=1):
    """A fat binary with the PTX, uncompressed."""
    data = ptx + b"\0" * (8 - len(ptx) % 8)
    entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 64, len(data), 0, 0, 0, 8, 80, 0, 0, 0, 0, 0) + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) * entries) + entry * entries


def main(argv):
    words, _, linker = " ".join(argv[1:]).partition(" -- ")
    clang, build, source, output, *flags = words.split()
    common = [clang, "-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "--cuda-gpu-arch=sm_80", "-fdeclspec",
              "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Xclang", "-target-sdk-version=12.3", "-isystem", f"{build}/include",
              "-isystem", f"{build}/device/include", "-include", f"{build}/device/millrace_device.h"]
    if "--header" in flags:
        common += ["-include", "cuda_runtime.h"]
    host = ["-Xclang", "-fgpu-default-stream=per-thread"] if "--per-thread" in flags else []
    with tempfile.TemporaryDirectory() as work:
        ptx, fatbin, obj = (Path(work) / n for n in ("device.ptx", "device.fatbin", "host.o"))
        subprocess.run(common + ["--cuda-device-only", "--cuda-feature=+ptx83", "-O3", "-S", source, "-o", ptx], check=True)
        fatbin.write_bytes(pack(ptx.read_bytes()))
        subprocess.run(common + ["--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin, "-O1", "-g", "-fPIC", *host, "-c",
                                 source, "-o", obj], check=True)
        subprocess.run([clang, obj, "-o", output, *(["-shared"] if "--shared" in flags else []), *linker.split()], check=True)


if __name__ == "__main__":
    main(sys.argv)
