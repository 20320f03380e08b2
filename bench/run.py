# SPDX-License-Identifier: Apache-2.0
"""make bench: runs every benchmark in one go and prints the tables of docs/benchmarks.md.

    run.py BUILD_FOLDER [PART...]

runs only the parts that are named: see --help.

With BENCH_PROCESSOR_TIME in the environment, the tables of kernels, of atomic operations, of millrace check and of
PyCUDA's programs are of processor time, both sides: for machines that do other work as well.

Absolute times drift from machine to machine; what counts are the ratios, measured side by side in this run. The NVIDIA
column is a recording (bench/nvidia-h200.txt), kept for orientation.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

from atomics import print_atomics, run_atomics
from between import print_between, run_between
from check import print_check, run_check
from frameworks import print_frameworks, run_frameworks
from instructions import print_instructions, run_instructions
from kernel_tables import print_kernels, run_kernels
from lanes import print_lanes, run_lanes
from matrix import print_matrix, run_matrix
from modules import print_modules, run_modules
from programs import HERE, build_by_hand, cell, run
from real import print_real, run_real
from start import print_start, run_start

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
    ("pool_alloc_free", "cuMemAllocAsync + cuMemFreeAsync of 1 MiB", 600),
    ("pool_alloc_free_busy", "the same in a stream with work pending", 600),
]


def recorded() -> dict[str, float]:
    path = HERE / "nvidia-h200.txt"
    if not path.exists():
        return {}
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([-\d.]+)$", path.read_text(), re.MULTILINE)}


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


def print_scale(scale: dict) -> None:
    print("\nBytes of resident memory\n")
    for name, label in (("bytes_event", "an event, recorded"), ("bytes_stream", "a stream"),
                        ("bytes_queued_launch", "a queued launch"), ("bytes_context", "a context"),
                        ("bytes_module", "a module of one small kernel"), ("bytes_module_launched", "the same, launched")):
        print(f"{label:36} {cell(scale.get(name)):>9}")
    print("\nNanoseconds of a call while N streams exist\n")
    print(f"{'streams':>8} {'record':>9} {'wait':>9} {'launch':>9}")
    for count in (1, 10, 100, 1000, 10000):
        print(f"{count:>8}" + "".join(f" {cell(scale.get(f'{name}_{count}')):>9}" for name in ("record", "wait", "launch")))


def print_pools(scale: dict) -> None:
    print("\nNanoseconds of cuMemAllocAsync + cuMemFreeAsync, N threads with a stream each and one pool (wall time over pairs)\n")
    for count in (1, 2, 8, 64):
        print(f"{count:>8} {cell(scale.get(f'pool_threads_{count}')):>9}")


def print_load(load: dict) -> None:
    print("\nLoad: 64 threads, 10,000 streams, 1,000,000 events, 10,000,000 operations queued at once\n")
    for name, label in (("bytes_event", "bytes of an event"), ("bytes_queued_operation", "bytes of a queued operation (goal: 192)"),
                        ("operation_first_tenth", "ns of an operation, first tenth"), ("operation_last_tenth", "ns of an operation, last tenth"),
                        ("operation_first_tenth_processor", "the same in processor time, first tenth"),
                        ("operation_last_tenth_processor", "last tenth (goal: 1.5 times the first)"),
                        ("drain_operation", "ns of an operation while they run"), ("streams_with_lost_launches", "streams that lost a launch")):
        print(f"{label:44} {cell(load.get(name)):>9}")


GROWTH = ("entries", "variables", "functions", "files", "integer_pairs", "float_pairs", "targets", "branches", "calls", "barriers", "registers",
          "memory", "loops", "optimised_pairs", "optimised_branches", "optimised_targets", "optimised_barriers", "optimised_calls", "optimised_registers",
          "optimised_memory", "optimised_loops")
FIRST = {"straight": "20,000 instructions without a branch", "many": "48 kernels of 60 lines", "matrix": "256 mma, unrolled",
         "switch": "a table of 512 ways", "sort": "a sort in blocks, unrolled: 3,400 lines", "branches": "1,200 branches, 64 values"}


def print_growth(growth: dict) -> None:
    print("\nGrowth: processor time of loading (and first launch of) a module of n, and how many times that 4n and 16n take\n")
    for way in GROWTH:
        n, ms, four, sixteen = (float(growth.get(f"growth_{way}_{what}") or "nan") for what in ("n", "ms", "4n", "16n"))
        print(f"{way:20} n = {n:>7.0f}  {ms:>9.1f} ms  4n: {four:>6.2f}  16n: {sixteen:>6.2f}")


def print_first(first: dict) -> None:
    print("\nTime until the first result: from PTX to the end of each kernel's first launch, nothing cached, in milliseconds\n")
    print(f"{'':40} {'wall':>9} {'processor':>9} {'launches half a second after loading':>38}")
    for name, label in FIRST.items():
        print(f"{label:40}" + "".join(f" {cell(first.get(f'first_{name}{what}'), '{:.1f}'):>{room}}"
                                      for what, room in (("_ms", 9), ("_processor_ms", 9), ("_ahead_ms", 38))))


def print_ipc(ours: dict, nvidia: dict) -> None:
    print("\nBetween two processes: from the end of one's work to the other's return, in microseconds (median, worst tenth)\n")
    print(f"{'':46} {'Millrace':>17} {'H200*':>17}")
    for name, label in (("ipc_event_synchronize", "cuEventSynchronize, opened event"),
                        ("ipc_event_synchronize_blocking", "the same, CU_CTX_SCHED_BLOCKING_SYNC"),
                        ("ipc_stream_wait", "a stream's wait + cuStreamSynchronize"),
                        ("ipc_futex", "a bare futex, the least there is")):
        columns = [[None if (value := source.get(name + suffix)) is None else value / 1000 for suffix in ("", "_worst_tenth")]
                   for source in (ours, nvidia)]
        print(f"{label:46}" + "".join(f" {cell(one, '{:.1f}'):>8} {cell(two, '{:.1f}'):>8}" for one, two in columns))
    for name, label in (("ipc_open_close_event", "opening and destroying an event"), ("ipc_open_close_memory", "opening and closing 1 MiB")):
        columns = [None if (value := source.get(name)) is None else value / 1000 for source in (ours, nvidia)]
        print(f"{label:46}" + "".join(f" {cell(value, '{:.1f}'):>8} {'':8}" for value in columns))


def print_waits(ours: dict, nvidia: dict) -> None:
    print("\nA thread that waits: nanoseconds from the end of the work to its return, and its processor time in percent of the wait\n")
    print(f"{'policy':12} {'Millrace':>17} {'H200*':>17}")
    for policy in ("spin", "yield", "auto", "blocking"):
        print(f"{policy:12}" + "".join(f" {cell(source.get(f'return_{policy}')):>8} {cell(source.get(f'cpu_{policy}'), '{:.1f}'):>8}"
                                      for source in (ours, nvidia)))
    print("\nValues in memory and priorities, in nanoseconds\n")
    for name, label in (("write_value", "cuStreamWriteValue32, idle stream"), ("wait_value", "cuStreamWaitValue32, holds already"),
                        ("batch_of_16", "cuStreamBatchMemOp, 16 writes"), ("value_between_streams", "wait, write in another stream, synchronise"),
                        ("value_from_host", "host stores, stream answers, 30 µs later"), ("value_from_host_after_3_ms", "the same, after 3 ms"),
                        ("priority_same", "a kernel behind 800 of 20 µs in 4 streams"), ("priority_highest", "the same at the highest priority")):
        print(f"{label:46} {cell(ours.get(name)):>10} {cell(nvidia.get(name)):>10}")


def print_graphs(ours: dict, nvidia: dict) -> None:
    print("\nGraphs of empty kernels, nanoseconds per node (launch: with the wait for the end)\n")
    rows = [("graph_single_stream", "single launches, one stream"), ("graph_launch_chain", "launch, chain"), ("graph_launch_fan", "launch, fan"),
            ("graph_launch_diamond", "launch, diamond"), ("graph_capture_chain", "capture, chain"), ("graph_instantiate_chain", "instantiate, chain"),
            ("graph_instantiate_fan", "instantiate, fan"), ("graph_instantiate_diamond", "instantiate, diamond")]
    counts = (1, 10, 100, 1000, 10000)
    for label, source in (("Millrace", ours), ("H200*", nvidia)):
        if any(name.startswith("graph_") for name in source):
            print(f"{label:32}" + "".join(f" {count:>8}" for count in counts))
            for name, title in rows:
                print(f"{title:32}" + "".join(f" {cell(source.get(f'{name}_{count}')):>8}" for count in counts))
    one, plain = ours.get("graph_launch_chain_1"), ours.get("graph_single_stream_1")
    if one and plain:
        print(f"a graph of one node against a plain launch: {one / plain:.2f} times its time (goal: at most 1.3)")


# name in the program's output, what the runtime and the driver are asked
RUNTIME = [
    ("record_timed", "cudaEventRecord, timing, idle stream"),
    ("record_untimed", "cudaEventRecord, timing disabled, idle stream"),
    ("query", "cudaEventQuery, complete"),
    ("stream_wait_event", "cudaStreamWaitEvent, complete event"),
    ("launch_registered", "cudaLaunchKernel as <<<…>>> calls it, behind pending work"),
    ("launch_handle", "cudaLaunchKernel of a handle, behind pending work"),
    ("alloc_free_1_mib", "cudaMalloc + cudaFree of 1 MiB"),
]
RUNTIME_GOAL = 40


def print_runtime(ours: dict, nvidia: dict) -> None:
    print("\nThe runtime API beside the driver's same call, in nanoseconds (medians; extra: the median of the differences within a turn)\n")
    print(f"{'operation (idle, complete)':58} {'driver':>7} {'runtime':>8} {'extra':>6} {'goal':>5} {'':6} {'H200* driver':>13} {'runtime':>8}")
    for name, label in RUNTIME:
        extra = ours.get(f"extra_{name}")
        verdict = "" if extra is None else "met" if extra <= RUNTIME_GOAL else f"{extra / RUNTIME_GOAL:.1f}x"
        print(f"{label:58} {cell(ours.get(f'driver_{name}')):>7} {cell(ours.get(f'runtime_{name}')):>8} {cell(extra, '{:.1f}'):>6} {RUNTIME_GOAL:>5} "
              f"{verdict:6} {cell(nvidia.get(f'driver_{name}')):>13} {cell(nvidia.get(f'runtime_{name}')):>8}")


NVRTC = ["scale, 1 kernel", "sum, shared memory", "matrix product, a template", "15 kernels with loops", "60 kernels with loops"]
NVRTC_GOAL = 1.0


def print_nvrtc(ours: dict, nvidia: dict) -> None:
    print("\nCompiling kernel source at run time, in milliseconds, beside NVIDIA's NVRTC in this run, where it is (cold: never seen before; warm: the same"
          f"\nagain; goal for each ratio: at most {NVRTC_GOAL:.0f}; the process's first compilation is a row of its own)\n")
    print(f"{'':28} {'Millrace':>17} {'NVIDIA':>17} {'ratio':>13}")
    print(f"{'source':28} {'cold':>8} {'warm':>8} {'cold':>8} {'warm':>8} {'cold':>6} {'warm':>6}")
    first = [source.get("nvrtc_first") for source in (ours, nvidia)]
    print(f"{'scale, first in the process':28} {cell(first[0], '{:.2f}'):>8} {'':>8} {cell(first[1], '{:.2f}'):>8} {'':>8}"
          f" {cell(first[0] / first[1] if all(first) else None, '{:.2f}'):>6}")
    for number, label in enumerate(NVRTC):
        times = [[source.get(f"nvrtc_{kind}_{number}") for kind in ("cold", "warm")] for source in (ours, nvidia)]
        ratios = [mine / other if mine and other else None for mine, other in zip(*times, strict=True)]
        verdict = "" if ratios[0] is None else "met" if max(ratio for ratio in ratios if ratio) <= NVRTC_GOAL else "missed"
        print(f"{label:28}" + "".join(f" {cell(value, '{:.2f}'):>8}" for source in times for value in source)
              + "".join(f" {cell(ratio, '{:.3f}' if ratio and ratio < 0.1 else '{:.2f}'):>6}" for ratio in ratios) + f" {verdict}".rstrip())


def nvidia_nvrtc() -> pathlib.Path | None:
    """NVIDIA's own library in the toolkit's usual place, or what MILLRACE_BENCH_NVRTC names."""
    named = os.environ.get("MILLRACE_BENCH_NVRTC")
    path = pathlib.Path(named) if named else pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "lib64" / "libnvrtc.so"
    return path if path.exists() else None


# name in the program's output, label: in the order of the libraries
MATH = [
    ("sgemm_64", "cuBLAS: Sgemm of 64"),
    ("sgemm_256", "cuBLAS: Sgemm of 256"),
    ("sgemm_1024", "cuBLAS: Sgemm of 1024"),
    ("sgemm_2048", "cuBLAS: Sgemm of 2048"),
    ("fft_1048576", "cuFFT: 2^20 complex floats"),
    ("fft_512x512x64", "cuFFT: 512 x 512 x 64"),
    ("fft_64_10000", "cuFFT: 10,000 of 64"),
    ("fft_1000_1000", "cuFFT: 1,000 of 1,000"),
    ("fft_16x16_10000", "cuFFT: 10,000 of 16 x 16"),
    ("getrf_2000", "cuSOLVER: Dgetrf of 2,000"),
    ("potrf_2000", "cuSOLVER: Dpotrf of 2,000"),
    ("potrf_16_10000", "cuSOLVER: 10,000 Dpotrf of 16"),
    ("syevd_500", "cuSOLVER: Dsyevd of 500"),
    ("spmv_200000", "cuSPARSE: SpMV"),
    ("spmv_transposed_200000", "cuSPARSE: SpMV, transposed"),
    ("spmm_200000_32", "cuSPARSE: SpMM, 32 columns"),
    ("csr2csc_200000", "cuSPARSE: csr2csc"),
    ("spgemm_200000", "cuSPARSE: SpGEMM"),
]
MATH_GOAL = 1.1


def print_math(figures: dict) -> None:
    """The first ratio is of the times by the clock, the second of processor time."""
    print("\nLibraries of mathematics beside the CPU library called directly on one thread, in milliseconds (best of some rounds)\n")
    print(f"{'':30} {'Millrace':>10} {'direct':>10} {'ratio':>6} {'processor':>10} {'direct':>10} {'ratio':>6}")
    for name, label in MATH:
        pairs = [[figures.get(f"math_{name}_{whose}_{what}") for whose in ("ours", "direct")] for what in ("ms", "processor_ms")]
        ratios = [one / two if one and two else None for one, two in pairs]
        verdict = "" if ratios[0] is None else "met" if ratios[0] <= MATH_GOAL else "missed"
        print(f"{label:30}" + "".join(f" {cell(one, '{:.3f}'):>10} {cell(two, '{:.3f}'):>10} {cell(ratio, '{:.2f}'):>6}"
                                      for (one, two), ratio in zip(pairs, ratios, strict=True)) + f" {verdict}".rstrip())


PARTS = {
    "calls": "calls",
    "instructions": "instructions of calls",
    "runtime": "calls of the runtime API",
    "demo": "demonstration",
    "kernels": "kernels",
    "atomics": "atomic operations",
    "between": "blocks that wait for each other",
    "lanes": "arithmetic, textures, trees and structures",
    "matrix": "matrix instructions",
    "programs": "small programs",
    "graphs": "graphs",
    "scale": "memory and growth",
    "load": "load",
    "growth": "growth of modules",
    "first": "time until the first result",
    "modules": "modules from PTX to code",
    "ipc": "between processes",
    "waits": "waits and priorities",
    "start": "starting a program",
    "check": "millrace check",
    "nvrtc": "compiling at run time",
    "math": "libraries of mathematics",
    "pycuda": "PyCUDA",
    "cupy": "CuPy",
    "frameworks": "TensorFlow, JAX and PyTorch",
}
# Parts that are kernels beside twins in C.
BESIDE_C = {"atomics": run_atomics, "between": run_between, "lanes": run_lanes, "matrix": run_matrix, "programs": run_real}


def run_nvrtc(programs: pathlib.Path, folder: str) -> tuple[dict, dict]:
    """Ours and NVIDIA's, by turns, the better figure of two runs: the machine's other work should hit both alike."""
    ours, theirs = {}, {}
    for turn in range(2):
        libraries = [(ours, programs.parent / "lib" / "libnvrtc.so"), (theirs, nvidia_nvrtc())]
        for figures, library in libraries if turn == 0 else reversed(libraries):
            new = run([programs / "bench_nvrtc", library], MILLRACE_CACHE_DIR=f"{folder}/nvrtc") if library else {}
            figures.update({name: min(value, figures.get(name, value)) for name, value in new.items()})
    return ours, theirs


def client_python(client: str) -> pathlib.Path | None:
    """The Python that clients/CLIENT.sh has set up, or None where it has not."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    clients = pathlib.Path(os.environ.get("MILLRACE_CLIENTS_CACHE") or pathlib.Path(cache) / "millrace-clients")
    python = clients / client / "venv" / "bin" / "python"
    return python if python.exists() else None


