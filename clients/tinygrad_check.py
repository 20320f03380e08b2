# SPDX-License-Identifier: Apache-2.0
"""tinygrad on the device: it makes CUDA C++ of its graphs, compiles that with NVRTC, and launches it through libcuda.
Operations beside NumPy; a convolutional network trains as on tinygrad's own processor back end."""
import os

os.environ["DEV"] = "CUDA"

import numpy as np
from tinygrad import Tensor, TinyJit, nn
from tinygrad.helpers import Context

generator = np.random.default_rng(3)
a, b = (generator.standard_normal((256, 256)).astype(np.float32) for _ in range(2))


def near(found: Tensor, expected: np.ndarray, error: float, what: str) -> None:
    difference = np.abs(found.numpy().astype(np.float64) - expected).max()
    assert difference <= error, (what, difference)
    print(f"{what}: good")


exponential = np.exp(a - a.max(1, keepdims=True))
near(Tensor(a) @ Tensor(b), a @ b, 1e-3, "product of floats")
near(Tensor(a.astype(np.float16)) @ Tensor(b.astype(np.float16)), a @ b, 0.1, "product of halves")
near(Tensor(a).softmax(), exponential / exponential.sum(1, keepdims=True), 1e-6, "softmax")
near(Tensor(a).sort(1)[0], np.sort(a, 1), 0, "sort")
near(Tensor(a).cumsum(1), np.cumsum(a, 1), 1e-4, "running sums")
near(Tensor(a)[Tensor(np.arange(0, 256, 3))], a[::3], 0, "rows by an index")

images = generator.standard_normal((32, 1, 14, 14)).astype(np.float32)
labels = generator.integers(0, 10, 32).astype(np.int32)


class Network:
    def __init__(self) -> None:
        self.first, self.second, self.last = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3), nn.Linear(8 * 4, 10)
        numbers = np.random.default_rng(5)
        for one in (self.first, self.second, self.last):
            for part in ("weight", "bias"):
                value = getattr(one, part)
                drawn = (numbers.standard_normal(value.shape) * 0.2).astype(np.float32)
                value.assign(Tensor(drawn, device=value.device)).realize()

    def __call__(self, x: Tensor) -> Tensor:
        x = self.first(x).relu().max_pool2d()
        return self.last(self.second(x).relu().max_pool2d().flatten(1))


def train(device: str) -> list[float]:
    with Context(DEV=device):
        network = Network()
        x, y = Tensor(images, device=device), Tensor(labels, device=device)
        optimiser = nn.optim.Adam(nn.state.get_parameters(network), lr=0.01)

        @TinyJit
        def step() -> Tensor:
            with Context(TRAINING=1):
                optimiser.zero_grad()
                loss = network(x).sparse_categorical_crossentropy(y).backward()
                optimiser.step()
                return loss.realize()

        return [step().item() for _ in range(12)]


losses = train("CUDA")
assert losses[-1] < losses[0] * 0.9, losses
beside = train("CPU")
assert np.abs(np.array(losses) - np.array(beside)).max() < 1e-3, (losses, beside)
print("a convolutional network, 12 steps beside the processor: good")
