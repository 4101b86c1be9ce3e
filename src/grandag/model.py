"""A causal model to be used: new rows, interventions, effects, densities, residuals and predictions.

    p(x) = prod_j p_j(x_j | parents of j)

An intervention do(x_k = value) replaces the k-th factor by the value and leaves all others as they are. All is in the
units of the table that the model was learned from, by its column names.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from grandag.diagnostics import noise_checks, spread_rows
from grandag.distributions import Bernoulli, Categorical, Distribution, PointMass
from grandag.graph import is_acyclic, topological_order
from grandag.kinds import LABELLED, ColumnKind, label_of, labels_as_numbers
from grandag.parameters import ParameterError, as_generator, check_parameters, integer, number, one_of
from grandag.parameters import random_state as seed_rule
from grandag.table import Table, TableError, as_frame, as_table, suggestion, without_targets
from grandag.wording import counted, levels_to_the_user

__all__ = ["CausalModel", "Conditional", "Effect", "Fixed"]

_DRAWS = 10_000
"""Rows behind a mean, unless told otherwise."""


class Conditional(Protocol):
    """The distribution of one variable given its parents."""

    def given(self, parents: np.ndarray) -> Distribution:
        """The distribution of each of n rows given the parents (n, p), which come in column order, labels as codes."""

    def is_consistent(self, n_parents: int) -> bool:
        """Do the shapes of its arrays fit together and the number of parents? Asked when a saved model is loaded."""


class _Rows(NamedTuple):
    """Rows that a model is asked about, their labels, and which values are not those of an intervention's targets."""

    values: np.ndarray  # (n, d)
    labels: pd.Index
    free: np.ndarray | None = None  # (n, d) bool; None: all


@dataclass(frozen=True)
class Fixed:
    """A variable without noise: set by an intervention, or constant in the table. It has no density."""

    value: float

    def given(self, parents: np.ndarray) -> PointMass:
        """The value."""
        return PointMass(np.full(len(parents), self.value))

    def is_consistent(self, n_parents: int) -> bool:
        """It has no parents."""
        return n_parents == 0


@dataclass(frozen=True)
class _Listed:
    """A variable that was set in each row to a value of its own."""

    values: np.ndarray

    def given(self, parents: np.ndarray) -> PointMass:
        """The values."""
        return PointMass(self.values)

    def is_consistent(self, n_parents: int) -> bool:
        """It has no parents."""
        return n_parents == 0


@dataclass(frozen=True, repr=False)
class Effect:
    """E[outcome | do(cause = high)] - E[outcome | do(cause = low)], with a percentile interval over refitted models."""

    cause: str
    outcome: str
    low: float | str
    high: float | str
    effect: float
    interval: tuple[float, float] | None = None
    level: float | None = None
    n_resamples: int = 0
    label: str | None = None
    """Of an outcome with labels, the one whose probability changes by `effect`."""

    def __repr__(self) -> str:
        shown = f"<Effect of {self.cause} on {self.outcome}: {self.effect:.4g}"
        if self.interval is None:
            return f"{shown}>"
        low, high = self.interval
        return f"{shown}, {self.level:.0%} of {self.n_resamples} refits {low:.4g} to {high:.4g}>"

    def describe(self) -> str:
        """One sentence."""
        change = f"Setting {self.cause} to {_shown(self.high)} instead of {_shown(self.low)}"
        outcome = f"the mean of {self.outcome}"
        if self.label is not None:
            outcome = f"the probability of {self.outcome} = {self.label}"
        effect = f"{change} changes {outcome} by {self.effect:.4g}"
        if self.effect == 0 and self.low != self.high:
            effect = f"{change} does not change {self.outcome}: in this graph no path leads there"
        if self.interval is None:
            return f"{effect}, by this model; give the table for an interval."
        low, high = self.interval
        return f"{effect}; {self.level:.0%} of {self.n_resamples} refits give {low:.4g} to {high:.4g}."


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


