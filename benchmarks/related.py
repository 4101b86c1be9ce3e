"""The methods side by side where their assumptions hold and where they do not (docs/related.md).

    python benchmarks/related.py [--nodes 10 50] [--sets 3] [--kinds gauss-anm lin ...] [--methods grandag cam ...]
                                 [--store FILE]

Simulated tables of 1,000 rows, ER graphs with as many edges as nodes (ER1): Gauss-ANM and LIN of the paper, and LIN
with uniform, Laplace and exponential noise. Means over the sets, in one thread: SHD, for equivalence classes SHD-C,
marked by a star; SID, for classes the middle of its bounds; CPU seconds. Methods are names of the registry, with their
defaults. With --store, results are kept in a file, line by line, and what is there is not computed again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import Store, distances
from grandag.methods.registry import METHODS, build
from grandag.parameters import parameters_of
from grandag.simulate.files import simulate

KINDS = ("gauss-anm", "lin", "lin-uniform", "lin-laplace", "lin-exponential")
COMPARED = (
    "grandag",
    "grandag-shared",
    "cam",
    "notears",
    "ges",
    "fges",
    "pc",
    "lingam",
    "ica-lingam",
    "exact",
    "resit",
    "equal-variance",
    "top-down",
)
MOST_NODES = {"exact": 20}
"""Beyond so many nodes a method is left out."""


def judge(method: str, kind: str, d: int, seed: int) -> dict[str, Any]:
    """One fit: its distances from the truth and its cost."""
    scenario = simulate(kind, graph="er", n_nodes=d, n_edges=d, n_rows=1000, seed=seed)
    one_thread = {"n_jobs": 1} if "n_jobs" in parameters_of(METHODS[method].estimator()) else {}
    model = build(method, one_thread, seed=seed)
    start = time.process_time()
    model.fit(scenario.data)
    seconds = time.process_time() - start
    return {**distances(scenario.adjacency, model), "seconds": seconds}


def warm_up(methods: list[str]) -> None:
    """Compile what is not compiled yet, outside of the timing."""
    for method in methods:
        judge(method, "lin", 4, 0)


def cell(results: list[dict[str, Any]]) -> str:
    """SHD / SID, CPU seconds."""
    means = {name: np.mean([result[name] for result in results]) for name in ("shd", "sid", "seconds")}
    mark = "\\*" if results[0]["is_class"] else ""
    return f"{means['shd']:.1f}{mark} / {means['sid']:.1f}, {means['seconds']:.2g} s"


def main() -> None:
    """A table for each number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--sets", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--methods", nargs="+", default=[name for name in COMPARED if name in METHODS])
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.store)
    with threadpool_limits(1):
        warm_up(options.methods)
        for d in options.nodes:
            print(f"\n{d} nodes:\n\n| method | {' | '.join(options.kinds)} |\n|---|{'---|' * len(options.kinds)}")
            for method in options.methods:
                if d > MOST_NODES.get(method, d):
                    continue
                cells = [
                    cell([store.get(judge, method, kind, d, seed) for seed in range(1, options.sets + 1)])
                    for kind in options.kinds
                ]
                print(f"| {method} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
