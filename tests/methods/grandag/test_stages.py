"""What the estimator hands to the stages after training: which rows, and which learning rate.

The order of the columns is known here, so that no cycle is open and training ends at its first iteration: what differs
between two fits is then due to the stage in question.
"""

import numpy as np
import pytest

from grandag import GraNDAG
from grandag.gam import SplineTable
from grandag.methods.stages.prune import prune
from tests.conftest import nonlinear_chain

ORDER = {"tiers": [["X0"], ["X1"], ["X2"]]}
COMPLETE = np.triu(np.ones((3, 3), dtype=bool), 1)


@pytest.fixture
def values(rng):
    return nonlinear_chain(rng, 300)


def test_pruning_uses_all_rows(values):
    """Also those that are held out from training: p-values are those of the table, not of a part of it."""
    settings = {"knowledge": ORDER, "retrain": False, "held_out_fraction": 0.5, "random_state": 0}
    model = GraNDAG.preset("fast", **settings).fit(values)
    expected = prune(SplineTable(values), COMPLETE)
    np.testing.assert_array_equal(np.isnan(model.p_values_), ~COMPLETE)
    np.testing.assert_allclose(model.p_values_, expected.p_values, rtol=1e-6)
    np.testing.assert_allclose(model.degrees_of_freedom_, expected.degrees_of_freedom, rtol=1e-6)
    np.testing.assert_array_equal(model.adjacency_, expected.adjacency)


def test_retraining_has_the_learning_rate_of_the_first_subproblem(values):
    """The conditionals do not depend on the learning rate of later subproblems, of which there are none."""

    def fit(**rates):
        settings = {"knowledge": ORDER, "prune": False, "max_iterations": 1000, "random_state": 0}
        model = GraNDAG.preset("fast", **settings, **rates).fit(values)
        assert model.n_iter_ == 1
        return model

    model = fit(learning_rate=1e-2, later_learning_rate=1e-3)
    same = fit(learning_rate=1e-2, later_learning_rate=1e-4)
    other = fit(learning_rate=1e-4, later_learning_rate=1e-3)
    np.testing.assert_array_equal(same.log_prob(values), model.log_prob(values))
    np.testing.assert_array_equal(same.strength_, model.strength_)
    assert model.score(values) > other.score(values) + 0.1  # 1,000 steps of 1e-4 lead nowhere
