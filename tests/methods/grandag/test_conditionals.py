"""The double precision forward pass against the engine's."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from grandag.engine.network import constants_of, initialise, shape_of, weights_of
from grandag.engine.training import mean_log_likelihood
from grandag.kinds import ColumnKind
from grandag.methods.grandag.columns import Encoding, Reading, encode
from grandag.methods.grandag.conditionals import least_deviations, network_conditionals
from grandag.table import Scaling, Table, as_table


def of_numbers(density, scaling):
    """The encoding of columns of numbers."""
    d = len(scaling.mean)
    reading = Reading(np.zeros(d, dtype=int), np.zeros(d, dtype=bool), scaling)
    return Encoding((density,) * d, scaling, reading, np.zeros(d, dtype=bool), ())


@pytest.mark.parametrize("density", ["additive-gaussian", "gaussian"])
@pytest.mark.parametrize(("n_layers", "activation"), [(0, "leaky-relu"), (1, "squareplus"), (2, "leaky-relu")])
def test_log_likelihood_is_the_engines(rng, density, n_layers, activation):
    """Inputs that are listed first are out of column order, and units are not those of training."""
    mask = np.triu(np.ones((6, 6), dtype=bool), k=1)[:, rng.permutation(6)] & ~np.eye(6, dtype=bool)
    first = mask & (rng.random((6, 6)) < 0.5)
    networks = initialise(
        mask,
        n_layers=n_layers,
        n_units=7,
        activation=activation,
        density=density,
        dtype="float32",
        rng=rng,
        first=first,
    )
    networks.parameters[:, -1] += 0.3 * rng.normal(size=6).astype(
        np.float32
    )  # log sigma, or a weight of the last layer
    scaled = rng.normal(size=(200, 6)).astype(np.float32)
    scaling = Scaling(rng.normal(size=6), np.exp(rng.normal(size=6)))
    values = scaling.mean + scaling.scale * scaled.astype(np.float64)
    for j, conditional in enumerate(
        network_conditionals(networks, of_numbers(density, scaling), 1e-3 * scaling.scale, 200)
    ):
        found = conditional.given(values[:, mask[:, j]])
        log_likelihood = norm.logpdf(values[:, j], found.mean, found.scale).mean() + np.log(scaling.scale[j])
        assert log_likelihood == pytest.approx(mean_log_likelihood(networks, scaled)[j], rel=1e-4), j


def test_the_noise_is_at_least_what_the_rows_can_show(rng):
    """A thousandth of what varies; of a nearly constant column, 1 / sqrt(k + 1) of it for k rows that differ."""
    values = rng.normal(size=(400, 4)) * [1, 10, 1, 1]
    values[:, 2] = np.arange(400) < 3
    values[:, 3] = 5 + 2 * (np.arange(400) < 399)
    least = least_deviations(as_table(values, numbers_only=True))
    np.testing.assert_allclose(least / values.std(axis=0), [1e-3, 1e-3, 1 / 2, 1 / np.sqrt(2)])
    mask = np.zeros((4, 4), dtype=bool)
    networks = initialise(
        mask, n_layers=0, n_units=1, activation="leaky-relu", density="additive-gaussian", dtype="float32", rng=rng
    )
    networks.parameters[:, -1] = [-0.5, -20, -20, 0.25]  # log sigma of the scaled columns
    scaling = Scaling(np.zeros(4), np.array([1, 10, 1, 2.0]))
    conditionals = network_conditionals(networks, of_numbers("additive-gaussian", scaling), least, 400)
    scales = [found.given(np.empty((1, 0))).scale[0] for found in conditionals]
    np.testing.assert_allclose(scales, [np.exp(-0.5), least[1], least[2], 2 * np.exp(0.25)], rtol=1e-6)


KINDS = ("continuous", "heavy-tailed", "binary", "categorical", "count", "continuous")
DENSITIES = ("additive-gaussian", "student-t", "bernoulli", "categorical", "negative-binomial", "gaussian")


def mixed_networks(rng, n_layers=2, activation="leaky-relu"):
    """Networks of a table with every kind, inputs out of column order, parameters far from their start."""
    n = 200
    values = np.column_stack(
        [3 + 2 * rng.normal(size=n), rng.standard_t(3, size=n), rng.integers(2, size=n), rng.integers(4, size=n),
         rng.negative_binomial(3, 0.2, size=n), 10 * rng.normal(size=n)]
    )  # fmt: skip
    table = Table(values, tuple("abcdef"), True, kinds=KINDS)
    encoding = encode(table, DENSITIES, standardise=True)
    mask = np.triu(np.ones((6, 6), dtype=bool), k=1)[:, rng.permutation(6)] & ~np.eye(6, dtype=bool)
    networks = initialise(
        mask, n_layers=n_layers, n_units=11, activation=activation, density=encoding.variables, dtype="float64",
        rng=rng, first=mask & (rng.random((6, 6)) < 0.5),
    )  # fmt: skip
    for j in range(6):
        shape, parameters = shape_of(networks, j), networks.parameters[j]
        weights_of(shape, parameters, networks.n_reads[j], n_layers)[:, 0] += 0.3 * rng.normal(size=shape.n_outputs)
        constants_of(shape, parameters)[:] += 0.3 * rng.normal(size=shape.n_constants)
    return table, encoding, networks, mask


@pytest.mark.parametrize(("n_layers", "activation"), [(0, "leaky-relu"), (1, "squareplus"), (2, "leaky-relu")])
def test_log_likelihood_of_every_kind_is_the_engines(rng, n_layers, activation):
    table, encoding, networks, mask = mixed_networks(rng, n_layers, activation)
    of_engine = mean_log_likelihood(networks, encoding.apply(table.values, "float64"))
    least = 1e-3 * table.scaling.scale
    for j, conditional in enumerate(network_conditionals(networks, encoding, least, 10**9)):
        found = conditional.given(table.values[:, mask[:, j]]).log_density(table.values[:, j])
        assert found.mean() + np.log(encoding.scaling.scale[j]) == pytest.approx(of_engine[j], rel=1e-9), DENSITIES[j]


def test_only_what_fits_together_is_consistent(rng):
    _, encoding, networks, mask = mixed_networks(rng)
    for j, conditional in enumerate(network_conditionals(networks, encoding, np.ones(6), 98)):
        n = int(mask[:, j].sum())
        assert conditional.is_consistent(n)
        assert not conditional.is_consistent(n + 1)
        assert not replace(conditional, density=99).is_consistent(n)
        assert not replace(conditional, constants=np.zeros(5)).is_consistent(n)
        assert not replace(conditional, layers=conditional.layers[1:]).is_consistent(n)
        assert not replace(conditional, scale=0.0).is_consistent(n)
        assert not replace(conditional, least=0.7).is_consistent(n)
        if n:
            other = replace(conditional.parents, n_labels=conditional.parents.n_labels + 2)
            assert not replace(conditional, parents=other).is_consistent(n)


def test_a_conditional_fits_the_kinds_of_its_columns(rng):
    """Outputs for all labels of its own column, and inputs for those of its parents."""
    table, encoding, networks, mask = mixed_networks(rng)
    conditionals = network_conditionals(networks, encoding, np.ones(6), 98)
    more = [ColumnKind("categorical", (*column.labels, "more")) for column in table.columns]
    for j, conditional in enumerate(conditionals):
        parents = [column for column, is_parent in zip(table.columns, mask[:, j], strict=True) if is_parent]
        assert conditional.fits(table.columns[j], parents)
        assert not conditional.fits(more[j], parents)
        other = [column for column, is_parent in zip(more, mask[:, j], strict=True) if is_parent]
        assert conditional.fits(table.columns[j], other) == (not parents)
    assert not conditionals[2].fits(ColumnKind("count"), [])


def test_no_value_is_impossible_however_sure_a_network_is(rng):
    _, encoding, networks, mask = mixed_networks(rng)
    conditionals = network_conditionals(networks, encoding, np.ones(6), 98)
    for j, values in ((2, [0, 1]), (3, [0, 1, 2, 3]), (4, [0, 1, 10**6])):
        *layers, last = conditionals[j].layers
        for factor in (-1e6, 1e6):
            sure = replace(conditionals[j], layers=(*layers, factor * np.ones_like(last)))
            given = sure.given(np.ones((len(values), mask[:, j].sum())))
            log_p = given.log_density(np.array(values, dtype=float))
            assert np.isfinite(log_p).all()
            assert j == 4 or log_p.min() >= np.log(1 / 100) - 0.05  # Laplace's rule for 98 rows
