"""Additive regressions by family beside R's mgcv: how often tests of terms decide the same, and what they cost.

    python benchmarks/families.py

The regressions and R's numbers are those of `tests/reference` (make_families.py, make_families.R). "Same at 0.001" is
the share of tests of terms with the same decision, "near" that of p-values between 1e-9 and 0.5 whose logarithm to
base 10 differs by at most 0.05. CPU seconds are those of one regression with its tests, on average.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.gam.test_likelihood import FAMILIES, compared

from common import cpu_seconds


def main() -> None:
    """Print the table."""
    print("| family | regressions | CPU s each | tests | same at 0.001 | near |\n|---|---|---|---|---|---|")
    compared.__wrapped__(FAMILIES[0])  # compiles
    for family in FAMILIES:
        seconds, (regressions, terms) = cpu_seconds(lambda family=family: compared(family))
        theirs, ours = terms["p_value"].to_numpy(), terms["our_p_value"].to_numpy()
        same = np.mean((theirs < 0.001) == (ours < 0.001))
        is_comparable = (theirs > 1e-9) & (theirs < 0.5)
        near = np.mean(np.abs(np.log10(ours[is_comparable] / theirs[is_comparable])) <= 0.05)
        cost = seconds / len(regressions)
        print(f"| {family} | {len(regressions)} | {cost:.2f} | {len(terms)} | {same:.1%} | {near:.1%} |", flush=True)


if __name__ == "__main__":
    main()
