"""Compiled loops over rows: iterations of the augmented Lagrangian, held-out likelihood, expected Jacobian.

One iteration takes an RMSprop step on

    - 1 / (|B| d) sum_{x in B} sum_j log p_j(x_j | x_(-j)) + lambda h(A_phi) + mu / 2 h(A_phi)^2 + alpha / d sum_ij A_ij

over a batch B of rows, and then masks for good every input whose A_ij, from before the step, is at most epsilon. h is
tr(e^A) - d (`acyclicity.py`) or, for many variables, counts cycles (`cycles.py`).

Under interventions each network has its rows (`network.Division`): in others its log p and the gradient do not count,
while |B| stays what it is. A variable with several networks has the sums of their likelihoods and of their A_ij, and an
input is masked when all of them are at most epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grandag.engine.acyclicity import Components, Powers, acyclicity, find_components, new_components, new_powers
from grandag.engine.compiled import compiled, inlined
from grandag.engine.connectivity import add_connectivity_gradient, connectivity, scatter
from grandag.engine.cycles import Cycles, follow_eigenvectors, list_children, long_cycles, new_cycles, short_cycles
from grandag.engine.density import log_density, log_density_slope
from grandag.engine.network import (
    COLUMNS_OF,
    DENSITY,
    NEXT,
    OWNER,
    READS,
    Networks,
    Workspace,
    backward,
    clear_columns,
    constants_at,
    constants_of,
    forward,
    layer_slope,
    multiply_by_transpose,
    new_workspace,
    row_of,
    shape_of,
    weights_at,
    weights_of,
)
from grandag.engine.optimiser import rmsprop
from grandag.engine.random import draw_rows, new_state
from grandag.engine.threads import new_barrier, run_together, share, wait
from grandag.engine.vectors import dot, padded, view

__all__ = [
    "ACYCLIC",
    "FINISHED",
    "NOT_FINITE",
    "Objective",
    "Pool",
    "Trainer",
    "expected_jacobian",
    "mean_log_likelihood",
    "weighted_adjacency",
]

FINISHED, ACYCLIC, NOT_FINITE, CALLED_OFF = 0, 1, 2, 3
"""Why iterations ended: all done; h has reached the tolerance; a number is not finite; never begun."""

_MULTIPLICATIONS_PER_CALL = 1e9

_BLOCK_ROWS = 64
"""Rows that are evaluated at a time outside training."""


class Objective(NamedTuple):
    """What iterations minimise, and how."""

    lagrange_multiplier: float
    penalty: float
    learning_rate: float
    mask_threshold: float
    tolerance: float
    is_constrained: bool  # False: likelihood only, the mask stays (retraining)
    sparsity: float = 0.0  # alpha


class Pool(NamedTuple):
    """Rows to draw batches from: a whole table, or a part of it with a function that gives as many other rows."""

    rows: np.ndarray
    others: Callable[[], np.ndarray] | None = None


class Worker(NamedTuple):
    """What one thread owns. All threads draw the same batches."""

    workspace: Workspace
    generator: np.ndarray
    permutation: np.ndarray
    gradient: np.ndarray  # of one network, by parameter
    column_slope: np.ndarray  # (lambda + mu h) dh / dA_ij by column that one network reads
    right: np.ndarray  # (L + 1, units), see connectivity.py


class State(NamedTuple):
    """What the threads share: each writes the rows (of A, the columns) of its own networks."""

    mean_square: np.ndarray  # of the gradient, by parameter: the state of RMSprop
    A: np.ndarray  # (d, d) A_phi, 1 for inputs that are never masked
    column: np.ndarray  # (networks, columns read) network j's part of A_ij in row j, by position i in its inputs
    left: np.ndarray  # (networks, L + 1, units), see connectivity.py
    components: Components
    by_cycles: bool  # h counts cycles, instead of the exponential
    exponential: np.ndarray  # (d, d) e^A - I inside components
    powers: Powers
    cycles: Cycles
    n_kept: np.ndarray  # (d,) how many of each network's first inputs are never masked
    mask_has_changed: np.ndarray  # (d,) since the components were found, by network
    log_likelihood: np.ndarray  # (d,) of the last batch
    totals: np.ndarray  # (3,) iterations, h of the last one, sum over iterations of the mean log-likelihood
    barrier: np.ndarray


class Trainer:
    """Iterations on a table of standardised or raw rows; `networks` are changed in place.

    The rows of a pool that is a part of a table are replaced by others as soon as so many have been drawn. The first
    n_kept[j] inputs of network j are never masked. With `by_cycles` h is that of `cycles.py`.
    """

    def __init__(
        self,
        networks: Networks,
        rows: np.ndarray | Pool,
        batch_size: int,
        rng: np.random.Generator,
        n_threads: int = 1,
        *,
        n_kept: np.ndarray | None = None,
        by_cycles: bool = False,
    ) -> None:
        shape, dtype = networks.shape, networks.parameters.dtype
        d, n_networks = shape.n_variables, len(networks.parameters)
        self.networks = networks
        rows, self.others = rows if isinstance(rows, Pool) else Pool(rows)
        self.rows = np.ascontiguousarray(rows, dtype=dtype)
        self.batch_size = min(batch_size, len(rows))
        self.n_left = len(rows) // self.batch_size
        generator = new_state(rng)
        products = (shape.n_layers + 1, padded(max(shape.n_units, shape.n_outputs) + 1))
        self.workers = [
            Worker(
                workspace=new_workspace(shape, self.batch_size, dtype),
                generator=generator.copy(),
                permutation=np.arange(len(rows), dtype=np.int32),
                gradient=np.zeros(networks.parameters.shape[1], dtype),
                column_slope=np.zeros(padded(shape.n_read + 1), dtype),
                right=np.zeros(products, dtype),
            )
            for _ in range(n_threads)
        ]
        self.state = State(
            mean_square=np.zeros_like(networks.parameters),
            A=np.zeros((d, d), dtype),
            column=np.zeros((n_networks, padded(shape.n_read + 1)), dtype),
            left=np.zeros((n_networks, *products), dtype),
            components=new_components(d),
            by_cycles=by_cycles,
            exponential=np.zeros((0, 0) if by_cycles else (d, d), dtype),
            powers=new_powers(0 if by_cycles else d, dtype),
            cycles=new_cycles(d if by_cycles else 0, networks.n_edges, n_threads, dtype),
            n_kept=np.zeros(d, np.int64) if n_kept is None else n_kept.astype(np.int64),
            mask_has_changed=np.ones(d, np.bool_),
            log_likelihood=np.zeros(d),
            totals=np.zeros(3),
            barrier=new_barrier(),
        )

    def run(self, objective: Objective, n_iterations: int) -> tuple[int, int, float, float]:
        """Iterate; (why it ended, iterations done, h of the last one, mean log-likelihood of the batches).

        Compiled code does not see the keyboard, so that it is left every fraction of a second.
        """
        outcome, n_done, h, log_likelihood = FINISHED, 0, 0.0, 0.0
        while outcome == FINISHED and n_done < n_iterations:
            n = int(min(n_iterations - n_done, self._iterations_per_call(), self._iterations_with_these_rows()))
            self.state.totals[:] = 0
            outcome = self._iterate(objective, n)
            done, h, total = self.state.totals.tolist()
            self.n_left -= int(done)
            n_done, log_likelihood = n_done + int(done), log_likelihood + total
        return outcome, n_done, h, log_likelihood / n_done

    def _iterate(self, objective: Objective, n_iterations: int) -> int:
        """All threads together; why they ended."""
        return int(
            run_together(
                iterate, self.workers, self.networks, self.state, self.rows, self.batch_size, objective, n_iterations,
                barrier=self.state.barrier,
            )
        )  # fmt: skip

    def _iterations_with_these_rows(self) -> float:
        """How many iterations are left until the rows are replaced, which is done when none is."""
        if self.others is None:
            return math.inf
        if self.n_left <= 0:
            self.rows = np.ascontiguousarray(self.others(), dtype=self.rows.dtype)
            self.n_left = len(self.rows) // self.batch_size
        return self.n_left

    def _iterations_per_call(self) -> int:
        shape, n_reads = self.networks.shape, self.networks.n_reads
        n_multiplications = shape.n_units * (n_reads.sum() + n_reads.size * shape.n_units) * self.batch_size
        return max(1, int(_MULTIPLICATIONS_PER_CALL / (n_multiplications + 1)))

    def sum_of_weights(self) -> float:
        """sum_ij A_ij after the last iteration; an input that is never masked counts as 1."""
        return float(self.state.A.sum())

    def restart_optimiser(self) -> None:
        """Forget the running mean of squared gradients."""
        self.state.mean_square[:] = 0


@compiled
def iterate(thread, n_threads, worker, networks, state, rows, batch_size, objective, n_iterations):  # noqa: C901
    """Up to `n_iterations` iterations, all threads together.

    In one piece: to pass all these arrays to one more function for each network would take a quarter of its time.
    """
    first = first_variable(networks, thread, n_threads)
    last = first_variable(networks, thread + 1, n_threads)
    if not wait(state.barrier, n_threads):
        return CALLED_OFF
    scale = 1 / (batch_size * networks.shape.n_variables)
    for j in range(first, last):
        fill_adjacency(networks, state, j)
    for _ in range(n_iterations):
        h = begin_iteration(networks, state, worker, rows, batch_size, objective, thread, n_threads)
        multiplier, pull = objective.lagrange_multiplier + objective.penalty * h, -objective.sparsity * batch_size
        for j in range(first, last):
            if h > 0:
                fill_column_slope(networks, state, -multiplier / scale, pull, j, worker.column_slope)
            state.log_likelihood[j] = 0
            k = j
            while k >= 0:
                state.log_likelihood[j] += fill_likelihood_gradient(
                    networks, worker.workspace, worker.gradient, batch_size, k
                )
                if h > 0:
                    add_connectivity_gradient(
                        networks, left_of(state.left, k), worker.column_slope, worker.right, worker.gradient, k
                    )
                step(networks, state.mean_square, worker.gradient, -scale, objective.learning_rate, k)
                k = networks.sizes[k, NEXT]
            if objective.is_constrained:
                first_small = state.n_kept[j] + 1
                if networks.sizes[j, NEXT] >= 0:
                    join_columns(networks, state.column, first_small, j)
                n_small = count_small(
                    row_of(state.column, j), first_small, networks.n_inputs[j], objective.mask_threshold
                )
                if n_small > 0:
                    drop_inputs(
                        networks, state.mean_square, state.A, state.column, first_small, objective.mask_threshold, j
                    )
                    state.mask_has_changed[j] = True
                fill_adjacency(networks, state, j)
        wait(state.barrier, n_threads)
        outcome = conclude(state.totals, state.log_likelihood, h, objective, thread)
        if outcome != FINISHED:
            return outcome
    return FINISHED


@inlined
def begin_iteration(networks, state, worker, rows, batch_size, objective, thread, n_threads):
    """Draw and load a batch; h, for all threads together."""
    wait(state.barrier, n_threads)
    update_components(networks, state, thread)
    h = 0.0
    if objective.is_constrained:
        wait(state.barrier, n_threads)
        h = constraint(networks, state, thread, n_threads)
    draw_rows(worker.generator, worker.permutation, batch_size)
    load_batch(rows, worker.permutation[:batch_size], worker.workspace.batch)
    return h


@compiled
def first_variable(networks, thread, n_threads):
    """The first of a thread's variables: all threads have about the same number of columns read and hidden units."""
    d, n_units = networks.shape.n_variables, networks.shape.n_units
    before, part = 0, (networks.sizes[:, READS].sum() + networks.sizes.shape[0] * n_units) * thread
    for j in range(d):
        if before * n_threads >= part:
            return j
        k = j
        while k >= 0:
            before += networks.sizes[k, READS] + n_units
            k = networks.sizes[k, NEXT]
    return d


