"""LiNGAM beside the package lingam: CPU seconds and orders, in the same process.

    make .venv-interop/.ready
    .venv-interop/bin/python benchmarks/lingam_package.py [--variables 50] [--large 500]

The package pins older versions of what we build on, hence the environment. Tables of 1,000 rows, LIN with uniform
noise, ER1, in one thread; without the package, our part alone. The package's time is that of the order and the weights;
ours is that of a whole fit, with reasons to doubt the graph.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from common import cpu_seconds
from grandag import LiNGAM
from grandag.graph import ancestors
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


def main() -> None:
    """Ours, the package's, and ours on a large table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, default=50)
    parser.add_argument("--large", type=int, default=500)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    LiNGAM().fit(table(4)[0])  # compiles
    with threadpool_limits(1):
        values, truth = table(options.variables)
        seconds = {algorithm: ours(values, truth, algorithm) for algorithm in ("direct", "ica")}
        try:
            import lingam
        except ImportError:
            print("the package lingam is not installed: no comparison with it")
        else:
            theirs = {"direct": lingam.DirectLiNGAM(measure="pwling"), "ica": lingam.ICALiNGAM(random_state=0)}
            for algorithm, learner in theirs.items():
                needed, _ = cpu_seconds(lambda learner=learner: learner.fit(values))
                n_wrong = n_backwards(learner.causal_order_, truth)
                print(f"{options.variables} variables, lingam {lingam.__version__}, {algorithm}: {needed:.2f} CPU s, "
                      f"{needed / seconds[algorithm]:.1f} times ours, {n_wrong} backwards", flush=True)  # fmt: skip
        ours(*table(options.large), "direct")


if __name__ == "__main__":
    main()
