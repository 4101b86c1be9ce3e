"""PC: remove edges between variables that are independent given others, then direct what the rest implies.

    skeleton      all pairs are joined; for m = 0, 1, 2, ..., a pair with |z| <= Phi^-1(1 - alpha / 2) given some m
                  nodes adjacent to one of the two is parted;  z = sqrt(n - m - 3) artanh(partial correlation)
    v-structures  i - k - j with i and j apart becomes i -> k <- j if k is not in the set that parted i and j
    Meek's rules  direct what would otherwise make a cycle or a further v-structure

Sets are taken from the graph as it was when m began ("stable", Colombo and Maathuis 2014), and of all sets of that size
the one with the smallest |z| counts as the one that parted the pair. What is left to the order of the nodes goes by
their correlations, not by the columns: the result does not depend on the order of the columns. Tests on finite data
contradict each other; the answer is a CPDAG nevertheless:

- v-structures come in order of |z|, the most independent pairs first. One that contradicts an earlier one, background
  knowledge, or the absence of cycles is left out, and counted in `notes_`.
- If the skeleton with these v-structures belongs to no DAG, that DAG is taken which a sink by sink extension with the
  fewest other v-structures gives (`nearest_dag`), and the answer is its class.

A table with labels or counts has the tests of `mixed.py` in the place of correlations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from grandag.evidence import is_mixed
from grandag.graph import is_acyclic, nearest_dag, restricted_class, skeleton, to_dag, v_structures
from grandag.knowledge import Masks
from grandag.learned import Learned
from grandag.methods.equivalence.conditioning import correlate_pairs
from grandag.methods.equivalence.mixed import MOST_CONDITIONS, MixedTests
from grandag.methods.estimator import StructureLearner, estimator
from grandag.methods.stages.family_conditionals import FamilyConditional, family_conditionals
from grandag.methods.stages.linear_gaussian import LinearConditional, least_squares, moments
from grandag.methods.stages.straight_lines import with_lines
from grandag.parameters import integer, one_of, optional, parameter, probability
from grandag.progress import Listener, Progress
from grandag.table import KINDS, Table
from grandag.wording import counted

__all__ = [
    "PC",
    "CorrelationTests",
    "Orientation",
    "PcConfig",
    "Skeleton",
    "Tests",
    "find_skeleton",
    "learn",
    "orient_skeleton",
]

_MIXED = "Tests are those of additive regressions in both directions, each with the family of its variable's kind."


class Skeleton(NamedTuple):
    """What the tests found. Matrices are symmetric."""

    adjacent: np.ndarray  # (d, d) bool
    z: np.ndarray  # (d, d) the smallest |z| of each pair
    separators: np.ndarray  # (d, d, k) the nodes that gave it, filled up with -1
    n_tests: int
    n_levels: int


class Orientation(NamedTuple):
    """A class for a skeleton, and how well the v-structures fitted together."""

    adjacency: np.ndarray  # (d, d) bool, undirected edges in both directions
    n_left_out: int  # v-structures that contradicted others
    n_new: int  # v-structures of the answer that no test asked for


class Tests(Protocol):
    """Tests of independence; see `correlate_pairs`."""

    n_variables: int

    def test_pairs(
        self,
        first: int,
        pairs: np.ndarray,
        adjacent: np.ndarray,
        size: int,
        smallest: np.ndarray,
        separators: np.ndarray,
    ) -> int:
        """Test `first` with each second > first of the pairs, given each set of `size` adjacent nodes."""


class CorrelationTests:
    """z = sqrt(n - m - 3) artanh(partial correlation given m variables)."""

    def __init__(self, correlation: np.ndarray, n_rows: int) -> None:
        self.n_variables = len(correlation)
        self._correlation, self._n_rows = correlation, n_rows

    def test_pairs(
        self,
        first: int,
        pairs: np.ndarray,
        adjacent: np.ndarray,
        size: int,
        smallest: np.ndarray,
        separators: np.ndarray,
    ) -> int:
        """Test `first` with others; returns how many tests were done."""
        scale = float(np.sqrt(self._n_rows - size - 3))
        return int(correlate_pairs(self._correlation, first, pairs, adjacent, size, scale, smallest, separators))


def find_skeleton(
    tests: Tests,
    n_rows: int,
    alpha: float,
    allowed: np.ndarray,
    required: np.ndarray,
    *,
    max_conditions: int | None = None,
    listener: Listener | None = None,
) -> Skeleton:
    """Which pairs stay adjacent, by tests of independence.

    Pairs that knowledge forbids in both directions are apart from the start, and tested only for what parts them;
    required ones stay. `max_conditions` limits m.
    """
    from scipy.stats import norm

    d = tests.n_variables
    critical = float(norm.isf(alpha / 2)) if alpha < 1 else 0.0
    adjacent, is_required = skeleton(allowed), skeleton(required)
    open_pairs = ~np.eye(d, dtype=bool)
    z, separators = np.full((d, d), np.inf), np.full((d, d, 0), -1, dtype=np.int64)
    most = min(n_rows - 4, d - 2, d if max_conditions is None else max_conditions)
    n_tests = size = 0
    while size <= most and (adjacent.sum(axis=0).max(initial=0) > size or size == 0):
        separators = np.concatenate([separators, np.full((d, d, 1), -1, dtype=np.int64)], axis=2)
        before = adjacent.copy()
        for first in range(d):
            n_tests += tests.test_pairs(first, open_pairs, before, size, z, separators)
            if listener is not None:
                listener(Progress("test", size * d + first + 1, (most + 1) * d, n_edges=int(adjacent.sum()) // 2))
        is_apart = np.triu(z <= critical) & ~is_required
        is_apart |= is_apart.T
        adjacent &= ~is_apart
        open_pairs &= ~is_apart
        size += 1
    upper = np.triu(np.ones((d, d), dtype=bool), 1)
    z = np.where(upper, z, z.T)
    separators = np.where(upper[:, :, None], separators, separators.transpose(1, 0, 2))
    return Skeleton(adjacent, z, separators, n_tests, size)


def orient_skeleton(found: Skeleton, allowed: np.ndarray, required: np.ndarray) -> Orientation:
    """The class that the tests speak for, within what is allowed; edges that close a forced cycle go, weakest first."""
    adjacency = _with_knowledge(found, allowed, required)
    directed = adjacency & ~adjacency.T
    left_out = []
    for i, k, j in sorted(_colliders(found), key=lambda triple: (found.z[triple[0], triple[2]], triple)):
        trial = directed.copy()
        trial[i, k] = trial[j, k] = True
        if adjacency[i, k] and adjacency[j, k] and is_acyclic(trial):
            directed = trial
            adjacency[k, i] = adjacency[k, j] = False
        else:
            left_out.append((i, k, j))
    dag = nearest_dag(adjacency)
    wanted = set(_colliders(found)) - set(left_out)
    n_new = len(set(v_structures(dag)) - wanted)
    return Orientation(restricted_class(dag, allowed), len(left_out), n_new)


def _with_knowledge(found: Skeleton, allowed: np.ndarray, required: np.ndarray) -> np.ndarray:
    """The skeleton with forced directions; an edge whose only allowed direction closes a cycle of forced ones goes."""
    adjacency = np.asarray(found.adjacent & allowed & ~required.T)
    directed = required.copy()
    forced = adjacency & ~adjacency.T & ~required
    for i, j in sorted(np.argwhere(forced).tolist(), key=lambda edge: (-found.z[*edge], edge)):
        directed[i, j] = True
        if not is_acyclic(directed):
            directed[i, j] = adjacency[i, j] = False
    return adjacency


def _colliders(found: Skeleton) -> Iterator[tuple[int, int, int]]:
    """All (i, k, j), i < j, with i - k - j, i and j apart, and k not in what parted them."""
    for k in range(len(found.adjacent)):
        for i, j in combinations(np.flatnonzero(found.adjacent[k]).tolist(), 2):
            if not found.adjacent[i, j] and k not in found.separators[i, j]:
                yield i, k, j


@dataclass(frozen=True, kw_only=True)
class PcConfig:
    """Parameters of PC; the defaults are the paper's."""

    alpha: float = parameter(
        0.01, probability, "Level of the tests; smaller values give sparser graphs.", source="the paper's tables"
    )
    max_conditions: int | None = parameter(
        None,
        optional(integer(0)),
        "Maximum number of variables that a test conditions on; None: no limit, or 3 in a table with labels or counts.",
    )
    mixed_test: str = parameter(
        "score",
        one_of("score", "likelihood-ratio"),
        "Test of a table with labels or counts: Rao's 'score', or the 'likelihood-ratio', which takes several times as "
        "long; they agree to first order.",
        source="ours (docs/equivalence.md)",
    )


