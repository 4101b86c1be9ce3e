"""Files and directories that are replaced as a whole: whoever looks, or is killed, finds the old one or the new one."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["check_directory", "check_file", "is_same_file", "replacing", "replacing_directory", "write_text"]

_HERE = -100  # AT_FDCWD: paths are relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` when all went well; otherwise nothing has changed.

    It is written beside `path` and renamed. What is no regular file, as /dev/stdout, is written to as it is.
    """
    if _is_special(path):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(path).resolve()
    beside = _beside(target)
    try:
        with beside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, as a whole."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8"))


@contextmanager
def replacing_directory(path: str | Path) -> Iterator[Path]:
    """An empty directory to write to; its files take the place of those of the same names in `path` when all went well.

    Other files in `path` stay. Where the system can exchange two directories, all files change in one moment.
    Elsewhere, and where `path` has directories in it or cannot be renamed (the working directory, a volume), one file
    changes after the other, each of them as a whole.
    """
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = _beside(target)
    beside.mkdir()
    try:
        yield beside
        _install(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _install(new: Path, target: Path) -> None:
    if not target.exists():
        new.rename(target)
    elif not _exchange(new, target):
        for file in sorted(new.iterdir()):
            file.replace(target / file.name)


def _exchange(new: Path, target: Path) -> bool:
    """Let two directories change places in one moment, with the target's other files kept; False where that fails."""
    others = [entry for entry in target.iterdir() if not (new / entry.name).exists()]
    if target == Path.cwd() or any(entry.is_dir() and not entry.is_symlink() for entry in others):
        return False
    try:
        for entry in others:
            os.link(entry, new / entry.name, follow_symlinks=False)
        new.chmod(stat.S_IMODE(target.stat().st_mode))
        rename = ctypes.CDLL(None).renameat2
        renamed = bool(rename(_HERE, os.fsencode(new), _HERE, os.fsencode(target), _EXCHANGE) == 0)
    except (AttributeError, OSError):  # another C library, or a file system without links
        renamed = False
    if not renamed:
        for entry in others:
            (new / entry.name).unlink(missing_ok=True)
    return renamed


def _is_special(path: str | Path) -> bool:
    """Is it a device or a pipe?"""
    return Path(path).exists() and not Path(path).is_file()


def _beside(target: Path) -> Path:
    """An unused name in the same directory, and hence on the same file system."""
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")


def is_same_file(path: str | Path, other: str | Path) -> bool:
    """Do two paths lead to one file?"""
    try:
        return Path(path).samefile(other)
    except OSError:
        return Path(path).absolute() == Path(other).absolute()


def check_file(path: str | Path) -> None:
    """Raise an OSError that says so if a file of this name cannot be written; nothing is left behind."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a directory; name a file.")
    if not _is_special(path):
        _check_place(path, Path(path).resolve().parent)


def check_directory(path: str | Path) -> None:
    """Raise an OSError that says so if files cannot be written to a directory of this name; nothing is left behind."""
    target = Path(path).resolve()
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(f"{str(path)!r} is a file; name a directory.")
    _check_place(path, target)


def _check_place(path: str | Path, directory: Path) -> None:
    """Try it, in the nearest directory that exists: permissions alone do not say whether a disk takes files."""
    existing = next(place for place in (directory, *directory.parents) if os.path.lexists(place))
    if not existing.is_dir():
        raise NotADirectoryError(f"{str(path)!r} would lie inside a file; name another place.")
    probe = _beside(existing / "probe")
    try:
        probe.touch(exist_ok=False)
    except OSError as error:
        raise type(error)(f"{str(path)!r} cannot be written: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
