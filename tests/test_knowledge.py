"""Background knowledge: what it means, what it refuses, and that every method obeys."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grandag import Knowledge
from grandag.graph import is_acyclic, restricted_class
from grandag.knowledge import KnowledgeError
from grandag.methods.registry import METHODS

NAMES = ("age", "sex", "income", "gene_1", "gene_2")


def allowed_edges(knowledge, names=NAMES):
    return {(names[i], names[j]) for i, j in np.argwhere(knowledge.masks(names).allowed)}


def test_nothing_is_known():
    masks = Knowledge().masks(NAMES)
    np.testing.assert_array_equal(masks.allowed, ~np.eye(5, dtype=bool))
    assert not masks.required.any()


def test_forbidden_pairs_and_patterns():
    edges = allowed_edges(Knowledge(forbidden=[("income", "age"), ("*", "gene_?")]))
    assert ("income", "age") not in edges
    assert ("age", "income") in edges
    assert not any(effect.startswith("gene") for _, effect in edges)


def test_a_name_is_a_name_before_it_is_a_pattern():
    names = ("a*", "ab", "c")
    assert allowed_edges(Knowledge(leaves=["a*"]), names) == {("ab", "a*"), ("ab", "c"), ("c", "a*"), ("c", "ab")}


def test_tiers_roots_and_leaves():
    edges = allowed_edges(
        Knowledge(tiers=[["age", "sex"], ["income"]], closed_tiers=[0], roots=["gene_1"], leaves=["gene_2"])
    )
    assert ("income", "age") not in edges
    assert ("age", "income") in edges
    assert ("age", "sex") not in edges
    assert ("gene_1", "age") in edges  # in no tier: tiers say nothing about it
    assert not any(effect == "gene_1" or cause == "gene_2" for cause, effect in edges)


def test_required_edges_forbid_what_would_close_a_cycle():
    masks = Knowledge(required=[("age", "sex"), ("sex", "income")]).masks(NAMES)
    assert masks.required.sum() == 2
    assert not masks.allowed[2, 0]
    assert not masks.allowed[1, 0]
    assert masks.allowed[0, 2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"forbidden": [("incone", "age")]}, "names 'incone' among forbidden.*no such column; did you mean 'income'?"),
        ({"required": [("age", "sex")], "forbidden": [("age", "*")]}, "age -> sex is required, but it is forbidden"),
        ({"required": [("age", "sex")], "roots": ["sex"]}, "age -> sex is required, but its effect is among the roots"),
        ({"required": [("age", "sex")], "leaves": ["age"]}, "is required, but its cause is among the leaves"),
        ({"required": [("income", "age")], "tiers": [["age"], ["income"]]}, "its cause is in a later tier"),
        ({"required": [("age", "sex")], "tiers": [["age", "sex"]], "closed_tiers": [0]}, "a tier without edges inside"),
        ({"required": [("age", "sex"), ("sex", "age")]}, "required edges have a cycle, age -> sex -> age"),
        ({"tiers": [["age"], ["a*"]]}, "'age' is in tier 0 and in tier 1"),
        ({"tiers": ["age"]}, "tiers must be lists of column names; got 'age'"),
        ({"forbidden": ["ab"]}, r"forbidden must be pairs \(cause, effect\) of column names; got 'ab'"),
        ({"required": [("age", 1)]}, r"required must be pairs \(cause, effect\) of column names; got \('age', 1\)"),
        ({"roots": 5}, "roots must be a list; got 5"),
        ({"closed_tiers": [1], "tiers": [["age"]]}, "There is no tier 1 to close"),
        ({"forbiden": []}, "has the key 'forbiden'; did you mean 'forbidden'?"),
    ],
)
def test_contradictions_and_mistakes(fields, message):
    with pytest.raises(KnowledgeError, match=message):
        Knowledge.of(fields).masks(NAMES)


def test_files(tmp_path):
    knowledge = Knowledge(
        forbidden=[("sex", "income")],
        required=[("age", "income")],
        tiers=[["age", "sex"], ["income"]],
        closed_tiers=[0],
    )
    toml = tmp_path / "knowledge.toml"
    toml.write_text(
        'forbidden = [["sex", "income"]]\nrequired = [["age", "income"]]\n'
        'tiers = [["age", "sex"], ["income"]]\nclosed_tiers = [0]\n'
    )
    tetrad = tmp_path / "knowledge.txt"
    tetrad.write_text(
        "/knowledge\naddtemporal\n1* age sex\n2 income\n\nforbiddirect\nsex income\n\nrequiredirect\nage income\n"
    )
    assert Knowledge.read(toml) == Knowledge.read(tetrad) == Knowledge.of(str(toml)) == knowledge
    assert Knowledge.of(knowledge.as_dict()) == knowledge


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("forbidden = [", "is neither TOML nor Tetrad's format"),
        ("/knowledge\naddtemporal\n1 a\n2- b\n", "Line 4 of .* is '2- b'"),
        ("/knowledge\nforbiddirect\na b c\n", "Line 3 of .* is 'a b c'"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "knowledge"
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=message):
        Knowledge.read(path)


@st.composite
def knowledge_of_four(draw):
    """Required edges along a random order, forbidden ones elsewhere, and a root or leaf that agrees with them."""
    names = ["a", "b", "c", "d"]
    order = draw(st.permutations(names))
    forward = [(order[i], order[j]) for i in range(4) for j in range(i + 1, 4)]
    required = draw(st.lists(st.sampled_from(forward), max_size=3, unique=True))
    others = [(i, j) for i in names for j in names if i != j and (i, j) not in required]
    forbidden = draw(st.lists(st.sampled_from(others), max_size=5, unique=True))
    tiers = [list(order[:2]), list(order[2:])] if draw(st.booleans()) else []
    roots = [order[0]] if draw(st.booleans()) else []
    return Knowledge(forbidden=forbidden, required=required, tiers=tiers, roots=roots)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=12, derandomize=True)
@given(knowledge=knowledge_of_four(), seed=st.integers(0, 100))
def test_every_method_obeys(method, knowledge, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)), columns=list("abcd"))
    entry = METHODS[method]
    estimator = entry.estimator()
    wanted = {"max_iterations": 300, "n_epochs": 2, "max_penalty": 100.0, "random_state": seed}
    quick = {name: value for name, value in wanted.items() if name in estimator().get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(**{**entry.parameters, **quick}, knowledge=knowledge).fit(frame)
    masks = knowledge.masks(tuple("abcd"))
    assert (masks.required <= model.adjacency_).all()
    assert not (model.adjacency_ & ~masks.allowed).any()
    assert is_acyclic(model.dag_)
    if not model.is_dag_:
        np.testing.assert_array_equal(model.adjacency_, restricted_class(model.dag_, masks.allowed))


def test_a_required_edge_of_a_constant_column(rng):
    from grandag import CAM

    frame = pd.DataFrame({"a": rng.normal(size=50), "b": np.ones(50), "c": rng.normal(size=50)})
    with pytest.raises(KnowledgeError, match="a -> b is required, but 'b' is constant"):
        CAM(knowledge=Knowledge(required=[("a", "b")])).fit(frame)


def test_required_inputs_are_never_masked(rng):
    """Inputs that say nothing, amid open cycles: training masks them early on, unless they are required."""
    from grandag import GraNDAG

    values, required = rng.normal(size=(300, 4)), ([0, 0], [1, 3])
    settings = {"mask_threshold": 0.2, "n_layers": 1, "prune": False, "retrain": False, "random_state": 4}
    edges = [("X0", "X1"), ("X0", "X3")]
    open_to_both = {"forbidden": [edge[::-1] for edge in edges]}  # which a required edge implies
    plain, kept = (
        GraNDAG.preset("fast", knowledge=knowledge, **settings).fit(values)
        for knowledge in (open_to_both, {"required": edges})
    )
    for model in (plain, kept):
        assert model.converged_
        assert model.n_iter_ > 100  # where the open inputs have no cycle, training ends at once
    assert not plain.mask_[required].any()
    assert kept.mask_[required].all()
    assert kept.adjacency_[required].all()


@pytest.mark.parametrize("acyclicity", ["exponential", "cycles"])
@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_required_edge_that_the_data_contradict_costs_no_other_edge(preset, acyclicity):
    """a -> b -> c, d -> e, and c -> a required: training has to open the cycle elsewhere, not to weaken c -> a."""
    from grandag import GraNDAG

    x = np.random.default_rng(0).normal(size=(600, 5))
    x[:, 1] = np.sin(2 * x[:, 0]) + 0.3 * x[:, 1]
    x[:, 2] = x[:, 1] ** 2 - x[:, 1] + 0.3 * x[:, 2]
    x[:, 4] = np.cos(1.5 * x[:, 3]) + 0.3 * x[:, 4]
    knowledge = {"required": [("c", "a")]}
    model = GraNDAG.preset(preset, acyclicity=acyclicity, knowledge=knowledge, retrain=False, random_state=0)
    model.fit(pd.DataFrame(x, columns=list("abcde")))
    assert model.converged_
    assert is_acyclic(model.mask_)
    assert {("c", "a"), ("d", "e")} <= set(model.graph_.edges)


@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge(),
        Knowledge(forbidden=[("a", "b"), ("b", "c")], required=[("c", "a")]),
        Knowledge(tiers=[["a"], [], ["b", "c"]], closed_tiers=[2], roots=["a"], leaves=["c"]),
        Knowledge(forbidden=[("<script>'\"\\", "tab\tline\nbell\x07delete\x7f"), ("größe 量 \U0001f600", "x = [1]")]),
    ],
)
def test_toml_gives_the_same_knowledge_back(knowledge, tmp_path):
    path = tmp_path / "knowledge.toml"
    path.write_text(knowledge.to_toml(), encoding="utf-8")
    assert Knowledge.read(path) == knowledge


def test_half_a_character_is_refused_with_its_name():
    with pytest.raises(KnowledgeError, match="half of a character"):
        Knowledge(roots=["\ud800"]).to_toml()