@dataclass(frozen=True, repr=False)
class CausalModel:
    """A DAG with one conditional distribution per variable.

    `conditionals[j]` is that of variable j given the variables i with adjacency[i, j], in column order.

    Example:
        >>> from grandag import CAM, datasets
        >>> model = CAM().fit(datasets.load_sachs().data).model_
        >>> model.intervene({"PKA": 800.0}).sample(3, random_state=1)["PKA"].tolist()
        [800.0, 800.0, 800.0]
    """

    names: tuple[str, ...]
    adjacency: np.ndarray
    conditionals: tuple[Conditional, ...]
    observed: np.ndarray | None = field(default=None, repr=False, compare=False)
    """(5, d) minimum, quartiles and maximum of each column of the table that the model was learned from."""
    columns: tuple[ColumnKind, ...] = ()
    """Kind and labels of each variable; none: all are continuous."""

    def __post_init__(self) -> None:
        d = len(self.names)
        if not self.columns:
            object.__setattr__(self, "columns", (ColumnKind("continuous"),) * d)
        if self.adjacency.shape != (d, d) or len(self.conditionals) != d or len(set(self.names)) != d:
            raise ValueError(
                "A model needs different names, a square adjacency matrix and conditionals of one length; got "
                f"{d} names, shape {self.adjacency.shape} and {len(self.conditionals)} conditionals."
            )
        if not is_acyclic(self.adjacency):
            raise ValueError("A model needs a graph without cycles; the given one has a cycle.")

    def __repr__(self) -> str:
        n_edges = counted(int(self.adjacency.sum()), "edge")
        return f"<CausalModel: {counted(len(self.names), 'variable')}, {n_edges}>"

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """New rows.

        Every variable has its own stream of noise: with the same seed, rows with and without an intervention differ in
        descendants of the intervened variables only, and these share their noise. Labels come back as labels.
        """
        check_parameters({"n": n, "random_state": random_state}, {"n": integer(1), "random_state": seed_rule})
        return self._with_labels(self._frame(self._propagate(self._noise(n, random_state))[0]))

    def sample_under(self, values: Mapping[str, np.ndarray], random_state: Any = None) -> pd.DataFrame:
        """New rows in which some variables have been set from outside, in each row to a value of its own.

        `values` has, for each of them, one number or code of a label per row: those that an intervention gave it, say.
        """
        adjacency, conditionals = self.adjacency.copy(), list(self.conditionals)
        for name, column in values.items():
            node = self._node(name)
            adjacency[:, node], conditionals[node] = False, _Listed(np.asarray(column, dtype=np.float64))
        changed = replace(self, adjacency=adjacency, conditionals=tuple(conditionals))
        n = len(next(iter(values.values())))
        return self._with_labels(self._frame(changed._propagate(self._noise(n, random_state))[0]))

    def intervene(self, values: Mapping[str, Any]) -> CausalModel:
        """The model in which these variables have been set from outside: no parent has a say in them any more.

        `values` has a number, or a label of a binary or categorical variable, for each.
        """
        if not isinstance(values, Mapping):
            raise ParameterError("values", f"must be a dictionary of names and values; got {values!r}.")
        changed = self._set(values)
        self._warn_outside((name, self._value_of(name, value)) for name, value in values.items())
        return changed

    def _set(self, values: Mapping[str, Any]) -> CausalModel:
        adjacency, conditionals = self.adjacency.copy(), list(self.conditionals)
        for name, value in values.items():
            node = self._node(name)
            adjacency[:, node], conditionals[node] = False, Fixed(self._value_of(name, value))
        return replace(self, adjacency=adjacency, conditionals=tuple(conditionals))

    def _value_of(self, name: str, value: Any) -> float:
        """A value of a variable as a number: that of a label is its code."""
        column = self.columns[self._node(name)]
        if column.kind in LABELLED:
            return self._code(name, value)
        if not number(-math.inf).is_legal(value):
            raise ParameterError("values", f"must set finite numbers; {name!r} has {value!r}.")
        is_impossible = column.kind == "count" and (value < 0 or float(value) != round(float(value)))
        if is_impossible:
            raise ParameterError("values", f"must set counts to 0, 1, 2, ...; {name!r} has {value!r}.")
        return float(value)

    def _code(self, name: str, label: Any) -> float:
        """The code of a label."""
        labels = self.columns[self._node(name)].labels
        text = label_of(label)
        numbers = labels_as_numbers(labels)
        if text in labels:
            return float(labels.index(text))
        if numbers is not None and number(-math.inf).is_legal(label) and float(label) in numbers:
            return float(np.flatnonzero(numbers == float(label))[0])  # 1 for True
        near = suggestion(text, labels) or f"; its labels are {', '.join(map(repr, labels))}."
        raise ParameterError("values", f"must be labels of {name!r}, and {label!r} is none{near}")

    def mean(self, n: int = _DRAWS, random_state: Any = 0) -> pd.Series:
        """The mean of every variable, by `n` draws: averages of conditional means over noise and its mirror image.

        Exact for linear models, whatever the draws. The default seed makes means of two interventions comparable. A
        variable with labels has one entry per label instead, its probability: "city=Rome".
        """
        check_parameters({"n": n, "random_state": random_state}, {"n": integer(2), "random_state": seed_rule})
        half = self._noise((n + 1) // 2, random_state)
        of_each = enumerate(self._propagate(np.vstack([half, -half]))[1])
        means = pd.concat([self._means(node, found) for node, found in of_each], axis=1)
        return pd.Series(np.ascontiguousarray(means.to_numpy()).mean(axis=0), index=means.columns)

    def _means(self, node: int, found: Distribution, index: pd.Index | None = None) -> pd.DataFrame:
        """The mean of a variable in each row, or the probabilities of its labels: one column, or one per label."""
        name, column = self.names[node], self.columns[node]
        if column.kind not in LABELLED:
            return pd.DataFrame({name: found.mean}, index=index)
        names = [f"{name}={label}" for label in column.labels]
        return pd.DataFrame(_probabilities(found, len(names)), columns=names, index=index)

    def average_effect(
        self,
        cause: str,
        outcome: str,
        *,
        low: Any = None,
        high: Any = None,
        label: str | None = None,
        resamples: Sequence[Any] = (),
        level: float = 0.9,
        n: int = _DRAWS,
        random_state: Any = 0,
    ) -> Effect:
        """The change of the outcome's mean when the cause is set to `high` instead of `low`.

        By default these are the quartiles of the cause in the table that the model was learned from; a cause with two
        labels is set to the second instead of the first, one with more must be told which. The effect on an outcome
        with labels is the change of the probability of one, `label`; of two labels, the second if nothing is said.
        `resamples` are models of the same variables fitted to resampled data (estimators, or their `model_`): the
        interval holds the middle `level` of their effects. A model in which no path leads from the cause to the outcome
        has the effect 0.
        """
        rules = {"level": number(0, 0.999, open_minimum=True), "random_state": seed_rule}
        check_parameters({"level": level, "random_state": random_state}, rules)
        models = _models_of(resamples)
        low, high = self._contrast(cause, low, high)
        label = self._label(outcome, label)
        contrast = (cause, outcome, low, high)
        seed = int(as_generator(random_state).integers(2**31))
        effect = self._effect(*contrast, label, n, seed)
        self._warn_outside((cause, self._value_of(cause, value)) for value in (low, high))
        if not models:
            return Effect(*contrast, effect, label=label)
        effects = [model._effect(*contrast, label, n, seed) for model in models]
        ends = np.quantile(effects, [(1 - level) / 2, (1 + level) / 2])
        return Effect(*contrast, effect, (float(ends[0]), float(ends[1])), level, len(models), label)

    def _contrast(self, cause: str, low: Any, high: Any) -> tuple[Any, Any]:
        """The two values to which a cause is set: labels, or numbers."""
        column = self.columns[self._node(cause)]
        if column.kind in LABELLED:
            if len(column.labels) != 2 and (low is None or high is None):
                labels = ", ".join(map(repr, column.labels))
                raise ParameterError("low", f"and 'high' must be labels of {cause!r}: {labels}.")
            defaults: Sequence[Any] = column.labels
        else:
            defaults = self._quartiles(self._node(cause))
        chosen = defaults[0] if low is None else low, defaults[-1] if high is None else high
        for value in chosen:
            self._value_of(cause, value)
        if column.kind in LABELLED:
            return label_of(chosen[0]), label_of(chosen[1])
        return float(chosen[0]), float(chosen[1])

    def _label(self, outcome: str, label: str | None) -> str | None:
        """The label of an outcome whose probability is looked at; None for numbers."""
        column = self.columns[self._node(outcome)]
        if column.kind not in LABELLED:
            if label is not None:
                raise ParameterError("label", f"is for outcomes with labels; {outcome!r} is {column.kind}.")
            return None
        if label is None and len(column.labels) == 2:
            return column.labels[1]
        if label is None:
            raise ParameterError("label", f"must be one of those of {outcome!r}: {', '.join(column.labels)}.")
        return column.labels[int(self._code(outcome, label))]

    def changes(
        self,
        values: Mapping[str, Any],
        *,
        resamples: Sequence[Any] = (),
        level: float = 0.9,
        n: int = _DRAWS,
        random_state: Any = 0,
    ) -> pd.DataFrame:
        """The means of all variables before and after an intervention on one or more, and by how much they change.

        A variable with labels has a row for each, with its probability, as in `mean`. `resamples` are models of the
        same variables fitted to resampled data: `low` and `high` hold the middle `level` of their changes.

        Example:
            >>> from grandag import CAM, datasets
            >>> model = CAM(max_parents=1).fit(datasets.load_sachs().data).model_
            >>> model.changes({"PKA": 800.0, "Raf": 50.0}, n=100).columns.tolist()
            ['before', 'after', 'change']
        """
        check_parameters({"level": level}, {"level": number(0, 0.999, open_minimum=True)})
        models = _models_of(resamples)
        seed = int(as_generator(random_state).integers(2**31))
        after, before = self._set(values).mean(n, seed), self.mean(n, seed)
        self._warn_outside((name, self._value_of(name, value)) for name, value in values.items())
        table = pd.DataFrame({"before": before, "after": after, "change": after - before})
        if models:
            changes = [model._set(values).mean(n, seed) - model.mean(n, seed) for model in models]
            aligned = np.array([change[list(table.index)] for change in changes])
            table["low"], table["high"] = np.quantile(aligned, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return table

    def log_prob(self, X: Any, *, missing: str = "error", interventions: Any = None) -> pd.Series:
        """The logarithm of the joint density of each row. Constant and intervened variables do not count.

        With `missing="drop"`, here and below, rows with missing or infinite values are left out; those that stay keep
        their labels, or their numbers. `interventions` are the targets of each row, as `fit` takes them.
        """
        return self.log_densities(X, missing=missing, interventions=interventions).sum(axis=1).rename("log_prob")

    def log_densities(self, X: Any, *, missing: str = "error", interventions: Any = None) -> pd.DataFrame:
        """The logarithm of the density of each value given its parents; 0 for variables without noise, and of targets.

        A row of an intervention says nothing about how its targets follow from their parents.
        """
        rows = self._rows(X, missing, interventions=interventions)
        of_each = self._distributions(rows.values)
        log_p = np.column_stack([found.log_density(rows.values[:, j]) for j, found in enumerate(of_each)])
        return self._frame(log_p if rows.free is None else np.where(rows.free, log_p, 0.0), rows.labels)

    def residuals(self, X: Any, *, standardised: bool = False, missing: str = "error") -> pd.DataFrame:
        """Each value minus its mean given its parents; `standardised` makes standard normal noise of it.

        That is, it divides by the standard deviation where the noise is Gaussian, and else turns quantiles into those
        of a standard normal distribution. Labels and counts have residuals of that kind only, randomised within the
        probability of the value, always in the same way.
        """
        values, index, _ = self._rows(X, missing)
        of_each = self._distributions(values)
        noise = self._noise_of(values, of_each)
        if not standardised:
            for j, found in enumerate(of_each):
                if self.columns[j].kind in ("continuous", "heavy-tailed"):
                    noise[:, j] = values[:, j] - found.mean
        return self._frame(noise, index)

    def check_noise(self, X: Any, *, missing: str = "error", interventions: Any = None) -> pd.DataFrame:
        """Is the noise of each variable independent of its parents, and Gaussian? See `grandag.diagnostics`.

        `interventions` are the targets of each row, as `fit` takes them: it says nothing about their noise.
        """
        given = self._rows(X, missing, interventions=interventions)
        rows, free = spread_rows(given.values), None if given.free is None else spread_rows(given.free)
        of_each = self._distributions(rows)
        has_noise = np.array([not isinstance(found, PointMass) for found in of_each])
        residuals = np.where(has_noise, self._noise_of(rows, of_each), 0.0)
        is_categorical = np.array([column.kind == "categorical" for column in self.columns])
        return noise_checks(rows, residuals, self.adjacency, self.names, is_categorical, free)

    def predict(self, X: Any, target: str | None = None, *, missing: str = "error") -> Any:
        """The mean of the target given its parents in X (a series), or of every variable given its own (a data frame).

        Of a target with labels it is a data frame with the probability of each label; without a target, such variables
        have a column per label, "city=Rome". For a target, a data frame needs the columns of its parents only; other
        columns may have gaps.
        """
        if target is None:
            values, index, _ = self._rows(X, missing)
            of_each = enumerate(self._distributions(values))
            return pd.concat([self._means(node, found, index) for node, found in of_each], axis=1)
        node = self._node(target)
        parents = np.flatnonzero(self.adjacency[:, node])
        values, index, _ = self._rows(X, missing, parents)
        found = self.conditionals[node].given(values)
        if self.columns[node].kind in LABELLED:
            return self._means(node, found, index).set_axis(list(self.columns[node].labels), axis=1)
        return pd.Series(found.mean, index=index, name=target)

    def _warn_outside(self, settings: Iterable[tuple[str, float]]) -> None:
        """Warn of values further from the data than a tenth of their range."""
        far = []
        for name, value in settings:
            low, high = (-math.inf, math.inf) if self.observed is None else self.observed[[0, 4], self._node(name)]
            if not low - 0.1 * (high - low) <= value <= high + 0.1 * (high - low):
                far.append(f"{name} = {value:.4g} (the table has {low:.4g} to {high:.4g})")
        if far:
            message = (
                f"The intervention is outside of the data: {', '.join(far)}. What the model says there is a guess: "
                "choose values that the table has."
            )
            warnings.warn(message, stacklevel=levels_to_the_user())

    def _quartiles(self, node: int) -> tuple[float, float]:
        """The lower and upper quartile of a variable: of the table, or of this model if that is not known."""
        if self.observed is not None:
            return float(self.observed[1, node]), float(self.observed[3, node])
        drawn = np.quantile(self._propagate(self._noise(_DRAWS, 0))[0][:, node], [0.25, 0.75])
        return float(drawn[0]), float(drawn[1])

    def _effect(self, cause: str, outcome: str, low: Any, high: Any, label: str | None, n: int, seed: int) -> float:
        """The change of an entry of `mean`; the probability of a label that a refit has never seen is 0."""
        entry = self.names[self._node(outcome)] if label is None else f"{outcome}={label}"
        means = [self._set({cause: value}).mean(n, seed).get(entry, 0.0) for value in (high, low)]
        return float(means[0] - means[1])

    def _noise(self, n: int, random_state: Any) -> np.ndarray:
        return np.column_stack([stream.normal(size=n) for stream in as_generator(random_state).spawn(len(self.names))])

    def _propagate(self, noise: np.ndarray) -> tuple[np.ndarray, list[Distribution]]:
        """Rows made from standard normal noise (n, d), parents first, and their distributions given the parents."""
        values, of_each = np.empty_like(noise), dict[int, Distribution]()
        for node in topological_order(self.adjacency):
            parents = values[:, self.adjacency[:, node]]
            found = self.conditionals[node].given(parents)
            of_each[node], values[:, node] = found, found.from_normal(noise[:, node])
        return values, [of_each[node] for node in range(len(self.names))]

    def _distributions(self, values: np.ndarray) -> list[Distribution]:
        """That of each variable given its parents in rows (n, d)."""
        return [
            conditional.given(values[:, self.adjacency[:, node]]) for node, conditional in enumerate(self.conditionals)
        ]

    def _noise_of(self, values: np.ndarray, of_each: Sequence[Distribution]) -> np.ndarray:
        """(n, d) the standard normal noise that the rows were made of."""
        uniform = np.random.default_rng(0).random(values.shape)
        return np.column_stack([found.to_normal(values[:, j], uniform[:, j]) for j, found in enumerate(of_each)])

    def _node(self, name: str) -> int:
        if name not in self.names:
            raise TableError(f"The model has no variable {name!r}{suggestion(str(name), self.names) or '.'}")
        return self.names.index(name)

    def _rows(self, X: Any, missing: str, nodes: np.ndarray | None = None, *, interventions: Any = None) -> _Rows:
        """The columns of X for some nodes, or for all; a data frame's are found by name."""
        check_parameters({"missing": missing}, {"missing": one_of("error", "drop")})
        X, targets = without_targets(as_frame(X), interventions)
        as_it_is = {"missing": missing, "min_rows": 1, "interventions": targets}
        if isinstance(X, Table) or not hasattr(X, "columns"):
            table = as_table(X, kinds=self.columns, min_columns=1, **as_it_is)
            if table.values.shape[1] != len(self.names):
                raise TableError(
                    f"X has {table.values.shape[1]} columns, but the model has {len(self.names)}: give them all, in "
                    "order."
                )
            table = table if nodes is None else table.select(nodes)
        else:
            wanted = self.names if nodes is None else [self.names[node] for node in nodes]
            if not wanted:  # a frame without columns may have lost its rows
                return _Rows(np.empty((len(X), 0)), X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(X)))
            columns = [self.columns[self.names.index(name)] for name in wanted]
            table = as_table(self._columns(X, wanted), kinds=columns, min_columns=0, **as_it_is)
        index = pd.RangeIndex(len(table.values)) if table.index is None else pd.Index(table.index)
        return _Rows(table.values, index, None if table.regimes is None else table.regimes.free)

    @staticmethod
    def _columns(X: Any, names: Sequence[str]) -> Any:
        """The columns of a data frame with these names."""
        given = {str(name): name for name in X.columns}
        for name in names:
            if name not in given:
                near = suggestion(name, list(given))
                raise TableError(f"X has no column {name!r}, which the model needs{near}.")
        return X[[given[name] for name in names]]

    def _with_labels(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Codes as labels: truth values, numbers or texts, as they were in the table."""
        labels = {name: column.labels for name, column in zip(self.names, self.columns, strict=True) if column.labels}
        return frame.assign(**{name: _values_of(texts)[frame[name].astype(int)] for name, texts in labels.items()})

    def _frame(self, values: np.ndarray, index: pd.Index | None = None) -> pd.DataFrame:
        return pd.DataFrame(values, columns=list(self.names), index=index)


def _values_of(labels: Sequence[str]) -> np.ndarray:
    """Labels as truth values, numbers or texts."""
    if set(labels) <= {"False", "True"}:
        return np.array([label == "True" for label in labels])
    numbers = labels_as_numbers(labels)
    return np.array(labels, dtype=object) if numbers is None else numbers


def _probabilities(found: Distribution, n_labels: int) -> np.ndarray:
    """(n, K) of each label; a variable that was set has one of them."""
    if isinstance(found, Bernoulli | Categorical):
        return found.probabilities()
    return np.asarray(found.mean[:, None] == np.arange(n_labels), dtype=np.float64)


def _models_of(resamples: Any) -> list[CausalModel]:
    """Models of resampled data: none, or two and more, as an interval needs."""
    if isinstance(resamples, int):
        raise ParameterError("resamples", "must be models here; estimators refit so many, given the table as X.")
    models = [getattr(resample, "model_", resample) for resample in resamples]
    if len(models) == 1 or not all(isinstance(model, CausalModel) for model in models):
        raise ParameterError("resamples", "must be two or more fitted estimators or their models.")
    return models
