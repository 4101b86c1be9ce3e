"""Choices behind the evidence of tables with labels or counts: the score of a regression, and the search.

    python benchmarks/mixed_evidence.py --sets 5 --density 1

Tables are those of `grandag simulate mixed`, ten nodes and 1,000 rows; every search starts from the empty graph. "REML"
is the restricted likelihood, "BIC" the log-likelihood minus log(n) / 2 per effective degree of freedom, both with the
same cost per edge; "greedy" changes one edge at a time, "reinsertion" is the search of tables of numbers. SHD and SID
as means over the sets; the totals of two searches can be compared if the score of a regression is the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from common import cpu_seconds
from grandag.blas import one_blas_thread
from grandag.evidence.additive import AdditiveScores, Regressions
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.greedy import climb
from grandag.evidence.interface import Parents
from grandag.evidence.plans import Knowledge, as_adjacency
from grandag.evidence.search import Search, Searched
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate
from grandag.table import Table, as_table


class _BicRegressions(Regressions):
    """The same regressions by their BIC."""

    def value(self, child: int, parents: Parents) -> float:
        """log L - log(n) / 2 edf"""
        key = child, parents
        if key not in self._values:
            self._values[key] = self._fit(child, parents).bic
        return self._values[key]


class _BicScores(AdditiveScores):
    """Local scores by BIC."""

    regressions = _BicRegressions


def searched(table: Table, scores_of: type[AdditiveScores], greedy: bool) -> Searched:
    """What a search finds from the empty graph."""
    rng, d = np.random.default_rng(0), len(table.names)
    scores = scores_of(table.values, table.kinds, EvidenceConfig(), rng)
    knowledge = Knowledge(~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool))
    nothing: list[Parents] = [()] * d
    report: Callable[[Searched], None] = lambda state: None  # noqa: E731
    with one_blas_thread():
        if greedy:
            return climb(scores, knowledge, nothing, report)
        return Search(scores, knowledge, rng, report).run(nothing)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--density", type=int, default=1, help="edges per node")
    parser.add_argument("--searches", nargs="+", default=["greedy", "reinsertion"])
    given = parser.parse_args()
    print("| score | search | SHD | SID | score per set | CPU s |\n|---|---|---|---|---|---|")
    for name, scores_of in (("REML", AdditiveScores), ("BIC", _BicScores)):
        for search in given.searches:
            rows, totals = [], []
            for seed in range(given.sets):
                scenario = simulate("mixed", n_nodes=10, n_edges=10 * given.density, n_rows=1000, seed=seed)
                table = as_table(scenario.data, kinds=scenario.configuration["kinds"])
                seconds, found = cpu_seconds(lambda: searched(table, scores_of, search == "greedy"))  # noqa: B023
                graph = as_adjacency(found.parents)
                rows.append((shd(scenario.adjacency, graph), sid(scenario.adjacency, graph), seconds))
                totals.append(f"{found.total:.1f}")
            distance, intervention, seconds = np.mean(rows, axis=0)
            means = f"{distance:.1f} | {intervention:.1f} | {', '.join(totals)} | {seconds:.0f}"
            print(f"| {name} | {search} | {means} |", flush=True)


if __name__ == "__main__":
    main()
