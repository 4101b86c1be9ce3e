"""Exact search: no DAG has a better score than the one that is found (Silander and Myllymaki 2006).

    max over DAGs of sum_j s(j, Pa(j))

for a score that is a sum over the variables. Integer programming (Jaakkola et al. 2010; Cussens 2012) solves the same
problem; here it is dynamic programming over subsets and, for more variables, A* (`search.py`). A greedy search with the
same score finds a DAG that is at most as good.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np

from grandag.diagnostics import Concern
from grandag.graph import restricted_class
from grandag.knowledge import Masks
from grandag.learned import GraphKind, Learned
from grandag.methods.cam.cam import AdditiveConditional
from grandag.methods.equivalence.class_search import edge_gains
from grandag.methods.equivalence.kernel_conditionals import KernelConditional
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.exact.parent_sets import count_sets
from grandag.methods.exact.scores import SCORES
from grandag.methods.exact.search import Optimum, check_memory, exact_search
from grandag.methods.stages.linear_gaussian import LinearConditional
from grandag.methods.stages.straight_lines import with_lines
from grandag.parameters import PowerOfTen, count, integer, number, one_of, optional, parameter, positive
from grandag.progress import Listener
from grandag.table import Table
from grandag.wording import counted, some

__all__ = ["ExactConfig", "ExactSearch", "learn"]

_logger = logging.getLogger("grandag")

_WORTH_SAYING = 0.1
"""GB from which on the memory is announced as a warning, which everybody sees."""


@dataclass(frozen=True, kw_only=True)
class ExactConfig:
    """Parameters of exact search."""

    local_score: str = parameter(
        "bic",
        one_of(*SCORES),
        "The score: the BIC of linear Gaussian models, that of additive splines, or the generalised score.",
    )
    penalty: float = parameter(
        1.0,
        number(0),
        "Multiple of the BIC's penalty, log(n) / 2 per parameter; larger values give sparser graphs.",
        search=PowerOfTen(-4, 4),
        unused_with="local_score",
        unused_at="generalised",
    )
    max_parents: int | None = parameter(
        None,
        optional(count),
        "Maximum number of parents per variable; None: no limit. From 20 variables on, set 4 or so.",
    )
    exhaustive_up_to: int = parameter(
        22, integer(2), "Number of variables up to which all subsets are gone through; A* searches among more."
    )
    max_memory: float = parameter(
        2.0, positive, "Memory in GB: a search that needs more is refused, and A* ends when it has used so much."
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: ExactConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The DAG with the best score or, where the score does not tell its DAGs apart, the class."""
    _announce(knowledge, config)
    score, is_class, conditionals, notes, groups = SCORES[config.local_score](table, config.penalty)
    found = exact_search(
        score,
        knowledge,
        max_parents=config.max_parents,
        exhaustive_up_to=config.exhaustive_up_to,
        max_memory=config.max_memory,
        listener=listener,
    )
    adjacency = _class_of(found.adjacency, knowledge.allowed, groups) if is_class else found.adjacency
    learned = Learned(
        table.names,
        adjacency,
        np.zeros(adjacency.shape),
        kind=_kind(groups) if is_class else "dag",
        values={"score": found.score, "gap": found.gap},
        notes=(*notes, *_note_of_limit(found.adjacency, knowledge, table.names, config.max_parents)),
        concerns=_concerns(found, config.max_parents),
    )
    gains = edge_gains(CachedScore(score), adjacency, learned.dag)
    learned = replace(learned, strength=np.where(adjacency, gains, 0.0))
    if config.local_score != "bic":
        return replace(learned, conditionals=conditionals(learned.dag))
    return with_lines(learned, table, conditionals(learned.dag), "The BIC of linear models")


