"""GraN-DAG as an estimator: neighbours -> train -> threshold -> prune -> retrain, and the presets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from grandag import parameters
from grandag.diagnostics import Concern
from grandag.engine.compiled import announcing_compilation
from grandag.engine.density import DENSITIES
from grandag.engine.network import ACTIVATIONS, Networks, Shape
from grandag.engine.training import expected_jacobian
from grandag.gam import SplineTable
from grandag.graph import is_acyclic
from grandag.methods.base import NotConvergedWarning, TrainingError, as_generator
from grandag.methods.generative import GenerativeLearner
from grandag.methods.grandag.conditionals import NetworkConditional, network_conditionals
from grandag.methods.grandag.retrain import RetrainConfig, RetrainResult, retrain
from grandag.methods.grandag.train import NetworkConfig, Outcome, Trace, TrainConfig, TrainResult, train
from grandag.methods.stages.neighbours import IMPLEMENTATIONS, NeighboursConfig
from grandag.methods.stages.threshold import threshold
from grandag.parameters import boolean, integer, number, one_of
from grandag.progress import Listener
from grandag.table import Scaling, Table, split_rows

__all__ = ["PRESETS", "GraNDAG"]

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "density": "additive-gaussian",
        "n_layers": 2,  # appendix "Hyperparameters", as the next five
        "n_units": 10,
        "activation": "leaky-relu",
        "learning_rate": 1e-2,
        "later_learning_rate": 1e-4,
        "batch_size": 64,
        "mask_threshold": 1e-4,  # section "Thresholding"
        "weight_threshold": 0.0,
        "tolerance": 1e-8,  # appendix "Optimization"
        "subproblem_tolerance": 1e-4,  # the released program, as all below but neighbour selection
        "max_iterations": 100_000,
        "neighbour_selection": "auto",  # appendix "Preliminary neighborhood selection", as the next two
        "neighbour_threshold": 0.75,
        "n_trees": 500,  # by our own trees, which select the same: docs/neighbours.md
        "neighbour_trees": "compiled",
        "max_neighbour_rows": 10**9,
        "prune": True,
        "prune_cutoff": 0.001,  # appendix "DAG Pruning"
        "standardise": False,
        "held_out_fraction": 0.2,
        "max_held_out": 10**9,
        "max_jacobian_rows": 10**9,
        "dtype": "float32",
    },
}
"""The default differs from the paper where it was measured to be better: see docs/method.md."""

_VARIABLES_PER_THREAD = 8
"""Fewer networks than this per thread are not worth the threads' meeting."""

_RULES = {
    "density": one_of(*DENSITIES),
    "n_layers": integer(0),
    "n_units": integer(1),
    "activation": one_of(*ACTIVATIONS),
    "learning_rate": number(0, open_minimum=True),
    "later_learning_rate": number(0, open_minimum=True),
    "batch_size": integer(1),
    "mask_threshold": number(0),
    "weight_threshold": number(0),
    "tolerance": number(0),
    "subproblem_tolerance": number(0),
    "max_iterations": integer(1),
    "neighbour_selection": one_of("auto", True, False),
    "neighbour_threshold": number(0),
    "n_trees": integer(1),
    "neighbour_trees": one_of(*IMPLEMENTATIONS),
    "max_neighbour_rows": integer(2),
    "prune": boolean,
    "prune_cutoff": number(0, 1),
    "retrain": boolean,
    "standardise": boolean,
    "knowledge": parameters.knowledge,
    "missing": one_of("error", "drop"),
    "held_out_fraction": number(0, 0.9, open_minimum=True),
    "max_held_out": integer(1),
    "max_jacobian_rows": integer(1),
    "dtype": one_of("float32", "float64"),
    "record_A_phi": boolean,
    "n_jobs": parameters.n_jobs,
    "random_state": parameters.random_state,
    "verbose": boolean,
}


class _Data(NamedTuple):
    """The columns that vary, scaled: rows to train on, and rows that decide when to stop."""

    rows: np.ndarray
    held_out: np.ndarray


