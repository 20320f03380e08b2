# SPDX-License-Identifier: Apache-2.0
"""Which operators run here, and which stay as PyTorch has them."""

import warnings

import torch
from torch import library as registry

from . import attention, copies, driver, gpu_only, stream
from .operator import Operator

# Memory and forms of tensors: nothing is computed. Views are known by their schema.
_FORMS = {
    "empty.memory_format",
    "empty_strided",
    "empty_like",
    "clone",
    "set_",
    "set_.source_Storage",
    "set_.source_Storage_storage_offset",
    "set_.source_Tensor",
    "is_set_to",
    "resize_",
    "record_stream",
    "_pin_memory",
    "is_pinned",
    "_efficientzerotensor",
    "_copy_from",
    "_copy_from_and_resize",
    "is_coalesced",
    "_dimI",
    "_dimV",
    "sparse_dim",
    "dense_dim",
    "_nnz",
    "sparse_resize_",
    "sparse_resize_and_clear_",
    "resize_as_sparse_",
    "copy_sparse_to_sparse_",
    "_sparse_coo_tensor_with_dims",
    "_sparse_coo_tensor_with_dims_and_tensors",
    "zeros.out",
    "_coalesced_",
}
# Of cuBLAS alone.
_LIBRARIES = {"mm", "mm.out", "bmm", "bmm.out"}

# Composed of others, but by calls that don't reach them here.
_COMPOSED = {"ldexp.Tensor"}

_KEYS = (("CUDA", "CPU"), ("SparseCUDA", "SparseCPU"), ("SparseCsrCUDA", "SparseCsrCPU"))

_library = None  # its registrations last as long as it does


def _is_view(name):
    base, _, overload = name.partition(".")
    return any(
        a.alias_info is not None and not a.alias_info.is_write for a in torch._C._get_schema(base, overload).arguments
    )


def _has(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def install(library):
    """Registers the CPU's kernels for CUDA tensors, with Millrace's driver, by ctypes."""
    global _library
    driver.use(library)
    torch._C._cuda_sleep = stream.sleep
    _library = registry.Library("aten", "IMPL")
    kernels = {**attention.KERNELS, **gpu_only.KERNELS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that kernels are replaced
        for name in torch._C._dispatch_get_all_op_names():
            space, _, short = name.partition("::")
            if space != "aten" or short in _FORMS or short in _LIBRARIES or _is_view(name):
                continue
            if short in kernels:
                _library.impl(short, Operator(short, kernels[short]), "CUDA")
            elif short in copies.FUNCTIONS:
                _library.impl(short, copies.FUNCTIONS[short], "CUDA")
            else:
                _replace(name, short)


def _replace(name, short):
    """Gives the operator its own kernels for the CPU, wherever it has some for both."""
    keys = [
        device
        for device, host in _KEYS
        if (_has(name, device) or (short in _COMPOSED and device == "CUDA"))
        and torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, host)
    ]
    operator = Operator(short) if keys else None
    for key in keys:
        _library.impl(short, operator, key)
