"""Make the tables and tasks of the regressions by family: `python tests/reference/make_families.py`.

As in `make_tables.py`, they are stored with few decimals and have to be made again only to change them.
"""

import numpy as np
import pandas as pd

from tests.reference.make_tables import FOLDER, smooth

INPUTS = ("x0", "x1", "x2", "x3", "heavy", "count", "binary", "label")
TARGETS = {"gaussian": "y", "scaled t": "t", "binomial": "b", "multinomial": "m", "negative binomial": "c"}
N_ROWS = 500
TASKS_PER_TABLE = 16


def inputs(rng: np.random.Generator) -> pd.DataFrame:
    """Four correlated normal columns, and one of each other kind that depends on them a little."""
    x = rng.normal(size=(N_ROWS, 4))
    x[:, 1] = 0.6 * x[:, 0] + 0.8 * x[:, 1]
    columns = {f"x{j}": x[:, j] for j in range(4)}
    columns["heavy"] = 0.5 * x[:, 2] + rng.standard_t(3, size=N_ROWS)
    columns["count"] = rng.poisson(np.exp(0.8 + 0.3 * x[:, 0]))
    columns["binary"] = (x[:, 3] + rng.logistic(size=N_ROWS) > 0).astype(int)
    columns["label"] = rng.integers(4, size=N_ROWS)
    return pd.DataFrame(columns)


def predictor(rng: np.random.Generator, frame: pd.DataFrame) -> np.ndarray:
    """A sum of functions of all inputs: none, weak or strong."""
    sizes = rng.choice([0.0, 0.2, 0.4, 0.8], size=len(INPUTS))
    parts = [size * smooth(rng, frame[name].to_numpy(float)) for size, name in zip(sizes[:4], INPUTS, strict=False)]
    parts.append(sizes[4] * np.tanh(frame["heavy"].to_numpy()))
    parts.append(sizes[5] * np.sqrt(frame["count"].to_numpy()))
    parts.append(sizes[6] * (frame["binary"].to_numpy() - 0.5))
    parts.append(sizes[7] * rng.normal(size=4)[frame["label"].to_numpy()])
    return np.sum(parts, axis=0)


def table(seed: int) -> pd.DataFrame:
    """Inputs, and a target of each family."""
    rng = np.random.default_rng(seed)
    frame = inputs(rng).round(3)
    eta = [predictor(rng, frame) for _ in TARGETS]
    n_labels = 3 + seed % 2
    further = np.column_stack([np.zeros(N_ROWS), *(predictor(rng, frame) for _ in range(n_labels - 1))])
    shares = np.exp(further) / np.exp(further).sum(axis=1, keepdims=True)
    size = (0.7, 3.0, 1e6)[seed % 3]  # the last one is Poisson
    return frame.assign(
        y=eta[0] + rng.normal(size=N_ROWS),
        t=eta[1] + 0.8 * rng.standard_t(4, size=N_ROWS),
        b=(eta[2] + rng.logistic(size=N_ROWS) > 0).astype(int),
        m=(rng.random(N_ROWS)[:, None] > shares.cumsum(axis=1)).sum(axis=1),
        c=rng.poisson(np.exp(0.5 + eta[4]) * rng.gamma(size, 1 / size, size=N_ROWS)),
    ).round(3)


def main() -> None:
    rng, tasks = np.random.default_rng(100), []
    for seed in range(4):
        name = f"families{seed}"
        compression = {"method": "gzip", "compresslevel": 9, "mtime": 0}
        table(seed).to_csv(FOLDER / "tables" / f"{name}.csv.gz", index=False, compression=compression)
        for family, target in TARGETS.items():
            for number in range(TASKS_PER_TABLE):
                parents = rng.choice(INPUTS, size=int(rng.integers(1, 7)), replace=False)
                tasks.append((name, N_ROWS if number % 2 else N_ROWS // 2, family, target, " ".join(sorted(parents))))
    columns = ["table", "n_rows", "family", "target", "parents"]
    pd.DataFrame(tasks, columns=columns).to_csv(FOLDER / "family_tasks.csv", index_label="task")


if __name__ == "__main__":
    main()
