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


def beside(program: pathlib.Path, source: str, folder: str, names: list[str]) -> tuple[dict, dict]:
    """A program and its hand-written twin, by turns, the better figure of two runs each. Their sums must agree."""
    by_hand = build_by_hand(folder, source, pathlib.Path(source).parent.name + "_by_hand")
    ours, theirs = {}, {}
    sides = [(ours, program)] + ([(theirs, by_hand)] if by_hand else [])
    for turn in range(2):
        for figures, one in sides if turn == 0 else reversed(sides):
            new = run([one], OMP_WAIT_POLICY="passive")
            figures.update({name: min(value, figures.get(name, value)) for name, value in new.items()})
    for name in names if theirs else ():
        mine, other = ours[f"{name}_sum"], theirs[f"{name}_sum"]
        if abs(mine - other) > 1e-4 * abs(other):
            sys.exit(f"bench: {name}: the results differ: {mine} and {other}")
    return ours, theirs


def cell(value: float | None, form: str = "{:.0f}") -> str:
    return form.format(value) if value is not None else "-"


def print_beside(kernels: list[tuple[str, str]], ours: dict, theirs: dict) -> None:
    """A table of kernels, by the name of their figures and their label, beside their twins in C with OpenMP."""
    print(f"{'kernel':48} {'Millrace':>9} {'OpenMP':>9} {'ratio':>6}")
    for name, label in kernels:
        mine, other = (figures.get(f"{name}_ms") for figures in (ours, theirs))
        print(f"{label:48} {cell(mine, '{:.2f}'):>9} {cell(other, '{:.2f}'):>9} {cell(mine / other if mine and other else None, '{:.1f}'):>6}")
