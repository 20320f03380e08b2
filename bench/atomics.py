# SPDX-License-Identifier: Apache-2.0
"""Kernels whose threads meet at atomic operations, beside the same work in C with OpenMP."""
import pathlib

from programs import beside, print_beside

# name in the programs' output, label
KERNELS = [
    ("count", "counting, one place, half of the lanes"),
    ("append", "appending: a place for half of the values"),
    ("sum_float", "sum of floats, one place"),
    ("sum_double", "sum of doubles, one place"),
    ("largest", "maximum, one place"),
    ("few", "sums of integers, eight places"),
    ("few_float", "sums of floats, eight places"),
    ("bins", "histogram of bytes in global memory"),
    ("scatter", "floats added to any of 1 Mi places"),
    ("own", "32 integers added to a thread's own place"),
    ("own_plain", "the same by plain additions"),
    ("own_float", "32 floats added to a thread's own place"),
]


def run_atomics(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    return beside(programs / "bench_atomics", "atomics/openmp.c", folder, [name for name, _ in KERNELS])


def print_atomics(ours: dict, theirs: dict) -> None:
    print("\nAtomic operations, 4 Mi threads, beside C with OpenMP (reductions, bins of each thread's own), in milliseconds (best of some rounds)\n")
    print_beside(KERNELS, ours, theirs)
