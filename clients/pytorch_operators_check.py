# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own database of operators, with its samples of their arguments: each on the device, and the gradients, beside
the CPU. Needs what PyTorch's tests need: expecttest.

Closes with "N operators right, N wrong". Names as arguments choose operators; --large treats all tensors as large ones,
whose results are written into the device's memory at once.
"""

import collections
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64)
SAMPLES = 12  # of each operator and type
# Rounding: products are summed in another order.
LIMITS = {torch.float32: 1e-3, torch.complex64: 1e-3, torch.float16: 0.15, torch.bfloat16: 0.15}
# Random numbers and memory that nobody has written: forms are compared.
DRAWN = (
    "rand",
    "dropout",
    "bernoulli",
    "multinomial",
    "normal",
    "exponential",
    "cauchy",
    "geometric",
    "uniform",
    "empty",
    "rrelu",
    "svd_lowrank",
    "pca_lowrank",
    "fractional_max",
)
# What GPUs don't have either, and samples that can't be moved.
LEFT_OUT = {
    "sparse.mm.reduce": "for the CPU alone",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": "for the CPU alone",
    "tensor_split": "a sample is to stay on the CPU",
    "as_strided.partial_views": "a sample is a part of a larger tensor, of which a copy has less",
}


def moved(value, place):
    if isinstance(value, torch.Tensor):
        return value.detach().to(place).requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(moved(each, place) for each in value)
    if isinstance(value, dict):
        return {name: moved(each, place) for name, each in value.items()}
    return torch.device(place) if isinstance(value, torch.device) or value == "cpu" else value


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for part in value for each in tensors(part)] if isinstance(value, (list, tuple)) else []


def values(operator, sample, place):
    """Results and gradients."""
    args, options = moved((sample.input, *sample.args), place), moved(sample.kwargs, place)
    results = tensors(operator(*args, **options))
    ends = [each.abs().sum() if each.is_complex() else each.sum() for each in results if each.requires_grad]
    if not ends:
        return results
    torch.autograd.backward(ends)
    return results + [each.grad for each in tensors(args) if each.grad is not None]


def is_random(name, sample):
    return (
        any(each in name for each in DRAWN) or sample.kwargs.get("training") or sample.kwargs.get("dropout_p", 0) > 0
    )


def compare(name, sample, got, wanted, dtype):
    assert len(got) == len(wanted), "another number of results"
    for a, b in zip(got, wanted):
        if is_random(name, sample):
            assert a.shape == b.shape and a.dtype == b.dtype, "another form"
        else:
            limit = LIMITS.get(dtype)
            torch.testing.assert_close(
                a.cpu(), b.cpu(), equal_nan=True, **({"rtol": limit, "atol": limit} if limit else {})
            )


def check(operator, name, dtype, counts):
    """The first fault of this operator with this type, or None."""
    try:
        samples = list(
            operator.sample_inputs("cpu", dtype, requires_grad=operator.supports_autograd and dtype.is_floating_point)
        )
    except Exception:  # PyTorch has none for the CPU
        return None
    for sample in samples[:SAMPLES]:
        try:
            wanted = values(operator, sample, "cpu")
        except Exception:  # not there on the CPU
            counts["not on the CPU"] += 1
            continue
        try:
            compare(name, sample, values(operator, sample, "cuda"), wanted, dtype)
            counts["samples right"] += 1
        except Exception as fault:
            counts["samples wrong"] += 1
            return str(fault).strip().split("\n")[0][:200]
    return None


def main():
    warnings.filterwarnings("ignore")
    if "--large" in sys.argv:
        sys.argv.remove("--large")
        import millrace_torch.operator

        millrace_torch.operator.LARGE = 0
    counts, wrong, right = collections.Counter(), 0, 0
    for operator in op_db:
        name = operator.name + ("." + operator.variant_test_name if operator.variant_test_name else "")
        if name in LEFT_OUT or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        faults = {dtype: check(operator, name, dtype, counts) for dtype in TYPES if dtype in operator.dtypesIfCUDA}
        for dtype, fault in faults.items():
            if fault:
                print(f"WRONG: {name} of {dtype}: {fault}", flush=True)
        wrong += any(faults.values())
        right += not any(faults.values())
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    print(f"{right} operators right, {wrong} wrong")
    sys.exit(wrong != 0)


assert "Millrace" in torch.cuda.get_device_name(), torch.cuda.get_device_name()
main()
