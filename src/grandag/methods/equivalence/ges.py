"""GES: the equivalence class with the best Gaussian BIC that a greedy search finds.

    s(j, P) = -n / 2 (log(2 pi v) + 1) - penalty / 2 log(n) (|P| + 2),    v = Var(x_j | x_P)

is the log-likelihood of the linear regression of x_j on its parents at its maximum, minus the penalty: slopes,
intercept and variance are |P| + 2 parameters. All variances come from one covariance matrix, so that a score costs the
same for any number of rows. Equivalent DAGs have equal scores. The search is `greedy_search`; its default phases are
those of R's pcalg, which the paper used: forward, backward and turning, again until nothing changes.

With perfect interventions this is GIES (Hauser and Buehlmann 2012): v and the n of its factor are those of the rows
that do not target j, and classes are those that the interventions leave. DAGs of such a class have equal scores, too:
where they differ, both ends of the edge are free in the same rows. The penalty is that of all rows, as in the paper.

Without intercepts, v is about zero instead of about the means: the default of pcalg at that time. On data with other
means it finds edges that are not there, and the paper's tables have them (docs/equivalence.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from grandag.evidence import is_mixed
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.equivalence.class_search import SearchConfig, search_class
from grandag.methods.equivalence.conditioning import conditional_variance, conditional_variances, variance_ratios
from grandag.methods.equivalence.local_score import CachedScore
from grandag.methods.equivalence.mixed import MixedScore, free_conditionals, free_parts
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.stages.family_conditionals import FamilyConditional
from grandag.methods.stages.linear_gaussian import (
    FreeMoments,
    LinearConditional,
    Moments,
    about_zero,
    free_moments,
    least_squares,
)
from grandag.methods.stages.straight_lines import with_lines
from grandag.parameters import ParameterError, PowerOfTen, boolean, n_jobs, number, parameter
from grandag.progress import Listener
from grandag.table import KINDS, Table

__all__ = ["GES", "GaussianScore", "GesConfig", "learn"]


class GaussianScore:
    """The BIC of linear Gaussian models; `local` is s(j, P) above. The penalty is that of `n_in_all` rows, if given."""

    def __init__(self, data: Moments, n_rows: int, penalty: float = 1.0, n_in_all: int | None = None) -> None:
        self.n_variables = len(data.mean)
        self._covariance = data.covariance
        self._n_rows = n_rows
        self._price = penalty / 2 * np.log(n_rows if n_in_all is None else n_in_all)

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node of the score."""
        variance = conditional_variance(self._covariance, np.array([*parents, node], dtype=np.int64))
        return float(self._of_variances(variance, len(parents)))

    def local_of_each(self, node: int, parents: np.ndarray) -> np.ndarray:
        """(k,) the same for each row of parents (k, p)."""
        return np.asarray(self._of_variances(conditional_variances(self._covariance, node, parents), parents.shape[1]))

    def gain_of_each(self, node: int, parents: tuple[int, ...], candidates: np.ndarray) -> np.ndarray:
        """(k,) s(j, P + x) - s(j, P) for each x of the candidates (k,)."""
        given = np.array([*parents, node], dtype=np.int64)
        ratios = variance_ratios(self._covariance, given, candidates)
        return np.asarray(-self._n_rows / 2 * np.log(ratios) - self._price)

    def _of_variances(self, variances: Any, n_parents: int) -> Any:
        likelihood = -self._n_rows / 2 * (np.log(2 * np.pi * variances) + 1)
        return likelihood - self._price * (n_parents + 2)


_MIXED = (
    "The score is the BIC of additive regressions, each with the family of its variable's kind; equivalent DAGs have "
    "similar scores, not equal ones."
)


def _labelled(table: Table) -> str:
    """The columns that are not numbers with a mean."""
    return ", ".join(repr(name) for name, kind in zip(table.names, table.kinds, strict=True) if is_mixed([kind]))


