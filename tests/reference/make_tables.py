"""Make the tables and tasks that R's numbers are of: `python tests/reference/make_tables.py`.

They are stored, so this has to run again only to change them (and R's scripts after it). Values have four decimals: R
and Python then read the same numbers, whatever their versions do with seeds and with the last digit of a sine.
"""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent


def smooth(rng, x):
    """A random smooth function of x, standardised: cosines, which make a Gaussian process with length scale 1."""
    value = np.zeros(len(x))
    for frequency, phase in zip(rng.normal(size=30), rng.uniform(0, 2 * np.pi, size=30), strict=True):
        value += np.cos(frequency * x + phase)
    return (value - value.mean()) / value.std()


def graph_table(seed, n, d, n_parents, noise=0.5):
    """Each column is a sum of random functions of up to `n_parents` earlier ones, and noise."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n)]
    for j in range(1, d):
        parents = rng.choice(j, size=min(j, int(rng.integers(n_parents + 1))), replace=False)
        column = noise * rng.normal(size=n) + sum(smooth(rng, columns[i]) for i in parents)
        columns.append(column if len(parents) else rng.normal(size=n))
    return np.column_stack(columns)


def wide_table(seed, n):
    """Column 0 depends on 12 others: strongly, weakly, along a line, or not at all; these are correlated in pairs."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, 12))
    inputs[:, 1::2] = 0.8 * inputs[:, ::2] + 0.6 * inputs[:, 1::2]
    y = np.sin(2 * inputs[:, 0]) + 0.3 * inputs[:, 3] ** 2 + 0.4 * inputs[:, 5] + 0.15 * inputs[:, 8]
    y += 0.1 * np.cos(3 * inputs[:, 10]) + 0.6 * rng.normal(size=n)
    return np.column_stack([y, inputs])


def linear_table(seed, n):
    """Straight lines only: smoothing parameters go to infinity, and tests have one degree of freedom."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n), rng.normal(size=n)]
    for weight in (0.8, -0.5, 0.25, 1.2):
        columns.append(weight * columns[-1] - 0.4 * columns[-2] + rng.normal(size=n))
    return np.column_stack(columns)


def short_table(seed, n):
    """Few rows for nine columns, so that bases have to be small."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, 8))
    y = np.tanh(2 * inputs[:, 0]) + 0.5 * inputs[:, 1] ** 2 + 0.5 * inputs[:, 4] + 0.5 * rng.normal(size=n)
    return np.column_stack([y, inputs])


def coarse_table(seed, n):
    """Columns with 2, 3, 5 and 12 distinct values, one with many ties, one without."""
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(levels, size=n).astype(float) for levels in (2, 3, 5, 12)]
    inputs += [np.round(rng.normal(size=n), 1), rng.normal(size=n)]
    two, three, five, twelve, ties, free = inputs
    y = 0.4 * two + 0.5 * (three == 1) + 0.2 * np.sqrt(five) + np.sin(twelve / 2) + 0.5 * np.sin(2 * ties) + 0.1 * free
    return np.column_stack([y + rng.normal(size=n), *inputs])


TABLES = {
    "wide": wide_table(11, 1000),
    "linear": linear_table(12, 400),
    "short": short_table(13, 60),
    "coarse": coarse_table(14, 400),
    "dag10": graph_table(15, 1000, 10, 4),
    "dag15": graph_table(16, 300, 15, 3),
    "search5": graph_table(17, 300, 5, 2),
    "search6": graph_table(18, 300, 6, 3),
    "search6_sparse": graph_table(19, 300, 6, 1),
}


def tasks():
    """(table, rows used, target, parents); a table called dag* is regressed as a complete DAG in its column order."""
    for n in (1000, 500, 200):
        for q in range(1, 13):
            yield "wide", n, 0, range(1, q + 1)
        yield "wide", n, 0, range(12, 0, -3)
        yield "wide", n, 7, (0, 2, 8, 9)
    for n in (400, 200):
        for j in range(1, 6):
            yield "linear", n, j, range(j)
        yield "linear", n, 2, (0, 1, 3, 4, 5)
    for q in range(1, 9):
        yield "short", 60, 0, range(1, q + 1)
    for parents in ([1], [2], [3], [4], [5], [1, 6], [3, 4, 5], [1, 2, 3, 4, 5, 6]):
        yield "coarse", 400, 0, parents
    for name in ("dag10", "dag15"):
        n, d = TABLES[name].shape
        for j in range(1, d):
            yield name, n, j, range(j)


def main():
    (FOLDER / "tables").mkdir(exist_ok=True)
    for name, values in TABLES.items():
        frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])
        compression = {"method": "gzip", "compresslevel": 9, "mtime": 0}
        frame.to_csv(FOLDER / "tables" / f"{name}.csv.gz", index=False, float_format="%.4f", compression=compression)
    rows = [(*task, " ".join(map(str, parents))) for *task, parents in tasks()]
    pd.DataFrame(rows, columns=["table", "n_rows", "target", "parents"]).to_csv(
        FOLDER / "tasks.csv", index_label="task"
    )


if __name__ == "__main__":
    main()
