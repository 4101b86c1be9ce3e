"""How often the checks of the noise and of interventions warn where assumptions hold and where not, and what they cost.

Simulated sets of 10 variables, ER1, 1,000 rows; GraN-DAG's preset fast, and CAM. "right" are variables whose parents
were all found and nothing else. For the check of interventions half of the rows are interventional, with every variable
a target in turn; CAM and GES take the interventions for perfect, which they are (each warning is a false alarm) or not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

from grandag import CAM, GES, GraNDAG, simulate
from grandag.diagnostics import noise_concerns
from grandag.interventions import INTERVENTION_KINDS

N_SETS = 5
KINDS = ("dependent noise", "non-Gaussian noise")
IMPERFECT = "imperfect interventions"
SETTINGS = {
    "Gauss-ANM (all assumptions hold)": ("gauss-anm", "released"),
    "Gauss-ANM with the text's larger noise": ("gauss-anm", "text"),
    "ADD-FUNC (uniform roots)": ("add-func", "released"),
    "PNL-GP (noise inside a sigmoid)": ("pnl-gp", "released"),
    "PNL-MULT (multiplicative noise)": ("pnl-mult", "released"),
}


def checked_fits(kind: str, distributions: str, method: str) -> Iterator[tuple[pd.DataFrame, float]]:
    """For each set: one row per variable, and the CPU time of the checks as a part of that of the fit."""
    for seed in range(N_SETS):
        adjacency = simulate.erdos_renyi(10, 10, random_state=seed)
        scenario = simulate.draw_scenario(kind, adjacency, 1000, random_state=seed, distributions=distributions)
        estimator = CAM() if method == "cam" else GraNDAG.preset("fast", random_state=seed, n_jobs=1)
        start = time.process_time()
        estimator.fit(scenario.data)
        fitted = time.process_time()
        checks = estimator.check_noise(scenario.data)
        share = (time.process_time() - fitted) / (fitted - start)
        found = {concern.kind: concern.variables for concern in noise_concerns(checks)}
        for kind_of_concern in KINDS:
            checks[kind_of_concern] = checks.index.isin(found.get(kind_of_concern, ()))
        checks["right"] = (estimator.adjacency_ == adjacency).all(axis=0)
        yield checks, share


def targets_with_parents(kind: str, interventions: str, method: type[CAM | GES]) -> pd.DataFrame:
    """One row per set and variable with parents in the graph found: are these the true ones, and is it warned of?"""
    found = []
    for seed in range(N_SETS):
        adjacency = simulate.erdos_renyi(10, 10, random_state=seed)
        scenario = simulate.draw_scenario(kind, adjacency, 1000, random_state=seed)
        regimes = simulate.draw_regimes(scenario, intervened=0.5, intervention_kind=interventions, random_state=seed)
        model = method().fit(regimes.data, interventions=regimes.interventions)
        named = [name for concern in model.warnings_ if concern.kind == IMPERFECT for name in concern.variables]
        is_right = (model.dag_ == adjacency).all(axis=0)
        variables = pd.DataFrame({"set": seed, "right": is_right, "warned": np.isin(model.names_, named)})
        found.append(variables[model.dag_.any(axis=0)])
    return pd.concat(found)


def warnings_of_interventions() -> None:
    """Print how many targets are said to depend on their parents in their own regime, where they do and do not."""
    for kind in ("lin", "gauss-anm"):
        for interventions in INTERVENTION_KINDS:
            for method in (GES, CAM):
                targets = targets_with_parents(kind, interventions, method)
                parts = []
                for name, chosen in (("right", targets["right"]), ("wrong", ~targets["right"])):
                    parts.append(f"{int(targets['warned'][chosen].sum())} of {int(chosen.sum())} {name}")
                n_sets = targets["set"][targets["warned"]].nunique()
                print(
                    f"{kind}, {interventions} interventions, {method.__name__}: imperfect {', '.join(parts)}, "
                    f"in {n_sets} of {N_SETS} sets"
                )


def forced_pairs(n_pairs: int = 100) -> None:
    """Print how often the noise is found to be dependent in pairs X0 -> X1, with the edge forced either way."""
    for title, edge in {"right": ("X0", "X1"), "reversed": ("X1", "X0")}.items():
        n_warned = 0
        for seed in range(n_pairs):
            scenario = simulate.draw_scenario("gauss-anm", np.array([[0, 1], [0, 0]]), 1000, random_state=seed)
            model = CAM(knowledge={"required": [edge]}).fit(scenario.data)
            n_warned += any(concern.kind == KINDS[0] for concern in model.warnings_)
        print(f"Gauss-ANM, 2 variables, edge forced to be {title}: dependent in {n_warned} of {n_pairs}")


def main() -> None:
    """Print one line per setting and method."""
    forced_pairs()
    warnings_of_interventions()
    small = simulate.draw_scenario("gauss-anm", simulate.erdos_renyi(3, 2, random_state=0), random_state=0)
    GraNDAG.preset("fast", n_jobs=1, random_state=0).fit(small.data)  # compiles, or loads compiled code
    for title, (kind, distributions) in SETTINGS.items():
        for method in ("grandag", "cam"):
            fits = list(checked_fits(kind, distributions, method))
            checks = pd.concat([checks for checks, _ in fits])
            children = checks["parents"] > 0
            parts = []
            for name, chosen in (("right", children & checks["right"]), ("wrong", children & ~checks["right"])):
                parts.append(f"{int(checks['dependent noise'][chosen].sum())} of {int(chosen.sum())} {name}")
            far = f"{int(checks['non-Gaussian noise'].sum())} of {len(checks)}"
            share = sum(part for _, part in fits) / len(fits)
            print(f"{title}, {method}: dependent {', '.join(parts)}; non-Gaussian {far}; checks {share:.0%} of the fit")


if __name__ == "__main__":
    main()
