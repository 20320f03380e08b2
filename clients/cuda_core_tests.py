# SPDX-License-Identifier: Apache-2.0
"""cuda-core and cuda-bindings, area by area: events, streams, memory, programs, kernels, the linker, graphs. For
pytest."""
import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    EventOptions,
    GraphMemoryResource,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    VirtualMemoryResource,
    launch,
)
from cuda.core.graph import GraphDefinition
from cuda.core.utils import InMemoryProgramCache, StridedMemoryView, copy_batch

SOURCE = """
extern "C" __global__ void add(int *data, int value, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] += value;
}
extern "C" __global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        __nanosleep(1000);
}
"""
COUNT = 4096
CONFIG = LaunchConfig(grid=8, block=64)


@pytest.fixture(scope="session")
def device():
    device = Device()
    device.set_current()
    return device


@pytest.fixture(scope="session")
def code(device):
    return Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}")).compile("cubin")


@pytest.fixture
def stream(device):
    stream = device.create_stream()
    yield stream
    stream.sync()
    stream.close()


@pytest.fixture
def numbers(device, stream):
    """COUNT ints on the device, all 0, and a view of pinned memory of the same size."""
    buffer = device.allocate(4 * COUNT, stream=stream)
    buffer.fill(0, stream=stream)
    host = PinnedMemoryResource().allocate(4 * COUNT, stream=stream)
    stream.sync()
    view = (ctypes.c_int * COUNT).from_address(int(host.handle))
    yield buffer, host, view
    stream.sync()
    host.close(stream)
    buffer.close(stream)


@pytest.fixture
def latch(stream, code):
    """A function that keeps a stream busy with a kernel, and one that lets it go."""
    flag = PinnedMemoryResource().allocate(4, stream=stream)
    stream.sync()
    word = ctypes.c_int.from_address(int(flag.handle))
    word.value = 0

    def hold(where):
        launch(where, LaunchConfig(grid=1, block=1), code.get_kernel("wait_for"), flag)

    def release():
        word.value = 1
    yield hold, release
    release()
    stream.sync()
    flag.close(stream)


