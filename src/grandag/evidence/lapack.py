"""LAPACK and BLAS in compiled code, without the interpreter's lock: threads then share a machine's cores.

scipy's wrappers hold the lock while they compute. Here the same routines are called by address: the symbols are made
known to the linker at import, so that code from numba's cache on disk finds them too. Matrices are C-contiguous and
symmetric or *upper* triangular, which the column-major routines see as lower triangular; float32 or float64.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from numba.core import types
from numba.extending import get_cython_function_address, overload

from grandag.engine.compiled import compiled

__all__ = ["factorise", "invert", "solve_lower", "solve_upper"]


def _routine(module: str, name: str, n_arguments: int) -> Any:
    """A routine for compiled code: called with a matrix, which says in what precision, and the addresses."""
    by_precision = {}
    for letter, precision in (("s", types.float32), ("d", types.float64)):
        symbol = f"grandag_{letter}{name}"
        llvmlite.binding.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.{module}", letter + name))
        by_precision[precision] = types.ExternalFunction(symbol, types.void(*[types.intp] * n_arguments))

    def call(matrix: Any, *addresses: int) -> None:
        raise NotImplementedError("only compiled code can call this")

    @overload(call)
    def implement(matrix: Any, *addresses: Any) -> Any:
        routine = by_precision[matrix.dtype]

        def implementation(matrix: Any, *addresses: Any) -> None:
            routine(*addresses)

        return implementation

    return call


_potrf = _routine("cython_lapack", "potrf", 5)
_trtri = _routine("cython_lapack", "trtri", 6)
_lauum = _routine("cython_lapack", "lauum", 5)
_trmm = _routine("cython_blas", "trmm", 11)
_trsm = _routine("cython_blas", "trsm", 11)

_LETTERS = np.frombuffer(b"LRNT", dtype=np.uint8)
_LEFT, _RIGHT, _NORMAL, _TRANSPOSED = range(4)
_LOWER = _LEFT  # the same letter
_BASE = 32
"""Triangles up to this size are inverted directly, larger ones by halves: OpenBLAS's own `strtri` is slow below 500."""


@compiled
def factorise(matrix):
    """K = L L^T, in place: L^T in the upper triangle; whether K is positive definite."""
    sizes = np.array([matrix.shape[0], 0], dtype=np.int32)
    at = sizes.ctypes.data
    _potrf(matrix, _LETTERS.ctypes.data + _LOWER, at, matrix.ctypes.data, at, at + 4)
    return sizes[1] == 0


@compiled
def invert(matrix):
    """K^-1 from the factor of K, in place, upper triangle: L^-1 by halves, then L^-T L^-1."""
    n, width = matrix.shape[0], matrix.itemsize
    letter = _LETTERS.ctypes.data
    sizes = np.array([n, 0, 0, 0], dtype=np.int32)
    full, first, second, info = sizes.ctypes.data + 4 * np.arange(4)
    start = matrix.ctypes.data
    for s in range(0, n, _BASE):
        sizes[1] = min(_BASE, n - s)
        _trtri(matrix, letter + _LOWER, letter + _NORMAL, first, start + width * s * (n + 1), full, info)
    size = _BASE
    while size < n:
        sizes[1] = size
        for s in range(0, n - size, 2 * size):
            sizes[2] = min(size, n - s - size)
            upper_left = start + width * s * (n + 1)
            below, lower_right = upper_left + width * size, upper_left + width * size * (n + 1)
            _multiply_triangle(matrix, _LEFT, second, first, -1.0, lower_right, below, full)
            _multiply_triangle(matrix, _RIGHT, second, first, 1.0, upper_left, below, full)
        size *= 2
    _lauum(matrix, letter + _LOWER, full, start, full, info)
    return sizes[3] == 0


@compiled
def _multiply_triangle(matrix, side, n_rows, n_columns, factor, triangle, block, stride):
    """block <- factor * triangle @ block, or block @ triangle; both are parts of the matrix."""
    letter = _LETTERS.ctypes.data
    scale = np.full(1, factor).astype(matrix.dtype)
    _trmm(
        matrix, letter + side, letter + _LOWER, letter + _NORMAL, letter + _NORMAL,
        n_rows, n_columns, scale.ctypes.data, triangle, stride, block, stride,
    )  # fmt: skip
    return scale[0]


@compiled
def solve_lower(factor, right):
    """L^-1 B for the factor L^T (m, m) as `factorise` leaves it; B^T (n, m) is overwritten with the result."""
    _solve(_NORMAL, factor, right)


@compiled
def solve_upper(factor, right):
    """L^-T B, likewise."""
    _solve(_TRANSPOSED, factor, right)


@compiled
def _solve(form, factor, right):
    letter = _LETTERS.ctypes.data
    sizes = np.array([factor.shape[0], right.shape[0]], dtype=np.int32)
    one = np.ones(1, dtype=factor.dtype)
    m, n = sizes.ctypes.data, sizes.ctypes.data + 4
    _trsm(
        factor, letter + _LEFT, letter + _LOWER, letter + form, letter + _NORMAL,
        m, n, one.ctypes.data, factor.ctypes.data, m, right.ctypes.data, m,
    )  # fmt: skip
    return sizes[0]
