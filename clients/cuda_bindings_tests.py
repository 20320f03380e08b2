# SPDX-License-Identifier: Apache-2.0
"""cuda-bindings, area by area: the driver's events, streams, memory, modules, linker, graphs and errors; NVRTC's
programs; nvJitLink. For pytest."""
import ctypes

import numpy
import pytest
from cuda.bindings import driver, nvjitlink, nvrtc

SOURCE = b"""
__constant__ int addend = 5;
__device__ int table[4] = { 10, 20, 30, 40 };
extern "C" __global__ void add(int *data, int value, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] += value;
}
extern "C" __global__ void mixed(float *out, double d, short s, signed char c, float f) { *out = (float)d + s + c + f; }
extern "C" __global__ void globals(int *out) { out[threadIdx.x] = table[threadIdx.x] + addend; }
extern "C" __global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        __nanosleep(1000);
}
"""
COUNT = 4096
OK = driver.CUresult.CUDA_SUCCESS


def ok(answer):
    """What a call gave beside its status, which must be success: nothing, one value or a tuple."""
    status, *values = answer
    assert status.value == 0, status
    return None if not values else values[0] if len(values) == 1 else tuple(values)


@pytest.fixture(scope="module", autouse=True)
def context():
    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(context))
    yield context
    ok(driver.cuDevicePrimaryCtxRelease(device))


def compiled(source, *options, name=b"source.cu", headers=(), expressions=()):
    """The PTX, and the lowered names of the expressions."""
    program = ok(
        nvrtc.nvrtcCreateProgram(
            source, name, len(headers), [text for _, text in headers], [name for name, _ in headers]
        )
    )
    for expression in expressions:
        ok(nvrtc.nvrtcAddNameExpression(program, expression))
    options = [b"--gpu-architecture=compute_80", *options]
    status, = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * ok(nvrtc.nvrtcGetProgramLogSize(program))
    ok(nvrtc.nvrtcGetProgramLog(program, log))
    if status.value:
        ok(nvrtc.nvrtcDestroyProgram(program))
        raise RuntimeError(f"{status.name}: {log.decode()}")
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    names = [ok(nvrtc.nvrtcGetLoweredName(program, expression)) for expression in expressions]
    ok(nvrtc.nvrtcDestroyProgram(program))
    return (ptx, *names) if names else ptx


@pytest.fixture(scope="module")
def ptx():
    return compiled(SOURCE)


@pytest.fixture(scope="module")
def module(context, ptx):
    module = ok(driver.cuModuleLoadData(ptx))
    yield module
    ok(driver.cuModuleUnload(module))


@pytest.fixture
def stream():
    stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield stream
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuStreamDestroy(stream))


@pytest.fixture
def numbers(stream):
    """COUNT ints on the device, all 0."""
    memory = ok(driver.cuMemAlloc(4 * COUNT))
    ok(driver.cuMemsetD32(memory, 0, COUNT))
    ok(driver.cuCtxSynchronize())  # nothing else orders it with streams that are non-blocking
    yield memory
    ok(driver.cuStreamSynchronize(stream))
    ok(driver.cuMemFree(memory))


