"""Preliminary neighbour selection (appendix A.3 of the paper): candidate parents by extremely randomised trees.

For each variable a forest predicts it from all others; an input stays if its importance (total reduction of
variance) is at least 0.75 times the mean importance over all d inputs, the variable itself counting with 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grandag.progress import Listener, Progress

__all__ = ["NeighboursConfig", "neighbours"]


@dataclass(frozen=True)
class NeighboursConfig:
    """The released program's values."""

    n_trees: int = 500
    threshold: float = 0.75


def neighbours(
    values: np.ndarray,
    config: NeighboursConfig,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
    listener: Listener | None = None,
) -> np.ndarray:
    """mask[i, j]: is variable i a candidate parent of variable j? Uses all rows of `values` (n, d)."""
    from sklearn.ensemble import ExtraTreesRegressor

    d = values.shape[1]
    mask = np.zeros((d, d), dtype=bool)
    for j in range(d):
        inputs = np.array(values, dtype=np.float32)
        inputs[:, j] = 0
        forest = ExtraTreesRegressor(config.n_trees, n_jobs=n_jobs, random_state=int(rng.integers(2**31)))
        importance = forest.fit(inputs, values[:, j]).feature_importances_
        mask[:, j] = importance >= config.threshold * importance.mean()
        mask[j, j] = False
        if listener is not None:
            listener(Progress("neighbours", j + 1, d, n_edges=int(mask.sum())))
    return mask
