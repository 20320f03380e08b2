# SPDX-License-Identifier: Apache-2.0
"""Small programs after TensorFlow's guides and tutorials, each on the device beside TensorFlow's own CPU.

Closes with "N passed, N failed". Names as arguments choose programs.
"""

import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from programs import falls, numbers, program, run_programs

layers = tf.keras.layers


@program()
def gradient_tape():
    """A line through points, by hand."""
    x = tf.constant(numbers(200))
    y = 3 * x + 2 + 0.1 * tf.constant(numbers(200, seed=2))
    w, b = tf.Variable(5.0), tf.Variable(0.0)
    for _ in range(40):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * x + b - y) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
    return w, b, loss


@program()
def second_derivatives():
    x = tf.Variable(numbers(6))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.sin(x) * x**3)
        g = inner.gradient(y, x)
    return g, outer.jacobian(g, x)


@program()
def custom_gradient():

    @tf.custom_gradient
    def clipped(x):
        return x**2, lambda up: tf.clip_by_norm(up * 2 * x, 0.5)

    x = tf.Variable(numbers(9))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(clipped(x))
    return y, tape.gradient(y, x)


@program()
def function_with_loops():
    """Control flow that AutoGraph turns into a graph."""

    @tf.function
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def rows(x):
        out = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
        for i in tf.range(tf.shape(x)[0]):
            out = out.write(i, x[i] * tf.cast(i, tf.float32))
        return out.stack()

    return collatz(tf.constant(27)), rows(numbers(5, 3)), rows(numbers(2, 3))


@program()
def compiled():
    """One function by XLA."""

    @tf.function(jit_compile=True)
    def layer(x, w, b):
        return tf.nn.softmax(tf.nn.gelu(tf.matmul(x, w) + b))

    @tf.function(jit_compile=True)
    def power(m):
        v = tf.ones([tf.shape(m)[0], 1])
        for _ in range(8):
            v = tf.matmul(m, v)
            v /= tf.norm(v)
        return v

    m = numbers(24, 24)
    return layer(numbers(16, 24), m, numbers(24)), power(m @ m.T)


@program()
def reductions():
    x = numbers(3, 40, 50)
    return (
        tf.reduce_max(x, 1),
        tf.reduce_min(x),
        tf.reduce_prod(x[:, :4], 1),
        tf.math.reduce_std(x, 2),
        tf.reduce_logsumexp(x, [0, 2]),
        tf.argmax(x, 2),
        tf.argmin(x, 1),
        tf.math.cumulative_logsumexp(x, 1),
        tf.math.cumprod(x[:, :5], 1),
        tf.reduce_any(x > 3, 1),
    )


@program()
def indices():
    x, i = numbers(30, 7), np.array([3, 0, 29, 3, 11])
    return (
        tf.gather(x, i),
        tf.gather_nd(x, [[1, 2], [3, 4]]),
        tf.scatter_nd(i[:, None], x[:5], [30, 7]),
        tf.tensor_scatter_nd_update(x, [[0], [2]], x[4:6]),
        tf.boolean_mask(x, x[:, 0] > 0),
        tf.where(x > 1),
        tf.one_hot(i, 30),
        tf.math.top_k(x, 3).values,
        tf.math.top_k(x, 3).indices,
        tf.unique(i).y,
        tf.math.bincount(i),
        tf.searchsorted(np.sort(x[:, 0]), x[:4, 1]),
        tf.sort(x, 0, direction="DESCENDING"),
        tf.argsort(x, 1, stable=True),
        tf.reverse(x, [0]),
        tf.roll(x, 3, 0),
        tf.strided_slice(x, [1, 0], [20, 7], [3, 2]),
    )


@program()
def segments():
    x, s = numbers(12, 4), np.array([0, 0, 1, 1, 1, 3, 3, 4, 4, 4, 4, 5])
    return (
        tf.math.segment_sum(x, s),
        tf.math.segment_mean(x, s),
        tf.math.segment_max(x, s),
        tf.math.unsorted_segment_sum(x, s[::-1], 7),
        tf.math.unsorted_segment_prod(x, s, 6),
        tf.math.unsorted_segment_sqrt_n(x, s, 6),
    )


