"""Two graphs edge by edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from grandag.graph.algebra import edge_mark, skeleton
from grandag.metrics.matching import matched

__all__ = ["edge_differences"]


def edge_differences(truth: Any, estimate: Any) -> pd.DataFrame:
    """One row for each pair that is adjacent in either graph: source, target, truth, estimate, difference.

    `truth` and `estimate` are -> (source to target), <-, -- (undirected) or nothing; the difference is found, reversed,
    direction differs (directed in one of them only), missing or extra. Source and target are as in the truth, if it
    has the pair.

    >>> edge_differences(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]])).to_dict(orient="records")
    [{'source': 'X0', 'target': 'X1', 'truth': '->', 'estimate': '<-', 'difference': 'reversed'}]
    """
    true, estimated, names = matched(truth, estimate)
    rows = []
    for i, j in np.argwhere(np.triu(skeleton(true) | skeleton(estimated))).tolist():
        first = true if true[i, j] or true[j, i] else estimated
        source, target = (i, j) if first[i, j] else (j, i)
        marks = edge_mark(true, source, target), edge_mark(estimated, source, target)
        rows.append((names[source], names[target], *marks, _difference(*marks)))
    return pd.DataFrame(rows, columns=["source", "target", "truth", "estimate", "difference"])


def _difference(truth: str, estimate: str) -> str:
    if truth == estimate:
        return "found"
    if not truth or not estimate:
        return "extra" if not truth else "missing"
    return "direction differs" if "--" in (truth, estimate) else "reversed"
