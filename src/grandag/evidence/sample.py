"""The rows that a variable is scored on, in several sizes: all rows, or those in which no intervention set it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from grandag.evidence.config import EvidenceConfig
from grandag.evidence.promise import features

__all__ = ["Sample", "samples"]


class Sample:
    """Rows of a table in a fixed random order: the first `n_few`, the first block, those to fit on, and all.

    All columns have mean 0 and variance 1 in all rows of the sample.
    """

    def __init__(self, columns: np.ndarray, config: EvidenceConfig, rows: np.ndarray | None = None) -> None:
        """`columns` is the standardised table (d, n), in float32; `rows` are those of the sample, None for all."""
        self._columns, self._rows = columns, rows
        n = self.n_rows = columns.shape[1] if rows is None else len(rows)
        self.n_few = min(n, config.n_few_rows)
        self.n_blocks = 1 if n <= config.max_rows_at_once else -(-n // config.block_rows)
        self.n_training_blocks = min(self.n_blocks, config.n_training_blocks)
        self.n_training = self.n_training_blocks * n // self.n_blocks
        self.n_first = n // self.n_blocks
        if rows is not None:
            own = columns[:, rows].astype(np.float64)
            self._mean, deviation = own.mean(axis=1, keepdims=True), own.std(axis=1, keepdims=True)
            self._deviation = np.where(deviation > 0, deviation, 1.0)

    def of(self, variables: Sequence[int] | np.ndarray, n_rows: int) -> np.ndarray:
        """Some columns in the first `n_rows` of the sample, (variables, rows)."""
        chosen = np.asarray(variables, dtype=np.intp)
        if self._rows is None:
            return np.ascontiguousarray(self._columns[chosen, :n_rows])
        own = self._columns[np.ix_(chosen, self._rows[:n_rows])]
        return np.asarray((own - self._mean[chosen]) / self._deviation[chosen], dtype=np.float32)

    def column(self, variable: int, n_rows: int) -> np.ndarray:
        """One of them, (rows,)."""
        return np.asarray(self._columns[variable, :n_rows] if self._rows is None else self.of([variable], n_rows)[0])

    def first_of(self, matrix: np.ndarray) -> np.ndarray:
        """The first block of further columns (k, n) of the same table, as they are."""
        rows = slice(self.n_first) if self._rows is None else self._rows[: self.n_first]
        return np.ascontiguousarray(matrix[:, rows])

    @cached_property
    def features(self) -> np.ndarray:
        """Those of the first block by which likely parents are found."""
        return features(self.of(range(len(self._columns)), self.n_first))


def samples(columns: np.ndarray, config: EvidenceConfig, are_free: np.ndarray | None) -> list[Sample]:
    """The sample of each variable; `are_free` (d, n) says which rows may be asked about it, None: all about all."""
    everything = Sample(columns, config)
    if are_free is None:
        return [everything] * len(columns)
    return [everything if free.all() else Sample(columns, config, np.flatnonzero(free)) for free in are_free]
