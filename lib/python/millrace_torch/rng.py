# SPDX-License-Identifier: Apache-2.0
"""Random numbers: those of the CPU's generator, from the seed and the offset of the device's. So torch.cuda.manual_seed,
get_rng_state and set_rng_state do what they say. The numbers are not those of a GPU."""

import contextlib
import itertools
import threading

import torch

from .driver import index_of

_STEP = 4  # offsets are multiples of it
_lock = threading.Lock()
_graphs = itertools.count(1)


def _seeded(*parts):
    """A generator of the CPU whose seed is made of these numbers."""
    seed = 0
    for part in parts:
        seed = (seed ^ part) * 0x9E3779B97F4A7C15 % 2**64
        seed ^= seed >> 29
    return torch.Generator().manual_seed(seed % 2**63)


def next_of(generator):
    """A generator of the CPU for the next call that draws from this one of the device."""
    with _lock:
        offset = generator.get_offset()
        generator.set_offset(offset + _STEP)
    return _seeded(generator.initial_seed(), offset)


def in_graph():
    """The same, as a function for one call in a graph: a host function can't ask the device's generator for its offset,
    so launches are counted instead, from the last seed on."""
    number, launches, last = next(_graphs), 0, None

    def next_in_graph(generator):
        nonlocal launches, last
        seed = generator.initial_seed()
        launches, last = launches + 1 if seed == last else 0, seed
        return _seeded(seed, number, launches)

    return next_in_graph


def default(device):
    """The device's own generator."""
    return torch.cuda.default_generators[index_of(device)]


_turn = threading.RLock()


@contextlib.contextmanager
def as_default(generator):
    """While it lasts, the CPU's own generator has this one's state, for operators that take none."""
    with _turn:
        before = torch.default_generator.get_state()
        torch.default_generator.set_state(generator.get_state())
        try:
            yield
        finally:
            torch.default_generator.set_state(before)