@pytest.fixture
def latch(stream, module):
    """A function that keeps a stream busy with a kernel, and one that lets it go."""
    flag = ok(driver.cuMemHostAlloc(4, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    word = ctypes.c_int.from_address(flag)
    word.value = 0
    function = ok(driver.cuModuleGetFunction(module, b"wait_for"))
    held = []

    def hold(where):
        held.append(where)
        launch(function, where, (ok(driver.cuMemHostGetDevicePointer(flag, 0)),), (None,), grid=1, block=1)

    def release():
        word.value = 1
    yield hold, release
    release()
    for where in held:
        ok(driver.cuStreamSynchronize(where))
    ok(driver.cuMemFreeHost(flag))


def launch(function, stream, values, types, grid=8, block=64):
    ok(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, (values, types), 0))


ADD_TYPES = (None, ctypes.c_int, ctypes.c_uint)


def add(module, stream, memory, value):
    launch(ok(driver.cuModuleGetFunction(module, b"add")), stream, (memory, value, COUNT), ADD_TYPES)


def assert_all(stream, memory, value):
    host = numpy.zeros(COUNT, numpy.int32)
    ok(driver.cuMemcpyDtoHAsync(host, memory, host.nbytes, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert (host == value).all(), host


class TestEvents:
    def test_pending_and_done(self, stream, latch):
        hold, release = latch
        event = ok(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT))
        assert driver.cuEventQuery(event)[0] == OK    # never recorded
        hold(stream)
        ok(driver.cuEventRecord(event, stream))
        assert driver.cuEventQuery(event)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
        release()
        ok(driver.cuEventSynchronize(event))
        assert driver.cuEventQuery(event)[0] == OK
        ok(driver.cuEventDestroy(event))

    def test_elapsed(self, stream, latch):
        hold, release = latch
        start, end, plain = (
            ok(driver.cuEventCreate(flags)) for flags in (0, 0, driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)
        )
        ok(driver.cuEventRecord(start, stream))
        hold(stream)
        for event in (end, plain):
            ok(driver.cuEventRecord(event, stream))
        assert driver.cuEventElapsedTime(start, end)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
        release()
        ok(driver.cuEventSynchronize(plain))
        assert ok(driver.cuEventElapsedTime(start, end)) > 0
        assert driver.cuEventElapsedTime(start, plain)[0] == driver.CUresult.CUDA_ERROR_INVALID_HANDLE
        for event in (start, end, plain):
            ok(driver.cuEventDestroy(event))

    def test_bad_flags(self):
        status, event = driver.cuEventCreate(0x80)
        assert status == driver.CUresult.CUDA_ERROR_INVALID_VALUE and event is None


class TestStreams:
    def test_wait_event(self, stream, module, numbers, latch):
        hold, release = latch
        other, event = ok(driver.cuStreamCreate(1)), ok(driver.cuEventCreate(2))
        hold(stream)
        add(module, stream, numbers, 3)
        ok(driver.cuEventRecord(event, stream))
        ok(driver.cuStreamWaitEvent(other, event, 0))
        add(module, other, numbers, 4)
        assert driver.cuStreamQuery(other)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
        release()
        assert_all(other, numbers, 7)
        ok(driver.cuStreamDestroy(other))
        ok(driver.cuEventDestroy(event))

    def test_facts(self, stream):
        least, greatest = ok(driver.cuCtxGetStreamPriorityRange())
        high = ok(driver.cuStreamCreateWithPriority(driver.CUstream_flags.CU_STREAM_NON_BLOCKING, greatest))
        assert (
            greatest < least
            and ok(driver.cuStreamGetPriority(high)) == greatest
            and ok(driver.cuStreamGetPriority(stream)) == least
        )
        assert ok(driver.cuStreamGetFlags(high)) == 1
        assert int(ok(driver.cuStreamGetCtx(high))) == int(ok(driver.cuCtxGetCurrent()))
        assert ok(driver.cuStreamGetId(high)) != ok(driver.cuStreamGetId(stream))
        ok(driver.cuStreamDestroy(high))

    def test_values_in_memory(self, stream, numbers):
        word = ok(driver.cuMemAlloc(4))
        ok(driver.cuMemsetD32(word, 0, 1))
        ok(driver.cuCtxSynchronize())
        other = ok(driver.cuStreamCreate(1))
        ok(driver.cuStreamWaitValue32(other, word, 9, driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ))
        ok(driver.cuMemsetD32Async(numbers, 6, COUNT, other))
        assert driver.cuStreamQuery(other)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
        ok(driver.cuStreamWriteValue32(stream, word, 9, 0))
        assert_all(other, numbers, 6)
        ok(driver.cuStreamDestroy(other))
        ok(driver.cuMemFree(word))

    def test_host_function(self, stream):
        calls = []
        callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(calls.append)
        function = driver.CUhostFn(_ptr=ctypes.addressof(callback))
        for number in (1, 2):
            ok(driver.cuLaunchHostFunc(stream, function, number))
        ok(driver.cuStreamSynchronize(stream))
        assert calls == [1, 2]

    def test_bad_handle(self):
        assert driver.cuStreamSynchronize(driver.CUstream(0x1234567))[0] in (
            driver.CUresult.CUDA_ERROR_INVALID_HANDLE,
            driver.CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
        )


class TestMemory:
    def test_copies(self, stream):
        host = numpy.arange(COUNT, dtype=numpy.int32)
        back = numpy.zeros_like(host)
        first, second = (ok(driver.cuMemAlloc(host.nbytes)) for _ in range(2))
        ok(driver.cuMemcpyHtoD(first, host, host.nbytes))
        ok(driver.cuCtxSynchronize())
        ok(driver.cuMemcpyDtoDAsync(second, first, host.nbytes, stream))
        ok(driver.cuMemcpyDtoHAsync(back, second, host.nbytes, stream))
        ok(driver.cuStreamSynchronize(stream))
        assert (back == host).all()
        base, size = ok(driver.cuMemGetAddressRange(int(first) + 100))
        assert int(base) == int(first) and size == host.nbytes
        for memory in (first, second):
            ok(driver.cuMemFree(memory))
        assert driver.cuMemFree(first)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE

    def test_2d(self):
        rows, width = 5, 60
        host = numpy.arange(rows * width, dtype=numpy.uint8).reshape(rows, width)
        back = numpy.zeros_like(host)
        memory, pitch = ok(driver.cuMemAllocPitch(width, rows, 4))
        assert pitch >= width
        for to_device in (True, False):
            copy = driver.CUDA_MEMCPY2D()
            copy.WidthInBytes, copy.Height = width, rows
            kinds = driver.CUmemorytype
            if to_device:
                copy.srcMemoryType, copy.srcHost, copy.srcPitch = kinds.CU_MEMORYTYPE_HOST, host.ctypes.data, width
                copy.dstMemoryType, copy.dstDevice, copy.dstPitch = kinds.CU_MEMORYTYPE_DEVICE, memory, pitch
            else:
                copy.srcMemoryType, copy.srcDevice, copy.srcPitch = kinds.CU_MEMORYTYPE_DEVICE, memory, pitch
                copy.dstMemoryType, copy.dstHost, copy.dstPitch = kinds.CU_MEMORYTYPE_HOST, back.ctypes.data, width
            ok(driver.cuMemcpy2D(copy))
        assert (back == host).all()
        ok(driver.cuMemFree(memory))

    def test_pointer_attributes(self):
        attributes = driver.CUpointer_attribute
        managed = ok(driver.cuMemAllocManaged(256, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
        device = ok(driver.cuMemAlloc(256))
        assert ok(driver.cuPointerGetAttribute(attributes.CU_POINTER_ATTRIBUTE_IS_MANAGED, managed))
        assert not ok(driver.cuPointerGetAttribute(attributes.CU_POINTER_ATTRIBUTE_IS_MANAGED, device))
        kind, size, start = ok(
            driver.cuPointerGetAttributes(
                3,
                [
                    attributes.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                    attributes.CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                    attributes.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                ],
                device,
            )
        )
        assert (int(kind), size, int(start)) == (int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE), 256, int(device))
        for memory in (managed, device):
            ok(driver.cuMemFree(memory))

    def test_pool(self, stream):
        attributes = driver.CUmemPool_attribute
        properties = driver.CUmemPoolProps()
        properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = 0
        pool = ok(driver.cuMemPoolCreate(properties))
        ok(driver.cuMemPoolSetAttribute(pool, attributes.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, driver.cuuint64_t(1 << 20)))
        assert int(ok(driver.cuMemPoolGetAttribute(pool, attributes.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD))) == 1 << 20
        memory = ok(driver.cuMemAllocFromPoolAsync(4 * COUNT, pool, stream))
        ok(driver.cuMemsetD32Async(memory, 8, COUNT, stream))
        assert_all(stream, memory, 8)
        assert int(ok(driver.cuMemPoolGetAttribute(pool, attributes.CU_MEMPOOL_ATTR_USED_MEM_CURRENT))) >= 4 * COUNT
        ok(driver.cuMemFreeAsync(memory, stream))
        ok(driver.cuStreamSynchronize(stream))
        assert int(ok(driver.cuMemPoolGetAttribute(pool, attributes.CU_MEMPOOL_ATTR_USED_MEM_CURRENT))) == 0
        ok(driver.cuMemPoolDestroy(pool))

    def test_registered(self, stream):
        host = numpy.full(1 << 16, 3, dtype=numpy.int32)
        ok(driver.cuMemHostRegister(host.ctypes.data, host.nbytes, driver.CU_MEMHOSTREGISTER_DEVICEMAP))
        assert (
            driver.cuMemHostRegister(host.ctypes.data, host.nbytes, 0)[0]
            == driver.CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
        )
        ok(driver.cuMemsetD32Async(ok(driver.cuMemHostGetDevicePointer(host.ctypes.data, 0)), 4, COUNT, stream))
        ok(driver.cuStreamSynchronize(stream))
        assert (host[:COUNT] == 4).all() and (host[COUNT:] == 3).all()
        ok(driver.cuMemHostUnregister(host.ctypes.data))

    def test_virtual(self, stream):
        properties = driver.CUmemAllocationProp()
        properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = 0
        size = ok(
            driver.cuMemGetAllocationGranularity(
                properties, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
            )
        )
        handle, address = ok(driver.cuMemCreate(size, properties, 0)), ok(driver.cuMemAddressReserve(2 * size, 0, 0, 0))
        access = driver.CUmemAccessDesc()
        access.location, access.flags = properties.location, driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        for at in (int(address), int(address) + size):    # the same memory twice
            ok(driver.cuMemMap(at, size, 0, handle, 0))
        ok(driver.cuMemSetAccess(address, 2 * size, [access], 1))
        ok(driver.cuMemsetD32Async(address, 77, COUNT, stream))
        assert_all(stream, int(address) + size, 77)
        ok(driver.cuMemUnmap(address, 2 * size))
        ok(driver.cuMemRelease(handle))
        ok(driver.cuMemAddressFree(address, 2 * size))

    def test_too_much(self):
        assert driver.cuMemAlloc(1 << 50)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        assert driver.cuMemAlloc(0)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


class TestModules:
    def test_parameters_of_all_sorts(self, stream, module, numbers):
        launch(ok(driver.cuModuleGetFunction(module, b"mixed")), stream, (numbers, 0.5, -300, -7, 1000.0),
               (None, ctypes.c_double, ctypes.c_short, ctypes.c_byte, ctypes.c_float), grid=1, block=1)
        out = numpy.zeros(1, numpy.float32)
        ok(driver.cuStreamSynchronize(stream))
        ok(driver.cuMemcpyDtoH(out, numbers, 4))
        assert out[0] == 693.5

    def test_parameters_as_addresses(self, stream, module, numbers):
        values = [
            numpy.array([int(numbers)], numpy.uint64),
            numpy.array([11], numpy.int32),
            numpy.array([COUNT], numpy.uint32),
        ]
        pointers = numpy.array([value.ctypes.data for value in values], numpy.uint64)
        function = ok(driver.cuModuleGetFunction(module, b"add"))
        ok(driver.cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, stream, pointers.ctypes.data, 0))
        assert_all(stream, numbers, 11)

    def test_globals(self, stream, module, numbers):
        address, size = ok(driver.cuModuleGetGlobal(module, b"table"))
        assert size == 16
        ok(driver.cuMemcpyHtoD(address, numpy.array([1, 2, 3, 4], numpy.int32), size))
        ok(driver.cuCtxSynchronize())
        launch(ok(driver.cuModuleGetFunction(module, b"globals")), stream, (numbers,), (None,), grid=1, block=4)
        ok(driver.cuStreamSynchronize(stream))
        host = numpy.zeros(4, numpy.int32)
        ok(driver.cuMemcpyDtoH(host, numbers, 16))
        assert list(host) == [6, 7, 8, 9]
        assert driver.cuModuleGetGlobal(module, b"nothing")[0] == driver.CUresult.CUDA_ERROR_NOT_FOUND

    def test_functions(self, module):
        assert ok(driver.cuModuleGetFunctionCount(module)) == 4
        function = ok(driver.cuModuleGetFunction(module, b"add"))
        assert ok(driver.cuFuncGetName(function)) == b"add"
        assert [ok(driver.cuFuncGetParamInfo(function, i)) for i in range(3)] == [(0, 8), (8, 4), (12, 4)]
        assert driver.cuFuncGetParamInfo(function, 3)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        assert ok(driver.cuFuncGetAttribute(attribute, function)) >= 64
        assert ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, 64, 0)) > 0

    def test_error_log(self):
        log = bytearray(500)
        options = driver.CUjit_option
        status, module = driver.cuModuleLoadDataEx(
            b".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n nonsense;\n}\n\0",
            2,
            [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
            [log, len(log)],
        )
        assert status == driver.CUresult.CUDA_ERROR_INVALID_PTX and module is None
        assert b"line 6" in log and b"nonsense" in log

    def test_library(self, stream, ptx, numbers):
        library = ok(driver.cuLibraryLoadData(ptx, [], [], 0, [], [], 0))
        assert ok(driver.cuLibraryGetKernelCount(library)) == 4
        kernel = ok(driver.cuLibraryGetKernel(library, b"add"))
        assert ok(driver.cuKernelGetName(kernel)) == b"add"
        launch(ok(driver.cuKernelGetFunction(kernel)), stream, (numbers, 2, COUNT), ADD_TYPES)
        launch(driver.CUfunction(int(kernel)), stream, (numbers, 3, COUNT), ADD_TYPES)    # a kernel's handle is taken for a function's
        assert_all(stream, numbers, 5)
        ok(driver.cuLibraryUnload(library))

    def test_launch_with_attributes(self, stream, module, numbers):
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX, config.blockDimY, config.blockDimZ = (
            8,
            1,
            1,
            64,
            1,
            1,
        )
        config.hStream = stream
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
        attribute.value.priority = -1
        config.attrs, config.numAttrs = [attribute], 1
        ok(driver.cuLaunchKernelEx(config, ok(driver.cuModuleGetFunction(module, b"add")), ((numbers, 12, COUNT), ADD_TYPES), 0))
        assert_all(stream, numbers, 12)

    def test_bad_launch(self, stream, module, numbers):
        function = ok(driver.cuModuleGetFunction(module, b"add"))
        assert (
            driver.cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, stream, ((numbers, 1, COUNT), ADD_TYPES), 0)[0]
            == driver.CUresult.CUDA_ERROR_INVALID_VALUE
        )


