# SPDX-License-Identifier: Apache-2.0
"""Small programs after JAX's guides and tutorials, each on the device beside JAX's own CPU backend.

Closes with "N passed, N failed". Names as arguments choose programs.
"""

from functools import partial

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import lax
from jax.experimental import sparse
from jax.experimental.ode import odeint
from programs import falls, program, run_programs
from programs import numbers as host_numbers


def numbers(*shape, seed=1):
    return jnp.asarray(host_numbers(*shape, seed=seed))


@program()
def eager():
    """Operations outside of jit, each a kernel."""
    x = numbers(30, 7)
    return (
        x + 1,
        x @ x.T,
        jnp.where(x > 0, x, -x),
        x.at[3, 2].set(5),
        x.at[:, 1].add(2),
        x[::3, ::-1],
        jnp.concatenate([x, x], 1),
        x.astype(jnp.int32),
    )


@program()
def derivatives():

    def f(x):
        return jnp.sum(jnp.sin(x) * x**3)

    x, v = numbers(6), numbers(6, seed=2)
    return (
        jax.grad(f)(x),
        jax.hessian(f)(x),
        jax.jvp(f, (x,), (v,)),
        jax.vjp(jnp.tanh, x)[1](v),
        jax.jacfwd(jnp.cumsum)(x),
        jax.jacrev(lambda a: a[:, None] * a)(x),
        jax.linearize(f, x)[1](v),
    )


@program()
def custom_derivatives():

    @jax.custom_vjp
    def clipped(x):
        return x**2

    clipped.defvjp(lambda x: (x**2, x), lambda x, g: (jnp.clip(2 * x * g, -0.5, 0.5),))

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1 + jnp.exp(x))

    log1pexp.defjvp(lambda p, t: (log1pexp(*p), (1 - 1 / (1 + jnp.exp(p[0]))) * t[0]))
    x = numbers(9)
    return jax.grad(lambda x: clipped(x).sum())(x), jax.vmap(jax.grad(log1pexp))(x)


@program()
def vectorised():
    a, b = numbers(5, 4, 3), numbers(5, 3)
    return (
        jax.vmap(jnp.dot)(a, b),
        jax.vmap(jnp.outer, (None, 0))(b[0], b),
        jax.vmap(jax.vmap(jnp.sum))(a),
        jax.vmap(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(b[:, 0]),
    )


@program()
def control_flow():
    x = numbers(12, 3)
    steps = lax.while_loop(
        lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (27, 0)
    )
    return (
        steps,
        lax.fori_loop(0, 12, lambda i, s: s * 0.5 + x[i], jnp.zeros(3)),
        lax.scan(lambda c, r: (c * 0.9 + r, c.sum()), jnp.zeros(3), x),
        lax.switch(2, [jnp.sin, jnp.cos, jnp.tanh], x),
        lax.map(lambda r: r @ r, x),
        lax.associative_scan(jnp.maximum, x),
        jax.jit(lambda n: lax.fori_loop(0, n, lambda i, s: s + i, 0))(10),
        jax.grad(lambda x: lax.scan(lambda c, r: (jnp.tanh(c + r), c), jnp.zeros(3), x)[0].sum())(x),
    )


@program()
def rematerialised():
    w = numbers(4, 8, 8)

    @jax.checkpoint
    def layer(x, w):
        return jnp.tanh(x @ w)

    def loss(w):
        x = jnp.ones((5, 8))
        for i in range(4):
            x = layer(x, w[i])
        return (x**2).sum()

    return jax.value_and_grad(loss)(w)


@program()
def reductions():
    x = numbers(3, 40, 50)
    return (
        x.sum(1),
        x.max(2),
        x.min(),
        x.argmax(1),
        x.argmin(2),
        x.mean((0, 2)),
        x.std(1),
        jnp.median(x, 1),
        jnp.quantile(x, 0.3, axis=2),
        jsp.special.logsumexp(x, 1),
        jnp.cumsum(x, 1),
        jnp.cumprod(x[:, :5], 1),
        lax.cummax(x, 1),
        (x > 2).any(1),
        jnp.prod(x[:, :4], 1),
        jnp.nanmax(x),
        jnp.ptp(x, 0),
        jnp.linalg.norm(x, axis=(1, 2)),
        jnp.histogram(x, 10)[0],
        lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3), (1, 2, 2), "SAME"),
    )


