"""One network for all variables beside one network per variable (docs/shared_networks.md).

    python benchmarks/shared_networks.py [--settings er1-10 er4-10 er1-20 er4-20] [--presets fast default]
                                         [--store FILE]

Simulated Gauss-ANM of 1,000 rows, in one thread. For the presets `fast` (pruned) and `default` (refined): SHD / SID of
the graph, the same of what training left before that, iterations and CPU seconds: means over five sets of 10 nodes and
three of 20. With --store, results are kept in a file, line by line, and what is there is not computed again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import Store
from grandag import GraNDAG
from grandag.metrics import shd, sid
from grandag.simulate.files import simulate

VARIANTS: dict[str, dict[str, Any]] = {
    "separate, 10 units": {"networks": "separate"},
    "shared, 10 units": {"networks": "shared"},
    "shared, 40 units": {"networks": "shared", "n_units": 40},
}


SETS = {10: 5, 20: 3}
"""Data sets by the number of nodes."""
HEADER = "| setting | networks | SHD / SID | before | iterations | CPU |\n|---|---|---|---|---|---|"


def nodes_of(setting: str) -> int:
    """Of a setting like er4-20, 20."""
    return int(setting.split("-")[1])


def judge(preset: str, variant: str, setting: str, seed: int) -> dict[str, float]:
    """One fit."""
    d, density = nodes_of(setting), int(setting[2])
    scenario = simulate("gauss-anm", graph="er", n_nodes=d, n_edges=density * d, n_rows=1000, seed=seed)
    model = GraNDAG.preset(preset, retrain=False, n_jobs=1, random_state=seed, **VARIANTS[variant])
    start = time.process_time()
    model.fit(scenario.data)
    seconds, truth = time.process_time() - start, scenario.adjacency
    return {
        "shd": shd(truth, model.adjacency_),
        "sid": float(sid(truth, model.adjacency_)),
        "shd_before": shd(truth, model.thresholded_),
        "sid_before": float(sid(truth, model.thresholded_)),
        "iterations": model.n_iter_,
        "seconds": seconds,
    }


def cells(results: list[dict[str, float]]) -> str:
    """Columns of a row: means over the sets."""
    mean = {name: float(np.mean([result[name] for result in results])) for name in results[0]}
    return (
        f"{mean['shd']:.1f} / {mean['sid']:.1f} | {mean['shd_before']:.1f} / {mean['sid_before']:.1f} | "
        f"{mean['iterations']:,.0f} | {mean['seconds']:.1f} s"
    )


def main() -> None:
    """A table for each preset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", nargs="+", default=["er1-10", "er4-10", "er1-20", "er4-20"])
    parser.add_argument("--presets", nargs="+", default=["fast", "default"])
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(options.store)
    with threadpool_limits(1):
        for preset in options.presets:
            for variant in VARIANTS:  # compiles outside of the timing
                judge(preset, variant, "er1-4", 0)
            print(f"\n`{preset}`:\n\n{HEADER}")
            for setting in options.settings:
                seeds = range(1, SETS[nodes_of(setting)] + 1)
                for variant in VARIANTS:
                    results = [store.get(judge, preset, variant, setting, seed) for seed in seeds]
                    print(f"| {setting} | {variant} | {cells(results)} |", flush=True)


if __name__ == "__main__":
    main()
