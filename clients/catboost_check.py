# SPDX-License-Identifier: Apache-2.0
"""CatBoost with task_type="GPU" beside the processor: regression, two classes and several, categories. Its two trainers are
different programs, so models are compared by how well they predict."""
import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor, Pool
from catboost.utils import get_gpu_device_count

assert get_gpu_device_count() == 1
generator = np.random.default_rng(0)
X = generator.standard_normal((2000, 10)).astype(np.float32)
signal = X[:, 0] * 2 + np.sin(X[:, 1]) + 0.1 * generator.standard_normal(2000)
kinds = generator.integers(0, 5, 2000)
CASES = {
    "regression": (CatBoostRegressor, X, signal, None),
    "two classes": (CatBoostClassifier, X, signal > 0, None),
    "four classes": (CatBoostClassifier, X, np.digitize(signal, [-1, 0.5, 2]), None),
    "categories": (CatBoostRegressor, np.column_stack([X.astype(object), kinds.astype(object)]), signal + kinds, [10]),
}


def wrong(model: object, pool: Pool, labels: np.ndarray) -> float:
    """The root of the mean square, or the share of wrong classes."""
    found = np.asarray(model.predict(pool)).reshape(-1)
    if isinstance(model, CatBoostRegressor):
        return float(np.sqrt(np.mean((found - labels) ** 2)))
    return float(np.mean(found.astype(str) != labels.astype(str)))


for name, (kind, data, labels, categories) in CASES.items():
    pool, errors = Pool(data, labels, cat_features=categories), {}
    for side in "CPU", "GPU":
        model = kind(iterations=40, depth=4, learning_rate=0.2, task_type=side, random_seed=1, verbose=0,
                     allow_writing_files=False)
        errors[side] = wrong(model.fit(pool), pool, labels)
    assert errors["GPU"] < 1.5 * errors["CPU"] + 0.02, (name, errors)
    print(f"{name}: good")
