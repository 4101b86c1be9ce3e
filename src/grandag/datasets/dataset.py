"""What a data set is: a table with its reference graph, and where they are from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """A table with its reference graph."""

    name: str
    data: pd.DataFrame
    adjacency: np.ndarray  # adjacency[i, j]: i -> j, in the order of the columns
    provenance: str
    cpdag: np.ndarray | None = None  # the truth's equivalence class, if it comes with the data
    interventions: tuple[str, ...] | None = None  # the targets of each row, "" for none, where rows have any

    @property
    def frame(self) -> pd.DataFrame:
        """The table, with the targets of each row as the column `intervention`, where rows have any."""
        return self.data if self.interventions is None else self.data.assign(intervention=list(self.interventions))

    @property
    def names(self) -> tuple[str, ...]:
        """The column names."""
        return tuple(self.data.columns)
