# SPDX-License-Identifier: Apache-2.0
"""PyTorch on two devices: copies, DataParallel, training in two processes by NCCL (DistributedDataParallel), and a tensor
of one process that another one changes. Run with MILLRACE_DEVICES=2."""

import os

import torch
import torch.distributed
import torch.multiprocessing
from torch import nn


def copies():
    a = torch.arange(1000.0, device="cuda:1")
    b = (a * 2).to("cuda:0") + 1
    assert b.device.index == 0 and torch.equal(b.cpu(), torch.arange(1000.0) * 2 + 1)
    try:
        a + b
    except RuntimeError as error:
        assert "two devices" in str(error), error
    else:
        raise AssertionError("tensors of two devices were added")
    torch.manual_seed(1)
    module = nn.DataParallel(nn.Linear(8, 3).cuda())
    x = torch.randn(6, 8, device="cuda")
    module(x).sum().backward()
    assert torch.allclose(module.module.weight.grad, x.sum(0).expand(3, 8), atol=1e-5)


def step(module, optimiser, x):
    optimiser.zero_grad()
    value = module(x).square().mean()
    value.backward()
    optimiser.step()


def rank(number, count, port):
    """Trains on its half of the data; the result is that of one process with all of it."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(number)
    torch.distributed.init_process_group("nccl", rank=number, world_size=count)
    torch.manual_seed(0)
    x, plain = torch.randn(8, 16), nn.Linear(16, 2)
    module = nn.parallel.DistributedDataParallel(nn.Linear(16, 2).cuda(), device_ids=[number])
    module.module.load_state_dict(plain.state_dict())
    optimisers = [torch.optim.SGD(each.parameters(), 0.1) for each in (module, plain)]
    for _ in range(5):
        step(module, optimisers[0], x[number::count].cuda())
        step(plain, optimisers[1], x)
    assert torch.allclose(module.module.weight.cpu(), plain.weight, atol=1e-5)
    total = torch.full((5,), number + 1.0, device="cuda")
    torch.distributed.all_reduce(total)
    assert total.tolist() == [3.0] * 5, total
    torch.distributed.destroy_process_group()


def other_process(queue, changed, seen):
    x = queue.get()
    x.add_(5)
    torch.cuda.synchronize()
    changed.set()
    seen.wait(120)
    del x


def processes():
    context = torch.multiprocessing.get_context("spawn")
    queue, changed, seen = context.Queue(), context.Event(), context.Event()
    child = context.Process(target=other_process, args=(queue, changed, seen))
    child.start()
    x = torch.ones(4, device="cuda")
    queue.put(x)
    assert changed.wait(120)
    torch.cuda.synchronize()
    assert x.tolist() == [6.0] * 4, x
    seen.set()
    child.join()
    assert child.exitcode == 0


def training():
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(rank, (2, port), nprocs=2)


if __name__ == "__main__":
    assert torch.cuda.device_count() == 2, torch.cuda.device_count()
    for part in (copies, training, processes):
        part()
        print(part.__name__, "is right", flush=True)
    print("all is right")
