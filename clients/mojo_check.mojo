# SPDX-License-Identifier: Apache-2.0
"""Kernels in Mojo beside the same on the host: elements, a block's sum in shared memory, a warp's, functions."""
from std.math import sin, exp
from std.memory import stack_allocation
from max.gpu.host import DeviceContext
from max.gpu import barrier, block_dim, block_idx, global_idx, thread_idx
from max.gpu.memory import AddressSpace
from max.gpu.primitives import warp


def reduce(a: UnsafePointer[Float32, MutAnyOrigin], out_: UnsafePointer[Float32, MutAnyOrigin]):
    var shared = stack_allocation[256, Float32, address_space=AddressSpace.SHARED]()
    var t = Int(thread_idx.x)
    shared[t] = a[Int(global_idx.x)]
    barrier()
    var half = 128
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        barrier()
        half //= 2
    if t == 0:
        out_[Int(block_idx.x)] = shared[0]


def warps(a: UnsafePointer[Float32, MutAnyOrigin], out_: UnsafePointer[Float32, MutAnyOrigin]):
    var total = warp.sum(a[Int(global_idx.x)])
    if Int(thread_idx.x) % 32 == 0:
        out_[Int(global_idx.x) // 32] = total


def add(a: UnsafePointer[Float32, MutAnyOrigin], out_: UnsafePointer[Float32, MutAnyOrigin], n: Int32):
    var i = Int(global_idx.x)
    if i < Int(n):
        out_[i] = a[i] + a[Int(n) - 1 - i]


def functions(a: UnsafePointer[Float32, MutAnyOrigin], out_: UnsafePointer[Float32, MutAnyOrigin]):
    var i = Int(global_idx.x)
    out_[i] = sin(a[i]) * exp(-a[i])


def check(label: String, good: Bool) raises:
    print(label, "right" if good else "WRONG")
    if not good:
        raise Error(label)


def main() raises:
    var ctx = DeviceContext()
    comptime n = 4096
    var a = ctx.enqueue_create_buffer[DType.float32](n)
    var r = ctx.enqueue_create_buffer[DType.float32](n)
    var want: Float32 = 0
    with a.map_to_host() as h:
        for i in range(n):
            h[i] = Float32(i % 17) * 0.25
            want += h[i]

    ctx.enqueue_function[add](a, r, Int32(n - 5), grid_dim=n // 256, block_dim=256)
    var good = True
    with r.map_to_host() as h:
        for i in range(n - 5):
            good = good and h[i] == Float32(i % 17) * 0.25 + Float32((n - 6 - i) % 17) * 0.25
    check("elements", good)

    ctx.enqueue_function[reduce](a, r, grid_dim=n // 256, block_dim=256)
    var total: Float32 = 0
    with r.map_to_host() as h:
        for i in range(n // 256):
            total += h[i]
    check("sums of blocks", total == want)

    ctx.enqueue_function[warps](a, r, grid_dim=n // 256, block_dim=256)
    total = 0
    with r.map_to_host() as h:
        for i in range(n // 32):
            total += h[i]
    check("sums of warps", total == want)

    ctx.enqueue_function[functions](a, r, grid_dim=n // 256, block_dim=256)
    var worst: Float32 = 0
    with r.map_to_host() as h:
        for i in range(n):
            var x = Float32(i % 17) * 0.25
            worst = max(worst, abs(h[i] - sin(x) * exp(-x)))
    check("functions", worst < 1e-6)
