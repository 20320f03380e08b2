# SPDX-License-Identifier: Apache-2.0
"""What pynvml and nvitop say of the device and of a process that uses it."""
import ctypes
import inspect
import os

import nvitop
import pynvml

MIB = 1 << 20
REFUSALS = (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_INVALID_ARGUMENT, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(200 * MIB)) == 0

pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
assert "Millrace" in pynvml.nvmlDeviceGetName(handle)
memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
assert memory.used >= 200 * MIB and memory.used + memory.free + memory.reserved == memory.total
processes = {p.pid: p.usedGpuMemory for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)}
assert processes[os.getpid()] >= 200 * MIB
same = pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(handle))
assert ctypes.cast(same, ctypes.c_void_p).value == ctypes.cast(handle, ctypes.c_void_p).value

# Every function of pynvml that asks about a device alone answers, or says in NVML's words why not.
answered = 0
for name, function in inspect.getmembers(pynvml, inspect.isfunction):
    if name.startswith("nvmlDeviceGet") and list(inspect.signature(function).parameters) in (["handle"], ["device"]):
        try:
            function(handle)
            answered += 1
        except pynvml.NVMLError as error:
            assert error.value in REFUSALS, (name, error)
assert answered >= 20, answered

device = nvitop.Device(0)
assert device.uuid() == pynvml.nvmlDeviceGetUUID(handle) and device.memory_used() >= 200 * MIB
mine = device.processes()[os.getpid()]
assert mine.gpu_memory() >= 200 * MIB and mine.type == "C"
assert 0 <= device.gpu_utilization() <= 100
print("right")
