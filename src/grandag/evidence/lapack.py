"""LAPACK and BLAS in compiled code, without the interpreter's lock: threads then share a machine's cores.

scipy's wrappers hold the lock while they compute. Here the same routines are called by address: the symbols are made
known to the linker at import, so that code from numba's cache on disk finds them too. Matrices are C-contiguous and
symmetric or *upper* triangular, which the column-major routines see as lower triangular.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from numba.core import types
from numba.extending import get_cython_function_address

from grandag.engine.compiled import compiled

__all__ = ["factorise", "factorise_double", "invert", "solve_lower_double", "solve_upper_double"]


def _routine(module: str, name: str, n_arguments: int) -> Any:
    symbol = f"grandag_{name}"
    llvmlite.binding.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.{module}", name))
    return types.ExternalFunction(symbol, types.void(*[types.intp] * n_arguments))


_spotrf = _routine("cython_lapack", "spotrf", 5)
_dpotrf = _routine("cython_lapack", "dpotrf", 5)
_strtri = _routine("cython_lapack", "strtri", 6)
_slauum = _routine("cython_lapack", "slauum", 5)
_strmm = _routine("cython_blas", "strmm", 11)
_dtrsm = _routine("cython_blas", "dtrsm", 11)

_LETTERS = np.frombuffer(b"LRNT", dtype=np.uint8)
_LEFT, _RIGHT, _NORMAL, _TRANSPOSED = range(4)
_LOWER = _LEFT  # the same letter
_SIGNS = np.array([1.0, -1.0], dtype=np.float32)
_ONE = np.array([1.0])
_BASE = 32
"""Triangles up to this size are inverted directly, larger ones by halves: OpenBLAS's own `strtri` is slow below 500."""


@compiled
def factorise(matrix):
    """K = L L^T, in place: L^T in the upper triangle; whether K is positive definite. float32."""
    sizes = np.array([matrix.shape[0], 0], dtype=np.int32)
    at = sizes.ctypes.data
    _spotrf(_LETTERS.ctypes.data + _LOWER, at, matrix.ctypes.data, at, at + 4)
    return sizes[1] == 0


@compiled
def factorise_double(matrix):
    """Like `factorise`, for float64."""
    sizes = np.array([matrix.shape[0], 0], dtype=np.int32)
    at = sizes.ctypes.data
    _dpotrf(_LETTERS.ctypes.data + _LOWER, at, matrix.ctypes.data, at, at + 4)
    return sizes[1] == 0


@compiled
def invert(matrix):
    """K^-1 from the factor of K, in place, upper triangle: L^-1 by halves, then L^-T L^-1."""
    n = matrix.shape[0]
    letter = _LETTERS.ctypes.data
    sizes = np.array([n, 0, 0, 0], dtype=np.int32)
    full, first, second, info = sizes.ctypes.data + 4 * np.arange(4)
    start = matrix.ctypes.data
    for s in range(0, n, _BASE):
        sizes[1] = min(_BASE, n - s)
        _strtri(letter + _LOWER, letter + _NORMAL, first, start + 4 * s * (n + 1), full, info)
    size = _BASE
    while size < n:
        sizes[1] = size
        for s in range(0, n - size, 2 * size):
            sizes[2] = min(size, n - s - size)
            upper_left = start + 4 * s * (n + 1)
            below, lower_right = upper_left + 4 * size, upper_left + 4 * size * (n + 1)
            _multiply_triangle(_LEFT, second, first, 1, lower_right, below, full)
            _multiply_triangle(_RIGHT, second, first, 0, upper_left, below, full)
        size *= 2
    _slauum(letter + _LOWER, full, start, full, info)
    return sizes[3] == 0


@compiled
def _multiply_triangle(side, n_rows, n_columns, sign, triangle, block, stride):
    """block <- +-triangle @ block, or block @ triangle."""
    letter = _LETTERS.ctypes.data
    factor = _SIGNS.ctypes.data + 4 * sign
    _strmm(
        letter + side, letter + _LOWER, letter + _NORMAL, letter + _NORMAL,
        n_rows, n_columns, factor, triangle, stride, block, stride,
    )  # fmt: skip


@compiled
def solve_lower_double(factor, right):
    """L^-1 B for the factor L^T (m, m) as `factorise_double` leaves it; B^T (n, m) is overwritten with the result."""
    _solve_double(_NORMAL, factor, right)


@compiled
def solve_upper_double(factor, right):
    """L^-T B, likewise."""
    _solve_double(_TRANSPOSED, factor, right)


@compiled
def _solve_double(form, factor, right):
    letter = _LETTERS.ctypes.data
    sizes = np.array([factor.shape[0], right.shape[0]], dtype=np.int32)
    m, n = sizes.ctypes.data, sizes.ctypes.data + 4
    _dtrsm(
        letter + _LEFT, letter + _LOWER, letter + form, letter + _NORMAL,
        m, n, _ONE.ctypes.data, factor.ctypes.data, m, right.ctypes.data, m,
    )  # fmt: skip
    return sizes[0]
