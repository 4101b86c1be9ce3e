"""CPU seconds and memory of whole fits (`make bench`): the default, and by stage and size the preset fast.

    python benchmarks/fit_time.py [--large]

Simulated Gauss-ANM data, ER1 where nothing else is said, one thread. Targets are for a core with 94 GFLOP/s in
single-thread float32 matrix multiplication and are scaled by what is measured here.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import subprocess
import sys
import warnings

from common import REFERENCE_GFLOPS, StageClock, cpu_seconds, gauss_anm, gflops, memory_beyond, resident_bytes
from grandag import GraNDAG, NotConvergedWarning, datasets

fast = functools.partial(GraNDAG.preset, "fast", n_jobs=1)

DEFAULT_TARGETS = {"10 ER1": 4, "10 ER4": 8, "20 ER4": 40, "50 ER1": 45}
LARGE_DEFAULT_TARGETS = {"50 ER4": 240, "100 ER1": 150}


def default_seconds(name: str, target: float, n_sets: int) -> None:
    """Print CPU seconds of the whole default fit, which searches by evidence."""
    d, edges_per_node = (int(word) for word in name.split(" ER"))
    whole, n_edges = [], []
    for seed in range(n_sets):
        rows, _ = gauss_anm(d, d * edges_per_node, 1000, seed)
        seconds, model = cpu_seconds(lambda rows=rows, seed=seed: GraNDAG(n_jobs=1, random_state=seed).fit(rows))
        whole.append(seconds)
        n_edges.append(len(model.edges_))
    mean, limit = statistics.mean(whole), target * REFERENCE_GFLOPS / gflops()
    verdict = "reached" if mean <= limit else "missed"
    print(
        f"  {name.replace(' ', ' variables ')}: {mean:.1f} CPU s (target {limit:.1f}: {verdict}), "
        f"{statistics.mean(n_edges):.1f} edges on average over {n_sets} data sets",
        flush=True,
    )


def fit_seconds(d: int, target: float, whole_target: float, n_sets: int = 3) -> None:
    """Print CPU seconds of training with thresholding, and of the whole fit of the preset fast."""
    training, whole, iterations = [], [], []
    for seed in range(n_sets):
        rows, _ = gauss_anm(d, d, 1000, seed)
        seconds, model = cpu_seconds(
            lambda rows=rows, seed=seed: fast(prune=False, retrain=False, random_state=seed).fit(rows)
        )
        training.append(seconds)
        iterations.append(model.n_iter_)
        seconds, _ = cpu_seconds(lambda rows=rows, seed=seed: fast(random_state=seed).fit(rows))
        whole.append(seconds)
    scale = REFERENCE_GFLOPS / gflops()
    for name, values, limit in (("training and thresholding", training, target), ("whole fit", whole, whole_target)):
        mean = statistics.mean(values)
        verdict = "reached" if mean <= limit * scale else "missed"
        print(f"  {d} variables x 1,000 rows, {name}: {mean:.2f} CPU s (target {limit * scale:.1f}: {verdict})")
    print(f"    iterations: {statistics.mean(iterations):,.0f} on average over {n_sets} data sets")


def breakdown(d: int, target: float, n_sets: int) -> None:
    """Print CPU seconds of whole fits of the preset fast with neighbour selection, by stage."""
    clocks, whole = [], []
    for seed in range(n_sets):
        rows, _ = gauss_anm(d, d, 1000, seed)
        clocks.append(StageClock())
        seconds, _ = cpu_seconds(lambda rows=rows, seed=seed: fast(random_state=seed).fit(rows, listener=clocks[-1]))
        whole.append(seconds)
    mean, limit = statistics.mean(whole), target * REFERENCE_GFLOPS / gflops()
    verdict = "reached" if mean <= limit else "missed"
    print(
        f"  {d} variables x 1,000 rows, whole fit: {mean:.1f} CPU s (target {limit:.0f}: {verdict}), {n_sets} data sets"
    )
    for stage in clocks[0].seconds:
        print(f"    {stage}: {statistics.mean(clock.seconds[stage] for clock in clocks):.1f}")


def sachs() -> None:
    """Print the fits of the Sachs data: default, fast, one hidden layer as in the paper, and GraN-DAG++."""
    data = datasets.load_sachs().data
    for name, model in {
        "default": GraNDAG(random_state=1, n_jobs=1),
        "fast": fast(random_state=1),
        "fast, one hidden layer": fast(random_state=1, n_layers=1),
        "fast, GraN-DAG++, one hidden layer": fast(random_state=1, n_layers=1, density="gaussian"),
    }.items():
        seconds, _ = cpu_seconds(lambda model=model: model.fit(data))
        print(
            f"  {name}: {seconds:.2f} CPU s, {model.n_iter_:,} iterations, converged: {model.converged_}, "
            f"{int(model.adjacency_.sum())} edges, held-out log-likelihood {model.held_out_log_likelihood_:.2f}"
        )


def large(n: int, iterations: int = 30_000) -> None:
    """Print seconds and peak memory beyond the data of a fit with n rows and 20 columns (runs in its own process)."""
    rows, _ = gauss_anm(20, 20, n, 0)
    warnings.simplefilter("ignore", NotConvergedWarning)
    fast(max_iterations=100).fit(rows[:1000])
    before = resident_bytes()
    model = fast(max_iterations=iterations, tolerance=0.0, prune=False, retrain=False, random_state=0)
    seconds, _ = cpu_seconds(lambda: model.fit(rows))
    print(f"{seconds} {model.n_iter_} {memory_beyond(before)}")


def large_against_small() -> None:
    """Print time and memory of 1,000,000 rows beside 10,000 rows, for the same number of iterations."""
    results = {}
    for n in (10_000, 1_000_000):
        command = [sys.executable, __file__, "--rows", str(n)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results[n] = [float(word) for word in output.split()]
    (small, iterations, _), (big, big_iterations, memory) = results.values()
    per_iteration = (big / big_iterations) / (small / iterations)
    print(f"  10,000 rows: {small:.1f} CPU s, {iterations:,.0f} iterations")
    print(f"  1,000,000 rows: {big:.1f} CPU s, {big_iterations:,.0f} iterations, {memory:.2f} GB beyond the data")
    verdict = "reached" if per_iteration <= 1.5 and memory < 2 else "missed"
    print(f"  time per iteration: {per_iteration:.2f} times that of 10,000 rows (target 1.5, 2 GB: {verdict})")


def main() -> None:
    """Run all parts, or the one that runs in its own process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also default fits of 50 nodes ER4 and 100 nodes: minutes")
    parser.add_argument("--rows", type=int, help="only time and memory of this number of rows, as this program asks")
    arguments = parser.parse_args()
    if arguments.rows is not None:
        large(arguments.rows)
        return
    warm_up = GraNDAG(neighbour_selection=True, max_iterations=200, n_jobs=1, tolerance=1e9)
    warm_up.fit(gauss_anm(5, 8, 400, 0)[0])  # compile outside the timing
    print("Default fits, 1,000 rows:")
    for name, target in {**DEFAULT_TARGETS, **(LARGE_DEFAULT_TARGETS if arguments.large else {})}.items():
        default_seconds(name, target, n_sets=3 if name.startswith("10 ") else 1)
    print("Fits of the preset fast:")
    fit_seconds(10, 4, 6)
    fit_seconds(20, 10, 14)
    print("Fits of the preset fast with neighbour selection, by stage:")
    breakdown(50, 60, n_sets=3)
    breakdown(100, 250, n_sets=2)
    print("Sachs (11 variables, 853 rows):")
    sachs()
    print("20 variables, many rows:")
    large_against_small()


if __name__ == "__main__":
    main()
