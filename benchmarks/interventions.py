"""What interventions bring: GraN-DAG and GIES with shares of interventional rows (docs/interventions.md).

    python benchmarks/interventions.py [--kinds gauss-anm lin pnl-gp] [--nodes 10 20] [--densities 1 4] [--sets 10]
                                       [--intervened 0.2 0.5] [--interventions perfect imperfect]
                                       [--methods grandag ges] [--store FILE]
    python benchmarks/interventions.py --dcdi [--sets 10]     the setting of Brouillard et al. (2020)
    python benchmarks/interventions.py --speed                CPU seconds beside those of the observational fit

Simulated tables of 1,000 rows in all; of these a share is interventional, every node a target in turn. Means over the
sets, in one thread: SHD / SID; of equivalence classes SHD-C, marked by a star, and the middle of the bounds of SID. The
first column is the observational fit to as many rows. What a graph does not depend on is left out: the check of halves
and the conditionals. With --store, results are kept in a file, line by line, and what is there is not computed again.

DCDI's data, after the program that its authors released (slachapelle/dcdi, data/generation): 10 nodes and 10 edges
expected, 10,000 rows, divided evenly among the observational regime and one for each node, in which it is N(2, 1).
Roots are N(0, s^2), s^2 from U[1, 2], and so is all noise, times 0.4. That program draws s^2 anew on every call, and so
in every regime; ours is fixed for each variable. Linear: weights from U[0.25, 1] with random signs. ANM: networks of
one hidden layer of 10 leaky ReLUs with slope 0.25, weights N(0, 1), biases from U[-1, 1] / sqrt(inputs). NN: of one of
20 tanh that also read the noise, which is not added then.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from common import Store
from grandag.graph import topological_order
from grandag.methods.registry import METHODS, build
from grandag.metrics import shd, shd_cpdag, sid, sid_bounds
from grandag.parameters import parameters_of
from grandag.simulate import draw_regimes, erdos_renyi
from grandag.simulate.files import simulate

N_ROWS = 1000
DCDI_ROWS = 10_000
GRAPH_ALONE = {"n_jobs": 1, "check_halves": False, "retrain": False}
"""What a method gets of this if it has such parameters."""
PUBLISHED = {"linear": (1.3, 8.9), "nn": (2.3, 11.0)}
"""SHD of DCDI with and without interventions, as that paper has them for 10 nodes and 10 edges."""


def judge(method: str, truth: np.ndarray, data: pd.DataFrame, targets: Any, kind: str, seed: int) -> dict[str, Any]:
    """One fit: its distances from the truth and its cost."""
    known = parameters_of(METHODS[method].estimator())
    model = build(method, {name: value for name, value in GRAPH_ALONE.items() if name in known}, seed=seed)
    start = time.process_time()
    model.fit(data, interventions=targets, kind=kind)
    seconds, found = time.process_time() - start, model.adjacency_
    if model.is_dag_:
        distances = {"shd": shd(truth, found), "sid": float(sid(truth, found))}
    else:
        distances = {"shd": shd_cpdag(truth, found), "sid": float(np.mean(sid_bounds(truth, found)))}
    return {**distances, "is_class": not model.is_dag_, "seconds": seconds}


def judge_simulated(
    method: str, kind: str, d: int, density: int, share: float, interventions: str, seed: int
) -> dict[str, Any]:
    """A fit to simulated rows, of which a share is interventional."""
    scenario = simulate(kind, graph="er", n_nodes=d, n_edges=density * d, n_rows=N_ROWS, seed=seed)
    targets = None
    if share:
        scenario = draw_regimes(scenario, intervened=share, intervention_kind=interventions, random_state=seed)
        targets = list(scenario.interventions)
    return judge(method, scenario.adjacency, scenario.data, targets, interventions, seed)


def judge_dcdi(mechanism: str, has_interventions: bool, seed: int) -> dict[str, Any]:
    """A fit to data of DCDI's kind; without interventions, to as many observational rows."""
    truth, data, targets = dcdi_data(mechanism, has_interventions, seed)
    return judge("grandag", truth, data, targets if has_interventions else None, "perfect", seed)


def dcdi_data(mechanism: str, has_interventions: bool, seed: int) -> tuple[np.ndarray, pd.DataFrame, list[str]]:
    """Graph, rows and targets."""
    rng = np.random.default_rng(seed)
    d = 10
    truth = erdos_renyi(d, d, random_state=rng)
    deviations = np.sqrt(rng.uniform(1, 2, size=d))
    functions = [draw_function(mechanism, int(truth[:, j].sum()), rng) for j in range(d)]
    regimes = [None, *range(d)] if has_interventions else [None]
    parts, targets = [], []
    for target, n in zip(regimes, np.diff(np.linspace(0, DCDI_ROWS, len(regimes) + 1).astype(int)), strict=True):
        rows = np.zeros((n, d))
        for j in topological_order(truth):
            noise = deviations[j] * rng.normal(size=n)
            if j == target:
                rows[:, j] = 2 + rng.normal(size=n)
            else:
                rows[:, j] = functions[j](rows[:, truth[:, j]], noise) if truth[:, j].any() else noise
        parts.append(rows)
        targets += ["" if target is None else f"X{target}"] * n
    return truth, pd.DataFrame(np.concatenate(parts), columns=[f"X{j}" for j in range(d)]), targets


