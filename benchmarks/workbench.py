"""From `grandag serve sachs` to the first graph on the screen: seconds by the clock, as a person waits.

    python -m benchmarks.workbench [--times 3]

The default method is learned in a real Chromium, whose own start is not counted; the button is pressed as soon as it is
there. The engine is compiled by a first round that does not count. Run it from the project's folder, on a machine that
does nothing else.
"""

from __future__ import annotations

import argparse
import time

from tests.report.browser import chromium
from tests.serve.bench import Site, serving


def seconds_to_the_first_graph() -> float:
    """One round, with a server of its own."""
    with chromium() as session:
        start = time.perf_counter()
        with serving("sachs") as bench:
            site = Site(session, bench.address).visit()
            site.press("#learn-button")
            site.wait_for_graph(1)
            return time.perf_counter() - start


def main() -> None:
    """Print the seconds of each round."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    seconds_to_the_first_graph()
    found = [seconds_to_the_first_graph() for _ in range(arguments.times)]
    print("From `grandag serve sachs` to the graph, s:", ", ".join(f"{seconds:.1f}" for seconds in found))


if __name__ == "__main__":
    main()
