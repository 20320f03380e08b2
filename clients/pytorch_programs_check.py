# SPDX-License-Identifier: Apache-2.0
"""Small programs after PyTorch's tutorials, each on the device beside the CPU.

Closes with "N passed, N failed". Names as arguments choose programs.
"""

import io
import math
import threading

import numpy as np
import torch
import torch.nn.functional as F
from programs import falls, program, run_programs
from programs import numbers as host_numbers
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

PLACE = "cpu"


def numbers(*shape, seed=1, grad=False):
    return torch.from_numpy(host_numbers(*shape, seed=seed)).to(PLACE).requires_grad_(grad)


def placed(make, seed=3):
    """A module whose parameters are the same in both places."""
    torch.manual_seed(seed)
    return make().to(PLACE)


def labels(count, classes, seed=5):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, classes, count)).to(PLACE)


def train(module, x, y, optimiser, steps=8, loss=F.cross_entropy):
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        value = loss(module(x), y)
        value.backward()
        optimiser.step()
        losses.append(value.item())
    return torch.tensor(falls(losses))


@program()
def tensors():
    x = torch.arange(24, device=PLACE).view(2, 3, 4)
    y = numbers(5, 6)
    filled = torch.full((2, 2), 7.0, device=PLACE)
    filled[0] = torch.tensor([1.0, 2.0])
    return (
        x.permute(2, 0, 1),
        x.float().mean(1),
        torch.cat([y, y.flip(0)]),
        y[:, ::2].clone(),
        filled,
        y.unfold(1, 3, 2),
        y.tril(),
        y.roll(2, 1),
        torch.eye(3, device=PLACE),
    )


@program()
def autograd():
    x, y = numbers(4, 5, grad=True), numbers(5, 3, seed=2, grad=True)
    z = (torch.tanh(x @ y) ** 2).sum() + torch.logsumexp(x, 1).mean()
    first = torch.autograd.grad(z, (x, y), create_graph=True)
    second = torch.autograd.grad(first[0].pow(2).sum(), (x, y))
    return (z, *first, *second)


