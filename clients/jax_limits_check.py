# SPDX-License-Identifier: Apache-2.0
"""What JAX asks for and can't have is an error of its own, and it goes on: more memory than the device has
(MILLRACE_MEMORY=1G), a device that is not there, a folder for the profiler that nobody can write to."""

import jax
import jax.numpy as jnp
import numpy as np
from programs import refused


def works():
    a = np.random.default_rng(1).standard_normal((64, 64)).astype("float32")
    assert np.allclose(jnp.matmul(a, a, precision="highest"), a @ a, atol=1e-3)


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
refused(jax.errors.JaxRuntimeError, too_large, works)
refused(jax.errors.JaxRuntimeError, too_large_inside, works)
refused(IndexError, lambda: jax.device_put(1.0, jax.devices()[1]), works)
refused((jax.errors.JaxRuntimeError, OSError), profile, works)
print("all is right")