@inlined
def update_components(networks, state, thread):
    """The first thread finds the components again if the mask has changed since it last did."""
    if thread == 0 and state.mask_has_changed.any():
        n_inputs = networks.n_inputs[: networks.shape.n_variables]
        find_components(networks.inputs, n_inputs, state.components)
        if state.by_cycles:
            list_children(networks.inputs, n_inputs, state.components.label, state.cycles)
        state.mask_has_changed[:] = False


@compiled
def constraint(networks, state, thread, n_threads):
    """h, for all threads together; fills what `fill_column_slope` needs."""
    A, components, cycles = state.A, state.components, state.cycles
    if not state.by_cycles:
        return acyclicity(A, components, state.powers, state.exponential, state.barrier, thread, n_threads)
    if thread == 0:
        follow_eigenvectors(A, components.label, components.n_components[0], cycles)
    wait(state.barrier, n_threads)
    for j in range(first_variable(networks, thread, n_threads), first_variable(networks, thread + 1, n_threads)):
        short_cycles(networks.inputs, networks.n_inputs, A, components.label, cycles, thread, j)
    wait(state.barrier, n_threads)
    return cycles.short.sum() + long_cycles(cycles.radius, components.n_components[0])


@inlined
def conclude(totals, log_likelihood, h, objective, thread):
    """Add an iteration to the totals; why it is the last one, or FINISHED if there is no such reason."""
    mean_log_likelihood = log_likelihood.mean()
    if thread == 0:
        totals[0] += 1
        totals[1] = h
        totals[2] += mean_log_likelihood
    if not np.isfinite(mean_log_likelihood + h):
        return NOT_FINITE
    if objective.is_constrained and h <= objective.tolerance:
        return ACYCLIC
    return FINISHED


