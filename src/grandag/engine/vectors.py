"""The inner loops that all of the engine's arithmetic runs through.

The networks are tiny (10 units) and the batch is short (64 rows), so neither BLAS nor a vectorising compiler does
well on them: the first is all call overhead, the second reloads and stores every partial sum. Here the partial sums
of a small tile stay in vector registers for the whole sum, which LLVM is told directly:

- `multiply`: out = left @ right[rows]  (forward pass, back-propagation, matrix powers),
- `multiply_transposed`: out = left @ right[rows].T  (gradients of weights),
- `dot`: one such sum alone,
- `add_absolute`, `add_signed`: path products of absolute weights, and their gradient.

`rows` is the list of active inputs: what it leaves out costs nothing. The last axis of `out` and `right` in the
first function, of `left` and `right` in the second, is contiguous and padded to a multiple of `LANES`.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from grandag.engine.compiled import compiled, inlined

__all__ = ["COLUMNS", "LANES", "add_absolute", "add_signed", "dot", "multiply", "multiply_transposed", "padded", "view"]

LANES = 16
"""Padding unit of contiguous axes: 16 float32 fill one 512-bit register."""

_has_wide_registers = dict(llvmlite.binding.get_host_cpu_features()).get("avx512f", False)
_WIDTH = 16 if _has_wide_registers else 8
_TILE_ROWS = 5
_TILE_WIDTH = 32 if _has_wide_registers else 16
COLUMNS = 4 if _has_wide_registers else 2
"""`multiply_transposed` computes this many columns at once."""


@compiled
def multiply(out, left, right, rows):
    """out[r, c] = sum_p left[r, p] * right[rows[p], c]; `rows` may be shorter than `left` is wide."""
    n_out, width = out.shape
    n_tiled = n_out - n_out % _TILE_ROWS
    c = 0
    while c + _TILE_WIDTH <= width:
        for r in range(0, n_tiled, _TILE_ROWS):
            _wide_tile(out, left, right, rows, r, c)
        for r in range(n_tiled, n_out):
            _wide_row(out, left, right, rows, r, c)
        c += _TILE_WIDTH
    while c < width:
        for r in range(0, n_tiled, _TILE_ROWS):
            _tile(out, left, right, rows, r, c)
        for r in range(n_tiled, n_out):
            _row(out, left, right, rows, r, c)
        c += _WIDTH


@compiled
def multiply_transposed(out, left, right, rows):
    """out[r, c] = sum_b left[r, b] * right[rows[c], b]; the number of rows is a multiple of `COLUMNS`."""
    n_out = left.shape[0]
    r = 0
    while r + _TILE_ROWS <= n_out:
        for c in range(0, rows.size, COLUMNS):
            _tile_of_dots(out, left, right, rows, r, c)
        r += _TILE_ROWS
    while r < n_out:
        for c in range(0, rows.size, COLUMNS):
            _row_of_dots(out, left, right, rows, r, c)
        r += 1


@intrinsic
def dot(typing_context, a, b):
    """sum_k a[k] * b[k] over all of a, whose size is a multiple of `LANES`."""

    def generate(context, builder, signature, arguments):
        a, b = (_Matrix(context, builder, *pair) for pair in zip(signature.args, arguments, strict=True))
        integer = a.shape[0].type
        total = cgutils.alloca_once_value(builder, ir.Constant(ir.VectorType(a.element, _WIDTH), None))
        start, step = ir.Constant(integer, 0), ir.Constant(integer, _WIDTH)
        with cgutils.for_range_slice(builder, start, a.shape[0], step, intp=integer) as (k, _):
            _add_product(builder, total, a.load_vector(k), b.load_vector(k))
        return _sum_of_lanes(builder, total)

    return a.dtype(a, b), generate


@intrinsic
def add_signed(typing_context, gradient, weights, below, factor):
    """gradient[c] += factor * sign(weights[c]) * below[c]; returns sum_c |weights[c]| below[c]."""

    def generate(context, builder, signature, arguments):
        gradient, weights, below = (
            _Matrix(context, builder, *pair) for pair in zip(signature.args[:3], arguments[:3], strict=True)
        )
        integer = weights.shape[0].type
        zero = ir.Constant(ir.VectorType(weights.element, _WIDTH), None)
        total = cgutils.alloca_once_value(builder, zero)
        factors = _splat(builder, arguments[3])
        start, step = ir.Constant(integer, 0), ir.Constant(integer, _WIDTH)
        with cgutils.for_range_slice(builder, start, weights.shape[0], step, intp=integer) as (c, _):
            weight, b = weights.load_vector(c), below.load_vector(c)
            is_positive, is_negative = (builder.fcmp_ordered(sign, weight, zero) for sign in "><")
            signed = builder.select(is_positive, b, builder.select(is_negative, builder.fsub(zero, b), zero))
            _add_product(builder, total, signed, weight)
            gradient.store_vector(_fma(builder, factors, signed, gradient.load_vector(c)), c)
        return _sum_of_lanes(builder, total)

    return weights.dtype(gradient, weights, below, weights.dtype), generate


@intrinsic
def add_absolute(typing_context, sums, weights, factor):
    """sums[c] += factor * |weights[c]| over all of `weights`."""

    def generate(context, builder, signature, arguments):
        sums, weights = (
            _Matrix(context, builder, *pair) for pair in zip(signature.args[:2], arguments[:2], strict=True)
        )
        integer = weights.shape[0].type
        zero = ir.Constant(ir.VectorType(weights.element, _WIDTH), None)
        factors = _splat(builder, arguments[2])
        start, step = ir.Constant(integer, 0), ir.Constant(integer, _WIDTH)
        with cgutils.for_range_slice(builder, start, weights.shape[0], step, intp=integer) as (c, _):
            weight = weights.load_vector(c)
            is_negative = builder.fcmp_ordered("<", weight, zero)
            absolute = builder.select(is_negative, builder.fsub(zero, weight), weight)
            sums.store_vector(_fma(builder, factors, absolute, sums.load_vector(c)), c)
        return context.get_dummy_value()

    return types.void(sums, weights, weights.dtype), generate


@intrinsic
def view(typing_context, array, start, shape):
    """The numbers of a C-contiguous array from element `start` on, seen as an array of the shape (a tuple).

    Unlike a slice it is not counted as a reference: counters are shared between threads and cost more than what is
    done with most of these views. It must not outlive the array.
    """
    result = types.Array(array.dtype, len(shape), "C")

    def generate(context, builder, signature, arguments):
        array, start, shape = arguments
        parent = context.make_array(signature.args[0])(context, builder, array)
        sizes = cgutils.unpack_tuple(builder, shape)
        strides, stride = [], parent.itemsize
        for size in reversed(sizes):
            strides.insert(0, stride)
            stride = builder.mul(stride, size)
        child = context.make_array(result)(context, builder)
        data = builder.gep(parent.data, [start])
        arrayobj.populate_array(child, data, sizes, strides, parent.itemsize, meminfo=None)
        return child._getvalue()

    return result(array, types.intp, types.UniTuple(types.intp, len(shape))), generate


@inlined
def padded(size):
    """The smallest multiple of `LANES` that holds `size` numbers."""
    return -(-size // LANES) * LANES


class _Matrix:
    """Element addresses of a numba array (one or two axes) inside generated code."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any) -> None:
        view = context.make_array(array_type)(context, builder, array)
        self.builder = builder
        self.element = view.data.type.pointee
        self.bytes = 4 if isinstance(self.element, ir.FloatType | ir.IntType) else 8
        self.data = view.data
        self.shape = cgutils.unpack_tuple(builder, view.shape)
        self.strides = [
            builder.sdiv(stride, ir.Constant(stride.type, self.bytes))
            for stride in cgutils.unpack_tuple(builder, view.strides)
        ]

    def address(self, *index: Any) -> Any:
        pointer = self.data
        for position, stride in zip(index, self.strides, strict=True):
            pointer = self.builder.gep(pointer, [self.builder.mul(position, stride)])
        return pointer

    def load(self, *index: Any) -> Any:
        return self.builder.load(self.address(*index))

    def load_vector(self, *index: Any) -> Any:
        vector = ir.VectorType(self.element, _WIDTH)
        return self.builder.load(self.builder.bitcast(self.address(*index), vector.as_pointer()), align=self.bytes)

    def store_vector(self, value: Any, *index: Any) -> None:
        pointer = self.builder.bitcast(self.address(*index), value.type.as_pointer())
        self.builder.store(value, pointer, align=self.bytes)


