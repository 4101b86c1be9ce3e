"""Every table and figure of the paper as data: which methods (rows) on which data (columns), and what is measured.

The row "GraN-DAG" is the authors' recipe (preset "paper"); "GraN-DAG (default)" is this library's default, whose search
by evidence is not the paper's, and "GraN-DAG (fast)" the same without it. Both are set beside the same figures of the
paper. Names of rows, columns and measures are those of `published.csv`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grandag.methods.registry import METHODS
from grandag.table import suggestion

__all__ = ["EXPERIMENTS", "RELATED", "Experiment", "Learner", "Note", "Setting", "find", "narrowed", "released"]

_SACHS = "sachs"


@dataclass(frozen=True)
class Setting:
    """A kind of data: a column of a table. `graph` is "ER1", "ER4", "SF1" or "SF4": d or 4 d edges."""

    name: str
    kind: str
    n_nodes: int
    graph: str | None = None
    n_rows: int = 1000

    @property
    def is_bundled(self) -> bool:
        """Are these real data, of which there is one set, and which come with the library?"""
        return self.kind == _SACHS

    def simulation(self, seed: int) -> dict[str, Any]:
        """Arguments of `grandag.simulate.files.simulate`, which are those of `grandag simulate`."""
        sizes = {"mechanism": self.kind, "n_nodes": self.n_nodes, "n_rows": self.n_rows, "seed": seed}
        if self.graph is None:
            return sizes
        return {**sizes, "graph": self.graph[:2].lower(), "n_edges": self.n_nodes * int(self.graph[2:])}

    @property
    def is_released(self) -> bool:
        """Did the authors release data sets of this kind?"""
        return self.graph is None or (self.n_rows == 1000 and self.kind not in ("lin", "add-func"))

    @property
    def authors_name(self) -> str:
        """The name of the authors' released setting, for `grandag.datasets.load_authors`."""
        if not self.is_released:
            raise ValueError(
                f"The authors released no data sets of {self.kind} with {self.n_nodes} nodes, {self.graph} and "
                f"{self.n_rows:,} rows: leave out --authors-data, or choose columns with --nodes, --graphs or --rows."
            )
        if self.graph is None:
            return self.kind
        prefix = "" if self.kind == "gauss-anm" else f"{self.kind}-"
        return f"{prefix}{self.graph.lower()}-{self.n_nodes}"


@dataclass(frozen=True)
class Learner:
    """A method with its parameters: a row of a table."""

    name: str
    method: str
    preset: str = "paper"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    beside: str | None = None
    """The paper's row that it is set beside, if that has another name."""

    @property
    def paper_row(self) -> str:
        """The paper's row that it is set beside."""
        return self.beside or self.name

    def variant(self, name: str | None = None, **parameters: Any) -> Learner:
        """The same method with other parameters."""
        return replace(self, name=name or self.name, parameters={**self.parameters, **parameters})


@dataclass(frozen=True)
class Note:
    """A sentence below a table. It is about the rows or columns of these names; about all of it if there are none."""

    text: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper. `task` is what each of its jobs does (see `grandag.reproduction.tasks`):

    "fit"       learn a graph and compare it with the true one
    "validate"  the same, with scores on a fifth of the rows, which is kept for that
    "search"    fit with many hyper-parameters and select by held-out score, per data set; and "fit" for comparison
    "trace"     "fit", and keep A_phi over training
    """

    name: str
    number: str
    title: str
    rows: tuple[Learner, ...] = ()
    columns: tuple[Setting, ...] = ()
    measures: tuple[str, ...] = ("SHD", "SID")
    task: str = "fit"
    n_datasets: int = 10
    notes: tuple[Note, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes about what is there."""
        names = {row.name for row in self.rows} | {column.name for column in self.columns}
        return tuple(note.text for note in self.notes if not note.about or not names.isdisjoint(note.about))


GRANDAG = Learner("GraN-DAG", "grandag")
DEFAULT = Learner("GraN-DAG (default)", "grandag", "default", beside="GraN-DAG")
FAST = Learner("GraN-DAG (fast)", "grandag", "fast", beside="GraN-DAG")
HETEROSCEDASTIC = Learner("GraN-DAG++", "grandag++")
DAG_GNN = Learner("DAG-GNN", "dag-gnn")
NOTEARS = Learner("NOTEARS", "notears")
CAM = Learner("CAM", "cam")
GSF = Learner("GSF", "gsf")
GES = Learner("GES", "ges")
PC = Learner("PC", "pc")
RANDOM = Learner("RANDOM", "random")


def _stages(learner: Learner) -> tuple[Learner, ...]:
    """A learner with and without neighbour selection (PNS) and pruning, in the order of the paper's ablations."""
    return tuple(
        learner.variant(
            f"{learner.name} {'+' if neighbours else '-'}PNS {'+' if pruning else '-'}pruning",
            neighbour_selection=neighbours,
            prune=pruning,
        )
        for pruning in (False, True)
        for neighbours in (False, True)
    )


