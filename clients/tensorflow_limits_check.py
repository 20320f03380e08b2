# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow asks for and can't have is an error of its own, and it goes on: more memory than the device has
(MILLRACE_MEMORY=1G), a device that is not there, a folder for the profiler that nobody can write to."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from programs import refused


def works():
    a = np.random.default_rng(1).standard_normal((64, 64)).astype("float32")
    with tf.device("/GPU:0"):
        assert np.allclose(tf.matmul(a, a), a @ a, atol=1e-3)


def too_large():
    with tf.device("/GPU:0"):
        return tf.zeros([1 << 30]) + 1


def too_large_model():
    """A step of training whose activations do not fit."""
    with tf.device("/GPU:0"):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1 << 14) for _ in range(4)])
        model.compile("sgd", "mse", jit_compile=False)
        model.train_on_batch(np.zeros((64, 1 << 14), "float32"), np.zeros((64, 1 << 14), "float32"))


def no_such_device():
    tf.config.set_soft_device_placement(False)
    with tf.device("/GPU:1"):
        return tf.zeros([4]) + 1


def profile():
    tf.profiler.experimental.start("/dev/null/profile")
    works()
    tf.profiler.experimental.stop()


assert len(tf.config.list_physical_devices("GPU")) == 1
works()
refused(tf.errors.ResourceExhaustedError, too_large, works)
refused(tf.errors.ResourceExhaustedError, too_large_model, works)
refused(tf.errors.InvalidArgumentError, no_such_device, works)
refused(tf.errors.OpError, profile, works)
print("all is right")