def _class_of(dag: np.ndarray, allowed: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """The DAGs with the same score that knowledge allows; interventions tell directions between different groups."""
    if groups is None:
        return restricted_class(dag, allowed)
    return restricted_class(dag, allowed & (dag | (groups[:, None] == groups)))


def _kind(groups: np.ndarray | None) -> GraphKind:
    return "cpdag" if groups is None else "essential"


def _announce(knowledge: Masks, config: ExactConfig) -> None:
    """Say what the search needs before it starts, or refuse it."""
    needed = check_memory(knowledge, config.max_parents, config.exhaustive_up_to, config.max_memory).total / 1e9
    d, n_sets = len(knowledge.allowed), count_sets(knowledge, config.max_parents)
    is_open = d > config.exhaustive_up_to
    _logger.log(
        logging.WARNING if is_open or needed > _WORTH_SAYING else logging.INFO,
        "Exact search among %d variables scores %s sets of parents and needs up to %.2g GB of memory%s.",
        d,
        f"{n_sets:,}",
        config.max_memory if is_open else needed,
        " (max_memory)" if is_open else "",
    )


def _note_of_limit(
    dag: np.ndarray, knowledge: Masks, names: tuple[str, ...], max_parents: int | None
) -> tuple[str, ...]:
    """A note, if variables have as many parents as they may, and others might be added."""
    if max_parents is None:
        return ()
    n_parents, n_possible = dag.sum(axis=0), knowledge.allowed.sum(axis=0)
    at_limit = [repr(names[j]) for j in np.flatnonzero((n_parents >= max_parents) & (n_possible > n_parents))]
    if not at_limit:
        return ()
    return (
        f"{counted(len(at_limit), 'variable')} {'has' if len(at_limit) == 1 else 'have'} max_parents={max_parents} "
        f"parents: {some(at_limit)}. With more, another graph may have a better score.",
    )


def _concerns(found: Optimum, max_parents: int | None) -> tuple[Concern, ...]:
    """A concern, if the search was stopped: what is known about better graphs."""
    if not (found.was_interrupted or found.is_out_of_memory):
        return ()
    if found.gap is None:
        known = "How much better others are is unknown, since not all sets of parents were scored."
    else:
        limit = "" if max_parents is None else f" with at most {counted(max_parents, 'parent')} per variable"
        known = f"No graph{limit} has a score that is better by more than {found.gap:,.4g}."
    if found.was_interrupted:
        kind, message = (
            "interrupted",
            f"The search was interrupted: the graph is the best one found until then. {known}",
        )
    else:
        kind = "not proven best"
        message = (
            f"The search used up its memory: the graph is the best one found until then. {known} Raise max_memory, "
            "lower max_parents, forbid impossible edges, or use fewer columns."
        )
    return (Concern(kind, (), {} if found.gap is None else {"gap": found.gap}, message, is_urgent=True),)


@estimator
class ExactSearch(StructureLearner, ExactConfig):
    """Learn the DAG with the best score of all, by dynamic programming over subsets of the variables or A*.

    With the BIC and the generalised score `adjacency_` is a CPDAG, with undirected edges in both directions; where
    background knowledge directs edges, it is the part of the class that knowledge allows. With the additive score it is
    a DAG. Ctrl-C ends the search with the best graph so far. Exact search is deterministic and takes no seed.

    Attributes:
        strength_: (d, d) how much an edge adds to the score of `dag_`.
        score_: The best score.
        gap_: How much better another graph with at most `max_parents` parents per variable could be: 0, unless the
            search was stopped; None if nothing is known.

    Example:
        >>> from grandag import ExactSearch, GES, datasets
        >>> data = datasets.load_sachs().data
        >>> model = ExactSearch().fit(data)
        >>> model.gap_, bool(model.score_ >= GES().fit(data).score_ - 1e-6)  # both sum up many numbers
        (0.0, True)
    """

    learn = staticmethod(learn)
    takes_interventions = frozenset({"perfect"})
    conditional = (
        AdditiveConditional | LinearConditional | KernelConditional
    )  # one without curves has no array of its own
    checks_noise = False
