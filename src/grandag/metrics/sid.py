"""Structural intervention distance (SID) between DAGs.

Peters and Bühlmann ("Structural intervention distance for evaluating causal graphs", 2015): for how many ordered pairs
(i, j) does adjusting for the estimated parents of i give a wrong effect of i on j? Computed by gadjid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grandag.metrics.matching import check_dag, matched

__all__ = ["sid"]


def sid(truth: Any, estimate: Any) -> int:
    """SID of an estimated DAG; it is not symmetric. For an estimated CPDAG see `sid_bounds`.

    >>> sid(np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]]))
    2
    """
    import gadjid

    true, estimated, names = matched(truth, estimate)
    check_dag(true, names, "The SID needs a true DAG.")
    check_dag(estimated, names, "The SID needs an estimated DAG; sid_bounds takes CPDAGs.")
    if len(names) == 1:
        return 0  # gadjid does not take a single node
    _, distance = gadjid.sid(true.astype(np.int8), estimated.astype(np.int8), edge_direction="from row to column")
    return int(distance)
