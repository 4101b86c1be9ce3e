"""h(A) = tr(e^A) - d and its gradient (e^A)', exact and cheap (equation 8 of the paper).

Two facts keep it exact in float32 down to h = 1e-8. First, only F = e^A - I is ever formed: on a non-negative matrix
the scaling-and-squaring step F <- 2F + F^2 and the series have no cancellation. Second, cycles live inside strongly
connected components of the mask, so h is a sum over components and its gradient is zero between them; when training
has masked enough inputs all components are single variables, and h is 0 exactly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.threads import share, wait
from grandag.engine.vectors import multiply, padded

__all__ = ["Components", "Powers", "acyclicity", "find_components", "new_components", "new_powers"]

MIN_SQUARINGS = 2
"""The series ends at A^9; squared twice it still gives a single cycle of 12 variables to 1e-4."""


class Components(NamedTuple):
    """Strongly connected components of the mask."""

    members: np.ndarray  # (d,) variables, component by component
    starts: np.ndarray  # (d + 1,) where each component starts in `members`
    label: np.ndarray  # (d,) component of each variable
    n_components: np.ndarray  # (1,)


class Powers(NamedTuple):
    """Square matrices of the size of one component, rows padded."""

    A: np.ndarray
    A2: np.ndarray
    A3: np.ndarray
    F: np.ndarray
    product: np.ndarray
    row_sums: np.ndarray
    all_rows: np.ndarray


def new_components(d: int) -> Components:
    """Room for the components of d variables."""
    return Components(*(np.zeros(size, np.int32) for size in (d, d + 1, d, 1)))


def new_powers(d: int, dtype: np.dtype) -> Powers:
    """Buffers for components of up to d variables."""
    A, A2, A3, F, product = np.zeros((5, d, padded(d)), dtype)
    return Powers(A, A2, A3, F, product, np.zeros(d, dtype), np.arange(d, dtype=np.int32))


@compiled
def find_components(inputs, n_inputs, components):
    """Tarjan's algorithm, without recursion, on the graph of active inputs."""
    d = n_inputs.size
    order = np.full(d, -1, np.int32)
    low = np.zeros(d, np.int32)
    next_input = np.zeros(d, np.int32)
    path = np.zeros(d, np.int32)
    stack = np.zeros(d, np.int32)
    on_stack = np.zeros(d, np.bool_)
    n_seen = n_stack = n_done = count = 0
    for root in range(d):
        if order[root] >= 0:
            continue
        path[0], n_path = root, 1
        while n_path > 0:
            j = path[n_path - 1]
            if order[j] < 0:
                order[j] = low[j] = n_seen
                n_seen += 1
                stack[n_stack], on_stack[j] = j, True
                n_stack += 1
            if next_input[j] < n_inputs[j]:
                i = inputs[j, next_input[j] + 1]
                next_input[j] += 1
                if order[i] < 0:
                    path[n_path] = i
                    n_path += 1
                elif on_stack[i]:
                    low[j] = min(low[j], order[i])
                continue
            n_path -= 1
            if n_path > 0:
                low[path[n_path - 1]] = min(low[path[n_path - 1]], low[j])
            if low[j] == order[j]:
                size = close_component(j, stack, n_stack, on_stack, components, count, n_done)
                n_stack, n_done, count = n_stack - size, n_done + size, count + 1
    components.starts[count] = n_done
    components.n_components[0] = count


@inlined
def close_component(root, stack, n_stack, on_stack, components, count, n_done):
    """The stack's nodes down to the root become the component number `count`; returns how many they are."""
    components.starts[count] = n_done
    size, i = 0, -1
    while i != root:
        i = stack[n_stack - 1 - size]
        on_stack[i] = False
        components.members[n_done + size], components.label[i] = i, count
        size += 1
    return size


