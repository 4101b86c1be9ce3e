"""SHD-C: the structural Hamming distance between equivalence classes.

Observations without further assumptions tell DAGs of one equivalence class not apart, so SHD-C compares their CPDAGs.
Directions that interventions or background knowledge have added to a class are not part of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.graph.algebra import undirected_part
from grandag.graph.boundary import GraphError
from grandag.graph.equivalence import to_cpdag, to_dag
from grandag.metrics.matching import check_dag, matched
from grandag.metrics.shd import shd

__all__ = ["shd_cpdag"]


def shd_cpdag(truth: Any, estimate: Any) -> int:
    """SHD between the CPDAGs of two graphs: DAGs, or classes of DAGs that knowledge or interventions may have narrowed.

    A graph with undirected edges that stands for no DAG is taken as it is.

    >>> shd_cpdag(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]))
    0
    """
    true, estimated, names = matched(truth, estimate)
    return shd(_class(true, names), _class(estimated, names))


def _class(adjacency: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    if not undirected_part(adjacency).any():
        check_dag(adjacency, names, "SHD-C compares equivalence classes, and this graph has none.")
        return to_cpdag(adjacency)
    try:
        return to_cpdag(to_dag(adjacency))
    except GraphError:
        return adjacency
