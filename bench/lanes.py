# SPDX-License-Identifier: Apache-2.0
"""Long arithmetic, textures, trees in shared memory and structures at a stride, beside the same work in C with OpenMP."""
import pathlib

from programs import beside, print_beside

KERNELS = [
    ("waves", "sine times power of 4 Mi floats, flushed"),
    ("set", "Mandelbrot's set, 1 Mi points, flushed"),
    ("loads", "nine neighbours of 4 Mi floats, plain loads"),
    ("points", "the same, nearest texels of a texture"),
    ("turned_loads", "a turned picture of 4 Mi floats, plain loads"),
    ("turned_points", "the same, nearest texels"),
    ("turned_linear", "the same, a linear filter"),
    ("turned_bytes", "the same, a linear filter, four bytes, wrapped"),
    ("tree", "sums of 256 in shared memory, halving"),
    ("steps", "scans of 256 in shared memory, doubling"),
    ("keys", "hashes of uint3 every 64 bytes"),
]


def run_lanes(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    return beside(programs / "bench_lanes", "lanes/openmp.c", folder, [name for name, _ in KERNELS])


def print_lanes(ours: dict, theirs: dict) -> None:
    print("\nLong arithmetic, textures, trees and structures, beside C with OpenMP, in milliseconds (best of some rounds)\n")
    print_beside(KERNELS, ours, theirs)
