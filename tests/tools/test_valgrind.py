#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs examples under Valgrind: no error, nothing definitely lost. Ends with 77 (skip) where there is no Valgrind.

    test_valgrind.py BUILD_FOLDER EXAMPLES_FOLDER [all]

Each runs natively first. Most have a plain processor's code made, so that what runs under Valgrind comes from the cache
and the test is short. One does not: then the cache has code for this processor, which Valgrind's may not be able to
run. `all` takes every example of CUDA C++, those of several files too; without it one whose warps have stacks, one that
faults, and one of graphs.
"""

import concurrent.futures
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = {"streams": [], "arrays": ["--arrays", "5", "--length", "1024"], "threads": ["--length", "1024"]}
SOME = ["cooperative", "errors", "graphs"]
OPTIONS = {"threads": ["--extended-lambda", "--default-stream", "per-thread"], "cooperative": ["-std=c++17"]}
CHECK = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]


def is_the_fault(report):
    """The example `errors` writes to 0x10 on purpose, once; that is all that may be told of it."""
    return re.findall(r"==\d+== (?:Address|Invalid|Use|Cond|Syscall|[\d,]+ bytes).*", report) and \
        len(re.findall(r"Invalid write of size 4", report)) == 1 and "Address 0x10 is not stack'd" in report and \
        not re.search(r"uninitialised|definitely|Invalid read|Jump", report)


def run(name, command):
    env = dict(os.environ)
    if platform.machine() == "x86_64" and name != "streams.c":
        env |= {"MILLRACE_CPU": "x86-64-v2", "MILLRACE_OPTIMISE_AFTER": "1000000000"}
    plain = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    if plain.returncode != 0:
        return f"status {plain.returncode} without Valgrind\n{plain.stdout}{plain.stderr}"
    checked = subprocess.run(CHECK + command, env=env, capture_output=True, text=True, timeout=240, check=False)
    if checked.returncode == 0 and "==" not in checked.stderr:
        return None
    if name == "errors" and checked.returncode == 9 and is_the_fault(checked.stderr):
        return None
    return f"status {checked.returncode}\n{checked.stdout}{checked.stderr}"


def commands(build, source, program):
    """How a source, or a folder of them, is compiled into the program."""
    cc = [build / "bin/millrace", "cc"]
    if source.stem == "relocatable":
        return [[*cc, "-rdc=true", source / "main.cu", source / "table.cu", "-o", program]]
    if source.stem == "plugin":  # a library with kernels, which a program without any opens and closes
        return [[*cc, "-shared", "-Xcompiler", "-fPIC", "-DOPERAND=3", "-DOPERATOR=+", source / "plugin.cu", "-o", program.with_suffix(".so")],
                ["g++", f"-I{build}/include", source / "main.cpp", "-o", program, f"-L{build}/lib", "-lcudart", "-ldl"]]
    return [[*cc, *OPTIONS.get(source.stem, []), source, "-o", program]]


def compiled(build, source, work):
    program = work / source.stem
    for command in commands(build, source, program):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"cannot be compiled\n{done.stderr}"
    return run(source.stem, [str(program), *([f"{program}.so"] if source.stem == "plugin" else [])])


def main(build, folder, which="some"):
    if not shutil.which("valgrind"):
        print("there is no valgrind")
        return 77
    build, folder = Path(build), Path(folder)
    os.environ["LD_LIBRARY_PATH"] = f"{build}/lib"
    failed = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        os.environ["MILLRACE_CACHE_DIR"] = f"{work}/cache"
        runs = {f"{name}.c": pool.submit(run, f"{name}.c", [str(build / "examples" / name), *more]) for name, more in PLAIN.items()}
        for source in sorted((folder / "cuda").glob("*.cu")):
            if which == "all" or source.stem in SOME:
                runs[source.name] = pool.submit(compiled, build, source, Path(work))
        if which == "all":
            runs |= {name: pool.submit(compiled, build, folder / "cuda" / name, Path(work)) for name in ("relocatable", "plugin")}
        for name, future in runs.items():
            trouble = future.result()
            print(f"{name}: {trouble or 'clean'}")
            failed += trouble is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
