# SPDX-License-Identifier: Apache-2.0
"""The part "cupy" of bench/run.py: CuPy on Millrace beside NumPy on one core, in one process. Prints `name value`
lines; times are in milliseconds. With BENCH_PROCESSOR_TIME they are processor time, of all cores together: the median
of the rounds.

Status 77 if CuPy or NumPy is not there. bench/run.py starts it with the Python that clients/cupy.sh has set up."""
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROUNDS, COUNT, WARM_SECONDS = 15, 10_000_000, 0.4
begun = time.perf_counter()
try:
    import numpy
    import cupy
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
print(f"import_ms {(time.perf_counter() - begun) * 1e3:.3f}")


def best(function, *arguments):
    """The best of some rounds, in milliseconds; the work has ended when the function returns."""
    by_processor = "BENCH_PROCESSOR_TIME" in os.environ
    clock = time.process_time if by_processor else time.perf_counter
    times = []
    for _ in range(ROUNDS):
        start = clock()
        function(*arguments)
        times.append(clock() - start)
    return (sorted(times)[ROUNDS // 2] if by_processor else min(times)) * 1e3


def on_device(function):
    def whole(*arguments):
        result = function(*arguments)
        cupy.cuda.get_current_stream().synchronize()
        return result
    return whole


begun = time.perf_counter()
cupy.ElementwiseKernel("float32 x", "float32 y", f"y = x * {os.getpid()}.5f", "never_seen_before")(cupy.ones(10, "f"))
cupy.cuda.get_current_stream().synchronize()
print(f"first_kernel_ms {(time.perf_counter() - begun) * 1e3:.3f}")

host = numpy.random.default_rng(1).random(COUNT, dtype="f")
device, host_out, device_out = cupy.asarray(host), numpy.empty_like(host), cupy.empty(COUNT, "f")
small = cupy.ones(10, "f")
works = {
    "add": (lambda: numpy.add(host, host, host_out), on_device(lambda: cupy.add(device, device, device_out))),
    "sine": (lambda: numpy.sin(host, host_out), on_device(lambda: cupy.sin(device, device_out))),
    "sum": (lambda: host.sum(), on_device(lambda: device.sum())),
}
for name, (by_numpy, by_cupy) in works.items():
    # Kernels' first code is made in a hurry, and replaced when it has run for a while.
    begun = time.perf_counter()
    while time.perf_counter() - begun < WARM_SECONDS:
        by_cupy()
    print(f"{name}_numpy_ms {best(by_numpy):.3f}")
    print(f"{name}_cupy_ms {best(by_cupy):.3f}")
print(f"small_add_ms {best(on_device(lambda: cupy.add(small, small, small))):.4f}")
