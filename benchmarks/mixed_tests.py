"""Two tests of independence for columns of several kinds: do Rao's score test and the likelihood ratio agree?

    python benchmarks/mixed_tests.py [--sets 5]

Tables of `grandag simulate mixed` with six nodes, six edges expected and 500 rows. All pairs are tested given nothing
and given each other column. Printed: tests, the share with the same decision at PC's level of 0.01, how often each
rejects, how often each rejects what the graph says to be independent, and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import networkx as nx
import numpy as np

from grandag.methods.equivalence.mixed import MixedTests
from grandag.simulate.files import simulate
from grandag.table import as_table

_LEVEL = 0.01


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=5)
    rejected, independent, seconds = [], [], np.zeros(2)
    for seed in range(parser.parse_args().sets):
        scenario = simulate("mixed", n_nodes=6, n_edges=6, n_rows=500, seed=seed)
        table = as_table(scenario.data, kinds=scenario.configuration["kinds"])
        truth = nx.from_numpy_array(scenario.adjacency, create_using=nx.DiGraph)
        questions = [
            (a, b, given)
            for a, b in combinations(range(6), 2)
            for given in [(), *((c,) for c in range(6) if c not in (a, b))]
        ]
        independent += [nx.is_d_separator(truth, {a}, {b}, set(given)) for a, b, given in questions]
        both = []
        for place, by_ratios in enumerate((False, True)):
            start, tests = time.process_time(), MixedTests(table, by_ratios=by_ratios)
            both.append([tests.p_value(*question) < _LEVEL for question in questions])
            seconds[place] += time.process_time() - start
        rejected += list(zip(*both, strict=True))
    found, is_independent = np.array(rejected), np.array(independent)
    print(f"{len(found):,} tests, the same decision in {(found[:, 0] == found[:, 1]).mean():.1%}")
    for place, name in enumerate(("score", "likelihood ratio")):
        wrong, right = found[is_independent, place].mean(), found[~is_independent, place].mean()
        print(f"{name}: rejects {wrong:.1%} of independent and {right:.1%} of other pairs; {seconds[place]:.0f} CPU s")


if __name__ == "__main__":
    main()
