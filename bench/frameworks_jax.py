# SPDX-License-Identifier: Apache-2.0
"""JAX on the device beside its own CPU backend, in one process, by turns: operations, training steps of two models.

`frameworks_jax.py CASE…` measures the cases whose names begin so. `frameworks_jax.py first` prints how long the process
took to the end of its first training step on the default device.
"""
import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from frameworks_measure import case, since_start
from jax import lax


def numbers(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, "float32")


def on(device, function, arguments):
    """One call on that device, waited for; compiled once."""
    compiled, values = jax.jit(function), jax.device_put(arguments, device)
    return lambda: jax.block_until_ready(compiled(*values))


def convolution(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_gradients(x, w):
    return jax.grad(lambda x, w: (convolution(x, w) ** 2).sum(), (0, 1))(x, w)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


WIDTH, DEPTH, HEADS, WORDS = 128, 3, 4, 200


def transformer_weights():
    keys = iter(jax.random.split(jax.random.key(0), 4 * DEPTH + 1))

    def matrix(*shape):
        return jax.random.normal(next(keys), shape) * shape[0] ** -0.5

    layers = [{"qkv": matrix(WIDTH, 3 * WIDTH), "out": matrix(WIDTH, WIDTH), "up": matrix(WIDTH, 4 * WIDTH), "down": matrix(4 * WIDTH, WIDTH)}
              for _ in range(DEPTH)]
    return {"words": matrix(WORDS, WIDTH), "layers": layers}


def transformer_loss(w, text):
    x = w["words"][text]
    for layer in w["layers"]:
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(*x.shape[:2], 3 * HEADS, -1), 3, 2)
        x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    logs = jax.nn.log_softmax(norm(x) @ w["words"].T)[:, :-1]
    return -jnp.take_along_axis(logs, text[:, 1:, None], -1).mean()


def convolutional_weights():
    keys = jax.random.split(jax.random.key(2), 4)
    shapes = {"a": (3, 3, 3, 32), "b": (3, 3, 32, 64), "c": (3, 3, 64, 64), "d": (64, 10)}
    return {name: jax.random.normal(key, shape) * 0.1 for key, (name, shape) in zip(keys, shapes.items(), strict=True)}


def convolutional_loss(w, x, kinds):
    for name in ("a", "b", "c"):
        x = convolution(x, w[name], 2 if name == "b" else 1)
        x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
    x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    logs = jax.nn.log_softmax(x.mean((1, 2)) @ w["d"])
    return -jnp.take_along_axis(logs, kinds[:, None], -1).mean()


def adam(w, g, state):
    m, v, t = state
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
    t = t + 1
    w = jax.tree.map(lambda a, m, v: a - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), w, m, v)
    return w, (m, v, t)


class Training:
    """A model whose steps follow each other on one device."""

    def __init__(self, device, make, loss, data):
        @functools.partial(jax.jit, donate_argnums=(0, 1))
        def step(w, state, data):
            value, g = jax.value_and_grad(loss)(w, *data)
            return (*adam(w, g, state), value)

        with jax.default_device(device):
            w = make()
            zeros = jax.tree.map(jnp.zeros_like, w)
            self.step, self.data = step, jax.device_put(data, device)
            self.w, self.state = w, (zeros, jax.tree.map(jnp.zeros_like, w), jnp.float32(0))

    def __call__(self):
        self.w, self.state, value = self.step(self.w, self.state, self.data)
        return float(value)


def models():
    draw = np.random.default_rng(3)
    text = draw.integers(0, WORDS, (16, 64)).astype("int32")
    images, kinds = numbers(32, 32, 32, 3), draw.integers(0, 10, 32).astype("int32")
    return {"train_conv": (convolutional_weights, convolutional_loss, (images, kinds)),
            "train_transformer": (transformer_weights, transformer_loss, (text,))}


def main() -> None:
    if sys.argv[1:] == ["first"]:
        Training(jax.devices()[0], *models()["train_conv"])()
        print(f"first_seconds {since_start():.2f}")
        return
    device, cpu = jax.devices("cuda")[0], jax.devices("cpu")[0]
    flat, other, rows = numbers(4 << 20), numbers(4 << 20, seed=2), numbers(2048, 2048)
    square, batch = numbers(1024, 1024), numbers(64, 128, 128)
    image, kernel, deep = numbers(16, 32, 32, 32), numbers(3, 3, 32, 64), numbers(16, 16, 16, 128)
    for name, function, *arguments in (
        ("add", lambda a, b: a + b, flat, other),
        ("tanh", jnp.tanh, flat),
        ("gelu", lambda a: jax.nn.gelu(a), flat),
        ("sine", lambda a: jnp.sin(a) * jnp.exp(a), flat),
        ("small", lambda a: a * 2 + 1, flat[:1000]),
        ("sum", lambda a: a.sum(), flat),
        ("sum_rows", lambda a: a.sum(1), rows),
        ("sum_columns", lambda a: a.sum(0), rows),
        ("max", lambda a: a.max(1), rows),
        ("softmax", jax.nn.softmax, rows),
        ("layer_norm", norm, rows),
        ("transpose", lambda a: a.T + 1, rows),
        ("matmul_256", lambda a: a @ a, square[:256, :256]),
        ("matmul_1024", lambda a: a @ a, square),
        ("matmul_batch", lambda a: a @ a, batch),
        ("conv", convolution, image, kernel),
        ("conv_stride", functools.partial(convolution, stride=2), image, kernel),
        ("conv_1x1", convolution, deep, numbers(1, 1, 128, 128)),
        ("conv_deep", convolution, deep, numbers(3, 3, 128, 128)),
        ("conv_gradients", conv_gradients, image, kernel),
    ):
        case(name, on(device, function, arguments), on(cpu, function, arguments))
    for name, model in models().items():
        case(name, Training(device, *model), Training(cpu, *model))


main()
