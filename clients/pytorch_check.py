# SPDX-License-Identifier: Apache-2.0
"""PyTorch's wheel from PyPI: streams, events, copies, graphs, products by cuBLAS, convolutions and recurrent networks by
cuDNN, and functions that torch.compile makes kernels of, through Triton. A transformer and a module with an optimiser
train in such functions; each step agrees with the CPU's. With MILLRACE_KEEP=torch PyTorch's own kernels, which are
machine code, are refused."""

import os

import torch

torch.manual_seed(1)
torch.backends.cudnn.allow_tf32 = False
WIDTH, HEADS, WORDS, LENGTH, BATCH, STEPS = 32, 4, 50, 16, 8, 8


def near(name, got, wanted, limit=1e-4):
    error = ((got.cpu() - wanted).abs() / (1 + wanted.abs())).max().item()
    assert error <= limit, f"{name}: {error}"


def streams():
    """Copies and products in two streams, ordered by events; pinned memory; a graph that is replayed."""
    a = torch.randn(200, 200).pin_memory()
    first, second, copied, begin, end = (
        torch.cuda.Stream(),
        torch.cuda.Stream(),
        *[torch.cuda.Event(enable_timing=True) for _ in range(3)],
    )
    with torch.cuda.stream(first):
        begin.record()
        device = a.to("cuda", non_blocking=True)
        copied.record()
    with torch.cuda.stream(second):
        second.wait_event(copied)
        product = device @ device
        back = torch.empty(200, 200, pin_memory=True)
        back.copy_(product, non_blocking=True)
        end.record()
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) > 0
    near("two streams", back, a @ a)
    graph, result = torch.cuda.CUDAGraph(), torch.empty(200, 200, device="cuda")
    with torch.cuda.graph(graph):
        torch.mm(device, device, out=result)
    device.copy_(torch.eye(200))
    graph.replay()
    near("a graph", result, torch.eye(200))
    assert torch.equal(torch.zeros(7, device="cuda").cpu(), torch.zeros(7))


