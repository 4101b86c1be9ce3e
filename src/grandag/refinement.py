"""Any DAG judged and improved by its evidence: a method's graph, or an expert's drawing.

The evidence of a graph is sum_j log p(x_j | parents of j), each regression a Gaussian process with its hyper-parameters
at their maximum (docs/evidence.md). Differences between graphs of the same table are in nats: 5 are a factor of 150.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from grandag import evidence
from grandag.graph import GraphError, as_graph, is_acyclic
from grandag.knowledge import Knowledge
from grandag.learned import Learned
from grandag.methods.stages.refine import interruption
from grandag.parameters import as_generator, check_parameters
from grandag.parameters import n_jobs as n_jobs_rule
from grandag.parameters import random_state as seed_rule
from grandag.progress import Listener
from grandag.table import Table, as_table, suggestion

__all__ = ["judge", "refine"]


def refine(
    graph: Any,
    X: Any,
    *,
    knowledge: Any = None,
    missing: str = "error",
    random_state: Any = 0,
    n_jobs: int | None = -1,
    listener: Listener | None = None,
) -> Learned:
    """The graph with the most evidence that selection and search find from a given one.

    Ctrl-C ends the search with the best graph so far, and a concern says so.

    Args:
        graph: A DAG over the columns of X: an adjacency matrix, a networkx graph, a data frame, a fitted estimator.
        X: The table.
        knowledge: Forbidden and required edges: a file, a `Knowledge`, or its fields in a dictionary.
        missing: Rows with missing or infinite values: "error", or "drop" them.
        random_state: Seed of the rows that decide what is clear.
        n_jobs: Number of threads, -1 for all cores. Results do not depend on it.
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
    table, adjacency = _aligned(graph, X, missing, random_state, n_jobs)
    allowed, required = Knowledge.of(knowledge).masks(table.names)
    found = evidence.refine(
        table.values,
        adjacency,
        allowed=allowed,
        required=required,
        rng=as_generator(random_state),
        n_threads=int(effective_n_jobs(n_jobs)),
        names=table.names,
        listener=listener,
    )
    return _learned(found, table)


def judge(graph: Any, X: Any, *, missing: str = "error", random_state: Any = 0, n_jobs: int | None = -1) -> Learned:
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
    table, adjacency = _aligned(graph, X, missing, random_state, n_jobs)
    threads = int(effective_n_jobs(n_jobs))
    rng = as_generator(random_state)
    found = evidence.evaluate(table.values, adjacency, rng=rng, n_threads=threads, names=table.names)
    return _learned(found, table)


def _aligned(graph: Any, X: Any, missing: str, random_state: Any, n_jobs: int | None) -> tuple[Table, np.ndarray]:
    """The table, and the graph in the order of its columns."""
    given = {"random_state": random_state, "n_jobs": n_jobs}
    check_parameters(given, {"random_state": seed_rule, "n_jobs": n_jobs_rule})
    table = as_table(X, missing=missing)
    adjacency, names = as_graph(graph)
    if names is None:
        if len(adjacency) != len(table.names):
            raise GraphError(
                f"The graph has {len(adjacency)} nodes without names, but the table has {len(table.names)} columns."
            )
        names = table.names
    for name in [*(set(names) - set(table.names)), *(set(table.names) - set(names))]:
        where, other = ("graph", table.names) if name in names else ("table", names)
        raise GraphError(
            f"The node {name!r} is in the {where} only{suggestion(name, list(other))}: a graph and its table need the "
            "same names."
        )
    order = [names.index(name) for name in table.names]
    ordered = adjacency[np.ix_(order, order)]
    if not is_acyclic(ordered):
        raise GraphError("The graph has a cycle, or an edge without direction: only a DAG has an evidence.")
    return table, ordered


def _learned(found: evidence.Refined, table: Table) -> Learned:
    return Learned(
        table.names,
        found.adjacency,
        found.edge_evidence,
        edge_facts={"evidence": np.where(found.adjacency, found.edge_evidence, np.nan)},
        values={"evidence": found.evidence},
        notes=found.notes,
        concerns=interruption(found),
    )