RELOCATABLE = [b"extern __device__ int twice(int); extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = twice(p[threadIdx.x]) + 1; }",
               b"__device__ int twice(int x) { return 2 * x; }"]


@pytest.fixture(scope="module")
def parts():
    return [compiled(source, b"-rdc=true") for source in RELOCATABLE]


def assert_linked(stream, numbers, image):
    module = ok(driver.cuModuleLoadData(image))
    ok(driver.cuMemsetD32Async(numbers, 5, COUNT, stream))
    launch(ok(driver.cuModuleGetFunction(module, b"k")), stream, (numbers,), (None,), grid=1, block=64)
    ok(driver.cuStreamSynchronize(stream))
    host = numpy.zeros(COUNT, numpy.int32)
    ok(driver.cuMemcpyDtoH(host, numbers, host.nbytes))
    assert (host[:64] == 11).all() and (host[64:] == 5).all()
    ok(driver.cuModuleUnload(module))


class TestLinker:
    def test_driver(self, stream, parts, numbers):
        state = ok(driver.cuLinkCreate(0, [], []))
        for number, part in enumerate(parts):
            ok(driver.cuLinkAddData(state, driver.CUjitInputType.CU_JIT_INPUT_PTX, part, len(part), b"part%d" % number, 0, [], []))
        cubin, size = ok(driver.cuLinkComplete(state))
        image = ctypes.string_at(cubin, size)
        ok(driver.cuLinkDestroy(state))
        assert_linked(stream, numbers, image)

    def test_driver_missing_definition(self, parts):
        log = bytearray(500)
        options = driver.CUjit_option
        state = ok(
            driver.cuLinkCreate(
                2, [options.CU_JIT_ERROR_LOG_BUFFER, options.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)]
            )
        )
        ok(driver.cuLinkAddData(state, driver.CUjitInputType.CU_JIT_INPUT_PTX, parts[0], len(parts[0]), b"uses.ptx", 0, [], []))
        assert driver.cuLinkComplete(state)[0] == driver.CUresult.CUDA_ERROR_UNKNOWN
        assert b"twice" in log
        ok(driver.cuLinkDestroy(state))

    def test_nvjitlink(self, stream, parts, numbers):
        handle = nvjitlink.create(1, ["-arch=sm_80"])
        for number, part in enumerate(parts):
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, part, len(part), f"part{number}")
        nvjitlink.complete(handle)
        image = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, image)
        nvjitlink.destroy(handle)
        assert_linked(stream, numbers, bytes(image))

    def test_nvjitlink_missing_definition(self, parts):
        handle = nvjitlink.create(1, ["-arch=sm_80"])
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, parts[0], len(parts[0]), "uses.ptx")
        with pytest.raises(nvjitlink.nvJitLinkError):
            nvjitlink.complete(handle)
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        assert b"twice" in log
        nvjitlink.destroy(handle)

    def test_nvjitlink_bad_option(self):
        with pytest.raises(nvjitlink.nvJitLinkError, match="UNRECOGNIZED_OPTION"):
            nvjitlink.create(2, ["-arch=sm_80", "-nonsense"])