def draw_function(mechanism: str, n_parents: int, rng: np.random.Generator) -> Callable[..., np.ndarray]:
    """f(parents, noise) of one variable."""
    if mechanism == "linear":
        weights = rng.uniform(0.25, 1, size=n_parents) * rng.choice([-1, 1], size=n_parents)
        return lambda parents, noise: parents @ weights + 0.4 * noise
    n_inputs, n_units = (n_parents, 10) if mechanism == "anm" else (n_parents + 1, 20)
    first, last = rng.normal(size=(n_inputs, n_units)), rng.normal(size=n_units)
    bias, last_bias = (rng.uniform(-1, 1, size=k) / np.sqrt(n) for k, n in ((n_units, max(n_inputs, 1)), (1, n_units)))
    if mechanism == "anm":
        return lambda parents, noise: _leaky(parents @ first + bias) @ last + last_bias + 0.4 * noise
    return lambda parents, noise: np.tanh(np.column_stack([parents, 0.4 * noise]) @ first + bias) @ last + last_bias


def _leaky(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 0.25 * x)


def cell(results: list[dict[str, Any]]) -> str:
    """SHD / SID."""
    mark = "\\*" if results[0]["is_class"] else ""
    return f"{np.mean([r['shd'] for r in results]):.1f}{mark} / {np.mean([r['sid'] for r in results]):.1f}"


def grid(store: Store, options: argparse.Namespace) -> None:
    """A table for each kind of interventions."""
    for interventions in options.interventions:
        shares = [0.0, *options.intervened]
        header = " | ".join(f"{share:.0%}" for share in shares)
        print(f"\n{interventions}:\n\n| data | method | {header} |\n|---|---|{'---|' * len(shares)}")
        for kind in options.kinds:
            for d in options.nodes:
                for density in options.densities:
                    for method in options.methods:
                        if interventions not in METHODS[method].estimator().takes_interventions:
                            continue
                        cells = [
                            cell([
                                store.get(judge_simulated, method, kind, d, density, share,
                                          interventions if share else "perfect", seed)
                                for seed in range(1, options.sets + 1)
                            ])
                            for share in shares
                        ]  # fmt: skip
                        print(f"| {kind}, {d} nodes ER{density} | {method} | {' | '.join(cells)} |", flush=True)


def dcdi(store: Store, n_sets: int) -> None:
    """Ours beside theirs."""
    print("\n| mechanisms | interventions | ours: SHD / SID | DCDI: SHD |\n|---|---|---|---|")
    for mechanism in ("linear", "anm", "nn"):
        for place, has_interventions in enumerate((True, False)):
            found = [store.get(judge_dcdi, mechanism, has_interventions, seed) for seed in range(1, n_sets + 1)]
            theirs = PUBLISHED[mechanism][place] if mechanism in PUBLISHED else ""
            print(
                f"| {mechanism} | {'perfect' if has_interventions else 'none'} | {cell(found)} | {theirs} |", flush=True
            )


def speed(n_sets: int = 5, repetitions: int = 2) -> None:
    """CPU seconds of the same rows, fitted with and without their interventions; of several fits the quickest.

    Sums over several tables, since the number of iterations differs from fit to fit.
    """
    print("\n| data | preset | observational | perfect | ratio | imperfect |\n|---|---|---|---|---|---|")
    for d in (10, 20):
        scenarios = [half_intervened(d, seed) for seed in range(1, n_sets + 1)]
        for preset in ("fast", "default"):
            seconds = dict.fromkeys((None, "perfect", "imperfect"), 0.0)
            for scenario in scenarios:
                for kind in seconds:
                    seconds[kind] += min(_seconds(scenario, preset, kind) for _ in range(repetitions))
            ratio = seconds["perfect"] / seconds[None]
            numbers = f"{seconds[None]:.1f} s | {seconds['perfect']:.1f} s | {ratio:.2f} | {seconds['imperfect']:.1f} s"
            print(f"| gauss-anm, {d} nodes ER1 | {preset} | {numbers} |", flush=True)
    print("\nper iteration of training, with the same number of iterations:")
    for d in (10, 20):
        scenario = half_intervened(d, 1)
        found = {kind: min(_seconds(scenario, "fast", kind, ITERATIONS) for _ in range(repetitions + 1)) for kind in
                 (None, "perfect", "imperfect")}  # fmt: skip
        print(
            f"{d} nodes: perfect {found['perfect'] / found[None]:.2f}, imperfect {found['imperfect'] / found[None]:.2f}"
        )


def half_intervened(d: int, seed: int) -> Any:
    """Rows of which half are interventional."""
    scenario = simulate("gauss-anm", graph="er", n_nodes=d, n_edges=d, n_rows=N_ROWS, seed=seed)
    return draw_regimes(scenario, intervened=0.5, random_state=seed)


ITERATIONS = {"max_iterations": 10_000, "mask_threshold": 0.0, "tolerance": 0.0, "prune": False, "retrain": False}
"""Nothing is masked and nothing ends early, so that all fits do the same."""


def _seconds(scenario: Any, preset: str, kind: str | None, parameters: dict[str, Any] | None = None) -> float:
    model = METHODS["grandag"].estimator().preset(preset, random_state=1, n_jobs=1, **(parameters or {}))
    start = time.process_time()
    model.fit(scenario.data, interventions=kind and list(scenario.interventions), kind=kind or "perfect")
    return time.process_time() - start


def main() -> None:
    """One of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=["gauss-anm", "lin", "pnl-gp"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--densities", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--intervened", type=float, nargs="+", default=[0.2, 0.5])
    parser.add_argument("--interventions", nargs="+", default=["perfect", "imperfect"])
    parser.add_argument("--methods", nargs="+", default=["grandag", "ges"])
    parser.add_argument("--store", type=Path)
    parser.add_argument("--dcdi", action="store_true")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        if options.speed:
            speed()
        elif options.dcdi:
            dcdi(Store(options.store), options.sets)
        else:
            grid(Store(options.store), options)


if __name__ == "__main__":
    main()
