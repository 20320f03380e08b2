# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the device beside the CPU, in one process, by turns: operations, training steps of two models.

`frameworks_pytorch.py CASE…` measures the cases whose names begin so. `frameworks_pytorch.py first` prints how long the
process took to the end of its first training step on the default device.
"""
import sys

import torch
import torch.nn.functional as F
from frameworks_measure import case, since_start
from torch import nn


def numbers(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def on(device, function, arguments):
    """One call on that device, waited for."""
    values = [each.to(device) for each in arguments]

    def call():
        function(*values)
        if device == "cuda":
            torch.cuda.synchronize()
    return call


def conv_gradients(x, w):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    return torch.autograd.grad(F.conv2d(x, w, padding="same").square().sum(), (x, w))


WIDTH, DEPTH, HEADS, WORDS = 128, 3, 4, 200


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (each.unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in self.qkv(self.first(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(DEPTH)))

    def forward(self, text, _):
        logs = self.last(self.layers(self.words(text))) @ self.words.weight.T
        return F.cross_entropy(logs[:, :-1].flatten(0, 1), text[:, 1:].flatten())


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        parts = []
        for before, after, stride in ((3, 32, 1), (32, 64, 2), (64, 64, 1)):
            parts += [nn.Conv2d(before, after, 3, stride, 1), nn.BatchNorm2d(after), nn.ReLU()]
        self.body, self.head = nn.Sequential(*parts, nn.MaxPool2d(2)), nn.Linear(64, 10)

    def forward(self, x, kinds):
        return F.cross_entropy(self.head(self.body(x).mean((2, 3))), kinds)


class Training:
    """A model whose steps follow each other on one device."""

    def __init__(self, device, make, data):
        torch.manual_seed(2)
        self.model, self.data = make().to(device), [each.to(device) for each in data]
        self.optimiser = torch.optim.Adam(self.model.parameters(), 1e-3)

    def __call__(self):
        self.optimiser.zero_grad()
        value = self.model(*self.data)
        value.backward()
        self.optimiser.step()
        return value.item()


def models():
    draw = torch.Generator().manual_seed(3)
    text, kinds = torch.randint(0, WORDS, (16, 64), generator=draw), torch.randint(0, 10, (32,), generator=draw)
    return {"train_conv": (Convolutional, (numbers(32, 3, 32, 32), kinds)), "train_transformer": (Transformer, (text, text))}


def main() -> None:
    if sys.argv[1:] == ["first"]:
        Training("cuda" if torch.cuda.is_available() else "cpu", *models()["train_conv"])()
        print(f"first_seconds {since_start():.2f}")
        return
    flat, other, rows = numbers(4 << 20), numbers(4 << 20, seed=2), numbers(2048, 2048)
    square, batch = numbers(1024, 1024), numbers(64, 128, 128)
    image, kernel, deep = numbers(16, 32, 32, 32), numbers(64, 32, 3, 3), numbers(16, 128, 16, 16)
    for name, function, *arguments in (
        ("add", lambda a, b: a + b, flat, other),
        ("tanh", torch.tanh, flat),
        ("gelu", F.gelu, flat),
        ("sine", lambda a: a.sin() * a.exp(), flat),
        ("small", lambda a: a * 2 + 1, flat[:1000]),
        ("sum", lambda a: a.sum(), flat),
        ("sum_rows", lambda a: a.sum(1), rows),
        ("sum_columns", lambda a: a.sum(0), rows),
        ("max", lambda a: a.amax(1), rows),
        ("softmax", lambda a: a.softmax(1), rows),
        ("layer_norm", lambda a: F.layer_norm(a, (2048,)), rows),
        ("transpose", lambda a: a.T + 1, rows),
        ("matmul_256", lambda a: a @ a, square[:256, :256]),
        ("matmul_1024", lambda a: a @ a, square),
        ("matmul_batch", lambda a: a @ a, batch),
        ("conv", lambda x, w: F.conv2d(x, w, padding=1), image, kernel),
        ("conv_stride", lambda x, w: F.conv2d(x, w, stride=2, padding=1), image, kernel),
        ("conv_1x1", F.conv2d, deep, numbers(128, 128, 1, 1)),
        ("conv_deep", lambda x, w: F.conv2d(x, w, padding=1), deep, numbers(128, 128, 3, 3)),
        ("conv_gradients", conv_gradients, image, kernel),
    ):
        case(name, on("cuda", function, arguments), on("cpu", function, arguments))
    for name, model in models().items():
        case(name, Training("cuda", *model), Training("cpu", *model))


main()