@compiled
def load_batch(rows, chosen, batch):
    """batch[i, b] = rows[chosen[b], i]"""
    for b in range(chosen.size):
        for i in range(rows.shape[1]):
            batch[i, b] = rows[chosen[b], i]


@compiled
def fill_likelihood_gradient(networks, workspace, gradient, n_rows, j):
    """gradient = derivatives of sum_b log p_j over the rows that count; returns that sum, divided by all rows."""
    outputs = forward(networks, workspace, j)
    fill_output_slope(networks, workspace, outputs, gradient, n_rows, j)
    backward(networks, workspace, gradient, j)
    return dot(workspace.log_p, row_of(workspace.batch, networks.shape.n_columns)) / n_rows


@inlined
def fill_output_slope(networks, workspace, outputs, gradient, n_rows, j):
    """Derivatives of sum_b log p_j by theta, 0 in rows that do not count, and by the constants, in the gradient.

    `log_p` has the terms of the sum.
    """
    shape, density = shape_of(networks, j), networks.sizes[j, DENSITY]
    x, log_p = row_of(workspace.batch, networks.sizes[j, OWNER]), workspace.log_p
    constants, constant_slope = constants_of(shape, row_of(networks.parameters, j)), constants_of(shape, gradient)
    slope = layer_slope(workspace, 0, shape.n_outputs)
    if networks.counts.shape[1] > 0:
        counted, counts = workspace.counted, row_of(networks.counts, j)
        n = gather(counted, regimes_of(networks, workspace), counts, x, outputs, n_rows)
        fill_counted_slope(density, counted, n, n_rows, constants, log_p, slope, constant_slope)
    else:
        log_density(density, x, outputs, constants, n_rows, log_p)
        clear_columns(slope, n_rows)
        log_density_slope(density, x, outputs, constants, n_rows, slope, constant_slope)


