# SPDX-License-Identifier: Apache-2.0
"""OSQP with algebra="cuda" (osqp-cu12) beside its own on the processor: quadratic programs drawn at random."""
import numpy as np
import osqp
from scipy import sparse

assert "cuda" in osqp.algebras_available()
for seed in range(3):
    numbers = np.random.default_rng(seed)
    root = sparse.random(60, 60, 0.2, random_state=seed, format="csc")
    quadratic = sparse.csc_matrix(root @ root.T + sparse.eye(60))
    bounds = sparse.vstack([sparse.random(30, 60, 0.3, random_state=seed + 100), sparse.eye(60)], format="csc")
    middle = bounds @ numbers.standard_normal(60)
    linear, found = numbers.standard_normal(60), []
    for algebra in ("builtin", "cuda"):
        solver = osqp.OSQP(algebra=algebra)
        solver.setup(quadratic, linear, bounds, middle - 0.1, middle + 0.1, verbose=False, eps_abs=1e-6, eps_rel=1e-6,
                     max_iter=20000)
        result = solver.solve()
        assert result.info.status == "solved", (seed, algebra, result.info.status)
        found.append(result.x)
    assert np.abs(found[0] - found[1]).max() < 1e-3, (seed, np.abs(found[0] - found[1]).max())
print("three programs: good")