@dataclass(frozen=True, kw_only=True)
class GesConfig(SearchConfig):
    """Parameters of GES."""

    penalty: float = parameter(
        1.0,
        number(0),
        "Multiple of the BIC's penalty, log(n) / 2 per parameter; larger values give sparser graphs.",
        search=PowerOfTen(-4, 4),
    )
    intercept: bool = parameter(
        True,
        boolean,
        "Let regressions have an intercept. Without it all means are taken to be 0, as in the paper's tables.",
        source="R's pcalg of that time (docs/equivalence.md)",
        paper=False,
    )
    n_jobs: int | None = parameter(
        -1,
        n_jobs,
        "Number of threads for the covariance matrix of more than 512 variables and for the first scores of more than "
        "128, -1 for all cores. Results do not depend on it.",
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: GesConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The class with the best BIC that the greedy search finds, and the regressions of one of its DAGs."""
    if is_mixed(table.kinds):
        return _learn_mixed(table, knowledge, config, listener)
    n_threads = int(effective_n_jobs(config.n_jobs))
    data = free_moments(table, n_threads=n_threads)
    score, groups = _gaussian_score(table, data, config)
    found = search_class(score, table.names, knowledge, config, listener, groups, n_threads)
    return with_lines(found, table, least_squares(data, found.dag).conditionals(found.dag), "GES")


def _gaussian_score(
    table: Table, data: Moments | FreeMoments, config: GesConfig
) -> tuple[CachedScore, np.ndarray | None]:
    """The BIC, by the free rows of each group of variables, and the groups; None: there are no interventions."""

    def of(some: Moments, n_free: int) -> GaussianScore:
        some = some if config.intercept else about_zero(some)
        return GaussianScore(some, n_free, config.penalty, n_in_all=len(table.values))

    if isinstance(data, Moments):
        return CachedScore(of(data, len(table.values))), None
    _, first = np.unique(data.groups, return_index=True)
    scores = [of(data.of(variable), round(data.share[variable] * len(table.values))) for variable in first]
    return CachedScore(*scores, groups=data.groups), data.groups


def _learn_mixed(table: Table, knowledge: Masks, config: GesConfig, listener: Listener | None) -> Learned:
    """The same with additive regressions."""
    if not config.intercept:
        raise ParameterError(
            "intercept",
            f"must be True for a table with labels or counts: {_labelled(table)}. The preset 'paper' has False: "
            "use the default, or give intercept=True with it; kinds='*=continuous' takes codes for numbers.",
        )
    groups, parts = free_parts(table)
    scores = [MixedScore(part, config.penalty, len(table.values)) for part in parts]
    found = search_class(CachedScore(*scores, groups=groups), table.names, knowledge, config, listener, groups)
    return replace(found, conditionals=free_conditionals(parts, groups, found.dag), notes=(_MIXED, *found.notes))


@estimator
class GES(StructureLearner, GesConfig):
    """Learn an equivalence class of DAGs with linear functions and Gaussian noise by greedy search.

    `adjacency_` is a CPDAG, with undirected edges in both directions; where background knowledge directs edges, it is
    the part of the class that knowledge allows. `GES.preset("paper")` has no intercepts, as R's pcalg when the paper's
    tables were made. GES is deterministic and takes no seed. A table with labels or counts is scored by additive
    regressions with the families of its columns, and has such regressions as conditionals.

    `fit(X, interventions=...)` is GIES (Hauser and Buehlmann 2012), for perfect interventions: each variable is scored
    by the rows that do not target it, and `adjacency_` is the interventional essential graph, in which an edge is
    undirected only if the interventions do not tell its direction either.

    Attributes:
        strength_: (d, d) how much an edge adds to the BIC of `dag_`.
        search_: Data frame of the search: phase, source, target, with (the clique C), gain.
        score_: The BIC.

    Example:
        >>> from grandag import GES, datasets
        >>> model = GES().fit(datasets.load_sachs().data)
        >>> model.is_dag_, len(model.edges_)
        (False, 8)
    """

    learn = staticmethod(learn)
    conditional = LinearConditional | FamilyConditional
    takes = frozenset(KINDS)
    takes_interventions = frozenset({"perfect"})
    checks_noise = False
    quick_up_to = 20