@program()
def shapes():
    x = numbers(4, 6, 8)
    return (
        tf.transpose(x, [2, 0, 1]),
        tf.reshape(x, [-1, 16]),
        tf.concat([x, x], 1),
        tf.stack(tf.unstack(x, axis=1)),
        tf.split(x, 3, 1)[2],
        tf.tile(x, [1, 2, 1]),
        tf.pad(x, [[1, 0], [0, 2], [1, 1]], "REFLECT"),
        tf.nn.space_to_depth(x[..., None], 2),
        tf.linalg.band_part(x, 1, 2),
        tf.linalg.diag(x[0]),
        tf.meshgrid(x[0, 0], x[0, :, 1])[0],
        tf.broadcast_to(x[:, :1], [4, 6, 8]),
        tf.repeat(x, 2, 0),
        tf.sequence_mask([1, 3, 2], 5),
        tf.bitcast(x, tf.int32),
    )


@program(2e-4)
def functions():
    """Elementary functions, over the range that each is defined for."""
    x = numbers(1000)
    inside, above = np.tanh(x), np.abs(x) + 0.01
    m = tf.math
    return (
        [
            f(x)
            for f in (
                m.sin,
                m.cos,
                m.tan,
                m.tanh,
                m.sinh,
                m.cosh,
                m.exp,
                m.expm1,
                m.erf,
                m.erfc,
                m.sigmoid,
                m.softplus,
                m.asinh,
                m.atan,
                m.floor,
                m.round,
                m.sign,
            )
        ]
        + [f(inside) for f in (m.asin, m.acos, m.atanh, m.erfinv)]
        + [f(above) for f in (m.log, m.log1p, m.sqrt, m.rsqrt, m.lgamma, m.digamma, m.reciprocal)]
        + [
            m.atan2(x, inside),
            m.pow(above, x),
            m.floormod(x, above),
            m.igamma(above, above[::-1]),
            m.zeta(above + 1.5, above),
            m.special.bessel_i0e(x),
            tf.nn.elu(x),
            tf.nn.selu(x),
            tf.nn.silu(x),
        ]
    )


@program()
def integers():
    a = np.random.default_rng(3).integers(-1000, 1000, 500)
    results = []
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint32"):
        x = tf.cast(a, kind)
        y = tf.cast(np.abs(a[::-1]) % 50 + 1, kind)
        results += [x + y, x * y, x // y, x % y, tf.maximum(x, y), tf.cast(x > y, tf.int32)]
    i = tf.cast(a, tf.int32)
    return results + [
        tf.bitwise.bitwise_and(i, 255),
        tf.bitwise.bitwise_xor(i, 77),
        tf.bitwise.left_shift(i, 3),
        tf.bitwise.right_shift(i, 2),
        tf.bitwise.invert(i),
    ]


@program()
def doubles_and_complex():
    x = np.random.default_rng(4).standard_normal((20, 20))
    z = tf.complex(x, x.T)
    return (
        tf.sin(x),
        tf.matmul(x, x),
        tf.reduce_sum(x, 1),
        z * z,
        tf.exp(z),
        tf.abs(z),
        tf.math.angle(z),
        tf.matmul(z, z, adjoint_b=True),
        tf.math.conj(z),
    )


@program(2e-2)
def halves():
    x = numbers(40, 40)
    results = []
    for kind in (tf.float16, tf.bfloat16):
        h = tf.cast(x, kind)
        results += [
            tf.cast(r, tf.float32)
            for r in (tf.matmul(h, h), tf.nn.softmax(h), tf.tanh(h), tf.reduce_mean(h, 0), h * h - 1)
        ]
    return results


@program(5e-4)
def linear_algebra():
    m = numbers(3, 24, 24)
    spd = m @ m.transpose(0, 2, 1) + 24 * np.eye(24, dtype="float32")
    q, r = tf.linalg.qr(m)
    s, u, v = tf.linalg.svd(m)
    e, w = tf.linalg.eigh(spd)
    return (
        tf.linalg.cholesky(spd),
        tf.linalg.inv(spd),
        tf.linalg.det(spd / 24),
        tf.linalg.slogdet(spd)[1],
        q @ r,
        s,
        u @ tf.linalg.diag(s) @ tf.transpose(v, [0, 2, 1]),
        e,
        w @ tf.linalg.diag(e) @ tf.transpose(w, [0, 2, 1]),
        tf.linalg.triangular_solve(spd, m),
        tf.linalg.solve(spd, m),
        tf.linalg.lstsq(m, m[:, :, :3], fast=False),
        tf.linalg.expm(m / 50),
        tf.linalg.matrix_power(m, 2) if hasattr(tf.linalg, "matrix_power") else m @ m,
        tf.linalg.trace(m),
        tf.linalg.cross(m[:, :, :3], m[:, :, 3:6]),
        tf.linalg.norm(m, axis=[1, 2]),
    )


@program()
def convolutions():
    """One, two and three dimensions, groups, dilation, transposed, and their gradients."""
    x1, x2, x3 = numbers(2, 30, 4), numbers(2, 14, 15, 4), numbers(2, 7, 8, 9, 4)
    cases = [
        (lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), x1, numbers(3, 4, 6)),
        (lambda x, w: tf.nn.conv2d(x, w, 1, "VALID", dilations=2), x2, numbers(3, 3, 4, 6)),
        (lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), x2, numbers(3, 3, 2, 6)),
        (lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 1, 1], "SAME"), x3, numbers(3, 3, 3, 4, 5)),
        (lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 28, 30, 3], 2), x2, numbers(3, 3, 3, 4)),
        (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), x2, numbers(3, 3, 4, 2)),
        (
            lambda x, w: tf.nn.separable_conv2d(x, w, numbers(1, 1, 4, 3), [1, 1, 1, 1], "SAME"),
            x2,
            numbers(3, 3, 4, 1),
        ),
    ]
    results = []
    for run, x, w in cases:
        x, w = tf.Variable(x), tf.Variable(w)
        with tf.GradientTape() as tape:
            y = run(x, w)
            s = tf.reduce_sum(tf.sin(y))
        results += [y, *tape.gradient(s, [x, w])]
    return results


