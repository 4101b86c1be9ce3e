"""Gradient-based neural DAG learning: causal graphs from a table of observations.

Names and modules are loaded on first use, so that `import grandag` and `grandag --help` are immediate.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from grandag.version import __version__ as __version__

if TYPE_CHECKING:
    from grandag import (
        comparison,
        datasets,
        diagnostics,
        distributions,
        drawing,
        evidence,
        executors,
        gam,
        graph,
        intervention_check,
        interventions,
        kinds,
        knowledge,
        learned,
        methods,
        metrics,
        model,
        outliers,
        reading,
        refinement,
        report,
        reproduction,
        resampling,
        simulate,
        table,
        table_diagnostics,
        tuning,
    )
    from grandag.comparison import compare
    from grandag.intervention_check import check_interventions
    from grandag.knowledge import Knowledge
    from grandag.learned import DoubtWarning, Learned, NotConvergedWarning, TrainingError
    from grandag.methods.cam.cam import CAM
    from grandag.methods.dag_gnn.dag_gnn import DAGGNN
    from grandag.methods.equal_variance.equal_variance import EqualVariance
    from grandag.methods.equivalence.ges import GES
    from grandag.methods.equivalence.gsf import GSF
    from grandag.methods.equivalence.pc import PC
    from grandag.methods.exact.exact import ExactSearch
    from grandag.methods.grandag.grandag import GraNDAG
    from grandag.methods.lingam.lingam import LiNGAM
    from grandag.methods.notears.notears import NOTEARS
    from grandag.methods.random_graph.random_graph import RandomGraph
    from grandag.methods.resit.resit import RESIT
    from grandag.methods.storage import load
    from grandag.model import CausalModel
    from grandag.reading import read_table
    from grandag.refinement import judge, refine
    from grandag.resampling import confidence
    from grandag.tuning.tune import tune

__all__ = [
    "CAM",
    "DAGGNN",
    "GES",
    "GSF",
    "NOTEARS",
    "PC",
    "RESIT",
    "CausalModel",
    "DoubtWarning",
    "EqualVariance",
    "ExactSearch",
    "GraNDAG",
    "Knowledge",
    "Learned",
    "LiNGAM",
    "NotConvergedWarning",
    "RandomGraph",
    "TrainingError",
    "check_interventions",
    "compare",
    "comparison",
    "confidence",
    "datasets",
    "diagnostics",
    "distributions",
    "drawing",
    "evidence",
    "executors",
    "gam",
    "graph",
    "intervention_check",
    "interventions",
    "judge",
    "kinds",
    "knowledge",
    "learned",
    "load",
    "methods",
    "metrics",
    "model",
    "outliers",
    "read_table",
    "reading",
    "refine",
    "refinement",
    "report",
    "reproduction",
    "resampling",
    "simulate",
    "table",
    "table_diagnostics",
    "tune",
    "tuning",
]

_HOME = {
    "CAM": "grandag.methods.cam.cam",
    "CausalModel": "grandag.model",
    "DoubtWarning": "grandag.learned",
    "DAGGNN": "grandag.methods.dag_gnn.dag_gnn",
    "EqualVariance": "grandag.methods.equal_variance.equal_variance",
    "ExactSearch": "grandag.methods.exact.exact",
    "GES": "grandag.methods.equivalence.ges",
    "GSF": "grandag.methods.equivalence.gsf",
    "GraNDAG": "grandag.methods.grandag.grandag",
    "Knowledge": "grandag.knowledge",
    "LiNGAM": "grandag.methods.lingam.lingam",
    "NOTEARS": "grandag.methods.notears.notears",
    "PC": "grandag.methods.equivalence.pc",
    "check_interventions": "grandag.intervention_check",
    "compare": "grandag.comparison",
    "confidence": "grandag.resampling",
    "Learned": "grandag.learned",
    "NotConvergedWarning": "grandag.learned",
    "RESIT": "grandag.methods.resit.resit",
    "RandomGraph": "grandag.methods.random_graph.random_graph",
    "TrainingError": "grandag.learned",
    "judge": "grandag.refinement",
    "load": "grandag.methods.storage",
    "read_table": "grandag.reading",
    "refine": "grandag.refinement",
    "tune": "grandag.tuning.tune",
}

_MODULES = {name for name in __all__ if name not in _HOME}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"grandag.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'grandag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
