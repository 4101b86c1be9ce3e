"""The compiled training follows a plain numpy version of the whole method, iteration by iteration, to its end.

In double precision, and with seeds for which a change of the table by one part in 10^13 stays below the tolerances:
training is chaotic, so that rounding alone can take two correct programs apart within ten thousand iterations.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from grandag.graph import is_acyclic
from grandag.methods.grandag.train import NetworkConfig, Outcome, TrainConfig, train
from tests.methods.grandag import reference_loop

FAST = TrainConfig(mask_threshold=0.03, initial_penalty=1.0, subproblem_tolerance=1e-3)
"""Acyclic within several thousand iterations, twelve subproblems or so; the rest are the defaults."""


class Case(NamedTuple):
    d: int
    density: str
    config: TrainConfig
    seed: int


CASES = {
    "GraN-DAG": Case(5, "additive-gaussian", FAST, 20),
    "GraN-DAG++": Case(4, "gaussian", FAST, 29),
    "sparse": Case(5, "additive-gaussian", replace(FAST, sparsity=0.1, max_iterations=4000), 20),
    "the defaults, interrupted": Case(4, "additive-gaussian", TrainConfig(max_iterations=2450), 0),
}


def table(d):
    """X0 -> X1 -> X2 -> X4 and X0 -> X4, standardised; X3 has nothing to do with the others."""
    x = np.random.default_rng(1).normal(size=(250, d))
    x[:, 1] = np.sin(2 * x[:, 0]) + 0.3 * x[:, 1]
    x[:, 2] = x[:, 1] ** 2 - x[:, 1] + 0.3 * x[:, 2]
    if d == 5:
        x[:, 4] = np.cos(1.5 * x[:, 0]) + x[:, 2] + 0.3 * x[:, 4]
    return (x - x.mean(axis=0)) / x.std(axis=0)


def constraints(d):
    """X3 -> X1 is required, though nothing speaks for it; its reverse is closed, all else is open."""
    mask, required = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
    mask[1, 3], required[3, 1] = False, True
    return mask, required


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def both(request):
    """A case, and what the compiled program and the reference make of it."""
    d, density, config, seed = request.param
    rows, (mask, required) = table(d), constraints(d)
    network = NetworkConfig(n_units=4, density=density, dtype="float64")
    arguments = rows[:200], rows[200:], mask, network, config
    compiled = train(*arguments, np.random.default_rng(seed), required=required)
    return request.param, compiled, reference_loop.train(*arguments, np.random.default_rng(seed), required)


def test_same_trace(both):
    (d, *_), compiled, reference = both
    assert [row[0] for row in compiled.trace] == [row[0] for row in reference.trace]
    for name, ours, theirs in zip(
        compiled.trace[0]._fields, np.transpose(compiled.trace), np.transpose(reference.trace), strict=True
    ):
        scale = d if name.endswith("log_likelihood") else 1  # the released program has means over variables
        np.testing.assert_allclose(ours, scale * theirs, rtol=1e-8, atol=1e-9, err_msg=name)


def test_same_networks(both):
    _, compiled, reference = both
    networks, mask = compiled.networks, reference.mask
    np.testing.assert_array_equal(networks.mask, mask)
    for j, log_sigma in enumerate(reference.log_sigma):
        for layer, ours in enumerate(networks.layers(j)):
            weights = reference.weights[layer][j]
            theirs = np.hstack([reference.biases[layer][j], weights[:, mask[:, j]] if layer == 0 else weights])
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)
        if networks.shape.n_constants:
            np.testing.assert_allclose(networks.constants(j), log_sigma, rtol=0, atol=1e-7)


def test_the_whole_method_was_compared(both):
    """A run in which nothing happens would agree with anything."""
    case, compiled, _ = both
    penalties = {row.penalty for row in compiled.trace}
    assert compiled.n_iterations > 2000
    if case.config is not FAST:
        assert compiled.outcome is Outcome.OUT_OF_ITERATIONS
        assert compiled.n_subproblems >= 2
        return
    _, required = constraints(case.d)
    assert compiled.outcome is Outcome.CONVERGED
    assert compiled.n_subproblems >= 10
    assert len(penalties) >= 3
    assert len(penalties) < compiled.n_subproblems  # the penalty grew after some subproblems, not after all
    assert len({row.n_edges for row in compiled.trace}) >= 5
    assert is_acyclic(compiled.networks.mask)
    assert (compiled.networks.mask & required).sum() == 1
    assert compiled.A_phi[required] < case.config.mask_threshold  # it would have been masked
