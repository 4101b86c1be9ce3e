"""Fits leave nothing behind in their process: neither memory, nor threads, nor open files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

N_FITS, N_FIRST = 200, 50

PROGRAM = """
import json, os, sys, threading, warnings
from pathlib import Path
import numpy as np
import grandag

warnings.simplefilter("ignore")
methods = {
    "grandag": lambda: grandag.GraNDAG(max_iterations=20, n_jobs=2, random_state=0),
    "grandag, fast": lambda: grandag.GraNDAG.preset("fast", max_iterations=20, n_jobs=2, random_state=0),
    "cam": grandag.CAM,
    "ges": grandag.GES,
    "exact": grandag.ExactSearch,
    "pc": grandag.PC,
    "notears": grandag.NOTEARS,
    "lingam": grandag.LiNGAM,
    "dag-gnn": lambda: grandag.DAGGNN(n_epochs=1, random_state=0),
}
method, numbers = methods[sys.argv[1]], tuple(map(int, sys.argv[2:]))
values = np.random.default_rng(0).normal(size=(500, 5))
for number in range(1, numbers[-1] + 1):
    model = method().fit(values)
    model.score(values)
    if number in numbers:
        held = int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024
        print(json.dumps([held, threading.active_count(), len(os.listdir("/proc/self/fd"))]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    "method", ["grandag", "grandag, fast", "cam", "ges", "exact", "pc", "notears", "lingam", "dag-gnn"]
)
def test_200_fits(method):
    """The last 150 of 200 leave less than 10 kB each: one copy of the table would be 20 kB."""
    command = [sys.executable, "-c", PROGRAM, method, str(N_FIRST), str(N_FITS)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    (before, *others), (after, *others_after) = map(json.loads, process.stdout.splitlines())
    assert after - before < 0.01 * (N_FITS - N_FIRST)
    assert others_after == others
