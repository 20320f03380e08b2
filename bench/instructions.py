# SPDX-License-Identifier: Apache-2.0
"""How many instructions a call takes in the thread that makes it, counted by valgrind: a figure without the machine's noise, so
that two versions of the code can be compared on a busy machine.

With MILLRACE_BENCH_BESIDE=FOLDER the libcuda.so.1 of that folder, of another build, has a column of its own."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from programs import cell

CALLS = ["cuEventCreate", "cuEventDestroy", "cuEventRecord", "cuEventQuery", "cuStreamWaitEvent", "cuEventSynchronize", "cuEventElapsedTime",
         "cuMemAlloc", "cuMemFree", "cuLaunchKernel"]
ROUNDS = (1000, 3000)


def counted(program: pathlib.Path, libraries: pathlib.Path, rounds: int, folder: str) -> dict[str, int]:
    """The instructions of all calls of a run, by the call's name: what it takes itself and what it calls."""
    record = f"{folder}/record"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={record}", program, str(rounds)], check=True,
                   stderr=subprocess.DEVNULL, env={**os.environ, "LD_LIBRARY_PATH": str(libraries)})
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", record], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = re.findall(r"^\s*([\d,]+) .*?:(cu\w+?)(?:_v\d)?(?: \[.*)?$", text, re.MULTILINE)
    found = {}
    for count, name in rows:    # a jump on the way to the function has the same name
        found[name] = max(int(count.replace(",", "")), found.get(name, 0))
    return found


def run_instructions(programs: pathlib.Path) -> dict[str, float]:
    if not shutil.which("valgrind"):
        print("bench: valgrind is not there; Debian's package is valgrind", file=sys.stderr)
        return {}
    figures, sides = {}, [("ours", programs.parent / "lib")]
    if other := os.environ.get("MILLRACE_BENCH_BESIDE"):
        sides.append(("beside", pathlib.Path(other)))
    with tempfile.TemporaryDirectory() as folder:
        for side, libraries in sides:
            counted(programs / "bench_instructions", libraries, 1, folder)    # its code is in the cache from here on
            few, many = (counted(programs / "bench_instructions", libraries, rounds, folder) for rounds in ROUNDS)
            for name in CALLS:
                figures[f"instructions_{name}_{side}"] = (many[name] - few[name]) / (ROUNDS[1] - ROUNDS[0])
    return figures


def print_instructions(figures: dict) -> None:
    print("\nInstructions of a call in its own thread (streams at rest, events complete)\n")
    print(f"{'call':28} {'Millrace':>9} {'beside':>9}")
    for name in CALLS:
        print(f"{name:28}" + "".join(f" {cell(figures.get(f'instructions_{name}_{side}')):>9}" for side in ("ours", "beside")))
