"""What can be seen of the assumptions of methods for straight lines: curves along edges, noise that is not Gaussian.

Given a linear model, noise is independent of parents, and of no function of them is it more than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from scipy import stats

from grandag.diagnostics import Concern, concern_about, spread_rows
from grandag.graph import undirected_part
from grandag.learned import Learned
from grandag.model import Conditional
from grandag.table import MIN_ROWS, Table
from grandag.wording import counted

__all__ = ["Lines", "curve_concerns", "with_lines"]

_CURVED, _SIGNIFICANT = 0.1, 0.001
"""Part of the noise's variance, and p-value among all edges: a relation with both is clearly no line."""

_GAUSSIAN_W = 0.97
"""W of Shapiro and Wilk below which noise that is significantly not Gaussian is clearly so."""

_LEAST_DEVIATION = 1e-6
"""Part of a column's deviation up to which its noise is rounding."""

_NOTHING = 1e-12
"""In the place of the variance of a column, or of what is left of it, that does not vary."""


class Lines(NamedTuple):
    """A DAG, and what its regressions leave of at most 2,000 rows (n, d), in units of the columns' deviations.

    Rows are free (n, d) where no intervention made the variable.
    """

    dag: np.ndarray
    rows: np.ndarray
    noise: np.ndarray
    free: np.ndarray
    names: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, dag: np.ndarray, conditionals: Sequence[Conditional]) -> Self:
        """From the conditionals of the DAG, in the units of the table."""
        values = np.asarray(spread_rows(table.values), dtype=np.float64)
        noise = [
            values[:, j] - conditional.given(values[:, dag[:, j]]).mean for j, conditional in enumerate(conditionals)
        ]
        deviation = values.std(axis=0)
        unit = np.where(deviation > 0, deviation, 1.0)
        free = np.ones(values.shape, dtype=bool) if table.regimes is None else spread_rows(table.regimes.free)
        return cls(dag, (values - values.mean(axis=0)) / unit, np.column_stack(noise) / unit, free, table.names)

    def own_noise(self, j: int) -> np.ndarray:
        """That of a variable, in the rows that no intervention on it made."""
        return np.asarray(self.noise[self.free[:, j], j])


def with_lines(learned: Learned, table: Table, conditionals: Sequence[Conditional], method: str) -> Learned:
    """A class of linear models with their conditionals, and a concern about curves or else a note on the noise."""
    lines = Lines.of(table, learned.dag, conditionals)
    concerns = curve_concerns(
        lines,
        f"{method} assumes lines, so that edges may be false, and directions wrong: use a method for curves (GraN-DAG, "
        "CAM, RESIT), or LiNGAM, since lines look curved against their direction if noise is not Gaussian.",
    )
    return replace(
        learned,
        conditionals=tuple(conditionals),
        notes=(*learned.notes, *(() if concerns else _note_of_noise(lines, learned.adjacency))),
        concerns=(*learned.concerns, *concerns),
    )


def curve_concerns(lines: Lines, advice: str) -> list[Concern]:
    """A concern about edges along which squares or cubes explain what lines leave."""
    dag, names = lines.dag, lines.names
    records = []
    for j in np.flatnonzero(dag.any(axis=0)).tolist():
        own, parents = np.flatnonzero(lines.free[:, j]), np.flatnonzero(dag[:, j])
        shares = _explained_by_powers(lines.rows[np.ix_(own, parents)], lines.noise[own, j])
        records += [(i, j, share, len(own) * share) for i, share in zip(parents.tolist(), shares.tolist(), strict=True)]
    edges = pd.DataFrame(records, columns=["cause", "effect", "share", "statistic"], dtype=float)
    edges["p_value"] = np.minimum(1.0, 2 * len(edges) * stats.chi2.sf(edges["statistic"], 1))
    curved = edges[(edges["share"] > _CURVED) & (edges["p_value"] < _SIGNIFICANT)]
    pairs = curved[["cause", "effect"]].astype(int).to_numpy().tolist()
    curved = curved[["share", "p_value"]].set_axis([f"{names[i]} -> {names[j]}" for i, j in pairs])
    found = concern_about(
        "curved relations",
        curved.sort_values("share", ascending=False),
        lambda row: f"a curve explains {row['share']:.0%} of what the line leaves",
        f"These edges are no straight lines: {{}}. {advice}",
    )
    variables = tuple(dict.fromkeys(names[node] for pair in pairs for node in pair))
    return [replace(concern, variables=variables) for concern in found]


def _explained_by_powers(causes: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(k,) the part of the variance of the noise (n,) that the square or the cube of each cause (n, k) explains."""
    causes, noise = causes - causes.mean(axis=0), noise - noise.mean()
    shares = []
    for curves in (causes**2, causes**2 * causes):
        curves -= curves.mean(axis=0)
        curves -= causes * (causes * curves).mean(axis=0) / np.maximum((causes**2).mean(axis=0), _NOTHING)
        sizes = (curves**2).mean(axis=0) * (noise**2).mean()
        shares.append(np.square(curves.T @ noise / len(noise)) / np.maximum(sizes, _NOTHING))
    return np.asarray(np.maximum(*shares))


def _note_of_noise(lines: Lines, adjacency: np.ndarray) -> tuple[str, ...]:
    """A note, if LiNGAM could tell directions that an equivalence class leaves open: by noise that is not Gaussian."""
    is_open = undirected_part(adjacency)
    candidates = [j for j in np.flatnonzero(is_open.any(axis=0)).tolist() if _varies(lines.own_noise(j))]
    tests = [stats.shapiro(lines.own_noise(j)) for j in candidates]
    is_other = np.zeros(len(adjacency), dtype=bool)
    is_other[candidates] = [w < _GAUSSIAN_W and p < _SIGNIFICANT / len(candidates) for w, p in tests]
    n_edges = int((is_open & (is_other | is_other[:, None])).sum()) // 2
    if not n_edges:
        return ()
    return (
        f"The noise of {counted(int(is_other.sum()), 'variable')} is clearly not Gaussian: if relations are straight "
        f"lines, LiNGAM can tell the direction of {counted(n_edges, 'undirected edge')}.",
    )


def _varies(noise: np.ndarray) -> bool:
    return len(noise) >= MIN_ROWS and float(noise.std()) > _LEAST_DEVIATION
