# SPDX-License-Identifier: Apache-2.0
"""Attention: PyTorch has fused kernels for it on GPUs alone."""

import math

import torch


def _weights(query, key, bias, causal, scale):
    """The weights before dropout, and the logarithm of their sums."""
    scores = (
        query.float() @ key.float().transpose(-2, -1) * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    )
    if bias is not None:
        scores += bias
    if causal:
        scores.masked_fill_(torch.ones(scores.size()[-2:], dtype=torch.bool).triu(1), -math.inf)
    sums = scores.logsumexp(-1)
    return (scores - sums.unsqueeze(-1)).exp().nan_to_num_(0.0), sums


def _kept(weights, dropout, seed):
    """What dropout leaves of the weights, as factors; the seed tells which."""
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
    factors = _kept(weights, dropout, seed) if dropout else None
    gradient = gradient.float()
    to_weights = gradient @ values.transpose(-2, -1)
    if factors is not None:
        to_weights = to_weights * factors
    to_values = (weights if factors is None else weights * factors).transpose(-2, -1) @ gradient
    to_scores = weights * (to_weights - (to_weights * weights).sum(-1, keepdim=True))
    by = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    return (
        (to_scores @ spread * by).to(query.dtype),
        _summed(to_scores.transpose(-2, -1) @ query.float() * by, key),
        _summed(to_values, value),
        None if bias is None else _summed(to_scores, bias),
    )


def _flash(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    out, sums, seed = _forward(query, key, value, None, dropout_p, is_causal, scale)
    none = torch.empty(0, dtype=torch.int64)
    return (
        out,
        sums,
        none,
        none.clone(),
        query.size(2),
        key.size(2),
        seed.view(1).repeat(2),
        seed.clone(),
        torch.empty(0, dtype=query.dtype),
    )


def _flash_backward(
    grad_out,
    query,
    key,
    value,
    out,
    logsumexp,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    philox_seed,
    philox_offset,
    *,
    scale=None
):
    return _backward(grad_out, query, key, value, None, philox_offset, dropout_p, is_causal, scale)[:3]


def _efficient(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale=None):
    out, sums, seed = _forward(query, key, value, attn_bias, dropout_p, is_causal, scale)
    return out, sums if compute_log_sumexp else sums[..., :0], seed, seed.clone()


def _efficient_backward(
    grad_out_,
    query,
    key,
    value,
    attn_bias,
    out,
    logsumexp,
    philox_seed,
    philox_offset,
    dropout_p,
    grad_input_mask,
    is_causal=False,
    *,
    scale=None
):
    found = _backward(grad_out_, query, key, value, attn_bias, philox_seed, dropout_p, is_causal, scale)
    return tuple(each if wanted else None for each, wanted in zip(found, grad_input_mask))


def _cudnn(
    query,
    key,
    value,
    attn_bias,
    compute_log_sumexp,
    dropout_p=0.0,
    is_causal=False,
    return_debug_mask=False,
    *,
    scale=None
):
    out, sums, seed = _forward(query, key, value, attn_bias, dropout_p, is_causal, scale)
    none = torch.empty(0, dtype=torch.int64)
    return (
        out,
        sums.unsqueeze(-1),
        none,
        none.clone(),
        query.size(2),
        key.size(2),
        seed,
        seed.clone(),
        torch.empty(0, dtype=query.dtype),
    )


def _cudnn_backward(
    grad_out,
    query,
    key,
    value,
    out,
    logsumexp,
    philox_seed,
    philox_offset,
    attn_bias,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    *,
    scale=None
):
    return _backward(grad_out, query, key, value, attn_bias, philox_seed, dropout_p, is_causal, scale)[:3]


KERNELS = {
    "_scaled_dot_product_flash_attention": _flash,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_cudnn_attention": _cudnn,
    "_scaled_dot_product_cudnn_attention_backward": _cudnn_backward,
}