@program()
def sorting():
    x, i = numbers(20, 33), jnp.asarray(np.random.default_rng(2).integers(0, 9, 60))
    return (
        jnp.sort(x, 1),
        jnp.argsort(x, 0),
        lax.top_k(x, 4),
        jnp.unique(i),
        jnp.bincount(i, length=9),
        jnp.searchsorted(jnp.sort(x[0]), x[1]),
        jnp.lexsort((i, i[::-1])),
        lax.sort((i, jnp.arange(60)), num_keys=1),
        jnp.partition(x, 3),
        jax.ops.segment_sum(x[0], i[:33], 9),
        jax.ops.segment_max(x[0], i[:33], 9),
        jnp.nonzero(i > 4),
        jnp.sort(i.astype(jnp.uint8), descending=True),
        jnp.sort(x.astype(jnp.bfloat16), 1).astype(jnp.float32),
    )


@program()
def indices():
    x, i = numbers(30, 7), jnp.array([3, 0, 29, 3, 11])
    return (
        x[i],
        x[i, i % 7],
        jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
        x.at[i].add(1),
        x.at[i].max(0),
        x.at[i].mul(2),
        lax.dynamic_slice(x, (5, 1), (3, 4)),
        lax.dynamic_update_slice(x, jnp.zeros((3, 4)), (5, 1)),
        jnp.roll(x, 3, 0),
        jnp.flip(x),
        jnp.pad(x, ((1, 2), (0, 1)), "reflect"),
        jnp.tile(x, (2, 1)),
        jnp.repeat(x, 2, 1),
        jnp.triu(x[:7]),
        jnp.diag(x[0]),
        jax.nn.one_hot(i, 30),
        x.at[40].get(mode="fill", fill_value=7),
        jnp.choose(i % 2, [i, -i]),
        jnp.select([x > 1, x < -1], [x, -x], 0),
    )


@program(2e-4)
def functions():
    x = numbers(1000)
    inside, above = jnp.tanh(x), jnp.abs(x) + 0.01
    s = jsp.special
    return (
        [
            f(x)
            for f in (
                jnp.sin,
                jnp.cos,
                jnp.tan,
                jnp.tanh,
                jnp.sinh,
                jnp.cosh,
                jnp.exp,
                jnp.expm1,
                jnp.exp2,
                s.erf,
                s.erfc,
                s.expit,
                jnp.arcsinh,
                jnp.arctan,
                jnp.floor,
                jnp.round,
                jnp.sign,
                jnp.cbrt,
                jnp.sinc,
                s.ndtr,
                s.i0e,
                s.i1e,
                jax.nn.gelu,
                jax.nn.silu,
                jax.nn.softplus,
            )
        ]
        + [f(inside) for f in (jnp.arcsin, jnp.arccos, jnp.arctanh, s.erfinv)]
        + [
            f(above)
            for f in (jnp.log, jnp.log1p, jnp.log2, jnp.sqrt, lax.rsqrt, s.gammaln, s.digamma, jnp.reciprocal)
        ]
        + [
            jnp.arctan2(x, inside),
            above**x,
            jnp.fmod(x, above),
            jnp.hypot(x, above),
            jnp.nextafter(x, above),
            s.gammainc(above, above[::-1]),
            s.zeta(above + 1.5, above),
            s.betainc(above, above, jnp.abs(inside)),
            jnp.frexp(x),
            jnp.ldexp(x, 3),
            jnp.copysign(above, x),
        ]
    )


