# SPDX-License-Identifier: Apache-2.0
"""The kernels of the benchmark: beside the same work in C with OpenMP and in OpenCL on PoCL, as fractions of what the
machine can do at most, and how long they take to compile."""
import os
import pathlib
import sys
import tempfile

from programs import build_by_hand, cell, run
from thousand_lines import instructions

KERNELS = [
    ("vector_add", "vector addition, 16 Mi floats"),
    ("saxpy", "saxpy, 16 Mi floats, a loop over the grid"),
    ("stencil", "five-point stencil, 4096 x 4096, blocks of 32 x 8"),
    ("reduce", "sum of 16 Mi floats, tree in shared memory"),
    ("scan", "running sums of 256, shuffles, 16 Mi floats"),
    ("matrix", "matrix product, 1024, tiles of 16 x 16"),
    ("transpose", "transpose, 4096 x 4096, tiles of 16 x 16"),
    ("bodies", "forces among 16,384 bodies"),
    ("fractal", "Mandelbrot set, 2048 x 2048, 256 rounds"),
    ("options", "Black-Scholes, 4 Mi options"),
    ("histogram", "histogram of 16 MiB, shared and global atomics"),
]
OPENMP_GOAL, OPENMP_MOST, POCL_GOAL = 1.25, 2, 1.5
COLD_GOAL, CACHED_GOAL = 150, 2
COLD_TURNS, CACHED_TURNS = 3, 5
# file in the build folder, label, whether the goals are for it
MODULES = [("bench_more_kernels.ptx", "the eleven kernels", False), ("bench_thousand_lines.ptx", "a thousand lines of instructions", True)]


def compile_times(programs: pathlib.Path, name: str) -> dict[str, dict[str, float]]:
    """Times of a module from PTX to machine code, the best of some processes: with an empty cache folder, the first
    versions of its kernels and the optimised ones, and with what such a process has left there."""
    times = {"cold": {}, "optimised": {}, "cached": {}}
    for _ in range(COLD_TURNS):
        with tempfile.TemporaryDirectory() as cache:
            for kind, turns, settings in (("cold", 1, {}), ("cached", CACHED_TURNS, {}), ("optimised", 1, {"MILLRACE_OPTIMISE_AFTER": "0"})):
                for _ in range(turns):
                    new = run([programs / "bench_kernels_compile", programs / name], MILLRACE_CACHE_DIR=cache, **settings)
                    if new["total_ms"] < times[kind].get("total_ms", float("inf")):
                        times[kind] = new
    return times


def run_kernels(programs: pathlib.Path, folder: str) -> dict[str, dict]:
    """Everything that print_kernels shows, by who did it."""
    # Threads that wait must not count where processor time is measured.
    waits = {"OMP_WAIT_POLICY": "passive"} if "BENCH_PROCESSOR_TIME" in os.environ else {}
    by_hand = {name: build_by_hand(folder, f"kernels/{name}.c", f"kernels_{name}") for name in ("openmp", "peak")}
    opencl = programs / "bench_kernels_opencl"
    figures = {}
    for name, program, environment in (("millrace", programs / "bench_kernels_cuda", {}), ("openmp", by_hand["openmp"], waits), ("peak", by_hand["peak"], waits),
                                       ("pocl", opencl if opencl.exists() else None, {"POCL_CACHE_DIR": folder})):
        figures[name] = run([program], **environment) if program else {}
    for name, _, _ in MODULES:
        figures[name] = compile_times(programs, name)
        text = (programs / name).read_text()
        figures[name]["lines"], figures[name]["kernels"] = instructions(text), text.count(".entry")
    return figures


def compare_sums(name: str, ours: dict, others: dict) -> None:
    mine, theirs = ours[f"{name}_sum"], others[f"{name}_sum"]
    if abs(mine - theirs) > 1e-4 * abs(theirs):
        sys.exit(f"bench: {name}: the sums of the results differ: {mine} and {theirs}")


def geometric_mean(ratios: list[float]) -> float:
    product = 1.0
    for ratio in ratios:
        product *= ratio
    return product ** (1 / len(ratios))


def fraction_of_peak(name: str, ours: dict, peak: dict) -> str:
    """The greater of a kernel's two fractions of what the machine can do, and whether it is memory's or
    arithmetic's."""
    milliseconds = ours.get(f"{name}_ms")
    if not milliseconds or not peak:
        return ""
    fractions = [(ours[f"{name}_{what}"] / (milliseconds / 1e3) / peak[f"peak_{what}"], label)
                 for what, label in (("bytes", "memory"), ("operations", "arithmetic"))]
    return "{:>4.0%} {}".format(*max(fractions))


