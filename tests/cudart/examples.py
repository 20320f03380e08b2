#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the examples of one source by another compiler than `millrace cc`, links them with Millrace's runtime
library and runs them.

    examples.py (clang|nvcc|nvcc-static|nvcc-all) BUILD_FOLDER EXAMPLES_FOLDER

clang: clang 19 with Millrace's headers, by compile.py. nvcc: NVIDIA's with its own headers, by by_nvcc.py, shared or
against our static library; exits with 77 (skip) where there is none. Because it is slow, nvcc and nvcc-static share the
examples between them; nvcc-all takes all, shared.
"""

import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = {"threads": ["--extended-lambda", "--default-stream", "per-thread"], "cooperative": ["-std=c++17"]}
STATIC = {"capture", "devices", "graphs", "hello", "ipc", "managed", "mapped", "pitched", "ring", "symbols"}


def by_clang(build, source, work):
    program = work / source.stem
    flags = ["--header", "--per-thread"] if source.stem == "threads" else ["--header"]
    done = subprocess.run([sys.executable, HERE / "compile.py", "clang-19", build, source, program, *flags, "--", f"-L{build}/lib", "-lcudart", "-lpthread", "-lstdc++", "-lm"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        done = subprocess.run([program], capture_output=True, text=True, check=False)
    return done


def by_nvcc(build, source, library):
    more = OPTIONS.get(source.stem, [])
    if source.stem == "relocatable":
        source, more = source / "main.cu", ["-rdc=true", source / "table.cu"]
    return subprocess.run([sys.executable, HERE / "by_nvcc.py", build, source, library, *more], capture_output=True, text=True, check=False)


def main(compiler, build, folder):
    build = Path(build).resolve()
    sources = sorted(Path(folder).glob("*.cu"))
    if compiler == "clang":  # which has no managed variables; millrace cc has
        sources = [s for s in sources if s.stem != "managed_variables"]
    os.environ["LD_LIBRARY_PATH"] = f"{build}/lib"
    failed = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        if compiler == "clang":
            runs = {s.stem: pool.submit(by_clang, build, s, Path(work)) for s in sources}
        else:
            library = "static" if compiler == "nvcc-static" else "shared"
            sources.append(Path(folder) / "relocatable")
            runs = {s.stem: pool.submit(by_nvcc, build, s, library) for s in sources if compiler == "nvcc-all" or (s.stem in STATIC) == (library == "static")}
        for name, run in runs.items():
            done = run.result()
            if done.returncode == 77:
                print(done.stdout)
                return 77
            good = done.returncode == 0 and (f"{name}:" in done.stdout or name == "hello")
            print(f"{name}: {'right' if good else f'status {done.returncode}'}\n{'' if good else done.stdout + done.stderr}", end="")
            failed += not good
    print(f"{len(runs) - failed} of {len(runs)} examples by {compiler}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
