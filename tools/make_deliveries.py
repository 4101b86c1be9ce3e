"""The made-up table of the tutorial, with a truth that is known: `python -m tools.make_deliveries`.

    temperature -> kitchen_load -> prep_minutes -> delivery_minutes <- distance_km;    delivery_minutes -> satisfaction

Four hundred deliveries with what tables have that nobody prepared: a running number, a column of words, one of codes,
and answers that are missing. District and vehicle have nothing to do with the rest.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tools.pages import DOCS

__all__ = ["PATH", "deliveries"]

PATH = DOCS / "tutorial" / "deliveries.csv"
_N_ROWS, _N_UNANSWERED = 400, 27


def deliveries() -> pd.DataFrame:
    """The table.

    The load is drawn before the temperature, although the temperature is its cause. So the noise of the load, given the
    temperature, is not additive, and a method that assumes additive noise finds the wrong direction.
    """
    rng = np.random.default_rng(1)

    def noise(scale: float) -> np.ndarray:
        return rng.normal(0.0, scale, _N_ROWS)

    kitchen_load = 14 + noise(4.0)
    temperature = 22 - 13 * _rising((kitchen_load - 14) / 1.2) + noise(2.0)
    distance = np.clip(4 + noise(1.1), 0.5, None)
    prep = 10 + 0.05 * kitchen_load**2 + noise(1.5)
    delivery = 10 + 0.03 * prep**2 + 0.8 * distance**2 + noise(3.0)
    satisfaction = 90 - 60 * _rising((delivery - 42) / 5) + noise(4.0)
    satisfaction[rng.choice(_N_ROWS, _N_UNANSWERED, replace=False)] = np.nan
    columns = {
        "order": np.arange(1, _N_ROWS + 1),
        "vehicle": rng.choice(["bike", "scooter"], _N_ROWS),
        "district": rng.integers(1, 5, _N_ROWS),
        "temperature": temperature,
        "distance_km": distance,
        "kitchen_load": kitchen_load,
        "prep_minutes": prep,
        "delivery_minutes": delivery,
        "satisfaction": satisfaction,
    }
    return pd.DataFrame(columns).round(1)


def _rising(t: np.ndarray) -> np.ndarray:
    """From 0 to 1."""
    return 1 / (1 + np.exp(-t))


if __name__ == "__main__":
    deliveries().to_csv(PATH, index=False)