@program()
def integers():
    a = np.random.default_rng(3).integers(-1000, 1000, 500)
    results = []
    for kind in ("int8", "int16", "int32", "uint8", "uint32"):
        x, y = jnp.asarray(a.astype(kind)), jnp.asarray((np.abs(a[::-1]) % 50 + 1).astype(kind))
        results += [
            x + y,
            x * y,
            x // y,
            x % y,
            jnp.maximum(x, y),
            x & y,
            x ^ y,
            x << 2,
            x >> 1,
            lax.population_count(x),
            lax.clz(x),
            ~x,
        ]
    return results + [
        jnp.gcd(jnp.abs(a), 36),
        jnp.packbits(jnp.asarray(a > 0)),
        lax.bitcast_convert_type(jnp.asarray(a, jnp.int32), jnp.float32) * 0,
    ]


@program(1e-9)
def doubles():
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(4).standard_normal((20, 20)))
        z = x + 1j * x.T
        return (
            jnp.sin(x),
            x @ x,
            x.sum(1),
            jnp.linalg.inv(x + 9 * jnp.eye(20)),
            z * z,
            jnp.exp(z),
            jnp.abs(z),
            z @ z.conj().T,
            jnp.fft.fft(z),
            jnp.arange(5) // 2,
            jnp.linalg.eigvalsh(x + x.T),
        )


@program(3e-2)
def halves():
    x, results = numbers(40, 40), []
    for kind in (jnp.float16, jnp.bfloat16, jnp.float8_e4m3fn, jnp.float8_e5m2):
        h = x.astype(kind)
        results.append(h.astype(jnp.float32))
        if kind in (jnp.float16, jnp.bfloat16):
            results += [
                r.astype(jnp.float32)
                for r in (h @ h, jax.nn.softmax(h), jnp.tanh(h), h.mean(0), h * h - 1, jnp.exp(h))
            ]
    return results


@program(1e-3)
def linear_algebra():
    m = numbers(3, 24, 24)
    spd = m @ m.transpose(0, 2, 1) + 24 * jnp.eye(24)
    q, r = jnp.linalg.qr(m)
    u, s, v = jnp.linalg.svd(m, full_matrices=False)
    e, w = jnp.linalg.eigh(spd)
    c = jnp.linalg.cholesky(spd)
    lu = jsp.linalg.lu_factor(m[0])
    return (
        c,
        jnp.linalg.inv(spd),
        jnp.linalg.det(spd / 24),
        jnp.linalg.slogdet(spd),
        q @ r,
        s,
        (u * s[:, None]) @ v,
        e,
        (w * e[:, None]) @ w.transpose(0, 2, 1),
        jsp.linalg.solve_triangular(c[0], m[0], lower=True),
        jnp.linalg.solve(spd, m),
        jsp.linalg.lu_solve(lu, m[1]),
        jsp.linalg.cho_solve((c[0], True), m[0]),
        jsp.linalg.expm(m[0] / 50),
        jnp.linalg.pinv(m[0, :, :5]),
        jnp.linalg.matrix_rank(m[0]),
        jnp.linalg.lstsq(m[0], m[1, :, :3])[0],
        jnp.linalg.matrix_power(m[0] / 9, 3),
        jnp.kron(m[0, :3, :3], m[1, :3, :3]),
        jax.grad(lambda a: jnp.linalg.slogdet(a)[1])(spd[0]),
        lax.linalg.tridiagonal_solve(m[0, 0], 4 + jnp.abs(m[0, 1]), m[0, 2], m[1, :, :2]),
        jsp.sparse.linalg.cg(spd[0], m[0, 0])[0],
        jsp.sparse.linalg.gmres(spd[0], m[0, 0])[0],
    )


