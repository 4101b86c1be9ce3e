"""Every page and drawing with names that attack it, in a real browser: no element of theirs, no script, no request."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from grandag import compare, confidence
from grandag.graph import write_graph
from grandag.methods.registry import METHODS, build
from grandag.report import compare_page, fit_page
from grandag.reproduction.page import paper_page
from tests.report.browser import Page, chromium
from tests.reproduction.tables import make_table

HOSTILE = (
    "<script>window.injected = 1</script>",
    "</script><script>window.injected = 2</script>",
    "\"><img src='http://example.invalid/1.png' onerror='window.injected = 3'>",
    "'></style></title></textarea><svg onload='window.injected = 4'></svg>",
    "]]>--></text></svg><iframe src='http://example.invalid/2'></iframe>",
    "javascript:window.injected=5 &lt;b&gt; {{ 7 * 7 }} \x1b[31m\x07",
)
HARMLESS = tuple(f"{number}{'n' * len(name)}" for number, name in enumerate(HOSTILE))
"""As long, so that drawings are as wide."""

QUICK = {"max_iterations": 50, "n_epochs": 3, "n_jobs": 1, "n_edges": 8, "record_A_phi": True}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def session():
    with chromium() as session:
        yield session


def frame(names):
    """A chain, so that every name is at an edge."""
    values = np.random.default_rng(0).normal(size=(150, len(names)))
    for effect in range(1, len(names)):
        values[:, effect] += 1.5 * values[:, effect - 1]
    return pd.DataFrame(values, columns=list(names))


def fitted(method, names):
    known = METHODS[method].estimator()().get_params()
    quick = {name: value for name, value in QUICK.items() if name in known}
    return build(method, quick, seed=1).fit(frame(names))


def of_fit(method):
    def make(names, path):
        truth = np.eye(len(names), k=1, dtype=bool), names[::-1]
        model = fitted(method, names)
        path.write_text(fit_page(model, frame(names), data=names[0], truth=truth, environment={names[1]: names[2]}))

    return make


def of_comparison(names, path):
    result = compare(frame(names), ["cam", "pc"])
    path.write_text(compare_page(result, data=names[0], environment={names[1]: names[2]}))


def of_paper(names, path):
    table = make_table("table1", "1", names[0], len(names), 2, np.random.default_rng(7), notes=names[1:3], names=names)
    path.write_text(paper_page([table], {names[1]: names[2]}))


def of_notebook(names, path):
    shown = [fitted("cam", names), compare(frame(names), ["cam", "pc"])]
    path.write_text("<!DOCTYPE html><meta charset=utf-8>" + "".join(item._repr_html_() for item in shown))


def of_graph(method):
    return lambda names, path: write_graph(fitted(method, names), path)


def of_refits(names, path):
    refits = confidence(fitted("pc", names), frame(names), resamples=2, n_jobs=1, random_state=0)
    write_graph(refits.consensus_graph(), path)


MAKERS = {
    **{f"{method}.html": of_fit(method) for method in METHODS},
    "compare.html": of_comparison,
    "paper.html": of_paper,
    "notebook.html": of_notebook,
    **{f"{method}.svg": of_graph(method) for method in ("cam", "pc")},
    "refits.svg": of_refits,
}

ELEMENTS = """return [...document.querySelectorAll("*")].map(
  (e) => [e.localName, ...e.getAttributeNames().filter((a) => a !== "hidden")].join(" "))"""


def looked_at(page):
    """All elements with the names of their attributes; of the paper's page those of its runs, too, which it draws.

    Whether the button that enlarges a drawing is hidden depends on the widths of names.
    """
    page.open(fragment="#cell-0" if page.path.name == "paper.html" else "")
    if page.path.name == "paper.html":
        page.find_all("#runs-table button.show")[0].click()
    assert page.messages() == []
    assert page.requests() == {page.path.as_uri()}
    assert page.run("return window.injected") is None
    return Counter(page.run(ELEMENTS)), page.run("return document.documentElement.textContent")


@pytest.mark.parametrize("name", MAKERS)
def test_hostile_names_are_text(session, tmp_path, name):
    found = []
    for names in (HARMLESS, HOSTILE):
        path = tmp_path / ("harmless" if names is HARMLESS else "hostile") / name
        path.parent.mkdir()
        MAKERS[name](names, path)
        found.append(looked_at(Page(session, path)))
    (harmless, _), (hostile, text) = found
    assert hostile == harmless
    assert all(part in text for part in HOSTILE[:5])