@compiled
def fill_counted_slope(density, counted, n, n_rows, constants, log_p, slope, constant_slope):
    """The same for the n rows that count: the density sees them only, side by side, as `gather` left them."""
    m, width = slope.shape[0], counted.shape[1]
    own, theta = row_of(counted, 1), view(counted, 2 * width, (m, width))
    counted_slope = view(counted, (2 + m) * width, (m, width))
    log_density(density, own, theta, constants, n, log_p)
    for b in range(n, n_rows):
        log_p[b] = 0
    clear_columns(counted_slope, n)
    log_density_slope(density, own, theta, constants, n, counted_slope, constant_slope)
    scatter_rows(slope, counted_slope, row_of(counted, 0), n)


@inlined
def regimes_of(networks, workspace):
    """The number of the regime of each row of the batch, in the last column of the table."""
    return row_of(workspace.batch, networks.shape.n_columns - 1)


@compiled
def gather(counted, regimes, counts, x, outputs, n_rows):
    """Fill `counted` with the numbers of the rows whose regime counts, their x and theta; how many they are.

    Every row's number is written, and overwritten by the next one if the row does not count: a branch would be
    mispredicted. Unsigned indices need no check for negative ones.
    """
    n = np.uintp(0)
    for b in range(n_rows):
        counted[0, n] = b
        n += np.uintp(counts[np.uint32(regimes[b])])
    for k in range(n):
        counted[1, k] = x[np.uint32(counted[0, k])]
    for c in range(outputs.shape[0]):
        for k in range(n):
            counted[2 + c, k] = outputs[c, np.uint32(counted[0, k])]
    return np.intp(n)


