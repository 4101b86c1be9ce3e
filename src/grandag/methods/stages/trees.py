"""Extremely randomised regression trees (Geurts, Ernst and Wehenkel 2006), grown only to measure their inputs.

A node draws for every input one threshold, uniform between the input's smallest and largest value in the node, and
splits by the input that reduces the sum of squares of the response most,

    gain_i = m L_i^2 / (l_i (m - l_i)),    L_i = sum of (y - mean y) over the l_i of m rows with x_i <= threshold_i,

until no node can be split. The sum of an input's gains over all nodes is its importance. This is the distribution of
scikit-learn's `ExtraTreesRegressor` with its default parameters. What makes it cheap:

- All inputs of a row are contiguous, and inner loops run over inputs: two vectorised passes over the rows of a node,
  for ranges and for sums, serve all inputs at once, in nodes of three rows as well as in the root. Only row numbers
  are moved.
- No tree is kept, and nothing is sorted.
- If several inputs are equally good (in a node of two rows all are, in small nodes many), one is drawn to split by, but
  each gets its part of the gain: the same expectation, less noise, and little to do for nodes of two rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import compiled, inlined
from grandag.engine.random import below, next_bits

__all__ = ["LANES", "grow"]

LANES = 32
"""Rows of inputs are padded to a multiple of this: the compiler's vectorised loops leave nothing to scalar ones."""

_TIE = np.float32(1 - 1e-5)
"""Gains within this factor of the best differ by rounding only."""


class _Candidates(NamedTuple):
    """The splits of a node, one for each input; all (inputs,) float32."""

    low: np.ndarray
    high: np.ndarray
    threshold: np.ndarray
    n_left: np.ndarray
    sum_left: np.ndarray
    gain: np.ndarray


@compiled
def grow(values: np.ndarray, response: np.ndarray, target: int, state: np.ndarray, importance: np.ndarray) -> None:
    """Add to importance[t, i] the gains of input i in tree t, for as many trees as `importance` (trees, d) has rows.

    `values` (n, at least d) is float32, padded with constant columns; `response` (n,) is float64; column `target` of
    `values` is no input. `state` is that of the random generator.
    """
    n, width = values.shape
    space = np.empty((6, width), dtype=np.float32)
    candidates = _Candidates(space[0], space[1], space[2], space[3], space[4], space[5])
    rows = np.empty(n, dtype=np.int64)
    nodes = np.empty((n, 2), dtype=np.int64)
    for tree in range(importance.shape[0]):
        _grow_one(values, response, target, state, candidates, rows, nodes, importance[tree])


@compiled
def _grow_one(values, response, target, state, candidates, rows, nodes, importance):
    """One tree; `nodes` is the stack of open nodes, each a range of `rows`."""
    for k in range(rows.size):
        rows[k] = k
    nodes[0, 0], nodes[0, 1], n_open = 0, rows.size, 1
    while n_open > 0:
        n_open -= 1
        start, stop = nodes[n_open, 0], nodes[n_open, 1]
        if stop - start == 2:
            _credit_for_pair(values, response, target, rows[start], rows[start + 1], importance)
            continue
        if _is_pure(response, rows, start, stop):
            continue
        _evaluate(values, response, target, state, candidates, rows, start, stop)
        best = _largest(candidates.gain)
        if best < 0:
            continue
        chosen = _credit(candidates.gain, best, state, importance)
        middle = _partition(values, rows, start, stop, chosen, candidates.threshold[chosen])
        if middle - start > 1:
            nodes[n_open, 0], nodes[n_open, 1] = start, middle
            n_open += 1
        if stop - middle > 1:
            nodes[n_open, 0], nodes[n_open, 1] = middle, stop
            n_open += 1


@inlined
def _is_pure(response, rows, start, stop):
    k = start + 1
    while k < stop and response[rows[k]] == response[rows[start]]:
        k += 1
    return k == stop


