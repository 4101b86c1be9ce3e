"""DAG-GNN (Yu, Chen, Gao, Yu 2019): a variational autoencoder whose latent variables are the noise of a DAG.

    encoder  Z = (I - A') f(X),    decoder  X = g((I - A')^-1 Z),    max evidence lower bound  s.t.  h(A) = 0

with h(A) = tr((I + A o A / d)^d) - d, by the augmented Lagrangian method: subproblems of 300 epochs of Adam, then
lambda <- lambda + mu h; mu grows tenfold until h has fallen to a quarter. `engine/autoencoder.py` has the objective as
the released program has it. Rows are put in a random order once, as the program takes them in the order given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from grandag.blas import one_blas_thread
from grandag.distributions import Gaussian
from grandag.engine.autoencoder import Autoencoder, is_network, predict_one, train_epoch
from grandag.knowledge import Masks
from grandag.learned import Convergence, Learned, TrainingError
from grandag.methods.estimator import StochasticLearner, estimator
from grandag.methods.stages.augmented_lagrangian import Multipliers, Solved, minimise_subject_to_h
from grandag.methods.stages.weights import WeightsConfig, cut_weights, open_edges
from grandag.model import Fixed
from grandag.parameters import Choice, PowerOfTen, count, number, parameter, positive, redeclared
from grandag.progress import Listener, Progress
from grandag.table import MANY_ROWS, Scaling, Table, note_of_rows, rows_of, spread

__all__ = ["DAGGNN", "DagGnnConfig", "DagGnnResult", "DagGnnTrace", "DecoderConditional", "dag_gnn", "learn", "refit"]

_SMALLEST_RATE, _LARGEST_RATE = 1e-4, 1e-2
_UNITS = Choice((16, 32, 64, 128, 256))


@dataclass(frozen=True, kw_only=True)
class DagGnnConfig(WeightsConfig):
    """Parameters of DAG-GNN; the defaults are the released program's."""

    n_encoder_units: int = parameter(
        64, count, "Number of hidden units of the encoder.", source="released program", search=_UNITS
    )
    n_decoder_units: int = parameter(
        64, count, "Number of hidden units of the decoder.", source="released program", search=_UNITS
    )
    learning_rate: float = parameter(
        3e-3,
        positive,
        "Learning rate of Adam; divided by the logarithm of the penalty, within 1e-4 and 1e-2.",
        source="released program",
        search=PowerOfTen(-4, -2),
    )
    batch_size: int = parameter(100, count, "Rows per step.", source="released program")
    n_epochs: int = parameter(
        300, count, "Passes over the rows per subproblem, and in retraining.", source="released program"
    )
    max_penalty: float = parameter(
        1e20, number(1), "Largest penalty of the augmented Lagrangian method.", source="released program"
    )
    tolerance: float = redeclared(WeightsConfig, "tolerance", 1e-8, search=Choice((1e-6, 1e-8, 1e-10)))

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

    def __init__(
        self,
        rows: np.ndarray,
        allowed: np.ndarray,
        config: DagGnnConfig,
        rng: np.random.Generator,
        listener: Listener | None = None,
    ) -> None:
        self.rows = np.ascontiguousarray(rng.permutation(rows))
        self.config, self.listener = config, listener
        self.model = Autoencoder(_initial_parameters(rows.shape[1], config, rng), allowed, config.n_encoder_units)
        self.adam_state = np.zeros(2 * self.model.parameters.size + 1)
        self.n_epochs, self.best_loss = 0, math.inf
        self.trace: list[DagGnnTrace] = []

    def run_epoch(self, rate: float, multipliers: Multipliers) -> float:
        """One pass over the rows; the mean loss of its batches without the constraint."""
        terms = multipliers.lagrange_multiplier, multipliers.penalty
        loss = train_epoch(self.model, self.adam_state, self.rows, self.config.batch_size, *terms, rate)
        self.n_epochs += 1
        if not math.isfinite(loss):
            raise TrainingError(
                f"DAG-GNN produced numbers that are not finite at epoch {self.n_epochs}: lower learning_rate, or scale "
                "the columns with standardise=True."
            )
        return loss

    def solve(self, multipliers: Multipliers) -> Solved:
        """The epochs of a subproblem.

        It is stuck, as in the released program, when the loss is twice the lowest of all epochs; that program then
        forgets to look at h again, and can go on to its last subproblem without ever growing the penalty.
        """
        config, loss = self.config, math.inf
        for _ in range(config.n_epochs):
            loss = self.run_epoch(config.rate(multipliers.penalty), multipliers)
            self.best_loss = min(self.best_loss, loss)
        h, penalty = self.model.h, multipliers.penalty
        self.trace.append(DagGnnTrace(h, multipliers.lagrange_multiplier, penalty, -loss, self.n_epochs))
        if self.listener is not None:
            n_steps = round(math.log10(config.max_penalty))
            self.listener(Progress("train", round(math.log10(penalty)), n_steps, h))
        return Solved(h, is_stuck=loss > 2 * self.best_loss)


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
    training = _Training(rows, allowed | np.eye(len(allowed), dtype=bool), config, rng, listener)
    with one_blas_thread():
        converged = minimise_subject_to_h(training.solve, tolerance=config.tolerance, max_penalty=config.max_penalty)
    return DagGnnResult(training.model, converged, training.trace)


