# SPDX-License-Identifier: Apache-2.0
"""JAX from PyPI on two devices (MILLRACE_DEVICES=2): pmap and shard_map with collectives by NCCL, data-parallel
training, and products of arrays that are cut over both devices, beside NumPy and one device."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

numbers = np.random.default_rng(3)


def same(name, got, wanted, limit=1e-5):
    got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    assert got.shape == wanted.shape, f"{name}: {got.shape}, not {wanted.shape}"
    error = np.max(np.abs(got - wanted) / (1 + np.abs(wanted)))
    assert error <= limit, f"{name}: {error}"


def collectives():
    """Each collective of lax, by pmap, in several types and sizes."""
    def run(f, x):
        return jax.pmap(f, axis_name="i")(x)

    for kind in (np.float32, np.int32, jnp.bfloat16, np.float16):
        for n in (2, 6, 100000):
            x = numbers.integers(-9, 9, (2, n)).astype(kind)
            wide = np.asarray(x, np.float64)
            both = np.stack([wide, wide])
            same("psum", run(lambda v: jax.lax.psum(v, "i"), x), both.sum(1))
            same("pmax", run(lambda v: jax.lax.pmax(v, "i"), x), both.max(1))
            same("pmin", run(lambda v: jax.lax.pmin(v, "i"), x), both.min(1))
            same("all_gather", run(lambda v: jax.lax.all_gather(v, "i"), x), both)
            same("ppermute", run(lambda v: jax.lax.ppermute(v, "i", [(0, 1), (1, 0)]), x), wide[::-1])
            same("all_to_all", run(lambda v: jax.lax.all_to_all(v, "i", 0, 0, tiled=True), x),
                 wide.reshape(2, 2, n // 2).swapaxes(0, 1).reshape(2, n))
            same("psum_scatter", run(lambda v: jax.lax.psum_scatter(v, "i", tiled=True), x), wide.sum(0).reshape(2, n // 2))
    same("pmean", run(lambda v: jax.lax.pmean(v, "i"), np.float32([[1], [4]])), [[2.5], [2.5]])


def shards():
    """shard_map, and products that the compiler cuts by itself."""
    mesh = Mesh(np.array(jax.devices()[:2]), ("d",))
    x = numbers.standard_normal((8, 6), "float32")
    f = jax.jit(jax.shard_map(lambda v: jax.lax.psum(jnp.sin(v), "d"), mesh=mesh, in_specs=P("d"), out_specs=P()))
    same("shard_map", f(x), np.sin(x[:4]) + np.sin(x[4:]))
    a, b = numbers.standard_normal((64, 96), "float32"), numbers.standard_normal((96, 32), "float32")
    for cut_a, cut_b in ((P("d", None), P(None, None)), (P(None, "d"), P("d", None)), (P(None, None), P(None, "d"))):
        c = jax.jit(lambda a, b: jnp.matmul(a, b, precision="highest"))(jax.device_put(a, NamedSharding(mesh, cut_a)), jax.device_put(b, NamedSharding(mesh, cut_b)))
        same(f"product {cut_a} {cut_b}", c, a @ b, 1e-4)


def loss_of(weights, x, y):
    hidden = jnp.tanh(x @ weights[0] + weights[1])
    return jnp.mean((hidden @ weights[2] - y) ** 2)


def training():
    """Data-parallel training on two devices takes the steps of one device with all data."""
    x = numbers.standard_normal((64, 10), "float32")
    y = np.sin(x.sum(1, keepdims=True)).astype("float32")
    start = [numbers.standard_normal(s).astype("float32") / 3 for s in ((10, 16), (16,), (16, 1))]

    def step(weights, x, y):
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        loss, grads = jax.lax.pmean((loss, grads), "i")
        return [w - 0.1 * g for w, g in zip(weights, grads)], loss

    @jax.jit
    def step_of_one(weights, x, y):
        loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, grads)], loss

    two, one = [np.stack([w, w]) for w in start], start
    parallel = jax.pmap(step, axis_name="i")
    first = None
    for _ in range(30):
        two, losses = parallel(two, x.reshape(2, 32, 10), y.reshape(2, 32, 1))
        one, loss = step_of_one(one, x, y)
        same("loss", losses, [loss, loss])
        first = first if first is not None else float(loss)
    assert float(loss) < first / 2, f"the loss went from {first} to {loss}"


assert len(jax.devices()) == 2, f"there are {len(jax.devices())} devices: MILLRACE_DEVICES=2 makes two"
collectives()
shards()
training()
print("JAX on two devices: collectives, shards and training are right")
