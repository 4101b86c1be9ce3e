"""RESIT, regression with subsequent independence test (Peters, Mooij, Janzing and Schoelkopf 2014).

    x_j = f_j(parents of j) + e_j,    e_j independent of the parents

Only along the true graph is what regressions leave of a variable independent of the variables before it, unless
functions are linear and noise is Gaussian. The variables are put in an order from its end (`order`), by tests of
independence (`hsic`) of cross-fitted residuals (`residuals`); then parents are chosen along it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from grandag.diagnostics import Concern, concern_about
from grandag.gam import SplineTable
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.cam.cam import AdditiveConditional, preselect
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.lingam.lingam import must_precede
from grandag.methods.resit.hsic import Independence
from grandag.methods.resit.order import Ordered, Tester, eliminate, sinks
from grandag.methods.resit.residuals import REGRESSIONS, draw_folds
from grandag.methods.stages.gaussian_process import ProcessConditional, fit_processes
from grandag.methods.stages.prune import prune
from grandag.model import Conditional
from grandag.parameters import PowerOfTen, boolean, integer, one_of, parameter, probability
from grandag.progress import Listener, Progress
from grandag.table import MANY_ROWS, Table, note_of_rows, spread
from grandag.wording import counted

__all__ = ["RESIT", "ResitConfig", "learn"]

_PRESELECTION_FROM = 30
"""Number of variables from which candidates are selected first."""

_MAX_ROWS = {"splines": MANY_ROWS, "gaussian-process": 10_000, "trees": MANY_ROWS}
"""Rows that are looked at, by regression."""

_SIGNIFICANT, _CLEAR = 0.001, 0.01
"""P-value, corrected for all variables, and share of HSIC in its largest value: both are needed for a concern."""

_INDEPENDENT = 0.05
"""P-value from which a residual against the direction of an edge passes for independent."""


@dataclass(frozen=True, kw_only=True)
class ResitConfig:
    """Parameters of RESIT."""

    regression: str = parameter(
        "splines",
        one_of(*REGRESSIONS),
        "Regressions: additive splines, Gaussian processes (functions that are no sums; slower), or trees.",
    )
    n_folds: int = parameter(
        5, integer(2), "Number of folds: a row's residual is from a regression on the other folds."
    )
    preselection: bool | str = parameter(
        "auto",
        one_of("auto", True, False),
        "Select candidate parents by boosting first; 'auto': from 30 variables on.",
    )
    prune: bool = parameter(
        False,
        boolean,
        "Choose parents by their significance in additive regressions, as CAM does, in place of backward elimination "
        "by independence tests.",
    )
    alpha: float = parameter(
        0.01,
        probability,
        "P-value from which a residual counts as independent in backward elimination; larger values give more edges.",
        search=PowerOfTen(-4, -1),
        unused_with="prune",
    )
    prune_cutoff: float = parameter(
        0.001, probability, "Edges with a p-value below this are kept by `prune`, and where elimination cannot decide."
    )


class _Chosen(NamedTuple):
    """The final edges, what pruning knows of each, and notes."""

    adjacency: np.ndarray
    edge_facts: dict[str, np.ndarray]
    notes: tuple[str, ...]


def learn(
    table: Table,
    knowledge: Masks,
    config: ResitConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The order, the parents of each variable, and their regressions."""
    used = spread(len(table.values), _MAX_ROWS[config.regression])
    some = table if len(used) == len(table.values) else replace(table.take(used), index=None)
    candidates, notes = _candidates(some, knowledge, config, listener)
    columns = some.scaling.apply(some.values, "float64")
    folds = draw_folds(len(columns), config.n_folds, rng)
    test = Tester(REGRESSIONS[config.regression](some, folds, rng), Independence(columns, rng))
    ordered = sinks(test, candidates, must_precede(knowledge), listener)
    splines = SplineTable(some, depends_on_units=False)
    chosen = _parents(test, ordered, candidates, splines, knowledge, config, listener)
    strength = _strengths(test, ordered.order, chosen.adjacency)
    return Learned(
        table.names,
        chosen.adjacency,
        strength,
        edge_facts=chosen.edge_facts or {"p_value": np.where(chosen.adjacency, np.exp(-strength), np.nan)},
        values={"search": _named(ordered, table.names)},
        conditionals=_conditionals(some, chosen.adjacency, splines, config, rng),
        notes=(*note_of_rows("RESIT looked at", used, table), *notes, *chosen.notes),
        concerns=(
            *_dependence_concerns(test, chosen.adjacency, table.names, config),
            *_direction_concerns(test, chosen.adjacency, knowledge, table.names),
        ),
    )


