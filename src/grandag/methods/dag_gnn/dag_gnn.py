"""DAG-GNN (Yu, Chen, Gao, Yu 2019): a variational autoencoder whose latent variables are the noise of a DAG.

    encoder  Z = (I - A') f(X),    decoder  X = g((I - A')^-1 Z),    max evidence lower bound  s.t.  h(A) = 0

with h(A) = tr((I + A o A / d)^d) - d, by the augmented Lagrangian method: subproblems of 300 epochs of Adam, then
lambda <- lambda + mu h; mu grows tenfold until h has fallen to a quarter. `engine/autoencoder.py` has the objective as
the released program has it. Rows are put in a random order once, as the program takes them in the order given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from grandag.engine.autoencoder import Autoencoder, train_epoch
from grandag.engine.compiled import announcing_compilation
from grandag.methods.base import TrainingError
from grandag.methods.stages.linear_gaussian import gaussian_log_density
from grandag.methods.weighted import RULES, WeightedLearner
from grandag.parameters import integer, number
from grandag.progress import Listener, Progress

__all__ = ["DAGGNN", "DagGnnConfig", "DagGnnResult", "DagGnnTrace", "dag_gnn", "refit"]

_SMALLEST_RATE, _LARGEST_RATE = 1e-4, 1e-2


@dataclass(frozen=True)
class DagGnnConfig:
    """The released program's values."""

    n_encoder_units: int = 64
    n_decoder_units: int = 64
    learning_rate: float = 3e-3
    batch_size: int = 100
    n_epochs: int = 300  # per subproblem
    tolerance: float = 1e-8  # on h
    max_penalty: float = 1e20  # of mu
    max_subproblems: int = 100  # updates of lambda
    penalty_growth: float = 10.0
    sufficient_decrease: float = 0.25

    def rate(self, penalty: float) -> float:
        """The learning rate falls as the penalty grows: 3e-3 / log10(mu), between 1e-4 and 1e-2."""
        return min(max(self.learning_rate / (math.log10(penalty) + 1e-10), _SMALLEST_RATE), _LARGEST_RATE)


class DagGnnTrace(NamedTuple):
    """One row per subproblem."""

    h: float
    lagrange_multiplier: float
    penalty: float
    evidence_lower_bound: float  # mean over the last epoch's batches, without constants
    n_epochs: int


class DagGnnResult(NamedTuple):
    """The model at the end of training, before thresholding."""

    model: Autoencoder
    converged: bool
    trace: list[DagGnnTrace]


class _Training:
    """Parameters and the state of Adam, which lives through all subproblems."""

    def __init__(self, rows: np.ndarray, allowed: np.ndarray, config: DagGnnConfig, rng: np.random.Generator) -> None:
        self.rows = np.ascontiguousarray(rng.permutation(rows))
        self.config = config
        self.model = Autoencoder(_initial_parameters(rows.shape[1], config, rng), allowed, config.n_encoder_units)
        self.adam_state = np.zeros(2 * self.model.parameters.size + 1)
        self.lagrange_multiplier, self.penalty = 0.0, 1.0
        self.n_epochs = 0

    def run_epoch(self, rate: float) -> float:
        """One pass over the rows; the mean loss of its batches without the constraint."""
        multipliers = self.lagrange_multiplier, self.penalty
        loss = train_epoch(self.model, self.adam_state, self.rows, self.config.batch_size, *multipliers, rate)
        self.n_epochs += 1
        if not math.isfinite(loss):
            raise TrainingError(
                f"DAG-GNN produced numbers that are not finite at epoch {self.n_epochs}: lower learning_rate, or scale "
                "the columns with standardise=True."
            )
        return loss


def _initial_parameters(d: int, config: DagGnnConfig, rng: np.random.Generator) -> np.ndarray:
    """A = 0 and w = 0; weights N(0, 2 / (fan-in + fan-out)); biases 0, but the encoder's U(-1, 1) / sqrt(fan-in)."""

    def network(n_units: int, hidden_bias: float, output_bias: float) -> list[np.ndarray]:
        weight, output = rng.normal(0, math.sqrt(2 / (1 + n_units)), (2, n_units))
        biases = rng.uniform(-hidden_bias, hidden_bias, n_units), rng.uniform(-output_bias, output_bias, 1)
        return [weight, biases[0], output, biases[1]]

    encoder = network(config.n_encoder_units, 1.0, 1 / math.sqrt(config.n_encoder_units))
    return np.concatenate([np.zeros(d * d + 1), *encoder, *network(config.n_decoder_units, 0.0, 0.0)])


