# SPDX-License-Identifier: Apache-2.0
"""TensorFlow from PyPI: operations and a convolutional network that trains, on the device beside TensorFlow's own CPU.

The same random numbers go into both; each step's loss has to agree.
"""

import collections
import glob
import os
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

STEPS = 12


def near(name, got, wanted, limit=2e-5):
    error = np.max(np.abs(np.asarray(got) - np.asarray(wanted)) / (1 + np.abs(np.asarray(wanted))))
    assert error <= limit, f"{name}: {error}"


def operations():
    """Single operations on both devices."""
    numbers = np.random.default_rng(1)
    x, w = numbers.standard_normal((4, 12, 10, 3), "float32"), numbers.standard_normal((3, 3, 3, 8), "float32")
    m = numbers.standard_normal((40, 40), "float32")
    cases = {
        "matmul": lambda: tf.matmul(m, m),
        "sum": lambda: tf.reduce_sum(x, axis=[0, 2]),
        "softmax": lambda: tf.nn.softmax(m),
        "power": lambda: tf.pow(tf.abs(x), 1.7),
        "sine": lambda: tf.sin(x) * tf.exp(x),
        "sort": lambda: tf.sort(m, axis=1),
        "cumsum": lambda: tf.cumsum(m, axis=0),
        "conv2d": lambda: tf.nn.conv2d(x, w, 2, "SAME"),
        "depthwise": lambda: tf.nn.depthwise_conv2d(x, w[:, :, :, :2], [1, 1, 1, 1], "VALID"),
        "max_pool": lambda: tf.nn.max_pool2d(x, 3, 2, "SAME"),
        "avg_pool": lambda: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
        "fft": lambda: tf.abs(tf.signal.fft(tf.cast(m, tf.complex64))),
        "solve": lambda: tf.linalg.solve(m + 20 * np.eye(40, dtype="float32"), m),
        "einsum": lambda: tf.einsum("ij,kj->ik", m, m),
    }
    for name, run in cases.items():
        with tf.device("/GPU:0"):
            got = run()
        assert "GPU:0" in got.device, f"{name} ran on {got.device}"
        with tf.device("/CPU:0"):
            near(name, got, run())


def network(device):
    """Losses of a few steps."""
    tf.keras.utils.set_random_seed(1)
    numbers = np.random.default_rng(2)
    x = numbers.random((64, 28, 28, 1), "float32")
    wanted = (x[:, :14].mean((1, 2, 3)) > x[:, 14:].mean((1, 2, 3))).astype("int32")
    layers = tf.keras.layers
    with tf.device(device):
        model = tf.keras.Sequential([
            layers.Conv2D(16, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
            layers.Conv2D(32, 3, strides=2, activation="relu"), layers.AveragePooling2D(2), layers.Flatten(),
            layers.Dense(32, activation="relu"), layers.Dense(2)])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
        losses = [float(model.train_on_batch(x, wanted)) for _ in range(STEPS)]
    return losses


def profile():
    """The profiler's trace has the device's kernels and copies."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    @tf.function
    def function(a):
        return tf.reduce_sum(tf.tanh(a))

    values = tf.ones((64, 64))
    function(values)
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        for _ in range(3):
            function(values).numpy()
        tf.profiler.experimental.stop()
        space = xplane_pb2.XSpace()
        space.ParseFromString(Path(glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")[0]).read_bytes())
    device = next(p for p in space.planes if p.name == "/device:GPU:0")
    names = [device.event_metadata[e.metadata_id].name for line in device.lines for e in line.events]
    counts = collections.Counter(names)
    print("profile", dict(counts))
    assert counts["MemcpyD2H"] == 3 and counts["Tanh_GPU_DT_FLOAT_DT_FLOAT_kernel"] == 3, counts


def main():
    devices = tf.config.list_physical_devices("GPU")
    assert devices, "TensorFlow sees no device"
    operations()
    profile()
    got, wanted = network("/GPU:0"), network("/CPU:0")
    print("losses", [f"{a:.5f}" for a in got], [f"{a:.5f}" for a in wanted])
    near("losses", got, wanted, 1e-3)
    assert got[-1] < 0.7 * got[0], "the network does not learn"
    print("all is right")


main()