def sleeping():
    """`torch.cuda._sleep`, with which programs hold a stream up, also in a graph. No clock here has 10 GHz."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    held, graph, x = torch.cuda.Stream(), torch.cuda.CUDAGraph(), torch.zeros(3, device="cuda")
    held.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(held):
        begin.record()
        torch.cuda._sleep(100_000_000)
        end.record()
    end.synchronize()
    assert begin.elapsed_time(end) >= 10
    with torch.cuda.graph(graph):
        torch.cuda._sleep(100_000_000)
        x += 1
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    assert begin.elapsed_time(end) >= 10 and x.tolist() == [1, 1, 1]


def libraries():
    x, w = torch.randn(2, 3, 12, 10), torch.randn(5, 3, 3, 3)
    near(
        "convolution",
        torch.nn.functional.conv2d(x.cuda(), w.cuda(), stride=2),
        torch.nn.functional.conv2d(x, w, stride=2),
    )
    a = torch.randn(4, 30, 20)
    near("batched products", torch.bmm(a.cuda(), a.transpose(1, 2).cuda()), torch.bmm(a, a.transpose(1, 2)))
    near("a kernel by NVRTC", torch.special.bessel_j0(a.cuda()), torch.special.bessel_j0(a))


def recurrent():
    """cuDNN's networks with their gradients. (With batch_first a kernel of PyTorch's turns the input.)"""
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        for options in ({}, {"bidirectional": True}, {"bias": False}):
            name = f"{kind.__name__} {options}"
            host, device = (kind(6, 8, num_layers=2, **options) for _ in range(2))
            device.load_state_dict(host.state_dict())
            device = device.cuda()
            x = torch.randn(5, 4, 6)
            wanted, got = host(x)[0], device(x.cuda())[0]
            near(name, got.detach(), wanted.detach(), 1e-5)
            above = torch.randn_like(wanted)
            wanted.backward(above)
            got.backward(above.cuda())
            for of_host, of_device in zip(host.parameters(), device.parameters()):
                near(f"gradient of {name}", of_device.grad, of_host.grad)


def functions():
    """What Inductor makes of one expression each."""
    a, i = torch.randn(64, 96), torch.randint(0, 64, (40,))
    cases = {
        "elements": lambda a, i: torch.sin(a) * a.exp() + a.abs().sqrt(),
        "softmax": lambda a, i: torch.softmax(a, -1),
        "norm": lambda a, i: torch.nn.functional.layer_norm(a, (96,)),
        "sums": lambda a, i: (a.sum(0), a.mean(1), a.amax(), a.argmax(1)),
        "running sum": lambda a, i: a.cumsum(1),
        "gather": lambda a, i: a[i] * 2,
        "scatter": lambda a, i: torch.zeros_like(a).index_add(0, i, a[i]),
        "sorted": lambda a, i: a.sort(1)[0],
        "half": lambda a, i: (a.half() @ a.half().T).float() / 16,
    }
    for name, function in cases.items():
        got, wanted = torch.compile(function)(a.cuda(), i.cuda()), function(a, i)
        for g, w in zip(*[[r] if torch.is_tensor(r) else r for r in (got, wanted)]):
            near(name, g, w, 2e-3 if name == "half" else 1e-5)


def weights():
    shapes = {
        "word": (WORDS, WIDTH),
        "place": (LENGTH, WIDTH),
        "qkv": (WIDTH, 3 * WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
        "last": (WIDTH, WORDS),
    }
    return {name: torch.randn(shape) * 0.1 for name, shape in shapes.items()}


def loss(w, text):
    norm = lambda x: torch.nn.functional.layer_norm(x, (WIDTH,))
    x = w["word"][text] + w["place"]
    q, k, v = (norm(x) @ w["qkv"]).reshape(BATCH, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
    scores = scores.masked_fill(torch.ones(LENGTH, LENGTH, dtype=torch.bool, device=text.device).triu(1), -1e9)
    x = x + (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH) @ w["out"]
    x = x + torch.nn.functional.gelu(norm(x) @ w["up"]) @ w["down"]
    return torch.nn.functional.cross_entropy((norm(x) @ w["last"])[:, :-1].flatten(0, 1), text[:, 1:].flatten())


def step(w, text):
    slopes, value = torch.func.grad_and_value(loss)(w, text)
    return {name: w[name] - 0.5 * slopes[name] for name in w}, value


def transformer():
    text, w = torch.randint(0, WORDS, (BATCH, LENGTH)), weights()
    on_device, theirs, compiled, losses = (
        {name: a.cuda() for name, a in w.items()},
        text.cuda(),
        torch.compile(step),
        [],
    )
    for _ in range(STEPS):
        on_device, got = compiled(on_device, theirs)
        w, wanted = step(w, text)
        near("the transformer's loss", got, wanted, 1e-3)
        losses.append(got.item())
    print("losses", [f"{value:.5f}" for value in losses])
    assert losses[-1] < 0.95 * losses[0], "the transformer does not learn"


def module():
    """A module, its backward() and an optimiser, each compiled."""
    x, y = torch.randn(32, 10), torch.arange(32) % 3
    models = []
    for device in ("cuda", "cpu"):
        torch.manual_seed(2)
        model = torch.nn.Sequential(
            torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 3)
        ).to(device)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        forward = lambda x, y, model=model: torch.nn.functional.cross_entropy(model(x), y)
        if device == "cuda":
            forward, optimiser.step = torch.compile(forward), torch.compile(optimiser.step)
        losses = []
        for _ in range(STEPS):
            value = forward(x.to(device), y.to(device))
            value.backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value.item())
        models.append(losses)
    near("the module's losses", torch.tensor(models[0]), torch.tensor(models[1]), 1e-3)
    assert models[0][-1] < models[0][0], "the module does not learn"


def refused():
    """A kernel of PyTorch's own: the error that CUDA has for it, and what can run goes on."""
    a = torch.ones(4).cuda()
    try:
        a + 1
    except RuntimeError as error:
        assert "no kernel image is available" in str(error), error
    else:
        raise AssertionError("a kernel of machine code ran")
    near("after the error", a, torch.ones(4))


assert torch.cuda.is_available()
print(torch.__version__, torch.cuda.get_device_name(), torch.cuda.get_device_capability())
kept = os.environ.get("MILLRACE_KEEP") == "torch"
parts = (streams, refused) if kept else (streams, sleeping, libraries, recurrent, functions, module, transformer)
for part in parts:
    part()
    print(part.__name__, "is right", flush=True)
print("all is right")
