"""Exact search with interventions: the best score of all DAGs, by brute force."""

from itertools import product

import numpy as np
import pytest

from grandag import ExactSearch, simulate
from grandag.graph import interventional_essential_graph, is_acyclic
from grandag.table import InterventionError


@pytest.fixture
def regimes():
    scenario = simulate.draw_scenario("lin", simulate.erdos_renyi(4, 4, random_state=4), 300, 4)
    return simulate.draw_regimes(scenario, 2, random_state=4)


def local(values, free, node, parents, n):
    """The BIC of one linear regression, by least squares."""
    rows = values[free]
    design = np.column_stack([np.ones(len(rows)), rows[:, parents]])
    left = rows[:, node] - design @ np.linalg.lstsq(design, rows[:, node], rcond=None)[0]
    likelihood = -len(rows) / 2 * (np.log(2 * np.pi * left.var()) + 1)
    return likelihood - np.log(n) / 2 * (len(parents) + 2)


@pytest.mark.filterwarnings("ignore")
def test_best_class_of_all(regimes):
    values, n, d = regimes.data.to_numpy(), 300, 4
    is_target = np.array([[name == target for name in regimes.names] for target in regimes.interventions])
    best, best_score = None, -np.inf
    for entries in product([False, True], repeat=d * (d - 1)):
        dag = np.zeros((d, d), dtype=bool)
        dag[~np.eye(d, dtype=bool)] = entries
        if is_acyclic(dag):
            score = sum(local(values, ~is_target[:, j], j, np.flatnonzero(dag[:, j]), n) for j in range(d))
            best, best_score = (dag, score) if score > best_score + 1e-6 else (best, best_score)
    model = ExactSearch().fit(regimes.data, interventions=regimes.interventions)
    assert model.score_ == pytest.approx(best_score, abs=1e-3)
    targets = np.unique(is_target, axis=0)
    np.testing.assert_array_equal(model.adjacency_, interventional_essential_graph(best, targets))


@pytest.mark.filterwarnings("ignore")
def test_other_scores(regimes):
    model = ExactSearch(local_score="additive").fit(regimes.data, interventions=regimes.interventions)
    assert model.is_dag_
    with pytest.raises(InterventionError, match="local_score='bic' or 'additive'"):
        ExactSearch(local_score="generalised").fit(regimes.data, interventions=regimes.interventions)