@program()
def pooling_and_norms():
    x = tf.Variable(numbers(2, 12, 12, 4))
    results = []
    for run in (
        lambda: tf.nn.max_pool2d(x, 2, 2, "VALID"),
        lambda: tf.nn.avg_pool2d(x, 3, 2, "SAME"),
        lambda: tf.nn.lrn(x),
        lambda: tf.nn.l2_normalize(x, -1),
        lambda: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), None, None, 1e-3),
        lambda: layers.LayerNormalization()(x),
        lambda: layers.GroupNormalization(2)(x),
    ):
        with tf.GradientTape() as tape:
            y = run()
            s = tf.reduce_sum(y * y * y)
        results += [y, tape.gradient(s, x)]
    return results


@program()
def losses():
    y, t = numbers(20, 5), np.arange(20) % 5
    one, p = tf.one_hot(t, 5), tf.nn.softmax(numbers(20, 5, seed=2))
    k = tf.keras.losses
    return (
        tf.nn.sparse_softmax_cross_entropy_with_logits(t, y),
        tf.nn.sigmoid_cross_entropy_with_logits(one, y),
        k.categorical_crossentropy(one, p),
        k.KLDivergence()(one, p),
        k.huber(one, y),
        k.hinge(2 * one - 1, y),
        k.cosine_similarity(one, y),
        tf.nn.ctc_loss(np.array([[1, 2, 3]]), numbers(9, 1, 5), np.array([3]), np.array([9]), blank_index=0),
    )


@program()
def images():
    x = tf.constant(np.random.default_rng(5).random((2, 24, 20, 3)), tf.float32)
    i = tf.image
    return (
        i.resize(x, [30, 31]),
        i.resize(x, [11, 9], "nearest"),
        i.resize(x, [40, 30], "bicubic"),
        i.rgb_to_hsv(x),
        i.hsv_to_rgb(x),
        i.adjust_contrast(x, 1.5),
        i.adjust_saturation(x, 0.5),
        i.flip_left_right(x),
        i.rot90(x),
        i.central_crop(x, 0.5),
        i.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9]], [1], [7, 7]),
        i.sobel_edges(x),
        i.total_variation(x),
        i.psnr(x, x * 0.9, 1.0),
        i.ssim(x, x * 0.9, 1.0),
        i.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
        i.rgb_to_grayscale(x),
    )


@program()
def signals():
    x = numbers(3, 256)
    s = tf.signal
    return (
        s.stft(x, 64, 32),
        s.inverse_stft(s.stft(x, 64, 32), 64, 32),
        s.dct(x),
        s.rfft(x),
        s.irfft(s.rfft(x)),
        s.fft2d(tf.cast(x, tf.complex64)),
        s.rfft2d(x),
        s.fft3d(tf.cast(tf.reshape(x, [3, 16, 16]), tf.complex64)),
        s.frame(x, 20, 10),
        s.hann_window(32),
    )


