"""CPU seconds and memory of fits to tables of many rows, by stage.

    python benchmarks/rows.py [--huge] [--directory DIR]
    python benchmarks/rows.py --rows 1000000 --columns 20 --kind parquet --method fast

Without --rows: the table of docs/many_rows.md, 10^7 rows x 20 columns; with --huge, 10^8 x 10 from a memory-mapped
file. Every fit has a process of its own, with one thread. Memory is what the process holds at most, interpreter and
libraries included, as a multiple of the table in float32 (Linux). Of a memory-mapped file, only what the process holds
beside the file counts: mapped pages are the system's to take back. Files are made in DIR and kept there; without it, in
a temporary directory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grandag.graph import topological_order
from grandag.methods.registry import build
from grandag.metrics import shd
from grandag.progress import Progress
from grandag.reading import read_table
from grandag.simulate.graphs import erdos_renyi

BLOCK = 100_000
METHODS = {"default": ("grandag", "default"), "fast": ("grandag", "fast")}
"""Presets of GraN-DAG; any other word is a method."""
STANDARD = (
    ("parquet", "default"), ("parquet", "fast"), ("parquet", "cam"), ("parquet", "notears"), ("parquet", "ges"),
    ("csv", "ges"), ("npy", "default"),
)  # fmt: skip


class Truth(NamedTuple):
    """A random additive model: x_j = sum_i amplitude_ij sin(frequency_ij x_i + phase_ij) + noise."""

    adjacency: np.ndarray
    amplitude: np.ndarray
    frequency: np.ndarray
    phase: np.ndarray

    @classmethod
    def random(cls, d: int) -> Truth:
        """A graph with about as many edges as nodes."""
        rng = np.random.default_rng(d)
        adjacency = erdos_renyi(d, d, rng)
        limits = ((1, 2), (0.8, 1.6), (-np.pi, np.pi))
        return cls(adjacency, *(rng.uniform(low, high, adjacency.shape) for low, high in limits))

    def blocks(self, n: int) -> Iterator[np.ndarray]:
        """All rows, some at a time, in float32."""
        rng, order = np.random.default_rng(0), topological_order(self.adjacency)
        for start in range(0, n, BLOCK):
            x = 0.5 * rng.standard_normal((min(BLOCK, n - start), len(order)))
            for j in order:
                for i in np.flatnonzero(self.adjacency[:, j]):
                    x[:, j] += self.amplitude[i, j] * np.sin(self.frequency[i, j] * x[:, i] + self.phase[i, j])
            yield x.astype(np.float32)


def write(path: Path, n: int, d: int) -> None:
    """Write a table as its ending says, and never hold it as a whole."""
    blocks = Truth.random(d).blocks(n)
    names = [f"X{j}" for j in range(d)]
    if path.suffix == ".npy":
        mapped = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
        for k, block in enumerate(blocks):
            mapped[k * BLOCK : k * BLOCK + len(block)] = block
        mapped.flush()
        return
    import pyarrow
    from pyarrow import csv, parquet

    schema = pyarrow.schema([(name, pyarrow.float32()) for name in names])
    is_text = path.suffix == ".csv"
    writer = csv.CSVWriter(path, schema) if is_text else parquet.ParquetWriter(path, schema, use_dictionary=False)
    with writer:
        for block in blocks:
            writer.write(pyarrow.table([pyarrow.array(column) for column in block.T.copy()], schema=schema))


class Meter:
    """CPU seconds and peak memory by stage; what lies between two reports counts for the later one's stage."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.cpu: dict[str, float] = {}
        self.peak: dict[str, int] = {}
        self.last, self.highest = time.process_time(), 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.highest = max(self.highest, self._held())
            time.sleep(0.005)

    def _held(self) -> int:
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.partition(f"{self.field}:")[2].split(maxsplit=1)[0])

    def end(self, stage: str) -> None:
        """What has been done since the last call was this stage."""
        now, highest = time.process_time(), max(self.highest, self._held())
        self.cpu[stage] = self.cpu.get(stage, 0.0) + now - self.last
        self.peak[stage] = max(self.peak.get(stage, 0), highest)
        self.last, self.highest = now, 0

    def __call__(self, progress: Progress) -> None:
        """Called by the fit."""
        self.end(progress.stage)


def measure(path: Path, method: str, n: int, d: int) -> None:
    """Read and fit, and print a table of the stages."""
    name, preset = METHODS.get(method, (method, "default"))
    warnings.simplefilter("ignore")
    model: Any = build(name, {"n_jobs": 1} if name == "grandag" else {}, preset=preset, seed=0)
    is_mapped = path.suffix == ".npy"
    meter = Meter("RssAnon" if is_mapped else "VmRSS")
    X = np.load(path, mmap_mode="r") if is_mapped else read_table(path)
    meter.end("read")
    model.fit(X, listener=meter)
    meter.end("end of the fit")
    size = 4 * n * d
    truth = Truth.random(d).adjacency
    found = f"{len(model.edges_)} edges, {int(truth.sum())} true ones, SHD {shd(truth, model.dag_)}"
    print(f"\n{n:,} x {d}, {path.suffix[1:]}, {method}: {size / 1e9:.2f} GB as float32; {found}\n")
    print("| stage | CPU s | peak memory | times the table |\n|---|---|---|---|")
    for stage, seconds in meter.cpu.items():
        print(f"| {stage} | {seconds:.1f} | {meter.peak[stage] / 1e9:.2f} GB | {meter.peak[stage] / size:.2f} |")
    peak = max(meter.peak.values())
    print(f"| all | {sum(meter.cpu.values()):.1f} | {peak / 1e9:.2f} GB | {peak / size:.2f} |", flush=True)
    for note in model.notes_:
        print(f"- {note}")


def run(directory: Path, n: int, d: int, kind: str, method: str) -> None:
    """Measure in a process of its own; the file is made if it is not there."""
    path = directory / f"{n}x{d}.{kind}"
    if not path.exists():
        write(path, n, d)
    arguments = ["--measure", path, "--rows", n, "--columns", d, "--method", method]
    subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True)


def main() -> None:
    """Run the whole table, or one fit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--huge", action="store_true", help="10^8 x 10 from a memory-mapped file instead")
    parser.add_argument("--directory", type=Path, help="where files are made, and kept")
    parser.add_argument("--rows", type=int, help="one fit only, of so many rows")
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--kind", choices=["parquet", "csv", "npy"], default="parquet")
    parser.add_argument("--method", default="default", help="default, fast, or another method")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        measure(given.measure, given.method, given.rows, given.columns)
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        if given.rows is not None:
            run(directory, given.rows, given.columns, given.kind, given.method)
        elif given.huge:
            run(directory, 10**8, 10, "npy", "default")
        else:
            for kind, method in STANDARD:
                run(directory, 10**7, 20, kind, method)


if __name__ == "__main__":
    main()
