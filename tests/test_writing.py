"""What is written is there as a whole, or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grandag.writing import check_directory, check_file, is_same_file, replacing, replacing_directory, write_text

WRITER = """
import signal, sys
from pathlib import Path
from grandag.writing import replacing, replacing_directory

signal.signal(signal.SIGINT, signal.default_int_handler)  # children of scripts may ignore it
file, directory = Path(sys.argv[1]), Path(sys.argv[2])
for version in range(1, 1_000_000):
    text = str(version).encode() * 2_000
    with replacing(file) as stream:
        for start in range(0, len(text), 500):
            stream.write(text[start : start + 500])
            stream.flush()
    with replacing_directory(directory) as new:
        for name in "abcdef":
            (new / name).write_bytes(text)
    if version == 1:
        print("one is written", flush=True)
"""


ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def is_whole(text: bytes) -> bool:
    unit = text[: len(text) // 2_000]
    return len(text) > 0 and unit * 2_000 == text


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_random_moments_leaves_old_or_new(tmp_path, number):
    """Twenty writers die in the middle; what they leave is one version, in every file of the directory the same."""
    rng = np.random.default_rng(int(number))
    file, directory = tmp_path / "file", tmp_path / "directory"
    for _ in range(20):
        command = [sys.executable, "-c", WRITER, str(file), str(directory)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as process:
            assert process.stdout.readline() == b"one is written\n"
            try:
                process.wait(float(rng.uniform(0, 0.1)))
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        assert is_whole(file.read_bytes())
        versions = {path.name: path.read_bytes() for path in directory.iterdir()}
        assert sorted(versions) == list("abcdef")
        assert len(set(versions.values())) == 1
        assert is_whole(versions["a"])


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(OSError, match="full"), replacing(path) as stream:
        stream.write(b"new")
        raise OSError("the disk is full")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit for the size of files stands for it."""
    program = (
        "import resource, sys; from grandag.writing import write_text; write_text(sys.argv[1], 'old'); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); write_text(sys.argv[1], 'new' * 1000)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "file")]
    process = subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)
    assert b"File too large" in process.stderr
    assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_modes_and_links_stay(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    write_text(path, "old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to_as_it_is():
    program = (
        "from grandag.writing import check_file, write_text; check_file('/dev/stdout'); write_text('/dev/stdout', 'x')"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=ENVIRONMENT)
    assert process.stdout == b"x"


def test_other_files_of_a_directory_stay(tmp_path):
    directory = tmp_path / "directory"
    directory.mkdir()
    (directory / "ours").write_text("old")
    (directory / "theirs").write_text("kept")
    with replacing_directory(directory) as new:
        (new / "ours").write_text("new")
    assert (directory / "ours").read_text() == "new"
    assert (directory / "theirs").read_text() == "kept"
    assert names(tmp_path) == ["directory"]


@pytest.mark.parametrize("is_here", [True, False])
def test_directories_that_cannot_change_places(tmp_path, monkeypatch, is_here):
    """The working directory, and one with directories in it, get their files one by one."""
    (tmp_path / "ours").write_text("old")
    if is_here:
        monkeypatch.chdir(tmp_path)
    else:
        (tmp_path / "below").mkdir()
    inode = tmp_path.stat().st_ino
    with replacing_directory(tmp_path) as new:
        (new / "ours").write_text("new")
    assert (tmp_path / "ours").read_text() == "new"
    assert tmp_path.stat().st_ino == inode


def test_a_failure_leaves_the_old_directory(tmp_path):
    directory = tmp_path / "directory"
    directory.mkdir()
    (directory / "ours").write_text("old")
    with pytest.raises(ValueError, match="wrong"), replacing_directory(directory) as new:
        (new / "ours").write_text("new")
        raise ValueError("something is wrong")
    assert (directory / "ours").read_text() == "old"
    assert names(tmp_path) == ["directory"]


def test_unusable_places_are_refused_before_anything_is_written(tmp_path):
    (tmp_path / "file").touch()
    check_file(tmp_path / "new" / "file")
    check_file("/dev/null")
    check_directory(tmp_path / "new" / "directory")
    for path, check, message in (
        (tmp_path, check_file, "is a directory"),
        (tmp_path / "file" / "below", check_file, "inside a file"),
        (tmp_path / "file", check_directory, "is a file"),
        (tmp_path / "file" / "below", check_directory, "inside a file"),
        (Path("/proc/grandag/file"), check_file, "cannot be written"),
        (Path("/proc/grandag"), check_directory, "cannot be written"),
    ):
        with pytest.raises(OSError, match=message):
            check(path)
    assert names(tmp_path) == ["file"]


def test_the_same_file_by_another_name(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    assert is_same_file(file, file)
    file.touch()
    link.symlink_to(file)
    assert is_same_file(link, file)
    assert not is_same_file(tmp_path / "other", file)
