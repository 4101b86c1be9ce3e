"""Which of several trials is the best."""

import math
from typing import NamedTuple

import pytest

from grandag.tuning.best_trial import best_trial


class Trial(NamedTuple):
    name: str
    score: float
    converged: bool


@pytest.mark.parametrize(
    ("trials", "best"),
    [
        ([("a", -2.0, True), ("b", -1.0, True)], "b"),
        ([("a", -1.0, False), ("b", -3.0, True)], "b"),
        ([("a", -1.0, False), ("b", -3.0, False)], "a"),
        ([("a", math.nan, True), ("b", -3.0, False)], "b"),
        ([("a", -1.0, True), ("b", -1.0, True)], "a"),
    ],
)
def test_converged_comes_before_score(trials, best):
    assert best_trial([Trial(*trial) for trial in trials]).name == best


def test_no_trial_has_a_score():
    assert best_trial([]) is None
    assert best_trial([Trial("a", math.nan, True)]) is None
