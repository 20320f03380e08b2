# SPDX-License-Identifier: Apache-2.0
"""The part "cupy" of bench/run.py: CuPy on Millrace beside NumPy and SciPy on one core, in one process, by turns.
Prints `name value` lines; times are in milliseconds. With BENCH_PROCESSOR_TIME they are processor time, of all cores
together: the median of the rounds.

Status 77 if CuPy or NumPy is not there. bench/run.py starts it with the Python that clients/cupy.sh has set up."""
import os
import sys
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")
ROUNDS, COUNT, WARM_SECONDS = 15, 10_000_000, 0.4
begun = time.perf_counter()
try:
    import numpy
    import cupy
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
print(f"import_ms {(time.perf_counter() - begun) * 1e3:.3f}")


BY_PROCESSOR = "BENCH_PROCESSOR_TIME" in os.environ


def best(*functions):
    """Each function's best of some rounds by turns, in milliseconds; the work has ended when a function returns."""
    clock = time.process_time if BY_PROCESSOR else time.perf_counter
    times = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, spent in zip(functions, times):
            start = clock()
            function()
            spent.append(clock() - start)
    return [(sorted(spent)[ROUNDS // 2] if BY_PROCESSOR else min(spent)) * 1e3 for spent in times]


def on_device(function):
    def whole(*arguments):
        result = function(*arguments)
        cupy.cuda.get_current_stream().synchronize()
        return result
    return whole


def mathematics():
    """Works of the libraries of mathematics, in double unless the name says otherwise: by NumPy, by CuPy."""
    random = numpy.random.default_rng(2)
    square, right = random.random((1000, 1000)) + 30 * numpy.eye(1000), random.random((1000, 10))
    positive, few = square @ square.T, square[:300, :300].copy()
    on = {name: cupy.asarray(value) for name, value in (("square", square), ("right", right), ("positive", positive), ("few", few))}
    return {
        "product": (lambda: square @ square, lambda: on["square"] @ on["square"]),
        "solve": (lambda: numpy.linalg.solve(square, right), lambda: cupy.linalg.solve(on["square"], on["right"])),
        "inverse": (lambda: numpy.linalg.inv(square), lambda: cupy.linalg.inv(on["square"])),
        "cholesky": (lambda: numpy.linalg.cholesky(positive), lambda: cupy.linalg.cholesky(on["positive"])),
        "eigh": (lambda: numpy.linalg.eigh(few), lambda: cupy.linalg.eigh(on["few"])),
        "svd": (lambda: numpy.linalg.svd(few), lambda: cupy.linalg.svd(on["few"])),
        "normal": (lambda: random.standard_normal(1 << 20, dtype="f"), lambda: cupy.random.standard_normal(1 << 20, dtype="f")),
    }


def with_scipy():
    """Works that SciPy has; none without it."""
    try:
        import scipy.fft
        import scipy.sparse
        import cupyx.scipy.sparse
    except ImportError:
        return {}
    random = numpy.random.default_rng(3)
    wave, plane = random.random(1 << 20, dtype="f") + 0j, random.random((512, 512)) + 0j
    sparse = scipy.sparse.random(100_000, 100_000, 16 / 100_000, format="csr", random_state=random)
    vector, vectors = random.random(100_000), random.random((100_000, 32))
    on_sparse = cupyx.scipy.sparse.csr_matrix(sparse)
    on = {name: cupy.asarray(value) for name, value in (("wave", wave), ("plane", plane), ("vector", vector), ("vectors", vectors))}
    return {
        "fft": (lambda: scipy.fft.fft(wave), lambda: cupy.fft.fft(on["wave"])),
        "fft2": (lambda: scipy.fft.fft2(plane), lambda: cupy.fft.fft2(on["plane"])),
        "spmv": (lambda: sparse @ vector, lambda: on_sparse @ on["vector"]),
        "spmm": (lambda: sparse @ vectors, lambda: on_sparse @ on["vectors"]),
        "spgemm": (lambda: sparse @ sparse, lambda: on_sparse @ on_sparse),
    }


begun = time.perf_counter()
cupy.ElementwiseKernel("float32 x", "float32 y", f"y = x * {os.getpid()}.5f", "never_seen_before")(cupy.ones(10, "f"))
cupy.cuda.get_current_stream().synchronize()
print(f"first_kernel_ms {(time.perf_counter() - begun) * 1e3:.3f}")

host = numpy.random.default_rng(1).random(COUNT, dtype="f")
device, host_out, device_out = cupy.asarray(host), numpy.empty_like(host), cupy.empty(COUNT, "f")
small = cupy.ones(10, "f")
works = {
    "add": (lambda: numpy.add(host, host, host_out), lambda: cupy.add(device, device, device_out)),
    "sine": (lambda: numpy.sin(host, host_out), lambda: cupy.sin(device, device_out)),
    "sum": (lambda: host.sum(), lambda: device.sum()),
}
works.update(mathematics())
works.update(with_scipy())
chosen = sys.argv[1:] or works
for name, (by_numpy, by_cupy) in works.items():
    if name not in chosen:
        continue
    # Kernels' first code is made in a hurry, and replaced when it has run for a while.
    begun, by_cupy = time.perf_counter(), on_device(by_cupy)
    while time.perf_counter() - begun < WARM_SECONDS:
        by_cupy()
    theirs, ours = best(by_numpy, by_cupy)
    print(f"{name}_numpy_ms {theirs:.3f}\n{name}_cupy_ms {ours:.3f}", flush=True)
print(f"small_add_ms {best(on_device(lambda: cupy.add(small, small, small)))[0]:.4f}")