@inlined
def _credit_for_pair(values, response, target, one, other, importance):
    """Share the gain of a node of two rows among the inputs in which they differ: all of them are equally good."""
    n_different = -1 if values[one, target] != values[other, target] else 0
    for i in range(importance.size):
        n_different += 1 if values[one, i] != values[other, i] else 0
    if n_different <= 0:
        return
    part = (response[one] - response[other]) ** 2 / (2 * n_different)
    own = importance[target]
    for i in range(importance.size):
        importance[i] += part if values[one, i] != values[other, i] else 0.0
    importance[target] = own


@compiled
def _evaluate(values, response, target, state, candidates, rows, start, stop):
    """Draw the node's candidate splits, and compute their gains; -1 for inputs that are constant in the node."""
    low, high, threshold, n_left, sum_left, gain = candidates
    n_rows = np.float32(stop - start)
    mean = 0.0
    for k in range(start, stop):
        mean += response[rows[k]]
    mean /= stop - start
    _find_ranges(values, rows, start, stop, low, high)
    _draw_thresholds(next_bits(state), low, high, threshold)
    _sum_left(values, response, mean, rows, start, stop, threshold, n_left, sum_left)
    for i in range(gain.size):
        reduction = n_rows * sum_left[i] * sum_left[i] / (n_left[i] * (n_rows - n_left[i]))
        gain[i] = reduction if high[i] > low[i] else np.float32(-1)
    gain[target] = np.float32(-1)


@compiled
def _find_ranges(values, rows, start, stop, low, high):
    """Smallest and largest value of each input over a range of rows."""
    for i in range(low.size):
        low[i] = high[i] = values[rows[start], i]
    for k in range(start + 1, stop):
        row = rows[k]
        for i in range(low.size):
            value = values[row, i]
            low[i] = value if value < low[i] else low[i]
            high[i] = value if value > high[i] else high[i]


@inlined
def _draw_thresholds(bits, low, high, threshold):
    """Uniform thresholds in [low, high); random bits of the node and the number of the input are hashed to 24 bits."""
    key = np.uint32(bits >> np.uint64(32))
    for i in range(low.size):
        mixed = np.uint32(key + np.uint32(i) * np.uint32(0x9E3779B9))
        mixed = np.uint32(np.uint32(mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x21F0AAAD))
        mixed = np.uint32(np.uint32(mixed ^ (mixed >> np.uint32(15))) * np.uint32(0x735A2D97))
        mixed = np.uint32(mixed ^ (mixed >> np.uint32(15)))
        uniform = np.float32(np.int32(mixed >> np.uint32(8))) * np.float32(2.0**-24)
        cut = low[i] + uniform * (high[i] - low[i])
        threshold[i] = cut if cut < high[i] else low[i]


@compiled
def _sum_left(values, response, mean, rows, start, stop, threshold, n_left, sum_left):
    """Number of rows up to each input's threshold, and the sum of their deviations from the node's mean."""
    zero, one = np.float32(0), np.float32(1)
    for i in range(threshold.size):
        n_left[i] = sum_left[i] = zero
    for k in range(start, stop):
        row = rows[k]
        deviation = np.float32(response[row] - mean)
        for i in range(threshold.size):
            is_left = values[row, i] <= threshold[i]
            n_left[i] += one if is_left else zero
            sum_left[i] += deviation if is_left else zero


@inlined
def _largest(gain):
    best = gain[0]
    for i in range(1, gain.size):
        best = gain[i] if gain[i] > best else best
    return best


@inlined
def _credit(gain, best, state, importance):
    """Share the gain among the inputs that reach it; one of them, drawn at random, is returned."""
    n_tied = 0
    for i in range(gain.size):
        n_tied += 1 if gain[i] >= best * _TIE else 0
    part = np.float64(best) / n_tied
    left_to_pass = below(state, n_tied)
    chosen = 0
    for i in range(gain.size):
        if gain[i] >= best * _TIE:
            importance[i] += part
            if left_to_pass == 0:
                chosen = i
            left_to_pass -= 1
    return chosen


@inlined
def _partition(values, rows, start, stop, chosen, threshold):
    """Bring the rows up to the threshold to the front; returns where the others begin."""
    middle = start
    for k in range(start, stop):
        row = rows[k]
        if values[row, chosen] <= threshold:
            rows[k] = rows[middle]
            rows[middle] = row
            middle += 1
    return middle
