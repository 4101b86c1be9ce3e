"""LiNGAM and RESIT beside the package lingam: CPU seconds and orders, in the same process (`make bench-lingam`).

    make .venv-interop/.ready
    .venv-interop/bin/python benchmarks/lingam_package.py [--variables 50] [--large 500]

The package pins older versions of what we build on, hence the environment. Tables of 1,000 rows, ER1, in one thread:
LIN with uniform noise, and, for RESIT, sums of functions of 10 variables. The package's RESIT takes a regression of
scikit-learn, here random forests as in its own examples; its time grows with the second power of the rows, and faster
with the variables. Without the package, our part alone. The package's time is that of the order and the weights; ours
is that of a whole fit, with reasons to doubt the graph.
"""

from __future__ import annotations

import argparse
import importlib
import warnings
from types import ModuleType

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from common import cpu_seconds
from grandag import RESIT, LiNGAM
from grandag.graph import ancestors
from grandag.metrics import shd
from grandag.simulate.files import simulate


def table(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the true graph."""
    scenario = simulate("lin-uniform", graph="er", n_nodes=d, n_edges=d, n_rows=1000, seed=1)
    return scenario.data.to_numpy(), scenario.adjacency


def n_backwards(order: list[int], truth: np.ndarray) -> int:
    """Pairs of ancestor and descendant in the wrong order."""
    rank = np.argsort(order)
    return int((ancestors(truth) & (rank[:, None] > rank)).sum())


def ours(values: np.ndarray, truth: np.ndarray, algorithm: str) -> float:
    """Fit, print a line, and return the seconds."""
    seconds, model = cpu_seconds(lambda: LiNGAM(algorithm=algorithm).fit(values))
    order = [model.names_.index(name) for name in model.causal_order_]
    print(f"{values.shape[1]} variables, ours, {algorithm}: {seconds:.2f} CPU s, "
          f"{n_backwards(order, truth)} pairs backwards, {int(model.adjacency_.sum())} edges", flush=True)  # fmt: skip
    return seconds


def resit(package: ModuleType | None) -> None:
    """Both RESITs on 10 variables: seconds, and the distance to the truth."""
    scenario = simulate("add-func", graph="er", n_nodes=10, n_edges=10, n_rows=1000, seed=1)
    truth = scenario.adjacency
    seconds, model = cpu_seconds(lambda: RESIT(random_state=0).fit(scenario.data))
    print(f"10 variables, ours, RESIT: {seconds:.2f} CPU s, SHD {shd(truth, model.adjacency_)}", flush=True)
    if package is None:
        return
    theirs = package.RESIT(regressor=RandomForestRegressor(max_depth=4, random_state=0))
    needed, _ = cpu_seconds(lambda: theirs.fit(scenario.data.to_numpy()))
    distance = shd(truth, theirs.adjacency_matrix_.T != 0)
    print(f"10 variables, lingam {package.__version__}, RESIT: {needed:.2f} CPU s, {needed / seconds:.0f} times ours, "
          f"SHD {distance}", flush=True)  # fmt: skip


def lingams(package: ModuleType, values: np.ndarray, truth: np.ndarray, seconds: dict[str, float]) -> None:
    """The package's two algorithms, beside our seconds."""
    learners = {"direct": package.DirectLiNGAM(measure="pwling"), "ica": package.ICALiNGAM(random_state=0)}
    for algorithm, learner in learners.items():
        needed, _ = cpu_seconds(lambda learner=learner: learner.fit(values))
        n_wrong = n_backwards(learner.causal_order_, truth)
        print(f"{values.shape[1]} variables, lingam {package.__version__}, {algorithm}: {needed:.2f} CPU s, "
              f"{needed / seconds[algorithm]:.1f} times ours, {n_wrong} backwards", flush=True)  # fmt: skip


def main() -> None:
    """Ours, the package's, and ours on a large table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=50)
    parser.add_argument("--large", type=int, default=500, help="0: leave it out")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        package = importlib.import_module("lingam")
    except ImportError:
        package = None
        print("the package lingam is not installed: no comparison with it")
    for learner in (LiNGAM(), RESIT(random_state=0)):
        learner.fit(table(4)[0])  # compiles
    with threadpool_limits(1):
        values, truth = table(options.variables)
        seconds = {algorithm: ours(values, truth, algorithm) for algorithm in ("direct", "ica")}
        if package is not None:
            lingams(package, values, truth, seconds)
        resit(package)
        if options.large:
            for algorithm in ("direct", "ica"):
                ours(*table(options.large), algorithm)


if __name__ == "__main__":
    main()
