"""What the stages before refinement keep of the true edges, and what they cost, by number of variables.

    python benchmarks/kept_edges.py [--settings er1-50 er1-100 … er4-1000] [--rows 1000] [--seeds 1 2 …]
        [--variants default unlimited dense exponential cycles sparsity=4 …]

Simulated Gauss-ANM data, one thread; each data set has a process of its own, which selects neighbours, trains, and
breaks the cycles that are left. "Kept" is the share of the true edges that are open after neighbour selection, after
training, and in the DAG that refinement starts from; "turned" are those that contradict the order of that DAG: their
child is an ancestor of their parent. Shares and "turned" are of all seeds together, seconds are means. They are CPU
seconds of this machine; the first line has its rate of matrix multiplication.

Variants of the default: `unlimited` has the paper's neighbour selection (0.75 times the mean importance, no limit on
candidates), `dense` the objective and the tolerance of fewer variables, the last two the constraint that they name;
any parameter that is a number can be given as `name=value`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np

from common import cpu_seconds, gflops, memory_beyond, resident_bytes
from grandag.engine.training import expected_jacobian
from grandag.graph import ancestors
from grandag.methods.grandag.columns import densities_of, encode
from grandag.methods.grandag.data import prepare
from grandag.methods.grandag.grandag import GraNDAGConfig
from grandag.methods.grandag.train import train
from grandag.methods.stages.neighbours import select_neighbours
from grandag.methods.stages.threshold import without_cycles
from grandag.table import as_table
from scale import data_set

SETTINGS = [f"{kind}-{d}" for kind in ("er1", "er4") for d in (50, 100, 200, 500, 1000)]
VARIANTS: dict[str, dict[str, object]] = {
    "default": {},
    "unlimited": {"neighbour_threshold": 0.75, "n_trees": 500, "max_neighbours": 10**9},
    "dense": {"sparsity": 0.0, "tolerance": 1e-8},
    "exponential": {"acyclicity": "exponential"},
    "cycles": {"acyclicity": "cycles"},
}
COLUMNS = (
    "setting", "variant", "true edges", "neighbours: kept", "per node", "CPU s", "training: kept", "per node", "CPU s",
    "iterations", "start: kept", "per node", "turned", "GB",
)  # fmt: skip


def options(variant: str) -> dict[str, object]:
    """Parameters of a variant."""
    if variant in VARIANTS:
        return VARIANTS[variant]
    name, _, value = variant.partition("=")
    return {name: float(value)}


def measure(setting: str, variant: str, n_rows: int, seed: int) -> dict[str, float]:
    """Figures of one data set, in this process."""
    values, truth = data_set(setting, n_rows, seed)
    config = GraNDAGConfig(n_jobs=1, **options(variant))
    split_rng, neighbours_rng, train_rng = np.random.default_rng(0).spawn(3)
    before = resident_bytes()
    table = as_table(values)
    encoding = encode(table, densities_of(config.density, table), standardise=config.standardise)
    data = prepare(table, encoding, config.data(), split_rng, None)
    rows = np.concatenate([data.rows, data.held_out])
    selecting, selected = cpu_seconds(lambda: select_neighbours(rows, config, neighbours_rng))
    mask, networks, training = selected.mask, config.network(encoding.variables), config.training(len(truth))
    spent, trained = cpu_seconds(lambda: train(data.pool, data.held_out, mask, networks, training, train_rng))
    left = trained.networks.mask
    breaking, start = cpu_seconds(lambda: without_cycles(expected_jacobian(trained.networks, data.rows), left))
    return {
        "d": len(truth),
        "edges": int(truth.sum()),
        "candidates": int(mask.sum()),
        "selected": int((truth & mask).sum()),
        "selecting": selecting,
        "open": int(left.sum()),
        "trained": int((truth & left).sum()),
        "training": spent + breaking,
        "iterations": trained.n_iterations,
        "start": int(start.sum()),
        "kept": int((truth & start).sum()),
        "turned": int((truth & ancestors(start).T).sum()),
        "memory": memory_beyond(before),
    }


def in_own_process(*arguments: str) -> dict[str, float]:
    """The same, alone in its process, for its memory; compiled code is there."""
    run = subprocess.run([sys.executable, __file__, "--one", *arguments], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def line(setting: str, variant: str, found: list[dict[str, float]]) -> str:
    """One line of the table: sums over data sets as shares, means of the others."""
    total = {key: sum(one[key] for one in found) for key in found[0]}
    n, edges, nodes = len(found), total["edges"], total["d"]
    cells = [setting, variant, f"{edges:.0f}"]
    for kept, open_inputs, seconds in (("selected", "candidates", "selecting"), ("trained", "open", "training")):
        cells += [f"{total[kept] / edges:.1%}", f"{total[open_inputs] / nodes:.1f}", f"{total[seconds] / n:.0f}"]
    cells += [f"{total['iterations'] / n:,.0f}", f"{total['kept'] / edges:.1%}", f"{total['start'] / nodes:.1f}"]
    cells += [f"{total['turned']:.0f}", f"{max(one['memory'] for one in found):.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="+", default=SETTINGS)
    parser.add_argument("--rows", default="1000")
    parser.add_argument("--seeds", nargs="+", default=["1"])
    parser.add_argument("--variants", nargs="+", default=["default"])
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        setting, variant, n_rows, seed = arguments.one
        print(json.dumps(measure(setting, variant, int(n_rows), int(seed))))
        return
    measure("er1-150", "default", 100, 1)  # compiles what the processes then load
    print(f"{gflops():.0f} GFLOP/s, {arguments.rows} rows, seeds {' '.join(arguments.seeds)}\n")
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for setting in arguments.settings:
        for variant in arguments.variants:
            found = [in_own_process(setting, variant, arguments.rows, seed) for seed in arguments.seeds]
            print(line(setting, variant, found), flush=True)


if __name__ == "__main__":
    main()
