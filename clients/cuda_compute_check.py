# SPDX-License-Identifier: Apache-2.0
"""cuda.compute (cuda-cccl): CUB's algorithms, compiled by NVRTC for the types at hand and linked with operators written
in Python, beside NumPy. Operators come as LTO code from libnvvm, algorithms from NVRTC."""

import cuda.compute
import cupy
import numpy as np
from cuda.compute import CountingIterator, OpKind, ReverseIterator, TransformIterator, gpu_struct

COUNT = 100_003
numbers = np.random.default_rng(1)
values = numbers.integers(0, 100, COUNT).astype(np.int32)
device = cupy.asarray(values)
checked = 0


def same(name, got, wanted):
    global checked
    assert np.array_equal(cupy.asnumpy(got), wanted), (name, cupy.asnumpy(got)[:8], wanted[:8])
    checked += 1


def start(value):
    return np.array([value], np.int32)


def larger(a, b):
    return a if a > b else b


def less(a, b):
    return a < b


def equal(a, b):
    return a == b


def divides(x):
    return x % 3 == 0


def low(x):
    return x < 30


def high(x):
    return x >= 80


def square(x):
    return x * x


one = cupy.empty(1, np.int32)
cuda.compute.reduce_into(d_in=device, d_out=one, op=OpKind.PLUS, num_items=COUNT, h_init=start(0))
same("sum", one, [values.sum()])
cuda.compute.reduce_into(d_in=device, d_out=one, op=larger, num_items=COUNT, h_init=start(-5))
same("maximum by an operator", one, [values.max()])
squares = TransformIterator(CountingIterator(np.int32(0)), square)
cuda.compute.reduce_into(d_in=squares, d_out=one, op=OpKind.PLUS, num_items=1000, h_init=start(0))
same("sum of an iterator", one, [sum(i * i for i in range(1000))])

Range = gpu_struct({"low": np.int32, "high": np.int32})


def range_of(x):
    return Range(x, x)


def join(a, b):
    return Range(min(a.low, b.low), max(a.high, b.high))


found = cupy.empty(1, np.dtype([("low", np.int32), ("high", np.int32)], align=True))
cuda.compute.reduce_into(
    d_in=TransformIterator(device, range_of), d_out=found, op=join, num_items=COUNT, h_init=Range(1000, -1000)
)
same("structures", found.view(np.int32), [values.min(), values.max()])

out = cupy.empty_like(device)
cuda.compute.exclusive_scan(d_in=device, d_out=out, op=OpKind.PLUS, init_value=start(0), num_items=COUNT)
same("exclusive scan", out, np.cumsum(values) - values)
cuda.compute.inclusive_scan(
    d_in=ReverseIterator(device), d_out=out, op=OpKind.PLUS, init_value=start(0), num_items=COUNT
)
same("inclusive scan from the end", out, np.cumsum(values[::-1]))
cuda.compute.unary_transform(d_in=device, d_out=out, op=square, num_items=COUNT)
same("transform", out, values * values)

places = cupy.empty_like(device)
cuda.compute.radix_sort(
    d_in_keys=device,
    d_out_keys=out,
    d_in_values=cupy.arange(COUNT, dtype=np.int32),
    d_out_values=places,
    num_items=COUNT,
    order=cuda.compute.SortOrder.ASCENDING,
)
same("radix sort", out, np.sort(values))
same("radix sort's values", places, np.argsort(values, kind="stable"))
cuda.compute.merge_sort(d_in_keys=device, d_out_keys=out, num_items=COUNT, op=less)
same("merge sort", out, np.sort(values))

count = cupy.empty(1, np.int64)
cuda.compute.select(d_in=device, d_out=out, d_num_selected_out=count, cond=divides, num_items=COUNT)
same("select", out[: int(count[0])], values[values % 3 == 0])
first, second, rest = (cupy.empty_like(device) for _ in range(3))
counts = cupy.empty(2, np.int64)
cuda.compute.three_way_partition(
    d_in=device,
    d_first_part_out=first,
    d_second_part_out=second,
    d_unselected_out=rest,
    d_num_selected_out=counts,
    select_first_part_op=low,
    select_second_part_op=high,
    num_items=COUNT,
)
same("partition, first", first[: int(counts[0])], values[values < 30])
same("partition, second", second[: int(counts[1])], values[values >= 80])

sorted_values = cupy.asarray(np.sort(values))
keys, items, kept = cupy.empty_like(device), cupy.empty_like(device), cupy.empty(1, np.int32)
cuda.compute.unique_by_key(
    d_in_keys=sorted_values,
    d_in_items=cupy.arange(COUNT, dtype=np.int32),
    d_out_keys=keys,
    d_out_items=items,
    d_out_num_selected=kept,
    op=equal,
    num_items=COUNT,
)
wanted, wanted_at = np.unique(sorted_values.get(), return_index=True)
same("unique keys", keys[: int(kept[0])], wanted)
same("unique items", items[: int(kept[0])], wanted_at)

starts = cupy.arange(0, COUNT, 1000, dtype=np.int64)
sums = cupy.empty(len(starts), np.int32)
cuda.compute.segmented_reduce(
    d_in=device,
    d_out=sums,
    num_segments=len(starts),
    start_offsets_in=starts,
    end_offsets_in=cupy.minimum(starts + 1000, COUNT),
    op=OpKind.PLUS,
    h_init=start(0),
)
same("segmented sums", sums, np.add.reduceat(values, starts.get()))
print(f"{checked} results: good")