@program()
def own_function():
    class Clipped(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x.clamp(-1, 1)

        @staticmethod
        def backward(context, gradient):
            return gradient * (context.saved_tensors[0].abs() < 1)

    x = numbers(30, grad=True)
    (Clipped.apply(x) * torch.arange(30, device=PLACE)).sum().backward()
    return (x.grad,)


@program()
def indices():
    x, i = numbers(8, 6), labels(12, 8)
    y = x.clone()
    y[i] = 0
    y.index_add_(0, i, torch.ones(12, 6, device=PLACE))
    z = torch.zeros(8, 6, device=PLACE).scatter_add_(0, labels(48, 8).view(8, 6), x)
    return (
        y,
        z,
        x[x > 0.5],
        x.gather(1, labels(16, 6).view(8, 2)),
        x.take(labels(4, 48)),
        torch.where(x > 0, x, -x),
        (x > 1).nonzero(),
        x.masked_fill(x < 0, 9),
        x.index_select(1, labels(3, 6)),
    )


@program()
def reductions():
    x = numbers(7, 33)
    return (
        x.sum(),
        x.mean(0),
        x.std(1),
        x.var(),
        x.prod(1),
        x.amax(0),
        x.min(1).indices,
        x.argmax(),
        x.cumsum(1),
        x.cummax(1)[0],
        x.norm(),
        x.logsumexp(0),
        (x > 0).all(0),
        (x > 0).sum(1),
        x.median(1)[0],
        x.quantile(0.3, 1),
        torch.histc(x, 10),
        x.softmax(1),
        torch.bincount(labels(50, 9)),
    )


@program()
def sorting():
    x, i = numbers(6, 50), labels(64, 9)
    return (
        x.sort(1)[0],
        x.argsort(0),
        x.topk(5)[0],
        x.kthvalue(4, 1)[0],
        i.unique(),
        i.unique(return_inverse=True, return_counts=True)[2],
        torch.searchsorted(x[0].sort()[0], x[1]),
        torch.bucketize(x, torch.linspace(-2, 2, 9, device=PLACE)),
    )


@program(1e-3)
def linear_algebra():
    x, b = numbers(6, 6) + 6 * torch.eye(6, device=PLACE), numbers(6, 2, seed=2)
    s = x @ x.T
    q, r = torch.linalg.qr(x)
    return (
        torch.linalg.solve(x, b),
        torch.linalg.cholesky(s),
        torch.linalg.eigvalsh(s),
        torch.linalg.svdvals(x),
        q @ r,
        torch.linalg.det(x),
        torch.linalg.inv(x),
        torch.linalg.pinv(b),
        torch.linalg.lstsq(x, b).solution,
        torch.matrix_exp(x / 9),
        torch.einsum("ij,jk,lk->il", x, x, x),
        torch.linalg.matrix_norm(x),
        torch.linalg.slogdet(x)[1],
        torch.baddbmm(numbers(3, 4, 5), numbers(3, 4, 6), numbers(3, 6, 5)),
        torch.addmm(b, x, b, beta=2, alpha=0.5),
    )


@program(1e-3)
def transforms():
    x = numbers(4, 64)
    window = torch.hann_window(16, device=PLACE)
    return (
        torch.fft.fft(x),
        torch.fft.irfft(torch.fft.rfft(x)),
        torch.fft.fft2(x),
        torch.fft.fftshift(x),
        torch.stft(x, 16, window=window, return_complex=True),
        torch.istft(torch.stft(x, 16, window=window, return_complex=True), 16, window=window),
    )


@program()
def sparse_matrices():
    places = torch.tensor([[0, 1, 1, 4], [2, 0, 2, 3]], device=PLACE)
    s = torch.sparse_coo_tensor(places, numbers(4), (5, 5))
    d, rows = numbers(5, 3, seed=2), s.to_sparse_csr()
    return (
        s @ d,
        (s * 2).to_dense(),
        torch.sparse.sum(s, 1).to_dense(),
        torch.sparse.softmax(s, 1).to_dense(),
        rows @ d,
        rows.values(),
        (s + s).coalesce().values(),
        s.t().to_dense(),
        torch.sparse.mm(s, s).to_dense(),
    )


@program(3e-2)
def halves():
    x, y = numbers(16, 32).half(), numbers(32, 8).bfloat16()
    return [
        each.float()
        for each in (
            x @ y.half(),
            x.softmax(1),
            F.gelu(x),
            y.sum(0),
            x.exp().clamp(max=10),
            F.layer_norm(x, (32,)),
            x.float().bfloat16() @ y,
        )
    ]


@program()
def integers():
    a, b = labels(40, 1000), labels(40, 7, seed=6) + 1
    return (
        a // b,
        a % b,
        a << b,
        a & b,
        a ^ b,
        ~a,
        torch.gcd(a, b),
        a.to(torch.uint8),
        a.to(torch.int16).cumsum(0),
        (a > b) | (b == 3),
        a.float().long(),
        torch.remainder(-a, b),
        torch.fmod(-a, b),
    )


@program(1e-3)
def functions():
    x = numbers(200)
    p = x.abs() + 0.1
    return (
        [
            f(x)
            for f in (
                torch.sin,
                torch.tanh,
                torch.erf,
                torch.sigmoid,
                torch.expm1,
                torch.round,
                torch.atan,
                torch.sinc,
                torch.special.i0,
                torch.special.ndtr,
            )
        ]
        + [
            f(p)
            for f in (
                torch.log,
                torch.lgamma,
                torch.digamma,
                torch.sqrt,
                torch.rsqrt,
                torch.log1p,
                torch.special.entr,
                torch.special.erfcx,
            )
        ]
        + [
            torch.pow(p, x),
            torch.atan2(x, p),
            torch.hypot(x, p),
            torch.lerp(x, p, 0.3),
            torch.special.zeta(p + 2, p),
            torch.ldexp(x, labels(200, 5)),
            torch.complex(x, p).abs(),
            torch.polar(p, x).real,
        ]
    )


@program(1e-3)
def layers():
    x, image, volume = numbers(4, 12, 16), numbers(2, 4, 12, 12), numbers(1, 2, 6, 6, 6)
    found = []
    for module, given in [
        (nn.Conv1d(12, 6, 3), x),
        (nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2), image),
        (nn.Conv2d(4, 4, 3, groups=4), image),
        (nn.Conv3d(2, 3, 3), volume),
        (nn.ConvTranspose2d(4, 3, 4, stride=2), image),
        (nn.MaxPool2d(3, 2), image),
        (nn.AvgPool2d(2), image),
        (nn.AdaptiveAvgPool2d(5), image),
        (nn.BatchNorm2d(4), image),
        (nn.GroupNorm(2, 4), image),
        (nn.InstanceNorm2d(4), image),
        (nn.LayerNorm(16), x),
        (nn.RMSNorm(16), x),
        (nn.Bilinear(16, 16, 5), (x, x)),
        (nn.Upsample(scale_factor=2, mode="bilinear"), image),
        (nn.PixelShuffle(2), image),
        (nn.Softplus(), x),
        (nn.Hardswish(), x),
        (nn.PReLU(), x),
        (nn.ReflectionPad2d(2), image),
        (nn.LocalResponseNorm(2), image),
        (nn.CosineSimilarity(), (x, x.flip(0))),
    ]:
        module = placed(lambda: module)
        for index, each in enumerate(module.parameters()):
            each.data = numbers(*each.shape, seed=index) * 0.3
        given = [each.clone().requires_grad_() for each in (given if isinstance(given, tuple) else (given,))]
        out = module(*given)
        out.square().sum().backward()
        found += [out, *(each.grad for each in given), *(each.grad for each in module.parameters())]
    return found