def run_cupy(build: pathlib.Path) -> dict[str, float]:
    """With the CuPy that clients/cupy.sh has installed; nothing where it has not."""
    if not (python := client_python("cupy")):
        return {}
    return run([build / "bin" / "millrace", "run", "--", python, HERE / "bench_cupy.py"], CUDA_PATH=str(build), CUDA_HOME=str(build))


def run_pycuda(build: pathlib.Path, folder: str) -> tuple[dict, dict]:
    """PyCUDA's programs, with the PyCUDA that clients/pycuda.sh has built, and the C versions: by turns, the better
    figure of two runs. Nothing where it has not."""
    python, in_python, in_c = client_python("pycuda"), {}, {}
    commands = [(in_python, [build / "bin" / "millrace", "run", "--", python, HERE / "bench_pycuda.py"]), (in_c, [build / "bench" / "bench_pycuda"])]
    for turn in range(2 if python else 0):
        for figures, command in commands if turn == 0 else reversed(commands):
            new = run(command, PYCUDA_CACHE_DIR=folder)
            if not new:    # no PyCUDA in that Python
                return {}, {}
            figures.update({name: min(value, figures.get(name, value)) for name, value in new.items()})
    return in_python, in_c


def print_pycuda(in_python: dict, in_c: dict) -> None:
    print("\nFour PyCUDA programs beside the same in C, arrays of 1 Mi floats, in seconds (best of some rounds)\n")
    if not in_python:
        print("not measured: clients/pycuda.sh has not built PyCUDA here")
        return
    print(f"{'program':44} {'PyCUDA':>9} {'C':>9} {'ratio':>6}")
    for name, label in (("serial", "200 arrays, one stream"), ("streams", "200 arrays, a stream each"), ("events", "the same with events"),
                        ("threads", "10 arrays, a thread and a context each")):
        python, c = in_python.get(f"pycuda_{name}_seconds"), in_c.get(f"pycuda_{name}_seconds")
        print(f"{label:44} {cell(python, '{:.3f}'):>9} {cell(c, '{:.3f}'):>9} {cell(python / c if python and c else None, '{:.2f}'):>6}")
    print(f"{'mean time between the events, ms':44} {cell(in_python.get('pycuda_kernel_ms'), '{:.2f}'):>9} {cell(in_c.get('pycuda_kernel_ms'), '{:.2f}'):>9}")


