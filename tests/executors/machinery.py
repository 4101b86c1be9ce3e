"""Processes seen from outside."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

LONG = 600.0

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes through /proc")


def wait_for(condition):
    """Longer than any machine needs, however busy: a failure means that it does not happen, not that it is late."""
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(pid):
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended meanwhile
            found += [int(word) for word in file.read_text().split()]
    return found