@program(1e-3)
def losses():
    x, y, i = numbers(8, 5, grad=True), numbers(8, 5, seed=2), labels(8, 5)
    p = y.sigmoid()
    given = [
        F.mse_loss(x, y),
        F.l1_loss(x, y),
        F.smooth_l1_loss(x, y),
        F.cross_entropy(x, i),
        F.nll_loss(x.log_softmax(1), i),
        F.binary_cross_entropy_with_logits(x, p),
        F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        F.huber_loss(x, y),
        F.multi_margin_loss(x, i),
        F.cosine_embedding_loss(x, y, torch.ones(8, device=PLACE)),
        F.triplet_margin_loss(x, y, y.flip(0)),
        F.gaussian_nll_loss(x, y, p),
        F.poisson_nll_loss(x, p),
        F.cross_entropy(x, p, label_smoothing=0.1),
        F.ctc_loss(x.view(8, 1, 5).log_softmax(2), torch.tensor([[1, 2, 3]]), torch.tensor([8]), torch.tensor([3])),
    ]
    sum(given).backward()
    return (*given, x.grad)


@program(1e-3)
def attention():
    q, k, v = (numbers(2, 4, 10, 8, seed=s, grad=True) for s in (1, 2, 3))
    mask = numbers(10, 10, seed=4)
    found = []
    for options in ({}, {"is_causal": True}, {"attn_mask": mask}, {"attn_mask": mask > -1}, {"scale": 0.2}):
        out = F.scaled_dot_product_attention(q, k, v, **options)
        found += [out, *torch.autograd.grad(out.square().sum(), (q, k, v))]
    grouped = F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    module = placed(lambda: nn.MultiheadAttention(16, 4, batch_first=True))
    out, weights = module(*[numbers(3, 7, 16)] * 3)
    return [*found, grouped, out, weights]


@program(1e-3)
def recurrent_cells():
    x, h, c = numbers(4, 6, grad=True), numbers(4, 5, seed=2), numbers(4, 5, seed=3)
    found = []
    for cell, state in ((nn.LSTMCell(6, 5), (h, c)), (nn.GRUCell(6, 5), h), (nn.RNNCell(6, 5), h)):
        cell = placed(lambda: cell)
        for index, each in enumerate(cell.parameters()):
            each.data = numbers(*each.shape, seed=index) * 0.4
        out = cell(x, state)
        sum(each.square().sum() for each in (out if isinstance(out, tuple) else (out,))).backward()
        found += [*(out if isinstance(out, tuple) else (out,)), *(each.grad for each in cell.parameters())]
    return (*found, x.grad)


