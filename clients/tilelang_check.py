# SPDX-License-Identifier: Apache-2.0
"""tilelang, which writes CUDA C++ with CUTLASS's headers and has nvcc compile it for one chip alone (sm_120a): a product
of halves with a relu, and softmax of rows, each beside PyTorch on the processor. Usage: tilelang_check.py"""
import sys

import tilelang
import tilelang.language as T
import torch


def product(rows: int, columns: int, depth: int, tile: int, step: int):
    @T.prim_func
    def main(a: T.Tensor((rows, depth), "float16"), b: T.Tensor((depth, columns), "float16"), c: T.Tensor((rows, columns), "float16")):
        with T.Kernel(T.ceildiv(columns, tile), T.ceildiv(rows, tile), threads=128) as (x, y):
            left, right = T.alloc_shared((tile, step), "float16"), T.alloc_shared((step, tile), "float16")
            sums = T.alloc_fragment((tile, tile), "float32")
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(depth, step), num_stages=2):
                T.copy(a[y * tile, k * step], left)
                T.copy(b[k * step, x * tile], right)
                T.gemm(left, right, sums)
            for i, j in T.Parallel(tile, tile):
                sums[i, j] = T.max(sums[i, j], 0)
            T.copy(sums, c[y * tile, x * tile])
    return main


def softmax(rows: int, columns: int):
    @T.prim_func
    def main(a: T.Tensor((rows, columns), "float32"), b: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows, threads=128) as row:
            values, largest, total = T.alloc_fragment((1, columns), "float32"), T.alloc_fragment((1,), "float32"), T.alloc_fragment((1,), "float32")
            for i in T.Parallel(columns):
                values[0, i] = a[row, i]
            T.reduce_max(values, largest, dim=1)
            for i in T.Parallel(columns):
                values[0, i] = T.exp(values[0, i] - largest[0])
            T.reduce_sum(values, total, dim=1)
            for i in T.Parallel(columns):
                b[row, i] = values[0, i] / total[0]
    return main


def main() -> int:
    torch.manual_seed(1)
    wrong = 0

    def compare(name: str, got: torch.Tensor, right: torch.Tensor, bound: float) -> None:
        nonlocal wrong
        far = (got.cpu().double() - right.double()).abs().max().item()
        good = far <= bound
        wrong += not good
        print(f"{name}: {'right' if good else 'WRONG'} ({far:.3g})")

    a, b = torch.randn(256, 128).half(), torch.randn(128, 192).half()
    kernel = tilelang.compile(product(256, 192, 128, 64, 32), out_idx=[2], target="cuda")
    compare("product of halves", kernel(a.cuda(), b.cuda()), (a.double() @ b.double()).relu(), 0.05)
    rows = torch.randn(32, 256)
    kernel = tilelang.compile(softmax(32, 256), out_idx=[1], target="cuda")
    compare("softmax", kernel(rows.cuda()), rows.double().softmax(1), 1e-6)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
