# SPDX-License-Identifier: Apache-2.0
"""TensorFlow from PyPI on two devices (MILLRACE_DEVICES=2): MirroredStrategy with NCCL. Collectives beside NumPy, and a
convolutional network whose losses are those of TensorFlow's own CPU."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def near(name, got, wanted, limit=2e-5):
    error = np.max(np.abs(np.asarray(got) - np.asarray(wanted)) / (1 + np.abs(np.asarray(wanted))))
    assert error <= limit, f"{name}: {error}"


def collectives(strategy):
    for kind in (tf.float32, tf.float16, tf.int32, tf.float64):
        for count in (1, 5, 70000):
            @tf.function
            def run(kind=kind, count=count):
                def step():
                    context = tf.distribute.get_replica_context()
                    rank = tf.cast(context.replica_id_in_sync_group, kind)
                    mine = tf.cast(tf.range(count) % 50, kind) * (rank + tf.cast(1, kind))
                    return context.all_reduce(tf.distribute.ReduceOp.SUM, mine), context.all_gather(mine, axis=0)
                return strategy.run(step)
            wanted = np.arange(count) % 50
            sums, gathered = run()
            for each in strategy.experimental_local_results(sums):
                near(f"sum of {kind.name}", each, 3 * wanted)
            for each in strategy.experimental_local_results(gathered):
                near(f"gathered {kind.name}", each, np.concatenate([wanted, 2 * wanted]))


def network():
    return tf.keras.Sequential([
        tf.keras.layers.Input((12, 12, 1)),
        tf.keras.layers.Conv2D(6, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ])


def losses_of(scope, start):
    numbers = np.random.default_rng(5)
    x = numbers.standard_normal((256, 12, 12, 1), "float32")
    y = (np.abs(x[:, :3, :3].sum((1, 2, 3))) % 10).astype("int32")
    with scope:
        model = network()
        model.compile(optimizer=tf.keras.optimizers.SGD(0.05),
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    if start:
        model.set_weights(start)
    history = model.fit(x, y, epochs=6, batch_size=64, shuffle=False, verbose=0)
    return history.history["loss"]


assert len(tf.config.list_physical_devices("GPU")) == 2, "MILLRACE_DEVICES=2 makes two devices"
mirrored = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.NcclAllReduce())
assert mirrored.num_replicas_in_sync == 2
collectives(mirrored)
tf.keras.utils.set_random_seed(7)
with tf.device("CPU:0"):
    start = network().get_weights()
on_two = losses_of(mirrored.scope(), start)
on_cpu = losses_of(tf.distribute.OneDeviceStrategy("CPU:0").scope(), start)
near("losses", on_two, on_cpu, 1e-3)
assert on_two[-1] < on_two[0], on_two
print("TensorFlow on two devices: MirroredStrategy's collectives and training are right")