@program(1e-3)
def optimisers():
    found = []
    for make in (
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True),
        lambda p: torch.optim.Adam(p, 0.02, amsgrad=True),
        lambda p: torch.optim.AdamW(p, 0.02, foreach=True),
        lambda p: torch.optim.Adam(p, 0.02, fused=True),
        lambda p: torch.optim.RMSprop(p, 0.01),
        lambda p: torch.optim.Adagrad(p, 0.05),
        lambda p: torch.optim.NAdam(p, 0.02),
        lambda p: torch.optim.Adamax(p, 0.02),
        lambda p: torch.optim.Rprop(p, 0.01),
        lambda p: torch.optim.ASGD(p, 0.05),
    ):
        module = placed(lambda: nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3)))
        found.append(train(module, numbers(32, 10), labels(32, 3), make(module.parameters())))
    return found


@program(1e-3)
def second_order_optimiser():
    w = numbers(4, grad=True)
    optimiser = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    x, y = numbers(20, 4, seed=2), numbers(20, seed=3)

    def closure():
        optimiser.zero_grad()
        value = F.mse_loss(x @ w, y) + 0.01 * w.square().sum()
        value.backward()
        return value

    optimiser.step(closure)
    return (w,)


@program(1e-2)
def train_convolutional():
    module = placed(
        lambda: nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(8 * 16, 4),
        )
    )
    found = train(module, numbers(32, 1, 12, 12), labels(32, 4), torch.optim.Adam(module.parameters(), 5e-3))
    module.eval()
    return found, module(numbers(4, 1, 12, 12, seed=8))


@program(1e-2)
def train_transformer():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(20, 32), nn.Embedding(12, 32)
            self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
            self.head = nn.Linear(32, 20)

        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device)
            return self.head(
                self.body(self.words(x) + self.places.weight[: x.size(1)], mask=mask, is_causal=True)
            ).transpose(1, 2)

    module = placed(Model)
    x = labels(16 * 12, 20).view(16, 12)
    return (train(module, x, x.roll(-1, 1), torch.optim.AdamW(module.parameters(), 3e-3)),)


@program(1e-2)
def train_in_mixed_precision():
    module = placed(lambda: nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3)))
    optimiser, scaler = torch.optim.SGD(module.parameters(), 0.1), torch.amp.GradScaler(PLACE, init_scale=128.0)
    x, y, losses = numbers(64, 10), labels(64, 3), []
    for _ in range(6):
        optimiser.zero_grad()
        with torch.autocast(PLACE, torch.bfloat16):
            value = F.cross_entropy(module(x).float(), y)
        scaler.scale(value).backward()
        scaler.unscale_(optimiser)
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        scaler.step(optimiser)
        scaler.update()
        losses.append(value.item())
    return (torch.tensor(falls(losses)),)


@program(1e-2)
def train_adversarial():
    maker, judge = placed(lambda: nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))), placed(
        lambda: nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 1))
    )
    a, b = (torch.optim.Adam(m.parameters(), 2e-3, betas=(0.5, 0.9)) for m in (maker, judge))
    real, noise, found = numbers(64, 2) * 0.5 + 1, numbers(64, 4, seed=2), []
    for _ in range(10):
        b.zero_grad()
        value = F.softplus(-judge(real)).mean() + F.softplus(judge(maker(noise).detach())).mean()
        value.backward()
        b.step()
        a.zero_grad()
        F.softplus(-judge(maker(noise))).mean().backward()
        a.step()
        found.append(value.item())
    return (torch.tensor(found), maker(noise))


@program()
def function_transforms():
    w, x = numbers(3, 4), numbers(6, 4, seed=2)

    def f(w, x):
        return torch.tanh(w @ x).sum()

    return (
        torch.func.grad(f)(w, x[0]),
        torch.func.vmap(torch.func.grad(f), (None, 0))(w, x),
        torch.func.jacrev(lambda x: torch.tanh(w @ x))(x[0]),
        torch.func.hessian(lambda x: f(w, x))(x[0]),
        torch.func.jvp(lambda x: f(w, x), (x[0],), (x[1],))[1],
    )


@program()
def rematerialised():
    module, x = placed(lambda: nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))), numbers(5, 8, grad=True)
    checkpoint(module, x, use_reentrant=False).square().sum().backward()
    return (x.grad, *(each.grad for each in module.parameters()))


