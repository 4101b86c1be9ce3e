"""Whatever a table holds: a graph without cycles and with finite numbers, or one short sentence of ours."""

import warnings

import numpy as np
import pytest

import grandag
from grandag.graph import is_acyclic
from grandag.learned import TrainingError
from grandag.table import TableError
from tests.fuzz.tables import table

METHODS = {
    "cam": lambda: grandag.CAM(),
    "pc": lambda: grandag.PC(),
    "ges": lambda: grandag.GES(),
    "notears": lambda: grandag.NOTEARS(standardise=True),
    "random": lambda: grandag.RandomGraph(random_state=0),
}


def check(model, seed: int) -> str | None:
    """What went wrong, if anything; warnings of numpy count, and so does a table that was changed."""
    values = table(seed)
    before = values.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(values)
            is_good = is_acyclic(model.dag_) and np.isfinite(model.strength_).all() and np.isfinite(model.score(values))
            fault = None if is_good else "not a DAG with finite numbers"
        except (TableError, TrainingError) as error:
            fault = None if len(str(error)) < 600 and "\n" not in str(error) else f"long: {error}"
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
    return fault if np.array_equal(values, before, equal_nan=True) else "the table was changed"


def faults(method: str, seeds: range) -> dict[int, str]:
    found = {seed: check(METHODS[method](), seed) for seed in seeds}
    return {seed: fault for seed, fault in found.items() if fault is not None}


@pytest.mark.parametrize("method", METHODS)
def test_some_tables(method):
    assert faults(method, range(40)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 2000, 250))
@pytest.mark.parametrize("method", METHODS)
def test_many_tables(method, start):
    assert faults(method, range(start, start + 250)) == {}
