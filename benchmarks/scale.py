"""Many variables: CPU seconds by stage, memory, and accuracy of the default beside other methods (`make bench-scale`).

    python benchmarks/scale.py [--settings er1-200 er1-500 …] [--rows 1000] [--seed 1] [--others CAM fast GES NOTEARS]

Simulated Gauss-ANM data. Each fit runs in a process of its own, with as many threads as there are cores. "Kept" are the
true edges that are open after neighbour selection, and those in the DAG that refinement starts from. Seconds are those
of this machine; the first line has its rate of matrix multiplication, 94 GFLOP/s where targets are stated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings

import numpy as np

from common import StageClock, cpu_seconds, gflops, memory_beyond, resident_bytes
from grandag import CAM, GES, NOTEARS, GraNDAG, simulate
from grandag.graph import is_acyclic
from grandag.metrics import shd, sid

SETTINGS = ["er1-50", "er1-100", "er1-200", "er1-500", "er1-1000"]
STAGES = ("neighbours", "train", "select", "refine", "conditionals")
OTHERS = {
    "CAM": CAM,
    "fast": lambda: GraNDAG.preset("fast", retrain=False, random_state=0),
    "GES": GES,
    "NOTEARS": NOTEARS,
}


def data_set(setting: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and truth."""
    kind, density, d = setting[:2], int(setting[2]), int(setting.split("-")[1])
    graph = simulate.draw_graph(kind, d, density * d, random_state=seed)
    drawn = simulate.draw_scenario("gauss-anm", graph, n_rows, seed)
    return drawn.data.to_numpy(), drawn.adjacency.astype(bool)


def accuracy(truth: np.ndarray, graph: np.ndarray) -> str:
    """SHD / SID; no SID of an equivalence class."""
    return f"{shd(truth, graph)} / {sid(truth, graph)}" if is_acyclic(graph) else f"{shd(truth, graph)} /"


def fit(method: str, setting: str, n_rows: int, seed: int) -> dict[str, object]:
    """Figures of one fit, in this process."""
    values, truth = data_set(setting, n_rows, seed)
    warnings.simplefilter("ignore")
    clock, before = StageClock(), resident_bytes()
    model = OTHERS[method]() if method in OTHERS else GraNDAG(random_state=0)
    seconds, _ = cpu_seconds(lambda: model.fit(values, listener=clock))
    found = {
        "seconds": seconds,
        "memory": memory_beyond(before),
        "accuracy": accuracy(truth, model.adjacency_),
        "stages": clock.seconds,
    }
    if method == "default":
        note = next((note for note in model.notes_ if note.startswith("Neighbour selection left")), "")
        kept = int((model.thresholded_ & truth).sum())
        found |= {"edges": int(truth.sum()), "kept": kept, "start": int(model.thresholded_.sum()), "note": note}
    return found


def in_own_process(method: str, setting: str, n_rows: int, seed: int) -> dict[str, object]:
    """The same, alone in its process."""
    arguments = [method, setting, str(n_rows), str(seed)]
    run = subprocess.run([sys.executable, __file__, "--one", *arguments], check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--others", nargs="*", choices=[*OTHERS], default=["CAM", "fast"])
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        method, setting, n_rows, seed = arguments.one
        print(json.dumps(fit(method, setting, int(n_rows), int(seed))))
        return
    print(f"{gflops():.0f} GFLOP/s, {arguments.rows:,} rows\n")
    print("| setting | " + " | ".join((*STAGES, "whole, CPU s", "GB", "kept", "SHD / SID", *arguments.others)) + " |")
    print("|---" * (6 + len(STAGES) + len(arguments.others)) + "|")
    for setting in arguments.settings:
        found = in_own_process("default", setting, arguments.rows, arguments.seed)
        stages = [f"{found['stages'].get(stage, 0):.0f}" for stage in STAGES]
        cells = [*stages, f"{found['seconds']:.0f}", f"{found['memory']:.2f}", f"{found['kept']} of {found['edges']}"]
        others = [in_own_process(name, setting, arguments.rows, arguments.seed) for name in arguments.others]
        cells += [found["accuracy"], *(f"{other['accuracy']} ({other['seconds']:.0f} s)" for other in others)]
        print("|", " | ".join([setting, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
