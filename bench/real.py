# SPDX-License-Identifier: Apache-2.0
"""Sixteen small programs as people write them for devices, beside the same programs in C with OpenMP."""
import pathlib

from kernel_tables import geometric_mean
from programs import beside, print_beside

KERNELS = [
    ("records", "hashes of 131,072 records of 64 bytes"),
    ("table", "a table of 524,288 keys, filled and searched"),
    ("wave", "waves, 1024 x 1024, 16 steps"),
    ("heat", "heat, 128 x 128 x 128, 10 steps"),
    ("smooth", "a picture smoothed between its edges, 1024 x 1024"),
    ("graph", "levels of a graph, 262,144 nodes"),
    ("sort", "a sorting network, 262,144 numbers"),
    ("sparse", "a sparse product, 131,072 rows of 8 to 23"),
    ("align", "two texts of 2,048 letters aligned"),
    ("forces", "forces of 65,536 particles in cells"),
    ("paths", "65,536 random paths of 64 steps"),
    ("transform", "8,192 transforms of 256 numbers"),
    ("cluster", "131,072 points, 16 centres"),
    ("ways", "shortest ways among 512 towns"),
    ("spins", "spins, 1024 x 1024, 8 sweeps"),
    ("search", "a word in 4 Mi letters, one wrong at most"),
]
MEAN_GOAL, MOST = 0.8, 1.25


def run_real(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    return beside(programs / "bench_real", "real/openmp.c", folder, [name for name, _ in KERNELS])


def print_real(ours: dict, theirs: dict) -> None:
    print("\nSmall programs beside the same in C with OpenMP, in milliseconds (best of some rounds)\n")
    print_beside(KERNELS, ours, theirs)
    ratios = [ours[f"{name}_ms"] / theirs[f"{name}_ms"] for name, _ in KERNELS if f"{name}_ms" in theirs]
    if ratios:
        mean = geometric_mean(ratios)
        verdict = "met" if mean <= MEAN_GOAL and max(ratios) <= MOST else "missed"
        print(f"geometric mean of the ratios: {mean:.2f}, the highest {max(ratios):.2f} (goal: at most {MEAN_GOAL}, none above {MOST}: {verdict})")
