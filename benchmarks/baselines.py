"""NOTEARS, DAG-GNN and RANDOM: CPU seconds beside gcastle's, and the paper's figures (`make bench`).

One thread. gcastle (`pip install grandag[compare]`) runs in the same process; its parts are left out where it is not
installed. With 100,000 rows it is given its first two dual steps only, which count as if they were all.
"""

from __future__ import annotations

import contextlib
import io
import logging
import statistics
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import cpu_seconds, gauss_anm
from grandag import DAGGNN, NOTEARS
from grandag.methods.notears.notears import loss
from grandag.methods.random_graph.random_graph import random_graph
from grandag.methods.stages.linear_gaussian import moments
from grandag.metrics import shd, sid

AUTHORS = Path(__file__).parents[2] / "shared" / "data" / "authors"
N_SETS = 10
METHODS: dict[str, Callable[[], Any]] = {
    "NOTEARS": NOTEARS,
    "NOTEARS, sparsity 0.01": lambda: NOTEARS(sparsity=0.01),
    "DAG-GNN": lambda: DAGGNN(random_state=0),
}


def linear(d: int, n_edges: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Equal variances, weights of 0.5 to 2 with both signs, ER graph: what NOTEARS was published with."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1)
    weights = adjacency * rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d))
    values = rng.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    order = rng.permutation(d)
    return values[:, order], adjacency[np.ix_(order, order)]


def paper_linear(d: int, n_edges: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """LIN of the paper's appendix: weights U[0, 1], noise 0.2 N(0, U[1, 2]), roots U[-1, 1]."""
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1)
    values = np.zeros((n, d))
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        noise = 0.2 * rng.normal(0, np.sqrt(rng.uniform(1, 2)), n) if len(parents) else rng.uniform(-1, 1, n)
        values[:, j] = values[:, parents] @ rng.uniform(0, 1, len(parents)) + noise
    order = rng.permutation(d)
    return values[:, order], adjacency[np.ix_(order, order)]


def castle() -> Any:
    """gcastle's methods, or None."""
    logging.disable(logging.INFO)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            import castle.algorithms as algorithms
    except ImportError:
        print("  gcastle is not installed: no comparison with it")
        return None
    import torch

    torch.set_num_threads(1)
    return algorithms


def verdict(ratio: float, target: float) -> str:
    """A ratio of CPU seconds in words."""
    return f"{ratio:.0f} times less (target {target:.0f}: {'reached' if ratio >= target else 'missed'})"


def notears_speed(algorithms: Any) -> None:
    """Equal problems for both, and the objective that each reaches."""
    for n, target, max_iter in ((1000, 3, 100), (100_000, 20, 2)):
        values, _ = linear(50, 50, n, 0)
        seconds, model = cpu_seconds(lambda values=values: NOTEARS().fit(values))
        print(f"  NOTEARS, 50 variables, {n:,} rows: {seconds:.2f} CPU s, objective {model.objective_:.4f}")
        if algorithms is not None:
            theirs = algorithms.Notears(max_iter=max_iter)
            their_seconds, _ = cpu_seconds(lambda values=values, theirs=theirs: theirs.learn(values))
            weights = np.asarray(theirs.weight_causal_matrix)
            objective = loss(weights, moments(values).covariance)[0] + 0.1 * np.abs(weights).sum()
            reached = f", objective {objective:.4f}" if max_iter == 100 else " for two dual steps"
            print(f"    gcastle {their_seconds:.1f} CPU s{reached}; {verdict(their_seconds / seconds, target)}")
    values, adjacency = linear(100, 100, 1000, 0)
    seconds, model = cpu_seconds(lambda: NOTEARS().fit(values))
    print(f"  NOTEARS, 100 variables, 1,000 rows: {seconds:.2f} CPU s, SHD {shd(adjacency, model.adjacency_)}")
    values, _ = linear(50, 50, 1_000_000, 0)
    seconds, _data = cpu_seconds(lambda: moments(values))
    print(f"  covariance of 1,000,000 rows, 50 variables: {seconds:.2f} CPU s; the rest does not depend on the rows")


def dag_gnn_speed(algorithms: Any) -> None:
    """CPU seconds per epoch of 1,000 rows: gcastle's from a short run, ours from a whole one."""
    values, _ = gauss_anm(10, 10, 1000, 0)
    seconds, model = cpu_seconds(lambda: DAGGNN(random_state=0).fit(values))
    print(f"  DAG-GNN, 10 variables: {seconds:.1f} CPU s for {model.n_iter_:,} epochs and retraining")
    if algorithms is None:
        return
    their_seconds, _ = cpu_seconds(lambda: algorithms.DAG_GNN(epochs=100, k_max_iter=1, c_a_thresh=2).learn(values))
    per_epoch, their_per_epoch = seconds / (model.n_iter_ + 300), their_seconds / 100
    print(
        f"    per epoch {1000 * per_epoch:.2f} ms; gcastle {1000 * their_per_epoch:.1f} ms, that is "
        f"{their_per_epoch * model.n_iter_:.0f} s for as many; {verdict(their_per_epoch / per_epoch, 10)}"
    )


