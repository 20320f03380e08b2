# SPDX-License-Identifier: Apache-2.0
"""The part "pycuda" of bench/run.py: four PyCUDA programs like the seed's, which bench/pycuda.c does in C: arrays in
one stream, a stream each, a stream each with events around the kernels, and a context in a thread each. Prints `name
value` lines as pycuda.c does; best of some rounds.

    bench_pycuda.py [ARRAYS [LENGTH]]

Status 77 if PyCUDA is not there. bench/run.py starts it with the Python that clients/pycuda.sh has set up. With
BENCH_PROCESSOR_TIME in the environment, times are those of all processors that worked for this process, its compiler
not counted."""
import os
import pathlib
import sys
import threading
import time

try:
    import numpy
    import pycuda.driver as driver
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)

ROUNDS, THREADS = 2, 10
COUNT = max(int(sys.argv[1]) if len(sys.argv) > 1 else 200, THREADS)
LENGTH = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
SOURCE = (pathlib.Path(__file__).resolve().parent / "pycuda_kernel.cu").read_text(encoding="utf-8")
clock = time.process_time if "BENCH_PROCESSOR_TIME" in os.environ else time.perf_counter


def launch(kernel, array, stream=None):
    kernel(array, numpy.int32(LENGTH), block=(64, 1, 1), grid=(1, 1, 1), stream=stream)


def serial(kernel, data):
    on_device = [gpuarray.to_gpu(array) for array in data]
    for array in on_device:
        launch(kernel, array)
    return [array.get() for array in on_device]


def streams(kernel, data):
    on_device = [gpuarray.to_gpu_async(array, stream=stream) for array, stream in zip(data, STREAMS)]
    for array, stream in zip(on_device, STREAMS):
        launch(kernel, array, stream)
    return [array.get_async(stream=stream) for array, stream in zip(on_device, STREAMS)]


def events(kernel, data):
    on_device = [gpuarray.to_gpu_async(array, stream=stream) for array, stream in zip(data, STREAMS)]
    for k, stream in enumerate(STREAMS):
        STARTS[k].record(stream)
        launch(kernel, on_device[k], stream)
    for k, stream in enumerate(STREAMS):
        ENDS[k].record(stream)
    return [array.get_async(stream=stream) for array, stream in zip(on_device, STREAMS)]


def threads(_, data):
    results = [None] * THREADS

    def work(k):
        context = driver.Device(0).make_context()
        kernel = SourceModule(SOURCE).get_function("double_and_halve")
        array = gpuarray.to_gpu(data[k])
        launch(kernel, array)
        results[k] = array.get()
        del array, kernel
        context.pop()

    started = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    return results


driver.init()
main_context = driver.Device(0).make_context()
try:
    main_kernel = SourceModule(SOURCE).get_function("double_and_halve")
    STREAMS = [driver.Stream() for _ in range(COUNT)]
    STARTS, ENDS = ([driver.Event() for _ in range(COUNT)] for _ in range(2))
    arrays = [((numpy.arange(LENGTH) * 7 + k) / 1024).astype("float32") for k in range(COUNT)]
    best = {}
    for _ in range(ROUNDS):
        for form in (serial, streams, events, threads):
            begin = clock()
            out = form(main_kernel, arrays)
            took = clock() - begin
            best[form.__name__] = min(took, best.get(form.__name__, took))
            for number, result in enumerate(out):
                if not numpy.array_equal(result, arrays[number]):
                    sys.exit(f"bench_pycuda.py: {form.__name__}: array {number} differs")
            del out
    for name, took in best.items():
        print(f"pycuda_{name}_seconds {took:.4f}")
    print(f"pycuda_kernel_ms {numpy.mean([start.time_till(end) for start, end in zip(STARTS, ENDS)]):.3f}")
finally:
    main_context.pop()
