# SPDX-License-Identifier: Apache-2.0
"""JAX from PyPI: operations, and a small transformer that trains, on the device beside JAX's own CPU backend."""

import collections
import glob
import gzip
import json
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

WIDTH, HEADS, WORDS, LENGTH, BATCH, STEPS = 32, 4, 50, 16, 8, 12


def near(name, got, wanted, limit=2e-5):
    error = np.max(np.abs(np.asarray(got) - np.asarray(wanted)) / (1 + np.abs(np.asarray(wanted))))
    assert error <= limit, f"{name}: {error}"


def both(name, function, *arguments, limit=2e-5):
    results = []
    for platform in ("cuda", "cpu"):
        device = jax.devices(platform)[0]
        result = jax.jit(function)(*[jax.device_put(a, device) for a in arguments])
        assert result.devices() == {device}, f"{name} ran on {result.devices()}"
        results.append(np.asarray(result))
    near(name, *results, limit)


def operations():
    numbers = np.random.default_rng(1)
    m = numbers.standard_normal((48, 48), "float32")
    x, w = numbers.standard_normal((2, 12, 10, 3), "float32"), numbers.standard_normal((3, 3, 3, 8), "float32")

    def convolution(x, w):
        return jax.lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    both("matmul", lambda a: a @ a, m)
    small = numbers.integers(-5, 6, (20, 20)).astype("int8")
    both("int8 matmul", lambda a: jax.lax.dot(a, a, preferred_element_type=jnp.int32), small, limit=0)
    both("softmax", jax.nn.softmax, m)
    both("layer norm", lambda a: (a - a.mean(-1, keepdims=True)) / jnp.sqrt(a.var(-1, keepdims=True) + 1e-5), m)
    both("sort", jnp.sort, m)
    both("scan", lambda a: jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(48), a)[1], m)
    both("vmap", jax.vmap(lambda r: jnp.outer(r, r).sum(0)), m)
    both("random", lambda a: a + jax.random.normal(jax.random.PRNGKey(0), a.shape), m)
    both("convolution", convolution, x, w)
    both("its gradients", lambda x, w: jax.grad(lambda w: jnp.sin(convolution(x, w)).sum())(w), x, w)
    both("fft", lambda a: jnp.abs(jnp.fft.fft2(a)), m, limit=1e-4)
    both("solve", lambda a: jnp.linalg.solve(a + 20 * jnp.eye(48), a), m)


def attention():
    """Attention by cuDNN (implementation="cudnn") beside XLA's own on the CPU, and its gradients: whole, causal, with groups of heads that share keys,
    with a bias, with sequences of different lengths. The elements have eight bits, so the limit is 3 %."""
    numbers = np.random.default_rng(2)

    def case(name, heads=4, of_keys=4, bias=None, lengths=None, **options):
        q = jnp.asarray(numbers.standard_normal((2, 64, heads, 64)), jnp.bfloat16)
        k, v = (jnp.asarray(numbers.standard_normal((2, 64, of_keys, 64)), jnp.bfloat16) for _ in range(2))
        if bias:
            options["bias"] = jnp.asarray(numbers.standard_normal((1, heads, 64, 64)), jnp.bfloat16)
        if lengths:
            options["query_seq_lengths"] = options["key_value_seq_lengths"] = jnp.asarray(lengths, jnp.int32)
        inside = jnp.arange(64)[None, :, None, None] < jnp.asarray(lengths or [64, 64])[:, None, None, None]

        def loss(implementation):
            def sums(q, k, v):
                result = jax.nn.dot_product_attention(q, k, v, implementation=implementation, **options)
                result = jnp.where(inside, result, 0).astype(jnp.float32)
                return (result ** 2).sum(), result
            return jax.jit(jax.value_and_grad(sums, (0, 1, 2), has_aux=True))

        assert "fmha" in loss("cudnn").lower(q, k, v).as_text()
        (_, got), slopes = loss("cudnn")(q, k, v)
        (_, wanted), right = loss("xla")(q, k, v)
        for part, a, b in zip(("", "dq", "dk", "dv"), (got, *slopes), (wanted, *right)):
            a, b = np.asarray(a, "float32"), np.asarray(b, "float32")
            error = np.max(np.abs(a - b)) / np.max(np.abs(b))
            assert error <= 0.03, f"attention, {name} {part}: {error}"

    case("whole")
    case("causal", is_causal=True)
    case("groups", of_keys=2)
    case("bias", bias=True)
    case("lengths", lengths=[40, 64])


def weights():
    keys = jax.random.split(jax.random.PRNGKey(0), 9)
    shapes = {"word": (WORDS, WIDTH), "place": (LENGTH, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH),
              "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH), "last": (WIDTH, WORDS)}
    return {name: jax.random.normal(key, shape) * 0.1 for key, (name, shape) in zip(keys, shapes.items())}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def transformer(w, text):
    def heads(x):
        return x.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    x = w["word"][text] + w["place"]
    h = norm(x)
    q, k, v = heads(h @ w["q"]), heads(h @ w["k"]), heads(h @ w["v"])
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(WIDTH // HEADS)
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    x = x + (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ w["out"]
    x = x + jax.nn.gelu(norm(x) @ w["up"]) @ w["down"]
    return norm(x) @ w["last"]


def loss(w, text):
    logs = jax.nn.log_softmax(transformer(w, text)[:, :-1])
    return -jnp.take_along_axis(logs, text[:, 1:, None], -1).mean()


@jax.jit
def step(w, text):
    value, gradients = jax.value_and_grad(loss)(w, text)
    return jax.tree.map(lambda a, g: a - 0.1 * g, w, gradients), value


def training(platform):
    device = jax.devices(platform)[0]
    text = jax.device_put(np.random.default_rng(3).integers(0, WORDS, (BATCH, LENGTH)), device)
    w, losses = jax.device_put(weights(), device), []
    for _ in range(STEPS):
        w, value = step(w, text)
        losses.append(float(value))
    return losses


def profile():
    """A trace of the profiler's has the device's kernels and copies, each with the number of the call that asked for it."""
    function = jax.jit(lambda a: jnp.sin(a).sum() + jnp.cos(a))
    values = np.ones((64, 64), "float32")
    function(values).block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for _ in range(3):
                function(values).block_until_ready()
        with gzip.open(glob.glob(f"{folder}/plugins/profile/*/*.trace.json.gz")[0]) as file:
            events = json.load(file)["traceEvents"]
    device = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU:0" in e["args"]["name"]}
    seen = [e for e in events if e.get("ph") == "X" and e["pid"] in device and "correlation_id" in e.get("args", {})]
    counts = collections.Counter(e["name"] for e in seen)
    print("profile", dict(counts))
    assert counts["MemcpyH2D"] >= 3 and sum(n for name, n in counts.items() if "fusion" in name) >= 3, counts
    assert all(e["dur"] >= 0 for e in seen) and len({e["args"]["correlation_id"] for e in seen}) >= 4


def main():
    assert jax.devices()[0].platform == "gpu", jax.devices()
    jax.config.update("jax_default_matmul_precision", "highest")  # products of floats, not of TF32, which GPUs prefer
    operations()
    attention()
    profile()
    got, wanted = training("cuda"), training("cpu")
    print("losses", [f"{a:.5f}" for a in got], [f"{a:.5f}" for a in wanted])
    near("losses", got, wanted, 1e-3)
    assert got[-1] < 0.9 * got[0], "the transformer does not learn"
    print("all is right")


main()