CUPY_WORKS = {
    "add": "addition, 10 million floats",
    "sine": "sine, 10 million floats",
    "sum": "sum, 10 million floats",
    "product": "product of 1,000",
    "solve": "solve of 1,000, 10 right sides",
    "inverse": "inverse of 1,000",
    "cholesky": "Cholesky's factors of 1,000",
    "eigh": "eigenvalues and vectors of 300",
    "svd": "singular values and vectors of 300",
    "normal": "2^20 normal floats",
    "fft": "transform of 2^20, complex floats",
    "fft2": "transform of 512 x 512",
    "spmv": "sparse 100,000 times a vector",
    "spmm": "sparse times 32 vectors",
    "spgemm": "sparse times sparse",
}


def print_cupy(figures: dict) -> None:
    print("\nCuPy beside NumPy and SciPy on one core, in milliseconds (best of some rounds)\n")
    if not figures:
        print("not measured: clients/cupy.sh has not installed CuPy here")
        return
    print(f"{'operation':36} {'Millrace':>9} {'NumPy':>9} {'ratio':>6}")
    for name, label in CUPY_WORKS.items():
        ours, numpy = figures.get(f"{name}_cupy_ms"), figures.get(f"{name}_numpy_ms")
        print(f"{label:36} {cell(ours, '{:.2f}'):>9} {cell(numpy, '{:.2f}'):>9} {cell(ours / numpy if ours and numpy else None, '{:.2f}'):>6}")
    print(f"\nimport {cell(figures.get('import_ms'))} ms; a kernel never seen before {cell(figures.get('first_kernel_ms'))} ms; "
          f"addition of 10 floats {cell(figures.get('small_add_ms'), '{:.3f}')} ms (goal: no ratio above 1)")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the benchmarks and prints their tables.")
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("parts", nargs="*", metavar="PART", help="which to run, all by default: " + ", ".join(PARTS))
    chosen = parser.parse_args()
    if unknown := [part for part in chosen.parts if part not in PARTS]:
        parser.error(f"no part is called {unknown[0]}; there are {', '.join(PARTS)}")
    return chosen


