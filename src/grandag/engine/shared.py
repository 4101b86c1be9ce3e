"""One network for all variables, whose hidden units all groups of outputs share: MADE with a mask that is learned.

The paper (section 4) has it as a remark: a single network that reads all variables and whose outputs are the parameters
of all conditionals. If it were dense, every input would be on a path to every output. MADE (Germain et al. 2015) cuts
paths by masks that follow from a fixed order of the variables. Here the order is not known, and the mask is a matrix of
learned gates between the inputs and the groups of outputs:

    theta_(j) = V_(j) g( W^(L) ... g(W^(1) (G_(j) * x) + b^(1)) ... + b^(L)) + c_(j),      G_jj = 0

G_(j) * x is the element-wise product with column j of the gates; W, b are those of all groups, V_(j), c_(j) those of
group j. A path from input i to an output of group j goes through the gate G_ij, which is one of its weights, so that

    C = |V_(j)| |W^(L)| ... |W^(1)|,      A_ij = c |G_ij| sum_k C_ki / (m H^L)

is the sum over paths that `connectivity.py` has of a network with the first layer W^(1) diag(G_(j)). As long as the
gates differ, hidden units have other values for each group, so that all of them are evaluated for each group in turn:
the work is that of separate networks, the parameters are far fewer.

So, `Networks` stay what they were. Row j has the weights as group j sees them, and everything that only reads them
(likelihood, A_phi, Jacobian) knows of nothing else. Training differs in the step. With the derivatives D_(j) with
respect to the first layer of group j,

    d/dG_ij = sum_h D_(j)hi W^(1)_hi,      d/dW^(1)_hi = sum_j D_(j)hi G_ij,      d/dW^(l) = sum_j d/dW^(l)_(j)

Gates start at 1. The gate of an input that is read in several columns is one for all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.connectivity import add_connectivity_gradient
from grandag.engine.network import (
    COLUMNS_OF,
    READS,
    Networks,
    constants_at,
    row_of,
    shape_of,
    weights_at,
    weights_of,
    xavier_bound,
)
from grandag.engine.optimiser import rmsprop
from grandag.engine.threads import run_together, share, wait
from grandag.engine.training import (
    CALLED_OFF,
    FINISHED,
    Objective,
    Trainer,
    begin_iteration,
    conclude,
    count_small,
    drop_inputs,
    fill_adjacency,
    fill_column_slope,
    fill_likelihood_gradient,
    first_variable,
    left_of,
)
from grandag.engine.vectors import padded, view

__all__ = ["Shared", "SharedTrainer", "new_shared", "part_of_gates", "spread", "sum_of_groups"]


class Shared(NamedTuple):
    """What groups have in common, and the gates; then derivatives of the same shapes, and the state of RMSprop."""

    first: np.ndarray  # (H, columns) W^(1) by row of the batch: b^(1) at the row of ones, 0 at that of zeros
    hidden: np.ndarray  # (L - 1, H, units) W^(2) ... W^(L), biases in column 0
    gates: np.ndarray  # (d, variables) G_ij in row j
    first_gradient: np.ndarray
    hidden_gradient: np.ndarray
    gates_gradient: np.ndarray
    first_square: np.ndarray
    hidden_square: np.ndarray
    gates_square: np.ndarray
    gradients: np.ndarray  # (d, n_parameters) of each group with respect to its row of `Networks.parameters`


def new_shared(networks: Networks, rng: np.random.Generator) -> Shared:
    """Weights drawn as those of one network, and gates that are all 1; hidden layers of the networks become theirs."""
    shape, dtype = networks.shape, networks.parameters.dtype
    d, n_units = shape.n_variables, shape.n_units
    first = np.zeros((n_units, padded(shape.n_columns + 2)), dtype)
    hidden = np.zeros((shape.n_layers - 1, n_units, padded(n_units + 1)), dtype)
    first[:, : shape.n_columns] = _draw(xavier_bound(shape, 0), (n_units, shape.n_columns), rng)
    for layer, weights in enumerate(hidden, start=1):
        weights[:, 1 : n_units + 1] = _draw(xavier_bound(shape, layer), (n_units, n_units), rng)
    gates = np.zeros((d, padded(d)), dtype)
    gates[:, :d] = networks.mask.T
    parts = first, hidden, gates
    shared = Shared(*parts, *map(np.zeros_like, (*parts, *parts, networks.parameters)))
    for j in range(d):
        spread(networks, shared, j)
    return shared


def _draw(bound: float, size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-bound, bound, size=size)


class SharedTrainer(Trainer):
    """Iterations on networks that are one: as those of `Trainer`, but for what a step changes."""

    def __init__(
        self, networks: Networks, rows: Any, batch_size: int, rng: np.random.Generator, *args: Any, **kwargs: Any
    ) -> None:
        self.shared = new_shared(networks, rng)
        super().__init__(networks, rows, batch_size, rng, *args, **kwargs)

    def _iterate(self, objective: Objective, n_iterations: int) -> int:
        return int(
            run_together(
                iterate_shared, self.workers, self.networks, self.state, self.shared, self.rows, self.batch_size,
                objective, n_iterations, barrier=self.state.barrier,
            )
        )  # fmt: skip

    def restart_optimiser(self) -> None:
        """Forget the running means of squared gradients."""
        super().restart_optimiser()
        for squares in (self.shared.first_square, self.shared.hidden_square, self.shared.gates_square):
            squares[:] = 0


@compiled
def iterate_shared(thread, n_threads, worker, networks, state, shared, rows, batch_size, objective, n_iterations):
    """Up to `n_iterations` iterations, all threads together: each has some of the groups, and of the hidden units."""
    first = first_variable(networks, thread, n_threads)
    last = first_variable(networks, thread + 1, n_threads)
    first_unit, last_unit = share(networks.shape.n_units, thread, n_threads)
    if not wait(state.barrier, n_threads):
        return CALLED_OFF
    scale, rate = -1 / (batch_size * networks.shape.n_variables), objective.learning_rate
    for j in range(first, last):
        fill_adjacency(networks, state, j)
    for _ in range(n_iterations):
        h = begin_iteration(networks, state, worker, rows, batch_size, objective, thread, n_threads)
        multiplier, pull = objective.lagrange_multiplier + objective.penalty * h, -objective.sparsity * batch_size
        for j in range(first, last):
            gradient = row_of(shared.gradients, j)
            state.log_likelihood[j] = fill_likelihood_gradient(networks, worker.workspace, gradient, batch_size, j)
            if h > 0:
                fill_column_slope(networks, state, multiplier / scale, pull, j, worker.column_slope)
                add_connectivity_gradient(
                    networks, left_of(state.left, j), worker.column_slope, worker.right, gradient, j
                )
            part_of_gates(networks, shared, j)
            step_group(networks, shared, state.mean_square, scale, rate, j)
        wait(state.barrier, n_threads)
        for unit in range(first_unit, last_unit):
            sum_of_groups(networks, shared, unit)
            step_unit(shared, scale, rate, unit)
        wait(state.barrier, n_threads)
        for j in range(first, last):
            if objective.is_constrained:
                update_inputs(networks, state, objective.mask_threshold, j)
            spread(networks, shared, j)
            fill_adjacency(networks, state, j)
        wait(state.barrier, n_threads)
        outcome = conclude(state.totals, state.log_likelihood, h, objective, thread)
        if outcome != FINISHED:
            return outcome
    return FINISHED


@inlined
def update_inputs(networks, state, epsilon, j):
    """Mask the inputs of group j whose A_ij, from before the step, is at most epsilon."""
    first = state.n_kept[j] + 1
    if count_small(row_of(state.column, j), first, networks.n_inputs[j], epsilon) > 0:
        drop_inputs(networks, state.mean_square, state.A, state.column, first, epsilon, j)
        state.mask_has_changed[j] = True


@compiled
def spread(networks, shared, j):
    """Fill the hidden layers of network j: W^(1) diag(G_(j)), and the others as they are."""
    shape, n_reads = shape_of(networks, j), networks.sizes[j, READS]
    parameters, reads, inputs = row_of(networks.parameters, j), row_of(networks.reads, j), row_of(networks.inputs, j)
    weights = weights_of(shape, parameters, n_reads, 0)
    for unit in range(shape.n_units):
        weights[unit, 0] = shared.first[unit, reads[0]]
        q = 1
        for p in range(1, networks.n_inputs[j] + 1):
            gate = shared.gates[j, inputs[p]]
            for _ in range(networks.sizes[inputs[p], COLUMNS_OF]):
                weights[unit, q] = gate * shared.first[unit, reads[q]]
                q += 1
    hidden, start = view(shared.hidden, 0, (shared.hidden.size,)), weights_at(shape, 1)
    for k in range(hidden.size):
        parameters[start + k] = hidden[k]


@compiled
def part_of_gates(networks, shared, j):
    """From derivatives with respect to W^(1) diag(G_(j)) to those with respect to W^(1), in place, and to gates."""
    shape, n_reads = shape_of(networks, j), networks.sizes[j, READS]
    reads, inputs = row_of(networks.reads, j), row_of(networks.inputs, j)
    slope = weights_of(shape, row_of(shared.gradients, j), n_reads, 0)
    of_gates = row_of(shared.gates_gradient, j)
    of_gates[:] = 0
    for unit in range(shape.n_units):
        q = 1
        for p in range(1, networks.n_inputs[j] + 1):
            i = inputs[p]
            for _ in range(networks.sizes[i, COLUMNS_OF]):
                of_gates[i] += slope[unit, q] * shared.first[unit, reads[q]]
                slope[unit, q] *= shared.gates[j, i]
                q += 1


@inlined
def step_group(networks, shared, mean_squares, scale, learning_rate, j):
    """RMSprop on what group j has of its own: gates, the last layer, and the density's constants."""
    shape = shape_of(networks, j)
    rmsprop(
        row_of(shared.gates, j), row_of(shared.gates_gradient, j), scale, row_of(shared.gates_square, j), learning_rate
    )
    start = weights_at(shape, shape.n_layers)
    n = constants_at(shape) + shape.n_constants - start
    at = j * networks.parameters.shape[1] + start
    parameters, mean_square = view(networks.parameters, at, (n,)), view(mean_squares, at, (n,))
    rmsprop(parameters, view(shared.gradients, at, (n,)), scale, mean_square, learning_rate)


