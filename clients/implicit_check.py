# SPDX-License-Identifier: Apache-2.0
"""implicit, which recommends by matrices, on RAPIDS' memory manager: training on the device beside the processor's, and
what both recommend by the same factors."""
import implicit.gpu
import numpy as np
import scipy.sparse
from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking

assert implicit.gpu.HAS_CUDA
seen = scipy.sparse.random(300, 200, density=0.05, random_state=1, format="csr", dtype=np.float32)
seen.data += 1
errors = []
for on_device in True, False:
    model = AlternatingLeastSquares(factors=32, iterations=10, use_gpu=on_device, random_state=3)
    model.fit(seen, show_progress=False)
    same = model.to_cpu() if on_device else model
    errors.append(np.abs((same.user_factors @ same.item_factors.T)[seen.nonzero()] - 1).mean())
    if on_device:
        for ask in (lambda of: of.recommend(np.arange(10), seen[:10], N=5)), (lambda of: of.similar_items(3, N=5)):
            (items, scores), (other_items, other_scores) = ask(model), ask(same)
            assert (items == other_items).all() and np.abs(scores - other_scores).max() < 1e-4
assert abs(errors[0] - errors[1]) < 0.01, errors
print("alternating least squares: good")
margins = []
for on_device in True, False:
    model = BayesianPersonalizedRanking(factors=31, iterations=200, learning_rate=0.1, use_gpu=on_device,
                                        random_state=3)
    model.fit(seen, show_progress=False)
    model = model.to_cpu() if on_device else model
    scores = model.user_factors @ model.item_factors.T
    margins.append(scores[seen.nonzero()].mean() - scores.mean())
assert abs(margins[0] - margins[1]) < 0.5 and margins[0] > 2, margins
print("ranking: good")
