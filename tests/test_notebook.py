"""What a notebook shows, by running one in a kernel of its own."""

import pytest

from grandag import CAM, confidence, datasets
from grandag.gam import SplineTable
from grandag.model import Effect

CODE = """
import grandag
data = grandag.datasets.load_sachs().data.assign(constant=1.0)
model = grandag.CAM(max_parents=1, verbose=True).fit(data)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Messages that a kernel sent while it ran each cell: the fit, the model, its drawing, what was learned."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks: it is in the extra test")
    pytest.importorskip("ipykernel", reason="the kernel of notebooks is in the extra test")
    import nbformat

    messages: dict[int, list[dict]] = {}

    class Recording(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            messages.setdefault(cell_index, []).append(msg)
            return super().process_message(msg, cell, cell_index)

    cells = [
        nbformat.v4.new_code_cell(code) for code in (CODE, "model", "model.plot()", "model.learned_", "grandag.CAM()")
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = Recording(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path_factory.mktemp("nb")}}
    )
    client.execute()
    return messages


def data_of(messages, kind, mime):
    return [m["content"]["data"][mime] for m in messages if m["msg_type"] == kind and mime in m["content"]["data"]]


def test_progress_is_shown_below_the_cell_and_then_gone(shown):
    assert len(data_of(shown[0], "display_data", "text/html")) == 1
    *lines, last = data_of(shown[0], "update_display_data", "text/html")
    assert any("Inserting edges 0:00:" in line and "<progress value=" in line for line in lines)
    assert last == ""


def test_a_model_shows_its_graph_edges_and_warnings(shown):
    (html,) = data_of(shown[1], "execute_result", "text/html")
    assert html.count('class="node"') == 12
    assert "<b>CAM: 12 nodes, " in html
    assert "<th>p value</th>" in html
    assert "Constant columns are isolated nodes of the graph: &#39;constant&#39;" in html


def test_a_drawing_is_drawn(shown):
    (svg,) = data_of(shown[2], "execute_result", "image/svg+xml")
    assert svg.count('class="node"') == 12


def test_what_was_learned_is_shown_the_same_way(shown):
    (html,) = data_of(shown[3], "execute_result", "text/html")
    assert "<b>Learned: 12 nodes, " in html
    assert "Explained is the share of the target's variance" in html.replace("&#39;", "'")


def test_before_a_fit_the_parameters_are_shown(shown):
    (html,) = data_of(shown[4], "execute_result", "text/html")
    assert "max_parents" in html


def test_results_are_short_in_words():
    data = datasets.load_sachs().data
    model = CAM(max_parents=1).fit(data)
    n_edges = len(model.edges_)
    assert repr(model.learned_) == f"<Learned dag: 11 nodes, {n_edges} edges>"
    assert repr(model.model_) == f"<CausalModel: 11 variables, {n_edges} edges>"
    assert repr(SplineTable(data).regress("Akt", ["PKA", "Erk"])) == "<AdditiveFit: Akt ~ s(PKA) + s(Erk), 853 rows>"
    refits = confidence(CAM(max_parents=1), data, 2, random_state=1, n_jobs=1)
    assert repr(refits).startswith("<Confidence: 2 refits (bootstrap), ")
    assert repr(Effect("a", "b", 0.0, 1.0, 1 / 3)) == "<Effect of a on b: 0.3333>"
    effect = Effect("a", "b", 0.0, 1.0, 1 / 3, (0.1, 2 / 3), 0.9, 20)
    assert repr(effect) == "<Effect of a on b: 0.3333, 90% of 20 refits 0.1 to 0.6667>"


def test_a_drawing_is_saved_by_its_ending(tmp_path):
    drawing = CAM(max_parents=1).fit(datasets.load_sachs().data).plot()
    drawing.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == drawing.svg
    with pytest.raises(ValueError, match=r"does not end in \.svg or \.png"):
        drawing.save(tmp_path / "graph.pdf")
    assert len(repr(drawing)) < 100