def print_comparison(figures: dict[str, dict]) -> None:
    ours, openmp, pocl = (figures[name] for name in ("millrace", "openmp", "pocl"))
    beside = "C with OpenMP and in OpenCL on PoCL" if pocl else "C with OpenMP"
    print(f"\nKernels beside the same work in {beside}, in milliseconds (best of some rounds)\n")
    print(f"{'kernel':50} {'Millrace':>8} {'OpenMP':>8} {'ratio':>6}" + (f" {'PoCL':>8} {'faster':>6}" if pocl else "") + " of the peak")
    ratios, faster = [], []
    for name, label in KERNELS:
        mine, *others = (source.get(f"{name}_ms") for source in (ours, openmp, pocl))
        for found, source, time, turned in zip((ratios, faster), (openmp, pocl), others, (False, True), strict=True):
            if mine and time:
                found.append(time / mine if turned else mine / time)
                compare_sums(name, ours, source)
        row = f"{label:50} {cell(mine, '{:.2f}'):>8} {cell(others[0], '{:.2f}'):>8} {cell(ratios[-1] if others[0] else None, '{:.2f}'):>6}"
        if pocl:
            row += f" {cell(others[1], '{:.2f}'):>8} {cell(faster[-1], '{:.1f}'):>6}"
        print(f"{row} {fraction_of_peak(name, ours, figures['peak'])}".rstrip())
    if ratios:
        mean = geometric_mean(ratios)
        verdict = "met" if mean <= OPENMP_GOAL and max(ratios) <= OPENMP_MOST else "missed"
        print(f"geometric mean of the ratios to OpenMP: {mean:.2f}, the highest {max(ratios):.2f} (goal: at most {OPENMP_GOAL}, none above {OPENMP_MOST}: {verdict})")
    if faster:
        mean = geometric_mean(faster)
        print(f"against PoCL: {mean:.1f} times faster in geometric mean (goal: at least {POCL_GOAL}: {'met' if mean >= POCL_GOAL else 'missed'})")
    else:
        print("PoCL was not measured: it takes Debian's pocl-opencl-icd, and ocl-icd-opencl-dev before the build is configured")
    if peak := figures["peak"]:
        print(f"peaks in this run: {peak['peak_bytes'] / 1e9:.1f} GB/s, {peak['peak_operations'] / 1e9:.0f} Gflop/s")


def judged(time: float, goal: float) -> str:
    return f"{goal} ms: {'met' if time <= goal else f'{time / goal:.1f}x'}"


def print_compile_times(figures: dict[str, dict]) -> None:
    print("\nFrom PTX to machine code that runs, in milliseconds (a module's loading and the first launch of each kernel; best of some processes)")
    print("cold: the first version of each kernel, made in a hurry; optimised: what takes its place once it is hot, if made at once\n")
    print(f"{'module':50} {'kernels':>8} {'lines':>8} {'cold':>8} {'optimised':>10} {'cached':>8}  goals")
    for name, label, has_goals in MODULES:
        module = figures[name]
        cold, optimised, cached = (module[kind]["total_ms"] for kind in ("cold", "optimised", "cached"))
        goals = f"  {judged(cold, COLD_GOAL)}, {judged(cached, CACHED_GOAL)}" if has_goals else ""
        print(f"{label:50} {module['kernels']:>8} {module['lines']:>8} {cold:>8.1f} {optimised:>10.1f} {cached:>8.2f}{goals}")
        print(f"{'    cuModuleLoadData alone':50} {'':8} {'':8} {module['cold']['module_ms']:>8.2f} {'':10} {module['cached']['module_ms']:>8.2f}")
        for kernel in [] if has_goals else [kernel for kernel, _ in KERNELS]:
            print(f"{'    ' + kernel:50} {'':8} {'':8} {module['cold'][f'{kernel}_ms']:>8.1f} {module['optimised'][f'{kernel}_ms']:>10.1f} {module['cached'][f'{kernel}_ms']:>8.2f}")
    print("the first kernel of a process opens the code generation library as well, or the cache folder")


def print_kernels(figures: dict[str, dict]) -> None:
    print_comparison(figures)
    print_compile_times(figures)
