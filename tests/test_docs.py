"""What README and documentation say is run as it is written, and what they name exists."""

import contextlib
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from grandag.methods.registry import METHODS
from tests.report.browser import Page, chromium

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [
    README,
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")),
    *sorted(DOCS.glob("*.md")),
]
CURRENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""Pages that speak of today's names only."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def commands(page: Path) -> list[str]:
    return [line for block in blocks(page, "sh") for line in block.splitlines()]


def run(page: str, folder: Path) -> dict[str, object]:
    """Execute the Python of a page, block by block, in one scope."""
    codes = blocks(DOCS / f"{page}.md", "python")
    assert codes
    scope: dict[str, object] = {}
    for code in codes:
        exec(compile(code, f"{page}.md", "exec"), scope)
    return scope


def test_python_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(README, "python")
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert scope["model"].converged_
    assert (tmp_path / "model.npz").exists()


def test_commands_of_the_readme_are_on_the_path_of_its_reader(tmp_path):
    """What is typed after make, as it is written, in a shell that knows nothing of the environment."""
    if not (Path(sys.prefix) / "bin" / "activate").exists():
        pytest.skip("the tests do not run in a virtual environment")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    typed = [line for line in commands(README) if not line.startswith("make")]
    programs = [line.split()[0] for line in typed]
    assert programs == [".", "grandag"]
    script = "\n".join(["set -e", typed[0], f"command -v {programs[1]}"])
    shell = subprocess.run(
        ["/bin/sh", "-c", script], cwd=tmp_path, env={"PATH": os.defpath}, capture_output=True, text=True, check=True
    )
    assert Path(shell.stdout.strip()).name == "grandag"


def test_pages_agree_on_the_time_that_the_tests_take():
    for page in (README, ROOT / "CONTRIBUTING.md"):
        assert "about twelve minutes on two free cores" in " ".join(page.read_text(encoding="utf-8").split())


