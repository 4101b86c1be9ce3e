"""Many variables: CPU seconds by stage, memory, and accuracy of the default beside other methods (`make bench-scale`).

    python benchmarks/scale.py [--settings er1-200 sf1-500 er4-200 …] [--rows 1000] [--seeds 1 2 3]
                               [--methods default CAM fast GES NOTEARS] [--store FILE]

Simulated Gauss-ANM data, one set for each seed. Each fit runs in a process of its own, with as many threads as there
are cores. The first table has the cost of the default, set by set; "kept" are the true edges in the DAG that refinement
starts from, "missing" those that the graph has not, at hubs those of them into variables with six parents and more. The
second has means over the sets: SHD / SID and CPU seconds; of equivalence classes SHD-C, marked by a star, and the
middle of the bounds of SID. Seconds are those of this machine; the first line has its rate of matrix multiplication, 94
GFLOP/s where targets are stated. With --store, results are kept in a file, line by line, and what is there is not
computed again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from common import StageClock, Store, cpu_seconds, distances, gflops, memory_beyond, resident_bytes
from grandag import CAM, GES, NOTEARS, GraNDAG, simulate

SETTINGS = ["er1-50", "er1-100", "er1-200", "er1-500", "er1-1000"]
HUB = 6
"""Parents of a hub, at least."""
STAGES = ("neighbours", "train", "select", "refine", "conditionals")
METHODS = {
    "default": lambda: GraNDAG(random_state=0),
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


def fit(method: str, setting: str, n_rows: int, seed: int) -> dict[str, Any]:
    """Figures of one fit, in this process."""
    values, truth = data_set(setting, n_rows, seed)
    warnings.simplefilter("ignore")
    clock, before = StageClock(), resident_bytes()
    model = METHODS[method]()
    seconds, _ = cpu_seconds(lambda: model.fit(values, listener=clock))
    found = {"seconds": seconds, "memory": memory_beyond(before), "stages": clock.seconds, **distances(truth, model)}
    if method == "default":
        missing, is_hub = truth & ~model.adjacency_.astype(bool), truth.sum(axis=0) >= HUB
        found |= {"edges": int(truth.sum()), "kept": int((model.thresholded_ & truth).sum())}
        found |= {"missing": int(missing.sum()), "at_hubs": int(missing[:, is_hub].sum())}
    return found


def in_own_process(method: str, setting: str, n_rows: int, seed: int) -> dict[str, Any]:
    """The same, alone in its process."""
    arguments = [method, setting, str(n_rows), str(seed)]
    run = subprocess.run([sys.executable, __file__, "--one", *arguments], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def print_cost(store: Store, settings: list[str], n_rows: int, seeds: list[int]) -> None:
    """The default's stages, set by set."""
    print("\n| setting | set | " + " | ".join((*STAGES, "whole, CPU s", "GB", "kept", "missing", "SHD / SID")) + " |")
    print("|---" * (7 + len(STAGES)) + "|")
    for setting in settings:
        for seed in seeds:
            found = store.get(in_own_process, "default", setting, n_rows, seed)
            cells = [setting, str(seed), *(f"{found['stages'].get(stage, 0):.0f}" for stage in STAGES)]
            cells += [f"{found['seconds']:.0f}", f"{found['memory']:.2f}", f"{found['kept']} of {found['edges']}"]
            cells += [f"{found['missing']}, {found['at_hubs']} at hubs"]
            print("|", " | ".join([*cells, f"{found['shd']} / {found['sid']:.0f}"]), "|", flush=True)


def print_accuracy(store: Store, settings: list[str], n_rows: int, seeds: list[int], methods: list[str]) -> None:
    """All methods, means over the sets."""
    print("\n| setting | " + " | ".join(methods) + " |\n" + "|---" * (1 + len(methods)) + "|")
    for setting in settings:
        cells = [setting]
        for method in methods:
            found = [store.get(in_own_process, method, setting, n_rows, seed) for seed in seeds]
            shd, sid, seconds = (np.mean([one[name] for one in found]) for name in ("shd", "sid", "seconds"))
            mark = "\\*" if found[0]["is_class"] else ""
            cells.append(f"{shd:.1f}{mark} / {sid:,.0f} ({seconds:.0f} s)")
        print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=["default", "CAM", "fast"])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, setting, n_rows, seed = options.one
        print(json.dumps(fit(method, setting, int(n_rows), int(seed))))
        return
    store = Store(options.store)
    print(f"{gflops():.0f} GFLOP/s, {options.rows:,} rows")
    if "default" in options.methods:
        print_cost(store, options.settings, options.rows, options.seeds)
    print_accuracy(store, options.settings, options.rows, options.seeds, options.methods)


if __name__ == "__main__":
    main()
