# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings.runtime, area by area: devices, memory, streams, events, host functions, graphs, arrays and textures,
libraries and launches, pools, managed memory, IPC handles, errors. With CUDA 12's package and 13's. For pytest."""
import ctypes
import time

import numpy
import pytest
from cuda.bindings import driver, nvrtc, runtime

SOURCE = b"""
extern "C" __global__ void add(int *data, int value, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] += value;
}
extern "C" __global__ void sample(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f);
}
__device__ int table[4] = { 10, 20, 30, 40 };
"""
COUNT = 4096
MAJOR = int(runtime.cudaRuntimeGetVersion()[1]) // 1000
DEFAULT, TO_DEVICE, TO_HOST, ON_DEVICE = (getattr(runtime.cudaMemcpyKind, f"cudaMemcpy{kind}") for kind in ("Default", "HostToDevice", "DeviceToHost", "DeviceToDevice"))


def ok(answer):
    """What a call gave beside its status, which must be success: nothing, one value or a tuple."""
    status, *values = answer
    assert int(status) == 0, status
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def address(array):
    return array.ctypes.data


@pytest.fixture
def stream():
    stream = ok(runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking))
    yield stream
    ok(runtime.cudaStreamSynchronize(stream))
    ok(runtime.cudaStreamDestroy(stream))


@pytest.fixture
def device_memory():
    memory = ok(runtime.cudaMalloc(4 * COUNT))
    ok(runtime.cudaMemset(memory, 0, 4 * COUNT))
    ok(runtime.cudaDeviceSynchronize())  # nothing else orders it with streams that are non-blocking
    yield memory
    ok(runtime.cudaFree(memory))


@pytest.fixture(scope="module")
def ptx():
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"source.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_80"]))
    text = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, text))
    return text


def kernel_of(ptx, name):
    """By the driver's interface, which works on the runtime's context."""
    ok(runtime.cudaFree(0))
    module = ok(driver.cuModuleLoadData(ptx))
    return module, ok(driver.cuModuleGetFunction(module, name))


def launch(function, stream, *arguments, kinds, blocks=8, threads=128):
    ok(driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, int(stream), (arguments, kinds), 0))


def content(handle):
    """The bytes of an IPC handle; packages differ in how they show them."""
    return ctypes.string_at(handle.getPtr() if hasattr(handle, "getPtr") else handle.ptr, 64)


def fetch(memory, dtype=numpy.int32, count=COUNT):
    out = numpy.empty(count, dtype)
    ok(runtime.cudaMemcpy(address(out), memory, out.nbytes, TO_HOST))
    return out


def test_versions():
    assert MAJOR in (12, 13)
    assert int(ok(runtime.cudaDriverGetVersion())) >= 1000 * MAJOR


def test_devices():
    assert ok(runtime.cudaGetDeviceCount()) == 1
    ok(runtime.cudaSetDevice(0))
    assert ok(runtime.cudaGetDevice()) == 0
    properties = ok(runtime.cudaGetDeviceProperties(0))
    assert properties.warpSize == 32 and properties.totalGlobalMem > 0 and properties.name.startswith(b"Millrace")
    attribute = runtime.cudaDeviceAttr.cudaDevAttrComputeCapabilityMajor
    assert ok(runtime.cudaDeviceGetAttribute(attribute, 0)) == properties.major
    free, total = ok(runtime.cudaMemGetInfo())
    assert 0 < free <= total == properties.totalGlobalMem
    assert runtime.cudaSetDevice(9)[0] == runtime.cudaError_t.cudaErrorInvalidDevice
    assert runtime.cudaGetLastError()[0] == runtime.cudaError_t.cudaErrorInvalidDevice


def test_bus_id():
    text = ok(runtime.cudaDeviceGetPCIBusId(64, 0))
    assert ok(runtime.cudaDeviceGetByPCIBusId(text.split(b"\0")[0])) == 0


def test_limits_and_flags():
    limit = runtime.cudaLimit.cudaLimitStackSize
    before = ok(runtime.cudaDeviceGetLimit(limit))
    ok(runtime.cudaDeviceSetLimit(limit, 2048))
    assert ok(runtime.cudaDeviceGetLimit(limit)) == 2048
    ok(runtime.cudaDeviceSetLimit(limit, before))
    assert isinstance(ok(runtime.cudaGetDeviceFlags()), int)


def test_copies(device_memory):
    values = numpy.arange(COUNT, dtype=numpy.int32)
    ok(runtime.cudaMemcpy(device_memory, address(values), values.nbytes, TO_DEVICE))
    assert numpy.array_equal(fetch(device_memory), values)
    other = ok(runtime.cudaMalloc(values.nbytes))
    ok(runtime.cudaMemcpy(other, device_memory, values.nbytes, ON_DEVICE))
    ok(runtime.cudaMemset(device_memory, 0xFF, 16))
    assert numpy.array_equal(fetch(other), values) and list(fetch(device_memory)[:5]) == [-1, -1, -1, -1, 4]
    ok(runtime.cudaFree(other))


def test_copies_of_rows():
    rows = numpy.arange(6 * 10, dtype=numpy.float32).reshape(6, 10)
    memory, pitch = ok(runtime.cudaMallocPitch(40, 6))
    ok(runtime.cudaMemcpy2D(memory, pitch, address(rows), 40, 40, 6, TO_DEVICE))
    back = numpy.zeros((6, 12), numpy.float32)
    ok(runtime.cudaMemcpy2D(address(back), 48, memory, pitch, 40, 6, TO_HOST))
    assert numpy.array_equal(back[:, :10], rows) and not back[:, 10:].any()
    ok(runtime.cudaMemset2D(memory, pitch, 0, 8, 6))
    ok(runtime.cudaMemcpy2D(address(back), 48, memory, pitch, 40, 6, TO_HOST))
    assert not back[:, :2].any() and numpy.array_equal(back[:, 2:10], rows[:, 2:])
    ok(runtime.cudaFree(memory))


def test_pinned_memory():
    memory = ok(runtime.cudaHostAlloc(64, runtime.cudaHostAllocMapped))
    ctypes.memset(memory, 7, 64)
    attributes = ok(runtime.cudaPointerGetAttributes(memory))
    assert attributes.type == runtime.cudaMemoryType.cudaMemoryTypeHost
    assert ok(runtime.cudaHostGetDevicePointer(memory, 0)) == attributes.devicePointer
    ok(runtime.cudaFreeHost(memory))
    values = numpy.ones(1000, numpy.int64)
    ok(runtime.cudaHostRegister(address(values), values.nbytes, 0))
    ok(runtime.cudaHostUnregister(address(values)))


def test_managed_memory(ptx, stream):
    module, add = kernel_of(ptx, b"add")
    memory = ok(runtime.cudaMallocManaged(4 * COUNT, runtime.cudaMemAttachGlobal))
    values = numpy.ctypeslib.as_array(ctypes.cast(memory, ctypes.POINTER(ctypes.c_int32)), (COUNT,))
    values[:] = numpy.arange(COUNT)
    launch(add, stream, memory, 3, COUNT, kinds=(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint))
    ok(runtime.cudaStreamSynchronize(stream))
    assert numpy.array_equal(values, numpy.arange(COUNT) + 3)
    del values
    ok(runtime.cudaFree(memory))
    ok(driver.cuModuleUnload(module))


def test_streams(ptx, stream, device_memory):
    module, add = kernel_of(ptx, b"add")
    out = numpy.zeros(COUNT, numpy.int32)
    for value in range(1, 11):
        launch(add, stream, device_memory, value, COUNT, kinds=(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint))
    ok(runtime.cudaMemcpyAsync(address(out), device_memory, out.nbytes, TO_HOST, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert runtime.cudaStreamQuery(stream)[0] == runtime.cudaError_t.cudaSuccess
    assert (out == 55).all()
    assert ok(runtime.cudaStreamGetFlags(stream)) == runtime.cudaStreamNonBlocking
    least, greatest = ok(runtime.cudaDeviceGetStreamPriorityRange())
    urgent = ok(runtime.cudaStreamCreateWithPriority(runtime.cudaStreamNonBlocking, greatest))
    assert greatest < least and ok(runtime.cudaStreamGetPriority(urgent)) == greatest
    ok(runtime.cudaStreamDestroy(urgent))
    ok(driver.cuModuleUnload(module))


def test_events(stream, device_memory):
    begin, end = (ok(runtime.cudaEventCreate()) for _ in range(2))
    other = ok(runtime.cudaStreamCreate())
    ok(runtime.cudaEventRecord(begin, stream))
    ok(runtime.cudaMemsetAsync(device_memory, 1, 4 * COUNT, stream))
    ok(runtime.cudaEventRecord(end, stream))
    ok(runtime.cudaStreamWaitEvent(other, end, 0))
    ok(runtime.cudaStreamSynchronize(other))
    assert runtime.cudaEventQuery(end)[0] == runtime.cudaError_t.cudaSuccess
    ok(runtime.cudaEventSynchronize(end))
    assert ok(runtime.cudaEventElapsedTime(begin, end)) >= 0
    untimed = ok(runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming))
    ok(runtime.cudaEventRecord(untimed, stream))
    assert runtime.cudaEventElapsedTime(begin, untimed)[0] == runtime.cudaError_t.cudaErrorInvalidResourceHandle
    for event in begin, end, untimed:
        ok(runtime.cudaEventDestroy(event))
    ok(runtime.cudaStreamDestroy(other))


def test_a_query_before_the_end(stream):
    """A stream that waits for a host function is not ready; the function runs once."""
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def wait(_):
        while not seen:
            time.sleep(0.001)
        seen.append("ran")

    function = runtime.cudaHostFn_t(_ptr=ctypes.addressof(wait))
    ok(runtime.cudaLaunchHostFunc(stream, function, 0))
    assert runtime.cudaStreamQuery(stream)[0] == runtime.cudaError_t.cudaErrorNotReady
    seen.append("seen")
    ok(runtime.cudaStreamSynchronize(stream))
    assert seen == ["seen", "ran"]


def test_capture(ptx, stream, device_memory):
    module, add = kernel_of(ptx, b"add")
    ok(runtime.cudaStreamBeginCapture(stream, runtime.cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal))
    launch(add, stream, device_memory, 2, COUNT, kinds=(ctypes.c_void_p, ctypes.c_int, ctypes.c_uint))
    ok(runtime.cudaMemsetAsync(device_memory, 0, 4, stream))
    assert ok(runtime.cudaStreamIsCapturing(stream)) == runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive
    assert (
        ok(runtime.cudaStreamGetCaptureInfo(stream))[0] == runtime.cudaStreamCaptureStatus.cudaStreamCaptureStatusActive
    )
    graph = ok(runtime.cudaStreamEndCapture(stream))
    nodes, count = ok(runtime.cudaGraphGetNodes(graph, 4))
    assert count == 2
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    for _ in range(3):
        ok(runtime.cudaGraphLaunch(executable, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert list(fetch(device_memory)[:3]) == [0, 6, 6]
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaGraphDestroy(graph))
    ok(driver.cuModuleUnload(module))


def test_graphs(stream, device_memory):
    graph = ok(runtime.cudaGraphCreate(0))
    fill = runtime.cudaMemsetParams()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = device_memory, 9, 4, COUNT, 1
    first = ok(runtime.cudaGraphAddMemsetNode(graph, None, 0, fill))
    out = numpy.zeros(COUNT, numpy.int32)
    second = ok(runtime.cudaGraphAddMemcpyNode1D(graph, [first], 1, address(out), device_memory, out.nbytes, TO_HOST))
    assert ok(runtime.cudaGraphNodeGetType(second)) == runtime.cudaGraphNodeType.cudaGraphNodeTypeMemcpy
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    ok(runtime.cudaGraphLaunch(executable, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert (out == 9).all()
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaGraphDestroy(graph))


def test_textures(ptx):
    module, sample = kernel_of(ptx, b"sample")
    values = numpy.arange(32, dtype=numpy.float32)
    channels = ok(runtime.cudaCreateChannelDesc(32, 0, 0, 0, runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat))
    assert (channels.x, channels.y) == (32, 0)
    array = ok(runtime.cudaMallocArray(channels, 8, 4, 0))
    ok(runtime.cudaMemcpy2DToArray(array, 0, 0, address(values), 32, 32, 4, TO_DEVICE))
    resource, texture = runtime.cudaResourceDesc(), runtime.cudaTextureDesc()
    resource.resType, resource.res.array.array = runtime.cudaResourceType.cudaResourceTypeArray, array
    texture.readMode = runtime.cudaTextureReadMode.cudaReadModeElementType
    handle = ok(runtime.cudaCreateTextureObject(resource, texture, None))
    out = ok(runtime.cudaMalloc(128))
    launch(sample, 0, int(handle), out, kinds=(ctypes.c_ulonglong, ctypes.c_void_p), blocks=1, threads=32)
    ok(runtime.cudaDeviceSynchronize())
    assert numpy.array_equal(fetch(out, numpy.float32, 32), values)
    ok(runtime.cudaDestroyTextureObject(handle))
    ok(runtime.cudaFreeArray(array))
    ok(runtime.cudaFree(out))
    ok(driver.cuModuleUnload(module))


@pytest.mark.skipif(not hasattr(runtime, "cudaLibraryLoadData"), reason="version 12.8 and later")
def test_libraries(ptx, stream):
    library = ok(runtime.cudaLibraryLoadData(ptx, None, None, 0, None, None, 0))
    ok(runtime.cudaLibraryGetKernel(library, b"add"))
    assert ok(runtime.cudaLibraryGetKernelCount(library)) == 2
    table, size = ok(runtime.cudaLibraryGetGlobal(library, b"table"))
    assert size == 16 and list(fetch(table, count=4)) == [10, 20, 30, 40]
    ok(runtime.cudaLibraryUnload(library))


def test_pools(stream):
    memory = ok(runtime.cudaMallocAsync(4 * COUNT, stream))
    ok(runtime.cudaMemsetAsync(memory, 5, 4 * COUNT, stream))
    out = numpy.zeros(4 * COUNT, numpy.uint8)
    ok(runtime.cudaMemcpyAsync(address(out), memory, out.nbytes, DEFAULT, stream))
    ok(runtime.cudaFreeAsync(memory, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert (out == 5).all()
    pool = ok(runtime.cudaDeviceGetDefaultMemPool(0))
    used = ok(runtime.cudaMemPoolGetAttribute(pool, runtime.cudaMemPoolAttr.cudaMemPoolAttrUsedMemCurrent))
    assert int(used) == 0
    ok(runtime.cudaMemPoolTrimTo(pool, 0))


def test_ipc_handles(device_memory):
    handle = ok(runtime.cudaIpcGetMemHandle(device_memory))
    assert any(content(handle))
    event = ok(runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming | runtime.cudaEventInterprocess))
    assert any(content(ok(runtime.cudaIpcGetEventHandle(event))))
    ok(runtime.cudaEventDestroy(event))


def test_errors():
    invalid = runtime.cudaError_t.cudaErrorInvalidValue
    assert runtime.cudaMemset(16, 0, 4)[0] == invalid
    assert runtime.cudaPeekAtLastError()[0] == runtime.cudaGetLastError()[0] == invalid
    assert runtime.cudaGetLastError()[0] == runtime.cudaError_t.cudaSuccess
    assert ok(runtime.cudaGetErrorName(invalid)) == b"cudaErrorInvalidValue"
    assert ok(runtime.cudaGetErrorString(invalid)) == b"invalid argument"


def test_driver_entry_points():
    function, found = ok(runtime.cudaGetDriverEntryPoint(b"cuCtxGetId", 0)) if MAJOR == 12 else \
        ok(runtime.cudaGetDriverEntryPointByVersion(b"cuCtxGetId", 12000, 0))
    assert function and int(found) == 0


def test_a_function_that_is_not_there():
    """Of versions after 13.0: it says that it is not supported, and the next call works."""
    if not hasattr(runtime, "cudaDeviceGetExecutionCtx"):
        pytest.skip("version 13.1 and later")
    assert runtime.cudaDeviceGetExecutionCtx(0)[0] == runtime.cudaError_t.cudaErrorNotSupported
    ok(runtime.cudaDeviceSynchronize())


def test_reset():
    """Last: the context goes, and the next call makes another."""
    ok(runtime.cudaDeviceReset())
    ok(runtime.cudaFree(ok(runtime.cudaMalloc(16))))
    ok(runtime.cudaDeviceSynchronize())
