# SPDX-License-Identifier: Apache-2.0
"""What `millrace check` costs kernels and calls: check.c with it and without it, by turns, in one run. With
BENCH_PROCESSOR_TIME, processor time."""
import pathlib
import sys
import tempfile

from programs import cell, run

TURNS = 3
# name in the program's output, label, form, how many times as long it may take
KERNELS = [("vector_add_ms", "vector addition, 16 Mi floats (streams)", "{:.2f}", 1.5), ("matrix_ms", "matrix product, 1024, tiles of 16 x 16", "{:.2f}", 3)]
# name in the program's output, label
CALLS = [("launch_ns", "launch of an empty kernel"), ("record_ns", "cuEventRecord, timing disabled"), ("wait_ns", "cuStreamWaitEvent"), ("query_ns", "cuEventQuery"),
         ("record_wait_ns", "cuEventRecord + cuStreamWaitEvent, 2 calls"), ("copy_ns", "cuMemcpyHtoDAsync of 4 bytes, pinned"),
         ("allocate_ns", "cuMemAllocAsync + cuMemFreeAsync, 2 calls")]
CALL_GOAL = 200


TOOLS = ("race", "mem", "init")


def run_check(build: pathlib.Path) -> dict[str, float]:
    """The best of some turns of each, after one that compiles kernels: into a cache of its own, so that it compiles
    all. Without the check, and with each tool."""
    program, figures = build / "bench" / "bench_check", {}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        ways = {"off": [program]}
        for tool in TOOLS:
            ways[tool] = [build / "bin" / "millrace", "check", "--tool", tool, "--error-exitcode", "9", "-o", report, "--", program]
        for turn in range(TURNS + 1):
            for way, command in list(ways.items())[::1 if turn % 2 else -1]:
                new = run(command, MILLRACE_CACHE_DIR=f"{folder}/cache")
                for name, value in new.items() if turn else ():
                    figures[f"{name}_{way}"] = min(value, figures.get(f"{name}_{way}", value))
    if not figures:
        sys.exit("bench: bench_check has measured nothing")
    return figures


def print_check(figures: dict) -> None:
    for tool in TOOLS:
        print_tool(figures, tool)


def print_tool(figures: dict, tool: str) -> None:
    """The goals are the race finder's."""
    goals = tool == "race"
    print(f"\nWhat millrace check --tool {tool} costs, in this run by turns (best of some)\n")
    print(f"{'kernels, milliseconds':46} {'without':>9} {'with':>9} {'times':>7}" + (f" {'goal':>5}" if goals else ""))
    for name, label, form, goal in KERNELS:
        off, on = (figures.get(f"check_{name}_{way}") for way in ("off", tool))
        times = on / off if on and off else None
        verdict = "" if times is None or not goals else f" {goal:>5} {'met' if times <= goal else 'missed'}"
        print(f"{label:46} {cell(off, form):>9} {cell(on, form):>9} {cell(times, '{:.2f}'):>7}{verdict}".rstrip())
    print(f"\n{'calls, nanoseconds':46} {'without':>9} {'with':>9} {'more':>7}" + (f" {'goal':>5}" if goals else ""))
    for name, label in CALLS:
        off, on = (figures.get(f"check_{name}_{way}") for way in ("off", tool))
        goal = CALL_GOAL * (2 if "2 calls" in label else 1)
        more = on - off if on and off else None
        verdict = "" if more is None or not goals else f" {goal:>5} " + ("met" if more <= goal else f"{more / goal:.1f}x")
        print(f"{label:46} {cell(off):>9} {cell(on):>9} {cell(more):>7}{verdict}".rstrip())
