# SPDX-License-Identifier: Apache-2.0
"""What JAX asks for and can't have is an error of its own, and it goes on: more memory than the device has
(MILLRACE_MEMORY=1G), a device that is not there, a folder for the profiler that nobody can write to."""

import jax
import jax.numpy as jnp
import numpy as np


def works():
    a = np.random.default_rng(1).standard_normal((64, 64)).astype("float32")
    assert np.allclose(jnp.matmul(a, a, precision="highest"), a @ a, atol=1e-3)


def refused(errors, function):
    try:
        function()
    except errors as error:
        print(type(error).__name__, str(error).splitlines()[0][:150])
        works()
        return
    raise AssertionError("nothing was refused")


def too_large():
    return (jnp.zeros(1 << 30) + 1).block_until_ready()


def too_large_inside():
    """A temporary array inside a compiled function."""
    return jax.jit(lambda a: jnp.sort(jnp.outer(a, a), 0).sum())(jnp.ones(1 << 15)).block_until_ready()


def profile():
    with jax.profiler.trace("/dev/null/profile"):
        works()


assert len(jax.devices()) == 1
works()
refused(jax.errors.JaxRuntimeError, too_large)
refused(jax.errors.JaxRuntimeError, too_large_inside)
refused(IndexError, lambda: jax.device_put(1.0, jax.devices()[1]))
refused((jax.errors.JaxRuntimeError, OSError), profile)
print("all is right")