@program()
def random_numbers():
    """Stateless ones and a generator's are the same on each device."""
    g = tf.random.Generator.from_seed(7, alg="philox")
    r = tf.random
    return (
        r.stateless_uniform([1000], [1, 2]),
        r.stateless_normal([1000], [1, 2]),
        r.stateless_truncated_normal([500], [3, 4]),
        r.stateless_uniform([500], [1, 2], 0, 100, tf.int32),
        r.stateless_binomial([100], [5, 6], 10.0, 0.4),
        g.normal([500]),
        g.uniform([7]),
        g.uniform_full_int([9], tf.uint32),
    )


@program()
def sparse_and_ragged():
    s = tf.sparse.from_dense(np.where(np.abs(numbers(12, 10)) > 1, numbers(12, 10), 0).astype("float32"))
    r = tf.ragged.constant([[1.0, 2, 3], [], [4, 5]])
    return (
        tf.sparse.to_dense(s),
        tf.sparse.sparse_dense_matmul(s, numbers(10, 4)),
        tf.sparse.reduce_sum(s, 1),
        tf.sparse.to_dense(tf.sparse.softmax(s)),
        (r * 2).to_tensor(),
        tf.reduce_sum(r, 1),
        tf.concat([r, r], 1).to_tensor(),
    )


@program()
def embeddings():
    table = tf.Variable(numbers(50, 8))
    i = np.array([[1, 4, 4], [0, 49, 7]])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(table, i)
        s = tf.reduce_sum(tf.cos(y))
    g = tape.gradient(s, table)
    tf.keras.optimizers.Adam(0.1).apply_gradients([(g, table)])
    return y, tf.convert_to_tensor(g), table


@program()
def loops():
    """while_loop, scan, map_fn, cond, vectorized_map."""
    x = tf.constant(numbers(10, 3))
    a, b = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s * 0.5 + x[i]), [0, tf.zeros([3])])
    return (
        a,
        b,
        tf.scan(lambda c, r: c * 0.9 + r, x),
        tf.map_fn(lambda r: tf.reduce_sum(r * r), x),
        tf.vectorized_map(lambda r: tf.tensordot(r, r, 1), x),
        tf.cond(x[0, 0] > 0, lambda: x + 1, lambda: x - 1),
        tf.foldl(lambda c, r: c + r, x),
    )


def train(model, x, y, loss, steps=8, **options):
    model.compile(tf.keras.optimizers.Adam(2e-3), loss, **options)
    return [float(model.train_on_batch(x, y)) for _ in range(steps)]


CLASSES = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def transformer(vocabulary=40, length=12, width=32):
    words = layers.Input([length], dtype="int32")
    x = layers.Embedding(vocabulary, width)(words) + layers.Embedding(length, width)(tf.range(length))
    for _ in range(2):
        h = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, width // 4)(h, h, use_causal_mask=True)])
        h = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.Dense(width)(layers.Dense(4 * width, activation="gelu")(h))])
    return tf.keras.Model(words, layers.Dense(vocabulary)(layers.LayerNormalization()(x)))


def text():
    words = np.cumsum(np.random.default_rng(6).integers(0, 3, (16, 13)), 1) % 40
    return words[:, :-1], words[:, 1:]


@program(1e-3)
def train_transformer():
    return falls(train(transformer(), *text(), CLASSES, jit_compile=False))


@program(1e-3)
def train_transformer_compiled():
    return falls(train(transformer(), *text(), CLASSES, jit_compile=True))


@program(1e-3)
def train_transformer_by_hand():
    """One step is a tf.function, with clipped gradients and a schedule."""
    model = transformer()
    x, y = text()
    optimizer = tf.keras.optimizers.AdamW(tf.keras.optimizers.schedules.CosineDecay(3e-3, 20), weight_decay=0.01)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = CLASSES(y, model(x, training=True))
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss, norm

    results = [step(tf.constant(x), tf.constant(y)) for _ in range(8)]
    falls([float(loss) for loss, _ in results])
    return [value for pair in results for value in pair]


@program(1e-3)
def train_recurrent():
    """LSTM and GRU by cuDNN, and a bidirectional one."""
    x, y = numbers(16, 10, 6), np.arange(16) % 3
    results = []
    for layer in (layers.LSTM(12, return_sequences=True), layers.GRU(12), layers.Bidirectional(layers.LSTM(8))):
        model = tf.keras.Sequential([layer, layers.Flatten(), layers.Dense(3)])
        results += falls(train(model, x, y, CLASSES, 5, jit_compile=False))
    return results


