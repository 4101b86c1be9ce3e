"""RESIT and equal-variance models: CPU seconds, distances to the truth, and how cost grows with rows (`make bench`).

    python benchmarks/noise_models.py [--nodes 50] [--seeds 2]

One thread. `benchmarks/lingam_package.py` has RESIT beside the one of the package lingam.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from baselines import linear
from common import REFERENCE_GFLOPS, cpu_seconds, gflops
from grandag import RESIT, EqualVariance
from grandag.methods.resit.hsic import Independence
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate

TARGET = 180.0
"""CPU seconds that RESIT may take at 50 nodes ER1, 1,000 rows."""

METHODS: dict[str, Callable[[], Any]] = {
    "RESIT": lambda: RESIT(random_state=0),
    "RESIT, prune": lambda: RESIT(random_state=0, prune=True),
    "RESIT, Gaussian processes": lambda: RESIT(random_state=0, regression="gaussian-process"),
}


def of_nodes(d: int, n_seeds: int, speed: float) -> None:
    """RESIT on two kinds of data: with Gauss-ANM, functions of several parents are no sums."""
    for kind in ("add-func", "gauss-anm"):
        for seed in range(1, n_seeds + 1):
            scenario = simulate(kind, graph="er", n_nodes=d, n_edges=d, n_rows=1000, seed=seed)
            for name, method in METHODS.items():
                seconds, model = cpu_seconds(lambda method=method, data=scenario.data: method().fit(data))
                truth = scenario.adjacency
                verdict = f", target {TARGET / speed:.0f}" if d == 50 else ""
                print(
                    f"  {kind} {d} nodes ER1, seed {seed}, {name}: {seconds:.1f} CPU s{verdict}, "
                    f"SHD {shd(truth, model.adjacency_)}, SID {sid(truth, model.adjacency_)}"
                )


def of_rows() -> None:
    """The test of one variable against nine others."""
    for n in (1000, 10_000, 100_000):
        rng = np.random.default_rng(0)
        values = rng.normal(size=(n, 10))
        independence = Independence(values[:, :9], rng)
        seconds, _ = cpu_seconds(lambda test=independence.test, column=values[:, 9]: test(column))
        print(f"  HSIC of a variable with nine others, {n:,} rows: {seconds:.4f} CPU s")


def equal_variances(n_seeds: int) -> None:
    """Both searches on data with equal variances."""
    for d in (10, 50, 100):
        for seed in range(n_seeds):
            values, truth = linear(d, d, 1000, seed)
            for algorithm in ("greedy", "top-down"):
                model = EqualVariance(algorithm=algorithm, random_state=0)
                seconds, _ = cpu_seconds(lambda model=model, values=values: model.fit(values))
                print(
                    f"  equal variances, {d} nodes ER1, {algorithm}: {seconds:.2f} CPU s, "
                    f"SHD {shd(truth, model.adjacency_)}, SID {sid(truth, model.adjacency_)}, BIC {model.score_:.1f}"
                )


def main() -> None:
    """All parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(line_buffering=True)
    speed = gflops() / REFERENCE_GFLOPS
    print("RESIT and equal-variance models:")
    for method in METHODS.values():  # compiles outside of the timing
        method().fit(simulate("add-func", graph="er", n_nodes=3, n_edges=3, n_rows=200, seed=1).data)
    with threadpool_limits(1):
        equal_variances(options.seeds)
        of_rows()
        of_nodes(options.nodes, options.seeds, speed)


if __name__ == "__main__":
    main()
