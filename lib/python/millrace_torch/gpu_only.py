# SPDX-License-Identifier: Apache-2.0
"""What PyTorch computes in one kernel on GPUs alone: cells of recurrent networks, convolutions by depth, norms."""

import torch


def _gates(input_gates, hidden_gates, input_bias, hidden_bias):
    return input_gates + hidden_gates + (0 if input_bias is None else input_bias + hidden_bias)


def _lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    i, f, g, o = _gates(input_gates, hidden_gates, input_bias, hidden_bias).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    inside = cy.tanh()
    to_cell = torch.zeros_like(cy)
    if grad_hy is not None:
        to_cell = to_cell + grad_hy * o * (1 - inside * inside)
    if grad_cy is not None:
        to_cell = to_cell + grad_cy
    to_out = torch.zeros_like(o) if grad_hy is None else grad_hy * inside * o * (1 - o)
    gates = torch.cat([to_cell * g * i * (1 - i), to_cell * cx * f * (1 - f), to_cell * i * (1 - g * g), to_out], 1)
    return gates, to_cell * f, gates.sum(0) if has_bias else None


def _gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    (ir, ii, n), (hr, hi, hn) = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (ii + hi).sigmoid()
    n = (n + r * hn).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hn], 1)


def _gru_cell_backward(grad_hy, workspace, has_bias):
    r, z, n, hx, hn = workspace.chunk(5, 1)
    to_n = grad_hy * (1 - z) * (1 - n * n)
    to_z = grad_hy * (hx - n) * z * (1 - z)
    to_r = to_n * hn * r * (1 - r)
    to_input, to_hidden = torch.cat([to_r, to_z, to_n], 1), torch.cat([to_r, to_z, to_n * r], 1)
    return (
        to_input,
        to_hidden,
        grad_hy * z,
        to_input.sum(0) if has_bias else None,
        to_hidden.sum(0) if has_bias else None,
    )


def _by_depth(self, weight, kernel_size, bias, stride, padding, dilation):
    return torch.ops.aten.convolution(
        self, weight, bias, stride, padding, dilation, False, [0] * len(stride), self.size(1)
    )


def _rms_norm_backward(grad_out, input, normalized_shape, rstd, weight, output_mask):
    kept, others = list(range(input.dim() - len(normalized_shape), input.dim())), list(
        range(input.dim() - len(normalized_shape))
    )
    gradient, values = grad_out.to(rstd.dtype), input.to(rstd.dtype) * rstd
    scaled = gradient if weight is None else gradient * weight.to(rstd.dtype)
    to_input = (scaled - values * (scaled * values).mean(kept, keepdim=True)) * rstd
    to_weight = (
        None
        if weight is None or not output_mask[1]
        else (gradient * values).sum(others) if others else gradient * values
    )
    return to_input.to(input.dtype) if output_mask[0] else None, (
        None if to_weight is None else to_weight.to(weight.dtype)
    )


def _masked_scale(self, mask, scale):
    return self * mask * scale


def _grid_sampler(self, grid):
    return torch.ops.aten.grid_sampler_2d(self, grid, 0, 0, True)


def _grid_sampler_backward(self, grid, grad_output):
    return torch.ops.aten.grid_sampler_2d_backward(grad_output, self, grid, 0, 0, True, [True, True])


KERNELS = {
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_conv_depthwise2d": _by_depth,
    "conv_depthwise3d": _by_depth,
    "_fused_rms_norm_backward": _rms_norm_backward,
    "_masked_scale": _masked_scale,
    "cudnn_grid_sampler": _grid_sampler,
    "cudnn_grid_sampler_backward": _grid_sampler_backward,
}