def learn(
    table: Table,
    knowledge: Masks,
    config: PcConfig,
    rng: np.random.Generator,
    listener: Listener | None,
    held_out: Table | None,
) -> Learned:
    """The skeleton by tests, its orientation, and the linear regressions of one DAG of the class."""
    from scipy.stats import norm

    data = moments(table.values)
    deviation = np.sqrt(np.diagonal(data.covariance))
    correlation = data.covariance / np.outer(deviation, deviation)
    order = np.argsort((correlation**2).sum(axis=0), kind="stable")
    allowed, required = (matrix[np.ix_(order, order)] for matrix in knowledge)
    n_rows, most = len(table.values), config.max_conditions
    tests: Tests = CorrelationTests(correlation[np.ix_(order, order)], n_rows)
    mixed = is_mixed(table.kinds)
    if mixed:
        tests = MixedTests(table.select(order), by_ratios=config.mixed_test == "likelihood-ratio")
        most = MOST_CONDITIONS if most is None else most
    found = find_skeleton(tests, n_rows, config.alpha, allowed, required, max_conditions=most, listener=listener)
    oriented = orient_skeleton(found, allowed, required)
    back = np.ix_(np.argsort(order), np.argsort(order))
    adjacency, z = oriented.adjacency[back], found.z[back]
    dag = to_dag(adjacency)
    learned = Learned(
        table.names,
        adjacency,
        np.where(adjacency, z, 0.0),
        kind="cpdag",
        edge_facts={"p_value": 2 * norm.sf(z)},
        values={"n_tests": found.n_tests},
        notes=(*((_MIXED,) if mixed else ()), *_notes(found, oriented)),
    )
    if mixed:
        return replace(learned, conditionals=family_conditionals(table, dag))
    return with_lines(learned, table, least_squares(data, dag).conditionals(dag), "PC")