def _grid(
    nodes: Iterable[int], graphs: Sequence[str], kind: str = "gauss-anm", prefix: str = ""
) -> tuple[Setting, ...]:
    """Columns by number of nodes, then type of graph."""
    return tuple(Setting(f"{prefix}{n} nodes {graph}", kind, n, graph) for n in nodes for graph in graphs)


def _graphs(n_nodes: int) -> tuple[Setting, ...]:
    """Columns of Gauss-ANM data by type of graph."""
    return tuple(Setting(graph, "gauss-anm", n_nodes, graph) for graph in ("ER1", "ER4", "SF1", "SF4"))


MAIN = (GRANDAG, DEFAULT, FAST, DAG_GNN, NOTEARS, CAM, GSF, RANDOM)
MAIN_WITH_FIXED_RANDOM = (*MAIN[:-1], RANDOM.variant(n_edges="fixed"))
ONE_LAYER = tuple(
    learner.variant(n_layers=1) for learner in (GRANDAG, HETEROSCEDASTIC.variant(standardise=True), DEFAULT, FAST)
)
SEARCHED = (GRANDAG, DAG_GNN, NOTEARS, CAM, GSF)
CPDAGS = (GRANDAG, DEFAULT, FAST, GES, PC)
THRESHOLDED = GRANDAG.variant(
    "GraN-DAG -PNS -pruning A_phi>=0.3", neighbour_selection=False, prune=False, weight_threshold=0.3
)

ER = ("ER1", "ER4")
SIZES = (10, 20, 50, 100)
REAL = (Setting("Sachs", _SACHS, 11, n_rows=853), Setting("SynTReN", "syntren", 20, n_rows=500))
EVERY_GAUSS = (*_grid(SIZES, ER), *_grid(SIZES, ("SF1", "SF4")))
PNL = tuple(
    setting
    for n in (10, 50)
    for graph in ER
    for kind in ("pnl-gp", "pnl-mult")
    for setting in _grid((n,), (graph,), kind, f"{kind.upper()} ")
)
SAMPLE_SIZES = tuple(Setting(f"{n:,} rows", "gauss-anm", 50, "ER4", n) for n in (500, 1_000, 5_000, 10_000))

REAL_MEASURES = ("SHD", "SHD-C", "SID")

_BESIDE = (
    Note(
        "GraN-DAG (default) is this library's default, beside the paper's figures of GraN-DAG. Its search by evidence "
        "is ours, not the paper's.",
        (DEFAULT.name,),
    ),
    Note("GraN-DAG (fast) is our default without its search by evidence: it prunes, as the paper does.", (FAST.name,)),
)
_ONE_SET = Note("Sachs is one data set: the paper gives no deviation.", (REAL[0].name,))
_SCALED = Note(
    "GraN-DAG++ has standardised columns: in their own units, up to thousands, its first step is not finite.",
    (HETEROSCEDASTIC.name,),
)
_EVALUATIONS = Note("NOTEARS: evaluations of its objective.", (NOTEARS.name,))
_SCORES = Note(
    "A fifth of the rows is kept for validation. Scores are each method's own objective without regulariser, of the "
    "model retrained on the final graph: NOTEARS -|x - W'x|^2 / 2, DAG-GNN its evidence lower bound."
)
_LIKELIHOODS = Note(
    "NLL: minus log-likelihood, mean per variable, of the model retrained on the final graph. A fifth of the rows is "
    "for validation; as in the paper, GraN-DAG stops by them and does not otherwise see them."
)
_FLAGS = (
    Note(
        "++ and + (-- and -): better (worse) than with default parameters, by more and by less than one standard "
        "deviation of the selected runs."
    ),
    Note("*, **, ***: fewer than 90, 50, 20 % of the combinations converged within the time limit."),
)

