"""What selection and search ask of local scores, whatever the regressions behind them.

`scores` has those of Gaussian processes, `additive` those of additive regressions for columns of several kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from grandag.evidence.promise import largest_by_chance

__all__ = ["Parents", "Scores"]

Parents = tuple[int, ...]
"""Sorted column numbers."""

_UNSURE = 1.0
"""Nats below the cost of an edge from which a variable is tried as a further parent; z deviations promise z^2 / 2."""

Result = TypeVar("Result")


class Scores(ABC):
    """Local scores of one table in nats; `near` are always parents whose fit is a good start."""

    def __init__(self, n_variables: int, cost_per_edge: float | None, n_threads: int) -> None:
        """By default, an edge costs 1 + 1.3 log d."""
        self.n_variables, self.n_threads = n_variables, n_threads
        by_size = 1 + 1.3 * float(np.log(n_variables))
        self.cost_per_edge = by_size if cost_per_edge is None else cost_per_edge
        worth_an_edge = float(np.sqrt(2 * max(self.cost_per_edge - _UNSURE, 0.0)))
        self.promising = max(worth_an_edge, largest_by_chance(n_variables))
        self.scale = 1.0  # how many times the few rows are contained in all
        self.n_blocks = 1  # of rows, whose log densities are added

    @property
    @abstractmethod
    def work(self) -> float:
        """What all fits so far have taken, in operations, roughly: the same for any number of threads."""

    @property
    @abstractmethod
    def work_per_fit(self) -> float:
        """What a fit on all rows takes."""

    @abstractmethod
    def few(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of few rows."""

    @abstractmethod
    def full(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of all rows."""

    @abstractmethod
    def loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """Nats that all rows lose without these parents: an estimate, or a bound, that takes no other fit."""

    @abstractmethod
    def few_loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """The same on few rows."""

    @abstractmethod
    def promise(self, child: int, parents: Parents) -> np.ndarray:
        """(d,) how much each variable promises as a further parent, in standard deviations."""

    @abstractmethod
    def reaches(self, child: int, parents: Parents, near: Parents, gain: float) -> bool:
        """Whether all rows gain so much by these parents in place of others near them."""

    @abstractmethod
    def few_gain(self, child: int, parents: Parents, near: Parents, least: float) -> float:
        """What few rows gain by these parents in place of others near them; maybe -inf where it is below `least`."""

    @abstractmethod
    def flat(self, child: int, parents: Parents, near: Parents) -> frozenset[int]:
        """Parents that hardly matter to few rows, if few rows can say so."""

    @abstractmethod
    def may_hide(self, child: int, parents: Parents) -> bool:
        """Whether a child may have further parents that do not show one by one."""

    @abstractmethod
    def n_rows_of(self, child: int) -> int:
        """How many rows a child is scored on."""

    def scale_of(self, child: int) -> float:
        """How many times the few rows of a child are contained in all of its rows."""
        return self.scale

    def edge_cost(self, child: int) -> float:
        """Nats that an edge to this child has to be worth."""
        return self.cost_per_edge

    def score(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Log density of all rows, minus the cost of the edges."""
        return self.full(child, parents, near) - self.edge_cost(child) * len(parents)

    def each(
        self,
        function: Callable[[int], Result],
        nodes: Iterable[int],
        keep: Callable[[int, Result], None] = lambda node, result: None,
        cost: Callable[[int], int] = lambda node: 0,
    ) -> list[Result]:
        """Results for all nodes, by several threads; `keep` is called with each, in order, from this thread.

        Threads take those first that cost most, so that none waits long for another at the end.
        Each call must use the scores of its own node only, or ask for others always from the same start.
        """
        nodes, results = list(nodes), []
        with ThreadPoolExecutor(self.n_threads, thread_name_prefix="grandag") as pool:
            several = self.n_threads > 1 and len(nodes) > 1
            dearest_first = sorted(nodes, key=lambda node: -cost(node))
            futures = {node: pool.submit(function, node) for node in dearest_first} if several else {}
            try:
                for node in nodes:
                    results.append(futures[node].result() if several else function(node))
                    keep(node, results[-1])
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return results