def main() -> int:
    chosen = arguments()
    programs = chosen.build.resolve() / "bench"
    libraries = programs.parent / "lib"
    parts = [part for part in PARTS if not chosen.parts or part in chosen.parts]
    nvidia, pocl, hand = recorded(), {}, {}
    ours = {}
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            print(f"bench: {PARTS[part]}", flush=True)
            if part == "nvrtc":
                ours[part], hand[part] = run_nvrtc(programs, folder)
            elif part == "pycuda":
                ours[part], hand[part] = run_pycuda(chosen.build.resolve(), folder)
            elif part == "instructions":
                ours[part] = run_instructions(programs)
            elif part == "modules":
                ours[part] = run_modules(programs)
            elif part == "start":
                ours[part] = run_start(chosen.build.resolve())
            elif part == "check":
                ours[part] = run_check(chosen.build.resolve())
            elif part == "frameworks":
                ours[part] = run_frameworks(chosen.build.resolve(), client_python, folder)
            elif part == "cupy":
                ours[part] = run_cupy(chosen.build.resolve())
            elif part == "runtime":
                ours[part] = run([programs / "bench_runtime", programs / "bench_runtime_kernel.so"], LD_LIBRARY_PATH=str(libraries))
            elif part in BESIDE_C:
                ours[part], hand[part] = BESIDE_C[part](programs, folder)
            elif part == "kernels":
                ours[part] = run_kernels(programs, folder)
            elif part == "demo":
                ours[part] = run([programs / "bench_demo_cuda"])
                reference = build_by_hand(folder, "demo_openmp.c", "demo_openmp")
                hand[part] = run([reference]) if reference else {}
            else:
                ours[part] = run([programs / f"bench_{part}"])
        if {"calls", "demo"} & set(parts) and (programs / "bench_pocl").exists():
            print("bench: PoCL", flush=True)
            pocl = run([programs / "bench_pocl"], POCL_CACHE_DIR=folder)
    tables = {
        "calls": lambda figures: print_calls(figures, nvidia, pocl),
        "instructions": print_instructions,
        "runtime": lambda figures: print_runtime(figures, nvidia),
        "demo": lambda figures: print_demo(figures, hand["demo"], nvidia, pocl),
        "kernels": print_kernels,
        "atomics": lambda figures: print_atomics(figures, hand["atomics"]),
        "between": lambda figures: print_between(figures, hand["between"]),
        "lanes": lambda figures: print_lanes(figures, hand["lanes"]),
        "matrix": lambda figures: print_matrix(figures, hand["matrix"]),
        "programs": lambda figures: print_real(figures, hand["programs"]),
        "graphs": lambda figures: print_graphs(figures, nvidia),
        "scale": lambda figures: (print_scale(figures), print_pools(figures)),
        "load": print_load,
        "growth": print_growth,
        "first": print_first,
        "modules": print_modules,
        "ipc": lambda figures: print_ipc(figures, nvidia),
        "waits": lambda figures: print_waits(figures, nvidia),
        "start": print_start,
        "check": print_check,
        "nvrtc": lambda figures: print_nvrtc(figures, hand["nvrtc"]),
        "pycuda": lambda figures: print_pycuda(figures, hand["pycuda"]),
        "cupy": print_cupy,
        "frameworks": print_frameworks,
        "math": print_math,
    }
    for part in parts:
        tables[part](ours[part])
    return 0


if __name__ == "__main__":
    sys.exit(main())
