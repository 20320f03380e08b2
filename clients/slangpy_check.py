# SPDX-License-Identifier: Apache-2.0
"""SlangPy's device for CUDA: Slang makes CUDA C++ for NVRTC. Buffers, memory that a group shares, atomic additions, beside
NumPy."""
import numpy as np
import slangpy

SOURCE = """
groupshared float part[64];
[shader("compute")]
[numthreads(64, 1, 1)]
void sumGroups(uint3 thread : SV_DispatchThreadID, uint3 inside : SV_GroupThreadID, uint3 group : SV_GroupID,
               StructuredBuffer<float> values, RWStructuredBuffer<float> sums, RWStructuredBuffer<uint> counts)
{
    part[inside.x] = values[thread.x];
    GroupMemoryBarrierWithGroupSync();
    for (uint half = 32; half > 0; half /= 2)
    {
        if (inside.x < half)
            part[inside.x] += part[inside.x + half];
        GroupMemoryBarrierWithGroupSync();
    }
    if (inside.x == 0)
        sums[group.x] = part[0];
    InterlockedAdd(counts[uint(values[thread.x] * 8)], 1);
}
"""
device = slangpy.create_device(type=slangpy.DeviceType.cuda)
module = device.load_module_from_source("sums", SOURCE)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("sumGroups")]))
values = np.random.default_rng(1).random(64 * 100, dtype=np.float32)


def buffer(data: np.ndarray) -> slangpy.Buffer:
    usage = slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.shader_resource
    return device.create_buffer(element_count=data.size, struct_size=4, usage=usage, data=data)


sums, counts = buffer(np.zeros(100, np.float32)), buffer(np.zeros(8, np.uint32))
kernel.dispatch(thread_count=[values.size, 1, 1], values=buffer(values), sums=sums, counts=counts)
assert np.abs(sums.to_numpy().view(np.float32) - values.reshape(100, 64).sum(1)).max() < 1e-4
print("sums of groups: good")
assert (counts.to_numpy().view(np.uint32) == np.bincount((values * 8).astype(int), minlength=8)).all()
print("counts: good")
