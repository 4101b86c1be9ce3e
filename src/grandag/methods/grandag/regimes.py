"""Interventions as networks see them: which rows each of them learns from.

Perfect: the network of variable j learns from the rows that leave j alone. Imperfect: so it does, and for each regime
that targets j there is another network of j, which learns from the rows of that regime.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grandag.engine.network import Division
from grandag.interventions import Regimes
from grandag.table import Table

__all__ = ["divide", "with_common_regimes"]


def with_common_regimes(table: Table, held_out: Table | None) -> tuple[Table, Table | None]:
    """Both with regimes of the same numbers and targets, those of the table first; without, if neither has any."""
    if held_out is None or (table.regimes is None and held_out.regimes is None):
        return table, held_out
    numbers: dict[bytes, int] = {}
    own, others = (_regimes(some) for some in (table, held_out))
    kind = others.kind if table.regimes is None else own.kind
    new = [[numbers.setdefault(row.tobytes(), len(numbers)) for row in some.targets] for some in (own, others)]
    targets = np.array([np.frombuffer(key, dtype=bool) for key in numbers])
    common = [
        Regimes(np.array(number)[some.of_row], targets, kind) for number, some in zip(new, (own, others), strict=True)
    ]
    return replace(table, regimes=common[0]), replace(held_out, regimes=common[1])


def _regimes(table: Table) -> Regimes:
    """Those of a table; of one without, a single observational one."""
    n, d = table.values.shape
    return table.regimes or Regimes(np.zeros(n, dtype=np.intp), np.zeros((1, d), dtype=bool))


def divide(regimes: Regimes, kind: str) -> Division:
    """The networks for interventions of a kind; regimes without rows get none of their own."""
    d = regimes.targets.shape[1]
    owner, counts = np.arange(d), ~regimes.targets.T
    if kind == "imperfect":
        of_regime, further = np.nonzero(regimes.targets & (regimes.counts > 0)[:, None])
        own = of_regime[:, None] == np.arange(len(regimes.targets))
        owner, counts = np.append(owner, further), np.concatenate([counts, own])
    return Division(owner, counts)
