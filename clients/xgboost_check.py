# SPDX-License-Identifier: Apache-2.0
"""XGBoost on the device beside the processor: regression, two classes and several, missing values, weights, prediction
on the other side.

A model predicts the same on both sides. Two models, one trained on each side, may cut differently where two cuts gain
the same, which happens with classes: so they are compared by the mean of the difference."""
import numpy as np
import xgboost as xgb

generator = np.random.default_rng(7)
X = generator.standard_normal((2000, 10)).astype(np.float32)
X[generator.random(X.shape) < 0.05] = np.nan
signal = np.nan_to_num(X[:, 0]) * 2 + np.nan_to_num(X[:, 1]) ** 2 + 0.1 * generator.standard_normal(2000)
weights = generator.random(2000) + 0.5
CASES = {
    "regression": ({"objective": "reg:squarederror"}, signal),
    "weights and a subsample of columns": ({"objective": "reg:squarederror", "colsample_bytree": 1.0, "lambda": 2.0}, signal),
    "two classes": ({"objective": "binary:logistic"}, (signal > 0).astype(np.float32)),
    "four classes": ({"objective": "multi:softprob", "num_class": 4}, np.digitize(signal, [-1, 0.5, 2])),
}

for name, (options, labels) in CASES.items():
    data = xgb.DMatrix(X, labels, weight=weights if "weights" in name else None)
    models = {}
    for device in "cpu", "cuda":
        models[device] = xgb.train({"device": device, "tree_method": "hist", "max_depth": 4, "max_bin": 4096, "seed": 1, **options}, data, 8)
    assert '"device":"cuda' in models["cuda"].save_config().replace(" ", ""), "the model was not made on the device"
    expected = models["cpu"].predict(data)
    predicted = {}
    for side in "cpu", "cuda":
        models["cuda"].set_param({"device": side})
        predicted[side] = models["cuda"].predict(data)
    assert np.abs(predicted["cpu"] - predicted["cuda"]).max() < 1e-5, (name, "the two sides predict differently by one model")
    difference = np.abs(predicted["cuda"] - expected)
    assert difference.max() < 1e-4 if "classes" not in name else difference.mean() < 5e-3, (name, difference.max(), difference.mean())
    print(f"{name}: good")
