# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of operators: tensors and other values, and lists and tuples of them."""

import torch


def mapped(function, value):
    """The value with `function` applied to it, or to each element of lists and tuples in it."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, each) for each in value)
    return function(value)


def tensors(value):
    """The tensors in a value."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for each in value for tensor in tensors(each)] if isinstance(value, (list, tuple)) else []


def has(among, tensor):
    """Whether it is one of these tensors."""
    return any(each is tensor for each in among)


def form_of(value):
    """The same without elements: a tensor of PyTorch's device "meta"."""
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, torch.device):
        return torch.device("meta")
    return None if isinstance(value, torch.Generator) else value
