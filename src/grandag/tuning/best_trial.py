"""The best of several trials, for a user's search and for the paper's tables alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeVar

__all__ = ["ScoredTrial", "best_trial"]


class ScoredTrial(Protocol):
    """What decides between trials."""

    @property
    def score(self) -> float:
        """The held-out score; NaN for a trial that has none."""

    @property
    def converged(self) -> bool:
        """Did the fit end, and meet the tolerance of its method?"""


T = TypeVar("T", bound=ScoredTrial)


def best_trial(trials: Iterable[T]) -> T | None:
    """The trial with the highest score among those that converged, or among all if none did; None without any score.

    The first of several equally good trials wins.
    """
    scored = [trial for trial in trials if not math.isnan(trial.score)]
    return max(scored, key=lambda trial: (trial.converged, trial.score), default=None)
