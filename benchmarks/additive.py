"""CPU seconds of additive regressions, pruning and CAM, beside R's (`make bench`).

One thread. Targets are for a core with 94 GFLOP/s in single-thread float32 matrix multiplication and are scaled by what
is measured here. R's seconds are from the reference files; parts that need them or the authors' data sets are left out
where they are not present.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from common import REFERENCE_GFLOPS, cpu_seconds, gauss_anm, gflops, memory_beyond, resident_bytes
from grandag import CAM
from grandag.gam import SplineTable
from grandag.methods.stages.prune import prune

SHARED = Path(__file__).parents[2] / "shared"


def report(name: str, seconds: float, target: float, r_seconds: float | None = None) -> None:
    """Print one line with the scaled target."""
    limit = target * REFERENCE_GFLOPS / gflops()
    verdict = "reached" if seconds <= limit else "missed"
    beside = "" if r_seconds is None else f", R {r_seconds:.1f} s"
    print(f"  {name}: {seconds:.3f} CPU s (target {limit:.2f}: {verdict}{beside})")


def all_regressions() -> None:
    """The regressions of the reference file with their tests, bases included."""
    reference = dict(np.load(SHARED / "reference" / "gam_pvalues.npz"))
    files = {name: np.load(SHARED / "data" / "authors" / name).astype(float) for name in set(reference["data_file"])}

    def run() -> None:
        tables: dict[tuple[str, int], SplineTable] = {}
        for i, (file, n, q) in enumerate(
            zip(reference["data_file"], reference["n_rows"], reference["n_parents"], strict=True)
        ):
            if (file, n) not in tables:
                tables[file, n] = SplineTable(files[file][:n])
            tables[file, n].regress(int(reference["target"][i]), reference["parents"][i, :q].tolist()).p_values()

    seconds = min(cpu_seconds(run)[0] for _ in range(3))
    report(f"{len(reference['target'])} regressions", seconds, 2.0, float(reference["cpu"].sum()))


def reference_prunings() -> None:
    """Complete graphs of the reference file."""
    reference = dict(np.load(SHARED / "reference" / "prune_reference.npz"))
    for d, target in ((10, 0.08), (20, 0.5)):
        seconds, r_seconds = [], []
        for i in np.flatnonzero(reference["d"] == d)[:8]:
            file = f"{reference['name'][i]}/data{reference['dataset'][i]}.npy"
            values, graph = np.load(SHARED / "data" / "authors" / file).astype(float), reference["input"][i, :d, :d] > 0
            seconds.append(cpu_seconds(lambda values=values, graph=graph: prune(SplineTable(values), graph))[0])
            r_seconds.append(float(reference["cpu"][i]))
        report(f"pruning a complete graph of {d} nodes", statistics.mean(seconds), target, statistics.mean(r_seconds))


def large_pruning() -> None:
    """50 nodes, 700 candidate edges: the truth and random others that agree with its order."""
    values, truth = gauss_anm(50, 50, 1000, 0)
    rng = np.random.default_rng(0)
    order = np.linalg.matrix_power(np.eye(50) + truth, 50) > 0  # ancestors first
    rank = np.argsort(np.argsort(order.sum(axis=0) + 0.5 * rng.random(50)))
    others = np.argwhere((rank[:, None] < rank) & ~truth)
    graph = truth.copy()
    graph[tuple(others[rng.choice(len(others), 700 - int(truth.sum()), replace=False)].T)] = True
    seconds, _ = cpu_seconds(lambda: prune(SplineTable(values), graph))
    report(f"pruning 50 nodes with {int(graph.sum())} edges", seconds, 3.0, 440.0)


def cam_runs() -> None:
    """CAM on the reference's data sets, on a 20-node set of the authors, and on 50 simulated nodes."""
    if SHARED.is_dir():
        runs = [run for run in json.loads((SHARED / "reference" / "cam_reference.json").read_text()) if run["d"] == 10]
        seconds = []
        for run in runs:
            values = np.load(SHARED / "data" / "authors" / run["name"] / f"data{run['dataset']}.npy").astype(float)
            seconds.append(cpu_seconds(lambda values=values: CAM().fit(values))[0])
        r_seconds = statistics.mean(run["order_cpu"] + run["prune_cpu"] for run in runs)
        report(f"CAM, 10 nodes, mean of {len(runs)}", statistics.mean(seconds), 0.6, r_seconds)
        values = np.load(SHARED / "data" / "authors" / "data_p20_e20_n1000_GP" / "data11.npy").astype(float)
        report("CAM, 20 nodes", cpu_seconds(lambda: CAM().fit(values))[0], 8.0, 130.0)
    values, _ = gauss_anm(50, 50, 1000, 1)
    report("CAM, 50 nodes ER1, preselection", cpu_seconds(lambda: CAM().fit(values))[0], 30.0)


def many_rows(n: int = 1_000_000) -> None:
    """Print seconds and memory beyond the data of pruning a complete graph of 20 columns (runs in its own process)."""
    values, _ = gauss_anm(20, 20, n, 0)
    graph = np.triu(np.ones((20, 20), dtype=bool), 1)
    prune(SplineTable(values[:1000]), graph)
    before = resident_bytes()
    seconds, _ = cpu_seconds(lambda: prune(SplineTable(values), graph))
    print(f"{seconds} {memory_beyond(before)}")


def main() -> None:
    """Run all parts."""
    warnings.simplefilter("ignore")
    CAM(preselection=True).fit(gauss_anm(4, 4, 200, 0)[0])  # compile outside the timing
    print("Additive regression, pruning and CAM:")
    with threadpool_limits(1):
        if SHARED.is_dir():
            all_regressions()
            reference_prunings()
        large_pruning()
        cam_runs()
    command = [sys.executable, __file__, "--many-rows"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, memory = map(float, output.split())
    verdict = "reached" if memory < 2 else "missed"
    print(
        f"  pruning a complete graph of 20 nodes, 1,000,000 rows: {seconds:.1f} CPU s, {memory:.2f} GB beyond the data "
        f"(target 2 GB: {verdict})"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--many-rows"]:
        many_rows()
    else:
        main()
