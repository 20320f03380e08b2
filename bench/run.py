# SPDX-License-Identifier: Apache-2.0
"""make bench: runs every benchmark in one go and prints the tables of docs/benchmarks.md.

Absolute times drift from machine to machine; what counts are the ratios, measured side by side in this run. The NVIDIA column is a
recording (bench/nvidia-h200.txt), kept for orientation.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# name in the programs' output, label, goal in nanoseconds
CALLS = [
    ("event_create_destroy", "cuEventCreate + cuEventDestroy", 60),
    ("record_timed", "cuEventRecord, timing, idle stream", 60),
    ("record_untimed", "cuEventRecord, timing disabled, idle stream", 40),
    ("query", "cuEventQuery, complete", 10),
    ("event_synchronize", "cuEventSynchronize, complete", 10),
    ("elapsed_time", "cuEventElapsedTime", 10),
    ("stream_wait_event", "cuStreamWaitEvent, complete event", 25),
    ("stream_create_destroy", "cuStreamCreate + cuStreamDestroy", 300),
    ("record_synchronize", "record + synchronize", 80),
    ("launch", "launch of an empty kernel, asynchronous", 300),
    ("launch_synchronize", "launch of an empty kernel + stream synchronize", 700),
    ("launch_record_wait_launch_synchronize", "launch, record, wait in another stream, launch, synchronize", 1500),
    ("copy_4_bytes_synchronize", "cuMemcpyHtoDAsync of 4 bytes, pinned + synchronize", 300),
    ("alloc_free_1_mib", "cuMemAlloc + cuMemFree of 1 MiB", 300),
]


def run(command: list, **environment: str) -> dict[str, float]:
    """The `name value` lines that a program prints; empty if it says there is nothing to measure with (77)."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode == 77:
        return {}
    if done.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with status {done.returncode}")
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([-\d.]+)$", done.stdout, re.MULTILINE)}


