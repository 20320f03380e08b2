# SPDX-License-Identifier: Apache-2.0
"""TensorFlow on the device beside its own CPU, in one process, by turns: operations, training steps of two Keras models.

`frameworks_tensorflow.py CASE…` measures the cases whose names begin so. `frameworks_tensorflow.py first` prints how
long the process took to the end of its first training step on the default device.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from frameworks_measure import case, since_start

layers = tf.keras.layers
WIDTH, DEPTH, HEADS, WORDS, LENGTH = 128, 3, 4, 200, 64


def numbers(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, "float32")


def on(device: str, function, arguments, **how):
    """One call of a tf.function on that device, waited for."""
    with tf.device(device):
        values, compiled = [tf.constant(a) for a in arguments], tf.function(function, **how)

    def run():
        with tf.device(device):
            result = compiled(*values)
            # The smallest read that waits: one number.
            return tf.reshape(tf.nest.flatten(result)[-1], [-1])[0].numpy()

    return run


def conv_gradients(x, w):
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        loss = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 2)
    return tape.gradient(loss, [x, w])


def convolutional():
    model = [layers.Input((32, 32, 3))]
    for filters, strides in ((32, 1), (64, 2), (64, 1)):
        model += [layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False), layers.BatchNormalization(), layers.ReLU()]
    return tf.keras.Sequential([*model, layers.MaxPooling2D(), layers.GlobalAveragePooling2D(), layers.Dense(10)])


def transformer():
    words = layers.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(WORDS, WIDTH)(words)
    for _ in range(DEPTH):
        h = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(h, h, use_causal_mask=True)
        x = x + layers.Dense(WIDTH)(layers.Dense(4 * WIDTH, activation="gelu")(layers.LayerNormalization()(x)))
    return tf.keras.Model(words, layers.Dense(WORDS)(layers.LayerNormalization()(x)))


class Training:
    """A Keras model whose steps follow each other on one device."""

    def __init__(self, device: str, make, x, y, compiled: bool = False):
        self.device = device
        with tf.device(device):
            tf.keras.utils.set_random_seed(1)
            self.model, self.x, self.y = make(), tf.constant(x), tf.constant(y)
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            self.model.compile(tf.keras.optimizers.Adam(1e-3), loss, jit_compile=compiled)

    def __call__(self):
        with tf.device(self.device):
            return float(self.model.train_on_batch(self.x, self.y))


def models():
    draw = np.random.default_rng(3)
    return {"train_conv": (convolutional, numbers(32, 32, 32, 3), draw.integers(0, 10, 32).astype("int32")),
            "train_transformer": (transformer, *(draw.integers(0, WORDS, (16, LENGTH)).astype("int32") for _ in range(2)))}


def main() -> None:
    if sys.argv[1:] == ["first"]:
        Training("/GPU:0" if tf.config.list_physical_devices("GPU") else "/CPU:0", *models()["train_conv"])()
        print(f"first_seconds {since_start():.2f}")
        return
    flat, other, rows = numbers(4 << 20), numbers(4 << 20, seed=2), numbers(2048, 2048)
    square, batch = numbers(1024, 1024), numbers(64, 128, 128)
    image, kernel, deep = numbers(16, 32, 32, 32), numbers(3, 3, 32, 64), numbers(16, 16, 16, 128)

    def convolution(stride=1):
        return lambda x, w: tf.nn.conv2d(x, w, stride, "SAME")

    for name, function, *arguments in (
        ("add", lambda a, b: a + b, flat, other),
        ("tanh", tf.tanh, flat),
        ("gelu", tf.nn.gelu, flat),
        ("sine", lambda a: tf.sin(a) * tf.exp(a), flat),
        ("small", lambda a: a * 2 + 1, flat[:1000]),
        ("sum", tf.reduce_sum, flat),
        ("sum_rows", lambda a: tf.reduce_sum(a, 1), rows),
        ("sum_columns", lambda a: tf.reduce_sum(a, 0), rows),
        ("max", lambda a: tf.reduce_max(a, 1), rows),
        ("softmax", tf.nn.softmax, rows),
        ("transpose", tf.transpose, rows),
        ("matmul_256", tf.matmul, square[:256, :256], square[:256, :256]),
        ("matmul_1024", tf.matmul, square, square),
        ("matmul_batch", tf.matmul, batch, batch),
        ("conv", convolution(), image, kernel),
        ("conv_stride", convolution(2), image, kernel),
        ("conv_1x1", convolution(), deep, numbers(1, 1, 128, 128)),
        ("conv_deep", convolution(), deep, numbers(3, 3, 128, 128)),
        ("conv_gradients", conv_gradients, image, kernel),
    ):
        case(name, on("/GPU:0", function, arguments), on("/CPU:0", function, arguments))
    for name, model in models().items():
        case(name, Training("/GPU:0", *model), Training("/CPU:0", *model))
        case(name + "_compiled", Training("/GPU:0", *model, compiled=True), Training("/CPU:0", *model, compiled=True))


main()