def fill_shared(device, resource, buffer):
    """Runs in a process of its own."""
    device.set_current()
    stream = device.create_stream()
    host = PinnedMemoryResource().allocate(4 * COUNT, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert set((ctypes.c_int * COUNT).from_address(int(host.handle))) == {4}
    buffer.fill(b"\x09\x00\x00\x00", stream=stream)
    stream.sync()


def add(stream, code, buffer, value):
    launch(stream, CONFIG, code.get_kernel("add"), buffer, ctypes.c_int(value), ctypes.c_uint32(COUNT))


def assert_all(stream, numbers, value):
    buffer, host, view = numbers
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert set(view) == {value}


class TestEvents:
    def test_done_after_sync(self, stream, latch):
        hold, release = latch
        hold(stream)
        event = stream.record()
        assert not event.is_done
        release()
        event.sync()
        assert event.is_done

    def test_elapsed(self, device, stream, code, numbers):
        options = EventOptions(timing_enabled=True)
        start = stream.record(options=options)
        add(stream, code, numbers[0], 1)
        end = stream.record(options=options)
        end.sync()
        assert start.is_timing_enabled and end - start >= 0

    def test_elapsed_needs_timing(self, stream):
        start = stream.record(options=EventOptions(timing_enabled=False))
        end = stream.record(options=EventOptions(timing_enabled=False))
        end.sync()
        with pytest.raises(RuntimeError):
            end - start

    def test_elapsed_of_pending(self, stream, latch):
        hold, release = latch
        options = EventOptions(timing_enabled=True)
        start = stream.record(options=options)
        hold(stream)
        end = stream.record(options=options)
        with pytest.raises(RuntimeError):
            end - start
        release()
        end.sync()
        assert end - start > 0

    def test_recorded_again(self, device, stream, latch):
        hold, release = latch
        event = stream.record()
        event.sync()
        hold(stream)
        stream.record(event)
        assert not event.is_done
        release()
        event.sync()

    def test_facts(self, device, stream):
        event = device.create_event(options=EventOptions(blocking_sync=True, timing_enabled=True))
        assert event.is_blocking_sync and event.is_timing_enabled and not event.is_ipc_enabled
        assert event.device.device_id == device.device_id and event.context == stream.context
        stream.record(event).sync()
        event.close()
        assert event.is_closed


class TestStreams:
    def test_wait_for_event(self, device, stream, code, numbers, latch):
        hold, release = latch
        other = device.create_stream()
        hold(stream)
        add(stream, code, numbers[0], 3)
        other.wait(stream.record())
        add(other, code, numbers[0], 4)
        last = other.record()
        assert not last.is_done
        release()
        other.sync()
        assert_all(other, numbers, 7)
        other.close()

    def test_wait_for_stream(self, device, stream, code, numbers):
        other = device.create_stream()
        add(stream, code, numbers[0], 3)
        other.wait(stream)
        assert_all(other, numbers, 3)
        other.close()

    def test_independent(self, device, stream, code, numbers, latch):
        hold, release = latch
        other = device.create_stream()
        hold(stream)
        add(other, code, numbers[0], 5)
        other.sync()
        assert not stream.record().is_done
        release()
        assert_all(other, numbers, 5)
        other.close()

    def test_priority(self, device):
        low, high = (device.create_stream(options=StreamOptions(priority=p)) for p in (0, -1))
        assert (low.priority, high.priority) == (0, -1)
        assert low.is_nonblocking
        with pytest.raises(ValueError):
            device.create_stream(options=StreamOptions(priority=1))

    def test_foreign_handle(self, device, code, numbers):
        status, handle = driver.cuStreamCreate(0)
        assert status == driver.CUresult.CUDA_SUCCESS
        wrapped = Stream.from_handle(int(handle))
        add(wrapped, code, numbers[0], 2)
        assert_all(wrapped, numbers, 2)
        assert driver.cuStreamDestroy(handle)[0] == driver.CUresult.CUDA_SUCCESS

    def test_default_streams(self, device, code, numbers):
        from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM
        for value, stream in enumerate((LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, device.default_stream), 1):
            add(stream, code, numbers[0], 1)
            assert_all(stream, numbers, value)

    def test_protocol(self, device, code, numbers):
        class Foreign:
            def __cuda_stream__(self):
                return 0, int(inner.handle)
        inner = device.create_stream()
        add(device.create_stream(Foreign()), code, numbers[0], 8)
        assert_all(inner, numbers, 8)
        assert inner.device.device_id == device.device_id
        inner.close()
        assert inner.is_closed


class TestMemory:
    @pytest.mark.parametrize("resource", [lambda d: DeviceMemoryResource(d), lambda d: PinnedMemoryResource(), lambda d: ManagedMemoryResource()],
                             ids=["device", "pinned", "managed"])
    def test_copies(self, device, stream, numbers, resource):
        resource = resource(device)
        buffer = resource.allocate(4 * COUNT, stream=stream)
        assert buffer.size == 4 * COUNT and buffer.is_device_accessible
        buffer.fill(b"\x07\x00\x00\x00", stream=stream)
        numbers[0].copy_from(buffer, stream=stream)
        buffer.close(stream)
        assert_all(stream, numbers, 7)

    def test_fill_sizes(self, stream, numbers):
        for pattern, value in ((1, 0x01010101), (b"\x02\x01", 0x01020102), (b"\x04\x03\x02\x01", 0x01020304)):
            numbers[0].fill(pattern, stream=stream)
            assert_all(stream, numbers, value)

    def test_managed_is_seen_by_both(self, stream, code):
        buffer = ManagedMemoryResource().allocate(4 * COUNT, stream=stream)
        stream.sync()
        view = (ctypes.c_int * COUNT).from_address(int(buffer.handle))
        view[:] = range(COUNT)
        add(stream, code, buffer, 10)
        stream.sync()
        assert list(view) == list(range(10, COUNT + 10))
        buffer.close(stream)

    def test_pool_attributes(self, device, stream):
        resource = DeviceMemoryResource(device)
        buffers = [resource.allocate(1 << 20, stream=stream) for _ in range(4)]
        stream.sync()
        assert resource.attributes.used_mem_current >= 4 << 20
        for buffer in buffers:
            buffer.close(stream)
        stream.sync()
        assert resource.attributes.used_mem_current == 0

    def test_too_much(self, device, stream):
        with pytest.raises(Exception, match="OUT_OF_MEMORY"):
            DeviceMemoryResource(device).allocate(1 << 45, stream=stream)

    def test_foreign_pointer(self, device, stream, numbers):
        other = Buffer.from_handle(int(numbers[0].handle), 4 * COUNT)
        other.fill(b"\x09\x00\x00\x00", stream=stream)
        assert_all(stream, numbers, 9)

    @pytest.mark.parametrize("resource", [lambda d: VirtualMemoryResource(d), lambda d: LegacyPinnedMemoryResource()], ids=["virtual", "legacy-pinned"])
    def test_resources_without_streams(self, device, stream, code, numbers, resource):
        buffer = resource(device).allocate(4 * COUNT)
        buffer.fill(b"\x03\x00\x00\x00", stream=stream)
        add(stream, code, buffer, 4)
        numbers[0].copy_from(
            Buffer.from_handle(int(buffer.handle), 4 * COUNT), stream=stream
        )  # what is mapped is longer
        assert_all(stream, numbers, 7)
        buffer.close()

    def test_virtual_grows(self, device, stream, numbers):
        resource = VirtualMemoryResource(device)
        buffer = resource.allocate(4 * COUNT)
        size = buffer.size
        buffer.fill(b"\x05\x00\x00\x00", stream=stream)
        stream.sync()
        grown = resource.modify_allocation(buffer, 2 * size)
        assert grown.size >= 2 * size
        numbers[0].copy_from(Buffer.from_handle(int(grown.handle), 4 * COUNT), stream=stream)
        assert_all(stream, numbers, 5)
        grown.close()

    def test_in_order(self, device, stream, code, numbers):
        """Memory that is freed and taken again in a stream: each user finds what it wrote."""
        for value in range(20):
            buffer = device.allocate(4 * COUNT, stream=stream)
            buffer.fill(value.to_bytes(4, "little"), stream=stream)
            numbers[0].copy_from(buffer, stream=stream)
            buffer.close(stream)
            assert_all(stream, numbers, value)

    def test_batch(self, device, stream, numbers):
        parts = [device.allocate(4096, stream=stream) for _ in range(4)]
        for part in parts:
            part.fill(b"\x06\x00\x00\x00", stream=stream)
        targets = [Buffer.from_handle(int(numbers[0].handle) + 4096 * i, 4096) for i in range(4)]
        copy_batch(stream, parts, targets)
        assert_all(stream, numbers, 6)
        for part in parts:
            part.close(stream)

    def test_views(self, device, stream, numbers):
        """DLPack and the CUDA array interface, over the same memory."""
        numbers[0].fill(b"\x02\x00\x00\x00", stream=stream)
        view = StridedMemoryView.from_any_interface(numbers[0], stream_ptr=int(stream.handle))
        assert view.ptr == int(numbers[0].handle) and view.size == 4 * COUNT and view.is_device_accessible

        class Array:
            __cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<i4", "data": (int(numbers[0].handle), False), "version": 3}
        view = StridedMemoryView.from_any_interface(Array(), stream_ptr=int(stream.handle))
        assert (view.ptr, view.shape, view.dtype.itemsize) == (int(numbers[0].handle), (COUNT,), 4)
        assert_all(stream, numbers, 2)

    def test_shared_with_a_process(self, device, stream, numbers):
        """A pool and an event go to a child process, which writes to the memory behind the event."""
        import multiprocessing
        from cuda.core import DeviceMemoryResourceOptions
        resource = DeviceMemoryResource(device, options=DeviceMemoryResourceOptions(max_size=1 << 22, ipc_enabled=True))
        buffer = resource.allocate(4 * COUNT, stream=stream)
        buffer.fill(b"\x04\x00\x00\x00", stream=stream)
        stream.sync()
        child = multiprocessing.get_context("spawn").Process(target=fill_shared, args=(device, resource, buffer))
        child.start()
        child.join()
        assert child.exitcode == 0
        numbers[0].copy_from(buffer, stream=stream)
        assert_all(stream, numbers, 9)
        buffer.close(stream)


class TestPrograms:
    def test_ptx_and_cubin(self, device, stream, numbers):
        for value, target in enumerate(("ptx", "cubin"), 1):
            code = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile(target)
            add(stream, code, numbers[0], 1)
            assert_all(stream, numbers, value)

    def test_template(self, device, stream, numbers):
        source = "template <typename T, int N> __global__ void fill(T *p, unsigned n) { for (unsigned i = threadIdx.x; i < n; i += blockDim.x) p[i] = N; }"
        code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin", name_expressions=("fill<int, 11>", "fill<int, 12>"))
        for name, value in (("fill<int, 12>", 12), ("fill<int, 11>", 11)):
            launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel(name), numbers[0], ctypes.c_uint32(COUNT))
            assert_all(stream, numbers, value)

    def test_error_has_name_and_line(self):
        with pytest.raises(Exception, match=r"mine\.cu\(2\): error"):
            Program("__global__ void k()\n{ nothing; }\n", code_type="c++", options=ProgramOptions(name="mine.cu")).compile("ptx")

    def test_missing_kernel(self, code):
        with pytest.raises(Exception, match="NOT_FOUND"):
            code.get_kernel("nobody")

    def test_broken_ptx(self, device):
        with pytest.raises(Exception, match="INVALID_PTX"):
            ObjectCode.from_ptx(b".version 7.0\n.target sm_80\n.address_size 64\n.entry broken( { }\n").get_kernel("broken")

    def test_kernel_facts(self, code):
        kernel = code.get_kernel("add")
        assert kernel.num_arguments == 3
        assert [argument.size for argument in kernel.arguments_info] == [8, 4, 4]
        assert [argument.offset for argument in kernel.arguments_info] == [0, 8, 12]
        assert kernel.attributes.max_threads_per_block > 0
        assert kernel.occupancy.max_active_blocks_per_multiprocessor(64, 0) > 0

    def test_options(self, device, stream, numbers):
        source = """
#ifndef GIVEN
#error GIVEN is missing
#endif
extern "C" __global__ void k(int *p, unsigned n) { for (unsigned i = threadIdx.x; i < n; i += blockDim.x) p[i] = GIVEN; }"""
        options = ProgramOptions(arch=f"sm_{device.arch}", define_macro=("GIVEN", "31"), std="c++20", lineinfo=True, use_fast_math=True, fma=False, max_register_count=64)
        code = Program(source, code_type="c++", options=options).compile("ptx")
        launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel("k"), numbers[0], ctypes.c_uint32(COUNT))
        assert_all(stream, numbers, 31)

    def test_include_path(self, device, stream, numbers, tmp_path):
        (tmp_path / "value.h").write_text("#define VALUE 17\n")
        source = '#include "value.h"\nextern "C" __global__ void k(int *p, unsigned n) { for (unsigned i = threadIdx.x; i < n; i += blockDim.x) p[i] = VALUE; }'
        code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}", include_path=str(tmp_path))).compile("cubin")
        launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel("k"), numbers[0], ctypes.c_uint32(COUNT))
        assert_all(stream, numbers, 17)

    def test_from_ptx(self, device, stream, numbers):
        """A program of PTX text goes through the linker."""
        options = ProgramOptions(arch=f"sm_{device.arch}")
        ptx = Program(SOURCE, code_type="c++", options=options).compile("ptx").code.decode()
        code = Program(ptx, code_type="ptx", options=options).compile("cubin")
        add(stream, code, numbers[0], 6)
        assert_all(stream, numbers, 6)

    def test_files(self, stream, numbers, code, tmp_path):
        (tmp_path / "code.cubin").write_bytes(code.code)
        loaded = ObjectCode.from_cubin(str(tmp_path / "code.cubin"))
        add(stream, loaded, numbers[0], 5)
        assert_all(stream, numbers, 5)
        assert loaded.code_type == "cubin"

    def test_module_and_handle(self, stream, numbers, code):
        module = code.get_module()
        status, function = driver.cuModuleGetFunction(module, b"add")
        assert status == driver.CUresult.CUDA_SUCCESS
        again = Kernel.from_handle(int(code.get_kernel("add").handle))
        launch(stream, CONFIG, again, numbers[0], ctypes.c_int(3), ctypes.c_uint32(COUNT))
        assert_all(stream, numbers, 3)
        assert int(function) != 0

    def test_cache(self, device, stream, numbers):
        cache = InMemoryProgramCache()
        for value in (1, 2):
            code = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin", cache=cache)
            add(stream, code, numbers[0], 1)
            assert_all(stream, numbers, value)
        assert len(cache) == 1

    def test_cooperative(self, device, stream, numbers):
        source = """
#include <cooperative_groups.h>
extern "C" __global__ void ring(int *p, int rounds)
{
    auto grid = cooperative_groups::this_grid();
    int next = (blockIdx.x + 1) % gridDim.x;
    for (int i = 0; i < rounds; i++) {
        int other = p[next];
        grid.sync();
        p[blockIdx.x] = other + 1;
        grid.sync();
    }
}"""
        code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}", std="c++17")).compile("cubin")
        launch(stream, LaunchConfig(grid=4, block=1, is_cooperative=True), code.get_kernel("ring"), numbers[0], ctypes.c_int(10))
        buffer, host, view = numbers
        buffer.copy_to(host, stream=stream)
        stream.sync()
        assert list(view[:5]) == [10, 10, 10, 10, 0]

    def test_shared_memory(self, device, stream, numbers):
        source = """
extern __shared__ int part[];
extern "C" __global__ void reverse(int *p)
{
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}"""
        code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        launch(stream, LaunchConfig(grid=1, block=256, shmem_size=1024), code.get_kernel("reverse"), numbers[0])
        buffer, host, view = numbers
        buffer.copy_to(host, stream=stream)
        stream.sync()
        assert list(view[:256]) == list(range(255, -1, -1))
        with pytest.raises(Exception, match="INVALID_VALUE"):
            launch(stream, LaunchConfig(grid=1, block=256, shmem_size=1 << 24), code.get_kernel("reverse"), numbers[0])


