# SPDX-License-Identifier: Apache-2.0
"""Attention: PyTorch has fused kernels for it on GPUs alone."""

import math

import torch


def _factor(query, scale):
    return 1 / math.sqrt(query.size(-1)) if scale is None else scale


def _weights(query, key, bias, causal, scale):
    """The weights before dropout, and the logarithm of their sums."""
    scores = query.float() @ key.float().transpose(-2, -1) * _factor(query, scale)
    if bias is not None:
        scores += bias
    if causal:
        scores.masked_fill_(torch.ones(scores.size()[-2:], dtype=torch.bool).triu(1), -math.inf)
    sums = scores.logsumexp(-1)
    return (scores - sums.unsqueeze(-1)).exp().nan_to_num_(0.0), sums


def _kept(weights, dropout, seed):
    """What dropout leaves of the weights, as factors; the seed tells which."""
    if weights.is_meta:  # only forms are asked for
        return weights
    drawn = torch.rand(weights.size(), generator=torch.Generator().manual_seed(int(seed)))
    return (drawn >= dropout).float().div_(1 - dropout)


def _grouped(tensor, heads):
    """Keys or values of fewer heads than queries have, for each of them."""
    return tensor if tensor.size(1) == heads else tensor.repeat_interleave(heads // tensor.size(1), 1)


def _summed(gradient, like):
    """The gradient of what was spread over more heads, or broadcast."""
    if gradient.dim() == like.dim() and gradient.size(1) != like.size(1) and like.size(1) != 1:
        gradient = gradient.unflatten(1, (like.size(1), -1)).sum(2)
    return gradient.sum_to_size(like.size()).to(like.dtype)


def _forward(query, key, value, bias, dropout, causal, scale):
    heads = query.size(1)
    weights, sums = _weights(query, _grouped(key, heads), bias, causal, scale)
    seed = torch.randint(2**31, ()) if dropout else torch.zeros((), dtype=torch.int64)
    if dropout:
        weights = weights * _kept(weights, dropout, seed)
    out = (weights @ _grouped(value, heads).float()).to(query.dtype)
    # Heads next to each other in memory, as the fused kernels leave them.
    return out.transpose(1, 2).contiguous().transpose(1, 2), sums, seed


def _backward(gradient, query, key, value, bias, seed, dropout, causal, scale):
    heads = query.size(1)
    spread, values = _grouped(key, heads).float(), _grouped(value, heads).float()
    weights, _ = _weights(query, spread, bias, causal, scale)
    factors = _kept(weights, dropout, seed) if dropout else 1
    gradient, by = gradient.float(), _factor(query, scale)
    to_values = (weights * factors).transpose(-2, -1) @ gradient
    to_weights = gradient @ values.transpose(-2, -1) * factors
    to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdim=True))
    return (
        (to_scores @ spread * by).to(query.dtype),
        _summed(to_scores.transpose(-2, -1) @ query.float() * by, key),
        _summed(to_values, value),
        None if bias is None else _summed(to_scores, bias),
    )


def _fused(out, sums, query, key, seeds):
    """What the fused kernels give: no places of sequences, and no mask, for these are for other callers."""
    nowhere = torch.empty(0, dtype=torch.int64)
    return out, sums, nowhere, nowhere.clone(), query.size(2), key.size(2), *seeds, torch.empty(0, dtype=query.dtype)


# PyTorch leaves out arguments at the end that are as by default.


def _flash(query, key, value, dropout=0.0, causal=False, _=False, *, scale=None):
    out, sums, seed = _forward(query, key, value, None, dropout, causal, scale)
    return _fused(out, sums, query, key, (seed.view(1).repeat(2), seed.clone()))


def _flash_backward(gradient, query, key, value, *rest, scale=None):
    _out, _sums, _at_q, _at_k, _max_q, _max_k, dropout, causal, _state, seed = rest
    return _backward(gradient, query, key, value, None, seed, dropout, causal, scale)[:3]


def _efficient(query, key, value, bias, wants_sums, dropout=0.0, causal=False, *, scale=None):
    out, sums, seed = _forward(query, key, value, bias, dropout, causal, scale)
    return out, sums if wants_sums else sums[..., :0], seed, seed.clone()


def _efficient_backward(gradient, query, key, value, bias, *rest, scale=None):
    _out, _sums, seed, _offset, dropout, wanted, causal = (*rest, False)[:7]
    found = _backward(gradient, query, key, value, bias, seed, dropout, causal, scale)
    return tuple(each if is_wanted else None for each, is_wanted in zip(found, wanted))


def _cudnn(query, key, value, bias, _wants_sums, dropout=0.0, causal=False, _=False, *, scale=None):
    out, sums, seed = _forward(query, key, value, bias, dropout, causal, scale)
    return _fused(out, sums.unsqueeze(-1), query, key, (seed, seed.clone()))


def _cudnn_backward(gradient, query, key, value, *rest, scale=None):
    _out, _sums, seed, _offset, bias, _at_q, _at_k, _max_q, _max_k, dropout, causal = rest
    return _backward(gradient, query, key, value, bias, seed, dropout, causal, scale)[:3]


KERNELS = {
    "_scaled_dot_product_flash_attention": _flash,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_cudnn_attention": _cudnn,
    "_scaled_dot_product_cudnn_attention_backward": _cudnn_backward,
}
