"""Values of R's programs whose inputs are ours: see README.md for what made them."""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent


def table(name: str) -> np.ndarray:
    """One of the stored tables."""
    return pd.read_csv(FOLDER / "tables" / f"{name}.csv.gz").to_numpy()


def regressions() -> pd.DataFrame:
    """One row per additive regression: the task, its parents as lists, and R's numbers, those of the terms as lists."""
    terms = pd.read_csv(FOLDER / "terms.csv").groupby("task").agg(list)
    tasks = pd.read_csv(FOLDER / "tasks.csv", index_col="task", dtype={"parents": str}).drop(columns="parents")
    numbers = pd.read_csv(FOLDER / "regressions.csv", index_col="task")
    fitted = pd.read_csv(FOLDER / "fitted.csv", index_col="task")
    joined = tasks.join(terms.rename(columns={"parent": "parents"})).join(numbers)
    return joined.assign(fitted=fitted.to_numpy().tolist())


def cam_steps() -> dict[str, pd.DataFrame]:
    """By table: edges in the order in which R's search inserted them, the score after each, and what pruning said."""
    return dict(list(pd.read_csv(FOLDER / "cam_steps.csv").groupby("table", sort=False)))


def graph_pairs() -> list[dict]:
    """Pairs of random graphs with R's structural intervention distance, bounds, wrong pairs, and Hamming distance."""
    with np.load(FOLDER / "sid.npz") as file:
        columns = {name: file[name] for name in file.files}
    n_entries = np.cumsum(columns["d"].astype(int) ** 2)[:-1]
    for name in ("true", "est", "incorrect"):  # matrices one after another, eight entries per byte
        matrices = np.split(np.unpackbits(columns[name]).astype(bool), n_entries)
        columns[name] = [matrix[: d * d].reshape(d, d) for matrix, d in zip(matrices, columns["d"], strict=True)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def family_tasks() -> pd.DataFrame:
    """One row per regression by family: table, rows, family, target, parents (a list of names), and R's numbers."""
    tasks = pd.read_csv(FOLDER / "family_tasks.csv", index_col="task")
    numbers = pd.read_csv(FOLDER / "family_regressions.csv", index_col="task")
    return tasks.assign(parents=tasks["parents"].str.split()).join(numbers)


def family_terms() -> pd.DataFrame:
    """R's effective degrees of freedom and p-values by task, parent and predictor ("joint": all predictors at once)."""
    return pd.read_csv(FOLDER / "family_terms.csv", dtype={"predictor": str})


def family_table(name: str) -> pd.DataFrame:
    """One of the tables of the regressions by family."""
    return pd.read_csv(FOLDER / "tables" / f"{name}.csv.gz")
