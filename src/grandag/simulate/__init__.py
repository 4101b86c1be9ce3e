"""Data with a known truth: all graphs and mechanisms of the paper, some of others, SynTReN, and diagnostics."""

from grandag.simulate.graphs import complete, draw_graph, empty, erdos_renyi, scale_free
from grandag.simulate.mixed import draw_mixed
from grandag.simulate.regimes import draw_regimes
from grandag.simulate.scenario import Scenario, draw_scenario
from grandag.simulate.sortability import r2_sortability, varsortability
from grandag.simulate.syntren import draw_syntren

__all__ = [
    "Scenario",
    "complete",
    "draw_graph",
    "draw_mixed",
    "draw_regimes",
    "draw_scenario",
    "draw_syntren",
    "empty",
    "erdos_renyi",
    "r2_sortability",
    "scale_free",
    "varsortability",
]
