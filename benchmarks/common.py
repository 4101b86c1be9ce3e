"""What the benchmarks share: the yardstick of this machine, and data of a known kind."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from grandag.simulate.files import simulate

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
