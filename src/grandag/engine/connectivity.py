"""The weighted adjacency matrix A_phi from path products of absolute weights (section 3.1 and 3.2 of the paper).

    C_(j) = |W^(L+1)| ... |W^(2)| |W^(1)|,      A_ij = c sum_k (C_(j))_ki / (m H^L)

The division by the number of paths is the released program's (c = 1), not the text's (c = m H^L); thresholds are on
this scale. Column j of A depends on network j only. With left_l = c 1' |W^(L+1)| ... |W^(l+2)| / (m H^L), a vector over
the outputs of layer l, and right_l = |W^(l+1)| ... |W^(1)| g for a column g of derivatives:

    A_ij = sum_h left_0[h] |W^(1)[h, i]|,      d (sum_i g_i A_ij) / d |W^(l+1)| = left_l right_(l-1)'

Vectors are indexed like columns of weights: position 0 is the constant input, which is on no path. Of an input that is
read in several columns, A_ij is the sum over these; `gather` and `scatter` lead from columns to inputs and back.
"""

from __future__ import annotations

from grandag.engine.compiled import inlined
from grandag.engine.network import COLUMNS_OF, READS, row_of, shape_of, weights_of
from grandag.engine.vectors import add_absolute, add_signed, view

__all__ = ["add_connectivity_gradient", "connectivity", "scatter"]


@inlined
def connectivity(networks, left, column, j):
    """Fill `left` (L + 1, padded units) and `column[p]` = A_ij for i at position p of the inputs of network j."""
    shape, n_reads, parameters = shape_of(networks, j), networks.sizes[j, READS], row_of(networks.parameters, j)
    number = parameters.dtype.type
    last, width = shape.n_layers, left.shape[1]
    n_paths = shape.n_outputs * shape.n_units**last
    for k in range(shape.n_outputs):
        left[last, k + 1] = number(shape.path_scale) / number(n_paths)
    for layer in range(last, -1, -1):
        weights = weights_of(shape, parameters, n_reads, layer)
        sums = view(left, (layer - 1) * width, (width,)) if layer > 0 else view(column, 0, column.shape)
        for c in range(weights.shape[1]):
            sums[c] = 0
        for r in range(weights.shape[0]):
            add_absolute(sums, row_of(weights, r), left[layer, r + 1])
    if n_reads > networks.n_inputs[j]:
        gather(networks, column, j)


@inlined
def gather(networks, column, j):
    """column[p] = the sum over the columns of input p of network j, in place: no input comes after its columns."""
    q = 1
    for p in range(1, networks.n_inputs[j] + 1):
        n, total = networks.sizes[networks.inputs[j, p], COLUMNS_OF], column[q]
        for k in range(q + 1, q + n):
            total += column[k]
        column[p] = total
        q += n


@inlined
def scatter(networks, column, j):
    """column[q] = column[p] for all columns q of input p of network j, in place: from the last one down."""
    q = networks.sizes[j, READS]
    for p in range(networks.n_inputs[j], 0, -1):
        value = column[p]
        for _ in range(networks.sizes[networks.inputs[j, p], COLUMNS_OF]):
            column[q] = value
            q -= 1


@inlined
def add_connectivity_gradient(networks, left, column_slope, right, gradient, j):
    """gradient += derivatives of sum_ij column_slope * A_ij with respect to all weights of network j.

    `column_slope` is by column read, 0 where none is; `right`, like `left`, is a buffer whose padding is 0.
    """
    shape, n_reads, parameters = shape_of(networks, j), networks.sizes[j, READS], row_of(networks.parameters, j)
    below = view(column_slope, 0, column_slope.shape)
    for layer in range(shape.n_layers + 1):
        weights = weights_of(shape, parameters, n_reads, layer)
        weight_gradient = weights_of(shape, gradient, n_reads, layer)
        above = row_of(right, layer)
        for r in range(weights.shape[0]):
            above[r + 1] = add_signed(row_of(weight_gradient, r), row_of(weights, r), below, left[layer, r + 1])
        below = above