def _candidates(
    table: Table, knowledge: Masks, config: ResitConfig, listener: Listener | None
) -> tuple[np.ndarray, list[str]]:
    """[i, j]: may i be a parent of j? And a note if boosting has a part in it."""
    allowed, required = knowledge
    d = len(allowed)
    is_asked = d >= _PRESELECTION_FROM if config.preselection == "auto" else config.preselection
    if not is_asked or d < 2:
        return allowed, []
    selected = preselect(table, listener=listener)
    note = f"Preselection left {int(selected.sum()):,} of {d * (d - 1):,} possible edges open."
    return selected & allowed | required, [note]


def _parents(
    test: Tester,
    ordered: Ordered,
    candidates: np.ndarray,
    splines: SplineTable,
    knowledge: Masks,
    config: ResitConfig,
    listener: Listener | None,
) -> _Chosen:
    """Parents among the candidates that come before, by elimination or pruning.

    Where even the residual given all of them is dependent, no elimination would keep it independent: pruning decides.
    """
    rank = np.argsort(ordered.order)
    adjacency = candidates & (rank[:, None] < rank)
    log_alpha = math.log(config.alpha) if config.alpha > 0 else -math.inf
    is_clear = np.array(ordered.log_p_values)[rank] >= log_alpha
    if config.prune:
        is_clear[:] = False
    to_prune = adjacency & ~is_clear
    pruned = prune(splines, to_prune, config.prune_cutoff, required=knowledge.required, listener=listener)
    if config.prune:
        return _Chosen(pruned.adjacency, pruned.edge_facts, (pruned.note,))
    kept = pruned.adjacency.copy()
    for place, j in enumerate(ordered.order):
        parents = np.flatnonzero(adjacency[:, j])
        if is_clear[j] and len(parents):
            weakest_first = parents[np.argsort(-splines.regress(j, parents.tolist()).p_values(), kind="stable")]
            before = ordered.order[:place]
            kept[eliminate(test, j, weakest_first.tolist(), before, log_alpha, knowledge.required[:, j]), j] = True
        if listener is not None:
            listener(Progress("eliminate", place + 1, len(rank), n_edges=int(kept.sum())))
    notes = [f"Elimination dropped {int((adjacency & ~kept).sum()):,} of {int(adjacency.sum()):,} edges."]
    open_to_doubt = [splines.names[j] for j in np.flatnonzero(to_prune.any(axis=0))]
    if open_to_doubt:
        notes.append(
            f"Of {len(open_to_doubt):,} variables even the residual given all candidates is dependent; their parents "
            f"were chosen by significance (prune_cutoff): {', '.join(open_to_doubt[:10])}"
            f"{', ...' if len(open_to_doubt) > 10 else ''}."
        )
    return _Chosen(kept, {}, tuple(notes))


def _strengths(test: Tester, order: list[int], adjacency: np.ndarray) -> np.ndarray:
    """(d, d) minus the logarithm of the p-value of independence without each edge."""
    strength = np.zeros(adjacency.shape)
    for place, j in enumerate(order):
        parents = np.flatnonzero(adjacency[:, j]).tolist()
        for parent in parents:
            rest = tuple(other for other in parents if other != parent)
            strength[parent, j] = -test(j, rest).on(order[:place])
    return strength