class TestPrograms:
    def test_version(self):
        major, minor = ok(nvrtc.nvrtcVersion())
        assert (major, minor) == (13, 0)
        architectures = ok(nvrtc.nvrtcGetSupportedArchs())
        assert (
            len(architectures) == ok(nvrtc.nvrtcGetNumSupportedArchs())
            and 80 in architectures
            and sorted(architectures) == architectures
        )

    def test_headers_and_options(self, stream, numbers):
        source = b'#include "mine/size.h"\nextern "C" __global__ void k(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = SIZE + EXTRA; }\n'
        ptx = compiled(source, b"-DEXTRA=4", b"--std=c++17", headers=[(b"mine/size.h", b"#define SIZE 38\n")])
        module = ok(driver.cuModuleLoadData(ptx))
        launch(ok(driver.cuModuleGetFunction(module, b"k")), stream, (numbers,), (None,), grid=COUNT // 64)
        assert_all(stream, numbers, 42)
        ok(driver.cuModuleUnload(module))

    def test_lowered_names(self, stream, numbers):
        source = b"namespace mine { template <typename T, int N> __global__ void fill(T *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = N; } }\n"
        ptx, name = compiled(source, expressions=[b"mine::fill<int, 13>"])
        module = ok(driver.cuModuleLoadData(ptx))
        launch(ok(driver.cuModuleGetFunction(module, name)), stream, (numbers,), (None,), grid=COUNT // 64)
        assert_all(stream, numbers, 13)
        ok(driver.cuModuleUnload(module))

    def test_log(self):
        with pytest.raises(RuntimeError, match=r"NVRTC_ERROR_COMPILATION: (?s:.*)mine\.cu\(2\): error"):
            compiled(b"__global__ void k()\n{ nothing; }\n", name=b"mine.cu")
        with pytest.raises(RuntimeError, match="NVRTC_ERROR_INVALID_OPTION"):
            compiled(SOURCE, b"--nonsense")
        assert ok(nvrtc.nvrtcGetErrorString(nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION)) == b"NVRTC_ERROR_COMPILATION"

    def test_cubin(self, stream, numbers):
        program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"source.cu", 0, [], []))
        ok(nvrtc.nvrtcCompileProgram(program, 1, [b"-arch=sm_80"]))
        cubin = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
        ok(nvrtc.nvrtcGetCUBIN(program, cubin))
        ok(nvrtc.nvrtcDestroyProgram(program))
        module = ok(driver.cuModuleLoadData(cubin))
        add(module, stream, numbers, 21)
        assert_all(stream, numbers, 21)
        ok(driver.cuModuleUnload(module))


