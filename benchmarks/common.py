"""What the benchmarks share: the yardstick of this machine, and data of a known kind."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
from threadpoolctl import threadpool_limits

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


def gauss_anm(d: int, n_edges: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and adjacency of an ER graph with this number of edges on average."""
    rng = np.random.default_rng(seed)
    return gauss_anm_on(np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1), n, rng)


def gauss_anm_scale_free(d: int, edges_per_node: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and adjacency of a scale-free graph: each new node points to older ones, so that hubs are sinks."""
    rng = np.random.default_rng(seed)
    attached = nx.barabasi_albert_graph(d, edges_per_node, seed=int(rng.integers(2**31)))
    newest_first = nx.to_numpy_array(attached, nodelist=range(d - 1, -1, -1), dtype=bool)
    return gauss_anm_on(np.triu(newest_first), n, rng)


def gauss_anm_on(adjacency: np.ndarray, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows for an upper triangular adjacency with functions from a Gaussian process (200 random Fourier features).

    Unit bandwidth, noise variance 0.04 * U[1, 2], roots N(0, U[1, 2]): the law of the authors' released files. The
    variables are relabelled at random.
    """
    d = len(adjacency)
    values = np.zeros((n, d))
    for j in range(d):
        parents = np.flatnonzero(adjacency[:, j])
        if not len(parents):
            values[:, j] = rng.normal(0, np.sqrt(rng.uniform(1, 2)), n)
            continue
        frequencies, phases = rng.normal(size=(len(parents), 200)), rng.uniform(0, 2 * np.pi, 200)
        weights = rng.normal(size=200) * np.sqrt(2 / 200)
        for start in range(0, n, 10_000):
            block = slice(start, start + 10_000)
            values[block, j] = np.cos(values[block][:, parents] @ frequencies + phases) @ weights
        values[:, j] += rng.normal(0, np.sqrt(0.04 * rng.uniform(1, 2)), n)
    order = rng.permutation(d)
    return values[:, order], adjacency[np.ix_(order, order)]
