"""GES at the scale of FGES (Ramsey et al. 2017): CPU seconds, memory, and how much of the true graph is found.

    python benchmarks/fges.py [--sizes 50 1000 5000] [--edges-per-node 2] [--penalty 1 2]
    python benchmarks/fges.py --threads [--sizes 1000] [--rows 100000]

Linear Gaussian tables of 1,000 rows; each line is a process of its own, so that its memory is its own. At up to 100
nodes the graph is compared with that of `ges`, which has no limit on edges per variable.

`--threads` instead compares one thread with all cores: the covariance matrix, which threads share,
the effect edges at the start of the search, which they share as well, and the whole fit.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from joblib import effective_n_jobs

from grandag.blas import one_blas_thread
from grandag.methods.equivalence.ges import GaussianScore
from grandag.methods.equivalence.greedy_search import greedy_search
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.registry import build
from grandag.methods.stages.linear_gaussian import Moments, moments
from grandag.progress import Progress

SLOW, MEMORY = 180, 8
"""Targets: CPU seconds at 1,000 nodes, and gigabytes at 5,000."""


def linear_table(d: int, n_edges: int, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and adjacency: random DAG, weights of 0.3 to 0.8, noise of variances 0.4 to 0.8; without a d x d inverse."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((d, d), dtype=np.float32) < 2 * n_edges / (d**2 - d), 1)
    values = rng.normal(size=(n_rows, d)) * np.sqrt(rng.uniform(0.4, 0.8, d))
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        values[:, j] += values[:, parents] @ rng.uniform(0.3, 0.8, len(parents))
    order = rng.permutation(d)
    return values[:, order], adjacency[np.ix_(order, order)]


def run_one(d: int, edges_per_node: int, penalty: float) -> None:
    """One line."""
    warnings.simplefilter("ignore")
    values, truth = linear_table(d, edges_per_node * d, 1000, seed=1)
    build("fges", {}).fit(values[:, :5])  # compiles
    start = time.process_time()
    model = build("fges", {"penalty": penalty}).fit(values)
    cpu = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    found, true = (np.triu(graph | graph.T) for graph in (model.adjacency_, truth))
    n_shared = int((found & true).sum())
    text = (
        f"| {d:,} | {true.sum():,} | {penalty:g} | {cpu:.1f} | {memory:.2f} | {len(model.search_):,} | {found.sum():,} "
    )
    text += f"| {n_shared / max(found.sum(), 1):.1%} | {n_shared / true.sum():.1%} |"
    if d <= 100:
        other = build("ges", {"penalty": penalty}).fit(values)
        text += " equal to ges" if np.array_equal(other.adjacency_, model.adjacency_) else " NOT equal to ges"
    if d == 1000:
        text += f" (target {SLOW} CPU s)"
    if d == 5000:
        text += f" (target {MEMORY} GB)"
    print(text, flush=True)


def wall_and_cpu(function: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


class _ScoredError(Exception):
    """All first scores are there."""


def effect_edges(values: np.ndarray, n_threads: int) -> None:
    """The first scores of the search: what each variable's best edges would gain in an empty graph."""
    d = values.shape[1]
    allowed, nothing = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    score = CachedScore(GaussianScore(Moments(np.zeros(d), np.corrcoef(values, rowvar=False)), len(values)))

    def stop_when_scored(progress: Progress) -> None:
        if progress.step == d:
            raise _ScoredError

    def ask() -> None:
        with suppress(_ScoredError):
            greedy_search(
                score,
                allowed,
                nothing,
                phases=["forward"],
                repeat=False,
                n_threads=n_threads,
                listener=stop_when_scored,
            )

    times = [wall_and_cpu(ask) for _ in range(3)]
    print(f"| effect edges | {n_threads} | {min(wall for wall, _ in times):.2f} | {min(cpu for _, cpu in times):.2f} |")


def compare_threads(d: int, edges_per_node: int, n_rows: int) -> None:
    """One thread and all cores; the least of three times."""
    warnings.simplefilter("ignore")
    values, _ = linear_table(d, edges_per_node * d, n_rows, seed=1)
    build("fges", {}).fit(values[:, :5])  # compiles
    n_cores = int(effective_n_jobs(-1))
    print(f"{d:,} variables, {n_rows:,} rows, {n_cores} cores\n\n| | threads | wall s | CPU s |\n|---|---|---|---|")
    for n_threads in (1, n_cores):
        with one_blas_thread():
            times = [wall_and_cpu(lambda n=n_threads: moments(values, n_threads=n)) for _ in range(3)]
        print(f"| covariance | {n_threads} | {min(wall for wall, _ in times):.2f} | {min(c for _, c in times):.2f} |")
    for n_threads in (1, n_cores):
        effect_edges(values, n_threads)
    graphs = []
    for n_threads in (1, n_cores):
        model = build("fges", {"penalty": 2, "n_jobs": n_threads})
        wall, cpu = wall_and_cpu(lambda model=model: model.fit(values))
        graphs.append(model.strength_)
        print(f"| whole fit | {n_threads} | {wall:.2f} | {cpu:.2f} |")
    print(f"\nequal to the bit: {np.array_equal(*graphs)}", flush=True)


def main() -> None:
    """A table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 1000, 5000])
    parser.add_argument("--edges-per-node", type=int, default=2)
    parser.add_argument("--penalty", type=float, nargs="+", default=[1.0, 2.0])
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--threads", action="store_true", help="compare one thread with all cores")
    parser.add_argument("--rows", type=int, default=100_000, help="with --threads")
    options = parser.parse_args()
    if options.threads:
        for d in options.sizes:
            compare_threads(d, options.edges_per_node, options.rows)
        return
    if options.one:
        run_one(options.sizes[0], options.edges_per_node, options.penalty[0])
        return
    print("| nodes | edges | penalty | CPU s | memory, GB | steps | found | of these true | of the true found |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for d in options.sizes:
        for penalty in options.penalty:
            arguments = ["--sizes", str(d), "--edges-per-node", str(options.edges_per_node), "--penalty", str(penalty)]
            subprocess.run([sys.executable, __file__, "--one", *arguments], check=True)


if __name__ == "__main__":
    main()
