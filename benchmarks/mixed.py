"""Tables with labels, counts and heavy tails: GraN-DAG with kinds, beside all taken for Gaussian numbers, PC and GES.

    python benchmarks/mixed.py                                 # all of it: hours
    python benchmarks/mixed.py --nodes 10 --rows 1000 --sets 3 --methods grandag gaussian pc ges
    python benchmarks/mixed.py --package-python ENV/bin/python # with pgmpy, installed in an environment of its own
    python benchmarks/mixed.py --store FILE                    # keeps each result, and computes none of them again
    python benchmarks/mixed.py --limit 600                     # a fit that takes longer counts as out of time

Tables are those of `grandag simulate mixed` (a fifth of the nodes each: binary, categorical, count, Student t,
Gaussian), on Erdos-Renyi graphs with d or 4 d edges expected. SHD and SID as mean ± standard deviation over the sets;
of an equivalence class the SHD of its CPDAG to the true one's, and the bounds of the SID. CPU seconds are those of a
fit. All methods get the true kinds but "auto", which is GraN-DAG with the kinds that it finds, never heavy tails.
With `--limit`, means are over the sets that were in time, the number of the others is stated, and each fit has a
process of its own, which first loads what is compiled. pgmpy's is its hill climbing with the BIC of conditional
Gaussian distributions (`bic-cg`), on the table with labels.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Store, cpu_seconds
from grandag import GES, PC, GraNDAG
from grandag.metrics import shd, shd_cpdag, sid, sid_bounds
from grandag.simulate.files import simulate
from grandag.simulate.scenario import Scenario
from grandag.table import Table, as_table

_PGMPY = """
import sys, warnings
warnings.simplefilter("ignore")
import pandas as pd
from pgmpy.estimators import HillClimbSearch
data = pd.read_csv(sys.argv[1])
for name in data:
    if not pd.api.types.is_numeric_dtype(data[name]):
        data[name] = data[name].astype("category")
found = HillClimbSearch(data).estimate(scoring_method="bic-cg", show_progress=False, max_indegree=6)
print("\\n".join(f"{source},{target}" for source, target in found.edges()))
"""


class Found(NamedTuple):
    """A graph and what it took."""

    adjacency: np.ndarray
    is_dag: bool
    seconds: float


def fitted(model: Any, table: Table) -> Found:
    """What a method of the library finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = cpu_seconds(lambda: model.fit(table))
    return Found(model.adjacency_, model.is_dag_, seconds)


def as_gaussian(table: Table) -> Table:
    """The same values as plain numbers: codes of labels in their order."""
    return Table(table.values, table.names, has_own_names=True)


def pgmpy(scenario: Scenario, python: str) -> Found:
    """pgmpy's answer, from an interpreter of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        scenario.data.to_csv(path, index=False)
        start = _children()
        printed = subprocess.run([python, "-c", _PGMPY, str(path)], check=True, capture_output=True, text=True).stdout
    adjacency = np.zeros((len(scenario.names),) * 2, dtype=bool)
    for line in printed.split():
        source, target = line.split(",")
        adjacency[scenario.names.index(source), scenario.names.index(target)] = True
    return Found(adjacency, True, _children() - start)


def _children() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class OutOfTimeError(Exception):
    """A fit took too long."""


def limited(function: Callable[[], Found], seconds: int) -> Found:
    """What a function finds within so many seconds of the clock, in a process of its own; 0: here, without a limit."""
    if not seconds:
        return function()
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sending.send(function()))
    process.start()
    sending.close()
    try:
        if not receiving.poll(seconds):
            raise OutOfTimeError
        return receiving.recv()
    finally:
        process.kill()
        process.join()


Learn = Callable[[Scenario, Table, int], Found]
"""What a method finds, of a scenario and its table, with a seed."""


def methods(python: str | None) -> dict[str, Learn]:
    """What is compared."""
    found: dict[str, Learn] = {
        "grandag": lambda _, table, seed: fitted(GraNDAG(random_state=seed), table),
        "auto": lambda scenario, _, seed: fitted(GraNDAG(random_state=seed), as_table(scenario.data)),
        "fast": lambda _, table, seed: fitted(GraNDAG.preset("fast", random_state=seed), table),
        "gaussian": lambda _, table, seed: fitted(GraNDAG(random_state=seed), as_gaussian(table)),
        "pc": lambda _, table, seed: fitted(PC(), table),
        "ges": lambda _, table, seed: fitted(GES(), table),
    }
    if python is not None:
        found["pgmpy"] = lambda scenario, _, seed: pgmpy(scenario, python)
    return found


def scores(truth: np.ndarray, found: Found) -> tuple[float, float, float]:
    """SHD, and the lower and upper bound of the SID."""
    if found.is_dag:
        distance = sid(truth, found.adjacency)
        return shd(truth, found.adjacency), distance, distance
    lower, upper = sid_bounds(truth, found.adjacency)
    return shd_cpdag(truth, found.adjacency), lower, upper


def shown(values: np.ndarray) -> str:
    """The mean, ± the standard deviation."""
    return f"{values.mean():.1f}±{values.std():.1f}"


class Cell(NamedTuple):
    """A block of the table."""

    n_nodes: int
    density: int
    n_rows: int

    def judge(self, learn: Learn, seed: int, limit: int) -> list[float]:
        """One fit: SHD, bounds of the SID, CPU seconds; nothing if it was out of time."""
        scenario = simulate(
            "mixed", n_nodes=self.n_nodes, n_edges=self.density * self.n_nodes, n_rows=self.n_rows, seed=seed
        )
        table = as_table(scenario.data, kinds=scenario.configuration["kinds"])
        try:
            found = limited(lambda: learn(scenario, table, seed), limit)
        except OutOfTimeError:
            return []
        return [float(value) for value in (*scores(scenario.adjacency, found), found.seconds)]

    def row(self, name: str, learn: Learn, sets: int, limit: int, store: Store) -> str:
        """The line of one method."""
        words = (name, self.n_nodes, self.density, self.n_rows, *([f"limit={limit}"] if limit else []))
        results = [store.get(lambda *words: self.judge(learn, words[-1], limit), *words, seed) for seed in range(sets)]
        in_time = [result for result in results if result]
        n_late = sets - len(in_time)
        start = f"| {self.n_nodes} | {self.density} | {self.n_rows:,} | {name} | {len(in_time)}"
        start += f" ({n_late} of {sets} out of time)" if n_late else ""
        if not in_time:
            return f"{start} | | | |"
        distance, lower, upper, seconds = np.array(in_time).T
        bounds = shown(lower) if (lower == upper).all() else f"[{lower.mean():.1f}, {upper.mean():.1f}]"
        return f"{start} | {shown(distance)} | {bounds} | {seconds.mean():.0f} |"


def main() -> None:
    """Print a table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--density", type=int, nargs="+", default=[1, 4], help="edges per node")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--methods", nargs="+", default=None)
    parser.add_argument("--package-python", default=None, help="an interpreter that has pgmpy")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="seconds for a fit; 0: no limit")
    given = parser.parse_args()
    known = methods(given.package_python)
    chosen = [name for name in known if given.methods is None or name in given.methods]
    store = Store(given.store)
    print("| nodes | edges per node | rows | method | sets | SHD | SID | CPU s |\n|---|---|---|---|---|---|---|---|")
    for cell in itertools.starmap(Cell, itertools.product(given.nodes, given.density, given.rows)):
        for name in chosen:
            print(cell.row(name, known[name], given.sets, given.limit, store), flush=True)


if __name__ == "__main__":
    main()