@program()
def transforms():
    x = numbers(4, 32, 16)
    z = x + 1j * x[::-1]
    return (
        jnp.fft.fft(z),
        jnp.fft.ifft2(z),
        jnp.fft.rfft(x),
        jnp.fft.irfft(jnp.fft.rfft(x)),
        jnp.fft.fftn(z),
        jnp.fft.fftshift(x),
        jnp.fft.hfft(z),
        jnp.fft.rfftn(x),
        jsp.fft.dct(x),
        jsp.signal.convolve(x[0], x[1]),
        jsp.signal.stft(x[0, :, 0], nperseg=8)[2],
    )


@program()
def convolutions():

    def run(x, w, stride, padding, numbers, **options):
        y = lax.conv_general_dilated(x, w, stride, padding, dimension_numbers=numbers, **options)
        return jnp.sin(y).sum(), y

    cases = [
        ((2, 14, 15, 4), (3, 3, 4, 6), (1, 1), "SAME", ("NHWC", "HWIO", "NHWC"), {}),
        ((2, 4, 14, 15), (6, 4, 3, 3), (2, 1), "VALID", ("NCHW", "OIHW", "NCHW"), {}),
        ((2, 14, 15, 4), (3, 3, 2, 6), (1, 1), "SAME", ("NHWC", "HWIO", "NHWC"), {"feature_group_count": 2}),
        ((2, 14, 15, 4), (3, 3, 4, 6), (1, 1), ((2, 1), (0, 3)), ("NHWC", "HWIO", "NHWC"), {"rhs_dilation": (2, 1)}),
        ((2, 7, 8, 4), (3, 3, 4, 6), (1, 1), ((1, 1), (1, 2)), ("NHWC", "HWIO", "NHWC"), {"lhs_dilation": (2, 2)}),
        ((2, 7, 8, 9, 3), (3, 3, 3, 3, 4), (1, 2, 1), "SAME", ("NDHWC", "DHWIO", "NDHWC"), {}),
        ((2, 30, 4), (5, 4, 3), (2,), "SAME", ("NWC", "WIO", "NWC"), {}),
    ]
    results = []
    for shape, of_w, stride, padding, names, options in cases:
        results.append(
            jax.jit(
                jax.value_and_grad(
                    partial(run, stride=stride, padding=padding, numbers=names, **options), (0, 1), has_aux=True
                )
            )(numbers(*shape), numbers(*of_w, seed=2))
        )
    return results


@program()
def random_numbers():
    k, r = jax.random.key(3), jax.random
    a, b, c, d = r.split(k, 4)
    return (
        r.normal(a, (500,)),
        r.uniform(b, (500,)),
        r.randint(c, (500,), 0, 100),
        r.bits(d, (50,)),
        r.permutation(a, 40),
        r.choice(b, 10, (7,), False),
        r.categorical(c, numbers(9, 5)),
        r.truncated_normal(d, -1, 1, (90,)),
        r.bernoulli(a, 0.3, (90,)),
        r.exponential(b, (90,)),
        r.gamma(c, 2.0, (40,)),
        r.beta(d, 2.0, 3.0, (40,)),
        r.poisson(a, 4.0, (40,)),
        r.multivariate_normal(b, jnp.zeros(3), jnp.eye(3), (5,)),
        r.gumbel(c, (9,)),
        r.dirichlet(d, jnp.ones(4), (3,)),
        r.orthogonal(a, 4) @ r.orthogonal(a, 4).T,
        r.normal(r.key(0, impl="rbg"), (3,)) * 0,
    )


@program()
def sparse_matrices():
    dense = jnp.where(jnp.abs(numbers(12, 10)) > 1, numbers(12, 10), 0)
    s, v, m = sparse.BCOO.fromdense(dense), numbers(10), numbers(10, 4)
    c = sparse.BCSR.fromdense(dense)
    return (
        s @ v,
        s @ m,
        (s.T @ numbers(12)),
        jax.jit(lambda s: (s * 2).todense())(s),
        jax.grad(lambda v: (s @ v).sum())(v),
        s.sum(1).todense() if hasattr(s.sum(1), "todense") else s.sum(1),
        c @ v,
        c @ m,
        sparse.sparsify(lambda a, b: a @ b)(s, m),
        sparse.CSR.fromdense(dense) @ v,
    )


