# SPDX-License-Identifier: Apache-2.0
"""Operators whose values choose the places that they read or write: indexing, gather, scatter, embeddings. They have run
when an observer is told of them, so their indices are known, and so are the places, element by element.

A place is told of only if it is certain. What is read of these tensors and isn't found out is left out; an operator of
which it isn't known what it writes tells nothing.
"""

import re

import torch

_ELEMENTS = 1 << 22  # of a tensor whose places are found one by one
_PARTS = 1 << 14  # runs of memory that are told of, for one tensor

# The argument that is read in chosen places, and which names of arguments choose them.
_READ = {
    "index": ("self", "indices"),
    "_unsafe_index": ("self", "indices"),
    "index_select": ("self", "index"),
    "gather": ("self", "index"),
    "take": ("self", "index"),
    "masked_select": ("self", "mask"),
    "embedding": ("weight", "indices"),
}
# Operators that write into "self" in chosen places, and whether they look at what was there.
_WRITTEN = {
    "index_put_": False,
    "_index_put_impl_": False,
    "index_fill_": False,
    "index_copy_": False,
    "index_add_": True,
    "index_reduce_": True,
    "scatter_": False,
    "scatter_add_": True,
    "scatter_reduce_": True,
    "put_": False,
    "masked_fill_": False,
    "masked_scatter_": False,
}
# Arguments of which it is not known what is read: the other values choose. All else of these operators is whole.
_UNKNOWN = {
    "searchsorted": {"sorted_sequence", "sorter"},
    "bucketize": {"boundaries"},
    "grid_sampler_2d": {"input"},
    "grid_sampler_3d": {"input"},
    "grid_sampler_2d_backward": {"input"},
    "grid_sampler_3d_backward": {"input"},
    "embedding_dense_backward": {"grad_output"},
    "nll_loss_forward": {"self", "weight"},
    "nll_loss2d_forward": {"self", "weight"},
    "nll_loss_backward": {"self", "weight"},
    "nll_loss2d_backward": {"self", "weight"},
    "masked_scatter_": {"source"},
    "nonzero": set(),
    "masked_fill": set(),
    "masked_scatter": {"source"},
    "index_put": {"values"},
    "index_fill": set(),
    "index_add": set(),
    "index_copy": set(),
    "index_reduce": set(),
    "scatter": set(),
    "scatter_add": set(),
    "scatter_reduce": set(),
    "put": set(),
}
_OTHERS = re.compile(
    r"index|gather|scatter|embedding|(^|_)(take|put)(_|$)|masked|nonzero|searchsorted|bucketize|grid_sampl|unpool|sparse|roi|segment|histogram|set_"
)


class Unknown(Exception):
    """The places can't be told."""


def kind_of(base):
    """How an operator of this name chooses places: None if it doesn't, "unknown" if nothing can be told of it."""
    if base in _READ:
        return "read"
    if base in _WRITTEN:
        return "written"
    if base in _UNKNOWN:
        return "whole"
    return "unknown" if _OTHERS.search(base) else None


def left_out(base, given):
    """Names of arguments of which nothing is told."""
    source, index = given.get("src"), given.get("index")
    if isinstance(source, torch.Tensor) and isinstance(index, torch.Tensor) and source.size() != index.size():
        return {"src"}  # scatter reads a corner of it
    return _UNKNOWN.get(base, set())


def chosen(base):
    """The name of the argument that is touched in chosen places."""
    return _READ[base][0] if base in _READ else "self" if base in _WRITTEN else None


def looks(base, given):
    """Whether an operator that writes looks at what was there."""
    return _WRITTEN[base] or bool(given.get("accumulate")) or given.get("reduce") is not None


def _groups(numbers):
    """Pairs (first, count) of numbers that follow each other, of a sorted tensor without doubles."""
    if numbers.numel() == 0:
        return []
    breaks = (numbers.diff() != 1).nonzero().flatten() + 1
    if breaks.numel() >= _PARTS:
        raise Unknown
    firsts = torch.cat([breaks.new_zeros(1), breaks])
    counts = torch.cat([breaks, breaks.new_tensor([numbers.numel()])]) - firsts
    return list(zip(numbers[firsts].tolist(), counts.tolist()))


def _rows(tensor, dim, index, runs):
    """The parts of a tensor that an index of one dimension names. `runs` gives those of a tensor."""
    if tensor.dim() == 0:
        return runs(tensor) or []
    size, found = tensor.size(dim), index.reshape(-1).to(torch.int64)
    found = torch.unique(torch.where(found < 0, found + size, found))
    parts = []
    for first, count in _groups(found):
        more = runs(tensor.narrow(dim, first, count))
        if more is None or len(parts) + len(more) > _PARTS:
            raise Unknown
        parts += more
    return parts


def _elements(tensor, choose):
    """The elements that `choose` takes of a tensor like this one, which holds the numbers of its elements' places."""
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
    if extent > _ELEMENTS:
        raise Unknown
    width = tensor.element_size()
    places = torch.arange(extent).as_strided(tensor.size(), tensor.stride())
    found = torch.unique(choose(places).reshape(-1))
    return [
        (tensor.data_ptr() + first * width, count * width, 1, count * width) for first, count in _groups(found)
    ]


def _one_index(indices):
    """(dimension, index) if a list of indices has one alone, else None."""
    given = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        return None
    dim, index = given[0]
    if index.dtype not in (torch.bool, torch.uint8):
        return dim, index
    return (dim, index.nonzero()) if index.dim() == 1 else None


def _marked(base, tensor, given):
    """For `_elements`: takes those that the operator writes."""
    marks = torch.zeros(tensor.size(), dtype=torch.bool)
    one = torch.ones((), dtype=torch.bool)
    if base in ("index_put_", "_index_put_impl_"):
        torch.ops.aten.index_put_(marks, given["indices"], one)
    elif base == "put_":
        marks.put_(given["index"], one.expand(given["index"].size()))
    elif base in ("masked_fill_", "masked_scatter_"):
        marks.masked_fill_(given["mask"], True)
    else:
        marks.scatter_(given["dim"], given["index"], True)
    return lambda places: places[marks]


def _taken(base, given):
    """For `_elements`: takes those that the operator reads."""
    if base in ("index", "_unsafe_index"):
        return lambda places: torch.ops.aten.index(places, given["indices"])
    if base == "gather":
        return lambda places: places.gather(given["dim"], given["index"])
    if base == "take":
        return lambda places: places.take(given["index"])
    return lambda places: places.masked_select(given["mask"])


def parts(base, given, runs):
    """Runs of memory, as `runs` gives those of a tensor, that the operator touches of the argument `chosen`. `given`:
    its arguments by name, as the CPU's. Raises Unknown."""
    tensor = given[chosen(base)]
    if tensor.layout != torch.strided:
        raise Unknown
    if base in ("index_select", "index_fill_", "index_copy_", "index_add_", "index_reduce_"):
        return _rows(tensor, given["dim"], given["index"], runs)
    if base == "embedding":
        return _rows(tensor, 0, given["indices"], runs)
    one = _one_index(given["indices"]) if "indices" in given else None
    if one:
        return _rows(tensor, *one, runs)
    return _elements(tensor, _taken(base, given) if base in _READ else _marked(base, tensor, given))
