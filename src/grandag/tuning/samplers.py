"""Where the parameters of trials come from: random draws, or a sampler of Optuna's by ask and tell.

Random search draws all of them before it starts. Other samplers learn from finished trials: they are asked for one
round of trials at a time, however many processes run them, so that a seed gives the same search on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from grandag.parameters import ParameterError, Rule, check_parameters, one_of
from grandag.tuning.spaces import Choice, Space, draw_from

__all__ = ["SAMPLERS", "Search", "searching"]

_OPTUNA = {"tpe": "TPESampler", "genetic": "NSGAIISampler"}
"""Samplers that learn from earlier trials, and the names of Optuna's classes."""

SAMPLERS = ("random", *_OPTUNA)

_ROUND = 5
"""Number of trials that a sampler of Optuna's is asked for before it learns any of their scores."""


class Search(Protocol):
    """Proposes parameters, one round of trials at a time, and may learn from their scores."""

    def ask(self, n: int) -> list[dict[str, Any]]:
        """The parameters of the next round, of at most n trials."""

    def tell(self, scores: Sequence[float]) -> None:
        """Take the scores of the round; NaN for a trial that failed."""


class _RandomSearch:
    """Independent draws. All of the space is drawn, so that fixing one parameter leaves the others as they were."""

    def __init__(self, space: Space, fixed: Container[str], seed: int) -> None:
        self.space, self.fixed, self.seed = space, fixed, seed

    def ask(self, n: int) -> list[dict[str, Any]]:
        """All n trials in one round."""
        drawn = draw_from(self.space, n, self.seed)
        return [{name: value for name, value in values.items() if name not in self.fixed} for values in drawn]

    def tell(self, scores: Sequence[float]) -> None:
        """Learn nothing from them."""


class _OptunaSearch:
    """A study of Optuna's, in memory."""

    def __init__(self, sampler: Any, space: Space, fixed: Container[str]) -> None:
        import optuna

        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.failed = optuna.trial.TrialState.FAIL
        self.distributions: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(values.values)
            if isinstance(values, Choice)
            else optuna.distributions.FloatDistribution(10.0**values.low, 10.0**values.high, log=True)
            for name, values in space.items()
            if name not in fixed
        }

    def ask(self, n: int) -> list[dict[str, Any]]:
        """One round of trials."""
        self.asked = [self.study.ask(self.distributions) for _ in range(min(n, _ROUND))]
        return [dict(trial.params) for trial in self.asked]

    def tell(self, scores: Sequence[float]) -> None:
        """Pass on the scores in the order in which trials were asked for, not in which they ended."""
        for trial, score in zip(self.asked, scores, strict=True):
            if math.isnan(score):
                self.study.tell(trial, state=self.failed)
            else:
                self.study.tell(trial, score)


@contextmanager
def searching(sampler: Any, space: Space, fixed: Container[str], seed: int) -> Iterator[Search]:
    """The search for a sampler or the name of one; Optuna's log is silent meanwhile."""
    if isinstance(sampler, str):
        check_parameters({"sampler": sampler}, {"sampler": one_of(*SAMPLERS)})
    if sampler == "random":
        yield _RandomSearch(space, fixed, seed)
        return
    try:
        import optuna
    except ImportError:
        raise ParameterError("sampler", f"{sampler!r} needs Optuna: pip install 'grandag[tune]'.") from None
    if isinstance(sampler, str):
        sampler = getattr(optuna.samplers, _OPTUNA[sampler])(seed=seed)
    is_sampler = Rule(lambda value: isinstance(value, optuna.samplers.BaseSampler), "a name, or a sampler of Optuna's")
    check_parameters({"sampler": sampler}, {"sampler": is_sampler})
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield _OptunaSearch(sampler, space, fixed)
    finally:
        optuna.logging.set_verbosity(verbosity)
