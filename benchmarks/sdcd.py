"""GraN-DAG and others on the data of SDCD's simulations, beside what its authors report (`make bench-sdcd`).

    python benchmarks/sdcd.py [--nodes 50] [--rows 10000] [--sets 1] [--methods default fast CAM …] [--package]

Sets are those of `grandag simulate mlp-standard --graph er-exact --n-edges 4*NODES --seed 1`, 2, …: 4 edges per node,
random neural networks, no interventions, every column of variance 1. Precision and recall are of directed edges, and a
reversed edge counts 1 in SHD. Every fit has a process of its own, with as many threads as there are cores. Memory is
what the process holds at most, interpreter and libraries included. With --package, the package sdcd itself is fitted to
the same tables, in one thread, in the environment of its own that `make bench-sdcd` makes. Seconds are those of this
machine; the first line has its rate of matrix multiplication.

Reported figures are means over the authors' sets of the same law (seeds 0, 1, 2), from the table of runs in their
repository (azizilab/sdcd, observational.csv, runs on a GPU). Seconds on a CPU, whose kind they do not name, are of the
same sets, but those for 100 and 500 nodes are as reported: there, the table of runs has 1,331 s for 100 nodes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from common import StageClock, cpu_seconds, gflops
from grandag import CAM, DAGGNN, GES, NOTEARS, GraNDAG
from grandag.graph import is_acyclic
from grandag.metrics import direction_scores, edge_errors, sid
from grandag.progress import Progress
from grandag.simulate.files import simulate

PACKAGE = Path(__file__).parents[1] / ".venv-sdcd" / "bin" / "python"
METHODS: dict[str, Callable[[], Any]] = {
    "default": lambda: GraNDAG(random_state=0),
    "fast": lambda: GraNDAG.preset("fast", random_state=0),
    "paper": lambda: GraNDAG.preset("paper", random_state=0),
    "CAM": CAM,
    "NOTEARS": NOTEARS,
    "GES": GES,
    "DAG-GNN": lambda: DAGGNN(random_state=0),
}
REPORTED = {
    50: "SHD 68, precision 0.76, recall 0.95; 606 s on a GPU, 1,132 s on a CPU",
    100: "SHD 90, precision 0.83, recall 0.95; 591 s on a GPU, 1,050 s on a CPU",
    200: "SHD 228, precision 0.81, recall 0.92; 611 s on a GPU, 3,494 s on a CPU",
    500: "SHD 621, precision 0.79, recall 0.92; 736 s on a GPU, 17,131 s on a CPU",
    1000: "SHD 1,439, precision 0.76, recall 0.91; 1,072 s on a GPU",
}
HEADER = "| method | set | SHD | missing / extra / reversed | precision | recall | SID | CPU s | s | GB |"


class LoudClock(StageClock):
    """CPU seconds by stage, and a line on stderr for every stage that begins: large fits take long."""

    def __call__(self, progress: Progress) -> None:
        """Called by the fit."""
        if progress.stage not in self.seconds:
            print(f"{progress.stage}, after {time.process_time():.0f} CPU s", file=sys.stderr, flush=True)
        super().__call__(progress)


def fit(method: str, table: Path, graph: Path) -> dict[str, Any]:
    """Fit in this process, write the graph, and return seconds, memory and stages."""
    warnings.simplefilter("ignore")
    model, clock, start = METHODS[method](), LoudClock(), time.monotonic()
    values = np.load(table)
    seconds, _ = cpu_seconds(lambda: model.fit(values, listener=clock))
    np.save(graph, model.adjacency_)
    memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
    return {"seconds": seconds, "wall": time.monotonic() - start, "memory": memory, "stages": clock.seconds}


def in_own_process(method: str, table: Path, graph: Path) -> dict[str, Any]:
    """The same, or the package's fit, alone in its process."""
    if method == "package":
        # -P: this file has the package's name, and must not be found in its place
        command = [PACKAGE, "-P", Path(__file__).with_name("sdcd_package.py"), table, graph]
    else:
        command = [sys.executable, __file__, "--one", method, table, graph]
    run = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def line(method: str, seed: int, truth: np.ndarray, estimate: np.ndarray, found: dict[str, Any]) -> str:
    """A line of the table; no SID of an equivalence class."""
    errors, scores = edge_errors(truth, estimate), direction_scores(truth, estimate)
    cells = [method, seed, sum(errors), f"{errors.missing} / {errors.extra} / {errors.reversed}"]
    cells += [f"{scores.precision:.2f}", f"{scores.recall:.2f}", sid(truth, estimate) if is_acyclic(estimate) else ""]
    cells += [f"{found['seconds']:.0f}", f"{found['wall']:.0f}", f"{found['memory']:.2f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def run_all(arguments: argparse.Namespace) -> None:
    """Print the table, line by line."""
    print(f"{gflops():.0f} GFLOP/s; {arguments.nodes} nodes, {arguments.rows:,} rows, 4 edges per node")
    print(f"Reported of SDCD: {REPORTED.get(arguments.nodes, 'nothing') if arguments.rows == 10_000 else 'nothing'}\n")
    print(HEADER + "\n" + "|---" * 10 + "|", flush=True)
    stages: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        table, graph = Path(temporary) / "table.npy", Path(temporary) / "graph.npy"
        sizes = {"n_nodes": arguments.nodes, "n_edges": 4 * arguments.nodes, "n_rows": arguments.rows}
        for seed in range(arguments.first_set, arguments.first_set + arguments.sets):
            drawn = simulate("mlp-standard", graph="er-exact", seed=seed, **sizes)
            np.save(table, drawn.data.to_numpy())
            for method in [*arguments.methods, *(["package"] if arguments.package else [])]:
                found = in_own_process(method, table, graph)
                print(line(method, seed, drawn.adjacency, np.load(graph).astype(bool), found), flush=True)
                spent = ", ".join(f"{name} {seconds:.0f}" for name, seconds in found.get("stages", {}).items())
                stages += [f"- {method}, set {seed}, CPU s by stage: {spent}"] if spent else []
    print("\n" + "\n".join(stages))


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--sets", type=int, default=1, help="how many data sets")
    parser.add_argument("--first-set", type=int, default=1, help="seed of the first one")
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=["default"])
    parser.add_argument("--package", action="store_true", help="the package sdcd, too")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.package and not PACKAGE.exists():
        parser.error("--package needs the environment .venv-sdcd, which `make bench-sdcd` makes")
    if arguments.one:
        method, table, graph = arguments.one
        print(json.dumps(fit(method, Path(table), Path(graph))))
    else:
        run_all(arguments)


if __name__ == "__main__":
    main()
