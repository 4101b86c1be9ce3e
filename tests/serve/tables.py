"""Tables that nobody meant well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

HOSTILE = "<script>document.title = 'broken'</script>"
QUOTED = 'b, "quoted" [*]'
FILE = "<img src=x onerror=alert(1)>.csv"


def hostile_frame(n_rows: int = 300) -> pd.DataFrame:
    """A chain through columns with gaps and hostile names, and a column of categories."""
    rng = np.random.default_rng(1)
    noise = rng.uniform(-1, 1, size=(n_rows, 4))
    first = 3 * noise[:, 0]
    second = 0.9 * first + noise[:, 1]
    third = 1.2 * second + noise[:, 2]
    frame = pd.DataFrame({HOSTILE: first, QUOTED: second, "c": third, "d": noise[:, 3] - 0.8 * third})
    frame.loc[[3, 50], "c"] = np.nan
    frame["group"] = np.where(first > 0, "red", "<b>blue</b>")
    return frame


def write_hostile(directory: Path) -> Path:
    path = directory / FILE
    hostile_frame().to_csv(path, index=False)
    return path