class TestGraphs:
    def node(self, module, memory, value):
        """Parameters of a kernel node; what they point to is kept in them."""
        parameters = driver.CUDA_KERNEL_NODE_PARAMS()
        parameters.func = ok(driver.cuModuleGetFunction(module, b"add"))
        parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ = 8, 1, 1
        parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ = 64, 1, 1
        parameters.kernelParams = ((memory, value, COUNT), ADD_TYPES)
        return parameters

    def test_nodes(self, stream, module, numbers):
        graph = ok(driver.cuGraphCreate(0))
        fill = driver.CUDA_MEMSET_NODE_PARAMS()
        fill.dst, fill.value, fill.elementSize, fill.width, fill.height = numbers, 100, 4, COUNT, 1
        first = ok(driver.cuGraphAddMemsetNode(graph, [], 0, fill, ok(driver.cuCtxGetCurrent())))
        second = ok(driver.cuGraphAddKernelNode(graph, [first], 1, self.node(module, numbers, 7)))
        nodes, count = ok(driver.cuGraphGetNodes(graph, 2))
        assert count == 2 and {int(node) for node in nodes} == {int(first), int(second)}
        assert ok(driver.cuGraphNodeGetType(second)) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
        executable = ok(driver.cuGraphInstantiate(graph, 0))
        for _ in range(2):
            ok(driver.cuGraphLaunch(executable, stream))
        assert_all(stream, numbers, 107)
        ok(driver.cuGraphExecKernelNodeSetParams(executable, second, self.node(module, numbers, 9)))
        ok(driver.cuGraphLaunch(executable, stream))
        assert_all(stream, numbers, 109)
        ok(driver.cuGraphExecDestroy(executable))
        ok(driver.cuGraphDestroy(graph))

    def test_capture(self, stream, module, numbers):
        other = ok(driver.cuStreamCreate(1))
        fork, join = (ok(driver.cuEventCreate(2)) for _ in range(2))
        ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
        add(module, stream, numbers, 1)
        ok(driver.cuEventRecord(fork, stream))
        ok(driver.cuStreamWaitEvent(other, fork, 0))
        add(module, other, numbers, 10)
        ok(driver.cuEventRecord(join, other))
        ok(driver.cuStreamWaitEvent(stream, join, 0))
        add(module, stream, numbers, 100)
        assert ok(driver.cuStreamIsCapturing(other)) == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
        graph = ok(driver.cuStreamEndCapture(stream))
        assert ok(driver.cuGraphGetNodes(graph, 0))[1] == 3
        executable = ok(driver.cuGraphInstantiate(graph, 0))
        ok(driver.cuGraphLaunch(executable, stream))
        assert_all(stream, numbers, 111)
        ok(driver.cuGraphExecDestroy(executable))
        ok(driver.cuGraphDestroy(graph))
        ok(driver.cuStreamDestroy(other))
        for event in (fork, join):
            ok(driver.cuEventDestroy(event))

    def test_capture_refuses(self, stream):
        ok(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
        assert driver.cuStreamSynchronize(stream)[0] == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        assert driver.cuStreamEndCapture(stream)[0] == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED

    def test_update(self, stream, module, numbers):
        graphs = []
        for value in (1, 50):
            graphs.append(ok(driver.cuGraphCreate(0)))
            ok(driver.cuGraphAddKernelNode(graphs[-1], [], 0, self.node(module, numbers, value)))
        executable = ok(driver.cuGraphInstantiate(graphs[0], 0))
        ok(driver.cuGraphLaunch(executable, stream))
        assert (
            ok(driver.cuGraphExecUpdate(executable, graphs[1])).result
            == driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
        )
        ok(driver.cuGraphLaunch(executable, stream))
        assert_all(stream, numbers, 51)
        ok(driver.cuGraphExecDestroy(executable))
        for graph in graphs:
            ok(driver.cuGraphDestroy(graph))

    def test_cycle(self, module, numbers):
        graph = ok(driver.cuGraphCreate(0))
        first, second = (ok(driver.cuGraphAddEmptyNode(graph, [], 0)) for _ in range(2))
        ok(driver.cuGraphAddDependencies(graph, [first], [second], None, 1))
        ok(driver.cuGraphAddDependencies(graph, [second], [first], None, 1))
        assert driver.cuGraphInstantiate(graph, 0)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
        ok(driver.cuGraphDestroy(graph))


class TestErrors:
    def test_names(self):
        assert ok(driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_INVALID_PTX)) == b"CUDA_ERROR_INVALID_PTX"
        assert b"PTX" in ok(driver.cuGetErrorString(driver.CUresult.CUDA_ERROR_INVALID_PTX))

    def test_without_context(self, context):
        ok(driver.cuCtxSetCurrent(None))
        try:
            assert driver.cuMemAlloc(16)[0] == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT
        finally:
            ok(driver.cuCtxSetCurrent(context))
