"""What strangers may send: files that are regular and in proportion, and errors of one short line about them.

Compressed files are unpacked, and arrays read, only as far as they do not claim to be far more than they are. Nothing
is unpickled.
"""

from __future__ import annotations

import bz2
import difflib
import gzip
import lzma
import math
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np

__all__ = [
    "MOST_VARIABLES",
    "UNPACKERS",
    "InputError",
    "TableError",
    "brief",
    "check_proportion",
    "read_array",
    "read_arrays",
    "read_content",
    "reason_of",
    "suggestion",
]  # fmt: skip

MOST_VARIABLES = 10_000
"""Columns to learn from, and nodes of a graph: a matrix over more of them would take a gigabyte and more."""

_MOST_BYTES = 1 << 28
"""A file may always unpack to so much, a quarter of a gigabyte: zeros compress well."""

_MOST_TIMES = 100
"""Beyond that, to so many times its own size."""

_KINDS = "biufU"
"""Truth values, numbers and text; no objects, which would be pickled, and no records."""

_CHUNK, _LONGEST, _END = 1 << 20, 500, 150


class InputError(ValueError):
    """Something from outside cannot be used; the message says why, on one line, and is short whatever it quotes."""

    def __init__(self, message: str) -> None:
        super().__init__(brief(message))


class TableError(InputError):
    """The table cannot be used; the message says which column, what was found, and what to do."""


def suggestion(name: str, known: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, if any is near."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def brief(message: str) -> str:
    r"""A message on one line; of a long one the beginning, and the end, where the advice is.

    >>> brief("Two\nlines"), len(brief("word " * 1000))
    ('Two lines', 500)
    """
    line = " ".join(message.splitlines())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - _END - 5]} ... {line[-_END:]}"


def reason_of(error: Exception) -> str:
    """What an error of another program says, or else its name; for the end of a sentence of ours."""
    return str(error).rstrip(". \n") or type(error).__name__


def read_content(path: Path) -> bytes:
    """The bytes of a file, unpacked if its ending says that they are compressed."""
    _check_regular(path)
    if path.suffix not in UNPACKERS:
        return path.read_bytes()
    content = bytearray()
    with UNPACKERS[path.suffix](path) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            check_proportion(path, len(content))
    return bytes(content)


def check_proportion(path: Path, n_bytes: int) -> None:
    """Refuse a file that would take far more memory than it has bytes."""
    _check_regular(path)
    if n_bytes > max(_MOST_BYTES, _MOST_TIMES * path.stat().st_size):
        raise ValueError(f"it would unpack to {n_bytes / 1e9:,.1f} GB or more")


def _check_regular(path: Path) -> None:
    """Refuse pipes, at which one would wait, and devices, which never end."""
    if not path.is_file():
        raise ValueError("it is no regular file")


def _unzipped(path: Path) -> IO[bytes]:
    """The one file in an archive."""
    archive = zipfile.ZipFile(path)
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        raise ValueError(f"it holds {len(members)} files: unpack it and name one")
    return archive.open(members[0])


UNPACKERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _unzipped,
}
"""Endings of compressed files, and what opens them."""


def read_array(path: Path) -> np.ndarray:
    """The array in a .npy file; a large one of numbers is mapped into memory, to be read when it is used."""
    _check_regular(path)
    size = path.stat().st_size
    with path.open("rb") as stream:
        header = _header(stream, "it", size)
        if size <= _MOST_BYTES or header.dtype.kind not in "iuf":
            return _content(stream, "it", header)
    order: Literal["F", "C"] = "F" if header.is_fortran else "C"
    return np.memmap(path, header.dtype, "r", header.start, header.shape, order)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive (numpy's npz) by name.

    It says how large its members are before anything is read.
    """
    _check_regular(path)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        check_proportion(path, sum(member.file_size for member in members))
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two of its arrays have the same name")
        return {member.filename.removesuffix(".npy"): _member(archive, member) for member in members}


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    is_plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not member.flag_bits & 1
    if not (member.filename.endswith(".npy") and is_plain):
        raise ValueError(f"{member.filename[:50]!r} in it is no array")
    name = f"{member.filename[:50]!r} in it"
    with archive.open(member) as stream:
        return _content(stream, name, _header(stream, name, member.file_size))


class _Header(NamedTuple):
    """What an array says of itself, and where its numbers begin."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    start: int


def _header(stream: IO[bytes], name: str, size: int) -> _Header:
    """The header of numpy's npy format, version 1; the array must have the size that it implies."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} has another format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.kind not in _KINDS or dtype.shape or min(shape, default=0) < 0:
        raise ValueError(f"{name} is no array of numbers or text")
    if math.prod(shape) * dtype.itemsize != size - stream.tell():
        raise ValueError(f"{name} has not the size of its shape")
    return _Header(shape, is_fortran, dtype, stream.tell())


def _content(stream: IO[bytes], name: str, header: _Header) -> np.ndarray:
    """The array itself."""
    shape, is_fortran, dtype, _ = header
    content = np.frombuffer(bytearray(stream.read()), dtype if dtype.itemsize else np.uint8)
    if dtype.kind == "b" and content.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name} is neither true nor false")
    return _shaped(content.astype(dtype.newbyteorder("="), copy=False), shape, is_fortran)


def _shaped(content: np.ndarray, shape: tuple[int, ...], is_fortran: bool) -> np.ndarray:
    if content.dtype.itemsize == 0:  # text without a letter
        return np.zeros(shape, content.dtype)
    if content.dtype.kind == "U":
        content.tolist()  # raises for what is no text
    return np.ascontiguousarray(content.reshape(shape, order="F" if is_fortran else "C")).reshape(shape)
