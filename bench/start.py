# SPDX-License-Identifier: Apache-2.0
"""What `millrace run` costs a program before its first line: beside the program by itself, with the loader's companion
(src/libs/redirect/) and without it, by turns."""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

from programs import cell

PROGRAMS = [("true", "a program that does nothing", ["/bin/true"]), ("python", "Python, with 20 of its libraries", [sys.executable, "-c", "import ctypes, ssl, sqlite3, json, lzma, bz2"])]
TURNS = 60
GOAL_MS = 2


def one(command: list, environment: dict) -> tuple[float, float]:
    """Wall and processor time, in milliseconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def run_start(build: pathlib.Path) -> dict[str, float]:
    figures, run = {}, [build / "bin" / "millrace", "run", "--"]
    ways = {"bare": ([], {}), "off": (run, {"MILLRACE_REDIRECT": "off"}), "on": (run, {"MILLRACE_REDIRECT": "on"})}
    for name, _, command in PROGRAMS:
        taken = {way: [] for way in ways}
        for turn in range(TURNS):
            for way in ways if turn % 2 else reversed(ways):
                before, settings = ways[way]
                taken[way].append(one([*before, *command], os.environ | settings))
        for way, times in taken.items():
            figures[f"start_{name}_{way}_ms"] = statistics.median(wall for wall, _ in times)
            figures[f"start_{name}_{way}_processor_ms"] = statistics.median(processor for _, processor in times)
    return figures


def print_start(figures: dict) -> None:
    print("\nA program's start, in milliseconds: by itself, under millrace run without and with the loader's companion (medians, by turns; more: what the"
          "\nlast takes more than the first)\n")
    print(f"{'':36}" + "".join(f" {kind:>9} {'without':>9} {'with':>9} {'more':>7}" for kind in ("wall", "processor")) + f" {'goal':>5}")
    for name, label, _ in PROGRAMS:
        row = []
        for kind in ("", "processor_"):
            bare, off, on = (figures.get(f"start_{name}_{way}_{kind}ms") for way in ("bare", "off", "on"))
            row += [bare, off, on, on - bare if bare is not None and on is not None else None]
        print(f"{label:36}" + "".join(f" {cell(value, '{:.2f}'):>{width}}" for value, width in zip(row, (9, 9, 9, 7) * 2, strict=True)) + f" {GOAL_MS:>5}")
