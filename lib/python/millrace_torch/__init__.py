# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own kernels, on Millrace.

PyTorch's packages hold their kernels as machine code, which only GPUs run. They also hold the same operators for the
CPU, and Millrace's device memory is the CPU's. So an operator on CUDA tensors runs PyTorch's kernel for the CPU, over
the same memory, when the work before it in the current stream is done. What PyTorch leaves to a library or to the
runtime stays as it is: cuBLAS, cuDNN, NCCL, copies, fills, streams, events, graphs. So do kernels by Triton, NVRTC and
nvcc.

PyTorch calls `activate` at the end of `import torch`: it is an entry point of the group torch.backends.
"""

import ctypes
import os
import sys

__all__ = ["activate"]

_active = False


def _driver():
    """Millrace's driver, if that is the one this process finds."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return driver if hasattr(driver, "millrace_attach") else None


def activate() -> None:
    """Gives PyTorch's CUDA operators the kernels of its CPU operators. Does nothing where the driver is not Millrace's, a
    second time, or with `torch` in MILLRACE_KEEP."""
    global _active
    driver = None if _active or "torch" in os.environ.get("MILLRACE_KEEP", "").split(",") else _driver()
    if driver is None:
        return
    import torch

    if not torch.backends.cuda.is_built():
        return
    from . import install

    try:
        install.install(driver)
    except (AttributeError, ImportError, RuntimeError) as fault:
        print(
            f"millrace: warn: PyTorch {torch.__version__} is not one that millrace_torch knows, so PyTorch's own kernels will fail: {fault}",
            file=sys.stderr,
        )
    _active = True