def _named(ordered: Ordered, names: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame({"variable": [names[node] for node in ordered.order], "log_p_value": ordered.log_p_values})


def _conditionals(
    table: Table, adjacency: np.ndarray, splines: SplineTable, config: ResitConfig, rng: np.random.Generator
) -> tuple[Conditional, ...]:
    """Of the final graph: additive splines, or Gaussian processes, which stand for trees, too."""
    if config.regression != "splines":
        return fit_processes(table, adjacency, rng, n_threads=1).conditionals
    fits = (splines.regress(j, np.flatnonzero(parents).tolist()) for j, parents in enumerate(adjacency.T))
    return tuple(AdditiveConditional.of(fit) for fit in fits)


def _dependence_concerns(
    test: Tester, adjacency: np.ndarray, names: tuple[str, ...], config: ResitConfig
) -> list[Concern]:
    """A concern about variables whose residual clearly depends on their parents."""
    records = {}
    for j in np.flatnonzero(adjacency.any(axis=0)).tolist():
        parents = np.flatnonzero(adjacency[:, j]).tolist()
        found = test(j, tuple(parents))
        share, log_p_value = float(found.share[parents].max()), found.on(parents)
        if share > _CLEAR and log_p_value < math.log(_SIGNIFICANT / len(names)):
            records[names[j]] = {"share": share, "log_p_value": log_p_value}
    table = pd.DataFrame.from_dict(records, orient="index", columns=["share", "log_p_value"])
    other = "regression='gaussian-process' fits functions that are no sums; " if config.regression == "splines" else ""
    return concern_about(
        "dependent residuals",
        table.sort_values("share", ascending=False),
        lambda row: f"log p-value {row['log_p_value']:.0f}",
        "What the parents leave of these variables depends on them: {}. RESIT reads directions from independent "
        f"residuals, so that edges around them are a guess: {other}noise that is not additive, hidden common causes "
        "and missing parents are other reasons.",
    )


def _direction_concerns(test: Tester, adjacency: np.ndarray, knowledge: Masks, names: tuple[str, ...]) -> list[Concern]:
    """A concern about edges i -> j whose reverse fits, too: the residual of i given j and its parents is independent.

    Edges whose direction is known are no guess.
    """
    found = {}
    for i, j in np.argwhere(adjacency & knowledge.allowed.T).tolist():
        inputs = [*np.flatnonzero(adjacency[:, i]).tolist(), j]
        log_p_value = test(i, tuple(sorted(inputs))).on(inputs)
        if log_p_value >= math.log(_INDEPENDENT):
            found[f"{names[i]} -> {names[j]}"] = (math.exp(log_p_value), i, j)
    table = pd.DataFrame({"p_value": [p_value for p_value, *_ in found.values()]}, index=list(found))
    concerns = concern_about(
        "guessed directions",
        table.sort_values("p_value", ascending=False),
        lambda row: f"p-value {row['p_value']:.2g} backwards",
        f"Backwards, {len(found)} of {counted(int(adjacency.sum()), 'edge')} would leave independent residuals, too: "
        "their direction is a guess, {}. Straight lines with Gaussian noise, weak effects and few rows look like this. "
        "Use a method for equivalence classes (GES, PC), more rows, or background knowledge.",
    )
    involved = tuple(dict.fromkeys(names[node] for _, *edge in found.values() for node in edge))
    return [replace(concern, variables=involved) for concern in concerns]


@estimator
class RESIT(StochasticLearner, ResitConfig):
    """Learn a DAG with additive noise of any kind by regressions and tests of independence of what they leave.

    The variable whose residual, given all others, depends on them least is last in the order, and so on; parents are
    then chosen along the order. Residuals are cross-fitted; the seed draws the folds and, of more than 1,000 rows,
    those that stand for a kernel. Units do not matter.

    Attributes:
        search_: Data frame of the order that was found, causes first: variable, and log_p_value, the logarithm of
            the p-value of independence when it was taken as the last of those left.
        strength_: (d, d) minus the logarithm of the p-value of independence without the edge.
        p_values_: (d, d) p-values of independence without each edge; with `prune`, those of the additive regression.

    Example:
        >>> import numpy as np
        >>> from grandag import RESIT
        >>> cause, noise = np.random.default_rng(0).normal(size=(2, 500))
        >>> RESIT(random_state=0).fit(np.column_stack([np.tanh(2 * cause) + 0.3 * noise, cause])).causal_order_
        ['X1', 'X0']
    """

    learn = staticmethod(learn)
    conditional = AdditiveConditional | ProcessConditional
    checks_noise = False
    quick_up_to = 10

    @property
    def causal_order_(self) -> list[str]:
        """The names in the order that was found, causes first; constant columns have no place in it."""
        return list(self._fitted().values["search"]["variable"])
