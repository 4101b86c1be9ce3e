"""RESIT: cross-fitted residuals against plain ones, its two phases with an oracle, and the truth."""

import numpy as np
import pandas as pd
import pytest

from grandag import RESIT, DoubtWarning, load
from grandag.gam import SplineTable
from grandag.graph import ancestors
from grandag.methods.resit.hsic import Dependence
from grandag.methods.resit.order import eliminate, sinks
from grandag.methods.resit.residuals import REGRESSIONS, ProcessResiduals, SplineResiduals, draw_folds
from grandag.simulate.files import simulate
from grandag.table import as_table

each_regression = pytest.mark.parametrize("regression", REGRESSIONS)
pytestmark = pytest.mark.filterwarnings("ignore::grandag.DoubtWarning")


def curves(rng, n=400):
    """a -> b -> c, a -> c, additive and clearly not linear; the columns are in the order c, a, b."""
    a = rng.normal(size=n)
    b = np.tanh(2 * a) + 0.4 * rng.normal(size=n)
    c = np.cos(1.5 * b) + 0.5 * a**2 + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"c": c, "a": a, "b": b})


def test_folds_have_all_rows_once(rng):
    folds = draw_folds(103, 5, rng)
    assert sorted(np.bincount(folds)) == [20, 20, 21, 21, 21]
    assert draw_folds(3, 5, rng).max() == 2


def test_spline_residuals_are_those_of_rows_held_out(rng):
    """A penalised least squares of the training rows alone, by a solver that knows nothing of cross-products."""
    table = as_table(curves(rng, 200))
    folds = draw_folds(200, 4, rng)
    found = SplineResiduals(table, folds, rng)(0, (1, 2))
    fit = SplineTable(table, depends_on_units=False).regress(0, [1, 2])
    y = (table.values[:, 0] - table.values[:, 0].mean()) / table.values[:, 0].std()
    design = np.hstack([fit.products.bases[parent](table.values[:, parent]) for parent in (1, 2)])
    for fold in range(4):
        rows = folds == fold
        centre = design[~rows].mean(axis=0)
        penalty = np.diag(np.sqrt((~rows).sum() * fit.solution.P))
        system = np.vstack([design[~rows] - centre, penalty])
        right = np.append(y[~rows] - y[~rows].mean(), np.zeros(len(penalty)))
        slopes = np.linalg.lstsq(system, right, rcond=None)[0]
        expected = y[rows] - y[~rows].mean() - (design[rows] - centre) @ slopes
        np.testing.assert_allclose(found[rows], expected, atol=2e-4)


def test_process_residuals_are_those_of_rows_held_out(rng):
    """Changing what is predicted changes its own residual by as much: it is not in the fit of its own fold."""
    data = curves(rng, 150)
    folds = draw_folds(150, 3, np.random.default_rng(0))
    residuals = ProcessResiduals(as_table(data), folds, np.random.default_rng(0))
    before = residuals(0, (1, 2))
    row = 17
    residuals._columns[row, 0] += 5.0
    after = residuals(0, (1, 2))
    assert after[row] - before[row] == pytest.approx(5.0, abs=1e-8)
    same_fold = (folds == folds[row]) & (np.arange(150) != row)
    np.testing.assert_allclose(after[same_fold], before[same_fold], atol=1e-8)
    assert np.abs(after - before)[folds != folds[row]].max() > 0.01


@each_regression
def test_regressions_explain_what_can_be(regression, rng):
    data = curves(rng)
    folds = draw_folds(len(data), 5, rng)
    residuals = REGRESSIONS[regression](as_table(data), folds, rng)
    noise = 0.3 / data["c"].std(ddof=0)
    assert 0.8 * noise < residuals(0, (1, 2)).std() < (2.0 if regression == "trees" else 1.3) * noise
    assert residuals(0, ()).std() == pytest.approx(1.0, rel=0.01)


class Oracle:
    """A residual depends on a variable unless the graph says otherwise.

    Given the others that are left, what a regression leaves of a variable is its noise only if none of its effects is
    among them, and all its causes are: then it depends on nothing before it.
    """

    def __init__(self, truth):
        self.truth, self.reaches = truth, ancestors(truth)

    def __call__(self, target, parents):
        d = len(self.truth)
        causes = set(np.flatnonzero(self.truth[:, target]))
        effects = {i for i in range(d) if self.reaches[target, i]} - {target}
        is_noise = causes <= set(parents) and not effects & set(parents)
        log_p_value = np.full(d, np.log(0.5) if is_noise else -50.0)
        log_p_value[list(effects)] = -50.0
        return Dependence(log_p_value, np.zeros(d))


def test_phases_with_an_oracle(rng):
    """Every edge goes forwards, and exactly the true parents are left."""
    for _ in range(20):
        d = 7
        truth = np.triu(rng.random((d, d)) < 0.4, 1)
        names = rng.permutation(d)
        truth = truth[np.ix_(names, names)]
        oracle = Oracle(truth)
        free = np.zeros((d, d), dtype=bool)
        found = sinks(oracle, ~np.eye(d, dtype=bool), free)
        place = np.argsort(found.order)
        assert all(place[i] < place[j] for i, j in np.argwhere(truth))
        for k, j in enumerate(found.order):
            before = found.order[:k]
            kept = eliminate(oracle, j, rng.permutation(before).tolist(), before, np.log(0.05), free[:, j])
            assert set(kept) == set(np.flatnonzero(truth[:, j]))


def test_required_parents_are_not_eliminated():
    required = np.array([True, False, False])
    assert eliminate(Oracle(np.zeros((3, 3), dtype=bool)), 2, [0, 1], [0, 1], np.log(0.05), required) == [0]


