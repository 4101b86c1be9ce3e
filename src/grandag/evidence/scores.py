"""Local scores: log p(x_j | x_P) at its best hyper-parameters, computed once, warm-started and shared by threads.

Two sizes. `few` fits on a few rows: a millisecond per evaluation, for what is clear. `full` fits on all rows. Both keep
what they have computed; a fit starts from that of a set of parents that differs by one, if there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grandag.evidence.config import EvidenceConfig
from grandag.evidence.interface import Parents, Scores
from grandag.evidence.optimiser import maximise
from grandag.evidence.promise import derivatives, likeliest, promises, unexplained
from grandag.evidence.regression import block_evidence, new_workspace
from grandag.evidence.sample import Sample, samples

__all__ = ["MOST_CANDIDATES", "Fit", "LocalScores", "Parents"]

_INFINITE = np.log(1e6)
_LARGEST_LENGTH_SCALE = 50.0
_LARGEST_VARIANCE = 20.0
_LEAST_VARIANCE = 1e-5
_START = {"length_scale": 2.0, "interaction": 0.8, "additive": 0.1, "noise": 0.1}
_FLAT = np.log(10.0)
"""Length scale from which an input hardly matters."""
_EXPLAINED = np.log(0.5)
"""Few rows are trusted about what hardly matters if they leave less of the variance than this unexplained."""
_MAX_EVALUATIONS = 60
_CAUTION = 0.5
"""Part of their share of a gain that the blocks that a fit is made on may lack before it is given up."""
_N_SHUFFLED = 16
MOST_CANDIDATES = 100
"""Variables that are asked for their promise at a time: of more, the likeliest."""
_COVARIANCE_WORK = 400.0
"""Operations per entry of a covariance matrix beside the factorisation: exponentials, gradients, memory."""


class Fit(NamedTuple):
    """The evidence of one regression and where it was found."""

    value: float
    log_parameters: np.ndarray  # length scales of the parents, interaction, additive, noise
    inverse_hessian: np.ndarray
    trained: float  # the part of the value from the blocks of rows that the hyper-parameters were fitted on


class LocalScores(Scores):
    """Local scores by Gaussian processes; safe to share between threads that work on different children."""

    def __init__(
        self,
        columns: np.ndarray,
        config: EvidenceConfig,
        rng: np.random.Generator,
        n_threads: int,
        are_free: np.ndarray | None = None,
    ) -> None:
        """`columns` is the standardised table (n, d); a variable is scored on the rows that `are_free` (n, d) of it."""
        n, d = columns.shape
        super().__init__(d, config.cost_per_edge, n_threads)
        self.config = config
        order = rng.permutation(n)
        shuffled = np.ascontiguousarray(columns[order].T, dtype=np.float32)
        self._samples = samples(shuffled, config, None if are_free is None else are_free[order].T)
        self._whole = Sample(shuffled, config)
        self.n_blocks, self.scale = self._whole.n_blocks, float(n / self._whole.n_few)
        self._few: dict[tuple[int, Parents], Fit] = {}
        self._full: dict[tuple[int, Parents], Fit] = {}
        self._out_of_reach: tuple[dict[tuple[int, Parents], float], ...] = ({}, {})
        self._losses: dict[tuple[int, Parents, Parents], float] = {}
        self._few_losses: dict[tuple[int, Parents, Parents], float] = {}
        self._promises: dict[tuple[int, Parents], np.ndarray] = {}
        self._local = threading.local()
        self._by_chance = rng.permuted(shuffled[rng.integers(self.n_variables, size=_N_SHUFFLED)], axis=1)

    @property
    def work(self) -> float:
        """What all fits so far have taken, in operations, roughly: the same for any number of threads."""
        return len(self._full) * self.work_per_fit + len(self._few) * _work(self._whole.n_few)

    @property
    def work_per_fit(self) -> float:
        """What a fit on all rows takes."""
        return self.n_blocks * _work(self._whole.n_rows / self.n_blocks)

    def n_rows_of(self, child: int) -> int:
        """How many rows a child is scored on."""
        return self._samples[child].n_rows

    def scale_of(self, child: int) -> float:
        """How many times the few rows of a child are contained in all of its rows."""
        return self._samples[child].n_rows / self._samples[child].n_few

    def few(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Evidence on few rows; `near` are parents whose fit is a good start."""
        return self.few_fit(child, parents, near).value

    def full(self, child: int, parents: Parents, near: Parents = ()) -> float:
        """Evidence on all rows."""
        return self.fit(child, parents, near).value

    def loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """Nats that all rows lose with the length scales of these parents at infinity and everything else kept."""
        key = child, parents, dropped
        if key not in self._losses:
            log_parameters = _without(self.fit(child, parents).log_parameters, parents, dropped)
            self._losses[key] = self.full(child, parents) - self._evaluate(child, parents, log_parameters)
        return self._losses[key]

    def few_loss(self, child: int, parents: Parents, dropped: Parents) -> float:
        """The same on few rows, with the hyper-parameters of all rows if they are known."""
        key = child, parents, dropped
        if key not in self._few_losses:
            kept = (self._full.get((child, parents)) or self.few_fit(child, parents)).log_parameters
            sample = self._samples[child]
            inputs, target = sample.of(parents, sample.n_few), sample.column(child, sample.n_few)
            values = [
                block_evidence(inputs, target, at, 1, self._workspace(), False)[0]
                for at in (kept, _without(kept, parents, dropped))
            ]
            self._few_losses[key] = float(values[0] - values[1])
        return self._few_losses[key]

    def promise(self, child: int, parents: Parents) -> np.ndarray:
        """How much each variable promises as a further parent, in standard deviations; on one block of rows."""
        if (child, parents) not in self._promises:
            sample = self._samples[child]
            inputs, target = sample.of(parents, sample.n_first), sample.column(child, sample.n_first)
            log_parameters, workspace = self.fit(child, parents).log_parameters, self._workspace()
            alpha = unexplained(inputs, target, log_parameters, workspace)
            asked = np.arange(self.n_variables)
            if self.n_variables > MOST_CANDIDATES:
                asked = likeliest(sample.features, alpha, MOST_CANDIDATES)
            columns = [sample.of(asked, sample.n_first), sample.first_of(self._by_chance)]
            found = derivatives(alpha, np.concatenate(columns), workspace)
            result = np.full(self.n_variables, -np.inf)
            result[asked] = promises(found[:, : len(asked)], found[:, len(asked) :])
            result[[child, *parents]] = -np.inf
            self._promises[child, parents] = result
        return self._promises[child, parents]

    def fit(self, child: int, parents: Parents, near: Parents = ()) -> Fit:
        """The best fit on all rows."""
        if (child, parents) not in self._full:
            self._full[child, parents] = self._fit_full(child, parents, near)
        return self._full[child, parents]

    def reaches(self, child: int, parents: Parents, near: Parents, gain: float) -> bool:
        """Whether all rows gain so much evidence by these parents in place of others near them.

        A fit that cannot reach it is given up early.
        """
        start, sample = self.fit(child, near), self._samples[child]
        share = gain * sample.n_training_blocks / sample.n_blocks
        least = share if sample.n_training == sample.n_rows else share - _CAUTION * abs(share)
        fit = self._reaching(self._full, self._fit_full, child, parents, near, start.trained + least)
        return fit is not None and fit.value - start.value >= gain

    def few_gain(self, child: int, parents: Parents, near: Parents, least: float) -> float:
        """Evidence that few rows gain by these parents in place of others near them; -inf where it is below `least`."""
        before = self.few(child, near)
        fit = self._reaching(self._few, self._fit_few, child, parents, near, before + least)
        return -np.inf if fit is None else fit.value - before

    def flat(self, child: int, parents: Parents, near: Parents) -> frozenset[int]:
        """Parents whose length scales on few rows are large, if few rows explain the child at all."""
        log_parameters = self.few_fit(child, parents, near).log_parameters
        if log_parameters[-1] > _EXPLAINED:
            return frozenset()
        return frozenset(i for i, scale in zip(parents, log_parameters, strict=False) if scale >= _FLAT)

    def may_hide(self, child: int, parents: Parents) -> bool:
        """Whether most of the child is noise: an interaction shows when all of its parents are there."""
        return bool(self.fit(child, parents).log_parameters[-1] >= _EXPLAINED)

    def _reaching(
        self,
        known: dict[tuple[int, Parents], Fit],
        fit: Callable[[int, Parents, Parents, float], Fit],
        child: int,
        parents: Parents,
        near: Parents,
        wanted: float,
    ) -> Fit | None:
        """The fit, or None if it was given up: this much evidence is out of its reach."""
        key = child, parents
        out_of_reach = self._out_of_reach[known is self._few]
        if key not in known and out_of_reach.get(key, np.inf) > wanted:
            found = fit(child, parents, near, wanted)
            if found.value > -np.inf:
                known[key] = found
            else:
                out_of_reach[key] = wanted
        return known.get(key)

    def few_fit(self, child: int, parents: Parents, near: Parents = ()) -> Fit:
        """The best fit on few rows."""
        if (child, parents) not in self._few:
            self._few[child, parents] = self._fit_few(child, parents, near)
        return self._few[child, parents]

    def _fit_few(self, child: int, parents: Parents, near: Parents, wanted: float = -np.inf) -> Fit:
        known = self._few.get((child, near)) or self._full.get((child, near))
        n = self._samples[child].n_few
        return self._maximise(child, parents, n, 1, self._start(parents, near, known, n), wanted)

    def _fit_full(self, child: int, parents: Parents, near: Parents, wanted: float = -np.inf) -> Fit:
        sample = self._samples[child]
        n = sample.n_rows
        if not parents:
            trained = _gaussian(sample.column(child, sample.n_training)).value
            return _gaussian(sample.column(child, n))._replace(trained=trained)
        known = self._full.get((child, near))
        if known is not None and set(parents) <= set(near):
            start = self._start(parents, near, known, n)
        else:
            start = self.few_fit(child, parents, near)
            start = start._replace(inverse_hessian=start.inverse_hessian * sample.n_few / n)
        fit = self._maximise(child, parents, sample.n_training, sample.n_training_blocks, start, wanted)
        if sample.n_training < n and fit.value > -np.inf:
            fit = fit._replace(value=self._evaluate(child, parents, fit.log_parameters))
        return fit

    def _start(self, parents: Parents, near: Parents, known: Fit | None, n_rows: int) -> Fit:
        """The hyper-parameters of a known fit; parents that it does not have get typical length scales."""
        at = [_START["length_scale"]] * len(parents) + [_START["interaction"], _START["additive"], _START["noise"]]
        log_parameters = np.log(at)
        inverse_hessian = np.diag(np.array([5.0] * len(parents) + [10.0, 50.0, 4.0]) / n_rows)
        if known is not None and near:
            common = [parent for parent in parents if parent in near]
            here = [*(parents.index(parent) for parent in common), -3, -2, -1]
            there = [*(near.index(parent) for parent in common), -3, -2, -1]
            log_parameters[here] = known.log_parameters[there]
        return Fit(np.nan, log_parameters, inverse_hessian, np.nan)

    def _maximise(
        self, child: int, parents: Parents, n_rows: int, n_blocks: int, start: Fit, wanted: float = -np.inf
    ) -> Fit:
        inputs, target = self._samples[child].of(parents, n_rows), self._samples[child].column(child, n_rows)
        if not parents:
            return _gaussian(target)
        inverse_hessian = start.inverse_hessian.copy()
        lower, upper = self._bounds(len(parents))
        at, value, _ = maximise(
            inputs, target, start.log_parameters, lower, upper, inverse_hessian, n_blocks, self._workspace(),
            self.config.tolerance, _MAX_EVALUATIONS, wanted,
        )  # fmt: skip
        return Fit(float(value), at, inverse_hessian, float(value))

    def _evaluate(self, child: int, parents: Parents, log_parameters: np.ndarray) -> float:
        sample = self._samples[child]
        inputs, target = sample.of(parents, sample.n_rows), sample.column(child, sample.n_rows)
        value, _ = block_evidence(inputs, target, log_parameters, sample.n_blocks, self._workspace(), False)
        return float(value)

    def _workspace(self) -> np.ndarray:
        if not hasattr(self._local, "workspace"):
            most = max(-(-sample.n_rows // sample.n_blocks) for sample in self._samples)
            self._local.workspace = new_workspace(most)
        workspace: np.ndarray = self._local.workspace
        return workspace

    def _bounds(self, n_parents: int) -> tuple[np.ndarray, np.ndarray]:
        least, largest = [_LEAST_VARIANCE] * 2, [_LARGEST_VARIANCE] * 2
        lower = [self.config.least_length_scale] * n_parents + least + [self.config.least_noise]
        upper = [_LARGEST_LENGTH_SCALE] * n_parents + largest + [2.0]
        return np.log(lower), np.log(upper)


def _work(n_rows: float) -> float:
    """How the time of a fit grows with its rows: factorisations, and the covariances around them."""
    return n_rows**3 + _COVARIANCE_WORK * n_rows**2


def _without(log_parameters: np.ndarray, parents: Parents, dropped: Parents) -> np.ndarray:
    """Hyper-parameters with the length scales of some parents at infinity."""
    changed = log_parameters.copy()
    changed[[parents.index(parent) for parent in dropped]] = _INFINITE
    return changed


def _gaussian(target: np.ndarray) -> Fit:
    """No parents: log N(x; 0, I), since columns are standardised; on few rows too."""
    value = -0.5 * (target.size * np.log(2 * np.pi) + float(np.square(target, dtype=np.float64).sum()))
    return Fit(value, np.array([-np.inf, -np.inf, 0.0]), np.zeros((3, 3)), value)
