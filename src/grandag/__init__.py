"""Gradient-based neural DAG learning: causal graphs from a table of observations.

Names are loaded on first use, so that `import grandag` and `grandag --help` are immediate.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grandag import datasets, simulate
    from grandag.methods.base import NotConvergedWarning, TrainingError, load
    from grandag.methods.grandag.estimator import GraNDAG

__version__ = "0.1.0"
__all__ = ["GraNDAG", "NotConvergedWarning", "TrainingError", "datasets", "load", "simulate"]

_HOME = {
    "GraNDAG": "grandag.methods.grandag.estimator",
    "NotConvergedWarning": "grandag.methods.base",
    "TrainingError": "grandag.methods.base",
    "load": "grandag.methods.base",
}


def __getattr__(name: str) -> Any:
    if name in {"datasets", "simulate"}:
        return importlib.import_module(f"grandag.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'grandag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
