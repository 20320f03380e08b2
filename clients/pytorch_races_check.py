# SPDX-License-Identifier: Apache-2.0
"""Faults of order in PyTorch programs, each beside its mended twin: millrace check finds the one, and nothing in the other.

pytorch_races_check.py MILLRACE     runs them all; closes with "N passed, N failed"
pytorch_races_check.py NAME [mended]
"""

import subprocess
import sys

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def tensor_of_another_stream(torch, mended):
    a, b, given = torch.cuda.Stream(), torch.cuda.Stream(), torch.ones(1 << 19, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        x = given.tanh()
    if mended:
        b.wait_stream(a)
    with torch.cuda.stream(b):
        x.mul(2)


@program
def event_recorded_too_early(torch, mended):
    a, b, event = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Event()
    x = torch.zeros(1 << 14, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        if not mended:
            event.record()
        x.add_(1)
        if mended:
            event.record()
    b.wait_event(event)
    with torch.cuda.stream(b):
        x.exp()


@program
def memory_given_back_too_early(torch, mended):
    """Another stream still reads what the allocator hands out again."""
    other = torch.cuda.Stream()
    x = torch.randn(1 << 16, device="cuda")
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        y = x * 2
    if mended:
        x.record_stream(other)
    place = x.data_ptr()
    del x
    z = torch.empty(1 << 16, device="cuda").fill_(3)
    assert mended or z.data_ptr() == place, "the allocator took other memory"
    torch.cuda.synchronize()
    return y


@program
def source_changed_during_its_copy(torch, mended):
    copying = torch.cuda.Stream()
    x = torch.ones(1 << 16, device="cuda").mul(2)
    host = torch.empty(1 << 16, pin_memory=True)
    copying.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copying):
        host.copy_(x, non_blocking=True)
    if mended:
        torch.cuda.current_stream().wait_stream(copying)
    x.add_(1)


@program
def product_beside_its_operand(torch, mended):
    """A product by cuBLAS, whose operand another stream still changes."""
    other = torch.cuda.Stream()
    a = torch.randn(128, 128, device="cuda")
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        a.mul_(2)
    if mended:
        torch.cuda.current_stream().wait_stream(other)
    a @ a


@program
def halves_that_overlap(torch, mended):
    """Two streams work on parts of one tensor, which have one row in common unless mended."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(64, 512, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        x[: 32 if mended else 33].add_(1)
    with torch.cuda.stream(b):
        x[32:].mul_(2)


@program
def columns_beside_each_other(torch, mended):
    """The same with columns, whose bytes lie in turns."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(64, 512, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        x[:, : 256 if mended else 257].add_(1)
    with torch.cuda.stream(b):
        x[:, 256:].mul_(2)


@program
def graph_beside_its_input(torch, mended):
    """A captured step reads an input that another stream fills."""
    filling, given, graph = torch.cuda.Stream(), torch.zeros(1 << 12, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = given.mul(2).add(1)
    torch.cuda.synchronize()
    with torch.cuda.stream(filling):
        given.fill_(4)
    if mended:
        torch.cuda.current_stream().wait_stream(filling)
    graph.replay()
    torch.cuda.synchronize()
    return result


@program
def buffers_in_turn(torch, mended):
    """A stream fills two buffers in turn, and is not told when the other one has used them. Other operators have run
    since."""
    copying, out = torch.cuda.Stream(), torch.zeros(1 << 14, device="cuda")
    given = [torch.full((1 << 14,), float(i)).pin_memory() for i in range(4)]
    buffers, used = [torch.empty(1 << 14, device="cuda") for _ in "ab"], [torch.cuda.Event() for _ in "ab"]
    torch.cuda.synchronize()
    for i, host in enumerate(given):
        with torch.cuda.stream(copying):
            if mended:
                copying.wait_event(used[i % 2])
            buffers[i % 2].copy_(host, non_blocking=True)
            ready = copying.record_event()
        torch.cuda.current_stream().wait_event(ready)
        out.add_(buffers[i % 2])
        used[i % 2].record()


@program
def rows_by_index(torch, mended):
    """A stream gathers rows of a table, of which another one changes one (unless mended, one that nobody gathers)."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    table, chosen = torch.zeros(1000, 64, device="cuda"), torch.tensor([3, 700, 41, 3], device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        table[chosen]
    with torch.cuda.stream(b):
        table[42 if mended else 41].fill_(1)


@program
def embedding_beside_its_training(torch, mended):
    """An optimizer's step changes the table while another stream looks up words."""
    looking, words = torch.cuda.Stream(), torch.tensor([[1, 2], [900, 4]], device="cuda")
    table = torch.nn.Embedding(1000, 32, device="cuda")
    step = torch.optim.SGD(table.parameters(), lr=0.1)
    table(words).sum().backward()
    looking.wait_stream(torch.cuda.current_stream())
    step.step()
    if mended:
        looking.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(looking), torch.no_grad():
        table(words)


@program
def elements_by_index(torch, mended):
    """Two streams scatter into one tensor; one column is in both lists, unless mended."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.zeros(64, 128, device="cuda")
    left = torch.arange(64, device="cuda").repeat(64, 1)
    right = torch.arange(64 if mended else 63, 127, device="cuda").repeat(64, 1)
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        x.scatter_(1, left, 1.0)
    with torch.cuda.stream(b):
        x.scatter_add_(1, right, torch.ones(right.size(), device="cuda"))


@program
def places_by_mask(torch, mended):
    """A masked fill beside a gather: they meet in one element, unless mended."""
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    x, mask = torch.zeros(100, 100, device="cuda"), torch.zeros(100, 100, dtype=torch.bool, device="cuda")
    mask[50, 51] = True
    place = torch.full((100, 1), 50 if mended else 51, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(a):
        x.masked_fill_(mask, 7)
    with torch.cuda.stream(b):
        x.gather(1, place)


@program
def index_changed_too_early(torch, mended):
    """The index itself is written while a gather reads it."""
    other = torch.cuda.Stream()
    table, index = torch.zeros(100, 8, device="cuda"), torch.arange(50, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(other):
        table.index_select(0, index)
    if mended:
        torch.cuda.current_stream().wait_stream(other)
    index.zero_()


def found(command, name, *more):
    """How many races millrace check reports."""
    done = subprocess.run([*command, name, *more], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert "millrace check: " in said and "Traceback" not in said, said
    races = [line for line in said.splitlines() if line.endswith("[race]")]
    assert (done.returncode != 0) == bool(races), said
    assert all(f"{__file__.rsplit('/', 1)[-1]}:" in line for line in races), said
    return len(races)


def main(millrace):
    command, passed = [millrace, "check", "--error-exitcode", "9", "--", sys.executable, __file__], 0
    for name in PROGRAMS:
        try:
            faulty, mended = found(command, name), found(command, name, "mended")
            assert faulty > 0 and mended == 0, f"{faulty} races in the program, {mended} in its twin"
            passed += 1
            print(f"passed: {name}", flush=True)
        except AssertionError as fault:
            print(f"FAILED: {name}: {fault}", flush=True)
    print(f"{passed} passed, {len(PROGRAMS) - passed} failed")
    sys.exit(passed != len(PROGRAMS))


if sys.argv[1] in PROGRAMS:
    import torch

    PROGRAMS[sys.argv[1]](torch, "mended" in sys.argv)
    torch.cuda.synchronize()
else:
    main(sys.argv[1])