@compiled
def scatter_rows(slope, counted_slope, numbers, n):
    """slope[:, numbers] = counted_slope, 0 elsewhere."""
    clear_columns(slope, 0)
    for c in range(slope.shape[0]):
        for k in range(n):
            slope[c, np.uint32(numbers[k])] = counted_slope[c, k]


@compiled
def sum_counted(networks, workspace, values, n_rows, j):
    """The sum over the rows that count for network j; what is behind the rows of the batch is 0."""
    if networks.counts.shape[1] == 0:
        return float(dot(values, row_of(workspace.batch, networks.shape.n_columns)))
    counts, regimes, total = row_of(networks.counts, j), regimes_of(networks, workspace), 0.0
    for b in range(n_rows):
        if counts[int(regimes[b])]:
            total += values[b]
    return total


@inlined
def fill_column_slope(networks, state, factor, pull, j, column_slope):
    """factor * dh / dA_ij + pull for the columns of input i; outside the component of j, on no cycle, pull.

    It is 0 for inputs that are never masked, whose entry of A does not depend on their weights.
    """
    number, n, label = column_slope.dtype.type, networks.n_inputs[j], state.components.label
    for p in range(1, n + 1):
        i = networks.inputs[j, p]
        column_slope[p] = number(pull) if p > state.n_kept[j] else 0
        if label[i] != label[j] or p <= state.n_kept[j]:
            continue
        if state.by_cycles:
            column_slope[p] += number(factor) * state.cycles.slope[j, p]
        else:
            column_slope[p] += number(factor) * state.exponential[j, i]
    n_reads = networks.sizes[j, READS]
    if n_reads > n:
        scatter(networks, column_slope, j)
    for p in range(n_reads + 1, padded(n_reads + 1)):
        column_slope[p] = 0


@inlined
def left_of(left, j):
    """The left products of network j."""
    _, n_layers, width = left.shape
    return view(left, j * n_layers * width, (n_layers, width))


@inlined
def fill_adjacency(networks, state, j):
    """Column j of A_phi; an input that is never masked counts as 1, so that its cycles are broken elsewhere."""
    column = row_of(state.column, j)
    connectivity(networks, left_of(state.left, j), column, j)
    for p in range(1, networks.n_inputs[j] + 1):
        state.A[networks.inputs[j, p], j] = column[p] if p > state.n_kept[j] else 1
    k = networks.sizes[j, NEXT]
    while k >= 0:
        further = row_of(state.column, k)
        connectivity(networks, left_of(state.left, k), further, k)
        for p in range(state.n_kept[j] + 1, networks.n_inputs[j] + 1):
            state.A[networks.inputs[j, p], j] += further[p]
        k = networks.sizes[k, NEXT]


@inlined
def step(networks, mean_squares, gradient, scale, learning_rate, j):
    """RMSprop on the parameters of network j: the first layer's active columns, then all the rest."""
    shape = shape_of(networks, j)
    n_first = weights_of(shape, gradient, networks.sizes[j, READS], 0).size
    rest, end = weights_at(shape, 1), constants_at(shape) + shape.n_constants
    for start, n in ((0, n_first), (rest, end - rest)):
        at = j * gradient.size + start
        parameters, mean_square = view(networks.parameters, at, (n,)), view(mean_squares, at, (n,))
        rmsprop(parameters, view(gradient, start, (n,)), scale, mean_square, learning_rate)


@compiled
def join_columns(networks, columns, first, j):
    """Entries of row j of `columns` from position `first` on become the largest of any network of variable j."""
    column = row_of(columns, j)
    k = networks.sizes[j, NEXT]
    while k >= 0:
        further = row_of(columns, k)
        for p in range(first, networks.n_inputs[j] + 1):
            column[p] = max(column[p], further[p])
        k = networks.sizes[k, NEXT]


@inlined
def count_small(column, first, n_inputs, threshold):
    """How many entries at positions `first` to `n_inputs` are at most the threshold."""
    count = 0
    for p in range(first, n_inputs + 1):
        count += column[p] <= threshold
    return count


