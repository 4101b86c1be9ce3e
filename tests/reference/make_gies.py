"""Classes by the Python package gies: `python tests/reference/make_gies.py`, in an environment that has it and numpy.

The tables are made anew from their seeds by `table`, which the test imports: a sparse linear model with Gaussian noise,
and regimes whose perfect interventions set other means. The package has an intercept of its own for each regime:
"centred" are its classes. "pooled" are those of its search with one intercept for all rows that leave a variable alone,
as in our score.
"""

import json
from pathlib import Path

import numpy as np

TABLES = [
    (6, 100, [[], [0], [3]], 1),
    (6, 60, [[0], [1, 2], [5]], 2),
    (8, 80, [[], [1, 4], [4, 6], [0]], 3),
    (8, 40, [[], *([k] for k in range(8))], 4),
    (10, 150, [[], [2], [7, 8]], 5),
    (10, 50, [[], *([k] for k in range(10))], 6),
    (12, 30, [[], [0, 1, 2], [3, 4, 5]], 7),
    (12, 100, [[]], 8),
    (10, 200, [[], [4]], 9),
    (12, 200, [[], [0, 5]], 10),
    (15, 200, [[], [3], [8]], 11),
    (20, 100, [[], [0, 1], [1, 2], [17]], 12),
]
"""Number of variables, rows of each regime, targets of the regimes, seed."""


def table(d: int, n: int, targets: list[list[int]], seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The rows of each regime, and the weights, [i, j] of i -> j; columns are in random order."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.4, 1.2, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 2 / d), 1)
    order = rng.permutation(d)
    rank = np.argsort(order)
    regimes = []
    for nodes in targets:
        values = np.zeros((n, d))
        for j in range(d):
            is_target = rank[j] in nodes
            values[:, j] = rng.normal(2, 1.5, n) if is_target else values @ weights[:, j] + rng.normal(0, 1, n)
        regimes.append(values[:, order])
    return regimes, weights[np.ix_(order, order)]


def main() -> None:
    """Write gies.json beside this file."""
    from importlib.metadata import version

    import gies
    from gies.scores.gauss_int_l0_pen import GaussIntL0Pen

    results = []
    for case in TABLES:
        regimes, _ = table(*case)
        targets = case[2]
        centred, _ = gies.fit_bic(regimes, targets)
        score = GaussIntL0Pen(regimes, targets)
        for j in range(case[0]):
            free = np.vstack([rows for rows, nodes in zip(regimes, targets, strict=True) if j not in nodes])
            score.part_sample_cov[j] = np.cov(free, rowvar=False, ddof=0)
        pooled, _ = gies.fit(score)
        results.append(
            {"table": case, "centred": np.argwhere(centred).tolist(), "pooled": np.argwhere(pooled).tolist()}
        )
    record = {"package": f"gies {version('gies')}", "results": results}
    (Path(__file__).parent / "gies.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
