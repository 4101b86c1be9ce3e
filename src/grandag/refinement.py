"""Any DAG judged and improved by its evidence: a method's graph, or an expert's drawing.

The evidence of a graph is sum_j log p(x_j | parents of j), each regression a Gaussian process with its hyper-parameters
at their maximum, or, in a table with labels or counts, an additive regression (docs/evidence.md). Differences between
graphs of the same table are in nats: 5 are a factor of 150.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from grandag import evidence
from grandag.diagnostics import Concern, constant_concerns
from grandag.engine.compiled import announcing_compilation
from grandag.graph import GraphError, as_graph, is_acyclic
from grandag.knowledge import Knowledge
from grandag.learned import Learned
from grandag.methods.stages.explained import explained
from grandag.methods.stages.heavy_tails import outlier_concern
from grandag.methods.stages.refine import interruption, rows_to_ask
from grandag.outliers import find_outliers
from grandag.parameters import ParameterError, as_generator, check_parameters, one_of
from grandag.parameters import kinds as kinds_rule
from grandag.parameters import n_jobs as n_jobs_rule
from grandag.parameters import random_state as seed_rule
from grandag.progress import Listener
from grandag.table import Table, TableError, as_table, constant_columns, suggestion
from grandag.wording import counted

__all__ = ["judge", "refine"]


def refine(
    graph: Any,
    X: Any,
    *,
    knowledge: Any = None,
    missing: str = "error",
    kinds: Any = None,
    outliers: str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = -1,
    interventions: Any = None,
    intervention_kind: str = "perfect",
    listener: Listener | None = None,
) -> Learned:
    """The graph with the most evidence that selection and search find from a given one.

    Ctrl-C ends the search with the best graph so far, and a concern says so.

    Args:
        graph: A DAG over the columns of X: an adjacency matrix, a networkx graph, a data frame, a fitted estimator.
        X: The table.
        knowledge: Forbidden and required edges: a file, a `Knowledge`, or its fields in a dictionary.
        missing: Rows with missing or infinite values: "error", or "drop" them.
        kinds: Kinds of columns by name or pattern, where they shall not be decided from the values (docs/kinds.md).
        outliers: Rows with gross outliers (docs/kinds.md): "auto" leaves them out, "keep" takes them as they are.
        random_state: Seed of the rows that decide what is clear.
        n_jobs: Number of threads, -1 for all cores. Results do not depend on it.
        interventions: Which variables each row intervenes on, as `fit` takes it: the evidence of a variable is that of
            the rows that do not target it.
        intervention_kind: The `kind` of `fit`. After "imperfect" interventions a variable still has its parents: the
            rows of each regime that targets it have a regression of their own, whose evidence counts, too.
        listener: Called with the progress of the search.

    Returns:
        The refined graph. `edges()` has `evidence`, the nats lost when an edge is taken out, which is also the
        strength; `values["evidence"]` is the total.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.normal(size=200)
        >>> effect = np.sin(2 * cause) + 0.2 * rng.normal(size=200)
        >>> refined = refine(np.array([[0, 1], [0, 0]]), np.column_stack([effect, cause]))
        >>> refined.edges()[["source", "target"]].to_numpy().tolist()
        [['X1', 'X0']]
    """
    aligned = _align(graph, X, missing, kinds, outliers, random_state, n_jobs, interventions, intervention_kind)
    allowed, required = (
        Knowledge.of(knowledge).masks(aligned.table.names).without(aligned.is_constant, aligned.table.names)
    )
    with announcing_compilation():
        found = evidence.refine(
            aligned.varying.values,
            aligned.adjacency,
            kinds=aligned.varying.kinds,
            allowed=allowed,
            required=required,
            rng=as_generator(random_state),
            n_threads=int(effective_n_jobs(n_jobs)),
            names=aligned.varying.names,
            are_free=rows_to_ask(aligned.varying.regimes),
            listener=listener,
        )
    return _learned(found, aligned)


def judge(
    graph: Any,
    X: Any,
    *,
    missing: str = "error",
    kinds: Any = None,
    outliers: str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = -1,
    interventions: Any = None,
    intervention_kind: str = "perfect",
) -> Learned:
    """A DAG as it is with its evidence: two graphs of the same table compare by `values["evidence"]`.

    Arguments are those of `refine`.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> cause = rng.normal(size=200)
        >>> X = np.column_stack([cause, np.sin(2 * cause) + 0.2 * rng.normal(size=200)])
        >>> right, wrong = (judge(np.array(graph), X) for graph in ([[0, 1], [0, 0]], [[0, 0], [1, 0]]))
        >>> right.values["evidence"] > wrong.values["evidence"]
        True
    """
    aligned = _align(graph, X, missing, kinds, outliers, random_state, n_jobs, interventions, intervention_kind)
    with announcing_compilation():
        found = evidence.evaluate(
            aligned.varying.values,
            aligned.adjacency,
            kinds=aligned.varying.kinds,
            rng=as_generator(random_state),
            n_threads=int(effective_n_jobs(n_jobs)),
            names=aligned.varying.names,
            are_free=rows_to_ask(aligned.varying.regimes),
        )
    return _learned(found, aligned)


class _Aligned(NamedTuple):
    """A table, and a graph over those of its columns that are not constant, in their order."""

    table: Table
    varying: Table
    is_constant: np.ndarray
    adjacency: np.ndarray
    notes: tuple[str, ...]
    concerns: tuple[Concern, ...]


def _align(
    graph: Any,
    X: Any,
    missing: str,
    kinds: Any,
    outliers: str,
    random_state: Any,
    n_jobs: int | None,
    interventions: Any,
    intervention_kind: str,
) -> _Aligned:
    given = {"missing": missing, "kinds": kinds, "outliers": outliers, "random_state": random_state, "n_jobs": n_jobs}
    rules = {
        "missing": one_of("error", "drop"),
        "kinds": kinds_rule,
        "outliers": one_of("auto", "keep"),
        "random_state": seed_rule,
        "n_jobs": n_jobs_rule,
    }
    if missing == "impute":
        raise ParameterError(
            "missing",
            "cannot be 'impute' here: a graph has one evidence per completed table. Complete the table first, "
            "as_table(X, missing='impute').completed(seed) for each seed, or drop the rows with 'drop'.",
        )
    check_parameters(given, rules)
    table = as_table(X, missing=missing, kinds=kinds, interventions=interventions, intervention_kind=intervention_kind)
    table, concerns = _without_outliers(table) if outliers == "auto" else (table, ())
    adjacency = _in_order(graph, table.names)
    is_constant = constant_columns(table.values)
    if is_constant.all():
        raise TableError("All columns of X are constant: there is no evidence to find.")
    touches = adjacency & (is_constant[:, None] | is_constant)
    notes = (f"Left out {counted(int(touches.sum()), 'edge')} of constant columns.",) if touches.any() else ()
    varying = ~is_constant
    inside = table.select(varying) if is_constant.any() else table
    return _Aligned(table, inside, is_constant, adjacency[np.ix_(varying, varying)], notes, concerns)


def _without_outliers(table: Table) -> tuple[Table, tuple[Concern, ...]]:
    """The rows without gross outliers, and what there is to say of the others; what was set from outside is none."""
    found = find_outliers(table) if table.regimes is None else None
    if found is None:
        return table, ()
    return table.take(np.flatnonzero(~found.rows(table.values))), (outlier_concern(found, table),)


def _in_order(graph: Any, columns: tuple[str, ...]) -> np.ndarray:
    """The adjacency matrix of a DAG in the order of the columns."""
    adjacency, names = as_graph(graph)
    if names is None:
        if len(adjacency) != len(columns):
            raise GraphError(
                f"The graph has {len(adjacency)} nodes without names, but the table has {len(columns)} columns."
            )
        names = columns
    for name in [*(set(names) - set(columns)), *(set(columns) - set(names))]:
        where, other = ("graph", columns) if name in names else ("table", names)
        raise GraphError(
            f"The node {name!r} is in the {where} only{suggestion(name, list(other))}: a graph and its table need the "
            "same names."
        )
    order = [names.index(name) for name in columns]
    ordered = np.asarray(adjacency[np.ix_(order, order)], dtype=bool)
    if not is_acyclic(ordered):
        raise GraphError("The graph has a cycle, or an edge without direction: only a DAG has an evidence.")
    return ordered


def _learned(found: evidence.Refined, aligned: _Aligned) -> Learned:
    table = aligned.table
    learned = Learned(
        aligned.varying.names,
        found.adjacency,
        found.edge_evidence,
        edge_facts={"evidence": np.where(found.adjacency, found.edge_evidence, np.nan)},
        values={"evidence": found.evidence},
        notes=(*table.notes, *aligned.notes, *found.notes),
        concerns=(*aligned.concerns, *constant_concerns(table.values, table.names), *interruption(found)),
    ).with_shares(explained(aligned.varying, found.adjacency))
    learned = learned.with_constants(table.names, np.where(aligned.is_constant, table.values[0], np.nan))
    return replace(learned, columns=table.columns)
