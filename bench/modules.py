# SPDX-License-Identifier: Apache-2.0
"""From PTX to the code of all kernels of a module, nothing cached, beside what NVIDIA's driver took for the same PTX.

The modules are those of the other benchmarks, and all in the folder that MILLRACE_BENCH_MODULES names: what
MILLRACE_DUMP=ptx has written there while real programs ran.
"""
import os
import pathlib
import re

from programs import HERE, cell, run


def find_modules(programs: pathlib.Path) -> list[pathlib.Path]:
    found = sorted(programs.glob("bench_*.ptx"))
    folder = os.environ.get("MILLRACE_BENCH_MODULES")
    return found + (sorted(pathlib.Path(folder).glob("*.ptx")) if folder else [])


def run_modules(programs: pathlib.Path) -> dict[str, dict[str, float]]:
    """By module, the better figures of two runs in a process each."""
    figures = {}
    for module in find_modules(programs):
        turns = [run([programs / "bench_modules", module]) for _ in range(2)]
        figures[module.stem.removeprefix("bench_")] = {name: min(turn[name] for turn in turns) for name in turns[0]}
    return figures


def print_modules(figures: dict[str, dict[str, float]]) -> None:
    recording = HERE / "nvidia-modules.txt"
    nvidia = dict(re.findall(r"^(\w+) ([\d.]+)$", recording.read_text(), re.MULTILINE)) if recording.exists() else {}
    print("\nModules from PTX to the code of all their kernels, nothing cached, in milliseconds\n")
    print(f"{'module':32} {'kernels':>7} {'wall':>9} {'processor':>9} {'NVIDIA*':>9} {'ratio':>6}")
    for name, mine in figures.items():
        other = float(nvidia[name]) if name in nvidia else None
        print(f"{name:32} {cell(mine['module_kernels']):>7} {cell(mine['module_ms'], '{:.1f}'):>9} {cell(mine['module_processor_ms'], '{:.1f}'):>9}"
              f" {cell(other, '{:.1f}'):>9} {cell(mine['module_ms'] / other if other else None, '{:.2f}'):>6}")
    print("* recorded on another machine, see bench/nvidia-modules.txt; the ratio is of wall time, and tells little on a machine with other work")
