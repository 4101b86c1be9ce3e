"""GES: the equivalence class with the best Gaussian BIC that a greedy search finds.

    s(j, P) = -n / 2 (log(2 pi v) + 1) - penalty / 2 log(n) (|P| + 2),    v = Var(x_j | x_P)

is the log-likelihood of the linear regression of x_j on its parents at its maximum, minus the penalty: slopes,
intercept and variance are |P| + 2 parameters. All variances come from one covariance matrix, so that a score costs the
same for any number of rows. Equivalent DAGs have equal scores. The search is `greedy_search`; its default phases are
those of R's pcalg, which the paper used: forward, backward and turning, again until nothing changes.

Without intercepts, v is about zero instead of about the means: the default of pcalg at that time. On data with other
means it finds edges that are not there, and the paper's tables have them (docs/equivalence.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.engine.compiled import announcing_compilation
from grandag.methods.equivalence.conditioning import conditional_variance
from grandag.methods.equivalence.equivalence_learner import SEARCH_RULES, GreedyLearner
from grandag.methods.equivalence.greedy_search import CachedScore
from grandag.methods.stages.linear_gaussian import Moments, about_zero, least_squares, moments
from grandag.parameters import boolean, number
from grandag.progress import Listener
from grandag.table import Table

__all__ = ["GES", "GaussianScore"]


class GaussianScore:
    """The BIC of linear Gaussian models; `local` is s(j, P) above."""

    def __init__(self, data: Moments, n_rows: int, penalty: float = 1.0) -> None:
        self.n_variables = len(data.mean)
        self._covariance = data.covariance
        self._n_rows = n_rows
        self._price = penalty / 2 * np.log(n_rows)

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """The part of one node of the score."""
        variance = conditional_variance(self._covariance, np.array([*parents, node], dtype=np.int64))
        likelihood = -self._n_rows / 2 * (np.log(2 * np.pi * variance) + 1)
        return float(likelihood - self._price * (len(parents) + 2))


class GES(GreedyLearner):
    """Learn an equivalence class of DAGs with linear functions and Gaussian noise by greedy search.

    `GES.preset("paper")` has no intercepts, as R's pcalg when the paper's tables were made.

    Args:
        penalty: Multiple of the BIC's penalty, log(n) / 2 per parameter; larger values give sparser graphs.
        intercept: Let regressions have an intercept. Without it all means are taken to be 0, as in the paper's tables.
        turning: Turn edges, too, after the forward and the backward phase.
        repeat: Start again with the first phase until a whole round changes nothing.
        max_parents: Of one variable; None for no limit.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, a CPDAG: an undirected edge is in it in both directions.
        is_dag_: False.
        dag_: (d, d) bool, one DAG of the class.
        graph_: The class as a networkx DiGraph with the column names; undirected edges are marked.
        edges_: The same as a pandas data frame: source, target, type (-> or --), strength.
        strength_: (d, d) how much an edge adds to the BIC of `dag_`.
        search_: Data frame of the search: phase, source, target, with (the clique C), gain.
        score_: The BIC.
        causal_order_: Names, parents before children in `dag_`.
        notes_: What a reader of the result should know.
        warnings_: What speaks against trusting the graph: a list of records with kind, variables, numbers and message.

    Example:
        >>> from grandag import GES, datasets
        >>> model = GES().fit(datasets.load_sachs().data)
        >>> model.is_dag_, len(model.edges_)
        (False, 8)
    """

    presets = {"default": {}, "paper": {"intercept": False}}  # noqa: RUF012 (typed in the base class)
    _rules = {  # noqa: RUF012 (typed in the base class)
        "penalty": number(0),
        "intercept": boolean,
        **SEARCH_RULES,
    }
    method = "ges"

    def __init__(
        self,
        *,
        penalty: float = 1.0,
        intercept: bool = True,
        turning: bool = True,
        repeat: bool = True,
        max_parents: int | None = None,
        knowledge: Any = None,
        missing: str = "error",
        verbose: bool = False,
    ) -> None:
        self.penalty = penalty
        self.intercept = intercept
        self.turning = turning
        self.repeat = repeat
        self.max_parents = max_parents
        self.knowledge = knowledge
        self.missing = missing
        self.verbose = verbose

    def _learn(self, table: Table, listener: Listener | None) -> None:
        values = self._varying_values(table)
        self._warn_of_copies(values)
        data = moments(np.asarray(values, dtype=np.float64))
        with announcing_compilation():
            scored = data if self.intercept else about_zero(data)
            dag = self._search(CachedScore(GaussianScore(scored, len(values), self.penalty)), listener)
        self._conditionals_ = least_squares(data, dag)
