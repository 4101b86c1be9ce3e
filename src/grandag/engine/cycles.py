"""A constraint for many variables whose cost grows with the open inputs: short cycles exactly, long ones by one number.

    h(A) = sum_{k=2}^{4} tr(A^k) / k! + sum_c sum_{k>=5} rho_c^k / k!

over strongly connected components c of the mask, rho_c the spectral radius of A inside c. These are the first terms of
tr(e^A) - d, whose trace of a higher power is replaced by the largest of the eigenvalues that it adds up. Zero if and
only if there is no cycle: without one all components are single variables, with one rho > 0. The derivative is

    dh / dA_ij = (A + A^2 / 2 + A^3 / 6)_ji + l_i r_j / (l' r) sum_{k>=5} rho^(k-1) / (k - 1)!

where A^2 and A^3 are needed at open inputs only, and l, r, the eigenvectors of the component of i and j, are followed
by a few steps of power iteration from where they were in the last iteration of training. (The spectral radius alone, as
in Nazaret et al. 2024, sees hardly more than the strongest cycle at a time; here every short cycle has its own weight.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined

__all__ = ["Cycles", "follow_eigenvectors", "list_children", "long_cycles", "new_cycles", "short_cycles"]

_STEPS = 2
"""Steps of power iteration per call."""
_LEAST = 1e-6
"""Entries of an eigenvector relative to the largest, at least: it finds its way into a component that was idle."""


class Cycles(NamedTuple):
    """What is known of the cycles of the mask."""

    children: np.ndarray  # (room for all inputs,) of each variable, inside its component
    starts: np.ndarray  # (d + 1,) where the children of each variable start
    left: np.ndarray  # (d,) eigenvectors by component
    right: np.ndarray
    next_left: np.ndarray
    next_right: np.ndarray
    radius: np.ndarray  # (d,) rho by component
    product: np.ndarray  # (d,) l' r by component
    short: np.ndarray  # (d,) the part of h with short cycles, by variable
    slope: np.ndarray  # (d, d + 1) dh / dA_ij in row j, by position of i in its inputs
    two_steps: np.ndarray  # (threads, d) a row of A^2, zero between calls


def new_cycles(d: int, n_inputs: int, n_threads: int, dtype: np.dtype) -> Cycles:
    """Room for d variables with `n_inputs` open inputs in all."""
    return Cycles(
        children=np.zeros(n_inputs, np.int32),
        starts=np.zeros(d + 1, np.int64),
        left=np.ones(d),
        right=np.ones(d),
        next_left=np.ones(d),
        next_right=np.ones(d),
        radius=np.zeros(d),
        product=np.ones(d),
        short=np.zeros(d),
        slope=np.zeros((d, d + 1), dtype),
        two_steps=np.zeros((n_threads, d), dtype),
    )


@compiled
def list_children(inputs, n_inputs, label, cycles):
    """List the children of each variable that are in its component."""
    d = n_inputs.size
    starts = cycles.starts
    starts[:] = 0
    for j in range(d):
        for p in range(1, n_inputs[j] + 1):
            i = inputs[j, p]
            if label[i] == label[j]:
                starts[i + 1] += 1
    for i in range(d):
        starts[i + 1] += starts[i]
    end = starts[:d].copy()
    for j in range(d):
        for p in range(1, n_inputs[j] + 1):
            i = inputs[j, p]
            if label[i] == label[j]:
                cycles.children[end[i]] = j
                end[i] += 1


@compiled
def follow_eigenvectors(A, label, n_components, cycles):
    """A few steps towards the eigenvectors of all components at once, and their spectral radii.

    Components with a period have several eigenvalues of the same size: adding the radius to the diagonal tells them
    apart.
    """
    left, right = cycles.left, cycles.right
    for _ in range(_STEPS):
        _multiply(A, label, cycles)
        _find_radius(label, n_components, cycles)
        for i in range(left.size):
            shift = cycles.radius[label[i]]
            cycles.next_left[i] += shift * left[i]
            cycles.next_right[i] += shift * right[i]
        _normalise(cycles.next_left, label, n_components, left)
        _normalise(cycles.next_right, label, n_components, right)
    _multiply(A, label, cycles)
    _find_radius(label, n_components, cycles)


@inlined
def _multiply(A, label, cycles):
    """next_left = A' left, next_right = A right, inside components."""
    left, right, next_left, next_right = cycles.left, cycles.right, cycles.next_left, cycles.next_right
    next_left[:] = 0
    for i in range(left.size):
        total = 0.0
        for k in range(cycles.starts[i], cycles.starts[i + 1]):
            j = cycles.children[k]
            total += A[i, j] * right[j]
            next_left[j] += A[i, j] * left[i]
        next_right[i] = total


