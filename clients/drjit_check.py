# SPDX-License-Identifier: Apache-2.0
"""Dr.Jit on the device: it writes PTX as text. Arithmetic, gathers and scatters, a loop, random numbers, and a gradient,
beside NumPy."""
import drjit as dr
import numpy as np
from drjit.cuda import Float, PCG32, UInt
from drjit.cuda.ad import Float as Traced

N = 100000
places = np.linspace(0, 10, N, dtype=np.float32)
x = dr.linspace(Float, 0, 10, N)
wave = dr.sin(x) * dr.exp(-x)
assert np.abs(wave.numpy() - np.sin(places) * np.exp(-places)).max() < 1e-5
print("arithmetic: good")

index = dr.arange(UInt, N)
assert (dr.gather(UInt, index * 3, N - 1 - index).numpy() == (np.arange(N, dtype=np.uint32) * 3)[::-1]).all()
bins = dr.zeros(UInt, 16)
dr.scatter_add(bins, UInt(1), index * 7 % 16)
assert (bins.numpy() == np.bincount(np.arange(N) * 7 % 16, minlength=16)).all()
print("gather, scatter: good")


@dr.syntax
def collatz(start: UInt) -> UInt:
    value, steps = UInt(start), dr.zeros(UInt, dr.width(start))
    while value != 1:
        value = dr.select(value % 2 == 0, value // 2, 3 * value + 1)
        steps += 1
    return steps


def steps_of(value: int) -> int:
    steps = 0
    while value != 1:
        value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
    return steps


assert (collatz(dr.arange(UInt, 500) + 1).numpy() == [steps_of(value) for value in range(1, 501)]).all()
print("a loop: good")
assert abs(dr.mean(PCG32(size=N).next_float32())[0] - 0.5) < 0.01
print("random numbers: good")

parameter = Traced(places[:1000])
dr.enable_grad(parameter)
dr.backward(dr.sum(parameter * parameter * dr.cos(parameter)))
right = 2 * places[:1000] * np.cos(places[:1000]) - places[:1000] ** 2 * np.sin(places[:1000])
assert np.abs(dr.grad(parameter).numpy() - right).max() < 1e-5
print("gradient: good")