def build_openmp(folder: str, source: str, name: str) -> pathlib.Path | None:
    """A hand-written reference, compiled for this processor by the compiler that the goals name."""
    program = pathlib.Path(folder) / name
    done = subprocess.run(["clang-19", "-std=gnu17", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                           str(HERE / source), "-o", str(program), "-lm"], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
    return program if done.returncode == 0 else None


def recorded() -> dict[str, float]:
    path = HERE / "nvidia-h200.txt"
    if not path.exists():
        return {}
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([-\d.]+)$", path.read_text(), re.MULTILINE)}


def cell(value: float | None, form: str = "{:.0f}") -> str:
    return form.format(value) if value is not None else "-"


def print_calls(ours: dict, nvidia: dict, pocl: dict) -> None:
    print("\nThe cost of a call, in nanoseconds (median of 31 stretches)\n")
    print(f"{'operation (idle, complete)':62} {'Millrace':>9} {'goal':>6} {'':6} {'H200*':>7} {'PoCL':>7}")
    for name, label, goal in CALLS:
        value = ours.get(name)
        verdict = "" if value is None else "met" if value <= goal else f"{value / goal:.1f}x"
        print(f"{label:62} {cell(value):>9} {goal:>6} {verdict:6} {cell(nvidia.get(name)):>7} {cell(pocl.get(name)):>7}")
    print("* recorded, see bench/nvidia-h200.txt")


def print_demo(ours: dict, openmp: dict, nvidia: dict, pocl: dict) -> None:
    print("\nThe seed's demonstration: 200 arrays of 1 Mi floats, in seconds (best run)\n")
    rows = [
        ("Millrace, serial", ours.get("demo_serial_seconds")),
        ("Millrace, a stream each", ours.get("demo_streams_seconds")),
        ("C with OpenMP, vectors by hand", openmp.get("demo_openmp_seconds")),
        ("copies alone", openmp.get("demo_copies_seconds")),
        ("PoCL, a queue each", pocl.get("demo_pocl_seconds")),
        ("H200, serial*", nvidia.get("demo_serial_seconds")),
        ("H200, a stream each*", nvidia.get("demo_streams_seconds")),
    ]
    for label, value in rows:
        print(f"{label:36} {cell(value, '{:.3f}'):>9}")
    print(f"{'mean time of a kernel, ms':36} {cell(ours.get('demo_kernel_ms'), '{:.2f}'):>9}")
    streams = ours.get("demo_streams_seconds")
    if streams and openmp:
        print(f"\nagainst the hand-written code: {streams / openmp['demo_openmp_seconds']:.2f} times its time (goal: at most 1.2)")
    if streams and pocl:
        print(f"against PoCL: {pocl['demo_pocl_seconds'] / streams:.1f} times faster (goal: at least 8)")


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


def print_kernels(ours: dict, hand: dict) -> None:
    print("\nKernels beside the same work in C with OpenMP, in milliseconds (best of some rounds)\n")
    print(f"{'kernel':52} {'Millrace':>9} {'OpenMP':>9} {'ratio':>6}")
    product, count = 1.0, 0
    for name, label in KERNELS:
        mine, other = ours.get(f"{name}_ms"), hand.get(f"{name}_ms")
        ratio = mine / other if mine and other else None
        print(f"{label:52} {cell(mine, '{:.2f}'):>9} {cell(other, '{:.2f}'):>9} {cell(ratio, '{:.2f}'):>6}")
        if ratio:
            product, count = product * ratio, count + 1
            if abs(ours[f"{name}_sum"] - hand[f"{name}_sum"]) > 1e-4 * abs(hand[f"{name}_sum"]):
                sys.exit(f"bench: {name}: the sums of the results differ: {ours[f'{name}_sum']} and {hand[f'{name}_sum']}")
    if count:
        print(f"geometric mean of the ratios: {product ** (1 / count):.2f} (goal: at most 1.25, none above 2)")


def print_scale(scale: dict) -> None:
    print("\nBytes of resident memory\n")
    for name, label in (("bytes_event", "an event, recorded"), ("bytes_stream", "a stream"),
                        ("bytes_queued_launch", "a queued launch"), ("bytes_context", "a context")):
        print(f"{label:36} {cell(scale.get(name)):>9}")
    print("\nNanoseconds of a call while N streams exist\n")
    print(f"{'streams':>8} {'record':>9} {'wait':>9} {'launch':>9}")
    for count in (1, 10, 100, 1000, 10000):
        print(f"{count:>8}" + "".join(f" {cell(scale.get(f'{name}_{count}')):>9}" for name in ("record", "wait", "launch")))


def main() -> int:
    programs = pathlib.Path(sys.argv[1]).resolve() / "bench"
    with tempfile.TemporaryDirectory() as folder:
        openmp = build_openmp(folder, "demo_openmp.c", "demo_openmp")
        kernels_openmp = build_openmp(folder, "kernels/openmp.c", "kernels_openmp")
        print("bench: calls", flush=True)
        calls = run([programs / "bench_calls"])
        print("bench: demonstration", flush=True)
        demo = run([programs / "bench_demo_cuda"])
        hand = run([openmp]) if openmp else {}
        print("bench: kernels", flush=True)
        kernels = run([programs / "bench_kernels_cuda"])
        kernels_hand = run([kernels_openmp]) if kernels_openmp else {}
        print("bench: memory and growth", flush=True)
        scale = run([programs / "bench_scale"])
        pocl = {}
        if (programs / "bench_pocl").exists():
            print("bench: PoCL", flush=True)
            pocl = run([programs / "bench_pocl"], POCL_CACHE_DIR=folder)
    nvidia = recorded()
    print_calls(calls, nvidia, pocl)
    print_demo(demo, hand, nvidia, pocl)
    print_kernels(kernels, kernels_hand)
    print_scale(scale)
    return 0


if __name__ == "__main__":
    sys.exit(main())
