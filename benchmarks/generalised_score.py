"""The generalised score: low-rank form against exact form, agreement and CPU seconds (`make bench`).

Single additions to the true parents (at most four) of every node of 10-node data with 1,000 rows: has the difference of
the scores the same sign, and is the best addition the same? The exact form takes about 4 CPU minutes. Then the
milliseconds of a score by number of parents, and the first pass of a search over 50 nodes. One thread.
"""

from __future__ import annotations

import numpy as np

from common import cpu_seconds, gauss_anm
from grandag.methods.equivalence.generalised_score import GeneralisedScore

SIGN_TARGET, BEST_TARGET, RATIO_TARGET = 0.98, 0.95, 50
ROWS, MAX_PARENTS = 1000, 4


def gains(score: GeneralisedScore, node: int, parents: tuple[int, ...]) -> np.ndarray:
    """By how much each other variable would raise the score as a further parent."""
    others = [i for i in range(score.n_variables) if i != node and i not in parents]
    return np.array([score.local(node, (*parents, i)) for i in others]) - score.local(node, parents)


def verdict(value: float, target: float) -> str:
    """The target, and whether it was reached."""
    return f"(target {target:g}: {'reached' if value >= target else 'missed'})"


def agreement(likelihood: str, n_edges: int) -> None:
    """Print signs and best additions in common, and the ratio of CPU seconds.

    The ratio has no target for the marginal likelihood, of which one eigendecomposition makes the exact form cheap.
    """
    values, truth = gauss_anm(10, n_edges, ROWS, 1)
    starts = [(j, tuple(np.flatnonzero(truth[:, j]).tolist()[:MAX_PARENTS])) for j in range(10)]
    seconds, found = {}, {}
    for form in ("exact", "low-rank"):
        score = GeneralisedScore(values, likelihood=likelihood, form=form)
        seconds[form], found[form] = cpu_seconds(lambda score=score: [gains(score, *start) for start in starts])
    exact, low_rank = np.concatenate(found["exact"]), np.concatenate(found["low-rank"])
    sign = float((np.sign(exact) == np.sign(low_rank)).mean())
    best = float(np.mean([x.argmax() == y.argmax() for x, y in zip(found["exact"], found["low-rank"], strict=True)]))
    ratio = seconds["exact"] / seconds["low-rank"]
    print(f"  {likelihood}, 10 nodes ER{n_edges // 10}, {len(exact)} additions:")
    print(f"    same sign {sign:.3f} {verdict(sign, SIGN_TARGET)}, same best {best:.2f} {verdict(best, BEST_TARGET)}")
    print(f"    median difference {np.median(np.abs(exact)):.2f}, largest error {np.abs(exact - low_rank).max():.2f}")
    target = f" {verdict(ratio, RATIO_TARGET)}" if likelihood == "cross-validated" else ""
    print(
        f"    exact {seconds['exact']:.1f} CPU s, low-rank {seconds['low-rank']:.2f} CPU s, ratio {ratio:.0f}{target}"
    )


def by_number_of_parents(likelihood: str, n_scores: int = 20) -> None:
    """Print the milliseconds of a score with new sets of parents."""
    values, _ = gauss_anm(50, 50, ROWS, 1)
    rng = np.random.default_rng(0)
    times = []
    for n_parents in range(7):
        score = GeneralisedScore(values, likelihood=likelihood)
        nodes = [rng.choice(50, 1 + n_parents, replace=False).tolist() for _ in range(n_scores)]
        seconds, _ = cpu_seconds(lambda score=score, nodes=nodes: [score.local(j, tuple(rest)) for j, *rest in nodes])
        times.append(f"{n_parents}: {1e3 * seconds / n_scores:.1f}")
    print(f"  {likelihood}, ms of a score by number of parents: {', '.join(times)}")


def first_pass(d: int = 50) -> None:
    """Print the CPU seconds of all scores with one parent."""
    values, _ = gauss_anm(d, d, ROWS, 1)

    def run() -> None:
        score = GeneralisedScore(values)
        for j in range(d):
            gains(score, j, ())

    print(f"  first pass over {d} nodes, {d * (d - 1):,} additions: {cpu_seconds(run)[0]:.1f} CPU s")


def main() -> None:
    """Run all parts."""
    print(f"Generalised score, {ROWS:,} rows:")
    for likelihood in ("cross-validated", "marginal"):
        for n_edges in (10, 40):
            agreement(likelihood, n_edges)
        by_number_of_parents(likelihood)
    first_pass()


if __name__ == "__main__":
    main()
