"""The progress line, drawn on terminals of any width."""

import io
import re

import pytest
from rich.console import Console

from grandag.progress import Progress, progress_line, progress_lines


def shown(progress: Progress, width: int) -> str:
    """All that a terminal of this width was told to show."""
    stream = io.StringIO()
    with progress_line(Console(file=stream, force_terminal=True, width=width, color_system=None)) as listener:
        listener(progress)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 150])
def test_stage_and_time_are_seen_at_any_width(width):
    everything = Progress("train", 12_345, 100_000, h=1.2e-5, held_out=-1.234, n_edges=1, evidence=-12_345.6)
    lines = shown(everything, width).splitlines()
    assert any(re.search(r"Training.* 0:0\d:\d\d", line) and "12,345/100,000" in line for line in lines)
    assert all(len(line) <= width + 20 for line in lines)  # with what moves the cursor


def test_plurals():
    assert Progress("train", 1, 2, n_edges=1).facts == "1/2, 1 edge"
    assert Progress("refine", 1, 0, n_edges=2000).facts == "1 move, 2,000 edges"


def test_a_log_where_there_is_no_terminal():
    stream = io.StringIO()
    with progress_lines(Console(file=stream)) as listener:
        listener(Progress("tune", 1, 2))
    assert stream.getvalue() == "Tuning, best so far: 1/2\n"
    with progress_line(Console(file=stream)) as none:
        assert none is None
