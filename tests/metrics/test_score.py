import networkx as nx
import numpy as np

from grandag.graph import to_cpdag
from grandag.metrics import edge_differences, edge_errors, oset_aid, score, shd, shd_cpdag, sid, sid_bounds

TRUTH = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
ESTIMATE = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=bool)


def test_dag():
    facts = score(TRUTH, ESTIMATE)
    assert (facts["n_nodes"], facts["n_true_edges"], facts["n_estimated_edges"]) == (4, 3, 3)
    assert facts["shd"] == shd(TRUTH, ESTIMATE)
    assert facts["shd_cpdag"] == shd_cpdag(TRUTH, ESTIMATE)
    assert facts["sid"] == facts["sid_lower"] == facts["sid_upper"] == sid(TRUTH, ESTIMATE)
    assert {name: facts[name] for name in ("missing", "extra", "reversed", "mixed")} == edge_errors(
        TRUTH, ESTIMATE
    )._asdict()
    assert facts["oset_aid"] == oset_aid(TRUTH, ESTIMATE)
    assert facts["adjacency"] == {"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3}
    assert facts["notes"] == []


def test_cpdag():
    estimate = to_cpdag(TRUTH)
    facts = score(TRUTH, estimate)
    assert facts["sid"] is None
    assert (facts["sid_lower"], facts["sid_upper"]) == sid_bounds(TRUTH, estimate)
    assert facts["mixed"] == 3
    assert facts["direction"] == {"precision": None, "recall": 0.0, "f1": 0.0}
    assert facts["notes"] == []


def test_reasons_for_what_is_not_defined():
    facts = score(TRUTH, np.roll(np.eye(4, dtype=bool), 1, axis=1))
    undefined = ["shd_cpdag", "sid", "sid_lower", "sid_upper", "parent_aid", "ancestor_aid", "oset_aid"]
    assert {name: facts[name] for name in undefined} == dict.fromkeys(undefined)
    assert facts["shd"] == 3
    assert len(facts["notes"]) == 4
    assert all("It has a cycle: X0 -> X1 -> X2 -> X3 -> X0." in note for note in facts["notes"])
    assert facts["notes"][-1].startswith("Not defined: parent_aid, ancestor_aid, oset_aid. ")


def test_edge_by_edge():
    """a -> b found, b -> c reversed, c -> d missing, d - e undirected in the estimate, a -> e extra."""
    truth = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
    estimate = nx.DiGraph([("a", "b"), ("c", "b"), ("d", "e"), ("e", "d"), ("a", "e")])
    nx.set_edge_attributes(estimate, {("d", "e"): True, ("e", "d"): True}, "undirected")
    found = edge_differences(truth, estimate)
    assert {tuple(row) for row in found.to_numpy()} == {
        ("a", "b", "->", "->", "found"),
        ("b", "c", "->", "<-", "reversed"),
        ("c", "d", "->", "", "missing"),
        ("d", "e", "->", "--", "direction differs"),
        ("a", "e", "", "->", "extra"),
    }
    errors = edge_errors(truth, estimate)
    counts = found["difference"].value_counts()
    assert [counts[kind] for kind in ("missing", "extra", "reversed", "direction differs")] == list(errors)