_ALL = (
    Experiment("table1", "1", "Gauss-ANM, 10 nodes", MAIN, _graphs(10), notes=_BESIDE),
    Experiment("table2", "2", "Gauss-ANM, 50 nodes", MAIN, _graphs(50), notes=_BESIDE),
    Experiment(
        "table3", "3", "Real and pseudo-real data", (*ONE_LAYER, DAG_GNN, NOTEARS, CAM, GSF, GES, PC, RANDOM), REAL,
        REAL_MEASURES, notes=(*_BESIDE, _ONE_SET, _SCALED),
    ),
    Experiment(
        "table4", "4", "Iterations of the augmented Lagrangian method, in thousands", (GRANDAG, FAST, NOTEARS),
        _grid((20, 100), ER), ("iterations",), notes=(*_BESIDE, _EVALUATIONS),
    ),
    Experiment(
        "table5", "5", "Ablation of GraN-DAG, 50 nodes ER1", (*_stages(GRANDAG), THRESHOLDED), _grid((50,), ("ER1",)),
        ("SHD", "SID", "NLL (train)", "NLL (validation)"), "validate", notes=(_LIKELIHOODS,),
    ),
    Experiment(
        "table6", "6", "Ablation of DAG-GNN and NOTEARS, 50 nodes ER1", (*_stages(DAG_GNN), *_stages(NOTEARS)),
        _grid((50,), ("ER1",)), ("SHD", "SID", "score (train)", "score (validation)"), "validate", notes=(_SCORES,),
    ),
    Experiment("table7", "7", "Sample size, 50 nodes ER4", (CAM, GRANDAG, DEFAULT, FAST), SAMPLE_SIZES, notes=_BESIDE),
    Experiment("table8", "8", "Gauss-ANM, 20 nodes", MAIN, _graphs(20), notes=_BESIDE),
    Experiment("table9", "9", "Gauss-ANM, 100 nodes", MAIN, _graphs(100), notes=_BESIDE),
    Experiment("table10", "10", "SHD of GES and PC, Gauss-ANM", CPDAGS, EVERY_GAUSS, ("SHD",), notes=_BESIDE),
    Experiment("table11", "11", "SID of GES and PC, Gauss-ANM", CPDAGS, EVERY_GAUSS, ("SID",), notes=_BESIDE),
    Experiment("table12", "12", "LIN", MAIN_WITH_FIXED_RANDOM, _grid((10, 50), ER, "lin"), notes=_BESIDE),
    Experiment("table13", "13", "ADD-FUNC", MAIN_WITH_FIXED_RANDOM, _grid((10, 50), ER, "add-func"), notes=_BESIDE),
    Experiment("table14", "14", "PNL-GP and PNL-MULT", MAIN_WITH_FIXED_RANDOM, PNL, notes=_BESIDE),
    *(
        Experiment(
            f"table{number}", str(number), f"Gauss-ANM, {n} nodes, hyper-parameter search", (*SEARCHED, GES),
            _graphs(n), task="search", notes=_FLAGS,
        )
        for number, n in ((15, 10), (16, 50), (17, 20), (18, 100))
    ),
    *(
        Experiment(
            f"table{number}", str(number), f"{kind.upper()}, hyper-parameter search", SEARCHED,
            _grid((10, 50), ER, kind), task="search", notes=_FLAGS,
        )
        for number, kind in ((19, "pnl-gp"), (20, "pnl-mult"), (21, "lin"), (22, "add-func"))
    ),
    Experiment(
        "table23", "23", "Real and pseudo-real data, hyper-parameter search",
        (*ONE_LAYER[:2], DAG_GNN, NOTEARS, CAM, GSF, GES), REAL, REAL_MEASURES, "search",
        notes=(*_FLAGS, _ONE_SET, _SCALED),
    ),
    Experiment("table24", "24", "Spaces of the hyper-parameter search"),
    Experiment(
        "figure1", "figure 1", "A_phi over training, 10 nodes ER4", (GRANDAG,), _grid((10,), ("ER4",)),
        ("SHD", "SID", "iterations"), "trace", n_datasets=1,
    ),
)  # fmt: skip

EXPERIMENTS = {experiment.name: experiment for experiment in _ALL}
"""The experiments by their names on the command line, in the order of the paper."""

_PAPERS = {row.method for experiment in _ALL for row in experiment.rows}
RELATED = tuple(Learner(name, name, "default") for name in METHODS if name not in _PAPERS)
"""Methods that the paper has no figures of: rows of any table of graphs, if they are asked for, with their defaults."""


def find(name: str) -> tuple[Experiment, ...]:
    """One experiment by its name, or "all"."""
    if name == "all":
        return _ALL
    if name not in EXPERIMENTS:
        near = suggestion(name, list(EXPERIMENTS)) or "."
        raise ValueError(f"The paper has no {name!r}{near} There are {', '.join(EXPERIMENTS)}, and all.")
    return (EXPERIMENTS[name],)


def narrowed(
    experiment: Experiment,
    *,
    methods: Collection[str] = (),
    nodes: Collection[int] = (),
    graphs: Collection[str] = (),
    n_rows: Collection[int] = (),
) -> Experiment:
    """An experiment with only these rows (by name or by method) and columns; an empty collection stands for all.

    Methods of `RELATED` that are named are further rows, where graphs are learned for their own sake.
    """
    wanted = {name.casefold() for name in methods}
    rows = tuple(row for row in experiment.rows if not wanted or wanted & {row.name.casefold(), row.method})
    if experiment.task in ("fit", "search") and experiment.columns:
        rows += tuple(row for row in RELATED if row.name in wanted)
    kinds = {graph.casefold() for graph in graphs}
    columns = tuple(
        column
        for column in experiment.columns
        if (not nodes or column.n_nodes in nodes)
        and (not kinds or (column.graph or "").casefold() in kinds)
        and (not n_rows or column.n_rows in n_rows)
    )
    return replace(experiment, rows=rows, columns=columns)


def released(experiment: Experiment) -> Experiment:
    """An experiment with only the columns for which the authors released data sets."""
    return replace(experiment, columns=tuple(column for column in experiment.columns if column.is_released))
