# SPDX-License-Identifier: Apache-2.0
"""TensorFlow, JAX and PyTorch from PyPI on the device beside their own CPU backends: operations, training steps, first
steps.

With what clients/tensorflow.sh, clients/jax.sh and clients/pytorch.sh have installed.
"""
import pathlib

from programs import HERE, cell, run

# name in the programs' output, label, goal: how many times the CPU backend's time
CASES = [
    ("add", "sum of two arrays of 4 Mi", 1.0),
    ("tanh", "tanh of 4 Mi", 1.0),
    ("gelu", "gelu of 4 Mi", 1.0),
    ("sine", "sine times exponential of 4 Mi", 1.0),
    ("small", "a * 2 + 1 of 1,000", 1.0),
    ("sum", "sum of 4 Mi", 1.0),
    ("sum_rows", "sums of 2,048 rows", 1.0),
    ("sum_columns", "sums of 2,048 columns", 1.0),
    ("max", "maxima of 2,048 rows", 1.0),
    ("softmax", "softmax of 2,048 rows", 1.0),
    ("layer_norm", "layer norm of 2,048 rows", 1.0),
    ("transpose", "transpose of 2,048 x 2,048", 1.0),
    ("matmul_256", "matrix product of 256", 1.2),
    ("matmul_1024", "matrix product of 1,024", 1.2),
    ("matmul_batch", "64 matrix products of 128", 1.2),
    ("conv", "convolution 3x3, 16 x 32 x 32, 32 to 64", 1.2),
    ("conv_stride", "the same, stride 2", 1.2),
    ("conv_1x1", "convolution 1x1, 16 x 16 x 16, 128", 1.2),
    ("conv_deep", "convolution 3x3, 16 x 16 x 16, 128", 1.2),
    ("conv_gradients", "both gradients of the first", 1.2),
    ("train_conv", "training step, convolutional net", 1.3),
    ("train_conv_compiled", "the same, jit_compile=True", 1.3),
    ("train_transformer", "training step, small transformer", 1.3),
    ("train_transformer_compiled", "the same, jit_compile=True", 1.3),
]


def run_frameworks(build: pathlib.Path, python_of, folder: str) -> dict[str, dict]:
    """Figures of each framework that is there; python_of gives the Python of a client, or None."""
    figures = {}
    for name in ("jax", "tensorflow", "pytorch"):
        python = python_of(name)
        if not python:
            continue
        program = HERE / f"frameworks_{name}.py"
        ours = [build / "bin" / "millrace", "run", "--", python, program]
        figures[name] = run(ours)
        for turn in ("cold", "warm"):
            figures[name][f"first_{turn}"] = run([*ours, "first"], MILLRACE_CACHE_DIR=f"{folder}/{name}")["first_seconds"]
        figures[name]["first_cpu"] = run([python, program, "first"], JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="-1")["first_seconds"]
    return figures


def print_frameworks(figures: dict[str, dict]) -> None:
    print("\nJAX, TensorFlow and PyTorch on Millrace beside their own CPU backends, in milliseconds by the clock, and the ratios of the"
          "\nclock and of processor time (best of some rounds, by turns)\n")
    if not figures:
        print("not measured: clients/jax.sh, tensorflow.sh and pytorch.sh have installed nothing here")
        return
    print(f"{'':40} {'goal':>4}" + "".join(f" | {name + ', ms':>14} {'CPU':>8} {'clock':>6} {'proc.':>6}" for name in figures))
    for case, label, goal in CASES:
        line = f"{label:40} {goal:>4}"
        for mine in figures.values():
            times = [[mine.get(f"{case}_{side}_{what}") for side in ("ours", "cpu")] for what in ("ms", "processor_ms")]
            ratios = [one / two if one and two else None for one, two in times]
            line += (f" | {cell(times[0][0], '{:.3f}'):>14} {cell(times[0][1], '{:.3f}'):>8} {cell(ratios[0], '{:.2f}'):>6}"
                     f" {cell(ratios[1], '{:.2f}'):>6}")
        print(line)
    print("\nSeconds from the start of the process to the end of its first training step (convolutional net)\n")
    for name, mine in figures.items():
        print(f"{name:12} nothing cached {cell(mine.get('first_cold'), '{:.1f}')}, cached {cell(mine.get('first_warm'), '{:.1f}')}, "
              f"its CPU backend {cell(mine.get('first_cpu'), '{:.1f}')}")
