"""Imports go one way: no cycles, nothing from a layer above, and the rooms import what is stated here."""

import subprocess
import sys

import networkx as nx
import pytest

from tests.import_graph import module_imports, room_imports, room_of

WITHOUT_LEARNERS = ("metrics", "simulate", "datasets")
"""Rooms that hold the truth: they know no learner, only the first layer and each other."""

LAYERS = (
    (
        "version",
        "blas",
        "wording",
        "incoming",
        "writing",
        "progress",
        "distributions",
        "kinds",
        "imputation",
        "table",
        "outliers",
        "pieces",
        "reading",
        "drawing",
        "overview",
        "showing",
        "graph",
        "knowledge",
        "interventions",
        "parameters",
        "executors",
    ),
    ("engine", "gam"),
    ("evidence",),
    ("diagnostics", "table_diagnostics", "model", "learned", "resampling", "intervention_check"),
    ("methods",),
    WITHOUT_LEARNERS,
    ("refinement", "tuning", "comparison", "report"),
    ("reproduction",),
    ("serve",),
    ("cli",),
)
"""The rooms from bottom to top: a room imports from its own layer and from those below it."""

IMPORTS = {
    "blas": "",
    "cli": "comparison datasets diagnostics executors graph intervention_check learned methods metrics overview "
    "parameters progress reading refinement report reproduction resampling serve showing simulate table tuning version "
    "wording writing",
    "comparison": "executors graph knowledge learned methods parameters progress table tuning wording",
    "datasets": "",
    "diagnostics": "gam table wording",
    "distributions": "",
    "drawing": "writing",
    "engine": "writing",
    "evidence": "blas engine gam graph progress table",
    "executors": "blas version",
    "gam": "blas engine progress table",
    "graph": "incoming overview writing",
    "imputation": "",
    "incoming": "",
    "intervention_check": "executors graph kinds knowledge learned model parameters progress resampling table wording",
    "interventions": "incoming",
    "kinds": "incoming wording",
    "knowledge": "graph incoming table",
    "learned": "diagnostics drawing graph kinds knowledge model overview progress showing table wording",
    "methods": "blas diagnostics distributions drawing engine evidence gam graph incoming intervention_check "
    "interventions kinds knowledge learned model outliers parameters progress resampling table table_diagnostics "
    "version wording writing",
    "metrics": "graph parameters",
    "model": "diagnostics distributions graph kinds parameters table wording",
    "outliers": "table wording",
    "overview": "drawing table wording",
    "parameters": "knowledge",
    "pieces": "table",
    "progress": "wording",
    "reading": "incoming kinds pieces table wording",
    "refinement": "diagnostics engine evidence graph knowledge learned methods outliers parameters progress table "
    "wording",
    "report": "comparison diagnostics distributions drawing graph intervention_check kinds learned methods metrics "
    "model overview parameters resampling showing table table_diagnostics version wording writing",
    "reproduction": "datasets drawing executors graph methods metrics report simulate table tuning version wording "
    "writing",
    "resampling": "diagnostics executors graph knowledge learned parameters progress table wording",
    "serve": "datasets drawing graph incoming kinds knowledge learned methods metrics model overview parameters "
    "progress reading report resampling showing simulate table writing",
    "showing": "overview wording",
    "simulate": "blas graph interventions parameters table version wording writing",
    "table": "imputation incoming interventions kinds wording",
    "table_diagnostics": "diagnostics table wording",
    "tuning": "executors knowledge learned methods parameters progress table version wording writing",
    "version": "",
    "wording": "",
    "writing": "",
}
"""What each room imports. `docs/architecture.md` shows it."""


def layer(room):
    return next(height for height, rooms in enumerate(LAYERS) if room in rooms)


def test_rooms_import_what_is_stated():
    found = {room: " ".join(sorted(imported)) for room, imported in room_imports().items()}
    assert found == IMPORTS


@pytest.mark.parametrize(("room", "imported"), room_imports().items(), ids=list(room_imports()))
def test_nothing_is_imported_from_above(room, imported):
    above = {other for other in imported if layer(other) > layer(room)}
    assert not above, f"{room} is below {', '.join(sorted(above))}"
    if room in WITHOUT_LEARNERS:
        assert imported <= {*LAYERS[0], *WITHOUT_LEARNERS}


def test_no_module_imports_the_package_at_the_top():
    """It re-exports everything, so that whoever imports it has a cycle."""
    assert [module for module, imported in module_imports().items() if "grandag" in imported] == []


@pytest.mark.parametrize("imports", [module_imports, room_imports])
def test_no_cycles(imports):
    graph = nx.DiGraph((name, other) for name, others in imports().items() if name != "grandag" for other in others)
    cycles = [sorted(names) for names in nx.strongly_connected_components(graph) if len(names) > 1]
    assert cycles == []


@pytest.mark.parametrize("package", ["grandag.simulate", "grandag.metrics", "grandag.datasets"])
def test_data_and_metrics_need_no_learner(package):
    code = f"import sys, {package}; print(*{{'numba', 'sklearn'}} & set(sys.modules))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == []


@pytest.fixture
def library(tmp_path):
    """A small library in which every kind of import occurs."""
    files = {
        "grandag/__init__.py": "from grandag.upper import high",
        "grandag/lower.py": "def f():\n    import grandag.upper.high",
        "grandag/upper/__init__.py": "",
        "grandag/upper/high.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from grandag.lower import f",
        "grandag/upper/beside.py": "import os\nfrom grandag.upper import high, name\nfrom grandag import lower",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path / "grandag"


def test_every_kind_of_import_is_seen(library):
    assert module_imports(library) == {
        "grandag": {"grandag.upper.high"},
        "grandag.lower": {"grandag.upper.high"},
        "grandag.upper": set(),
        "grandag.upper.high": {"grandag.lower"},
        "grandag.upper.beside": {"grandag.upper.high", "grandag.upper", "grandag.lower"},
    }
    assert room_imports(library) == {"lower": {"upper"}, "upper": {"lower"}}
    assert [room_of(name) for name in ("grandag", "grandag.lower", "grandag.upper.high")] == [
        "grandag",
        "lower",
        "upper",
    ]


def test_relative_imports_are_refused(library):
    (library / "lower.py").write_text("from .upper import high")
    with pytest.raises(ValueError, match="absolute"):
        module_imports(library)
