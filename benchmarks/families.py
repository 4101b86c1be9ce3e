"""Additive regressions by family beside R's mgcv: how often tests of terms decide the same, and how near p-values are.

    python benchmarks/families.py

The regressions and R's numbers are those of `tests/reference` (make_families.py, make_families.R). "Same at 0.001" is
the share of tests of terms with the same decision, "near" that of p-values between 1e-9 and 0.5 whose logarithm to
base 10 differs by at most 0.05.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.gam.test_likelihood import FAMILIES, compared


def main() -> None:
    """Print the table."""
    print("| family | tests | same at 0.001 | near |\n|---|---|---|---|")
    for family in FAMILIES:
        _, terms = compared(family)
        theirs, ours = terms["p_value"].to_numpy(), terms["our_p_value"].to_numpy()
        same = np.mean((theirs < 0.001) == (ours < 0.001))
        is_comparable = (theirs > 1e-9) & (theirs < 0.5)
        near = np.mean(np.abs(np.log10(ours[is_comparable] / theirs[is_comparable])) <= 0.05)
        print(f"| {family} | {len(terms)} | {same:.1%} | {near:.1%} |", flush=True)


if __name__ == "__main__":
    main()