@program()
def images():
    x = jnp.asarray(np.random.default_rng(5).random((2, 24, 20, 3)), jnp.float32)
    return [jax.image.resize(x, (2, 30, 11, 3), how) for how in ("nearest", "linear", "cubic", "lanczos3")] + [
        jsp.ndimage.map_coordinates(x[0, ..., 0], [numbers(50) * 4 + 9, numbers(50) * 3 + 8], 1)
    ]


@program()
def host_calls():
    """Callbacks to the host from compiled code, in order."""
    seen = []

    @jax.jit
    def f(x):
        y = jax.pure_callback(lambda a: np.asarray(a) ** 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        jax.debug.callback(lambda a: seen.append(float(a)), y.sum(), ordered=True)
        return jax.experimental.io_callback(
            lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), y, ordered=True
        )

    result = f(numbers(5)), f(numbers(5, seed=2))
    jax.effects_barrier()
    assert len(seen) == 2
    return (*result, jnp.asarray(seen))


@program()
def ahead_of_time():
    """lower(), compile(), export, donated arguments."""

    def f(x, y):
        return jnp.tanh(x) @ y

    x = numbers(8, 8)
    compiled = jax.jit(f).lower(x, x).compile()
    exported = jax.export.export(jax.jit(f), platforms=("cuda", "cpu"))(x, x)
    given = x + 0
    total = jax.jit(lambda a: a * 2 + 1, donate_argnums=0)(given)
    assert given.is_deleted() or jax.default_backend() == "cpu"
    return compiled(x, x), exported.call(x, x), total, compiled.memory_analysis().output_size_in_bytes


@program(1e-3)
def differential_equation():

    def predator(y, t, a, b):
        return jnp.array([a * y[0] - b * y[0] * y[1], 0.3 * y[0] * y[1] - y[1]])

    t = jnp.linspace(0, 3, 20)
    return odeint(predator, jnp.array([2.0, 1.0]), t, 1.1, 0.4), jax.grad(
        lambda a: odeint(predator, jnp.array([2.0, 1.0]), t, a, 0.4)[-1, 0]
    )(1.1)


def adam(loss, w, steps, rate=1e-2):
    zeros = jax.tree.map(jnp.zeros_like, w)

    @jax.jit
    def step(i, w, m, v):
        value, g = jax.value_and_grad(loss)(w)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        w = jax.tree.map(
            lambda w, m, v: w - rate * (m / (1 - 0.9**i)) / (jnp.sqrt(v / (1 - 0.999**i)) + 1e-8), w, m, v
        )
        return value, w, m, v

    values, m, v = [], zeros, zeros
    for i in range(1, steps + 1):
        value, w, m, v = step(float(i), w, m, v)
        values.append(float(value))
    return jnp.asarray(falls(values))


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


@program(1e-3)
def train_perceptron():
    x, y = numbers(64, 10), jnp.arange(64) % 3
    w = [(numbers(a, b) * 0.3, jnp.zeros(b)) for a, b in ((10, 32), (32, 32), (32, 3))]

    def loss(w):
        h = x
        for a, b in w[:-1]:
            h = jax.nn.relu(h @ a + b)
        return cross_entropy(h @ w[-1][0] + w[-1][1], y)

    return adam(loss, w, 10)


