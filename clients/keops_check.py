# SPDX-License-Identifier: Apache-2.0
"""PyKeOps on the device, without PyTorch: it writes CUDA C++ for NVRTC, which a small library of its own loads. Sums over
pairs of points, their gradient, and nearest neighbours, beside NumPy."""
import numpy as np
from pykeops.numpy import Genred, LazyTensor

numbers = np.random.default_rng(1)
x, y = numbers.standard_normal((500, 3)), numbers.standard_normal((700, 3))
b = numbers.standard_normal((700, 1))
apart = x[:, None] - y[None]
kernel = np.exp(-(apart ** 2).sum(-1))
for kind, most in (("float32", 1e-4), ("float64", 1e-10)):
    words = [array.astype(kind) for array in (x, y, b)]
    total = Genred("Exp(-SqDist(x,y))*b", ["x=Vi(3)", "y=Vj(3)", "b=Vj(1)"], reduction_op="Sum", axis=1)(*words, backend="GPU")
    assert np.abs(total - kernel @ b).max() < most, kind
    print(f"sums of {kind}: good")
    ones = np.ones((500, 1), kind)
    slope = Genred("Grad(Exp(-SqDist(x,y))*b, x, e)", ["x=Vi(3)", "y=Vj(3)", "b=Vj(1)", "e=Vi(1)"], reduction_op="Sum", axis=1)(*words, ones, backend="GPU")
    assert np.abs(slope - (-2 * apart * (kernel * b[:, 0])[:, :, None]).sum(1)).max() < 10 * most, kind
    print(f"gradients of {kind}: good")
near = ((LazyTensor(x[:, None].copy()) - LazyTensor(y[None].copy())) ** 2).sum(-1).argmin(1, backend="GPU")
assert (near[:, 0] == (apart ** 2).sum(-1).argmin(1)).all()
print("nearest neighbours: good")
