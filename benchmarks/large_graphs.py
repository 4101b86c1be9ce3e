"""CPU seconds and megabytes of everything that shows or writes a graph of many variables (`make bench`).

Linear data with 300 rows, and the true graph as the result, an ER graph with one or four edges per node: checks of the
noise, table of edges, drawing, notebook, page, and the files of `grandag fit --output`.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import grandag
from common import cpu_seconds
from grandag import Knowledge, RandomGraph
from grandag.report import fit_page
from grandag.report.facts import FitSummary
from grandag.report.files import write_results

ROWS = 300


def fitted(d: int, edges_per_node: int) -> tuple[RandomGraph, np.ndarray]:
    """A model whose graph is the true one, with linear conditionals, and its table."""
    rng = np.random.default_rng(d)
    truth = np.triu(rng.random((d, d)) < 2 * edges_per_node / (d - 1), 1)
    weights = truth * rng.uniform(0.3, 1, truth.shape) / np.sqrt(edges_per_node)
    X = rng.normal(size=(ROWS, d)) @ np.linalg.inv(np.eye(d) - weights)
    required = [(f"X{i}", f"X{j}") for i, j in np.argwhere(truth)]
    return RandomGraph(n_edges=0, knowledge=Knowledge(required=required), random_state=0).fit(X), X


def megabytes(result: Any) -> str:
    """The size of a text, or of the files in a directory."""
    if isinstance(result, str):
        return f"{len(result.encode()) / 1e6:.2f}"
    if isinstance(result, Path):
        return f"{sum(path.stat().st_size for path in result.iterdir()) / 1e6:.2f}"
    return ""


def measure(d: int, edges_per_node: int, directory: Path) -> None:
    """Print the cost of each."""
    model, X = fitted(d, edges_per_node)
    output = directory / f"{d}-{edges_per_node}"

    def written() -> Path:
        write_results(FitSummary(model, "a table"), output)
        return output

    hub = max(model.names_, key=model.graph_.degree)
    steps: dict[str, Callable[[], Any]] = {
        "check_noise": lambda: model.check_noise(X),
        "edges_": lambda: model.edges_,
        "plot": lambda: model.plot().svg,
        "plot around the node with the most edges": lambda: model.plot(around=hub, depth=2).svg,
        "notebook": model._repr_html_,
        "page": lambda: fit_page(model, X),
        "directory": written,
        "load": lambda: grandag.load(output / "model.npz"),
    }
    for name, step in steps.items():
        seconds, result = cpu_seconds(step)
        print(f"| {d} | {len(model.edges_)} | {name} | {seconds:.2f} | {megabytes(result)} |", flush=True)


def main() -> None:
    """Measure all sizes."""
    warnings.simplefilter("ignore")
    print("| nodes | edges | what | CPU s | MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory, threadpool_limits(1):
        fitted(20, 1)[0].check_noise(fitted(20, 1)[1])  # import outside the timing
        for edges_per_node in (1, 4):
            for d in (200, 500, 1000):
                measure(d, edges_per_node, Path(directory))


if __name__ == "__main__":
    main()