def _splat(builder: Any, scalar: Any) -> Any:
    undefined = ir.Constant(ir.VectorType(scalar.type, _WIDTH), ir.Undefined)
    single = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
    return _shuffle(builder, single, undefined, [0] * _WIDTH)


def _shuffle(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c with one rounding."""
    bits = 32 if isinstance(a.type.element, ir.FloatType) else 64
    signature = ir.FunctionType(a.type, [a.type] * 3)
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.fma.v{a.type.count}f{bits}")
    return builder.call(function, [a, b, c])


def _add_product(builder: Any, total: Any, a: Any, b: Any) -> None:
    """total += a * b, `total` being a local variable."""
    builder.store(_fma(builder, a, b, builder.load(total)), total)


def _sum_of_lanes(builder: Any, total: Any) -> Any:
    """The sum of the lanes of a local variable."""
    return builder.extract_element(_sums_of_lanes(builder, [builder.load(total)]), ir.Constant(ir.IntType(32), 0))


def _sums_of_lanes(builder: Any, vectors: list[Any]) -> Any:
    """One vector whose element k is the sum of the lanes of `vectors[k]`.

    Each round adds neighbouring lanes, of two vectors side by side as long as there are several.
    """
    n_sums = len(vectors)
    while len(vectors) > 1 or vectors[0].type.count > n_sums:
        several = len(vectors) > 1
        pairs = list(zip(vectors[::2], vectors[1::2], strict=True)) if several else [(vectors[0], vectors[0])]
        n_lanes = vectors[0].type.count * (2 if several else 1)
        even, odd = list(range(0, n_lanes, 2)), list(range(1, n_lanes, 2))
        vectors = [builder.fadd(_shuffle(builder, *pair, even), _shuffle(builder, *pair, odd)) for pair in pairs]
    return vectors[0]


def _generated(write: Any) -> Any:
    """The intrinsic (out, left, right, rows, r, c) whose code `write(builder, out, left, right, rows, r, c)` emits."""

    @intrinsic
    def function(typing_context, out, left, right, rows, r, c):
        def generate(context, builder, signature, arguments):
            matrices = [
                _Matrix(context, builder, array_type, array)
                for array_type, array in zip(signature.args[:4], arguments[:4], strict=True)
            ]
            write(builder, *matrices, *arguments[4:])
            return context.get_dummy_value()

        return types.void(out, left, right, rows, types.intp, types.intp), generate

    return function


def _rows_kernel(n_rows: int, n_vectors: int) -> Any:
    """out[r + k, c:c + width] = sum_p left[r + k, p] * right[rows[p], c:c + width] for k < n_rows."""

    def write(builder: Any, out: Any, left: Any, right: Any, rows: Any, r: Any, c: Any) -> None:
        zero = ir.Constant(ir.VectorType(out.element, _WIDTH), None)
        totals = [[cgutils.alloca_once_value(builder, zero) for _ in range(n_vectors)] for _ in range(n_rows)]
        out_rows = [builder.add(r, ir.Constant(r.type, k)) for k in range(n_rows)]
        columns = [builder.add(c, ir.Constant(c.type, k * _WIDTH)) for k in range(n_vectors)]
        with cgutils.for_range(builder, rows.shape[0], intp=c.type) as loop:
            right_row = builder.sext(rows.load(loop.index), c.type)
            x = [right.load_vector(right_row, column) for column in columns]
            for row, row_totals in zip(out_rows, totals, strict=True):
                factor = _splat(builder, left.load(row, loop.index))
                for k in range(n_vectors):
                    _add_product(builder, row_totals[k], factor, x[k])
        for row, row_totals in zip(out_rows, totals, strict=True):
            for column, total in zip(columns, row_totals, strict=True):
                out.store_vector(builder.load(total), row, column)

    return _generated(write)


def _dots_kernel(n_rows: int, n_columns: int) -> Any:
    """out[r + k, c + l] = sum_b left[r + k, b] * right[rows[c + l], b] for k < n_rows, l < n_columns."""

    def write(builder: Any, out: Any, left: Any, right: Any, rows: Any, r: Any, c: Any) -> None:
        zero = ir.Constant(ir.VectorType(out.element, _WIDTH), None)
        totals = [[cgutils.alloca_once_value(builder, zero) for _ in range(n_columns)] for _ in range(n_rows)]
        out_rows = [builder.add(r, ir.Constant(r.type, k)) for k in range(n_rows)]
        right_rows = [builder.sext(rows.load(builder.add(c, ir.Constant(c.type, k))), c.type) for k in range(n_columns)]
        start, step = ir.Constant(c.type, 0), ir.Constant(c.type, _WIDTH)
        with cgutils.for_range_slice(builder, start, left.shape[1], step, intp=c.type) as (b, _):
            x = [right.load_vector(row, b) for row in right_rows]
            for row, row_totals in zip(out_rows, totals, strict=True):
                y = left.load_vector(row, b)
                for k in range(n_columns):
                    _add_product(builder, row_totals[k], y, x[k])
        for row, row_totals in zip(out_rows, totals, strict=True):
            out.store_vector(_sums_of_lanes(builder, [builder.load(total) for total in row_totals]), row, c)

    return _generated(write)


_wide_tile = _rows_kernel(_TILE_ROWS, _TILE_WIDTH // _WIDTH)
_wide_row = _rows_kernel(1, _TILE_WIDTH // _WIDTH)
_tile = _rows_kernel(_TILE_ROWS, 1)
_row = _rows_kernel(1, 1)
_tile_of_dots = _dots_kernel(_TILE_ROWS, COLUMNS)
_row_of_dots = _dots_kernel(1, COLUMNS)
