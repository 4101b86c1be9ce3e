"""The covariance function, and the sums that its derivatives need.

    k(x, x') = s_f prod_i k_i + s_a sum_i k_i,    k_i = exp(-w_i (x_i - x_i')^2),    w_i = 1 / (2 l_i^2)

s_f is the variance of the interaction, s_a that of each additive term; length scales l_i are common to both parts.
All loops run over contiguous rows, so that they vectorise; no array of n x n numbers per input is made. Inputs are
(p, n), float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from grandag.engine.compiled import compiled, inlined

__all__ = ["covariance", "derivative_sums", "exponential"]

_BLOCK = 64
"""Rows whose sums are kept in float32 before they are added up in float64."""
_SMALLEST = np.float32(1e-12)
"""Smaller products count as this: their products in turn, in the factorisation, must not leave float32's range."""


@compiled
def covariance(left, right, inverse_squares, interaction, additive, is_symmetric, out):
    """out[a, b] = k(left[:, a], right[:, b]); of a symmetric matrix only b >= a."""
    n_inputs, n_right = right.shape
    products = np.empty(n_right, dtype=np.float32)
    for a in range(left.shape[1]):
        first = a if is_symmetric else 0
        product, row = products[first:], out[a, first:]
        product[:] = np.float32(1)
        row[:] = np.float32(0)
        for i in range(n_inputs):
            _add_term(product, row, right[i, first:], left[i, a], inverse_squares[i])
        for b in range(row.size):
            row[b] = interaction * product[b] + additive * row[b]


@inlined
def _add_term(product, row, values, value, inverse_square):
    for b in range(values.size):
        difference = values[b] - value
        k = exponential(inverse_square * difference * difference)
        product[b] = max(product[b] * k, _SMALLEST)
        row[b] += k


@compiled
def derivative_sums(left, right, inverse_squares, interaction, additive, is_symmetric, weights):
    """sum_ab G_ab dk_ab / d(w_1..w_p, s_f, s_a), for the weights G; of symmetric ones only b >= a is read.

    With D_i = (x_i - x_i')^2: dk/dw_i = -D_i (s_f prod_j k_j + s_a k_i), dk/ds_f = prod_j k_j, dk/ds_a = sum_j k_j.
    """
    n_inputs, n_right = right.shape
    totals = np.zeros(n_inputs + 2)
    sums = np.zeros((n_inputs + 2, n_right), dtype=np.float32)
    squares = np.empty((n_inputs, n_right), dtype=np.float32)
    terms = np.empty((n_inputs, n_right), dtype=np.float32)
    products = np.empty(n_right, dtype=np.float32)
    for a in range(left.shape[1]):
        first = a if is_symmetric else 0
        weight, weighted = weights[a, first:], products[first:]
        weighted[:] = np.float32(1)
        for i in range(n_inputs):
            _keep_term(weighted, squares[i, first:], terms[i, first:], right[i, first:], left[i, a], inverse_squares[i])
        for b in range(weighted.size):
            weighted[b] *= weight[b]
            sums[n_inputs, first + b] += weighted[b]
            weighted[b] *= interaction
        for i in range(n_inputs):
            _add_sums(
                sums[i, first:], sums[n_inputs + 1, first:], weighted, weight,
                squares[i, first:], terms[i, first:], additive,
            )  # fmt: skip
        if a % _BLOCK == _BLOCK - 1 or a == left.shape[1] - 1:
            _move(sums, totals)
    return totals


@inlined
def _keep_term(product, squares, terms, values, value, inverse_square):
    for b in range(values.size):
        difference = values[b] - value
        square = difference * difference
        k = exponential(inverse_square * square)
        squares[b] = square
        terms[b] = k
        product[b] = max(product[b] * k, _SMALLEST)


@inlined
def _add_sums(by_scale, by_variance, weighted, weight, squares, terms, variance):
    for b in range(weighted.size):
        k = weight[b] * terms[b]
        by_variance[b] += k
        by_scale[b] -= squares[b] * (weighted[b] + variance * k)


@compiled
def _move(sums, totals):
    for k in range(totals.size):
        total = 0.0
        for b in range(sums.shape[1]):
            total += sums[k, b]
        totals[k] += total
        sums[k] = 0


@inlined
def exponential(x):
    """exp(-x) for x >= 0 to float32 precision: 2^k 2^f with a whole k and |f| <= 1/2, a polynomial for 2^f."""
    y = max(x * np.float32(-1.4426950408889634), np.float32(-40))
    rounded = y + np.float32(12582912.0)  # 1.5 * 2^23: the whole number now stands in the last bits
    f = y - (rounded - np.float32(12582912.0))
    power = _fma(f, np.float32(0.0001540353), np.float32(0.0013333558))
    power = _fma(f, power, np.float32(0.0096181291))
    power = _fma(f, power, np.float32(0.0555041087))
    power = _fma(f, power, np.float32(0.2402265070))
    power = _fma(f, power, np.float32(0.6931471806))
    return _scale(_fma(f, power, np.float32(1)), rounded)


@intrinsic
def _fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c with one rounding."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        single = ir.FloatType()
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(single, [single] * 3), "llvm.fma.f32")
        return builder.call(function, arguments)

    return types.float32(types.float32, types.float32, types.float32), generate


@intrinsic
def _scale(typing_context: Any, power: Any, rounded: Any) -> Any:
    """Add the whole number in the last bits of `rounded` to the exponent of `power`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = ir.IntType(32)
        power, rounded = (builder.bitcast(argument, bits) for argument in arguments)
        exponent = builder.shl(rounded, ir.Constant(bits, 23))
        return builder.bitcast(builder.add(power, exponent), ir.FloatType())

    return types.float32(types.float32, types.float32), generate