def refit(rows: np.ndarray, adjacency: np.ndarray, config: DagGnnConfig, rng: np.random.Generator) -> Autoencoder:
    """The autoencoder of a fixed graph, from scratch: as many epochs as one subproblem has, without constraint."""
    training = _Training(rows, adjacency, config, rng)
    with one_blas_thread():
        for _ in range(config.n_epochs):
            training.run_epoch(config.learning_rate, Multipliers(0.0, 0.0))
    return training.model


@dataclass(frozen=True)
class DecoderConditional:
    """N(mean + scale (offset + g(sum_i weights_i (f(z_i) + shift))), deviation^2), z the scaled parents.

    f and g are the networks of the encoder and the decoder, each in one vector.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    shift: float
    weights: np.ndarray
    offset: float
    parents: Scaling
    mean: float
    scale: float
    deviation: float

    def given(self, parents: np.ndarray) -> Gaussian:
        """The distribution given rows of the parents."""
        scaled = self.parents.apply(parents, "float64")
        predicted = predict_one(self.encoder, self.decoder, self.shift, self.weights, scaled)
        return Gaussian(self.mean + self.scale * (self.offset + predicted), np.full(len(parents), self.deviation))

    def is_consistent(self, n_parents: int) -> bool:
        """One weight per parent, and networks with all their weights."""
        are_networks = is_network(self.encoder) and is_network(self.decoder)
        has_weights = self.weights.shape == (n_parents,) and self.parents.is_consistent(n_parents)
        return are_networks and has_weights and self.scale > 0 and self.deviation > 0


def _conditionals(
    model: Autoencoder, rows: np.ndarray, adjacency: np.ndarray, scaling: Scaling
) -> tuple[DecoderConditional, ...]:
    """Gaussians around the prediction from the parents, with offset and variance of each variable's residuals."""
    residuals = rows - model.predict(rows)
    offset = residuals.mean(axis=0)
    variance = np.maximum(residuals.var(axis=0), 1e-12 * rows.var(axis=0))
    shift, encoder, decoder = model.networks()
    return tuple(
        DecoderConditional(
            encoder=encoder,
            decoder=decoder,
            shift=shift,
            weights=model.weights[is_parent, j],
            offset=float(offset[j]),
            parents=Scaling(scaling.mean[is_parent], scaling.scale[is_parent]),
            mean=float(scaling.mean[j]),
            scale=float(scaling.scale[j]),
            deviation=float(scaling.scale[j] * math.sqrt(variance[j])),
        )
        for j, is_parent in enumerate(adjacency.T)
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: DagGnnConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """Weights by an autoencoder, thresholded; then the autoencoder of the final graph."""
    neighbours_rng, train_rng, refit_rng, refine_rng = rng.spawn(4)
    opened = open_edges(table, knowledge, config, neighbours_rng, listener)
    used = spread(len(table.values), MANY_ROWS)
    rows = opened.scaling.apply(rows_of(table.values, used), "float64")
    result = dag_gnn(rows, opened.allowed, config, train_rng, listener=listener)
    weights = result.model.weights
    cut = cut_weights(weights, table, knowledge, config, refine_rng, listener)
    final = refit(rows, cut.adjacency, config, refit_rng)
    trace = pd.DataFrame(result.trace, columns=list(DagGnnTrace._fields))
    convergence = Convergence(
        result.converged,
        int(trace["n_epochs"].iloc[-1]),
        float(trace["h"].iloc[-1]),
        config.tolerance,
        "Raise max_penalty or n_epochs, or scale the columns with standardise=True,",
    )
    return Learned(
        table.names,
        cut.adjacency,
        cut.strength,
        edge_facts=cut.edge_facts,
        matrices={"weights": weights},
        values={
            "autoencoder_parameters": final.parameters,
            "autoencoder_allowed": final.allowed,
            "autoencoder_units": final.n_encoder_units,
            "table_mean": opened.scaling.mean,
            "table_scale": opened.scaling.scale,
            **cut.values,
        },
        conditionals=_conditionals(final, rows, cut.adjacency, opened.scaling),
        convergence=convergence,
        trace=trace,
        notes=(*opened.notes, *note_of_rows("The autoencoder was trained on", used, table), *cut.notes),
        concerns=(*convergence.concerns(), *cut.concerns),
    )


def _autoencoder(learned: Learned) -> tuple[Autoencoder, Scaling]:
    """The retrained model, and the scale on which it was trained."""
    known = learned.values
    model = Autoencoder(*(known[f"autoencoder_{name}"] for name in ("parameters", "allowed", "units")))
    return model, Scaling(known["table_mean"], known["table_scale"])


@estimator
class DAGGNN(StochasticLearner, DagGnnConfig):
    """Learn a DAG by the variational autoencoder DAG-GNN, for continuous variables.

    One network codes, and one decodes, the values of all variables, so that columns should be on a common scale.
    Neighbour selection and pruning, which the published program does not have, are those of GraN-DAG, and off by
    default.

    Attributes:
        weights_: (d, d) weights A before thresholding; `strength_` is their absolute value.
        n_iter_: Epochs.
        trace_: Data frame with one row per subproblem.

    Example:
        >>> from grandag import DAGGNN, datasets
        >>> model = DAGGNN(n_epochs=30, standardise=True, random_state=1)  # 30 epochs: only an example
        >>> import warnings; warnings.simplefilter("ignore")
        >>> model.fit(datasets.load_sachs().data).graph_
        <networkx.classes.digraph.DiGraph object at ...>
    """

    learn = staticmethod(learn)
    conditional = DecoderConditional

    @classmethod
    def is_consistent(cls, learned: Learned) -> bool:
        """Does the autoencoder have the parameters of its networks, and the table's scaling its columns?"""
        n_varying = sum(not isinstance(conditional, Fixed) for conditional in learned.conditionals or ())
        model, scaling = _autoencoder(learned)
        return model.is_consistent(n_varying) and scaling.is_consistent(n_varying)

    def evidence_lower_bound(self, X: Any) -> float:
        """Mean over the rows of X of -|x - x^|^2 / 2 - |z|^2 / 2, of the retrained model, on the scale of training.

        The held-out score of the published program. Unlike `score` it does not compare with other methods.
        """
        model, scaling = _autoencoder(self._fitted())
        varying = [not isinstance(conditional, Fixed) for conditional in self.model_.conditionals]
        values = self._like_training(X, self._missing_later).values[:, varying]
        return model.evidence_lower_bound(scaling.apply(values, "float64"))
