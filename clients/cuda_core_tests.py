# SPDX-License-Identifier: Apache-2.0
"""cuda-core and cuda-bindings, area by area: events, streams, memory, programs, kernels, the linker, graphs. For pytest."""
import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import (Buffer, Device, DeviceMemoryResource, EventOptions, LaunchConfig, Linker, LinkerOptions, ManagedMemoryResource, ObjectCode,
                       PinnedMemoryResource, Program, ProgramOptions, StreamOptions, launch)
from cuda.core.graph import GraphDefinition

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
        from cuda.core import Stream
        wrapped = Stream.from_handle(int(handle))
        add(wrapped, code, numbers[0], 2)
        assert_all(wrapped, numbers, 2)
        assert driver.cuStreamDestroy(handle)[0] == driver.CUresult.CUDA_SUCCESS


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