@inlined
def _find_radius(label, n_components, cycles):
    """rho = l' A r / l' r of each component."""
    radius, product = cycles.radius, cycles.product
    for c in range(n_components):
        radius[c] = product[c] = 0.0
    for i in range(label.size):
        radius[label[i]] += cycles.left[i] * cycles.next_right[i]
        product[label[i]] += cycles.left[i] * cycles.right[i]
    for c in range(n_components):
        radius[c] /= product[c]


@compiled
def _normalise(new, label, n_components, vector):
    """vector = new, divided by its largest entry in each component; nowhere quite zero."""
    largest = np.zeros(n_components)
    for i in range(new.size):
        largest[label[i]] = max(largest[label[i]], new[i])
    for i in range(new.size):
        scale = largest[label[i]]
        vector[i] = max(new[i] / scale, _LEAST) if scale > 0 else 1.0


@compiled
def long_cycles(radius, n_components):
    """sum_c sum_{k>=5} rho_c^k / k!"""
    h = 0.0
    for c in range(n_components):
        h += _rest_of_exponential(radius[c], 5)
    return h


@compiled
def _rest_of_exponential(x, first):
    """sum_{k>=first} x^k / k!, term by term: nothing cancels where x is small."""
    term = 1.0
    for k in range(1, first + 1):
        term *= x / k
    total, k = 0.0, first
    while term > 1e-17 * total:
        total += term
        k += 1
        term *= x / k
    return total


@compiled
def short_cycles(inputs, n_inputs, A, label, cycles, thread, j):
    """Fill row j of the slope, and the part of h with short cycles through the inputs of j."""
    own = label[j]
    two_steps, slope = cycles.two_steps[thread], cycles.slope[j]
    _add_two_steps(A, cycles, j, two_steps)
    long = _rest_of_exponential(cycles.radius[own], 4) / cycles.product[own]
    total = 0.0
    for p in range(1, n_inputs[j] + 1):
        i = inputs[j, p]
        if label[i] != own:
            slope[p] = 0
            continue
        two, three = two_steps[i], 0.0
        for q in range(1, n_inputs[i] + 1):
            k = inputs[i, q]
            three += two_steps[k] * A[k, i]
        back = A[j, i]
        total += A[i, j] * (back / 2 + two / 6 + three / 24)
        slope[p] = back + two / 2 + three / 6 + long * cycles.left[i] * cycles.right[j]
    cycles.short[j] = total
    _clear_two_steps(cycles, j, two_steps)


@inlined
def _add_two_steps(A, cycles, j, two_steps):
    """two_steps += row j of A^2"""
    for k in range(cycles.starts[j], cycles.starts[j + 1]):
        middle = cycles.children[k]
        for m in range(cycles.starts[middle], cycles.starts[middle + 1]):
            two_steps[cycles.children[m]] += A[j, middle] * A[middle, cycles.children[m]]


@inlined
def _clear_two_steps(cycles, j, two_steps):
    for k in range(cycles.starts[j], cycles.starts[j + 1]):
        middle = cycles.children[k]
        for m in range(cycles.starts[middle], cycles.starts[middle + 1]):
            two_steps[cycles.children[m]] = 0
