"""CPU seconds of exact search with the BIC.

    python benchmarks/exact.py [--variables 20] [--max-parents 4] [--seeds 3] [--seconds 120]
    python benchmarks/exact.py --variables 25 30 --max-parents 3    # A*, beyond 22 variables
    .venv-interop/bin/python benchmarks/exact.py --variables 10 12  # beside causal-learn (`make bench-exact`)

Linear Gaussian tables of 1,000 rows, two edges per variable; beside it, how much lower the score of GES is. A search
that takes longer than --seconds of CPU is stopped, and the gap says how much better another graph could be. Where
causal-learn is installed, its `bic_exact_search` (A*) runs in the same process on tables of up to 12 variables.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from common import cpu_seconds
from grandag import GES, ExactSearch
from grandag.graph import to_cpdag
from grandag.progress import Progress
from grandag.simulate.files import simulate

MOST_OF_THE_PACKAGE = 12
"""Variables."""


def stop_after(seconds: float) -> Callable[[Progress], None]:
    """A listener that ends the search, as Ctrl-C does, when it has computed for so long."""
    start = time.process_time()

    def listen(_: Progress) -> None:
        if time.process_time() - start > seconds:
            raise KeyboardInterrupt

    return listen


def compare(d: int, max_parents: int, seed: int, most_seconds: float) -> None:
    """One line for ours, and one for causal-learn's."""
    data = simulate("lin", graph="er", n_nodes=d, n_edges=2 * d, n_rows=1000, seed=seed).data
    exact = ExactSearch(max_parents=max_parents)
    seconds, model = cpu_seconds(lambda: exact.fit(data, listener=stop_after(most_seconds)))
    below = model.score_ - GES(max_parents=max_parents).fit(data).score_
    gap = "unknown" if model.gap_ is None else f"{model.gap_:.3g}"
    print(f"{d} variables, seed {seed}: {seconds:.2f} CPU s, gap {gap}, GES is {below:.1f} below", flush=True)
    if d > MOST_OF_THE_PACKAGE:
        return
    try:
        from causallearn.search.ScoreBased.ExactSearch import bic_exact_search
    except ImportError:
        return
    values = (data - data.mean()).to_numpy()  # it has no intercepts
    needed, (theirs, _) = cpu_seconds(lambda: bic_exact_search(values, max_parents=max_parents))
    is_same = np.array_equal(to_cpdag(theirs.astype(bool)), model.adjacency_)
    print(f"  causal-learn: {needed:.2f} CPU s, {needed / seconds:.0f} times ours, "
          f"{'the same' if is_same else 'another'} class", flush=True)  # fmt: skip


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variables", type=int, nargs="+", default=[20])
    parser.add_argument("--max-parents", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0, help="CPU seconds after which a search is stopped")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    small = simulate("lin", graph="er", n_nodes=5, n_edges=10, n_rows=1000, seed=1).data
    for exhaustive_up_to in (5, 3):  # compiles: all subsets, and A*
        ExactSearch(max_parents=2, exhaustive_up_to=exhaustive_up_to).fit(small)
    with threadpool_limits(1):
        for d in options.variables:
            for seed in range(1, options.seeds + 1):
                compare(d, options.max_parents, seed, options.seconds)


if __name__ == "__main__":
    main()
