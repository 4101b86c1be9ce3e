"""Does refinement by evidence help on data that no Gaussian process drew, and harm none? (`make generality`)

    python benchmarks/generality.py [--kinds mlp sachs …] [--graphs er1 sf4 …] [--nodes 10] [--seeds 5] [--authors DIR]

SHD / SID, mean ± standard error over data sets, of three methods: GraN-DAG pruned (`refine=False`), GraN-DAG refined
("default") and CAM. "default - pruned" is the paired difference: below 0 refinement is better, and within two standard
errors of 0 nothing tells the two apart. Sets are those of `grandag simulate KIND --seed 1`, 2, …; with --authors,
SynTReN's are the authors' five. Sachs is one set, fitted with another seed each time. At the end: how often edges of a
given evidence are true.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from common import JudgedEdge, cpu_seconds, judged_edges, print_calibration
from grandag import CAM, GraNDAG
from grandag.datasets import load_authors, load_sachs
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate

METHODS: dict[str, Callable[[int], Any]] = {
    "pruned": lambda seed: GraNDAG(refine=False, retrain=False, n_jobs=1, random_state=seed),
    "default": lambda seed: GraNDAG(refine=True, retrain=False, n_jobs=1, random_state=seed),
    "CAM": lambda _: CAM(refine=False, n_jobs=1),
}
MECHANISMS = ("mlp", "mim", "sigmoid", "sigmoid-mix", "add-func", "lin", "pnl-gp", "pnl-mult")
KINDS = (*MECHANISMS, "syntren", "sachs")


class Row(NamedTuple):
    """One row of the table: its title, and how a data set follows from a seed."""

    title: str
    data_set: Callable[[int], Any]
    seeds: range


def table_rows(arguments: argparse.Namespace) -> list[Row]:
    """The rows that are asked for: mechanisms for each kind of graph, the others once."""
    seeds = range(1, arguments.seeds + 1)
    rows = []
    for kind in arguments.kinds:
        if kind == "sachs":
            rows.append(Row("sachs", lambda _: load_sachs(), seeds))
        elif kind == "syntren" and arguments.authors is not None:
            rows.append(Row("syntren, the authors'", partial(load_authors, arguments.authors, kind), range(1, 6)))
        elif kind == "syntren":
            rows.append(Row("syntren, simulated", partial(simulated, kind), seeds))
        else:
            for graph in arguments.graphs:
                sizes = {"graph": graph[:2], "n_nodes": arguments.nodes, "n_edges": int(graph[2:]) * arguments.nodes}
                title = f"{kind}, {arguments.nodes} nodes {graph.upper()}"
                rows.append(Row(title, partial(simulated, kind, **sizes), seeds))
    return rows


def simulated(kind: str, seed: int, **sizes: Any) -> Any:
    """The data set of `grandag simulate`."""
    return simulate(kind, seed=seed, **sizes)


def compile_all() -> None:
    """Small fits, after which compiled code is on disk, and no measured time contains compilation."""
    values = simulate("lin", n_nodes=4, n_rows=100).data.to_numpy()
    for method in METHODS.values():
        method(0).fit(values)


def measure(row: Row, seed: int) -> tuple[np.ndarray, list[JudgedEdge]]:
    """SHD, SID and CPU seconds (columns) of each method (rows) on one data set, and the edges of the default."""
    figures, models = [], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = row.data_set(seed)
        values, truth = found.data.to_numpy(), found.adjacency
        for name, method in METHODS.items():
            seconds, model = cpu_seconds(partial(method(seed).fit, values))
            figures.append((shd(truth, model.adjacency_), sid(truth, model.adjacency_), seconds))
            models[name] = model
    return np.array(figures, dtype=float), judged_edges(models["default"], truth)


def mean_and_error(values: np.ndarray, form: str = ".1f") -> str:
    """Mean ± standard error; the mean alone of a single value."""
    mean = format(values.mean(), form)
    return f"{mean}±{values.std(ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else mean


def line(title: str, results: np.ndarray) -> str:
    """The line of the table for results by data set, method and figure."""
    errors = dict(zip(METHODS, np.moveaxis(results[:, :, :2], 1, 0), strict=True))
    cells = [" / ".join(mean_and_error(column) for column in by_set.T) for by_set in errors.values()]
    difference = errors["default"] - errors["pruned"]
    cells.append(" / ".join(mean_and_error(column, "+.1f") for column in difference.T))
    seconds = " / ".join(f"{mean:.1f}" for mean in results[:, :, 2].mean(axis=0))
    return f"| {title} | {len(results)} | {' | '.join(cells)} | {seconds} |"


def main() -> None:
    """Print the table, line by line as results come."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--graphs", nargs="+", choices=["er1", "er4", "sf1", "sf4"], default=["er1", "er4"])
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--authors", type=Path, help="folder of the authors' data sets")
    parser.add_argument("--n-jobs", type=int, default=-1)
    arguments = parser.parse_args()
    compile_all()
    rows = table_rows(arguments)
    jobs = [delayed(measure)(row, seed) for row in rows for seed in row.seeds]
    results = Parallel(n_jobs=arguments.n_jobs, return_as="generator")(jobs)
    names = ", ".join(METHODS)
    print(f"| data | sets | {' | '.join(METHODS)} | default - pruned | CPU s: {names} |")
    print("|---" * (len(METHODS) + 4) + "|")
    edges: list[JudgedEdge] = []
    for row in rows:
        figures, found = zip(*islice(results, len(row.seeds)), strict=True)
        edges += chain.from_iterable(found)
        print(line(row.title, np.array(figures)), flush=True)
    print_calibration(edges)


if __name__ == "__main__":
    main()