@pytest.mark.parametrize("regression", ["splines", "gaussian-process"])
@pytest.mark.parametrize("prune", [False, True])
def test_finds_the_truth(regression, prune, rng):
    data = curves(rng)
    model = RESIT(regression=regression, prune=prune, random_state=0).fit(data)
    assert model.causal_order_ == ["a", "b", "c"]
    assert {("a", "b"), ("b", "c")} <= set(model.graph_.edges)
    assert "dependent residuals" not in [concern.kind for concern in model.warnings_]
    assert (model.edges_["strength"] > 5).all()
    assert model.score(data) > RESIT(prune=True, prune_cutoff=0.0, random_state=0).fit(data).score(data) + 0.5


def test_trees(rng):
    """Steps and corners, which splines of few functions round off."""
    cause = rng.uniform(-2, 2, 500)
    data = pd.DataFrame({"effect": 2.0 * (cause > 0.3) + np.abs(cause) + 0.2 * rng.normal(size=500), "cause": cause})
    model = RESIT(regression="trees", random_state=0).fit(data)
    assert list(model.graph_.edges) == [("cause", "effect")]


def test_additive_data():
    """Functions that are sums: what splines are for."""
    scenario = simulate("add-func", graph="er", n_nodes=10, n_edges=10, n_rows=1000, seed=3)
    for prune in (False, True):
        model = RESIT(random_state=0, prune=prune).fit(scenario.data)
        assert (model.adjacency_ != scenario.adjacency).sum() <= 1


def test_noise_need_not_be_gaussian(rng):
    x = rng.uniform(-1, 1, 500)
    data = pd.DataFrame({"effect": x + rng.uniform(-1, 1, 500), "cause": x})  # linear: the noise alone tells
    assert list(RESIT(random_state=0).fit(data).graph_.edges) == [("cause", "effect")]


def test_knowledge_binds(rng):
    data = curves(rng)

    def fitted(**knowledge):
        return RESIT(random_state=0, knowledge=knowledge).fit(data)

    assert fitted(tiers=[["c"], ["b"], ["a"]]).causal_order_ == ["c", "b", "a"]
    assert ("c", "a") in fitted(required=[("c", "a")]).graph_.edges
    assert ("b", "c") not in fitted(forbidden=[("b", "c")]).graph_.edges


def test_dependent_residuals_are_a_reason_to_doubt(rng):
    """A product is no sum: splines say so, and name what fits it."""
    a, b = rng.normal(size=(2, 600))
    data = pd.DataFrame({"a": a, "b": b, "c": 2 * a * b + a + b + 0.2 * rng.normal(size=600)})
    knowledge = {"tiers": [["a", "b"], ["c"]]}
    with pytest.warns(DoubtWarning, match="dependent residuals"):
        model = RESIT(random_state=0, knowledge=knowledge).fit(data)
    (concern,) = [concern for concern in model.warnings_ if concern.kind == "dependent residuals"]
    assert concern.variables == ("c",)
    assert "gaussian-process" in concern.message
    assert any("chosen by significance" in note for note in model.notes_)
    better = RESIT(regression="gaussian-process", random_state=0, knowledge=knowledge).fit(data)
    assert "dependent residuals" not in [concern.kind for concern in better.warnings_]


def test_directions_of_lines_with_gaussian_noise_are_a_guess(rng):
    """Both directions leave independent residuals; what knowledge says is no guess, and curves tell."""
    a, b, c = rng.normal(size=(3, 300))
    data = pd.DataFrame({"a": a, "b": a + b, "c": a + b + c})
    model = RESIT(random_state=0).fit(data)
    (concern,) = [concern for concern in model.warnings_ if concern.kind == "guessed directions"]
    assert {tuple(edge.split(" -> ")) for edge in concern.numbers} == set(model.graph_.edges)
    assert set(concern.variables) == set("abc")
    assert "a guess" in concern.message

    known = RESIT(random_state=0, knowledge={"tiers": [["a"], ["b"], ["c"]]}).fit(data)
    required = RESIT(random_state=0, knowledge={"required": [["a", "b"]]}).fit(data[["a", "b"]])
    for told in (known, required, RESIT(random_state=0).fit(curves(rng))):
        assert list(told.graph_.edges)
        assert "guessed directions" not in [concern.kind for concern in told.warnings_]


def test_seed_and_storage(rng, tmp_path):
    data = curves(rng, 1500)  # more rows than stand for a kernel
    first, second = (RESIT(random_state=3).fit(data) for _ in range(2))
    np.testing.assert_array_equal(first.strength_, second.strength_)
    first.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    assert again.causal_order_ == first.causal_order_
    assert again.score(data) == pytest.approx(first.score(data))
    assert again.method == "resit"
    process = RESIT(regression="gaussian-process", random_state=0).fit(data[:200])
    process.save(tmp_path / "process.npz")
    assert load(tmp_path / "process.npz").score(data) == pytest.approx(process.score(data))
    assert process.method == "resit-gp"


def test_preselection_and_many_rows(rng, monkeypatch):
    from grandag.methods.resit import resit

    monkeypatch.setitem(resit._MAX_ROWS, "splines", 300)
    model = RESIT(preselection=True, random_state=0).fit(curves(rng))
    assert any("Preselection left" in note for note in model.notes_)
    assert any(note == "RESIT looked at 300 of the 400 rows, evenly spread." for note in model.notes_)
    assert model.causal_order_ == ["a", "b", "c"]


@pytest.mark.filterwarnings("ignore:Columns .* hold the same numbers")
def test_copies_and_few_values(rng):
    data = curves(rng, 120).assign(twin=lambda frame: 2 * frame["a"], coin=rng.integers(0, 2, 120))
    model = RESIT(random_state=0).fit(data)
    assert model.is_dag_
    assert np.isfinite(model.strength_).all()
