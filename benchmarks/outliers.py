"""Gross outliers: what they cost a method, with and without `outliers="auto"`.

    python benchmarks/outliers.py                          # ten sets
    python benchmarks/outliers.py --sets 3 --methods cam pc
    python benchmarks/outliers.py --false-alarms           # tables without errors in which the rule must find nothing

Gauss-ANM tables of ten nodes, ten edges expected and 1,000 rows, in which 2 % of the values of each column, or all
values of 2 % of the rows, are moved by 20 standard deviations of their column, up or down. SHD and SID as mean ±
standard deviation; of an equivalence class the SHD of its CPDAG and the middle of the bounds. "score" is the mean log
density of new rows, clean or with such outliers in single cells, in nats; "keep" is without the rule.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from common import Store
from grandag.datasets import load_sachs
from grandag.methods.registry import build
from grandag.metrics import shd, shd_cpdag, sid, sid_bounds
from grandag.outliers import find_outliers
from grandag.simulate.files import simulate
from grandag.table import as_table

SHARE, SIZE = 0.02, 20.0
WAYS = ("clean", "cells", "rows")
_NEW_ROWS = 1000


def contaminated(values: np.ndarray, way: str, rng: np.random.Generator) -> np.ndarray:
    """The values with gross outliers in single cells, or in whole rows."""
    is_hit = rng.random(values.shape if way == "cells" else (len(values), 1)) < SHARE
    moved = values + SIZE * values.std(axis=0) * rng.choice([-1.0, 1.0], values.shape)
    return values if way == "clean" else np.where(is_hit, moved, values)


def judge(method: str, way: str, outliers: str, seed: int) -> list[float]:
    """One fit: SHD, SID, and the scores of new rows, clean and with outliers."""
    scenario = simulate("gauss-anm", n_nodes=10, n_edges=10, n_rows=1000 + _NEW_ROWS, seed=seed)
    rng, values = np.random.default_rng(seed), scenario.data.to_numpy()
    model = build(method, {"outliers": outliers}, seed=seed).fit(contaminated(values[:1000], way, rng))
    new = values[1000:]
    scores = [model.score(new), model.score(contaminated(new, "cells", rng))]
    truth, found = scenario.adjacency, model.adjacency_
    if model.is_dag_:
        return [float(shd(truth, found)), float(sid(truth, found)), *scores]
    return [float(shd_cpdag(truth, found)), float(np.mean(sid_bounds(truth, found))), *scores]


def false_alarms(sets: int) -> None:
    """In how many tables of real data, and of simulated data without errors, the rule finds outliers."""
    from sklearn import datasets

    names = ("iris", "wine", "diabetes", "breast_cancer", "linnerud", "digits")
    real = {name: getattr(datasets, f"load_{name}")(as_frame=True).frame for name in names} | {
        "sachs": load_sachs().data
    }
    for name, frame in real.items():
        print(f"{name}: {'outliers' if find_outliers(as_table(frame)) else 'none'}")
    for kind in ("gauss-anm", "lin", "lin-laplace", "lin-exponential", "pnl-gp", "pnl-mult", "mixed"):
        tables = (simulate(kind, n_nodes=10, n_edges=20, n_rows=1000, seed=seed).data for seed in range(sets))
        print(f"{kind}: {sum(find_outliers(as_table(table)) is not None for table in tables)} of {sets}")
    for degrees in (1, 2, 3):
        noise = (np.random.default_rng(seed).standard_t(degrees, (1000, 10)) for seed in range(sets))
        print(f"Student t, {degrees}: {sum(find_outliers(as_table(table)) is not None for table in noise)} of {sets}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--methods", nargs="+", default=["grandag"])
    parser.add_argument("--false-alarms", action="store_true")
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    if given.false_alarms:
        return false_alarms(given.sets)
    warnings.simplefilter("ignore")
    store = Store(given.store)
    print("| method | outliers | rule | SHD | SID | score, clean rows | score, 2 % outliers |")
    print("|---|---|---|---|---|---|---|")
    for method, way, outliers in product(given.methods, WAYS, ("auto", "keep")):
        found = [store.get(judge, method, way, outliers, seed) for seed in range(given.sets)]
        columns = [f"{c.mean():.1f}±{c.std():.1f}" for c in np.array(found).T]
        print(f"| {method} | {way} | {outliers} | {' | '.join(columns)} |", flush=True)
    return None


if __name__ == "__main__":
    main()
