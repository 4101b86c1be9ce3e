"""The shell of every method: scikit-learn's conventions around a pure function `learn` (see `grandag.learned`)."""

from __future__ import annotations

import dataclasses
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from grandag import parameters
from grandag.blas import one_blas_thread
from grandag.diagnostics import (
    MAX_ROWS,
    Concern,
    column_concerns,
    constant_concerns,
    copy_concerns,
    graph_concerns,
    imperfect_concerns,
    isolated_concerns,
    noise_concerns,
)
from grandag.drawing import Drawing
from grandag.engine.compiled import announcing_compilation
from grandag.graph import topological_order
from grandag.intervention_check import check_interventions, with_check
from grandag.kinds import LABELLED, ColumnKind
from grandag.knowledge import Knowledge
from grandag.learned import DoubtWarning, Learn, Learned, NotConvergedWarning, TrainingError
from grandag.methods.registry import methods_that_take, methods_that_take_interventions, name_of
from grandag.methods.stages.explained import explained
from grandag.methods.stages.heavy_tails import outlier_concern, with_heavy_tails
from grandag.methods.stages.linear_gaussian import LinearConditional
from grandag.methods.storage import save
from grandag.model import CausalModel, Effect
from grandag.outliers import find_outliers
from grandag.parameters import (
    ParameterError,
    as_generator,
    boolean,
    check_parameters,
    check_unused,
    one_of,
    parameter,
    parameters_of,
    plain,
)
from grandag.progress import Listener, progress_line
from grandag.resampling import Confidence, confidence, with_frequencies
from grandag.table import MANY_ROWS, InterventionError, Table, TableError, as_table, constant_columns, quartiles
from grandag.table_diagnostics import discrete_columns, order_concerns, table_concerns
from grandag.wording import counted, levels_to_the_user, some

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["StochasticLearner", "StructureLearner", "estimator"]

_FROM_TESTS = ("p_value_", "p_values_", "degrees_of_freedom_")
"""Results that only pruning has."""

Class = TypeVar("Class", bound=type)

_REFITS_OF_AN_EFFECT = 20

