"""Whatever a table holds: a graph without cycles and with finite numbers, or one short sentence of ours."""

import signal
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import grandag
from grandag.graph import is_acyclic
from grandag.learned import TrainingError
from grandag.table import TableError
from tests.fuzz.tables import table

METHODS = {
    "grandag": lambda: grandag.GraNDAG(max_iterations=50, n_jobs=1, random_state=0),
    "grandag, fast": lambda: grandag.GraNDAG.preset("fast", max_iterations=50, n_jobs=1, random_state=0),
    "grandag++": lambda: grandag.GraNDAG(density="gaussian", max_iterations=50, n_jobs=1, random_state=0),
    "grandag-shared": lambda: grandag.GraNDAG(networks="shared", max_iterations=50, n_jobs=1, random_state=0),
    "cam": lambda: grandag.CAM(),
    "notears": lambda: grandag.NOTEARS(standardise=True),
    "lingam": lambda: grandag.LiNGAM(),
    "ica-lingam": lambda: grandag.LiNGAM(algorithm="ica"),
    "resit": lambda: grandag.RESIT(random_state=0),
    "resit-gp": lambda: grandag.RESIT(regression="gaussian-process", random_state=0),
    "equal-variance": lambda: grandag.EqualVariance(random_state=0),
    "top-down": lambda: grandag.EqualVariance(algorithm="top-down", random_state=0),
    "dag-gnn": lambda: grandag.DAGGNN(n_epochs=3, standardise=True, random_state=0),
    "ges": lambda: grandag.GES(),
    "fges": lambda: grandag.GES(max_degree=3),
    "gsf": lambda: grandag.GSF(),
    "exact": lambda: grandag.ExactSearch(max_parents=3),
    "pc": lambda: grandag.PC(),
    "random": lambda: grandag.RandomGraph(random_state=0),
}

TOO_LONG = 300
"""Seconds of computing, not of waiting, that no such table may take; compiling is part of them."""


def check(model, seed: int) -> str | None:
    """What went wrong, if anything; warnings of numpy count, and so does a table that was changed."""
    values = table(seed)
    before = values.copy()
    with warnings.catch_warnings(), stopped_after(TOO_LONG):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model.fit(values)
            fault = None if is_good(model, values) else "not a DAG with finite numbers"
        except (TableError, TrainingError) as error:
            fault = None if len(str(error)) < 600 and "\n" not in str(error) else f"long: {error}"
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
    return fault if np.array_equal(values, before, equal_nan=True) else "the table was changed"


def is_good(model, values: np.ndarray) -> bool:
    numbers = (model.strength_, model.score(values), model.sample(3, random_state=0), model.residuals(values))
    return is_acyclic(model.dag_) and all(np.isfinite(np.asarray(number)).all() for number in numbers)


@contextmanager
def stopped_after(seconds: float):
    def stop(*_):
        raise TimeoutError(f"still computing after {seconds} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def faults(method: str, seeds: range) -> dict[int, str]:
    found = {seed: check(METHODS[method](), seed) for seed in seeds}
    return {seed: fault for seed, fault in found.items() if fault is not None}


@pytest.mark.parametrize("method", METHODS)
def test_some_tables(method):
    assert faults(method, range(40)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 10_000, 500))
@pytest.mark.parametrize("method", METHODS)
def test_many_tables(method, start):
    assert faults(method, range(start, start + 500)) == {}