def dag_gnn(
    rows: np.ndarray,
    allowed: np.ndarray,
    config: DagGnnConfig,
    rng: np.random.Generator,
    *,
    listener: Listener | None = None,
) -> DagGnnResult:
    """Train on `rows` (n, d) with the edges that are allowed (allowed[i, j]: may i be a parent of j?).

    The diagonal of A is free, under a penalty of its own, as in the released program.
    """
    training = _Training(rows, allowed | np.eye(len(allowed), dtype=bool), config, rng)
    trace: list[DagGnnTrace] = []
    h, best_loss = math.inf, math.inf
    with threadpool_limits(1, "blas"):
        for _ in range(config.max_subproblems):
            h, best_loss = _reduce_h(training, h, best_loss, trace, listener)
            if h <= config.tolerance or training.penalty >= config.max_penalty:
                break
            training.lagrange_multiplier += training.penalty * h
    return DagGnnResult(training.model, h <= config.tolerance, trace)


def _reduce_h(
    training: _Training, h_before: float, best_loss: float, trace: list[DagGnnTrace], listener: Listener | None
) -> tuple[float, float]:
    """Subproblems with a growing penalty until h is a quarter of what it was; h, and the lowest loss of all epochs.

    Ends early, as the released program, when the loss is twice its best; that program then forgets to look at h again,
    and can go on to its last subproblem without ever growing the penalty.
    """
    config = training.config
    while True:
        loss = math.inf
        for _ in range(config.n_epochs):
            loss = training.run_epoch(config.rate(training.penalty))
            best_loss = min(best_loss, loss)
        h = training.model.h
        multipliers = training.lagrange_multiplier, training.penalty
        trace.append(DagGnnTrace(h, *multipliers, -loss, training.n_epochs))
        if listener is not None:
            n_steps = round(math.log10(config.max_penalty))
            listener(Progress("train", round(math.log10(training.penalty)), n_steps, h))
        is_lower = h <= config.sufficient_decrease * h_before
        if is_lower or loss > 2 * best_loss or training.penalty >= config.max_penalty:
            return h, best_loss
        training.penalty *= config.penalty_growth


def refit(rows: np.ndarray, adjacency: np.ndarray, config: DagGnnConfig, rng: np.random.Generator) -> Autoencoder:
    """The autoencoder of a fixed graph, from scratch: as many epochs as one subproblem has, without constraint."""
    training = _Training(rows, adjacency, config, rng)
    training.penalty = 0.0
    with threadpool_limits(1, "blas"):
        for _ in range(config.n_epochs):
            training.run_epoch(config.learning_rate)
    return training.model


