"""CPU seconds of simulations (`make bench`).

Targets are for a core with 94 GFLOP/s in single-thread float32 matrix multiplication and are scaled by what is measured
here.
"""

from __future__ import annotations

from collections.abc import Callable

from common import REFERENCE_GFLOPS, cpu_seconds, gflops
from grandag import simulate


def report(name: str, function: Callable[[], object], target: float | None = None) -> None:
    """Print CPU seconds, and the verdict if there is a target."""
    seconds, _ = cpu_seconds(function)
    verdict = ""
    if target is not None:
        limit = target * REFERENCE_GFLOPS / gflops()
        verdict = f" (target {limit:.1f}: {'reached' if seconds <= limit else 'missed'})"
    print(f"  {name}: {seconds:.2f} CPU s{verdict}")


def main() -> None:
    """Run all parts."""
    print("Simulation:")
    graph = simulate.erdos_renyi(100, 400, 0)
    for kind in ("gauss-anm", "add-func", "pnl-gp"):
        name = f"{kind}, 100 nodes ER4 x 1,000 rows"
        report(name, lambda kind=kind: simulate.draw_scenario(kind, graph, 1000, 0), 15)
    sparse = simulate.erdos_renyi(50, 50, 0)
    report("gauss-anm, 50 nodes ER1 x 100,000 rows", lambda: simulate.draw_scenario("gauss-anm", sparse, 100_000, 0))
    report("ER graph, 10,000 nodes, 40,000 edges", lambda: simulate.erdos_renyi(10_000, 40_000, 0))
    report("scale-free graph, 10,000 nodes, 4 attachments", lambda: simulate.scale_free(10_000, 4, 0))
    report("SynTReN, 20 nodes x 500 rows", lambda: simulate.draw_syntren(random_state=0))


if __name__ == "__main__":
    main()
