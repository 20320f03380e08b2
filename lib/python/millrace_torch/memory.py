# SPDX-License-Identifier: Apache-2.0
"""Device memory as the CPU's tensors see it."""

import torch

CPU = torch.device("cpu")


def _parts(tensor):
    """What tells where the elements of a tensor with rows by their ends (CSR, CSC and those by blocks) are."""
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    return tensor.ccol_indices(), tensor.row_indices(), tensor.values()


def _with_parts(tensor, part):
    """A sparse tensor like this one, with `part` of each of its parts."""
    if tensor.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(
            part(tensor._indices()),
            part(tensor._values()),
            tensor.size(),
            is_coalesced=tensor.is_coalesced(),
            check_invariants=False,
        )
    return torch.sparse_compressed_tensor(
        *map(part, _parts(tensor)), tensor.size(), layout=tensor.layout, check_invariants=False
    )


def alias(tensor):
    """A tensor of the CPU over the memory of a CUDA tensor, which must outlive it."""
    if tensor.layout != torch.strided:
        return _with_parts(tensor, alias)
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    storage = tensor.untyped_storage()
    found = torch.empty(0, dtype=tensor.dtype)
    found.set_(
        torch._C._construct_storage_from_data_pointer(storage.data_ptr(), CPU, storage.nbytes()),
        tensor.storage_offset(),
        tensor.size(),
        tensor.stride(),
    )
    if tensor.is_neg():
        found = torch._neg_view(found)
    return torch._conj(found) if tensor.is_conj() else found


def dense(tensor):
    """Whether the tensor's elements fill a range of memory, each place once."""
    if tensor.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted((stride, size) for stride, size in zip(tensor.stride(), tensor.size()) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def on_device(tensor, device):
    """A CUDA tensor with the values of one of the CPU."""
    if tensor.layout != torch.strided:
        return _with_parts(tensor, lambda part: on_device(part, device))
    found = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)
    if tensor.numel():
        alias(found).copy_(tensor)
    return found
