# SPDX-License-Identifier: Apache-2.0
"""Products by matrix instructions beside libraries for processors: OpenBLAS in float, oneDNN in bytes."""
import pathlib

from programs import beside, cell

# name in the programs' output, label, side of the matrices
KERNELS = [
    ("half", "mma, f16", 2048),
    ("bfloat", "mma, bf16", 2048),
    ("tensor", "mma, tf32", 2048),
    ("byte", "mma, s8", 2048),
    ("wmma", "wmma from global memory, f16", 1024),
]
GOAL = 2


def run_matrix(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    return beside(programs / "bench_matrix", "matrix/openmp.c", folder, [name for name, _, _ in KERNELS])


def print_matrix(ours: dict, theirs: dict) -> None:
    print(f"\nProducts by matrix instructions, beside OpenBLAS in float and oneDNN in bytes, in Gop/s (best of some rounds; goal: 1 / {GOAL} of theirs)\n")
    print(f"{'product':38} {'ms':>9} {'Millrace':>9} {'library':>9} {'ratio':>6}")
    for name, label, side in KERNELS:
        times = [figures.get(f"{name}_ms") for figures in (ours, theirs)]
        rates = [2e-6 * side ** 3 / time if time else None for time in times]
        ratio = times[0] / times[1] if all(times) else None
        verdict = "" if ratio is None else " met" if ratio <= GOAL else " missed"
        print(f"{label + f', {side:,}':38} {cell(times[0], '{:.1f}'):>9} {cell(rates[0], '{:.1f}'):>9} {cell(rates[1], '{:.1f}'):>9} {cell(ratio, '{:.2f}'):>6}{verdict}")
