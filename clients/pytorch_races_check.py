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
