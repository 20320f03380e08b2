# SPDX-License-Identifier: Apache-2.0
"""Kernels whose blocks wait for each other, beside the same work in C with OpenMP."""
import pathlib

from programs import beside, print_beside

KERNELS = [
    ("scan", "scan of 4 Mi floats, looking back"),
    ("lock", "a lock that 16,384 threads take once each"),
    ("append", "65,536 appended, chunks allocated under a lock"),
]


def run_between(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    return beside(programs / "bench_between", "between/openmp.c", folder, [name for name, _ in KERNELS])


def print_between(ours: dict, theirs: dict) -> None:
    print("\nBlocks that wait for each other, beside C with OpenMP (a scan in two passes, critical sections), in milliseconds (best of some rounds)\n")
    print_beside(KERNELS, ours, theirs)