_OUT_OF_ORDER = ("running number", "near-constant columns")
"""Concerns about columns whose residuals say nothing about the order of the rows."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
def estimator(cls: Class) -> Class:
    """Make an estimator of a class: its constructor and the `Args` of its docstring come from the parameters.

    A config is frozen; the estimator that inherits its fields is not, since scikit-learn sets parameters by attribute.
    """
    declared: Any = dataclasses.dataclass(kw_only=True, eq=False, repr=False, frozen=True)(cls)
    declared.__setattr__, declared.__delattr__ = object.__setattr__, object.__delattr__
    declared.__doc__ = _documented(cls.__doc__ or "", cls)
    return cls


def _documented(text: str, cls: type) -> str:
    """The docstring with its parameters, before the sections on attributes and examples."""
    lines = ["    Args:"]
    for name, declared in parameters_of(cls).items():
        entry = f"{name}: {declared.description} Default: {declared.default!r}."
        lines += textwrap.wrap(entry, 112, initial_indent=" " * 8, subsequent_indent=" " * 12)
    places = [text.index(section) for section in ("    Attributes:", "    Example:") if section in text]
    place = min(places, default=len(text))
    return text[:place].rstrip() + "\n\n" + "\n".join(lines) + "\n\n" + text[place:]


@estimator
class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """Base of all estimators: `fit(X)` sets `learned_`, of which all other attributes are views.

    A subclass inherits its config, too, and gives the function that does the work as `learn`.
    """

    learn: ClassVar[Learn]
    conditional: ClassVar[Any] = LinearConditional
    """The class of the conditionals that `learn` returns, or a union of classes; constant columns have their own."""
    takes_interventions: ClassVar[frozenset[str]] = frozenset()
    """Kinds of interventions that the method makes use of: "perfect", "imperfect". `learn` finds them in the `regimes`
    of its tables."""
    takes: ClassVar[frozenset[str]] = frozenset({"continuous"})
    """Kinds of columns that the method makes use of. Counts, and two labels that are numbers, as 0 and 1, it gets as
    plain numbers; columns of other labels are refused."""
    checks_noise: ClassVar[bool] = True
    """Look at the noise at the end of a fit; where that would take longer than the fit, `check_noise` is for users."""
    quick_up_to: ClassVar[int] = 0
    """Columns up to which a fit takes about a second: `grandag fit` then refits to halves of the rows."""
    presets: ClassVar[tuple[str, ...]] = ("default", "paper")
    recorded_for_reports: ClassVar[Mapping[str, Any]] = {}
    """Parameters that make a fit keep what only a report shows."""

    knowledge: Any = parameter(
        None,
        parameters.knowledge,
        "Forbidden and required edges: a file (TOML or Tetrad's format), a `Knowledge`, or its fields in a dictionary.",
    )
    missing: str = parameter(
        "error",
        one_of("error", "drop", "impute"),
        "Rows with missing or infinite values: stop with an error, drop them, or fill in ('impute') by chained "
        "equations, several times, with a fit each.",
    )
    imputations: int = parameter(5, parameters.count, "Number of times that gaps are filled in, with missing='impute'.")
    kinds: Any = parameter(
        None,
        parameters.kinds,
        "Kinds of columns (continuous, heavy-tailed, binary, categorical, count) by name or pattern, where they shall "
        "not be decided from the values: a dictionary, a file in TOML or JSON, or pairs, 'smoker=binary, q*=count'.",
    )
    outliers: str = parameter(
        "auto",
        one_of("auto", "keep"),
        "Rows with gross outliers, values beyond a gap at the end of their column that nothing in other columns goes "
        "with: 'auto' does not learn from them, and gives their columns heavy tails; 'keep' takes them as they are.",
        source="ours (docs/kinds.md)",
        paper="keep",
    )
    verbose: bool = parameter(False, boolean, "Show a progress line on a terminal or in a notebook.")

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """An estimator with the values of a preset, other parameters as given."""
        if name not in cls.presets:
            raise ParameterError("preset", f"must be one of {', '.join(cls.presets)}; got {name!r}.")
        values = {key: declared.value_in(name) for key, declared in parameters_of(cls).items()}
        return cls(**{**values, **parameters})

    @property
    def method(self) -> str:
        """The name of this method in the registry, as the command line knows it."""
        return name_of(self)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        interventions: Any = None,
        kind: str = "perfect",
        held_out: Any = None,
        listener: Listener | None = None,
    ) -> Self:
        """Learn the graph of the columns of X.

        Args:
            X: The table: an array, a pandas or polars data frame.
            y: Ignored.
            interventions: Which variables each row intervenes on: the name of a column of X, which is then no variable,
                or a sequence of the same: the name of a target, several separated by `|`, or nothing. Default: none.
            kind: "perfect" interventions cut a target off from its parents; after "imperfect" ones it depends on them
                in another way.
            held_out: More rows, which decide when to stop and nothing else; a method that stops early then trains on
                all of X instead of holding out a part of it. A method without early stopping never looks at them. They
                have the column of interventions if X has one; otherwise they are observational.
            listener: Called with the progress of the fit.
        """
        values = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        declared = parameters_of(type(self))
        check_parameters(values, {name: parameter.rule for name, parameter in declared.items()})
        check_unused(values, declared)
        table = as_table(X, missing=self.missing, kinds=self.kinds, interventions=interventions, intervention_kind=kind)
        table = self._usable(table)
        if held_out is not None:
            column = interventions if isinstance(interventions, str) else None
            training = (table.names, table.columns, table.has_own_names, self.missing, type(self).__name__)
            held_out = _like(held_out, *training, interventions=column, intervention_kind=kind)
        with announcing_compilation(), one_blas_thread(), self._listening(listener) as heard:
            if table.gaps is None:
                learned = self._learn_from(table, values, held_out, heard)
            else:
                learned = self._learn_from_gaps(table, values, held_out, heard)
        self._keep(learned, has_own_names=table.has_own_names)
        for concern in learned.concerns:
            if concern.is_urgent:
                category = NotConvergedWarning if concern.kind == "not converged" else UserWarning
                warnings.warn(concern.message, category, stacklevel=levels_to_the_user())
        others = [concern for concern in learned.concerns if not concern.is_urgent]
        if others:
            kinds = ", ".join(dict.fromkeys(concern.kind for concern in others))
            message = (
                f"{counted(len(others), 'reason')} to doubt the graph ({kinds}): `warnings_` has numbers and advice."
            )
            warnings.warn(message, DoubtWarning, stacklevel=levels_to_the_user())
        return self

    def _usable(self, table: Table) -> Table:
        """The table as the method takes it: numbers in the place of labels that it cannot use."""
        self._check_interventions(table)
        if set(table.kinds) <= self.takes:
            return table
        name, able = type(self).__name__, ", ".join(methods_that_take("categorical"))
        usable = table.as_numbers(self.takes, f"{name} takes numbers only; methods that take labels are {able}")
        changed = [repr(table.names[j]) for j, kind in enumerate(table.kinds) if kind not in self.takes]
        return replace(usable, notes=(*table.notes, f"{name} takes for plain numbers: {some(changed)}."))

    def _check_interventions(self, table: Table) -> None:
        """Refuse interventions that the method makes no use of."""
        if table.regimes is None or table.regimes.kind in self.takes_interventions:
            return
        kind, able = table.regimes.kind, ", ".join(methods_that_take_interventions(table.regimes.kind))
        instead = (
            "take them for perfect, which leaves the rows that target a variable out of its regression"
            if "perfect" in self.takes_interventions
            else "fit it to the observational rows alone"
        )
        raise InterventionError(
            f"{type(self).__name__} cannot learn from {kind} interventions; methods that can are {able}. Or {instead}."
        )

    def _learn_from(
        self, table: Table, values: Mapping[str, Any], held_out: Table | None, listener: Listener | None
    ) -> Learned:
        """Learn from the columns that vary, then put in the others and what there is to know about the table."""
        is_searched = self.outliers == "auto" and table.regimes is None  # what was set from outside is no outlier
        outliers, everything = find_outliers(table) if is_searched else None, table
        if outliers is not None:
            table = table.take(np.flatnonzero(~outliers.rows(table.values)))
        is_constant = constant_columns(table.values)
        if is_constant.all():
            raise TableError("All columns of X are constant: there is nothing to learn from.")
        knowledge = Knowledge.of(self.knowledge).masks(table.names).without(is_constant, table.names)
        varying = table.select(~is_constant) if is_constant.any() else table
        _check_free_values(varying)
        if held_out is not None:
            if outliers is not None and not outliers.rows(held_out.values).all():
                held_out = held_out.take(np.flatnonzero(~outliers.rows(held_out.values)))
            held_out = held_out.select(~is_constant)
        config = self.config_type()(**{name: values[name] for name in parameters_of(self.config_type())})
        learned = type(self).learn(varying, knowledge, config, self._generator(), listener, held_out)
        learned = learned.with_shares(explained(varying, learned.dag))
        learned = learned.with_constants(table.names, np.where(is_constant, table.values[0], np.nan))
        learned = replace(learned, columns=table.columns)
        concerns = _concerns(learned, table, varying, checks_noise=self.checks_noise)
        values = {**learned.values, "observed": quartiles(table)}
        if table.regimes is not None:
            values["regimes"] = table.regimes.frame(table.names)
        notes = (*_notes(learned, everything), *learned.notes)
        learned = replace(learned, values=values, notes=notes, concerns=concerns)
        if outliers is None:
            return learned
        learned = with_heavy_tails(learned, everything, outliers)
        return replace(learned, concerns=(outlier_concern(outliers, everything), *concerns))

    def _learn_from_gaps(
        self, table: Table, values: Mapping[str, Any], held_out: Table | None, listener: Listener | None
    ) -> Learned:
        """One fit to each of several completed tables: that in the middle of all, with the frequencies of its edges."""
        seeds = range(self.imputations)
        fits = [self._learn_from(table.completed(seed), values, held_out, listener) for seed in seeds]
        for learned in fits:
            learned.check_not_interrupted()
        counted_fits = Confidence(
            table.names,
            "imputations",
            len(fits),
            np.array([learned.adjacency for learned in fits]),
            np.array([learned.strength for learned in fits]),
            sum(not learned.converged for learned in fits),
        )
        different = [(fit.adjacency != counted_fits.adjacencies).sum() for fit in fits]
        middle = with_frequencies(fits[int(np.argmin(different))], counted_fits)
        matrices = {**middle.matrices, "consensus": counted_fits.consensus()}
        return replace(middle, matrices=matrices, notes=(*table.note_of_gaps, *middle.notes))

    @property
    def _missing_later(self) -> str:
        """What is done with gaps in rows that a model is asked about: they are no rows to be completed."""
        return "drop" if self.missing == "impute" else self.missing

    @classmethod
    def config_type(cls) -> type[Any]:
        """The config that the estimator inherits."""
        return next(
            base for base in cls.__mro__ if dataclasses.is_dataclass(base) and not issubclass(base, BaseEstimator)
        )

    def _generator(self) -> np.random.Generator:
        """Random numbers; a deterministic method draws none."""
        return np.random.default_rng(0)

    def _listening(self, listener: Listener | None) -> Any:
        return progress_line() if self.verbose and listener is None else nullcontext(listener)

    def _keep(self, learned: Learned, *, has_own_names: bool) -> None:
        """Set the fitted attributes: a fit that fails leaves those of an earlier one as they were."""
        self.learned_ = learned
        self.n_features_in_ = len(learned.names)
        if has_own_names:
            self.feature_names_in_ = np.array(learned.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __getattr__(self, name: str) -> Any:
        """What the method knows beyond the properties below: `A_phi_`, `search_`, `frequency_`, ..."""
        is_result = name.endswith("_") and not name.startswith("_")
        learned = self.__dict__.get("learned_")
        if learned is None and is_result and name != "learned_":
            check_is_fitted(self, "learned_")
        if learned is not None and is_result:
            for results in (learned.values, learned.matrices, learned.edge_facts):
                if name[:-1] in results:
                    return results[name[:-1]]
        reason = self._why_untested() if name in _FROM_TESTS else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{reason}")

    def _why_untested(self) -> str:
        """Why there are no tests of edges, in a method that can prune."""
        if "prune" not in parameters_of(type(self)):
            return ""
        return ": it is from pruning, which refine=True replaces." if self.refine else ": it is from pruning."

    def __dir__(self) -> list[str]:
        learned = self.__dict__.get("learned_")
        results = () if learned is None else (learned.values, learned.matrices, learned.edge_facts)
        return sorted({*super().__dir__(), *(f"{name}_" for known in results for name in known)})

    def _fitted(self) -> Learned:
        check_is_fitted(self, "learned_")
        learned: Learned = self.learned_
        return learned

    @property
    def names_(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._fitted().names

    @property
    def adjacency_(self) -> np.ndarray:
        """(d, d) bool, adjacency_[i, j] if and only if i -> j; an undirected edge is there in both directions."""
        return self._fitted().adjacency

    @property
    def strength_(self) -> np.ndarray:
        """(d, d) the method's own measure of how strong an edge is."""
        return self._fitted().strength

    @property
    def is_dag_(self) -> bool:
        """Is the answer a DAG, or an equivalence class of DAGs?"""
        return self._fitted().is_dag

    @property
    def dag_(self) -> np.ndarray:
        """(d, d) bool, the DAG; of an equivalence class, the member whose edges follow the columns where they can."""
        return self._fitted().dag

    @property
    def causal_order_(self) -> list[str]:
        """The names in an order in which every edge of `dag_` points forwards."""
        return [self.names_[node] for node in topological_order(self.dag_)]

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges, strongest first: source, target, strength, and what else the method knows of each."""
        return self._fitted().edges()

    @property
    def graph_(self) -> nx.DiGraph[str]:
        """The graph as a networkx DiGraph with the table's column names; edges carry what `edges_` says of them."""
        return self._fitted().graph

    @property
    def p_values_(self) -> np.ndarray:
        """(d, d) p-values of the edges that the method tested, NaN elsewhere."""
        return self.__getattr__("p_value_")  # type: ignore[no-any-return]

    @property
    def converged_(self) -> bool:
        """Was the method's tolerance met? True for a method that does not iterate."""
        return self._fitted().converged

    @property
    def n_iter_(self) -> int | None:
        """Iterations; None for a method that does not iterate."""
        return self._fitted().n_iter

    @property
    def trace_(self) -> pd.DataFrame | None:
        """How an iterative method got there, one row per evaluation or subproblem; None for others."""
        return self._fitted().trace

    @property
    def notes_(self) -> list[str]:
        """What a reader of the result should know: dropped rows, limits that were reached, how edges were tested."""
        return list(self._fitted().notes)

    @property
    def warnings_(self) -> list[Concern]:
        """Reasons to doubt the graph: records with kind, variables, numbers and message."""
        return list(self._fitted().concerns)

    @property
    def model_(self) -> CausalModel:
        """Graph and conditionals as a model to be used; of an equivalence class, those of `dag_`."""
        model = self._fitted().model
        if model is None:
            advice = ": fit it with retrain=True." if "retrain" in self.get_params() else "."
            raise TrainingError(f"This model has a graph but no conditionals{advice}")
        return model

    def plot(self, around: str | None = None, *, depth: int = 1) -> Drawing:
        """The graph as a drawing: shown in a notebook, or written by `plot().save("graph.svg")`.

        Of a graph with more than 100 nodes or 200 edges it shows the strongest edges, as many as can be read.

        Args:
            around: Show the neighbourhood of this variable instead.
            depth: Number of steps along edges, in any direction, to the furthest of its neighbours.
        """
        return self._fitted().plot(around, depth=depth)

    def _repr_html_(self) -> str:
        """What a notebook shows: the result of a fit; before it, the parameters."""
        learned = self.__dict__.get("learned_")
        if learned is None:
            return str(estimator_html_repr(self))
        return str(learned.html(f"{type(self).__name__}: {learned.size}"))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def sample(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """New rows of the learned distribution."""
        return self.model_.sample(n, random_state)

    def intervene(self, values: Mapping[str, Any]) -> CausalModel:
        """The model in which these variables have been set: `intervene({"PKA": 2.0}).sample(n)`, `.mean()`."""
        return self.model_.intervene(values)

    def average_effect(
        self,
        cause: str,
        outcome: str,
        X: Any = None,
        *,
        resamples: int | Sequence[Any] | None = None,
        interventions: Any = None,
        kind: str = "perfect",
        n_jobs: int | None = -1,
        cluster: str | None = None,
        random_state: Any = 0,
        **options: Any,
    ) -> Effect:
        """The change of the outcome's mean by an intervention on the cause: see `CausalModel.average_effect`.

        Args:
            cause: The variable that is set.
            outcome: The variable that is looked at.
            X: The table that the model was fitted to, for an interval: the method is refitted to bootstrap samples of
                it, graph and curves. Without it, and without fitted models as `resamples`, there is no interval.
            resamples: Number of refits, by default 20, or models that were fitted to resampled rows.
            interventions: Which variables each row of X intervenes on, as in `fit`.
            kind: Of these interventions, as in `fit`.
            n_jobs: Processes for the refits, -1 for all cores.
            cluster: Address of a Dask scheduler whose workers refit instead of this machine.
            random_state: Seed of the refits and of the draws behind the means.
            options: `low`, `high`, `label`, `level` and `n` of `CausalModel.average_effect`.
        """
        model = self.model_
        if resamples is None:
            resamples = () if X is None else _REFITS_OF_AN_EFFECT
        if isinstance(resamples, int):
            if X is None:
                raise ParameterError("resamples", "needs the table to refit to: average_effect(cause, outcome, X).")
            refits = confidence(
                self, X, resamples, random_state=random_state, n_jobs=n_jobs, cluster=cluster, keep_models=True,
                interventions=interventions, intervention_kind=kind,
            )  # fmt: skip
            if refits.ended_by is not None:  # an interval of fewer refits than asked for would say too much
                raise refits.ended_by
            resamples = refits.models
        return model.average_effect(cause, outcome, resamples=resamples, random_state=random_state, **options)

    def log_prob(self, X: Any, *, interventions: Any = None) -> pd.Series:
        """log p(x) of each row of X; with `missing="drop"` or "impute", here and below, of each complete row.

        `interventions` are as in `fit`, here and below: in rows that target j, log p_j does not count.
        """
        return self.model_.log_prob(X, missing=self._missing_later, interventions=interventions)

    def residuals(self, X: Any, *, standardised: bool = False) -> pd.DataFrame:
        """Each value minus its mean given its parents; see `CausalModel.residuals` for labels and counts."""
        return self.model_.residuals(X, standardised=standardised, missing=self._missing_later)

    def check_noise(self, X: Any, *, interventions: Any = None) -> pd.DataFrame:
        """Is the noise of each variable independent of its parents, and Gaussian? One row per variable."""
        return self.model_.check_noise(X, missing=self._missing_later, interventions=interventions)

    def check_interventions(
        self, X: Any, interventions: Any = None, kind: str = "perfect", *, n_jobs: int | None = -1
    ) -> pd.DataFrame:
        """Does the method predict interventions that it has not seen? See `grandag.check_interventions`.

        One row per regime and variable: the regime's means and spreads beside those that a refit to all other regimes
        predicts. The result is kept as `intervention_check_`, for saved models and reports.
        """
        found = check_interventions(self, X, interventions, kind, n_jobs=n_jobs)
        if "learned_" in self.__dict__:
            self.learned_ = with_check(self.learned_, found)
        return found

    def predict(self, X: Any, target: str | None = None) -> Any:
        """The mean of the target given its parents in X; without a target, of every variable given its own.

        Of labels, it is the probability of each.
        """
        if target is None:
            X = self._like_training(X, self._missing_later)
        return self.model_.predict(X, target, missing=self._missing_later)

    def score(self, X: Any, y: Any = None, *, interventions: Any = None) -> float:
        """Mean over the rows of X of log p(x) = sum_j log p_j(x_j | parents), in the units of the table.

        Constant columns have no density and do not count, nor do the targets of a row's interventions; of an
        equivalence class, it is the score of `dag_`. `y` is ignored.
        """
        model = self.model_
        table = self._like_training(X, self._missing_later, interventions=interventions)
        return float(model.log_prob(table).mean())

    def save(self, path: str | Path) -> None:
        """Write the fitted model to one file: arrays and JSON in a zip archive (numpy's npz), nothing pickled."""
        parameters = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        save(path, self._fitted(), self.method, parameters, has_own_names=hasattr(self, "feature_names_in_"))

    @classmethod
    def is_consistent(cls, learned: Learned) -> bool:
        """Do matrices, values and trace of a saved model fit together, as far as this method uses them?"""
        return True

    @classmethod
    def restored(cls, learned: Learned, parameters: Mapping[str, Any], *, has_own_names: bool) -> Self:
        """A fitted estimator from what `save` wrote."""
        model = cls(**parameters)
        model._keep(learned, has_own_names=has_own_names)
        return model

    def _like_training(self, X: Any, missing: str, **interventions: Any) -> Table:
        """The rows of X, which must have the columns of the training table in the same order."""
        learned = self._fitted()
        has_own_names = hasattr(self, "feature_names_in_")
        return _like(X, learned.names, learned.columns, has_own_names, missing, type(self).__name__, **interventions)


@estimator
class StochasticLearner(StructureLearner):
    """Base of estimators whose result depends on random numbers."""

    random_state: Any = parameter(
        None,
        parameters.random_state,
        "Seed, or a numpy generator; the same seed gives the same result, to the bit on one machine.",
    )

    def _generator(self) -> np.random.Generator:
        return as_generator(self.random_state)


def _like(
    X: Any,
    names: tuple[str, ...],
    columns: Sequence[ColumnKind],
    has_own_names: bool,
    missing: str,
    estimator: str,
    **interventions: Any,
) -> Table:
    """The rows of X, checked to have the columns of the training table, with their own interventions."""
    table = as_table(X, missing=missing, kinds=columns or None, min_rows=1, min_columns=1, **interventions)
    if len(table.names) != len(names):
        raise TableError(
            f"X has {len(table.names)} features, but {estimator} is expecting {len(names)} features as input."
        )
    if table.has_own_names and has_own_names and table.names != names:
        raise TableError(
            "The feature names should match those that were passed during fit: X has the columns "
            f"{', '.join(table.names[:10])}, the model {', '.join(names[:10])}; give them in this order."
        )
    return table


def _check_free_values(table: Table) -> None:
    """Refuse variables that vary under interventions only."""
    if table.regimes is None:
        return
    for j in np.flatnonzero(table.regimes.targets.any(axis=0)).tolist():
        if len(np.unique(table.values[table.regimes.are_free(j), j])) < 2:
            raise TableError(
                f"Column {table.names[j]!r} does not vary in rows that do not intervene on it, so that nothing can be "
                "learned about its causes: leave it out (--exclude)."
            )


def _notes(learned: Learned, table: Table) -> list[str]:
    """Notes that come before those of the method itself."""
    notes = [*table.notes]
    if table.regimes is not None:
        notes.append(table.regimes.describe(table.names))
    if len(table.values) > MANY_ROWS:
        notes.append(f"Quartiles are those of {MANY_ROWS:,} of the {len(table.values):,} rows, evenly spread.")
    if not learned.is_dag and learned.conditionals is not None:
        notes.append("Scores, samples and effects are those of one DAG of the equivalence class (dag_).")
    return notes


def _rows_of_each(table: Table) -> int | np.ndarray:
    """How many rows say something about how each variable follows from its parents."""
    return len(table.values) if table.regimes is None else table.regimes.free.sum(axis=0)


def _without_shifts(table: Table) -> np.ndarray:
    """The values without what regimes as such do: columns that different ones shift would seem to depend."""
    if table.regimes is None:
        return table.values
    values = np.array(table.values, dtype=np.float64)
    for rows in table.regimes.members():
        values[rows] -= values[rows].mean(axis=0) if len(rows) else 0.0
    return values


def _concerns(learned: Learned, table: Table, varying: Table, *, checks_noise: bool) -> tuple[Concern, ...]:
    """Reasons to doubt the result, from columns, graph and noise, and from the method itself."""
    copies = copy_concerns(varying)
    ordered = table.select(np.array(table.kinds) != "categorical")  # codes have no order of their own
    known = [concern.variables for concern in copies]
    model = learned.model
    of_table = table_concerns(varying)
    noise, order = [], []
    if model is not None:
        residuals = model.residuals(table.take(np.arange(min(len(table.values), MAX_ROWS))), standardised=True)
        odd = [name for concern in of_table if concern.kind in _OUT_OF_ORDER for name in concern.variables]
        free = None if table.regimes is None else table.regimes.free
        order = order_concerns(residuals.to_numpy(), table.names, odd, free)
    if model is not None and checks_noise:
        is_discrete = discrete_columns(table.values)
        discrete = [name for name, few, kind in zip(table.names, is_discrete, table.kinds, strict=True)
                    if kind in LABELLED or (few and kind == "continuous")]  # fmt: skip
        others = [name for name, kind in zip(table.names, table.kinds, strict=True) if kind != "continuous"]
        noise = noise_concerns(model.check_noise(table), discrete, others)
    return (
        *constant_concerns(table.values, table.names),
        *copies,
        *of_table,
        *learned.concerns,
        *column_concerns(ordered.values, ordered.names, known),
        *isolated_concerns(_without_shifts(table), learned.adjacency, table.names),
        *graph_concerns(learned.dag, table.names, _rows_of_each(table)),
        *imperfect_concerns(table, learned.dag),
        *order,
        *noise,
    )