class TestLinker:
    def objects(self, device):
        options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
        uses = "extern __device__ int twice(int); extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = twice(p[threadIdx.x]) + 1; }"
        return [Program(text, code_type="c++", options=options).compile("ptx") for text in (uses, "__device__ int twice(int x) { return 2 * x; }")]

    def test_two_objects(self, device, stream, numbers):
        linked = Linker(*self.objects(device), options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
        numbers[0].fill(b"\x05\x00\x00\x00", stream=stream)
        launch(stream, LaunchConfig(grid=1, block=64), linked.get_kernel("k"), numbers[0])
        buffer, host, view = numbers
        buffer.copy_to(host, stream=stream)
        stream.sync()
        assert list(view[:64]) == [11] * 64 and view[64] == 5

    def test_missing_definition(self, device):
        linker = Linker(self.objects(device)[0], options=LinkerOptions(arch=f"sm_{device.arch}"))
        with pytest.raises(Exception):
            linker.link("cubin")
        assert "twice" in linker.get_error_log()

    def test_loaded_again(self, device, stream, numbers):
        linked = Linker(*self.objects(device), options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
        assert linked.code_type == "cubin" and Linker.which_backend() in ("nvJitLink", "driver")
        again = ObjectCode.from_cubin(linked.code)
        launch(stream, LaunchConfig(grid=1, block=COUNT // 4), again.get_kernel("k"), numbers[0])
        buffer, host, view = numbers
        buffer.copy_to(host, stream=stream)
        stream.sync()
        assert set(view[:COUNT // 4]) == {1} and set(view[COUNT // 4:]) == {0}

    def test_twice_defined(self, device):
        objects = self.objects(device)
        linker = Linker(*objects, objects[1], options=LinkerOptions(arch=f"sm_{device.arch}"))
        with pytest.raises(Exception):
            linker.link("cubin")
        assert "twice" in linker.get_error_log()


class TestGraphs:
    def test_builder(self, device, stream, code, numbers):
        builder = device.create_graph_builder().begin_building()
        for value in (1, 2, 3):
            add(builder, code, numbers[0], value)
        graph = builder.end_building().complete()
        assert_all(stream, numbers, 0)
        for _ in range(3):
            graph.launch(stream)
        assert_all(stream, numbers, 18)

    def test_forks(self, device, stream, code, numbers):
        builder = device.create_graph_builder().begin_building()
        add(builder, code, numbers[0], 1)
        left, right = builder.split(2)
        spare = device.allocate(4 * COUNT, stream=stream)
        add(left, code, numbers[0], 10)
        add(right, code, spare, 100)
        joined = left.join(left, right)
        add(joined, code, numbers[0], 1000)
        graph = joined.end_building().complete()
        graph.launch(stream)
        assert_all(stream, numbers, 1011)
        spare.close(stream)

    def test_child(self, device, stream, code, numbers):
        child = device.create_graph_builder().begin_building()
        add(child, code, numbers[0], 5)
        child.end_building()
        builder = device.create_graph_builder().begin_building()
        builder.embed(child)
        add(builder, code, numbers[0], 1)
        graph = builder.end_building().complete()
        graph.launch(stream)
        assert_all(stream, numbers, 6)

    def test_callback(self, device, stream):
        calls = []
        builder = device.create_graph_builder().begin_building()
        builder.callback(lambda: calls.append(1))
        graph = builder.end_building().complete()
        graph.launch(stream)
        graph.launch(stream)
        stream.sync()
        assert calls == [1, 1]

    def test_update(self, device, stream, code, numbers):
        builders = []
        for value in (1, 50):
            builder = device.create_graph_builder().begin_building()
            add(builder, code, numbers[0], value)
            builders.append(builder.end_building())
        graph = builders[0].complete()
        graph.launch(stream)
        graph.update(builders[1])
        graph.launch(stream)
        assert_all(stream, numbers, 51)

    def test_definition(self, device, stream, code, numbers):
        definition = GraphDefinition()
        first = definition.memset(numbers[0], 1, 4 * COUNT)
        second = first.launch(CONFIG, code.get_kernel("add"), numbers[0], ctypes.c_int(4), ctypes.c_uint32(COUNT))
        assert len(list(definition.nodes())) == 2 and second.is_valid
        definition.instantiate().launch(stream)
        assert_all(stream, numbers, 0x01010105)

    def test_memory_of_graphs(self, device, stream, code, numbers):
        resource = GraphMemoryResource(device)
        builder = device.create_graph_builder().begin_building()
        buffer = resource.allocate(4 * COUNT, stream=builder)
        buffer.fill(b"\x01\x00\x00\x00", stream=builder)
        add(builder, code, buffer, 2)
        numbers[0].copy_from(buffer, stream=builder)
        buffer.close(builder)
        graph = builder.end_building().complete()
        for _ in range(2):
            graph.launch(stream)
            assert_all(stream, numbers, 3)
        assert resource.attributes.reserved_mem_high > 0
        graph.close()
        resource.trim()

    def test_alloc_nodes(self, device, stream, code, numbers):
        definition = GraphDefinition()
        memory = definition.allocate(4 * COUNT)
        last = memory.memset(memory.dptr, 2, 4 * COUNT).memcpy(numbers[0], memory.dptr, 4 * COUNT)
        last.deallocate(memory.dptr)
        definition.instantiate().launch(stream)
        assert_all(stream, numbers, 0x02020202)

    def test_conditions(self, device, stream, code, numbers):
        """A value known before the launch: the right branch runs, of if, of if and else, and of a switch."""
        builder = device.create_graph_builder().begin_building()
        for default, value in ((1, 1), (0, 1000)):
            body = builder.if_then(builder.create_condition(default_value=default)).begin_building()
            add(body, code, numbers[0], value)
            body.end_building()
        then, other = builder.if_else(builder.create_condition(default_value=0))
        for branch, value in ((then, 2000), (other, 10)):
            branch.begin_building()
            add(branch, code, numbers[0], value)
            branch.end_building()
        for number, branch in enumerate(builder.switch(builder.create_condition(default_value=2), 4)):
            branch.begin_building()
            add(branch, code, numbers[0], 100 * number)
            branch.end_building()
        builder.end_building().complete().launch(stream)
        assert_all(stream, numbers, 211)

    def test_while(self, device, stream, numbers):
        source = """
#include <cuda_runtime.h>
extern "C" __global__ void step(int *p, cudaGraphConditionalHandle handle)
{
    int old = atomicAdd(&p[threadIdx.x], 1);
    if (threadIdx.x == 0)
        cudaGraphSetConditional(handle, old < 6);
}"""
        code = Program(source, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
        builder = device.create_graph_builder().begin_building()
        condition = builder.create_condition(default_value=1)
        body = builder.while_loop(condition).begin_building()
        launch(body, LaunchConfig(grid=1, block=32), code.get_kernel("step"), numbers[0], condition)
        body.end_building()
        builder.end_building().complete().launch(stream)
        buffer, host, view = numbers
        buffer.copy_to(host, stream=stream)
        stream.sync()
        assert list(view[:33]) == [7] * 32 + [0]

    def test_nodes_are_changed(self, device, stream, code, numbers):
        definition = GraphDefinition()
        first = definition.memset(numbers[0], 0, 4 * COUNT)
        second = first.launch(CONFIG, code.get_kernel("add"), numbers[0], ctypes.c_int(4), ctypes.c_uint32(COUNT))
        assert (
            list(first.succ) == [second]
            and list(second.pred) == [first]
            and (second.grid[0], second.block[0]) == (8, 64)
        )
        second.update(args=(numbers[0], ctypes.c_int(6), ctypes.c_uint32(COUNT)))
        graph = definition.instantiate()
        graph.launch(stream)
        assert_all(stream, numbers, 6)
        first.update(value=1)
        graph.update(definition)
        graph.launch(stream)
        assert_all(stream, numbers, 0x01010107)

    def test_events_in_graphs(self, device, stream, code, numbers):
        event = device.create_event()
        definition = GraphDefinition()
        definition.launch(CONFIG, code.get_kernel("add"), numbers[0], ctypes.c_int(4), ctypes.c_uint32(COUNT)).record(event)
        definition.instantiate().launch(stream)
        event.sync()
        assert_all(stream, numbers, 4)

    def test_dot(self, device, code, numbers, tmp_path):
        builder = device.create_graph_builder().begin_building()
        add(builder, code, numbers[0], 1)
        builder.end_building().debug_dot_print(str(tmp_path / "graph.dot"))
        assert "digraph" in (tmp_path / "graph.dot").read_text()

    def test_refuses(self, device, stream, code, numbers):
        """What may not happen while a stream is captured, and joining a fork that was forgotten."""
        builder = device.create_graph_builder().begin_building()
        left, right = builder.split(2)
        add(right, code, numbers[0], 1)
        with pytest.raises(Exception):
            left.end_building()


class TestDevices:
    def test_facts(self, device):
        assert "Millrace" in device.name and len(device.uuid) == 36
        assert device.compute_capability.major >= 7
        properties = device.properties
        assert (
            properties.warp_size == 32
            and properties.max_threads_per_block == 1024
            and properties.multiprocessor_count > 0
            and properties.clock_rate > 0
        )
        assert properties.cooperative_launch and properties.managed_memory

    def test_sync(self, device, stream, code, numbers):
        """By the runtime library, in cuda.bindings.runtime."""
        add(stream, code, numbers[0], 3)
        device.sync()
        assert_all(stream, numbers, 3)
        assert len(device.pci_bus_id.split(":")) == 3

    def test_current(self, device):
        assert Device().device_id == device.device_id
        assert len(Device.get_all_devices()) >= 1
        with pytest.raises(Exception):
            Device(1000)
