"""How far an estimated graph is from the true one. The only place that sees the truth.

Every function takes (truth, estimate), each anything that the library calls a graph: a boolean adjacency array, the
pair (adjacency, names), an adjacency table, a networkx graph, a fitted estimator. Nodes are matched by name, in any
order; if one of the two has no names, by position.
"""

from grandag.metrics.adjustment import ancestor_aid, oset_aid, parent_aid
from grandag.metrics.edge_differences import edge_differences
from grandag.metrics.edge_errors import EdgeErrors, edge_errors
from grandag.metrics.edge_scores import EdgeScores, adjacency_scores, direction_scores
from grandag.metrics.score import score
from grandag.metrics.shd import shd
from grandag.metrics.shd_cpdag import shd_cpdag
from grandag.metrics.sid import sid
from grandag.metrics.sid_bounds import SidBounds, sid_bounds, wrong_effects

__all__ = [
    "EdgeErrors",
    "EdgeScores",
    "SidBounds",
    "adjacency_scores",
    "ancestor_aid",
    "direction_scores",
    "edge_differences",
    "edge_errors",
    "oset_aid",
    "parent_aid",
    "score",
    "shd",
    "shd_cpdag",
    "sid",
    "sid_bounds",
    "wrong_effects",
]
