"""GSF: the equivalence class with the best generalised score that GES's search finds (Huang et al. 2018).

The score (`generalised_score.py`) assumes neither linear functions nor Gaussian noise; the search (`greedy_search.py`)
is that of GES, forward and backward once, as in the authors' program. Equivalent DAGs have nearly, not exactly, equal
scores, so that a gain is the operator's own, not a difference of totals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.equivalence.class_search import SearchConfig, search_class
from grandag.methods.equivalence.generalised_score import GeneralisedScore
from grandag.methods.equivalence.kernel_conditionals import KernelConditional, kernel_conditionals
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.estimator import StructureLearner, estimator
from grandag.parameters import PowerOfTen, count, integer, number, one_of, parameter, redeclared
from grandag.progress import Listener
from grandag.table import Table, note_of_rows, rows_of, spread

__all__ = ["GSF", "GsfConfig", "learn"]


@dataclass(frozen=True, kw_only=True)
class GsfConfig(SearchConfig):
    """Parameters of GSF."""

    regulariser: float = parameter(
        0.01,
        number(1e-10),
        "Regulariser lambda of the kernel ridge regressions of the cross-validated likelihood.",
        search=PowerOfTen(-4, 4),
    )
    likelihood: str = parameter(
        "cross-validated", one_of("cross-validated", "marginal"), "The likelihood that scores a regression."
    )
    form: str = parameter(
        "low-rank",
        one_of("low-rank", "exact"),
        "Form of the kernel matrices; the cost of the low-rank form is linear in the number of rows.",
    )
    max_rank: int = parameter(350, count, "Maximum number of features of a kernel in the low-rank form.")
    max_rows: int = parameter(20_000, count, "Maximum number of rows; of more, so many are used, evenly spread.")
    n_folds: int = parameter(
        10, integer(2), "Number of folds of the cross-validated likelihood; a fold holds out consecutive rows."
    )
    turning: bool = redeclared(SearchConfig, "turning", False)
    repeat: bool = redeclared(SearchConfig, "repeat", False)
    max_parents: int | None = redeclared(SearchConfig, "max_parents", None, paper=5)


def learn(
    table: Table,
    knowledge: Masks,
    config: GsfConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The class with the best generalised score that the greedy search finds, and regressions of one of its DAGs."""
    used = spread(len(table.values), config.max_rows)
    values = rows_of(table.values, used)
    score = GeneralisedScore(
        values,
        likelihood=config.likelihood,
        form=config.form,
        regulariser=config.regulariser,
        n_folds=config.n_folds,
        max_rank=config.max_rank,
    )
    found = search_class(CachedScore(score), table.names, knowledge, config, listener)
    conditionals = kernel_conditionals(values, found.dag, regulariser=config.regulariser, max_rank=config.max_rank)
    notes = note_of_rows("The generalised score is that of", used, table)
    return replace(found, conditionals=conditionals, notes=(*notes, *found.notes))


@estimator
class GSF(StructureLearner, GsfConfig):
    """Learn an equivalence class of DAGs with any functions by greedy search with kernel regressions.

    `adjacency_` is a CPDAG, with undirected edges in both directions; where background knowledge directs edges, it is
    the part of the class that knowledge allows. `GSF.preset("paper")` allows five parents at most, as the paper's
    largest runs. GSF is deterministic and takes no seed.

    Attributes:
        strength_: (d, d) how much an edge adds to the generalised score of `dag_`.
        search_: Data frame of the search: phase, source, target, with (the clique C), gain.
        score_: The generalised score of `dag_`.

    Example:
        >>> import numpy as np
        >>> from grandag import GSF
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=200)
        >>> GSF().fit(np.column_stack([x, np.cos(2 * x) + 0.1 * rng.normal(size=200)])).edges_["type"].tolist()
        ['--']
    """

    learn = staticmethod(learn)
    conditional = KernelConditional
