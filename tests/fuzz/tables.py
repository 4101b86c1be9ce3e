"""Tables that nobody would call data, by seed: constants, copies, sums, outliers, odd units, few rows, gaps."""

import numpy as np


def table(seed: int) -> np.ndarray:
    """Two to six columns, now and then up to twelve, of 10 to 100 rows, of which up to four were treated badly."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.choice([10, 11, 15, 30, 100])), int(rng.integers(2, 7))
    if rng.random() < 0.05:
        n_columns *= 2
    values = rng.normal(size=(n_rows, n_columns))
    if rng.random() < 0.05:
        values[:] = _one_value(rng, values, values[:, 0])[:, None]
    for _ in range(int(rng.integers(5))):
        column = int(rng.integers(n_columns))
        treatment = TREATMENTS[int(rng.integers(len(TREATMENTS)))]
        with np.errstate(all="ignore"):
            values[:, column] = treatment(rng, values, values[:, column])
    return values


def _one_value(rng, values, column):
    spike = np.zeros(len(column))
    spike[rng.integers(len(column))] = 10.0 ** rng.uniform(-100, 100)
    return spike


TREATMENTS = (
    lambda rng, values, column: np.full(len(column), rng.normal()),
    lambda rng, values, column: values[:, rng.integers(values.shape[1])].copy(),
    lambda rng, values, column: column * 10.0 ** rng.uniform(-130, 130),
    lambda rng, values, column: column + 10.0 ** rng.uniform(0, 18),
    lambda rng, values, column: np.round(column),
    lambda rng, values, column: (column > 0).astype(float),
    _one_value,
    lambda rng, values, column: np.sign(column) * np.exp(np.minimum(np.abs(column), 20) * rng.uniform(1, 30)),
    lambda rng, values, column: values @ rng.normal(size=values.shape[1]),
    lambda rng, values, column: values[:, rng.integers(values.shape[1])] + 1e-9 * column,
    lambda rng, values, column: np.arange(len(column), dtype=float),
    lambda rng, values, column: 1 + column * 1e-15,
    lambda rng, values, column: np.where(rng.random(len(column)) < 0.1, np.nan, column),
    lambda rng, values, column: rng.standard_cauchy(len(column)) ** 3,
    lambda rng, values, column: np.sign(column) * 1.2e120 * rng.uniform(0.5, 1),
    lambda rng, values, column: column * 0.8e-120,
    lambda rng, values, column: np.nextafter(1.0, 1 + np.round(column)),
    lambda rng, values, column: values[:, rng.integers(values.shape[1])] ** 3,
    lambda rng, values, column: np.where(rng.random(len(column)) < 0.02, np.inf, column),
)