def sanity(name: str, sets: list[tuple[np.ndarray, np.ndarray]], paper: dict[str, str]) -> None:
    """Mean SHD and SID over data sets, beside the paper's."""
    for method, estimator in METHODS.items():
        models = [estimator().fit(values) for values, _ in sets]
        distances = [shd(truth, model.adjacency_) for model, (_, truth) in zip(models, sets, strict=True)]
        effects = [sid(truth, model.adjacency_) for model, (_, truth) in zip(models, sets, strict=True)]
        figures = paper["NOTEARS" if isinstance(models[0], NOTEARS) else "DAG-GNN"]
        print(
            f"  {name}, {method}: SHD {spread(distances)}, SID {spread(effects)} over {len(sets)} sets "
            f"(paper {figures})"
        )


def spread(numbers: list[int]) -> str:
    """Mean and standard deviation."""
    return f"{statistics.mean(numbers):.1f}±{statistics.stdev(numbers):.1f}"


def authors_sets(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The authors' released data sets of one kind."""
    files = sorted((AUTHORS / name).glob("data*.npy"))[:N_SETS]
    return [
        (np.load(file).astype(float), np.load(file.with_name(file.name.replace("data", "DAG"))) > 0) for file in files
    ]


def random_figures(n_graphs: int = 300) -> None:
    """SHD and SID of RANDOM by scheme, and by schemes that the paper's figures rule out."""
    schemes: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {
        "uniform": lambda d, e, rng: random_graph(d, "uniform", rng),
        "fixed": lambda d, e, rng: random_graph(d, "fixed" if d in (10, 50) else d * (d - 1) // 4, rng),
        "as many as expected of the truth": lambda d, e, rng: random_graph(d, e, rng),
        "each pair with probability 1/2": lambda d, e, rng: random_graph(
            d, int(rng.binomial(d * (d - 1) // 2, 0.5)), rng
        ),
    }
    print("  RANDOM, SHD / SID to ER graphs (paper: main tables; mean of the LIN, ADD-FUNC and PNL tables):")
    paper = {
        (10, 10): "26.3±9.8 / 25.8±10.4; 23.1±2.7 / 32.9±17.9",
        (10, 40): "31.8±5.0 / 76.6±7.0; 34.1±2.9 / 77.8±6.0",
        (50, 50): "535.7±401.2 / 272.3±125.5; 690.5±6.5 / 373.8±150.3",
        (50, 200): "708.4±234.4 / 1921.3±203.5; 715.0±10.9 / 1920.6±61.7",
    }
    for (d, n_edges), figures in paper.items():
        print(f"    {d} nodes ER{n_edges // d}: paper {figures}")
        for name, draw in schemes.items():
            rng = np.random.default_rng(0)
            distances, effects = [], []
            for _ in range(n_graphs // (1 if d == 10 else 5)):
                truth = np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1)
                graph = draw(d, n_edges, rng)
                distances.append(shd(truth, graph))
                effects.append(sid(truth, graph))
            print(f"      {name}: {spread(distances)} / {spread(effects)}")


def main() -> None:
    """Run all parts."""
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(line_buffering=True)
    DAGGNN(n_epochs=1, random_state=0).fit(gauss_anm(3, 3, 200, 0)[0])  # compile outside the timing
    print("NOTEARS, DAG-GNN and RANDOM:")
    with threadpool_limits(1):
        algorithms = castle()
        notears_speed(algorithms)
        dag_gnn_speed(algorithms)
        anm = {"NOTEARS": "SHD 12.2±2.9, SID 36.6±13.1", "DAG-GNN": "SHD 11.4±3.1, SID 37.6±14.4"}
        sanity("Gauss-ANM 10 nodes ER1", [gauss_anm(10, 10, 1000, seed) for seed in range(N_SETS)], anm)
        if AUTHORS.is_dir():
            sanity("the authors' Gauss-ANM 10 nodes ER1", authors_sets("data_p10_e10_n1000_GP"), anm)
        lin = {"NOTEARS": "SHD 27.9±4.3, SID 72.1±7.9", "DAG-GNN": "SHD 18.9±4.8, SID 63.7±8.9"}
        sanity("LIN 10 nodes ER4", [paper_linear(10, 40, 1000, seed) for seed in range(N_SETS)], lin)
        random_figures()


if __name__ == "__main__":
    main()
