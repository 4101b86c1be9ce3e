"""CPU seconds of exact search with the BIC.

    python benchmarks/exact.py [--variables 20] [--max-parents 4] [--seeds 3]

Linear Gaussian tables of 1,000 rows, two edges per variable; beside it, how much lower the score of GES is.
"""

import argparse
import time

from grandag import GES, ExactSearch
from grandag.simulate.files import simulate


def main() -> None:
    """One line per table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, default=20)
    parser.add_argument("--max-parents", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    d = options.variables
    for seed in range(options.seeds + 1):
        data = simulate("lin", graph="er", n_nodes=d, n_edges=2 * d, n_rows=1000, seed=max(seed, 1)).data
        if seed == 0:
            ExactSearch(max_parents=2).fit(data[data.columns[:5]])  # compiles
            continue
        before = time.process_time()
        model = ExactSearch(max_parents=options.max_parents).fit(data)
        seconds = time.process_time() - before
        below = model.score_ - GES(max_parents=options.max_parents).fit(data).score_
        print(f"{d} variables, seed {seed}: {seconds:.1f} CPU s, gap {model.gap_:.3g}, GES is {below:.1f} below")


if __name__ == "__main__":
    main()
