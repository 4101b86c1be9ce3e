"""How accurate graphs by evidence are: SHD / SID by setting, from GraN-DAG's graph before pruning.

    python benchmarks/evidence_accuracy.py [--authors DIR] [--settings er4-10 er1-50 …] [--seeds 10]

Settings with the authors' files in DIR use their data sets 11-20, others simulated ones of seeds 1, 2, …  Beside each:
what selection reaches when the true order is given, how often the result's score is at least the truth's, and how
often edges of a given evidence are true.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from grandag import GraNDAG, simulate
from grandag.datasets import load_authors
from grandag.evidence import evaluate, refine, select
from grandag.graph import topological_order
from grandag.metrics import shd, sid

SETTINGS = ["er1-10", "er4-10", "sf1-10", "sf4-10", "er1-20", "er4-20", "er1-50"]
BINS = [(3, 5), (5, 10), (10, 25), (25, np.inf)]


def data_set(setting: str, seed: int, authors: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and truth: the authors' set 10 + seed if it is there, a simulated one otherwise."""
    if authors is not None:
        try:
            found = load_authors(authors, setting, 10 + seed)
            return found.data.to_numpy(), found.adjacency.astype(bool)
        except (FileNotFoundError, ValueError):
            pass
    kind, density, d = setting[:2], int(setting[2]), int(setting.split("-")[1])
    graph = simulate.draw_graph(kind, d, density * d, random_state=seed)
    drawn = simulate.draw_scenario("gauss-anm", graph, 1000, seed)
    return drawn.data.to_numpy(), drawn.adjacency.astype(bool)


def one(values: np.ndarray, truth: np.ndarray) -> tuple[list[float], list[tuple[float, bool]]]:
    """Figures of one data set, and (evidence, is it true) of each edge found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = GraNDAG(prune=False, retrain=False, random_state=0, n_jobs=1).fit(values).adjacency_
    began = time.process_time()
    found = refine(values, np.asarray(start, dtype=bool))
    seconds = time.process_time() - began
    place = np.argsort(topological_order(truth))
    by_order = select(values, place[:, None] < place)
    gain = found.score - evaluate(values, truth).score
    figures = [shd(truth, start), sid(truth, start), shd(truth, found.adjacency), sid(truth, found.adjacency)]
    figures += [shd(truth, by_order.adjacency), sid(truth, by_order.adjacency), float(gain > -1), seconds]
    edges = [(found.edge_evidence[i, j], bool(truth[i, j])) for i, j in np.argwhere(found.adjacency)]
    return figures, edges


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    calibration: list[tuple[float, bool]] = []
    print("| setting | start | refined | true order given | score at least the truth's | CPU s |")
    print("|---|---|---|---|---|---|")
    for setting in arguments.settings:
        rows = []
        for seed in range(1, arguments.seeds + 1):
            figures, edges = one(*data_set(setting, seed, arguments.authors))
            rows.append(figures)
            calibration += edges
        *pairs, reached, seconds = np.mean(rows, axis=0)
        cells = [f"{pairs[k]:.1f} / {pairs[k + 1]:.1f}" for k in (0, 2, 4)] + [f"{reached:.0%}", f"{seconds:.1f}"]
        print("|", " | ".join([setting, *cells]), "|", flush=True)
    print("\n| evidence of an edge, nats | edges | true |\n|---|---|---|")
    for low, high in BINS:
        inside = [is_true for evidence, is_true in calibration if low <= evidence < high]
        print(f"| {low} to {high} | {len(inside)} | {np.mean(inside) if inside else np.nan:.0%} |")


if __name__ == "__main__":
    main()