@program(1e-3)
def train_convolutional():
    x, y = numbers(16, 16, 16, 3), jnp.arange(16) % 4
    w = {"a": numbers(3, 3, 3, 8) * 0.2, "b": numbers(3, 3, 8, 16) * 0.1, "c": numbers(16, 4) * 0.3}

    def loss(w):

        def layer(h, w):
            h = lax.conv_general_dilated(h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.relu((h - h.mean((0, 1, 2))) / jnp.sqrt(h.var((0, 1, 2)) + 1e-5))
            return lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

        return cross_entropy(layer(layer(x, w["a"]), w["b"]).mean((1, 2)) @ w["c"], y)

    return adam(loss, w, 8)


@program(1e-3)
def train_recurrent():
    x, y = numbers(16, 10, 6), jnp.arange(16) % 3
    w = {"i": numbers(6, 48) * 0.3, "h": numbers(12, 48) * 0.3, "o": numbers(12, 3) * 0.3}

    def loss(w):

        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ w["i"] + h @ w["h"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = jnp.zeros((16, 12)), jnp.zeros((16, 12))
        return cross_entropy(lax.scan(cell, start, x.transpose(1, 0, 2))[0][0] @ w["o"], y)

    return adam(loss, w, 8)


@program(1e-3)
def train_autoencoder():
    """Variational: random numbers inside the step."""
    x = numbers(32, 20)
    w = {"a": numbers(20, 8) * 0.2, "b": numbers(4, 20) * 0.2}

    def loss(w):
        mean, spread = jnp.split(x @ w["a"], 2, 1)
        z = mean + jnp.exp(spread / 2) * jax.random.normal(jax.random.key(1), mean.shape)
        return ((z @ w["b"] - x) ** 2).mean() - 0.05 * (1 + spread - mean**2 - jnp.exp(spread)).mean()

    return adam(loss, w, 8)


@program(1e-3)
def fit_gaussian_process():
    x = jnp.linspace(0, 6, 25)
    y = jnp.sin(x) + 0.1 * numbers(25)

    def loss(w):
        k = jnp.exp(w[0]) * jnp.exp(-((x[:, None] - x) ** 2) / (2 * jnp.exp(w[1]))) + (
            jnp.exp(w[2]) + 1e-4
        ) * jnp.eye(25)
        c = jnp.linalg.cholesky(k)
        a = jsp.linalg.cho_solve((c, True), y)
        return 0.5 * y @ a + jnp.log(jnp.diag(c)).sum()

    return adam(loss, jnp.array([0.0, 0.0, -2.0]), 8, 0.05)


@program(1e-3)
def molecules():
    """Lennard-Jones particles, by the gradient of their energy, in a scan."""
    p = jnp.stack(jnp.meshgrid(*[jnp.arange(3.0)] * 3), -1).reshape(-1, 3) * 1.2

    def energy(p):
        d = p[:, None] - p
        r = (d**2).sum(-1) + 100 * jnp.eye(27)
        return 2 * (1 / r**6 - 1 / r**3).sum()

    def step(state, _):
        p, v = state
        v = v - 0.002 * jax.grad(energy)(p)
        return (p + 0.002 * v, v), energy(p)

    return jax.jit(lambda p: lax.scan(step, (p, jnp.zeros_like(p)), length=100))(p)


@program()
def cellular_automaton():

    def step(board, _):
        count = jsp.signal.convolve(board, jnp.ones((3, 3)), "same") - board
        return ((count > 2.5) & (count < 3.5) | (board > 0) & (count > 1.5) & (count < 2.5)).astype(
            jnp.float32
        ), board.sum()

    return lax.scan(step, (numbers(32, 32) > 0.5).astype(jnp.float32), length=20)


def on(platform):
    """Runs a program there."""

    def run_one(function):
        jax.config.update("jax_default_device", jax.devices(platform)[0])
        return [np.asarray(r) for r in jax.tree.leaves(function())]

    return run_one


assert jax.devices()[0].platform == "gpu", jax.devices()
jax.config.update("jax_default_matmul_precision", "highest")  # products of floats, not of TF32, which GPUs prefer
run_programs(on("cuda"), on("cpu"))