class DAGGNN(WeightedLearner):
    """Learn a DAG by the variational autoencoder DAG-GNN, for continuous variables.

    One network codes, and one decodes, the values of all variables, so that columns should be on a common scale.
    Neighbour selection and pruning, which the published program does not have, are those of GraN-DAG, and off by
    default.

    Args:
        n_encoder_units: Hidden units of the encoder.
        n_decoder_units: Hidden units of the decoder.
        learning_rate: Of Adam; divided by the logarithm of the penalty, within 1e-4 and 1e-2.
        batch_size: Rows per step.
        n_epochs: Passes over the rows per subproblem, and of retraining.
        weight_threshold: Edges with a smaller absolute weight are dropped. If a cycle is left, the weakest edges go
            until there is none.
        tolerance: On h = tr((I + A o A / d)^d) - d.
        max_penalty: Where the penalty of the augmented Lagrangian method ends.
        standardise: Scale columns to mean 0 and variance 1 first; the published program does not.
        neighbour_selection: Select candidate parents by trees first: True, False, or "auto": from 50 variables on.
        neighbour_threshold: Candidates have at least this multiple of the mean importance.
        n_trees: Trees per variable for that.
        prune: Drop edges that are not significant in an additive regression of each variable on its parents.
        prune_cutoff: Edges with a p-value below this stay.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        n_jobs: Threads of neighbour selection, -1 for all cores. Results do not depend on it.
        random_state: Seed; the same seed gives the same result to the bit on one machine.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, adjacency_[i, j] if and only if i -> j. Always a DAG.
        graph_: The same as a networkx DiGraph with the column names and what is known of each edge.
        edges_: The same as a pandas data frame: source, target, strength; p_value, degrees_of_freedom if pruned.
        weights_: (d, d) weights A before thresholding; `strength_` is their absolute value.
        converged_: Was the constraint met?
        n_iter_: Epochs.
        trace_: Data frame with one row per subproblem.
        causal_order_: Names, parents before children.
        notes_: What a reader of the result should know.

    Example:
        >>> from grandag import DAGGNN, datasets
        >>> model = DAGGNN(n_epochs=30, standardise=True, random_state=1)  # 30 epochs: only an example
        >>> import warnings; warnings.simplefilter("ignore")
        >>> model.fit(datasets.load_sachs().data).graph_
        <networkx.classes.digraph.DiGraph object at ...>
    """

    _rules = {  # noqa: RUF012 (typed in the base class)
        **RULES,
        "n_encoder_units": integer(1),
        "n_decoder_units": integer(1),
        "learning_rate": number(0, open_minimum=True),
        "batch_size": integer(1),
        "n_epochs": integer(1),
    }
    method = "dag-gnn"

    def __init__(
        self,
        *,
        n_encoder_units: int = 64,
        n_decoder_units: int = 64,
        learning_rate: float = 3e-3,
        batch_size: int = 100,
        n_epochs: int = 300,
        weight_threshold: float = 0.3,
        tolerance: float = 1e-8,
        max_penalty: float = 1e20,
        standardise: bool = False,
        neighbour_selection: bool | str = False,
        neighbour_threshold: float = 0.75,
        n_trees: int = 500,
        prune: bool = False,
        prune_cutoff: float = 0.001,
        knowledge: Any = None,
        missing: str = "error",
        n_jobs: int | None = -1,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_encoder_units = n_encoder_units
        self.n_decoder_units = n_decoder_units
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.weight_threshold = weight_threshold
        self.tolerance = tolerance
        self.max_penalty = max_penalty
        self.standardise = standardise
        self.neighbour_selection = neighbour_selection
        self.neighbour_threshold = neighbour_threshold
        self.n_trees = n_trees
        self.prune = prune
        self.prune_cutoff = prune_cutoff
        self.knowledge = knowledge
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def evidence_lower_bound(self, X: Any) -> float:
        """Mean over the rows of X of -|x - x^|^2 / 2 - |z|^2 / 2, of the retrained model, on the scale of training.

        The held-out score of the published program. Unlike `score` it does not compare with other methods.
        """
        check_is_fitted(self, "adjacency_")
        values = self._values_like_training(X, missing=self.missing)[:, self._varying_]
        return self._conditionals_.evidence_lower_bound(self._scaling_.apply(values, "float64"))

    def _config(self) -> DagGnnConfig:
        return DagGnnConfig(
            n_encoder_units=self.n_encoder_units,
            n_decoder_units=self.n_decoder_units,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            n_epochs=self.n_epochs,
            tolerance=self.tolerance,
            max_penalty=self.max_penalty,
        )

    def _learn_weights(
        self, values: np.ndarray, allowed: np.ndarray, rng: np.random.Generator, listener: Listener | None
    ) -> np.ndarray:
        with announcing_compilation():
            result = dag_gnn(values, allowed, self._config(), rng, listener=listener)
        self.trace_ = pd.DataFrame(result.trace, columns=list(DagGnnTrace._fields))
        self.n_iter_ = int(self.trace_["n_epochs"].iloc[-1])
        self._keep_convergence(result.converged, float(self.trace_["h"].iloc[-1]), "max_penalty or n_epochs")
        return result.model.weights

    def _retrain(self, values: np.ndarray, adjacency: np.ndarray, rng: np.random.Generator) -> None:
        self._conditionals_ = refit(values, adjacency, self._config(), rng)
        residuals = values - self._conditionals_.predict(values)
        self._offset_ = residuals.mean(axis=0)
        self._variance_ = np.maximum(residuals.var(axis=0), 1e-12 * values.var(axis=0))

    def _log_density(self, values: np.ndarray) -> float:
        """Gaussian conditionals around the prediction from the parents, with offset and variance of each variable."""
        errors = values - self._conditionals_.predict(values) - self._offset_
        return gaussian_log_density((errors**2).mean(axis=0), self._variance_)

    def _model_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        model = self._conditionals_
        arrays = {
            "trace": self.trace_.to_numpy(dtype=np.float64),
            "parameters": model.parameters,
            "allowed": model.allowed,
            "offset": self._offset_,
            "variance": self._variance_,
        }
        return arrays, {"n_encoder_units": model.n_encoder_units}

    def _restore_model(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self.trace_ = pd.DataFrame(arrays["trace"], columns=list(DagGnnTrace._fields)).astype({"n_epochs": int})
        self._conditionals_ = Autoencoder(arrays["parameters"], arrays["allowed"], values["n_encoder_units"])
        self._offset_, self._variance_ = arrays["offset"], arrays["variance"]