@program()
def saved_and_loaded():
    module, file = placed(lambda: nn.Linear(6, 3)), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other = nn.Linear(6, 3).to(PLACE)
    other.load_state_dict(torch.load(file, map_location=PLACE))
    return other(numbers(4, 6)), other.weight


@program()
def batches():
    data = TensorDataset(numbers(50, 3).cpu(), labels(50, 4).cpu())
    return [
        x.to(PLACE, non_blocking=True) * 2 + y.to(PLACE).unsqueeze(1)
        for x, y in DataLoader(data, batch_size=16, pin_memory=PLACE == "cuda")
    ]


@program()
def hooks():
    module, seen = placed(lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU())), []
    module[0].register_forward_hook(lambda m, given, out: seen.append(out.detach()))
    module[0].register_full_backward_hook(lambda m, a, b: seen.append(b[0]))
    module(numbers(3, 4, grad=True)).sum().backward()
    return seen


@program(0.2)
def distributions():
    """Random numbers differ between the places; what they are distributed like does not."""
    torch.manual_seed(1)
    first = torch.randn(20000, device=PLACE)
    torch.manual_seed(1)
    assert torch.equal(first, torch.randn(20000, device=PLACE))
    assert not torch.equal(first, torch.randn(20000, device=PLACE))
    u = torch.rand(20000, device=PLACE)
    assert (
        0 <= u.min()
        and u.max() < 1
        and torch.equal(torch.randperm(100, device=PLACE).sort()[0], torch.arange(100, device=PLACE))
    )
    own = torch.Generator(PLACE).manual_seed(7)
    again = torch.Generator(PLACE).manual_seed(7)
    assert torch.equal(torch.rand(5, device=PLACE, generator=own), torch.rand(5, device=PLACE, generator=again))
    gamma = torch.distributions.Gamma(torch.tensor(2.0, device=PLACE), torch.tensor(3.0, device=PLACE)).sample(
        (20000,)
    )
    kept = F.dropout(torch.ones(20000, device=PLACE), 0.3)
    drawn = torch.multinomial(torch.tensor([0.1, 0.6, 0.3], device=PLACE), 20000, True)
    return (
        first.mean(),
        first.std(),
        u.mean(),
        gamma.mean(),
        kept.mean(),
        torch.bernoulli(u).mean(),
        torch.poisson(torch.full((20000,), 4.0, device=PLACE)).mean(),
        drawn.float().mean(),
        torch.empty(20000, device=PLACE).exponential_(2).mean(),
        torch.randint(0, 10, (20000,), device=PLACE).float().mean(),
    )


@program()
def pipeline():
    """Copies and kernels in several streams, ordered by events."""
    sources = [torch.from_numpy(host_numbers(1 << 14, seed=i)) for i in range(6)]
    if PLACE == "cpu":
        return [s * 2 + 1 for s in sources]
    streams, results, ends = [torch.cuda.Stream() for _ in range(3)], [], []
    for i, source in enumerate(sources):
        with torch.cuda.stream(streams[i % 3]):
            on_device = source.pin_memory().to(PLACE, non_blocking=True) * 2 + 1
            results.append(torch.empty(1 << 14, pin_memory=True))
            results[-1].copy_(on_device, non_blocking=True)
            ends.append(torch.cuda.Event())
            ends[-1].record()
    for end in ends:
        end.synchronize()
    return results


@program(1e-3)
def captured_training():
    """A training step as a graph: forward, backward and optimiser, launched again and again."""
    module, x, y = (
        placed(lambda: nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))),
        numbers(32, 8),
        numbers(32, 1, seed=2),
    )
    optimiser = torch.optim.SGD(module.parameters(), 0.05)

    def step():
        optimiser.zero_grad(set_to_none=True)
        value = F.mse_loss(module(x), y)
        value.backward()
        optimiser.step()
        return value

    if PLACE == "cpu":
        return torch.stack([step().detach() for _ in range(13)])[3:], module[0].weight
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph, found = torch.cuda.CUDAGraph(), []
    with torch.cuda.graph(graph):
        value = step()
    for _ in range(10):
        graph.replay()
        assert not value > 1e9  # a question that PyTorch waits for with Python's lock held
        found.append(value.clone())
    return torch.stack(found), module[0].weight