@compiled
def acyclicity(A, components, powers, exponential, barrier, thread, n_threads):
    """h = tr(e^A) - d; fills `exponential[j, i]` = (e^A)_ji = d h / d A_ij inside components.

    All threads call this together; each gets h.
    """
    h = 0.0
    for k in range(components.n_components[0]):
        start, stop = components.starts[k], components.starts[k + 1]
        if stop - start == 1:
            continue
        members = components.members[start:stop]
        F = exponential_minus_one(A, members, powers, barrier, thread, n_threads)
        first, last = share(members.size, thread, n_threads)
        for r in range(members.size):
            h += F[r, r]
            if first <= r < last:
                for c in range(members.size):
                    exponential[members[r], members[c]] = F[r, c]
        wait(barrier, n_threads)
    return h


@compiled
def exponential_minus_one(A, members, powers, barrier, thread, n_threads):
    """F = e^A - I for the rows and columns `members`, as a view of one of the buffers.

    With M = A / 2^s: four products for the series F = B0 + M^3 (B1 + M^3 (B2 + M^3 / 9!)), where
    B_k = sum_l M^l / (3k + l)! for l = 0, 1, 2 (B0 without its 1), then s squarings. The powers are kept unscaled and
    the scale goes into the coefficients.
    """
    n = members.size
    width = padded(n)
    first, last = share(n, thread, n_threads)
    rows = powers.all_rows[:n]
    M, M2, M3 = powers.A[:n, :width], powers.A2[:n, :width], powers.A3[:n, :width]
    F, product = powers.F[:n, :width], powers.product[:n, :width]
    for r in range(first, last):
        for c in range(n):
            M[r, c] = A[members[r], members[c]]
        M[r, n:] = 0
        powers.row_sums[r] = M[r].sum()
    wait(barrier, n_threads)
    n_squarings = squarings(powers.row_sums[:n])
    scale = math.ldexp(1.0, -n_squarings)
    multiply(M2[first:last], M[first:last], M, rows)
    wait(barrier, n_threads)
    multiply(M3[first:last], M[first:last], M2, rows)
    set_block(F, M, M2, 6, scale, first, last)
    add_multiple(F, M3, scale**3 / 362880, first, last)
    wait(barrier, n_threads)
    for lowest_power in (3, 0):
        multiply(product[first:last], M3[first:last], F, rows)
        wait(barrier, n_threads)
        set_block(F, M, M2, lowest_power, scale, first, last)
        add_multiple(F, product, scale**3, first, last)
        wait(barrier, n_threads)
    for _ in range(n_squarings):
        multiply(product[first:last], F[first:last], F, rows)
        add_multiple(product, F, 2.0, first, last)
        F, product = product, F
        wait(barrier, n_threads)
    return F


@compiled
def set_block(block, M, M2, k, scale, first, last):
    """block = I / k! + s M / (k + 1)! + s^2 M^2 / (k + 2)!, without the identity for k = 0."""
    number = M.dtype.type
    factorial = math.gamma(k + 1.0)
    c1 = number(scale / (factorial * (k + 1)))
    c2 = number(scale**2 / (factorial * (k + 1) * (k + 2)))
    for r in range(first, last):
        for c in range(M.shape[1]):
            block[r, c] = c1 * M[r, c] + c2 * M2[r, c]
        if k > 0:
            block[r, r] += number(1 / factorial)


@compiled
def add_multiple(target, matrix, factor, first, last):
    """target += factor * matrix in the rows from `first` to `last`."""
    c = target.dtype.type(factor)
    for r in range(first, last):
        for k in range(target.shape[1]):
            target[r, k] += c * matrix[r, k]


@compiled
def squarings(row_sums):
    """How often to halve A, given its row sums, so that the series is exact to rounding."""
    norm = 0.0
    for row_sum in row_sums:
        norm = max(norm, row_sum)
    target = 0.84 if row_sums.itemsize == 4 else 0.09
    if not target < norm < np.inf:
        return MIN_SQUARINGS
    return max(MIN_SQUARINGS, math.ceil(math.log2(norm / target)))