@compiled
def drop_inputs(networks, mean_squares, A, columns, first, threshold, j):
    """Mask the inputs of variable j, from position `first` on, with an entry <= threshold in row j of `columns`."""
    column = row_of(columns, j)
    k = j
    while k >= 0:
        drop_inputs_of_network(networks, mean_squares, A, column, first, threshold, k)
        k = networks.sizes[k, NEXT]


@compiled
def drop_inputs_of_network(networks, mean_squares, A, column, first, threshold, j):
    """Of one network; the inputs that stay move together."""
    shape, n, n_reads = shape_of(networks, j), networks.n_inputs[j], networks.sizes[j, READS]
    inputs, reads = row_of(networks.inputs, j), row_of(networks.reads, j)
    kept = np.zeros(n_reads + 1, np.int64)
    n_kept, n_kept_reads, q = 0, 0, 1
    for p in range(1, n + 1):
        i = inputs[p]
        if p >= first and column[p] <= threshold:
            A[i, networks.sizes[j, OWNER]] = 0
        else:
            n_kept += 1
            inputs[n_kept] = i
            for k in range(q, q + networks.sizes[i, COLUMNS_OF]):
                n_kept_reads += 1
                kept[n_kept_reads] = k
        q += networks.sizes[i, COLUMNS_OF]
    for array in (networks.parameters, mean_squares):
        row = row_of(array, j)
        keep_columns(
            weights_of(shape, row, n_reads, 0), weights_of(shape, row, n_kept_reads, 0), kept[: n_kept_reads + 1]
        )
    for q in range(1, n_reads + 1):
        reads[q] = reads[kept[q]] if q <= n_kept_reads else shape.n_columns + 1
    networks.n_inputs[j], networks.sizes[j, READS] = n_kept, n_kept_reads


@compiled
def keep_columns(old, new, kept):
    """new = old[:, kept], then zeros; both begin at the same address, and `new` is not wider."""
    for r in range(old.shape[0]):
        for c in range(new.shape[1]):
            new[r, c] = old[r, kept[c]] if c < kept.size else 0


def weighted_adjacency(networks: Networks) -> np.ndarray:
    """A_phi of the networks as they are, masked entries 0."""
    shape = networks.shape
    A = np.zeros((shape.n_variables,) * 2, networks.parameters.dtype)
    left = np.zeros((shape.n_layers + 1, padded(max(shape.n_units, shape.n_outputs) + 1)), A.dtype)
    column = np.zeros(padded(shape.n_read + 1), A.dtype)
    for j, (n, owner) in enumerate(zip(networks.n_inputs, networks.sizes[:, OWNER], strict=True)):
        connectivity(networks, left, column, j)
        A[networks.inputs[j, 1 : n + 1], owner] += column[1 : n + 1]
    return A