@program(1e-3)
def captured_layers():
    """Layers and their gradients as graphs, each launched twice."""
    found = []
    for make, shape in (
        (lambda: nn.Conv2d(3, 4, 3), (2, 3, 8, 8)),
        (lambda: nn.LayerNorm(8), (3, 8)),
        (lambda: nn.RMSNorm(8), (3, 8)),
        (lambda: nn.LSTM(4, 5), (3, 2, 4)),
        (lambda: nn.LSTMCell(4, 5), (3, 4)),
        (lambda: nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True), (2, 5, 16)),
    ):
        module, x = placed(make), numbers(*shape)

        def step():
            out = module(x)
            out = out[0] if isinstance(out, tuple) else out
            return out, *torch.autograd.grad(out.square().sum(), list(module.parameters()))

        if PLACE == "cpu":
            found += step()
            continue
        side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            results = step()
        graph.replay()
        for each in results:
            each.detach().zero_()
        graph.replay()
        found += [each.clone() for each in results]
    return found


@program()
def threads():
    found = [None] * 6

    def work(i):
        # `given` lives until the other stream is done: its memory goes back to the default stream.
        x = given = torch.full((500,), float(i), device=PLACE)
        if PLACE == "cuda":
            with torch.cuda.stream(torch.cuda.Stream()):
                torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
                for _ in range(40):
                    x = x * 0.5 + 1
                torch.cuda.current_stream().synchronize()
        else:
            for _ in range(40):
                x = x * 0.5 + 1
        found[i] = x
        del given

    running = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return found


@program(1e-3)
def differential_equation():
    """Waves in a box, by differences and convolution."""
    field, before = torch.zeros(1, 1, 48, 48, device=PLACE), torch.zeros(1, 1, 48, 48, device=PLACE)
    field[0, 0, 24, 24] = 1
    star = torch.tensor([[0.0, 1, 0], [1, -4, 1], [0, 1, 0]], device=PLACE).view(1, 1, 3, 3)
    for _ in range(40):
        field, before = 2 * field - before + 0.2 * F.conv2d(field, star, padding=1), field
    return (field,)


@program(1e-3)
def molecules():
    grid = torch.stack(torch.meshgrid(*[torch.arange(3.0)] * 3, indexing="ij"), -1).reshape(-1, 3).to(PLACE) * 1.2
    place, speed, found = grid.clone(), torch.zeros_like(grid), []
    for _ in range(30):
        place.requires_grad_()
        apart = ((place[:, None] - place) ** 2).sum(-1) + 100 * torch.eye(27, device=PLACE)
        energy = 2 * (apart**-6 - apart**-3).sum()
        (force,) = torch.autograd.grad(energy, place)
        speed = speed - 0.002 * force
        place = (place + 0.002 * speed).detach()
        found.append(energy.detach())
    return torch.stack(found), place


@program(1e-2)
def gaussian_process():
    x = torch.linspace(0, 6, 25, device=PLACE)
    y = x.sin() + 0.1 * numbers(25)
    w = torch.tensor([0.0, 0.0, -2.0], device=PLACE, requires_grad=True)
    optimiser, found = torch.optim.Adam([w], 0.05), []
    for _ in range(8):
        optimiser.zero_grad()
        k = w[0].exp() * torch.exp(-((x[:, None] - x) ** 2) / (2 * w[1].exp())) + (w[2].exp() + 1e-4) * torch.eye(
            25, device=PLACE
        )
        c = torch.linalg.cholesky(k)
        value = (
            0.5 * y @ torch.cholesky_solve(y[:, None], c)[:, 0] + c.diag().log().sum() + 12.5 * math.log(2 * math.pi)
        )
        value.backward()
        optimiser.step()
        found.append(value.item())
    return (torch.tensor(falls(found)),)


def at(place):
    """Runs a program there."""

    def run_one(function):
        global PLACE
        PLACE = place
        return [r.detach().cpu().resolve_conj().numpy() for r in function()]

    return run_one


assert "Millrace" in torch.cuda.get_device_name(), torch.cuda.get_device_name()
run_programs(at("cuda"), at("cpu"))
