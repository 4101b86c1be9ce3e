"""TO BE DELETED when every estimator has `learned_`: what tuning and reproduction read of a fitted model until then.

After that, `learned_of(model)` is `model.learned_`, `add_note` is one `dataclasses.replace`, and `TrainingError` comes
from `grandag.learned`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from grandag.methods.base import StructureLearner, TrainingError

__all__ = ["StructureLearner", "TrainingError", "add_note", "learned_of"]


@dataclass(frozen=True)
class _Learned:
    names: tuple[str, ...]
    adjacency: np.ndarray
    converged: bool
    n_iter: int | None
    values: dict[str, Any]
    matrices: dict[str, np.ndarray]
    trace: pd.DataFrame | None


def learned_of(model: Any) -> Any:
    """What `model.learned_` will be."""
    if hasattr(model, "learned_"):
        return model.learned_
    return _Learned(
        tuple(model.names_),
        model.adjacency_,
        bool(getattr(model, "converged_", True)),
        getattr(model, "n_iter_", None),
        {name: getattr(model, f"{name}_") for name in ("held_out_log_likelihood",) if hasattr(model, f"{name}_")},
        {name: getattr(model, f"{name}_") for name in ("A_phi_trace", "coefficients") if hasattr(model, f"{name}_")},
        getattr(model, "trace_", None),
    )


def add_note(model: Any, note: str) -> None:
    """Add a note to a fitted model."""
    model.notes_.append(note)
