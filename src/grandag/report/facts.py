"""The facts of a fit as plain values and texts, which terminal, files and pages show."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from grandag.intervention_check import errors_by_regime
from grandag.learned import Learned
from grandag.methods.estimator import StructureLearner
from grandag.parameters import plain
from grandag.version import __version__
from grandag.wording import counted

__all__ = ["FitSummary", "headline"]


@dataclass(frozen=True)
class FitSummary:
    """A fitted model with the facts and the drawing of its graph, each made once however many places show them."""

    model: StructureLearner
    data: str
    seconds: float | None = None

    @property
    def learned(self) -> Learned:
        """What the model learned."""
        learned: Learned = self.model.learned_
        return learned

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """The run as plain values: configuration, seed, result, edges; the time if it was taken."""
        learned = self.learned
        facts: dict[str, Any] = {
            "data": self.data,
            "method": self.model.method,
            "grandag": __version__,
            "parameters": {name: plain(value) for name, value in self.model.get_params(deep=False).items()},
            "seconds": None if self.seconds is None else round(self.seconds, 2),
            "notes": list(learned.notes),
            "warnings": [asdict(concern) for concern in learned.concerns],
        }
        if learned.convergence is not None:
            facts |= {"converged": learned.converged, "n_iter": learned.n_iter}
        for name in ("held_out_log_likelihood", "evidence"):
            if name in learned.values:
                facts[name] = learned.values[name]
        if "intervention_check" in learned.values:
            facts["intervention_check"] = errors_by_regime(learned.values["intervention_check"]).to_dict("records")
        facts["nodes"] = list(learned.names)
        facts["edges"] = self.edges.to_dict(orient="records")
        return facts

    @functools.cached_property
    def edges(self) -> pd.DataFrame:
        """The edges, strongest first."""
        return self.learned.edges()

    @functools.cached_property
    def svg(self) -> str:
        """The drawing, of a large graph that of its strongest edges."""
        return self.learned.plot().svg


def headline(facts: dict[str, Any]) -> str:
    """One line on how a run went."""
    parts = [f"{counted(len(facts['nodes']), 'node')}, {counted(len(facts['edges']), 'edge')}"]
    if "converged" in facts:
        how = "converged" if facts["converged"] else "did not converge"
        parts.append(f"{how} after {counted(facts['n_iter'], 'iteration')}")
    if "held_out_log_likelihood" in facts:
        parts.append(f"held-out log-likelihood per row {facts['held_out_log_likelihood']:.3f}")
    if "evidence" in facts:
        parts.append(f"evidence {facts['evidence']:,.1f}")
    if facts["seconds"] is not None:
        parts.append(f"{facts['seconds']:.1f} s")
    return "; ".join(parts)