class GraNDAG(GenerativeLearner):
    """Learn a DAG and its conditional distributions by gradient-based neural DAG learning.

    One small network per variable gives the parameters of its conditional density; the graph is in the weights, and
    tr(e^A) - d = 0 makes it acyclic (Lachapelle, Brouillard, Deleu, Lacoste-Julien: Gradient-Based Neural DAG
    Learning, ICLR 2020). `GraNDAG.preset("paper")` is the authors' released recipe to the letter.

    Args:
        density: "additive-gaussian" (GraN-DAG: one noise variance per variable) or "gaussian" (GraN-DAG++: mean and
            variance depend on the parents).
        n_layers: Hidden layers of each network; 0 is a linear model.
        n_units: Units per hidden layer.
        activation: "leaky-relu", or the smooth "squareplus".
        learning_rate: Of the first subproblem and of retraining.
        later_learning_rate: Of all other subproblems.
        batch_size: Rows per iteration.
        mask_threshold: Inputs whose entry of A_phi falls to this value are masked for good.
        weight_threshold: After training, edges with a smaller entry of A_phi are dropped, before any other. The paper's
            ablation has 0.3 in place of neighbour selection and pruning.
        tolerance: Training ends when h = tr(e^A) - d is at most this.
        subproblem_tolerance: A subproblem ends when the held-out objective changes by less than this per iteration.
        max_iterations: Of training, and of retraining.
        neighbour_selection: Select candidate parents by trees first: True, False, or "auto": from 50 variables on.
        neighbour_threshold: Candidates have at least this multiple of the mean importance.
        n_trees: At most this many trees per variable for that; fewer where the decisions are clear.
        neighbour_trees: "compiled", or "scikit-learn": the reference, with all `n_trees` and far slower.
        max_neighbour_rows: At most this many rows enter the trees.
        prune: Drop edges that are not significant in an additive regression of each variable on its parents.
        prune_cutoff: Edges with a p-value below this stay.
        retrain: Fit the conditionals of the final graph; needed for `score`.
        standardise: Scale columns to mean 0 and variance 1, so that units do not matter.
        knowledge: Edges that cannot or must be: a `Knowledge`, its fields in a dictionary, or a file with them.
        missing: "error", or "drop" rows with missing or infinite values.
        held_out_fraction: Part of the rows that decides when to stop, and is not trained on; without meaning if such
            rows are given to `fit`, as its argument `held_out`.
        max_held_out: At most this many rows are held out.
        max_jacobian_rows: At most this many training rows enter the expected Jacobian.
        dtype: Precision of training, "float32" or "float64".
        record_A_phi: Keep all of A_phi at every evaluation, in `A_phi_trace_`.
        n_jobs: Threads, -1 for all cores; used where they pay. Results do not depend on it.
        random_state: Seed; the same seed gives the same result to the bit on one machine.
        verbose: Show a progress line on a terminal.

    Attributes:
        adjacency_: (d, d) bool, adjacency_[i, j] if and only if i -> j. Always a DAG.
        graph_: The same as a networkx DiGraph with the column names; edges carry strength, p-value and degrees of
            freedom.
        edges_: The same as a pandas data frame: source, target, strength, p_value, degrees_of_freedom; strongest
            first. The last two are there if pruning is on.
        causal_order_: Names, parents before children.
        expected_jacobian_: (d, d) mean of |d log p_j / d x_i|, the strength of i -> j.
        p_values_: (d, d) of the edges that pruning tested, NaN elsewhere.
        degrees_of_freedom_: (d, d) effective ones of their curves; 1 is a straight line.
        A_phi_: (d, d) weighted adjacency matrix at the end of training.
        mask_: (d, d) bool, inputs that training left open; `adjacency_` is a part of it.
        converged_: Was the constraint met?
        n_iter_: Iterations of training.
        trace_: Data frame with one row per evaluation.
        held_out_log_likelihood_: Of the retrained model: mean over held-out rows of the joint log-density, in the
            units of the table.
        notes_: What a reader of the result should know: constant columns, dropped rows, caps.
        warnings_: What speaks against trusting the graph: a list of records with kind, variables, numbers and message.
        model_: Graph and conditionals as a `CausalModel`, whose methods the estimator has, too: `sample`, `intervene`,
            `average_effect`, `log_prob`, `residuals`, `check_noise`, `predict`.

    Example:
        >>> from grandag import GraNDAG, datasets
        >>> model = GraNDAG(n_layers=1, max_iterations=2000, random_state=1)  # 2,000 iterations: only an example
        >>> import warnings; warnings.simplefilter("ignore")
        >>> model.fit(datasets.load_sachs().data).graph_
        <networkx.classes.digraph.DiGraph object at ...>
    """

    presets = PRESETS
    _rules = _RULES
    _path_scale = 1.0  # of A_phi, see engine/connectivity.py; of interest to the ablation only, so not a parameter

    def __init__(
        self,
        *,
        density: str = "additive-gaussian",
        n_layers: int = 2,
        n_units: int = 10,
        activation: str = "leaky-relu",
        learning_rate: float = 1e-2,
        later_learning_rate: float = 1e-3,
        batch_size: int = 64,
        mask_threshold: float = 1e-4,
        weight_threshold: float = 0.0,
        tolerance: float = 1e-8,
        subproblem_tolerance: float = 1e-4,
        max_iterations: int = 100_000,
        neighbour_selection: bool | str = "auto",
        neighbour_threshold: float = 0.75,
        n_trees: int = 500,
        neighbour_trees: str = "compiled",
        max_neighbour_rows: int = 20_000,
        prune: bool = True,
        prune_cutoff: float = 0.001,
        retrain: bool = True,
        standardise: bool = True,
        knowledge: Any = None,
        missing: str = "error",
        held_out_fraction: float = 0.2,
        max_held_out: int = 5000,
        max_jacobian_rows: int = 20_000,
        dtype: str = "float32",
        record_A_phi: bool = False,
        n_jobs: int | None = -1,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.density = density
        self.n_layers = n_layers
        self.n_units = n_units
        self.activation = activation
        self.learning_rate = learning_rate
        self.later_learning_rate = later_learning_rate
        self.batch_size = batch_size
        self.mask_threshold = mask_threshold
        self.weight_threshold = weight_threshold
        self.tolerance = tolerance
        self.subproblem_tolerance = subproblem_tolerance
        self.max_iterations = max_iterations
        self.neighbour_selection = neighbour_selection
        self.neighbour_threshold = neighbour_threshold
        self.n_trees = n_trees
        self.neighbour_trees = neighbour_trees
        self.max_neighbour_rows = max_neighbour_rows
        self.prune = prune
        self.prune_cutoff = prune_cutoff
        self.retrain = retrain
        self.standardise = standardise
        self.knowledge = knowledge
        self.missing = missing
        self.held_out_fraction = held_out_fraction
        self.max_held_out = max_held_out
        self.max_jacobian_rows = max_jacobian_rows
        self.dtype = dtype
        self.record_A_phi = record_A_phi
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def method(self) -> str:
        """The name in the registry."""
        return "grandag++" if self.density == "gaussian" else "grandag"

    @property
    def expected_jacobian_(self) -> np.ndarray:
        """J_ij = E |d log p_j / d x_i|, the strength of edges."""
        check_is_fitted(self, "adjacency_")
        return self.strength_

    def _varying_conditionals(self) -> list[NetworkConditional] | None:
        return None if self._conditionals_ is None else network_conditionals(self._conditionals_, self._scaling_)

    def _n_threads(self) -> int:
        n_variables = int(self._varying_.sum())
        return max(1, min(int(effective_n_jobs(self.n_jobs)), n_variables // _VARIABLES_PER_THREAD))

    def _learn(self, table: Table, listener: Listener | None) -> None:
        with announcing_compilation():
            self._run_stages(self._varying_values(table), listener)

    def _run_stages(self, values: np.ndarray, listener: Listener | None) -> None:
        split_rng, neighbours_rng, train_rng, retrain_rng = as_generator(self.random_state).spawn(4)
        data = self._prepare(values, split_rng)
        network = NetworkConfig(
            self.n_layers, self.n_units, self.activation, self.density, self.dtype, self._path_scale
        )
        n_threads = self._n_threads()
        selection = NeighboursConfig(
            self.n_trees, self.neighbour_threshold, self.neighbour_trees, self.max_neighbour_rows
        )
        selection_rows = np.concatenate(data) if self._held_out is None else data.rows
        open_inputs = self._open_inputs(
            selection_rows, self.neighbour_selection, selection, neighbours_rng, self.n_jobs, listener
        )
        allowed, required = self._knowledge()
        mask = (open_inputs & allowed) | required
        training = TrainConfig(
            learning_rate=self.learning_rate,
            later_learning_rate=self.later_learning_rate,
            batch_size=self.batch_size,
            mask_threshold=self.mask_threshold,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            subproblem_tolerance=self.subproblem_tolerance,
        )
        result = train(
            *data, mask, network, training, train_rng, required=required, n_threads=n_threads,
            record_A_phi=self.record_A_phi, listener=listener,
        )  # fmt: skip
        self._keep_training(result)
        jacobian_rows = data.rows[: self.max_jacobian_rows]
        if len(jacobian_rows) < len(data.rows):
            self.notes_.append(f"The strength of edges is from {len(jacobian_rows):,} of the training rows.")
        jacobian = expected_jacobian(result.networks, jacobian_rows, n_threads)
        strong = result.networks.mask & (result.A_phi >= self.weight_threshold)
        adjacency = threshold(jacobian, strong, required)
        if self.prune:
            adjacency = self._prune(SplineTable(values), adjacency, self.prune_cutoff, listener)
        self._conditionals_: Networks | None = None
        if self.retrain:
            retraining = RetrainConfig(self.learning_rate, self.batch_size, self.max_iterations)
            final = retrain(*data, adjacency, network, retraining, retrain_rng, n_threads=n_threads, listener=listener)
            self._keep_conditionals(final)
        if is_acyclic(mask):
            self.notes_.append("The inputs open to begin with had no cycle: strengths are from retraining, if any.")
            jacobian = expected_jacobian(self._conditionals_ or result.networks, jacobian_rows, n_threads)
        self.strength_ = self._for_all_columns(jacobian)
        self.adjacency_ = self._for_all_columns(adjacency)

    def _prepare(self, values: np.ndarray, rng: np.random.Generator) -> _Data:
        """Scale, warn of copies, and split, unless rows to be held out were given to `fit`."""
        self._warn_of_copies(values)
        self._scaling_ = Scaling.standard(values) if self.standardise else Scaling.identity(values.shape[1])
        scaled = self._scaling_.apply(values, self.dtype)
        if self._held_out is not None:
            held_out = self._scaling_.apply(self._held_out[:, self._varying_], self.dtype)
            return _Data(rng.permutation(scaled), held_out)  # the first rows are to be a random sample, as in a split
        n = len(scaled)
        train_rows, held_out_rows = split_rows(n, min(self.held_out_fraction, self.max_held_out / n), rng)
        if len(held_out_rows) < round(self.held_out_fraction * n):
            self.notes_.append(f"{len(held_out_rows):,} of the {n:,} rows are held out (max_held_out).")
        return _Data(scaled[train_rows], scaled[held_out_rows])

    def _keep_training(self, result: TrainResult) -> None:
        """Fitted attributes of the training stage; raises or warns if it did not end well."""
        if result.outcome is Outcome.NOT_FINITE:
            raise TrainingError(
                f"Training produced numbers that are not finite at iteration {result.n_iterations}: lower "
                "learning_rate, and leave standardise=True unless the columns are on a common scale near 1."
            )
        self.A_phi_ = self._for_all_columns(result.A_phi)
        self.mask_ = self._for_all_columns(result.networks.mask)
        self.n_iter_ = result.n_iterations
        self.converged_ = result.outcome is Outcome.CONVERGED
        self.trace_ = pd.DataFrame(result.trace, columns=list(Trace._fields))
        if self.record_A_phi:
            self.A_phi_trace_ = np.array([self._for_all_columns(A) for A in result.A_phi_trace])
        if not self.converged_:
            h = self.trace_["h"].iloc[-1]
            message = (
                f"The graph was not acyclic after {result.n_iterations:,} iterations (h = {h:.1e}, tolerance "
                f"{self.tolerance:.0e}); weak edges were removed until it was. Raise max_iterations, or "
                "subproblem_tolerance, before you rely on it."
            )
            numbers = {"h": float(h), "tolerance": self.tolerance, "iterations": result.n_iterations}
            self._warn(Concern("not converged", (), numbers, message), NotConvergedWarning)

    def _keep_conditionals(self, result: RetrainResult) -> None:
        """Fitted attributes of the retraining stage; raises if there is nothing to keep."""
        if not np.isfinite(result.held_out_log_likelihood):
            raise TrainingError(
                f"Retraining produced numbers that are not finite at iteration {result.n_iterations}: lower "
                "learning_rate, or leave it out with retrain=False."
            )
        if result.outcome is Outcome.NOT_FINITE:
            message = (
                f"Retraining broke down at iteration {result.n_iterations:,}; its best conditionals are kept. Lower "
                "learning_rate before you use them."
            )
            self._warn(Concern("retraining broke down", (), {"iterations": result.n_iterations}, message))
        self._conditionals_ = result.networks
        joint = result.held_out_log_likelihood * result.networks.shape.n_variables
        self.held_out_log_likelihood_ = self._in_table_units(joint)

    def _in_table_units(self, joint_log_likelihood: float) -> float:
        """log p(x) = log p(z) - sum_j log scale_j for z = (x - mean) / scale."""
        return joint_log_likelihood - float(np.log(self._scaling_.scale).sum())

    def _fitted_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays = {
            "A_phi": self.A_phi_,
            "mask": self.mask_,
            "varying": self._varying_,
            "constants": self._constants_,
            "mean": self._scaling_.mean,
            "scale": self._scaling_.scale,
            "trace": self.trace_.to_numpy(dtype=np.float64),
        }
        if hasattr(self, "A_phi_trace_"):
            arrays["A_phi_trace"] = self.A_phi_trace_
        values: dict[str, Any] = {"converged": self.converged_, "n_iter": self.n_iter_, "notes": self.notes_}
        if self._conditionals_ is not None:
            networks = self._conditionals_
            arrays |= {"parameters": networks.parameters, "inputs": networks.inputs, "n_inputs": networks.n_inputs}
            values |= {"shape": list(networks.shape), "held_out": self.held_out_log_likelihood_}
        return arrays, values

    def _restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        self.A_phi_, self.mask_, self._varying_ = arrays["A_phi"], arrays["mask"], arrays["varying"]
        self._constants_ = arrays["constants"]
        self._scaling_ = Scaling(arrays["mean"], arrays["scale"])
        self.trace_ = pd.DataFrame(arrays["trace"], columns=list(Trace._fields)).astype(
            {"iteration": int, "n_edges": int}
        )
        self.converged_, self.n_iter_, self.notes_ = values["converged"], values["n_iter"], values["notes"]
        if "A_phi_trace" in arrays:
            self.A_phi_trace_ = arrays["A_phi_trace"]
        self._conditionals_ = None
        if "shape" in values:
            shape = Shape(*values["shape"])
            self._conditionals_ = Networks(shape, arrays["parameters"], arrays["inputs"], arrays["n_inputs"])
            self.held_out_log_likelihood_ = values["held_out"]
