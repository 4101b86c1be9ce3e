"""GSF: the equivalence class with the best generalised score that GES's search finds (Huang et al. 2018).

The score (`generalised_score.py`) assumes neither linear functions nor Gaussian noise; the search (`greedy_search.py`)
is that of GES, forward and backward once, as in the authors' program. Equivalent DAGs have nearly, not exactly, equal
scores, so that a gain is the operator's own, not a difference of totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grandag.engine.compiled import announcing_compilation
from grandag.methods.equivalence.equivalence_learner import SEARCH_RULES, GreedyLearner
from grandag.methods.equivalence.generalised_score import GeneralisedScore
from grandag.methods.equivalence.greedy_search import CachedScore
from grandag.methods.equivalence.kernel_conditionals import KernelConditionals
from grandag.parameters import integer, number, one_of
from grandag.progress import Listener
from grandag.table import Table

__all__ = ["GSF"]


class GSF(GreedyLearner):
    """Learn an equivalence class of DAGs with any functions by greedy search with kernel regressions.

    `GSF.preset("paper")` allows five parents at most, as the paper's largest runs.

    Args:
        regulariser: lambda of the kernel ridge regressions of the cross-validated likelihood.
        likelihood: "cross-validated" or "marginal".
        form: "low-rank", whose cost is linear in the number of rows, or "exact".
        max_rank: Most features of a kernel, in the low-rank form.
        n_folds: Of the cross-validated likelihood; a fold holds out consecutive rows.
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
        strength_: (d, d) how much an edge adds to the generalised score of `dag_`.
        search_: Data frame of the search: phase, source, target, with (the clique C), gain.
        score_: The generalised score of `dag_`.
        causal_order_: Names, parents before children in `dag_`.
        notes_: What a reader of the result should know.
        warnings_: What speaks against trusting the graph: a list of records with kind, variables, numbers and message.

    Example:
        >>> import numpy as np
        >>> from grandag import GSF
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=200)
        >>> GSF().fit(np.column_stack([x, np.cos(2 * x) + 0.1 * rng.normal(size=200)])).edges_["type"].tolist()
        ['--']
    """

    presets = {"default": {}, "paper": {"max_parents": 5}}  # noqa: RUF012 (typed in the base class)
    _rules = {  # noqa: RUF012 (typed in the base class)
        "regulariser": number(1e-10),
        "likelihood": one_of("cross-validated", "marginal"),
        "form": one_of("low-rank", "exact"),
        "max_rank": integer(1),
        "n_folds": integer(2),
        **SEARCH_RULES,
    }
    method = "gsf"

    def __init__(
        self,
        *,
        regulariser: float = 0.01,
        likelihood: str = "cross-validated",
        form: str = "low-rank",
        max_rank: int = 350,
        n_folds: int = 10,
        turning: bool = False,
        repeat: bool = False,
        max_parents: int | None = None,
        knowledge: Any = None,
        missing: str = "error",
        verbose: bool = False,
    ) -> None:
        self.regulariser = regulariser
        self.likelihood = likelihood
        self.form = form
        self.max_rank = max_rank
        self.n_folds = n_folds
        self.turning = turning
        self.repeat = repeat
        self.max_parents = max_parents
        self.knowledge = knowledge
        self.missing = missing
        self.verbose = verbose

    def _learn(self, table: Table, listener: Listener | None) -> None:
        values = np.asarray(self._varying_values(table), dtype=np.float64)
        self._warn_of_copies(values)
        with announcing_compilation():
            score = GeneralisedScore(
                values,
                likelihood=self.likelihood,
                form=self.form,
                regulariser=self.regulariser,
                n_folds=self.n_folds,
                max_rank=self.max_rank,
            )
            dag = self._search(CachedScore(score), listener)
            self._kernels_ = KernelConditionals.fit(values, dag, regulariser=self.regulariser, max_rank=self.max_rank)

    def _log_density(self, values: np.ndarray) -> float:
        return float(self._kernels_.log_density(values).sum(axis=1).mean())

    def _conditional_arrays(self) -> dict[str, np.ndarray]:
        return self._kernels_.to_arrays()

    def _restore_conditionals(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._kernels_ = KernelConditionals.from_arrays(arrays)
