"""How accurate the default is: SHD / SID by setting, beside the preset fast, CAM, and the true order.

    python benchmarks/evidence_accuracy.py [--authors DIR] [--settings er4-10 er1-50 …] [--seeds 10] [--others CAM]

Settings with the authors' files in DIR use their data sets 11-20, others simulated ones of seeds 1, 2, …  Also: how
often the result's score is at least the truth's, and how often edges of a given evidence are true.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from common import JudgedEdge, judged_edges, print_calibration
from grandag import CAM, GraNDAG, simulate
from grandag.datasets import load_authors
from grandag.evidence import evaluate, select
from grandag.graph import topological_order
from grandag.metrics import shd, sid

OTHERS = {
    "fast": lambda: GraNDAG.preset("fast", random_state=0, n_jobs=1, retrain=False),
    "CAM": lambda: CAM(n_jobs=1),
}
SETTINGS = ["er1-10", "er4-10", "sf1-10", "sf4-10", "er1-20", "er4-20", "er1-50"]


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


def one(setting: str, seed: int, authors: Path | None, others: list[str]) -> tuple[list[float], list[JudgedEdge]]:
    """Figures of one data set, and the edges that the default found."""
    values, truth = data_set(setting, seed, authors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model = GraNDAG(random_state=0, n_jobs=1, retrain=False).fit(values)
        seconds = time.process_time() - began
        found = [OTHERS[name]().fit(values).adjacency_ for name in others]
    place = np.argsort(topological_order(truth))
    by_order = select(values, place[:, None] < place).adjacency
    figures = [float(measure(truth, graph)) for graph in (*found, model.adjacency_, by_order) for measure in (shd, sid)]
    gain = evaluate(values, model.adjacency_).score - evaluate(values, truth).score
    return [*figures, float(gain > -1), seconds], judged_edges(model, truth)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors", type=Path)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--others", nargs="*", choices=[*OTHERS], default=[*OTHERS])
    parser.add_argument("--n-jobs", type=int, default=-1)
    arguments = parser.parse_args()
    calibration: list[JudgedEdge] = []
    titles = [*arguments.others, "default", "true order given", "score at least the truth's", "CPU s"]
    print("| setting |", " | ".join(titles), "|\n" + "|---" * (1 + len(titles)) + "|")
    for setting in arguments.settings:
        seeds = range(1, arguments.seeds + 1)
        jobs = (delayed(one)(setting, seed, arguments.authors, arguments.others) for seed in seeds)
        rows, edges = zip(*Parallel(arguments.n_jobs)(jobs), strict=True)
        calibration += [edge for some in edges for edge in some]
        *pairs, reached, seconds = np.mean(rows, axis=0)
        cells = [f"{pairs[k]:.1f} / {pairs[k + 1]:.1f}" for k in range(0, len(pairs), 2)]
        print("|", " | ".join([setting, *cells, f"{reached:.0%}", f"{seconds:.1f}"]), "|", flush=True)
    print_calibration(calibration)


if __name__ == "__main__":
    main()
