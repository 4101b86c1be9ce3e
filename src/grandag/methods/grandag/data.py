"""The rows of a table as GraN-DAG uses them: encoded, some to train on, others that decide when to stop.

A table of up to `MANY_ROWS` rows is split by a permutation and encoded as a whole (`columns.py`). Of a longer one,
neither a copy nor a permutation is made: rows that are held out are drawn, and `MANY_ROWS` of the others at a time are
read and encoded, to draw batches from. When as many have been drawn, others take their place. Training sees the same
distribution of rows, at a cost per iteration that does not depend on how many there are; of a memory-mapped file
nothing else is read.

Under interventions the last column of the encoded rows is the number of each row's regime.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from grandag.diagnostics import MAX_ROWS, spread_rows
from grandag.engine.training import Pool
from grandag.interventions import Regimes
from grandag.methods.grandag.columns import Encoding
from grandag.methods.grandag.regimes import with_common_regimes
from grandag.table import MANY_ROWS, Table, count_held_out, draw_rows, rows_of, split_rows, spread

__all__ = ["Data", "DataConfig", "prepare"]


@dataclass(frozen=True)
class DataConfig:
    """How rows are split. Values are the released program's but for the limit, which is ours."""

    held_out_fraction: float = 0.2
    max_held_out: int = 5000
    dtype: str = "float32"


class Data(NamedTuple):
    """The encoded columns: rows to train on, and rows that decide when to stop; and some of both as they were."""

    pool: Pool
    n_rows: int  # to train on; of very many, not all are in the pool at the same time
    held_out: np.ndarray
    encoding: Encoding
    examples: tuple[Table, Table]
    regimes: Regimes | None  # their numbers are in the last column of the rows
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> np.ndarray:
        """Rows to train on, in random order: all of them, or those that are read first."""
        return self.pool.rows


def prepare(
    table: Table, encoding: Encoding, config: DataConfig, rng: np.random.Generator, held_out: Table | None
) -> Data:
    """Encode, and split unless rows to be held out were given."""
    table, held_out = with_common_regimes(table, held_out)
    n = len(table.values)
    if n > MANY_ROWS:
        return _read_in_parts(table, encoding, config, rng, held_out)
    encoded = _encoded(table, encoding, config)
    if held_out is not None:  # the first rows are to be a random sample, as in a split
        pool, examples = Pool(rng.permutation(encoded)), (_examples(table), _examples(held_out))
        return Data(pool, n, _encoded(held_out, encoding, config), encoding, examples, table.regimes)
    train_rows, held_out_rows = split_rows(n, min(config.held_out_fraction, config.max_held_out / n), rng)
    return Data(
        Pool(encoded[train_rows]),
        len(train_rows),
        encoded[held_out_rows],
        encoding,
        (table.take(spread_rows(train_rows)), table.take(spread_rows(held_out_rows))),
        table.regimes,
        _limit(n, len(held_out_rows), config),
    )


def _encoded(table: Table, encoding: Encoding, config: DataConfig) -> np.ndarray:
    """Rows for the engine."""
    rows = encoding.apply(table.values, config.dtype)
    if table.regimes is None:
        return rows
    return np.concatenate([rows, table.regimes.of_row[:, None].astype(config.dtype)], axis=1)


def _examples(table: Table) -> Table:
    return table.take(spread(len(table.values), MAX_ROWS))


def _read_in_parts(
    table: Table, encoding: Encoding, config: DataConfig, rng: np.random.Generator, held_out: Table | None
) -> Data:
    n, numbers = len(table.values), np.zeros(0, dtype=int)
    notes: tuple[str, ...] = ()
    if held_out is None:
        fraction = min(config.held_out_fraction, config.max_held_out / n)
        numbers = np.sort(draw_rows(n, count_held_out(n, fraction), rng))
        held_out, notes = table.take(numbers), _limit(n, len(numbers), config)
    n_rows = n - len(numbers)

    def draw() -> Table:
        drawn = _beside(numbers, draw_rows(n_rows, MANY_ROWS, rng))
        regimes = None if table.regimes is None else table.regimes.take(drawn)
        return replace(table, values=rows_of(table.values, drawn), index=None, gaps=None, regimes=regimes)

    first = draw()
    examples = _examples(first), _examples(held_out)
    rows, last = _encoded(first, encoding, config), _encoded(held_out, encoding, config)
    if n_rows <= MANY_ROWS:
        return Data(Pool(rows), n_rows, last, encoding, examples, table.regimes, notes)
    note = f"Batches are drawn from {MANY_ROWS:,} of {n_rows:,} rows at a time, which others then replace."
    pool = Pool(rows, lambda: _encoded(draw(), encoding, config))
    return Data(pool, n_rows, last, encoding, examples, table.regimes, (*notes, note))


def _beside(left_out: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The numbers of rows from their places among those that are not left out; `left_out` is sorted."""
    return places + np.searchsorted(left_out - np.arange(len(left_out)), places, side="right")


def _limit(n: int, n_held_out: int, config: DataConfig) -> tuple[str, ...]:
    is_limited = n_held_out < round(config.held_out_fraction * n)
    return (f"{n_held_out:,} of the {n:,} rows are held out (max_held_out).",) if is_limited else ()
