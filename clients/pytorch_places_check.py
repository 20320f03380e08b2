# SPDX-License-Identifier: Apache-2.0
"""Operators of PyTorch whose values choose the places that they read and write, in many forms, beside the CPU.

Under millrace check --tool race,mem,init nothing is found: a place told of wrongly would be outside of an allocation,
or count as never written.
"""

import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")


def table(device, *sizes):
    return torch.arange(float(torch.Size(sizes or (8, 6)).numel())).reshape(sizes or (8, 6)).to(device)


def at(device, values):
    return torch.tensor(values, device=device)


def none(device):
    return torch.empty(0, dtype=torch.long, device=device)


def ones(device, *sizes):
    return torch.ones(sizes, dtype=torch.bool, device=device)


READ = [
    lambda d: table(d)[at(d, [1, -1, 3])],
    lambda d: table(d)[:, at(d, [1, -1, 3])],
    lambda d: table(d)[at(d, [1, 2]), at(d, [3, -4])],
    lambda d: table(d)[table(d) > 20],
    lambda d: table(d)[at(d, [True, False] * 4)],
    lambda d: table(d)[:, at(d, [True, False] * 3)],
    lambda d: table(d).T[at(d, [1, 2])],
    lambda d: table(d)[::2, 1::2][at(d, [0, 3])],
    lambda d: table(d).expand(3, 8, 6)[at(d, [0, 2])],
    lambda d: table(d)[none(d)],
    lambda d: table(d).index_select(1, at(d, [5, 0])),
    lambda d: table(d).T.index_select(0, at(d, [5, 0])),
    lambda d: table(d, 1).squeeze().index_select(0, at(d, [0])),
    lambda d: table(d).gather(1, at(d, [[0, 5], [1, 1]])),
    lambda d: torch.gather(table(d), 1, at(d, [[0]]), out=torch.empty(1, 1, device=d)),
    lambda d: torch.index_select(table(d), 0, at(d, [3]), out=torch.empty(1, 6, device=d)),
    lambda d: torch.take_along_dim(table(d), at(d, [[0]] * 8), 1),
    lambda d: table(d).take(at(d, [0, 47, -1])),
    lambda d: table(d).masked_select(table(d) < 3),
    lambda d: F.embedding(at(d, [[0, 7], [3, 3]]), table(d)),
    lambda d: F.embedding_bag(at(d, [0, 7, 3, 3]), table(d), at(d, [0, 2])),
    lambda d: table(d).nonzero(),
    lambda d: torch.searchsorted(table(d, 9), table(d, 4)),
    lambda d: torch.bucketize(table(d, 4), table(d, 9)),
    lambda d: F.grid_sample(table(d, 1, 1, 4, 4), torch.zeros(1, 2, 2, 2, device=d)),
    lambda d: F.cross_entropy(table(d, 4, 6), at(d, [0, 1, -100, 3])),
    lambda d: F.max_unpool1d(table(d, 1, 1, 3), at(d, [[[0, 2, 4]]]), 2),
    lambda d: table(d).index_add(0, at(d, [1, 1]), table(d, 2, 6)),
    lambda d: table(d).index_fill(0, at(d, [2]), 3),
    lambda d: table(d).index_put((at(d, [1, 1]),), table(d, 6)),
    lambda d: table(d).scatter(1, at(d, [[0, 1]]), table(d, 3, 4)),
    lambda d: table(d).scatter_add(1, at(d, [[0, 1]]), table(d, 3, 4)),
    lambda d: table(d).scatter_reduce(0, at(d, [[0, 1]]), table(d, 3, 4), "amax"),
    lambda d: table(d).put(at(d, [1, 2]), table(d, 2)),
    lambda d: table(d).masked_scatter(table(d) < 3, table(d, 9)),
]
# These write the second row, whatever they write else.
WRITTEN = [
    lambda d, x: x.index_fill_(0, at(d, [1, 1]), 3.0),
    lambda d, x: x.index_copy_(0, at(d, [1, 3]), table(d, 2, 6)),
    lambda d, x: x.index_put_((at(d, [1, -2]),), table(d, 6)),
    lambda d, x: x.index_put_((at(d, [False, True] * 4),), table(d, 1)),
    lambda d, x: x.index_put_((ones(d, 8, 6),), table(d, 1)),
    lambda d, x: x.scatter_(1, at(d, [[0, 1, 2, 3, 4, 5]] * 3), 1.0),
    lambda d, x: x.masked_fill_(ones(d, 8, 1), 2),
    lambda d, x: x.masked_scatter_(ones(d, 8, 6), table(d, 48)),
]
CHANGED = [
    lambda d, x: x.index_fill_(1, at(d, [1, -1]), torch.tensor(3.0, device=d)),
    lambda d, x: x.index_put_((at(d, [0, 1]), at(d, [2, 3])), table(d, 2)),
    lambda d, x: x.index_put_((none(d),), table(d, 6)),
    lambda d, x: x.index_put_((at(d, [1, 1]),), table(d, 2, 6), accumulate=True),
    lambda d, x: x.index_add_(0, at(d, [1, 1]), table(d, 2, 6)),
    lambda d, x: x.index_reduce_(0, at(d, [1, 1]), table(d, 2, 6), "amax"),
    lambda d, x: x.scatter_(1, at(d, [[0, 1]] * 2), table(d, 2, 2)),
    lambda d, x: x.scatter_(1, at(d, [[0, 1]] * 2), 2.0, reduce="multiply"),
    lambda d, x: x.scatter_add_(1, at(d, [[0, 1]] * 2), table(d, 2, 2)),
    lambda d, x: x.scatter_reduce_(1, at(d, [[0, 1]] * 2), table(d, 2, 2), "prod"),
    lambda d, x: x.put_(at(d, [7, -1]), table(d, 2)),
    lambda d, x: x.put_(at(d, [7, -1]), table(d, 2), accumulate=True),
    lambda d, x: x.masked_scatter_(at(d, [True, False, True] * 2), table(d, 48)),
    lambda d, x: x[::2].index_fill_(1, at(d, [0]), 1),
    lambda d, x: x.T.index_copy_(0, at(d, [2]), table(d, 1, 8)),
]


def changed(function):
    """What the function makes of a table."""

    def of(device):
        x = table(device)
        function(device, x)
        return x

    return of


def row(function):
    """The row that the function writes, of memory that nothing else has written."""

    def of(device):
        x = torch.empty(8, 6, device=device)
        function(device, x)
        return x[1].clone()

    return of


cases = READ + [changed(each) for each in WRITTEN + CHANGED] + [row(each) for each in WRITTEN]
failed = 0
for number, case in enumerate(cases):
    if not torch.equal(case("cpu"), case("cuda").cpu()):
        print(f"FAILED: case {number}")
        failed += 1
print(f"{len(cases) - failed} passed, {failed} failed")
raise SystemExit(failed != 0)
