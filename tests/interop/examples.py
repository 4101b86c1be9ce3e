"""A graph whose every direction matters, with data of known effects, and an equivalence class."""

import numpy as np
import pandas as pd

NAMES = ("treatment", "confounder", "outcome", "alone")
DAG = np.zeros((4, 4), dtype=bool)
DAG[1, 0] = DAG[1, 2] = DAG[0, 2] = True
"""confounder -> treatment -> outcome, confounder -> outcome; `alone` has no edge."""

EFFECT, CONFOUNDING = 1.5, -2.0
"""What outcome gains from one unit of treatment and of confounder. Without adjustment the slope is about 0.5."""

CPDAG = np.zeros((5, 5), dtype=bool)
CPDAG[0, 1] = CPDAG[1, 0] = CPDAG[1, 3] = CPDAG[2, 3] = CPDAG[3, 4] = True
"""a - b -> d <- c, d -> e"""


def rows(rng: np.random.Generator, n: int = 3000) -> pd.DataFrame:
    """Linear data of DAG with uniform noise, by which lingam tells directions."""
    confounder, alone, *noise = rng.uniform(-1, 1, size=(4, n))
    treatment = confounder + noise[0]
    outcome = EFFECT * treatment + CONFOUNDING * confounder + noise[1]
    return pd.DataFrame(dict(zip(NAMES, (treatment, confounder, outcome, alone), strict=True)))