def mean_log_likelihood(networks: Networks, rows: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """Mean over the rows of log p_j, per variable j; 0 in rows that do not count."""
    sums = np.zeros(len(networks.parameters))
    _over_blocks(sum_log_likelihood, networks, rows, sums, n_threads)
    return networks.by_variable(sums) / len(rows)


def expected_jacobian(networks: Networks, rows: np.ndarray, n_threads: int = 1) -> np.ndarray:
    """J_ij = mean over the rows of |d log p_j / d x_i| through the network's inputs (x_j's own argument is fixed).

    A label has no derivative: of an input that is read as indicators, J_ij is the mean absolute change of log p_j when
    its label is replaced by that of a row drawn at random. In rows that do not count both are 0.
    """
    rows = np.ascontiguousarray(rows, dtype=networks.parameters.dtype)
    low, high = rows.min(axis=0), rows.max(axis=0)
    share = np.where(low < high, (rows == high).mean(axis=0), 0.0)
    sums = np.zeros((networks.shape.n_variables, len(networks.parameters)))
    _over_blocks(sum_absolute_slopes, networks, rows, sums, n_threads, Indicators(low, high, share))
    return networks.by_variable(sums) / len(rows)


class Indicators(NamedTuple):
    """By column: the values of an indicator for other labels and for its own, and the share of rows with the latter."""

    low: np.ndarray
    high: np.ndarray
    share: np.ndarray


def _over_blocks(
    function: Callable[..., None], networks: Networks, rows: np.ndarray, sums: np.ndarray, n_threads: int, *others: Any
) -> None:
    shape, dtype = networks.shape, networks.parameters.dtype
    rows = np.ascontiguousarray(rows, dtype=dtype)
    workspaces = [new_workspace(shape, _BLOCK_ROWS, dtype) for _ in range(n_threads)]
    run_together(function, workspaces, networks, rows, sums, *others)


@compiled
def load_block(rows, start, batch):
    """Fill the batch with the rows from `start` on; how many there were."""
    n = min(_BLOCK_ROWS, rows.shape[0] - start)
    for b in range(n):
        for i in range(rows.shape[1]):
            batch[i, b] = rows[start + b, i]
    return n


@compiled
def sum_log_likelihood(thread, n_threads, workspace, networks, rows, sums):
    """sums[j] += sum over the rows of log p_j, for the networks of this thread."""
    first, last = share(sums.size, thread, n_threads)
    for start in range(0, rows.shape[0], _BLOCK_ROWS):
        n = load_block(rows, start, workspace.batch)
        workspace.log_p[:] = 0
        for j in range(first, last):
            fill_log_density(networks, workspace, n, j, workspace.log_p)
            sums[j] += sum_counted(networks, workspace, workspace.log_p, n, j)


@inlined
def fill_log_density(networks, workspace, n_rows, j, log_p):
    """log_p[b] = log p_j of the b-th row of the batch."""
    outputs = forward(networks, workspace, j)
    constants = constants_of(shape_of(networks, j), row_of(networks.parameters, j))
    x = row_of(workspace.batch, networks.sizes[j, OWNER])
    log_density(networks.sizes[j, DENSITY], x, outputs, constants, n_rows, log_p)


@compiled
def sum_absolute_slopes(thread, n_threads, workspace, networks, rows, sums, indicators):
    """sums[i, j] += sum over the rows of |d log p_j / d x_i|, for the networks of this thread."""
    first, last = share(sums.shape[1], thread, n_threads)
    gradient = np.zeros(networks.parameters.shape[1], networks.parameters.dtype)
    input_slope = np.zeros_like(workspace.batch)
    for start in range(0, rows.shape[0], _BLOCK_ROWS):
        n = load_block(rows, start, workspace.batch)
        for j in range(first, last):
            shape, n_reads = shape_of(networks, j), networks.sizes[j, READS]
            parameters, outputs = row_of(networks.parameters, j), forward(networks, workspace, j)
            fill_output_slope(networks, workspace, outputs, gradient, n, j)
            first_slope = backward(networks, workspace, gradient, j)
            here = view(input_slope, 0, (n_reads, input_slope.shape[1]))
            multiply_by_transpose(here, weights_of(shape, parameters, n_reads, 0), first_slope, workspace.all_units)
            q = 0
            for p in range(1, networks.n_inputs[j] + 1):
                i = networks.inputs[j, p]
                if networks.sizes[i, COLUMNS_OF] == 1:
                    for b in range(n):
                        sums[i, j] += abs(input_slope[q, b])
                else:
                    sums[i, j] += sum_of_changes(networks, workspace, rows, start, n, indicators, j, p, q + 1)
                q += networks.sizes[i, COLUMNS_OF]


@compiled
def sum_of_changes(networks, workspace, rows, start, n, indicators, j, p, first):
    """Sum over the block of E |log p_j(x_j | another label) - log p_j(x_j | its own)|, by labels and their shares.

    The label is that of input p, whose columns network j reads from position `first` on.
    """
    column, n_labels = networks.reads[j, first], networks.sizes[networks.inputs[j, p], COLUMNS_OF]
    own, other, total = np.zeros_like(workspace.log_p), np.zeros_like(workspace.log_p), 0.0
    has_regimes = networks.counts.shape[1] > 0
    counts, regimes = row_of(networks.counts, j), regimes_of(networks, workspace)
    fill_log_density(networks, workspace, n, j, own)
    for label in range(n_labels):
        if indicators.share[column + label] == 0:
            continue
        for k in range(n_labels):
            c = column + k
            workspace.batch[c, :n] = indicators.high[c] if k == label else indicators.low[c]
        fill_log_density(networks, workspace, n, j, other)
        change = 0.0
        for b in range(n):
            if not has_regimes or counts[int(regimes[b])]:
                change += abs(other[b] - own[b])
        total += indicators.share[column + label] * change
    for k in range(n_labels):
        for b in range(n):
            workspace.batch[column + k, b] = rows[start + b, column + k]
    return total
