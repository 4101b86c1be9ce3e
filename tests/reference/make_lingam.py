"""Orders by the Python package lingam: `python tests/reference/make_lingam.py`, in an environment that has it.

The tables are made anew from their seeds by `table`, which the test imports: a sparse linear model with noise of one
distribution. Of ICA-LiNGAM, whose order is arbitrary where there is no edge, edges are stored, too.
"""

import json
from pathlib import Path

import numpy as np

TABLES = [("uniform", 6, 1000, 1), ("laplace", 8, 1500, 2), ("exponential", 10, 800, 3), ("uniform", 20, 500, 4)]
"""Distribution, number of variables, number of rows, seed."""


def table(noise: str, d: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, d) and weights, [i, j] of i -> j; columns are in random order."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.uniform(0.5, 1.5, (d, d)) * rng.choice([-1, 1], (d, d)) * (rng.random((d, d)) < 2.5 / d), 1)
    draw = {
        "uniform": lambda: rng.uniform(-1, 1, n),
        "laplace": lambda: rng.laplace(0, 0.7, n),
        "exponential": lambda: rng.exponential(1, n) - 1,
        "normal": lambda: rng.normal(0, 1, n),
    }[noise]
    values = np.zeros((n, d))
    for j in range(d):
        values[:, j] = values @ weights[:, j] + draw()
    order = rng.permutation(d)
    return values[:, order], weights[np.ix_(order, order)]


def main() -> None:
    """Write lingam.json beside this file."""
    import lingam

    results = []
    for case in TABLES:
        values, _ = table(*case)
        direct = lingam.DirectLiNGAM().fit(values)
        ica = lingam.ICALiNGAM(random_state=0).fit(values / values.std(axis=0))
        edges = np.argwhere(np.abs(ica.adjacency_matrix_.T) > 0.1)
        results.append(
            {
                "table": case,
                "direct": [int(node) for node in direct.causal_order_],
                "ica": [int(node) for node in ica.causal_order_],
                "ica_edges": edges.tolist(),
            }
        )
    record = {"package": f"lingam {lingam.__version__}", "results": results}
    (Path(__file__).parent / "lingam.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
