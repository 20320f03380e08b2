# SPDX-License-Identifier: Apache-2.0
"""Running a program of the benchmark and building those that are compiled for the machine at hand; cells of tables."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def run(command: list, **environment: str) -> dict[str, float]:
    """The `name value` lines that a program prints; empty if it says there is nothing to measure with (77)."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode == 77:
        return {}
    if done.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with status {done.returncode}")
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([-\d.]+)$", done.stdout, re.MULTILINE)}


def build_by_hand(folder: str, source: str, name: str) -> pathlib.Path | None:
    """A hand-written reference, compiled for this processor by the compiler that the goals name."""
    program = pathlib.Path(folder) / name
    done = subprocess.run(["clang-19", "-std=gnu17", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                           str(HERE / source), "-o", str(program), "-lm"], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return program if done.returncode == 0 else None


def cell(value: float | None, form: str = "{:.0f}") -> str:
    return form.format(value) if value is not None else "-"
