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


def run_check(build: pathlib.Path) -> dict[str, float]:
    """The best of some turns of each, after one that compiles kernels: into a cache of its own, so that it compiles
    all."""
    program, figures = build / "bench" / "bench_check", {}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        observed = [build / "bin" / "millrace", "check", "--error-exitcode", "9", "-o", report, "--", program]
        for turn in range(TURNS + 1):
            for way, command in (("off", [program]), ("on", observed)) if turn % 2 else (("on", observed), ("off", [program])):
                new = run(command, MILLRACE_CACHE_DIR=f"{folder}/cache")
                for name, value in new.items() if turn else ():
                    figures[f"{name}_{way}"] = min(value, figures.get(f"{name}_{way}", value))
    if not figures:
        sys.exit("bench: bench_check has measured nothing")
    return figures


def print_check(figures: dict) -> None:
    print("\nWhat millrace check costs, in this run by turns (best of some)\n")
    print(f"{'kernels, milliseconds':46} {'without':>9} {'with':>9} {'times':>7} {'goal':>5}")
    for name, label, form, goal in KERNELS:
        off, on = (figures.get(f"check_{name}_{way}") for way in ("off", "on"))
        times = on / off if on and off else None
        verdict = "" if times is None else "met" if times <= goal else "missed"
        print(f"{label:46} {cell(off, form):>9} {cell(on, form):>9} {cell(times, '{:.2f}'):>7} {goal:>5} {verdict}".rstrip())
    print(f"\n{'calls, nanoseconds':46} {'without':>9} {'with':>9} {'more':>7} {'goal':>5}")
    for name, label in CALLS:
        off, on = (figures.get(f"check_{name}_{way}") for way in ("off", "on"))
        goal = CALL_GOAL * (2 if "2 calls" in label else 1)
        more = on - off if on and off else None
        verdict = "" if more is None else "met" if more <= goal else f"{more / goal:.1f}x"
        print(f"{label:46} {cell(off):>9} {cell(on):>9} {cell(more):>7} {goal:>5} {verdict}".rstrip())
