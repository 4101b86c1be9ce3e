"""One small network per variable: parameters, forward pass, back-propagation (section 3 of the paper).

    theta_(j) = W^(L+1) g( ... g(W^(1) x_(-j) + b^(1)) ... ) + b^(L+1)

All parameters of network j are one row of `Networks.parameters`: the weights of all layers, then the density's
constants. A bias is the weight of an input that is always 1: column 0 of every weight matrix. The other columns of
the first layer belong to what it reads, side by side in the order of `Networks.reads[j]`, so that a masked input
costs nothing. Rows of weights are padded to `LANES` with zeros, which stay zero.

An input is a variable. What is read of it is the column that its own density is of, or other columns in its place: a
group of indicators for the labels of a category, all of which are open or masked. Networks have as many outputs and
constants as their densities need; the rows of parameters are as long as the longest of them.

A batch has one row per column of the table, then a row of ones and a row of zeros; inner loops run along it, over the
rows of the table.

Under interventions (`Division`) the last column of the table is the number of each row's regime, and no network reads
it. The first d networks are those of the variables, in their order; a variable may have further ones, each for the rows
of some regimes, with the same inputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.density import DENSITIES
from grandag.engine.vectors import COLUMNS, multiply, multiply_transposed, padded, view

__all__ = [
    "ACTIVATIONS",
    "Division",
    "Networks",
    "Shape",
    "Variable",
    "Workspace",
    "backward",
    "forward",
    "initialise",
    "new_workspace",
    "shape_of",
    "xavier_bound",
]

ACTIVATIONS = {"leaky-relu": 0, "squareplus": 1}
"""Leaky ReLU with slope 0.01 (the paper's), and the smooth (x + sqrt(x^2 + 4)) / 2, which costs as little."""

LEAKY_SLOPE = 0.01


class Variable(NamedTuple):
    """How a variable takes part: by the density of its own values, and by what other networks read of it."""

    density: str
    columns: range  # of the rows, for other networks; its own values are in the column of its number
    outputs: Sequence[float]  # with which training begins
    constants: Sequence[float]


class Shape(NamedTuple):
    """Sizes of one network, or the largest of them all, as plain numbers for compiled code."""

    n_variables: int
    n_columns: int  # of the rows
    n_read: int  # columns that any network may read
    n_layers: int  # hidden ones
    n_units: int
    n_outputs: int
    n_constants: int
    activation: int
    path_scale: float = 1.0  # of A_phi, see connectivity.py


class Division(NamedTuple):
    """How the rows of regimes are divided among networks: whose each network is, and where its likelihood counts."""

    owner: np.ndarray  # (networks,) variables: 0 .. d - 1, then those of further networks
    counts: np.ndarray  # (networks, regimes) bool


READS, COLUMNS_OF, DENSITY, OUTPUTS, CONSTANTS, OWNER, NEXT = range(7)
"""In `Networks.sizes`: how many rows of inputs a network reads, how many are read of its variable, the code of its
density, how many outputs and constants that has, the variable, and the variable's next network (-1: there is none)."""


class Networks(NamedTuple):
    """Parameters of all networks; the arrays are changed in place by training."""

    shape: Shape
    parameters: np.ndarray  # (networks, n_parameters); there are d networks, or more under interventions
    inputs: np.ndarray  # (networks, padded) from position 1 on, the variables that are active inputs of network j
    n_inputs: np.ndarray  # (networks,) how many inputs are active
    reads: np.ndarray  # (networks, padded) rows of the batch that network j reads: the ones, those of its inputs, zeros
    sizes: np.ndarray  # (networks, 7), see above: one array, since passing many costs more than reading them
    counts: np.ndarray  # (networks, regimes) bool, see `Division`; without regimes all rows count

    @property
    def mask(self) -> np.ndarray:
        """mask[i, j]: may variable i still be an input of the networks of variable j?"""
        mask = np.zeros((self.shape.n_variables,) * 2, dtype=bool)
        for j in range(len(mask)):
            mask[self.inputs[j, 1 : self.n_inputs[j] + 1], j] = True
        return mask

    @property
    def n_edges(self) -> int:
        """How many inputs the variables have in all."""
        return int(self.n_inputs[: self.shape.n_variables].sum())

    @property
    def n_reads(self) -> np.ndarray:
        """(networks,) how many columns each network reads."""
        return self.sizes[:, READS]

    @property
    def n_columns(self) -> np.ndarray:
        """(d,) in how many columns each variable is read."""
        return self.sizes[: self.shape.n_variables, COLUMNS_OF]

    def by_variable(self, values: np.ndarray) -> np.ndarray:
        """Sums over the networks of each variable, along the last axis."""
        sums = values[..., : self.shape.n_variables].copy()
        for k in range(self.shape.n_variables, values.shape[-1]):
            sums[..., self.sizes[k, OWNER]] += values[..., k]
        return sums

    def layers(self, j: int) -> list[np.ndarray]:
        """Weight matrices of network j in double precision, biases in column 0, then active inputs by number."""
        shape, n_reads = shape_of(self, j), int(self.n_reads[j])
        inputs = self.inputs[j, 1 : self.n_inputs[j] + 1]
        by_variable = np.argsort(np.repeat(inputs, self.n_columns[inputs]), kind="stable")
        layers = []
        for layer in range(shape.n_layers + 1):
            weights = weights_of(shape, self.parameters[j], n_reads, layer).astype(np.float64)
            n_in = layer_size(shape, layer)[1]
            order = by_variable if layer == 0 else np.arange(n_in)
            layers.append(weights[:, np.concatenate([[0], 1 + order])])
        return layers

    def constants(self, j: int) -> np.ndarray:
        """The density's constants of network j, in double precision."""
        return np.asarray(constants_of(shape_of(self, j), self.parameters[j]), dtype=np.float64)

    def copy(self) -> Networks:
        """Networks that share nothing with these."""
        return Networks(self.shape, *(array.copy() for array in self[1:]))


class Workspace(NamedTuple):
    """Buffers of one thread."""

    batch: np.ndarray  # (columns + 2, rows) the table's rows of this batch by column, ones, zeros
    units: np.ndarray  # (L + 1, units, rows) of each layer: ones, its outputs, zeros
    slope: np.ndarray  # (2, widest layer, rows) derivatives of two neighbouring layers
    log_p: np.ndarray  # (rows,)
    all_units: np.ndarray  # 0, 1, 2 ...: the row list of a layer whose inputs are all active
    counted: np.ndarray  # (2 + 2 outputs, rows) of the rows that count, side by side: number, value, theta, its slope


def initialise(
    mask: np.ndarray,
    *,
    n_layers: int,
    n_units: int,
    activation: str,
    density: str | Sequence[Variable],
    dtype: str,
    rng: np.random.Generator,
    first: np.ndarray | None = None,
    path_scale: float = 1.0,
    division: Division | None = None,
) -> Networks:
    """Xavier-uniform weights with the leaky ReLU's gain, biases 0 but for those of outputs, which densities choose.

    The bound of a layer is gain * sqrt(6 / (fan_in + fan_out)), gain = sqrt(2 / (1 + 0.01^2)); the first layer's
    fan-in is the number of columns that may be read, whatever the mask. Inputs in `first`, a part of the mask, are
    listed first. One density for all stands for variables that are read as they are.
    """
    d = mask.shape[0]
    variables = _alike(density, d) if isinstance(density, str) else density
    owner, counts = division or Division(np.arange(d), np.ones((d, 0), dtype=bool))
    n_networks, has_regimes = counts.shape[0], counts.shape[1] > 0
    n_read = sum(len(variable.columns) for variable in variables)
    n_rows = max(d, *(variable.columns.stop for variable in variables)) + has_regimes
    sizes = np.array([_sizes(variables[j], j) for j in owner.tolist()], dtype=np.int64)
    for k in range(d, n_networks):
        sizes[_last_of(sizes, owner[k]), NEXT] = k
    n_outputs, n_constants = sizes[:, [OUTPUTS, CONSTANTS]].max(axis=0).tolist()
    code, scale = ACTIVATIONS[activation], float(path_scale)
    shape = Shape(d, n_rows, n_read, n_layers, n_units, n_outputs, n_constants, code, scale)
    networks = Networks(
        shape,
        parameters=np.zeros((n_networks, constants_at(shape) + shape.n_constants), dtype=dtype),
        inputs=np.full((n_networks, padded(d + 1)), d + 1, dtype=np.int32),
        n_inputs=mask[:, owner].sum(axis=0).astype(np.int64),
        reads=np.full((n_networks, padded(n_read + 1)), n_rows + 1, dtype=np.int32),
        sizes=sizes,
        counts=np.ascontiguousarray(counts),
    )
    for k, j in enumerate(owner.tolist()):
        active = np.flatnonzero(mask[:, j])
        if first is not None:
            active = active[np.argsort(~first[active, j], kind="stable")]
        networks.inputs[k, 1 : len(active) + 1] = active
        read = [n_rows, *(column for i in active.tolist() for column in variables[i].columns)]
        networks.reads[k, : len(read)] = read
        networks.sizes[k, READS] = len(read) - 1
        _draw_weights(networks, variables[j], k, rng)
    return networks


def _alike(density: str, d: int) -> list[Variable]:
    law = DENSITIES[density]
    return [Variable(density, range(j, j + 1), *law.start(np.zeros(1), 0)) for j in range(d)]


def _sizes(variable: Variable, owner: int) -> tuple[int, ...]:
    """A row of `Networks.sizes` before anything is read."""
    code = DENSITIES[variable.density].code
    return 0, len(variable.columns), code, len(variable.outputs), len(variable.constants), owner, -1


def _last_of(sizes: np.ndarray, j: int) -> int:
    """The last network of a variable so far."""
    while sizes[j, NEXT] >= 0:
        j = sizes[j, NEXT]
    return j


def _draw_weights(networks: Networks, variable: Variable, j: int, rng: np.random.Generator) -> None:
    shape, parameters, n_reads = shape_of(networks, j), networks.parameters[j], networks.n_reads[j]
    for layer in range(shape.n_layers + 1):
        n_out, n_in = layer_size(shape, layer)
        bound = xavier_bound(shape, layer)
        n_active = n_reads if layer == 0 else n_in
        weights = weights_of(shape, parameters, n_reads, layer)
        weights[:, 1 : n_active + 1] = rng.uniform(-bound, bound, size=(n_out, n_active))
    weights[:, 0] = variable.outputs
    constants_of(shape, parameters)[:] = variable.constants


def xavier_bound(shape: Shape, layer: int) -> float:
    """gain * sqrt(6 / (fan_in + fan_out)) of a layer."""
    n_out, n_in = layer_size(shape, layer)
    return math.sqrt(2 / (1 + LEAKY_SLOPE**2)) * math.sqrt(6 / (n_in + n_out))


def new_workspace(shape: Shape, n_rows: int, dtype: np.dtype) -> Workspace:
    """Buffers for batches of `n_rows`, the constant rows filled in."""
    widest, width = max(shape.n_units, shape.n_outputs), padded(n_rows)
    workspace = Workspace(
        batch=np.zeros((shape.n_columns + 2, width), dtype),
        units=np.zeros((shape.n_layers + 1, padded(widest + 1), width), dtype),
        slope=np.zeros((2, widest, width), dtype),
        log_p=np.zeros(width, dtype),
        all_units=np.arange(padded(widest + 1), dtype=np.int32),
        counted=np.zeros((2 + 2 * shape.n_outputs, width), dtype),
    )
    workspace.batch[shape.n_columns] = 1
    workspace.units[:, 0] = 1
    return workspace


@inlined
def shape_of(networks, j):
    """The shape of network j."""
    shape = networks.shape
    return Shape(
        shape.n_variables, shape.n_columns, shape.n_read, shape.n_layers, shape.n_units, networks.sizes[j, OUTPUTS],
        networks.sizes[j, CONSTANTS], shape.activation, shape.path_scale,
    )  # fmt: skip


@inlined
def layer_size(shape, layer):
    """(outputs, inputs) of a layer, the constant input not counted; layer 0 reads the table, layer L writes theta."""
    n_out = shape.n_units if layer < shape.n_layers else shape.n_outputs
    n_in = shape.n_units if layer > 0 else shape.n_read
    return n_out, n_in


@inlined
def weights_at(shape, layer):
    """Where the weights of a layer start in a row of parameters."""
    if layer == 0:
        return 0
    first = layer_size(shape, 0)[0] * padded(shape.n_read + 1)
    return first + (layer - 1) * shape.n_units * padded(shape.n_units + 1)


@inlined
def constants_at(shape):
    """Where the density's constants start in a row of parameters."""
    n_out, n_in = layer_size(shape, shape.n_layers)
    return weights_at(shape, shape.n_layers) + n_out * padded(n_in + 1)


@inlined
def constants_of(shape, parameters):
    """The density's constants as a view."""
    return view(parameters, constants_at(shape), (shape.n_constants,))


@inlined
def weights_of(shape, parameters, n_reads, layer):
    """The weight matrix of a layer as a view (outputs, padded inputs), biases in column 0."""
    n_out, n_in = layer_size(shape, layer)
    return view(parameters, weights_at(shape, layer), (n_out, padded((n_in if layer > 0 else n_reads) + 1)))


@inlined
def row_of(array, j):
    """Row j of a matrix."""
    return view(array, j * array.shape[1], (array.shape[1],))


@inlined
def rows_read(networks, j):
    """The rows of the batch that network j reads, rounded up with the row of zeros."""
    width = networks.reads.shape[1]
    return view(networks.reads, j * width, (-(-(networks.sizes[j, READS] + 1) // COLUMNS) * COLUMNS,))


@inlined
def layer_units(workspace, layer, first, n):
    """Rows `first` to `first + n` of the units of a layer (0: the ones; from 1 on: its outputs)."""
    _, n_rows, width = workspace.units.shape
    return view(workspace.units, (layer * n_rows + first) * width, (n, width))


@inlined
def layer_slope(workspace, step, n):
    """Derivatives with respect to the `n` outputs of the layer that is `step` layers below theta."""
    _, n_rows, width = workspace.slope.shape
    return view(workspace.slope, (step % 2) * n_rows * width, (n, width))


@compiled
def forward(networks, workspace, j):
    """Fill `units[0..L]` of network j from the batch; returns theta, a view (outputs, rows of the table)."""
    shape, n_reads = shape_of(networks, j), networks.sizes[j, READS]
    parameters = row_of(networks.parameters, j)
    source, rows = view(workspace.batch, 0, workspace.batch.shape), rows_read(networks, j)
    for layer in range(shape.n_layers + 1):
        n_out = layer_size(shape, layer)[0]
        multiply(layer_units(workspace, layer, 1, n_out), weights_of(shape, parameters, n_reads, layer), source, rows)
        if layer < shape.n_layers:
            activate(shape.activation, layer_units(workspace, layer, 1, n_out))
        source, rows = layer_units(workspace, layer, 0, n_out + 1), view(workspace.all_units, 0, (n_out + 1,))
    return layer_units(workspace, shape.n_layers, 1, shape.n_outputs)


@compiled
def backward(networks, workspace, gradient, j):
    """Gradient of a scalar with respect to all weights and biases of network j, after `forward`.

    `workspace.slope[0]` holds the derivatives with respect to theta. Returns the derivatives with respect to the
    first layer's outputs before the activation.
    """
    shape, n_reads = shape_of(networks, j), networks.sizes[j, READS]
    parameters, last = row_of(networks.parameters, j), shape.n_layers
    for step in range(last):
        layer = last - step
        n_out, n_in = layer_size(shape, layer)
        slope, slope_below = layer_slope(workspace, step, n_out), layer_slope(workspace, step + 1, n_in)
        n_read = -(-(n_in + 1) // COLUMNS) * COLUMNS
        units_below = layer_units(workspace, layer - 1, 0, n_read)
        read = view(workspace.all_units, 0, (n_read,))
        multiply_transposed(weights_of(shape, gradient, n_reads, layer), slope, units_below, read)
        multiply_by_transpose(slope_below, weights_of(shape, parameters, n_reads, layer), slope, workspace.all_units)
        multiply_by_activation_slope(shape.activation, slope_below, layer_units(workspace, layer - 1, 1, n_in))
    slope, rows = layer_slope(workspace, last, layer_size(shape, 0)[0]), rows_read(networks, j)
    first_gradient = weights_of(shape, gradient, n_reads, 0)
    multiply_transposed(first_gradient, slope, workspace.batch, rows)
    clear_columns(first_gradient, rows.size)
    return slope


@inlined
def clear_columns(matrix, first):
    """matrix[:, first:] = 0"""
    for r in range(matrix.shape[0]):
        for c in range(first, matrix.shape[1]):
            matrix[r, c] = 0


@inlined
def multiply_by_transpose(out, weights, slope, all_units):
    """out = weights[:, 1:].T @ slope: back through a layer, without its biases."""
    multiply(out, weights[:, 1:].T, slope, view(all_units, 0, (weights.shape[0],)))


@inlined
def activate(activation, y):
    """y = g(y): leaky ReLU max(y, 0.01 y), or squareplus (y + sqrt(y^2 + 4)) / 2."""
    number = y.dtype.type
    flat = view(y, 0, (y.size,))
    if activation == 0:
        leak = number(LEAKY_SLOPE)
        for k in range(flat.size):
            x = flat[k]
            flat[k] = x if x > 0 else leak * x
    else:
        for k in range(flat.size):
            x = flat[k]
            flat[k] = number(0.5) * (x + math.sqrt(x * x + number(4)))


@inlined
def multiply_by_activation_slope(activation, slope, y):
    """slope *= g'(x), from y = g(x): 1 or 0.01 by the sign of y, or y^2 / (1 + y^2)."""
    number = slope.dtype.type
    flat, flat_y = view(slope, 0, (slope.size,)), view(y, 0, (y.size,))
    if activation == 0:
        leak = number(LEAKY_SLOPE)
        for k in range(flat.size):
            flat[k] *= number(1) if flat_y[k] > 0 else leak
    else:
        for k in range(flat.size):
            square = flat_y[k] * flat_y[k]
            flat[k] *= square / (number(1) + square)
