"""Arrays in a zip archive (numpy's npz) that may come from strangers: read only after their headers have been checked.

An archive says how large its members are before anything is read. Members that are no plain arrays, whose size is not
that of their shape, and archives that unpack to far more than they are, are refused.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

__all__ = ["read_arrays"]

_MOST_BYTES = 1 << 29
"""An archive may always unpack to so much, half a gigabyte: zeros compress well."""

_MOST_TIMES = 100
"""Beyond that, to so many times its own size."""

_KINDS = "biufU"
"""Truth values, numbers and text; no objects, which would be pickled, and no records."""


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive by name; raises ValueError or zipfile.BadZipFile."""
    if not path.is_file():
        raise ValueError("it is no regular file")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > max(_MOST_BYTES, _MOST_TIMES * path.stat().st_size):
            raise ValueError(f"it would unpack to {size / 1e9:.1f} GB")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two of its arrays have the same name")
        return {member.filename.removesuffix(".npy"): _read(archive, member) for member in members}


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    is_plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not member.flag_bits & 1
    if not (member.filename.endswith(".npy") and is_plain):
        raise ValueError(f"{member.filename[:50]!r} in it is no array")
    with archive.open(member) as stream:
        return _array(stream, member.filename, member.file_size)


def _array(stream: IO[bytes], name: str, size: int) -> np.ndarray:
    """An array of numpy's npy format, version 1, which must have the size that its header implies."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name[:50]!r} in it has another format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in _KINDS or dtype.shape or min(shape, default=0) < 0:
        raise ValueError(f"{name[:50]!r} in it is no array of numbers or text")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise ValueError(f"{name[:50]!r} in it has not the size of its shape")
    content = np.frombuffer(bytearray(stream.read()), dtype if dtype.itemsize else np.uint8)
    if dtype.kind == "b" and content.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name[:50]!r} in it is neither true nor false")
    return _shaped(content.astype(dtype.newbyteorder("=")), shape, is_fortran)


def _shaped(content: np.ndarray, shape: tuple[int, ...], is_fortran: bool) -> np.ndarray:
    if content.dtype.itemsize == 0:  # text without a letter
        return np.zeros(shape, content.dtype)
    if content.dtype.kind == "U":
        content.tolist()  # raises for what is no text
    return np.ascontiguousarray(content.reshape(shape, order="F" if is_fortran else "C")).reshape(shape)
