# SPDX-License-Identifier: Apache-2.0
"""What cuda-core programs lean on: streams that wait for events, buffers, kernels from PTX text and from C++ compiled
here."""
import ctypes

from cuda.bindings import driver
from cuda.bindings import nvrtc
from cuda.core import Device, LaunchConfig, ObjectCode, Program, ProgramOptions, launch

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 data, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %d2, %r2, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r5, [%d3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%d3], %r5;
done:
    ret;
}
"""

device = Device()
device.set_current()
assert "Millrace" in device.name
first, second = device.create_stream(), device.create_stream()
kernel = ObjectCode.from_ptx(PTX).get_kernel("add_one")
count = 1000
host = (ctypes.c_uint32 * count)(*range(count))


def call(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result[0]
    return result[1] if len(result) == 2 else result[1:]

pointer = call(driver.cuMemAlloc(4 * count))
call(driver.cuMemcpyHtoD(pointer, ctypes.addressof(host), 4 * count))
call(driver.cuCtxSynchronize())  # a copy from pageable memory may still run, and the streams don't wait for it
launch(first, LaunchConfig(grid=8, block=128), kernel, int(pointer), ctypes.c_uint32(count))
event = first.record()
second.wait(event)
launch(second, LaunchConfig(grid=8, block=128), kernel, int(pointer), ctypes.c_uint32(count))
second.sync()
assert event.is_done
call(driver.cuMemcpyDtoH(ctypes.addressof(host), pointer, 4 * count))
assert list(host) == [i + 2 for i in range(count)]

# C++, compiled by libnvrtc to PTX and to a cubin, with a template's instance found by its name.
SOURCE = """
template <typename T> __global__ void scale(T *data, unsigned count, T factor)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] = data[i] * factor + OFFSET;
}
"""
status, major, minor = nvrtc.nvrtcVersion()
assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS and major in (12, 13)
expected = list(host)
for target in ("ptx", "cubin"):
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}", define_macro=("OFFSET", "3")))
    scale = program.compile(target, name_expressions=("scale<unsigned>",)).get_kernel("scale<unsigned>")
    launch(first, LaunchConfig(grid=8, block=128), scale, int(pointer), ctypes.c_uint32(count), ctypes.c_uint32(2))
    first.sync()
    expected = [2 * i + 3 for i in expected]
call(driver.cuMemcpyDtoH(ctypes.addressof(host), pointer, 4 * count))
assert list(host) == expected
try:
    Program("__global__ void broken() { nothing; }", code_type="c++", options=ProgramOptions(name="mine.cu")).compile("ptx")
    raise SystemExit("a broken source compiled")
except Exception as error:
    assert "mine.cu(1): error" in str(error), str(error)
call(driver.cuMemFree(pointer))
print("ok")
