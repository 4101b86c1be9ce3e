from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from grandag.executors import cluster

# No test may depend on how fast the machine is, nor examples on how long it takes to draw them.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Also where the machine is busy, a scheduler that is there answers in time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_PATIENCE", 60)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def authors() -> Path:
    """The authors' released data sets, which stand beside the project where it is developed."""
    path = SHARED / "data" / "authors"
    if not path.is_dir():
        pytest.skip("the authors' data sets are not beside the project")
    return path


def mixed_frame(n=150):
    """A number causes a label, and both cause a count."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    city = np.array(["Bonn", "Oslo", "Rome"])[np.digitize(x + 0.5 * rng.normal(size=n), [-0.5, 0.5])]
    return pd.DataFrame({"x": x, "city": city, "visits": rng.poisson(np.exp(0.5 * x + 0.8 * (city == "Rome")))})


def nonlinear_chain(rng: np.random.Generator, n: int = 1000) -> np.ndarray:
    """X0 -> X1 -> X2 with additive Gaussian noise: identifiable, and easy."""
    x0 = rng.normal(size=n)
    x1 = np.sin(2 * x0) + 0.2 * rng.normal(size=n)
    x2 = x1**2 - x1 + 0.2 * rng.normal(size=n)
    return np.column_stack([x0, x1, x2])
