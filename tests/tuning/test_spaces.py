"""The paper's search spaces, against its own table, and draws from them."""

import re

import numpy as np
import pytest
from scipy import stats

from grandag.methods.registry import METHODS, build
from grandag.parameters import ParameterError, check_parameters, parameters_of
from grandag.tuning.spaces import NOT_OFFERED, Choice, PowerOfTen, draw, draw_from, space_of
from tests.conftest import SHARED

SEARCHED = [method for method in METHODS if method not in ("pc", "random")]
NOT_OF_THE_PAPER = (
    "grandag-shared", "lingam", "ica-lingam", "resit", "resit-gp", "equal-variance", "top-down", "exact", "fges",
)  # fmt: skip


def paper_distributions(cell):
    """The distributions in a cell of the paper's table, one per line of it."""
    distributions = []
    for line in re.findall(r"[^\\{}]*(?:\\\#|\$|[^\\])*?\\sim U(?:\\\{.*?\\\}|\[.*?\])", cell):
        inside = re.search(r"U(?:\\\{|\[)(.*?)(?:\\\}|\])$", line)[1]
        numbers = [10.0 ** float(n[4:-1]) if n.startswith("10^") else float(n) for n in inside.split(", ")]
        is_log = "Log(" in line
        if is_log and "U[" in line:
            distributions.append(PowerOfTen(min(numbers), max(numbers)))
        else:
            distributions.append(Choice(tuple(10.0**n if is_log else n for n in numbers)))
    return distributions


def as_set(distribution):
    return (
        {distribution.low, distribution.high, "powers"}
        if isinstance(distribution, PowerOfTen)
        else {round(np.log(v), 9) for v in distribution.values}
    )


@pytest.mark.parametrize("method", [method for method in SEARCHED if method not in ("grandag++", *NOT_OF_THE_PAPER)])
def test_spaces_are_those_of_the_table(method):
    """Line by line; what we do not offer is named, and is a line of the table too."""
    (path,) = (SHARED / "paper").glob("*.txt") if (SHARED / "paper").is_dir() else (None,)
    if path is None:
        pytest.skip("the paper's source is not beside the project")
    table = path.read_text().partition(r"\label{tab:hp_search}")[2]
    title = {"grandag": "GraN-DAG"}.get(method, method.upper())
    cell = re.search(rf"^{title} +&(.*)$", table, flags=re.MULTILINE)[1]
    distributions = paper_distributions(cell)
    ours = [as_set(distribution) for distribution in space_of(method).values()]
    found = [as_set(distribution) for distribution in distributions]
    assert len(found) == len(ours) + len(NOT_OFFERED.get(method, {}))
    for distribution in ours:
        found.remove(distribution)  # a space may have the same distribution twice
    assert len(found) == len(NOT_OFFERED.get(method, {}))


def test_both_kinds_of_grandag_have_the_same_space():
    assert space_of("grandag++") == space_of("grandag")


@pytest.mark.parametrize("method", SEARCHED)
def test_every_value_is_legal(method):
    for name, distribution in space_of(method).items():
        values = (
            distribution.values
            if isinstance(distribution, Choice)
            else (10.0**distribution.low, 10.0**distribution.high)
        )
        for value in values:
            estimator = build(method, {name: value})
            check_parameters({name: value}, {name: parameters_of(type(estimator))[name].rule})


def test_draws_are_repeatable_and_a_continuation():
    assert draw("grandag", 20, seed=3) == draw("grandag", 20, seed=3)
    assert draw("grandag", 5, seed=3) == draw("grandag", 20, seed=3)[:5]
    assert draw("grandag", 20, seed=3) != draw("grandag", 20, seed=4)
    assert draw("cam", 0) == []


def test_distributions_of_the_draws():
    drawn = draw("grandag", 3000, seed=1)
    units = np.array([values["n_units"] for values in drawn])
    counts = [(units == value).sum() for value in (4, 8, 16, 32)]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > 1e-4
    exponents = np.log10([values["learning_rate"] for values in drawn])
    assert stats.kstest(exponents, stats.uniform(-3, 1).cdf).pvalue > 1e-4
    layers = np.array([values["n_layers"] for values in drawn])
    assert abs(stats.spearmanr(units, layers).statistic) < 0.08  # 4 standard errors


def test_draws_of_a_parameter_do_not_depend_on_the_others():
    both = draw_from({"a": Choice((1, 2, 3)), "b": PowerOfTen(-1, 1)}, 20, seed=5)
    alone = draw_from({"b": PowerOfTen(-1, 1)}, 20, seed=5)
    assert [values["b"] for values in both] == [values["b"] for values in alone]


def test_values_are_pythons_own():
    drawn = draw_from({"a": Choice((1, 2)), "b": PowerOfTen(-1, 1)}, 3)
    assert {type(values["a"]) for values in drawn} == {int}
    assert {type(values["b"]) for values in drawn} == {float}


def test_method_without_a_space():
    with pytest.raises(ParameterError, match=r"must have a search space, as grandag, .* have; got 'random'"):
        draw("random", 2)
