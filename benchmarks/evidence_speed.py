"""How fast the evidence is: one evaluation against matrix multiplication, and whole refinements.

    python benchmarks/evidence_speed.py [--large]

One evaluation with gradient counts n^3 operations (factorisation n^3 / 3, inverse 2 n^3 / 3). A refinement starts from
a complete order of the variables, in which a tenth of the neighbours are swapped.
"""

from __future__ import annotations

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from common import REFERENCE_GFLOPS, cpu_seconds, gflops
from grandag import simulate
from grandag.evidence import refine
from grandag.evidence.regression import dense, new_workspace
from grandag.graph import topological_order

SETTINGS = {"10 ER1": (10, 10), "10 ER4": (10, 40), "20 ER4": (20, 80), "50 ER1": (50, 50)}
LARGE = {"50 ER4": (50, 200), "100 ER1": (100, 100)}


def evaluation_rate(n: int = 1000, n_inputs: int = 5) -> float:
    """GFLOP/s of one evaluation with gradient, best of several."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(n_inputs, n)).astype(np.float32)
    target = rng.normal(size=n).astype(np.float32)
    log_parameters, workspace = np.log([1.0] * n_inputs + [1.0, 0.1, 0.1]), new_workspace(n)
    with threadpool_limits(1):
        seconds = [cpu_seconds(lambda: dense(inputs, target, log_parameters, workspace, True))[0] for _ in range(20)]
    return n**3 / min(seconds) / 1e9


def noisy_order(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A complete DAG whose order is the true one but for some swapped neighbours."""
    order = topological_order(truth)
    for k in np.flatnonzero(rng.random(len(order) - 1) < 0.1):
        order[k], order[k + 1] = order[k + 1], order[k]
    place = np.argsort(order)
    return place[:, None] < place


def refinement(d: int, n_edges: int, n_rows: int = 1000, n_threads: int = 1) -> float:
    """CPU seconds of one refinement."""
    drawn = simulate.draw_scenario("gauss-anm", simulate.erdos_renyi(d, n_edges, random_state=1), n_rows, 1)
    start = noisy_order(drawn.adjacency.astype(bool), np.random.default_rng(0))
    return cpu_seconds(lambda: refine(drawn.data.to_numpy(), start, n_threads=n_threads))[0]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also 50 nodes ER4 and 100 nodes ER1: minutes")
    large = parser.parse_args().large
    refinement(4, 4, 100)  # compile
    speed = gflops()
    for n in (300, 1000):
        rate = evaluation_rate(n)
        print(f"n = {n}, 5 inputs: {n**3 / rate / 1e6:.2f} ms, {rate:.0f} GFLOP/s, {rate / speed:.0%} of {speed:.0f}")
    print("\n| nodes | CPU s | at 94 GFLOP/s |\n|---|---|---|")
    for name, (d, n_edges) in {**SETTINGS, **(LARGE if large else {})}.items():
        seconds = refinement(d, n_edges)
        print(f"| {name} | {seconds:.1f} | {seconds * speed / REFERENCE_GFLOPS:.1f} |", flush=True)


if __name__ == "__main__":
    main()
