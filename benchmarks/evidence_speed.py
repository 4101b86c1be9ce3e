"""How fast the evidence is: one evaluation against matrix multiplication, whole refinements, more rows, two threads.

    python benchmarks/evidence_speed.py [--large]

One evaluation with gradient counts n^3 operations (factorisation n^3 / 3, inverse 2 n^3 / 3). A refinement starts from
a complete order of the variables, in which a tenth of the neighbours are swapped.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from common import REFERENCE_GFLOPS, cpu_seconds, gflops, memory_beyond, resident_bytes
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


def problem(d: int, n_edges: int, n_rows: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Rows and a graph to start from."""
    drawn = simulate.draw_scenario("gauss-anm", simulate.erdos_renyi(d, n_edges, random_state=1), n_rows, 1)
    return drawn.data.to_numpy(), noisy_order(drawn.adjacency.astype(bool), np.random.default_rng(0))


def refinement(d: int, n_edges: int, n_rows: int = 1000) -> float:
    """CPU seconds of one refinement by one thread."""
    values, start = problem(d, n_edges, n_rows)
    return cpu_seconds(lambda: refine(values, start))[0]


def threads(d: int, n_edges: int) -> float:
    """How many times faster two threads are than one, by the clock: only true on two free cores."""
    values, start = problem(d, n_edges)
    seconds = []
    for n_threads in (1, 2):
        began = time.perf_counter()
        refine(values, start, n_threads=n_threads)
        seconds.append(time.perf_counter() - began)
    return seconds[0] / seconds[1]


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
    before = resident_bytes()
    for name, (d, n_edges) in {**SETTINGS, **(LARGE if large else {})}.items():
        seconds = refinement(d, n_edges)
        print(f"| {name} | {seconds:.1f} | {seconds * speed / REFERENCE_GFLOPS:.1f} |", flush=True)
    print(f"\nMemory of these: {memory_beyond(before):.2f} GB")
    print(f"Two threads, 20 ER4: {threads(20, 80):.2f} times faster")
    few = refinement(10, 10)
    for n_rows in (10_000, *((100_000,) if large else ())):
        print(f"{n_rows:,} rows, 10 ER1: {refinement(10, 10, n_rows) / few:.1f} times as long as 1,000", flush=True)


if __name__ == "__main__":
    main()
