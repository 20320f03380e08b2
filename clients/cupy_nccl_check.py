# SPDX-License-Identifier: Apache-2.0
"""CuPy's NCCL on two devices (MILLRACE_DEVICES=2): cupy.cuda.nccl in one process, and cupyx.distributed's NCCLBackend
over two processes, beside NumPy. Its sparse matrices are left out: CuPy 14.2 reads memory there that nobody has written."""

import multiprocessing
import os
import traceback

import numpy as np

SIZE = 1000


def in_one_process():
    import cupy as cp
    from cupy.cuda import nccl

    comms = nccl.NcclCommunicator.initAll([0, 1])
    kinds = {np.float32: nccl.NCCL_FLOAT32, np.float64: nccl.NCCL_FLOAT64, np.int32: nccl.NCCL_INT32,
             np.int8: nccl.NCCL_INT8, np.float16: nccl.NCCL_FLOAT16, np.uint64: nccl.NCCL_UINT64}
    for kind, number in kinds.items():
        mine = [np.arange(SIZE).astype(kind) % 20 + rank for rank in range(2)]
        at = []
        for rank in range(2):
            with cp.cuda.Device(rank):
                at.append(cp.asarray(mine[rank]))
        nccl.groupStart()
        for rank, comm in enumerate(comms):
            with cp.cuda.Device(rank):
                address = at[rank].data.ptr
                comm.allReduce(address, address, SIZE, number, nccl.NCCL_SUM, cp.cuda.Stream.null.ptr)
        nccl.groupEnd()
        for rank in range(2):
            with cp.cuda.Device(rank):
                assert (at[rank].get() == mine[0] + mine[1]).all(), kind
    for comm in comms:
        comm.destroy()


def two(rank, port, results):
    try:
        one_of_two(rank, port, results)
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # CuPy's store of addresses would be waited for


def one_of_two(rank, port, results):
    import cupy as cp
    from cupyx.distributed import init_process_group

    multiprocessing.set_start_method("fork", force=True)  # CuPy's store of addresses can't be sent to a spawned process
    cp.cuda.Device(rank).use()
    group = init_process_group(2, rank, backend="nccl", host="127.0.0.1", port=port)
    x = cp.arange(SIZE, dtype="float32") * (rank + 1)
    out = cp.zeros_like(x)
    group.all_reduce(x, out)
    assert (out == cp.arange(SIZE) * 3).all()
    group.reduce(x, out, root=1, op="max")
    assert rank == 0 or (out == x).all()
    everyone = cp.zeros((2, SIZE), "float32")
    group.all_gather(x, everyone, SIZE)
    assert (everyone == cp.stack([cp.arange(SIZE), cp.arange(SIZE) * 2])).all()
    group.broadcast(out if rank else x, root=0)
    assert rank == 0 or (out == cp.arange(SIZE)).all()
    mine = cp.zeros(SIZE // 2, "float32")
    group.reduce_scatter(x, mine, SIZE // 2)
    assert (mine == 3 * cp.arange(SIZE)[rank * (SIZE // 2):(rank + 1) * (SIZE // 2)]).all()
    group.send_recv(x, out, 1 - rank)
    assert (out == cp.arange(SIZE) * (2 - rank)).all()
    swapped = cp.zeros_like(everyone)
    group.all_to_all(cp.stack([x, x + 1]), swapped)
    assert (swapped == cp.stack([cp.arange(SIZE) + rank, cp.arange(SIZE) * 2 + rank])).all()
    group.barrier()
    group.stop()
    results.put(rank)


def over_two_processes():
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    children = [context.Process(target=two, args=(rank, 13577, results)) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(240)
        assert child.exitcode == 0, f"a process ended with {child.exitcode}"
    assert {results.get(timeout=10) for _ in children} == {0, 1}


if __name__ == "__main__":
    in_one_process()
    over_two_processes()
    print("CuPy's NCCL is right in one process and over two")