@program(2e-3)
def train_convolutional():
    """With dense blocks, batch normalisation and pooling, through fit() and a tf.data pipeline."""
    x, y = np.random.default_rng(7).random((64, 20, 20, 3)).astype("float32"), np.arange(64) % 4
    x[np.arange(64), :, y, :] += 2
    image = layers.Input([20, 20, 3])
    h = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    for _ in range(2):
        n = layers.BatchNormalization()(h)
        h = layers.Concatenate()([h, layers.Conv2D(8, 3, padding="same", activation="relu")(n)])
        h = layers.MaxPooling2D(2)(h)
    model = tf.keras.Model(image, layers.Dense(4)(layers.GlobalAveragePooling2D()(h)))
    model.compile(tf.keras.optimizers.SGD(0.005, 0.9), CLASSES, metrics=["accuracy"], jit_compile=False)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(16).prefetch(2)
    history = model.fit(data, epochs=4, verbose=0, shuffle=False).history
    return falls(history["loss"]) + [model.evaluate(data, verbose=0)[0]]


@program(5e-2)
def train_mixed_precision():
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = tf.keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(3, dtype="float32")])
        return falls(train(model, numbers(32, 10), np.arange(32) % 3, CLASSES, 6, jit_compile=False))
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")


@program(1e-3)
def train_autoencoder():
    model = tf.keras.Sequential(
        [layers.Dense(16, activation="tanh"), layers.Dense(4), layers.Dense(16, activation="tanh"), layers.Dense(20)]
    )
    x = numbers(64, 20)
    return falls(train(model, x, x, "mse", jit_compile=False))


@program(1e-3)
def train_adversaries():
    """A generator and a discriminator, with transposed convolutions."""
    make = tf.keras.Sequential(
        [
            layers.Dense(5 * 5 * 8, activation="relu"),
            layers.Reshape([5, 5, 8]),
            layers.Conv2DTranspose(4, 3, 2, "same", activation="relu"),
            layers.Conv2DTranspose(1, 3, 2, "same", activation="sigmoid"),
        ]
    )
    judge = tf.keras.Sequential([layers.Conv2D(8, 3, 2, activation="leaky_relu"), layers.Flatten(), layers.Dense(1)])
    true, noise = tf.constant(np.random.default_rng(8).random((16, 20, 20, 1)), tf.float32), tf.constant(
        numbers(16, 6)
    )
    cross = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    a, b = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def step():
        with tf.GradientTape() as one, tf.GradientTape() as two:
            made = make(noise)
            good, bad = judge(true), judge(made)
            first, second = cross(tf.ones_like(bad), bad), cross(tf.ones_like(good), good) + cross(
                tf.zeros_like(bad), bad
            )
        a.apply_gradients(zip(one.gradient(first, make.trainable_variables), make.trainable_variables))
        b.apply_gradients(zip(two.gradient(second, judge.trainable_variables), judge.trainable_variables))
        return first, second

    make(noise), judge(true)
    a.build(make.trainable_variables), b.build(judge.trainable_variables)
    return [value for _ in range(4) for value in step()]


@program()
def saved_model():
    """What is saved and loaded again gives the same."""
    model = tf.keras.Sequential([layers.Input([8]), layers.Dense(16, activation="relu"), layers.Dense(3)])
    x = numbers(5, 8)
    wanted = model(x)
    with tempfile.TemporaryDirectory() as folder:
        model.export(f"{folder}/a")
        loaded = tf.saved_model.load(f"{folder}/a")
        got = loaded.serve(x)
        model.save(f"{folder}/b.keras")
        again = tf.keras.models.load_model(f"{folder}/b.keras")(x)
        module = tf.Module()
        module.v = tf.Variable(numbers(4))
        tf.train.Checkpoint(m=module).save(f"{folder}/c")
        other = tf.Module()
        other.v = tf.Variable(tf.zeros(4))
        tf.train.Checkpoint(m=other).restore(tf.train.latest_checkpoint(folder))
    assert np.array_equal(got, wanted) and np.array_equal(again, wanted)
    return wanted, got, again, other.v


def on(device):
    """Runs a program there."""

    def run_one(function):
        tf.keras.backend.clear_session()
        tf.keras.utils.set_random_seed(1)
        with tf.device(device):
            return [np.asarray(r) for r in tf.nest.flatten(function())]

    return run_one


assert tf.config.list_physical_devices("GPU"), "TensorFlow sees no device"
tf.config.experimental.enable_tensor_float_32_execution(False)
run_programs(on("/GPU:0"), on("/CPU:0"))