@compiled
def sum_of_groups(networks, shared, unit):
    """The sum over groups of derivatives with respect to the weights of a unit of each hidden layer."""
    of_first = row_of(shared.first_gradient, unit)
    of_first[:] = 0
    shared.hidden_gradient[:, unit] = 0
    for j in range(networks.shape.n_variables):
        shape, gradient, reads = shape_of(networks, j), row_of(shared.gradients, j), row_of(networks.reads, j)
        slope = weights_of(shape, gradient, networks.sizes[j, READS], 0)
        for q in range(networks.sizes[j, READS] + 1):
            of_first[reads[q]] += slope[unit, q]
        for layer in range(1, shape.n_layers):
            slope = weights_of(shape, gradient, networks.sizes[j, READS], layer)
            for q in range(slope.shape[1]):
                shared.hidden_gradient[layer - 1, unit, q] += slope[unit, q]


@inlined
def step_unit(shared, scale, learning_rate, unit):
    """RMSprop on the weights of a unit of each hidden layer."""
    rmsprop(
        row_of(shared.first, unit), row_of(shared.first_gradient, unit), scale, row_of(shared.first_square, unit),
        learning_rate,
    )  # fmt: skip
    n_layers, n_units, width = shared.hidden.shape
    for layer in range(n_layers):
        at = (layer * n_units + unit) * width
        weights, mean_square = view(shared.hidden, at, (width,)), view(shared.hidden_square, at, (width,))
        rmsprop(weights, view(shared.hidden_gradient, at, (width,)), scale, mean_square, learning_rate)