def _notes(found: Skeleton, oriented: Orientation) -> list[str]:
    most = counted(max(found.n_levels - 1, 0), "variable")
    notes = [f"{counted(found.n_tests, 'test')} given up to {most}."]
    if oriented.n_left_out:
        notes.append(
            f"The tests contradict each other: {oriented.n_left_out:,} v-structures were left out in favour of "
            "others (or of background knowledge)."
        )
    if oriented.n_new:
        notes.append(f"No DAG has just these v-structures; the nearest one found has {oriented.n_new:,} more.")
    return notes


@estimator
class PC(StructureLearner, PcConfig):
    """Learn an equivalence class of DAGs by tests of zero partial correlation.

    A table with labels or counts is tested by additive regressions with the families of its columns instead, and has
    such regressions as conditionals.

    `adjacency_` is a CPDAG, with undirected edges in both directions; where background knowledge directs edges, it is
    the part of the class that knowledge allows. PC is deterministic and takes no seed.

    Attributes:
        strength_: (d, d) the smallest absolute z of all tests of a pair.
        p_values_: (d, d) the largest p-value of all tests of a pair.
        n_tests_: Number of tests.

    Example:
        >>> from grandag import PC, datasets
        >>> model = PC().fit(datasets.load_sachs().data)
        >>> model.is_dag_, len(model.edges_)
        (False, 8)
    """

    learn = staticmethod(learn)
    conditional = LinearConditional | FamilyConditional
    takes = frozenset(KINDS)
    checks_noise = False
    quick_up_to = 20
