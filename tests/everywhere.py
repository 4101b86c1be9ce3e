"""Fits of all methods to one table, whose bits must not depend on where they are made: `python -m tests.everywhere`."""

import hashlib
import json
import sys

import numpy as np

from grandag import (
    CAM,
    DAGGNN,
    GES,
    GSF,
    NOTEARS,
    PC,
    RESIT,
    EqualVariance,
    ExactSearch,
    GraNDAG,
    LiNGAM,
    RandomGraph,
)

METHODS = {
    "grandag": lambda n_jobs: GraNDAG(max_iterations=100, n_jobs=n_jobs, random_state=1),
    "grandag, fast": lambda n_jobs: GraNDAG.preset("fast", max_iterations=100, n_jobs=n_jobs, random_state=1),
    "grandag++": lambda n_jobs: GraNDAG(density="gaussian", max_iterations=100, n_jobs=n_jobs, random_state=1),
    "grandag-shared": lambda n_jobs: GraNDAG(networks="shared", max_iterations=100, n_jobs=n_jobs, random_state=1),
    "cam": lambda n_jobs: CAM(),
    "notears": lambda n_jobs: NOTEARS(),
    "lingam": lambda n_jobs: LiNGAM(),
    "ica-lingam": lambda n_jobs: LiNGAM(algorithm="ica"),
    "resit": lambda n_jobs: RESIT(random_state=1),
    "resit-gp": lambda n_jobs: RESIT(regression="gaussian-process", random_state=1),
    "equal-variance": lambda n_jobs: EqualVariance(random_state=1),
    "top-down": lambda n_jobs: EqualVariance(algorithm="top-down", random_state=1),
    "dag-gnn": lambda n_jobs: DAGGNN(n_epochs=3, random_state=1),
    "ges": lambda n_jobs: GES(),
    "fges": lambda n_jobs: GES(max_degree=100, n_jobs=n_jobs),
    "gsf": lambda n_jobs: GSF(),
    "exact": lambda n_jobs: ExactSearch(),
    "pc": lambda n_jobs: PC(),
    "random": lambda n_jobs: RandomGraph(random_state=1),
}

FEW = ("grandag, fast", "cam", "ges")
"""Neural networks, splines and linear algebra, in a few seconds."""


def table() -> np.ndarray:
    """Six columns, each but the first with a nonlinear effect of the one before."""
    rng = np.random.default_rng(19)
    values = rng.normal(size=(150, 6))
    for j in range(1, 6):
        values[:, j] = np.sin(2 * values[:, j - 1]) + 0.3 * values[:, j]
    return values


def digest(method: str, n_jobs: int = 1) -> str:
    """Of everything that a fit says in numbers: edges, strengths, densities, residuals and new rows."""
    values = table()
    model = METHODS[method](n_jobs).fit(values)
    numbers = (model.dag_, model.strength_, model.log_prob(values), model.residuals(values), model.sample(5, 0))
    return hashlib.sha256(b"".join(np.ascontiguousarray(number).tobytes() for number in numbers)).hexdigest()


def digests(methods: tuple[str, ...] = tuple(METHODS), n_jobs: int = 1) -> dict[str, str]:
    """One for each method."""
    return {method: digest(method, n_jobs) for method in methods}


if __name__ == "__main__":
    n_jobs, *methods = json.loads(sys.argv[1])
    print(json.dumps(digests(tuple(methods), n_jobs)))
