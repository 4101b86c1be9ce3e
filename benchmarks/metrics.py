"""CPU seconds of SID and its bounds on random graphs (`make bench`).

Truth and estimate are independent ER graphs; median of five pairs; one thread for matrices, and
all threads of gadjid counted. Targets are for a core with 94 GFLOP/s in single-thread float32 matrix multiplication
and are scaled by what is measured here.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from common import REFERENCE_GFLOPS, cpu_seconds, gflops
from grandag.graph import to_cpdag
from grandag.metrics import shd_cpdag, sid, sid_bounds


def random_dag(d: int, edges_per_node: int, rng: np.random.Generator) -> np.ndarray:
    """An ER graph with that many edges per node on average."""
    upper = np.triu(rng.random((d, d)) < 2 * edges_per_node / (d - 1), 1)
    order = rng.permutation(d)
    return upper[np.ix_(order, order)]


def measure(
    name: str, metric: Callable[[np.ndarray, np.ndarray], object], d: int, edges_per_node: int, target: float | None,
    *, of_class: bool = False, n_pairs: int = 5,
) -> None:  # fmt: skip
    """Print the median CPU seconds of a metric; `of_class` compares with the CPDAG of the estimate."""
    rng = np.random.default_rng(d)
    seconds = []
    for _ in range(n_pairs):
        truth, estimate = random_dag(d, edges_per_node, rng), random_dag(d, edges_per_node, rng)
        if of_class:
            estimate = to_cpdag(estimate)
        with threadpool_limits(1):
            seconds.append(cpu_seconds(lambda truth=truth, estimate=estimate: metric(truth, estimate))[0])
    median = statistics.median(seconds)
    text = f"  {name}, {d} nodes ER{edges_per_node}: {1e3 * median:.1f} ms"
    if target is not None:
        limit = target * REFERENCE_GFLOPS / gflops()
        text += f" (target {1e3 * limit:.0f}: {'reached' if median <= limit else 'missed'})"
    print(text)


def main() -> None:
    """Run all parts."""
    sid(np.eye(3, k=1, dtype=bool), np.eye(3, k=1, dtype=bool))  # import outside the timing
    print("Metrics:")
    for d, target in ((100, 0.02), (500, 2.0)):
        for edges_per_node in (1, 4):
            measure("SID", sid, d, edges_per_node, target)
    measure("SID bounds of a CPDAG", sid_bounds, 100, 1, 2.0, of_class=True)
    for d, edges_per_node in ((100, 4), (500, 1), (500, 4)):
        measure("SID bounds of a CPDAG", sid_bounds, d, edges_per_node, None, of_class=True)
    measure("SHD-C", shd_cpdag, 500, 4, None)


if __name__ == "__main__":
    main()
