"""What the benchmarks share: the yardstick of this machine, and data of a known kind."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from grandag import metrics
from grandag.progress import Progress
from grandag.simulate.files import simulate
from grandag.version import __version__

REFERENCE_GFLOPS = 94.0
"""Single-thread float32 matrix multiplication of the machine that targets in CPU seconds are stated for."""


def gflops(n: int = 512, repetitions: int = 10) -> float:
    """Rate of numpy's float32 matrix multiplication n x n in one thread."""
    a = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    with threadpool_limits(1):
        a @ a
        start = time.process_time()
        for _ in range(repetitions):
            a @ a
        return 2 * n**3 * repetitions / (time.process_time() - start) / 1e9


def cpu_seconds(function: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of all threads of this process, and the result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


class StageClock:
    """A listener that adds up CPU seconds by stage; what lies between two reports counts for the later one's stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.process_time()

    def __call__(self, progress: Progress) -> None:
        """Called by the fit."""
        now = time.process_time()
        self.seconds[progress.stage] = self.seconds.get(progress.stage, 0.0) + now - self.last
        self.last = now


class JudgedEdge(NamedTuple):
    """An edge of a refined graph: its evidence in nats, and whether the truth has it so, or at all."""

    evidence: float
    is_true: bool
    is_adjacent: bool


def judged_edges(model: Any, truth: np.ndarray) -> list[JudgedEdge]:
    """The edges that a refined model found."""
    found, truth = np.argwhere(model.adjacency_), np.asarray(truth, dtype=bool)
    return [JudgedEdge(float(model.strength_[i, j]), truth[i, j], truth[i, j] or truth[j, i]) for i, j in found]


def print_calibration(edges: list[JudgedEdge]) -> None:
    """How often edges of a given evidence are true."""
    print("\n| evidence of an edge, nats | edges | true | true but for the direction |\n|---|---|---|---|")
    for low, high in pairwise((0, 5, 10, 25, 100, np.inf)):
        inside = np.array([edge[1:] for edge in edges if low <= edge.evidence < high])
        title = f"{low} to {high}" if high < np.inf else f"above {low}"
        shares = [f"{share:.0%}" for share in inside.mean(axis=0)] if len(inside) else ["", ""]
        print(f"| {title} | {len(inside)} | {' | '.join(shares)} |")


def resident_bytes() -> int:
    """Memory that this process holds now (Linux)."""
    n_pages = int(Path("/proc/self/statm").read_text().split()[1])
    return n_pages * resource.getpagesize()


def memory_beyond(before: int) -> float:
    """Gigabytes by which the peak of this process lies above what it held before."""
    return (1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e9


def gauss_anm(d: int, n_edges: int, n: int, seed: int, graph: str = "er") -> tuple[np.ndarray, np.ndarray]:
    """Rows and adjacency of a data set of `grandag simulate gauss-anm`."""
    scenario = simulate("gauss-anm", graph=graph, n_nodes=d, n_edges=n_edges, n_rows=n, seed=seed)
    return np.ascontiguousarray(scenario.data.to_numpy()), scenario.adjacency


def distances(truth: np.ndarray, model: Any) -> dict[str, Any]:
    """SHD and SID of a fitted model; of an equivalence class SHD-C and the middle of the bounds of SID."""
    if model.is_dag_:
        shd, sid = metrics.shd(truth, model.adjacency_), float(metrics.sid(truth, model.adjacency_))
    else:
        shd = metrics.shd_cpdag(truth, model.adjacency_)
        sid = float(np.mean(metrics.sid_bounds(truth, model.adjacency_)))
    return {"shd": int(shd), "sid": sid, "is_class": not model.is_dag_}


class Store:
    """Results by words, of this version, kept in a file line by line: what is there is not computed again."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.known = path, dict[str, Any]()
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self.known.update(json.loads(line))

    def get(self, function: Callable[..., Any], *words: Any) -> Any:
        """The function of the words, called if its result is not known."""
        key = " ".join(map(str, (__version__, *words)))
        if key not in self.known:
            self.known[key] = function(*words)
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({key: self.known[key]}) + "\n")
        return self.known[key]