def test_the_cost_of_the_papers_tables_is_that_of_their_runs():
    pages = [DOCS / "reproducing.md", *(DOCS / "tables").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    runs = re.findall(r": ([\d,]+) jobs(?: of [\d,]+)?, (\d+) CPU\s+minutes", text)
    n_jobs, n_minutes = (sum(int(run[k].replace(",", "")) for run in runs) for k in (0, 1))
    page = " ".join((DOCS / "clusters.md").read_text(encoding="utf-8").split())
    assert f"were {n_jobs:,} jobs of {n_minutes} CPU minutes together: on 100 cores three minutes" in page
    assert 2.5 < n_minutes / 100 < 3.5


def in_the_environment(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": source}
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize("command", sorted({*commands(DOCS / "command_line.md")} - {*commands(README)}))
def test_command_line(command, tmp_path):
    in_the_environment(command, tmp_path)


def test_the_command_of_the_readme_writes_what_it_says(tmp_path):
    (command,) = [line for line in commands(README) if line.startswith("grandag")]
    in_the_environment(command, tmp_path)
    written = {path.name for path in (tmp_path / "results").iterdir()}
    table = (
        (DOCS / "command_line.md").read_text(encoding="utf-8").partition("## Output")[2].partition("## Exit codes")[0]
    )
    named = set(re.findall(r"`(\w+\.(?:md|csv|json|dot|gml|svg|npz))`", table))
    assert written == named - {"confidence.csv", "consensus.svg", "consensus.json", "trials.csv", "best.json"}
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "page",
    [
        "cam",
        "confidence",
        "equivalence",
        "exact",
        "generalised_score",
        "hyperparameters",
        "index",
        "interoperability",
        "kinds",
        "lingam",
        "many_rows",
        "method",
        "reports",
        "reproducing",
        "shared_networks",
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page, tmp_path)


def test_code_of_the_page_on_clusters_runs(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="the cluster is in the extra cluster")
    monkeypatch.chdir(tmp_path)
    assert run("clusters", tmp_path)["refits"].n_done == 4


@pytest.mark.parametrize(
    ("page", "edges"),
    [
        ("tutorial.md", {"kitchen_load → temperature", "temperature → kitchen_load"}),
        ("tutorial_kinds.md", {"species → petal_width", "digit → middle", "digit → lower_right"}),
        ("interventions.md", set()),
    ],
)
def test_tutorial_is_what_running_it_gives(page, edges, tmp_path):
    """Numbers, and the widths of columns, may differ between machines."""
    from tools import run_tutorial

    assert DOCS / page in run_tutorial.PAGES
    text = (DOCS / page).read_text(encoding="utf-8")
    again = run_tutorial.run(text, tmp_path)
    expected = run_tutorial.facts(text, DOCS / "tutorial")
    assert run_tutorial.facts(again, tmp_path) == expected, f"docs/{page} is out of date: run `make generate`"
    assert edges <= set().union(*expected[-2:])


def test_facts_of_the_tutorial_are_words_and_edges(tmp_path):
    from tools.run_tutorial import facts

    page = "![A](tutorial/graph.svg)\n```text\nage  tip 1.5e-07\n3.5 s\n```\n"
    drawing = tmp_path / "graph.svg"
    drawing.write_text("<title>age → tip, evidence 5</title><title>age</title>", encoding="utf-8")
    found = facts(page, tmp_path)
    assert found == [{"age": 1, "tip": 1}, {"age → tip"}]
    assert facts(page.replace("1.5e-07", "nan"), tmp_path) != found
    assert facts(page.replace("1.5e-07", "22.7"), tmp_path) == found
    drawing.write_text("<title>tip → age, evidence 5</title>", encoding="utf-8")
    assert facts(page, tmp_path) != found


def test_table_of_the_tutorial():
    """The truth that the page claims is that of the program that made the table."""
    from tools.make_deliveries import PATH, deliveries

    stored = pd.read_csv(PATH)
    pd.testing.assert_frame_equal(stored, deliveries())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """`make docs`, but into another folder: links, anchors and references hold, and nothing is warned of."""
    pytest.importorskip("mkdocs", reason="the documentation tools are in the extra docs")
    recipe = re.search(r"^docs:.*\n\t\$\(BIN\)/(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None
    folder = tmp_path_factory.mktemp("site")
    in_the_environment(f"cd '{ROOT}' && '{sys.executable}' -m {recipe[1]} --site-dir '{folder}'", folder)
    return folder


def test_site_builds_as_the_readme_says(site):
    api = (site / "api.html").read_text(encoding="utf-8")
    assert "grandag.methods.grandag.grandag.GraNDAG" in api
    assert "Learning rate of all other subproblems;" in api, "the parameters of an estimator are missing"
    assert "<blockquote>" not in api, "examples of docstrings are shown as quotations"
    titles = re.findall(r"<h3[^>]*>\s*<code>([^<]*)</code>", api)
    assert "GraNDAG" in titles, "pages of the API are titled by public names"
    assert not any(title.startswith("grandag.methods.") for title in titles)
    assert "<span style=" in (site / "tutorial.html").read_text(encoding="utf-8"), "code is not highlighted"


def test_api_has_all_public_names_and_nothing_that_a_module_merely_imports(site):
    import grandag

    shown = re.findall(r'<h[3-6] id="(grandag[\w.]*)" class="doc', (site / "api.html").read_text(encoding="utf-8"))
    assert {f"{home}.{name}" for name, home in grandag._HOME.items()} <= set(shown)
    for name in shown:
        module, _, attribute = name.rpartition(".")
        with contextlib.suppress(ModuleNotFoundError):  # members of classes
            own = getattr(importlib.import_module(module), "__all__", [attribute])  # packages have none
            assert module == "grandag" or attribute in own, name


def test_formulas_of_a_page_become_mathml():
    markdown = pytest.importorskip("markdown", reason="the documentation tools are in the extra docs")
    from tools.mathematics import Mathematics

    def shown(text):
        return markdown.markdown(text, extensions=[Mathematics()])

    index = "<msub><mi>x</mi><mi>i</mi></msub>"
    assert shown("so $x_i$ is") == f'<p>so <math display="inline"><mrow>{index}</mrow></math> is</p>'
    assert shown("$$\nx_i\n$$") == f'<div class="formula"><math display="block"><mrow>{index}</mrow></math></div>'
    assert shown("`$x$`, $5 or $6, \\$x$") == "<p><code>$x$</code>, $5 or $6, \\$x$</p>"
    assert "<mi>tr</mi><mspace" in shown(r"$\operatorname{tr} A$")
    assert "<mi>tr</mi><mo" in shown(r"$\operatorname{tr}(A)$")
    with pytest.raises(ValueError, match=r"does not know \\nonsense in the formula"):
        shown(r"$\nonsense + x$")


def test_formulas_are_drawn_and_nothing_is_fetched(site):
    """The browser draws a fraction higher than a letter, from a folder, without a request to any host."""
    height = "return document.querySelector(arguments[0]).getBoundingClientRect().height"
    with chromium() as session:
        page = Page(session, site / "method.html").open()
        assert page.run(height, ".formula mfrac") > 1.5 * page.run(height, ".formula mi")
        assert page.messages() == []
        assert all(address.startswith("file:") for address in page.requests())


def test_search_works_from_a_folder(site):
    def found(page):
        return [link.get_attribute("href") for link in page.find_all("#mkdocs-search-results a")]

    with chromium() as session:
        page = Page(session, site / "index.html").open()
        page.find("#rtd-search-form input").send_keys("forbidding edges")
        page.find("#rtd-search-form").submit()
        assert page.wait(lambda: page.find_all("#mkdocs-search-results a"))
        assert found(page)[0] == (site / "knowledge.html").as_uri() + "#background-knowledge"
        assert [mark.text for mark in page.find_all("#mkdocs-search-results article:first-child mark")]
        box = page.find("#mkdocs-search-query")
        for typed, expected in {"prune_cutoff": True, "+*~^(": False, "the": False, "nosuchword": False}.items():
            box.clear()
            box.send_keys(typed)
            assert bool(found(page)) is expected, typed
        assert page.find("#mkdocs-search-results").text == "Nothing found."
        assert page.messages() == []
        assert all(address.startswith("file:") for address in page.requests())


def test_every_page_of_the_site_fits_the_screen(site):
    """On a telephone nothing runs out of the page; on a desk no table has to be scrolled, and no page is in error."""
    wide = "return Array.from(document.querySelectorAll('table'), t => t.scrollWidth - t.parentElement.clientWidth)"
    with chromium() as session:
        for path in sorted(site.glob("*.html")):
            if path.stem == "404":
                continue  # has absolute addresses: it is for servers
            page = Page(session, path).open(width=390)
            assert page.run("return document.documentElement.scrollWidth") <= 390, path.stem
            assert max(page.open(width=1280).run(wide), default=0) <= 1, path.stem
            assert page.messages() == [], path.stem


def test_page_on_extending(tmp_path, monkeypatch):
    """The toy method is registered for as long as its page is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(METHODS, "by-order", None)  # restored at the end, whatever the page sets
    method, registration, use = blocks(DOCS / "extending.md", "python")
    (tmp_path / "by_order.py").write_text(method, encoding="utf-8")
    scope: dict[str, object] = {}
    exec(compile(registration + use, "extending.md", "exec"), scope)
    model = scope["model"]
    assert ("Jnk", "Raf") in model.graph_.edges  # a later column, with a small correlation
    assert model.method == "by-order"
    assert (scope["again"].adjacency_ == model.adjacency_).all()
    assert len(scope["frequencies"]) >= 1
    assert set(scope["tuned"].best_parameters) == {"min_correlation"}
    program = f"import sys\n{registration}\nfrom grandag.cli import main\nmain()"
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    shown = in_the_environment(f"'{sys.executable}' program.py fit sachs --method by-order --help", tmp_path).stdout
    assert "--min-correlation" in shown
    in_the_environment(
        f"'{sys.executable}' program.py fit sachs --method by-order --min-correlation 0.4 -o results", tmp_path
    )
    assert (tmp_path / "results" / "model.npz").exists()


def test_page_on_additive_regression(tmp_path):
    scope = run("gam", tmp_path)
    assert len(scope["curve"]) == 3
    assert (scope["by_family"].p_values() < 0.001).all()


def test_page_on_neighbours(tmp_path):
    model = run("neighbours", tmp_path)["model"]
    assert any(note.startswith("Neighbour selection left") for note in model.notes_)


def test_page_on_metrics(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = run("metrics", tmp_path)
    assert (scope["facts"]["missing"], scope["facts"]["reversed"]) == (13, 1)
    assert scope["n_dags"] > 1
    assert (scope["adjacency"] == scope["cpdag"]).all()
    assert (tmp_path / "sachs.graphml").exists()


def test_page_on_knowledge(tmp_path):
    scope = run("knowledge", tmp_path)
    (toml,) = blocks(DOCS / "knowledge.md", "toml")
    path = tmp_path / "knowledge.toml"
    path.write_text(toml)
    read = type(scope["knowledge"]).read(path)
    assert (read.forbidden, read.tiers) == (scope["knowledge"].forbidden, scope["knowledge"].tiers)


def test_page_on_using_the_model(tmp_path, capsys):
    scope = run("using_the_model", tmp_path)
    assert (scope["rows"].columns == scope["data"].columns).all()
    assert scope["treated"].mean()["PKA"] == 7
    assert scope["model"].score(scope["data"]) == pytest.approx(scope["log_density"].mean())
    assert scope["effect"].n_resamples == 20
    printed = capsys.readouterr().out
    assert all(warning.message in printed for warning in scope["model"].warnings_)


def test_page_on_using_the_model_names_every_field():
    """The table of what a fit knows has all fields of `Learned`, and names attributes that estimators have."""
    from grandag import CAM, datasets, learned

    table = (DOCS / "using_the_model.md").read_text(encoding="utf-8").partition("## What a fit knows")[2]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    fields = {name for first, _ in rows for name in re.findall(r"`(\w+)", first)}
    assert set(learned.Learned.__dataclass_fields__) <= fields
    assert all(hasattr(learned.Learned, name) or name in learned.Learned.__dataclass_fields__ for name in fields)
    model = CAM(refine=True).fit(datasets.load_sachs().data)
    attributes = {name for _, second in rows for name in re.findall(r"`(\w+_)`", second)}
    assert all(hasattr(model, name) for name in attributes - {"A_phi_"})


def test_page_on_simulation(tmp_path):
    scope = run("simulate", tmp_path)
    assert (scope["shifted"]["X3"] == 2).all()
    assert all(0 <= share <= 1 for share in scope["free"])
    functions = {mechanism.describe()["function"] for mechanism in scope["networks"].mechanisms}
    assert functions == {"neural network", "linear"}


def test_page_on_baselines(tmp_path):
    scores = run("baselines", tmp_path)["scores"]
    assert scores["NOTEARS"] > scores["RANDOM"]


@pytest.mark.filterwarnings("ignore::grandag.DoubtWarning")
def test_pages_on_noise_models(tmp_path):
    model = run("resit", tmp_path)["model"]
    assert model.method == "resit"
    assert len(model.edges_) >= 5
    found = run("equal_variance", tmp_path)["model"].graph_
    assert {("X0", "X1"), ("X1", "X2")} <= set(found.edges)


def test_make_targets_exist():
    targets = [command for command in commands(README) if command.startswith("make")]
    assert targets == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)
    named = {name for page in CURRENT for name in re.findall(r"`make ([\w-]+)`", page.read_text(encoding="utf-8"))}
    assert {"docs", "bench", "accuracy", "test-slow", "test-interop", "package", "lint", "generate"} <= named
    assert named <= set(phony.split())
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    for target in sorted(named):
        subprocess.run(["make", target, "--dry-run"], check=True, capture_output=True, cwd=ROOT)


def test_ci_runs_the_commands_of_the_readme_and_other_packages():
    script = (ROOT / ".ci" / "run").read_text()
    assert [line for line in script.splitlines() if line.startswith("make")] == [
        "make demo",
        "make docs",
        "make test-interop",
        "make test",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    """Paths in backticks are relative to the project, to the library, or, on the page of a room, to that room."""
    places = [
        ROOT,
        ROOT / "src" / "grandag",
        *(ROOT / "src" / "grandag").iterdir(),
        ROOT / "src/grandag/methods/stages",
    ]
    named = re.findall(r"`(?:python )?((?:[\w.]+/)+|(?:[\w.]+/)*\w+\.(?:py|R|csv))`", page.read_text(encoding="utf-8"))
    toys = {
        "by_order.py",
        "edges.csv",
        "trials.csv",
        "confidence.csv",
        "methods.csv",
        "truth.csv",
        "data.csv",
        "table1.csv",
    }
    generated = {"demo/", "dist/", "results/"}
    missing = [name for name in named if name not in toys | generated and not any((p / name).exists() for p in places)]
    assert missing == []


@pytest.mark.parametrize("page", [ROOT / "SECURITY.md", DOCS / "reliability.md"], ids=lambda page: page.name)
def test_promises_name_tests_that_exist(page):
    """Every row of a table of promises names at least one."""
    text = page.read_text(encoding="utf-8")
    paths = set(re.findall(r"tests/[\w/]+(?:\.py)?", text))
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert [row for row in rows if not re.search(r"`[^`]*tests/|`make test-", row)] == []


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: page.name)
def test_modules_that_a_page_names_exist(page):
    for name in set(re.findall(r"(?:`|::: )(grandag(?:\.\w+)+)", page.read_text(encoding="utf-8"))):
        if name.startswith("grandag.methods.by_order"):
            continue
        parts = name.split(".")
        for position in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:position]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[position:]:
                assert hasattr(found, attribute), name
                found = getattr(found, attribute)
            break


UNNATURAL = ("cannot or must be", "speaks against", "no chance in it", " law ", " laws ", " law,", "experiments/")


@pytest.mark.parametrize("page", CURRENT, ids=lambda page: page.name)
def test_words_that_were_replaced_stay_away(page):
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert [words for words in UNNATURAL if words in text] == []
