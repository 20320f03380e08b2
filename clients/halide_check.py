# SPDX-License-Identifier: Apache-2.0
"""Halide on the device: it makes PTX of its pipelines with an LLVM of its own. A blur, a histogram by atomic additions, and
a transposition through shared memory, beside NumPy."""
import halide as hl
import numpy as np

x, y, xo, yo, xi, yi = (hl.Var(name) for name in ("x", "y", "xo", "yo", "xi", "yi"))
target = hl.get_host_target().with_feature(hl.TargetFeature.CUDA)
picture = np.random.default_rng(1).random((200, 300), dtype=np.float32)
source = hl.Buffer(picture)
edge = hl.BoundaryConditions.repeat_edge(source)


def run(function: hl.Func, sizes: list[int]) -> np.ndarray:
    """Sizes are as Halide counts them: the fastest dimension first."""
    out = function.realize(sizes, target)
    out.copy_to_host()
    return np.array(out)


blur = hl.Func("blur")
blur[x, y] = (edge[x - 1, y] + edge[x, y] + edge[x + 1, y] + edge[x, y - 1] + edge[x, y + 1]) / 5
blur.gpu_tile(x, y, xo, yo, xi, yi, 16, 16)
padded = np.pad(picture, 1, mode="edge")
expected = (padded[1:-1, :-2] + padded[1:-1, 1:-1] + padded[1:-1, 2:] + padded[:-2, 1:-1] + padded[2:, 1:-1]) / 5
assert np.abs(run(blur, [300, 200]) - expected).max() < 1e-6
print("blur: good")

histogram, bins = hl.Func("histogram"), hl.RDom([(0, 300), (0, 200)])
histogram[x] = 0
histogram[hl.clamp(hl.i32(source[bins.x, bins.y] * 16), 0, 15)] += 1
histogram.gpu_tile(x, xo, xi, 16)
update = histogram.update()
update.atomic().gpu_tile(bins.x, bins.y, hl.RVar("rxo"), hl.RVar("ryo"), hl.RVar("rxi"), hl.RVar("ryi"), 16, 16)
assert (run(histogram, [16]) == np.bincount(np.clip((picture * 16).astype(int), 0, 15).ravel(), minlength=16)).all()
print("histogram: good")

copy, turned = hl.Func("copy"), hl.Func("turned")
copy[x, y] = edge[x, y]
turned[x, y] = copy[y, x]
turned.gpu_tile(x, y, xo, yo, xi, yi, 16, 16)
copy.compute_at(turned, xo).gpu_threads(x, y)
assert (run(turned, [200, 300]) == picture.T).all()
print("transposition: good")
