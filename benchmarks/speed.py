"""Speed of a training iteration, as a fraction of this machine's matrix multiplication (`make bench`).

Work is counted as 2 * batch * (2 E H + 3 d H^2 (L - 1) + 3 d H m) floating point operations per iteration, with E
active inputs, H units, L hidden layers and m outputs; the constraint and the optimiser are timed but not counted.
Dense networks, two layers of 10, batch 64. Rounds of both measurements alternate; medians are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import logging
import resource
import statistics
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from common import gflops
from grandag.engine.network import initialise
from grandag.engine.training import Objective, Trainer

BATCH, LAYERS, UNITS = 64, 2, 10
TARGETS = {10: 0.20, 20: 0.20, 50: 0.30, 100: 0.30}


def new_trainer(d: int, n_threads: int = 1) -> Trainer:
    """Dense networks on 800 rows of noise; nothing is ever masked, so that the work stays the same."""
    rng = np.random.default_rng(d)
    networks = initialise(
        ~np.eye(d, dtype=bool), n_layers=LAYERS, n_units=UNITS, activation="leaky-relu", density="additive-gaussian",
        dtype="float32", rng=rng,
    )  # fmt: skip
    return Trainer(networks, rng.normal(size=(800, d)), BATCH, rng, n_threads)


def iterate(trainer: Trainer, n: int) -> tuple[float, float]:
    """(CPU, elapsed) seconds per iteration."""
    objective = Objective(0.0, 1e-3, 1e-3, mask_threshold=0.0, tolerance=-1.0, is_constrained=True)
    cpu, elapsed = time.process_time(), time.perf_counter()
    trainer.run(objective, n)
    return (time.process_time() - cpu) / n, (time.perf_counter() - elapsed) / n


def operations(d: int) -> float:
    """Floating point operations per iteration, as counted above."""
    return 2 * BATCH * (2 * d * (d - 1) * UNITS + 3 * d * UNITS**2 * (LAYERS - 1) + 3 * d * UNITS)


def iteration_rate(d: int, rounds: int) -> None:
    """Print microseconds per iteration and the fraction of the matrix multiplication rate."""
    trainer = new_trainer(d)
    n = max(20, 300_000 // d**2)
    iterate(trainer, n)
    microseconds, fractions = [], []
    for _ in range(rounds):
        rate = gflops()
        seconds, _ = iterate(trainer, n)
        microseconds.append(1e6 * seconds)
        fractions.append(operations(d) / seconds / 1e9 / rate)
    fraction = statistics.median(fractions)
    verdict = "reached" if fraction >= TARGETS[d] else "missed"
    print(
        f"  d = {d:3d}: {statistics.median(microseconds):7.1f} us per iteration, {fraction:.1%} of the matrix "
        f"multiplication rate (target {TARGETS[d]:.0%}: {verdict})"
    )


def thread_speedup(d: int, rounds: int) -> None:
    """Print elapsed time of one thread over that of two, beside what this machine's cores can give."""
    one, other, two = new_trainer(d), new_trainer(d), new_trainer(d, 2)
    n = max(20, 1_000_000 // d**2)
    ratios, possible = [], []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds):
            _, alone = iterate(one, n)
            _, together = iterate(two, n)
            at_once = max(elapsed for _, elapsed in pool.map(iterate, (one, other), (n, n)))
            ratios.append(alone / together)
            possible.append(2 * alone / at_once)
    ratio = statistics.median(ratios)
    verdict = "reached" if ratio >= 1.6 else "missed"
    print(
        f"  d = {d}: two threads are {ratio:.2f} times as fast as one (target 1.6: {verdict}); two independent "
        f"trainings at once give {statistics.median(possible):.2f}"
    )


def start_up() -> None:
    """Print CPU seconds of a new process for the import and for the first iteration with a filled cache."""
    program = (
        "import time; start = time.process_time(); import grandag; first = time.process_time() - start; "
        "from grandag import GraNDAG; loaded = time.process_time() - start; import numpy as np, warnings; "
        "warnings.simplefilter('ignore'); X = np.random.default_rng(0).normal(size=(100, 3)); t = time.perf_counter(); "
        "GraNDAG.preset('fast', max_iterations=1).fit(X); print(first, loaded, time.perf_counter() - t)"
    )
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    bare, loaded, first_fit = map(float, output.split())
    print(f"  import grandag: {bare:.2f} CPU s; with the estimator loaded: {loaded:.2f} CPU s")
    print(f"  first fit of a new process, compiled code from the cache: {first_fit:.2f} s")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(Path(sys.executable).parent / "grandag"), "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"  grandag --help: {seconds:.2f} CPU s")


def gcastle_iteration(d: int) -> None:
    """Print CPU time per iteration of gcastle's GraNDAG on rows of the same shape, start-up and last step excluded."""
    logging.disable(logging.INFO)
    from castle.algorithms import GraNDAG as GcastleGraNDAG

    rows = np.random.default_rng(d).normal(size=(1000, d))

    def seconds(n: int) -> float:
        start = time.process_time()
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            GcastleGraNDAG(input_dim=d, iterations=n, h_threshold=0.0, edge_clamp_range=0.0).learn(rows)
        return time.process_time() - start

    seconds(20)
    theirs = (seconds(600) - seconds(100)) / 500
    trainer = new_trainer(d)
    iterate(trainer, 100)
    ours, _ = iterate(trainer, 5000)
    print(f"  d = {d}: gcastle {1e3 * theirs:.2f} ms, grandag {1e3 * ours:.3f} ms, ratio {theirs / ours:.0f}")


def main() -> None:
    """Run all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"Matrix multiplication, float32, 512 x 512, one thread: {gflops():.0f} GFLOP/s")
    print("One training iteration, one thread:")
    for d in TARGETS:
        iteration_rate(d, rounds)
    print("Threads:")
    thread_speedup(100, rounds)
    print("Start-up:")
    start_up()
    print("The same work by gcastle:")
    if importlib.util.find_spec("castle") is None:
        print("  gcastle is not installed (pip install 'grandag[compare]'): not compared")
        return
    for d in (10, 20):
        gcastle_iteration(d)


if __name__ == "__main__":
    main()
