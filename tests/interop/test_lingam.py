"""lingam's matrices are transposed and weighted: directions by what it learns from data of known direction."""

import lingam
import numpy as np
import pytest
from lingam.utils import make_prior_knowledge

from grandag import graph as g
from tests.interop.examples import CONFOUNDING, DAG, EFFECT, NAMES, rows


@pytest.fixture
def learned(rng):
    return lingam.DirectLiNGAM(measure="pwling").fit(rows(rng))


def test_directions(learned):
    weights = np.where(np.abs(learned.adjacency_matrix_) > 0.1, learned.adjacency_matrix_, 0)
    adjacency, names = g.from_lingam(weights, NAMES)
    np.testing.assert_array_equal(adjacency, DAG)
    assert names == NAMES
    np.testing.assert_array_equal(g.to_lingam(adjacency), weights != 0)


def test_weights(learned):
    """B[effect, cause] is the coefficient: the row is the effect, not the cause."""
    treatment, confounder, outcome = (NAMES.index(name) for name in ("treatment", "confounder", "outcome"))
    assert learned.adjacency_matrix_[outcome, treatment] == pytest.approx(EFFECT, abs=0.1)
    assert learned.adjacency_matrix_[outcome, confounder] == pytest.approx(CONFOUNDING, abs=0.1)
    assert learned.adjacency_matrix_[treatment, confounder] == pytest.approx(1, abs=0.1)


def test_orders_agree(learned):
    """Every edge of ours goes forwards in lingam's causal order."""
    adjacency, _ = g.from_lingam(learned.adjacency_matrix_)
    position = np.argsort(learned.causal_order_)
    source, target = np.nonzero(adjacency)
    assert len(source)
    assert (position[source] < position[target]).all()


def test_our_graph_is_read_by_lingam(rng):
    """Data simulated along to_lingam's matrix by lingam's own equation, x = B x + e, have our directions."""
    weights = g.to_lingam(DAG) * 1.2
    noise = rng.uniform(-1, 1, size=(3000, 4))
    values = noise @ np.linalg.inv(np.eye(4) - weights).T
    model = lingam.DirectLiNGAM(measure="pwling").fit(values)
    np.testing.assert_array_equal(g.from_lingam(np.abs(model.adjacency_matrix_) > 0.2)[0], DAG)


def test_paths_as_prior_knowledge(rng):
    """Forbidding, in lingam's matrix, what our graph does not have keeps the learned graph within ours."""
    knowledge = make_prior_knowledge(4, no_paths=[tuple(pair) for pair in np.argwhere(~g.ancestors(DAG))])
    np.testing.assert_array_equal(knowledge == 0, ~g.ancestors(DAG).T)
    # Gaussian noise: without knowledge no direction could be told
    confounder, alone, *noise = rng.normal(size=(4, 2000))
    treatment = confounder + noise[0]
    values = np.column_stack([treatment, confounder, treatment - confounder + noise[1], alone])
    model = lingam.DirectLiNGAM(measure="pwling", prior_knowledge=knowledge).fit(values)
    adjacency, _ = g.from_lingam(model.adjacency_matrix_)
    assert not (adjacency & ~DAG)[:3, :3].any()


def test_hidden_causes_are_refused():
    """BottomUpParceLiNGAM marks pairs with a hidden common cause by NaN."""
    rng = np.random.default_rng(0)
    hidden, *noise = rng.uniform(-1, 1, size=(4, 1000))
    values = np.column_stack([hidden + 0.5 * noise[0], hidden + 0.5 * noise[1], noise[2]])
    model = lingam.BottomUpParceLiNGAM(alpha=0.01).fit(values)
    assert np.isnan(model.adjacency_matrix_).any()
    with pytest.raises(g.GraphError, match="hidden common cause"):
        g.from_lingam(model.adjacency_matrix_)
