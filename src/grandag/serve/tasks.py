"""What is done in a process of its own, because it may take long or much memory, or fail: read, learn, refit, report.

Each task reads and writes files of a workspace, and nothing else.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grandag.knowledge import Knowledge
from grandag.learned import TrainingError
from grandag.methods.registry import build, options_of
from grandag.methods.storage import load
from grandag.parameters import ParameterError
from grandag.progress import Listener
from grandag.serve.workspace import FitRecord, TableRecord, data_file
from grandag.table import Table, as_table, spread
from grandag.writing import replacing, replacing_directory, write_text

if TYPE_CHECKING:
    import pandas as pd

    from grandag.methods.estimator import StructureLearner

__all__ = ["TASKS", "estimator_of", "parsed", "read_frame"]

_ROWS = 2000
"""Of a table, kept beside a fit for the curves of its edges: with the codes or numbers that its model takes."""


def read_frame(directory: Path, record: TableRecord, left_out: list[str]) -> pd.DataFrame:
    """The columns of a table that are used, as it was read."""
    frame = _whole_frame(directory, record)
    wanted = [position for position, name in enumerate(frame.columns) if str(name) not in left_out]
    return frame if len(wanted) == frame.shape[1] else frame.iloc[:, wanted]


def _whole_frame(directory: Path, record: TableRecord) -> pd.DataFrame:
    from grandag import datasets
    from grandag.reading import read_table

    if record.origin == "bundled":
        return datasets.load(record.name).data
    return read_table(data_file(directory), **(record.options if record.origin == "file" else {}))


def inspect(job: Mapping[str, Any], listener: Listener) -> dict[str, Any]:
    """Look at a table; of a simulated one, make it first."""
    from grandag.graph import write_graph
    from grandag.report.table_facts import table_facts
    from grandag.simulate import files

    directory, record = Path(job["table_directory"]), TableRecord(**job["table"])
    if record.origin == "simulated" and not (directory / "data.csv").exists():
        scenario = files.simulate(**record.options)
        write_graph(scenario.graph, directory / "truth.json")
        with replacing(directory / "data.csv") as stream:
            stream.write(scenario.data.to_csv(index=False).encode())
    facts = table_facts(_whole_frame(directory, record))
    write_text(directory / "facts.json", json.dumps(facts, ensure_ascii=False))
    return {}


def parsed(method: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """The values that words stand for, by the rules that the method declares."""
    declared = options_of(method)
    values = {}
    for name, word in words.items():
        if name not in declared or name == "knowledge":
            raise ParameterError(name, f"is no option of the method {method!r}.")
        rule = declared[name].rule
        try:
            values[name] = rule.parse(str(word))
        except ValueError:
            raise ParameterError(name, f"must be {rule.description}; got {word!r}.") from None
        if not rule.is_legal(values[name]):
            raise ParameterError(name, f"must be {rule.description}; got {word!r}.")
    return values


def estimator_of(record: FitRecord) -> StructureLearner:
    """The estimator that a record describes."""
    values = parsed(record.method, record.parameters)
    knowledge = {"knowledge": Knowledge.of(record.knowledge)} if record.knowledge else {}
    model: StructureLearner = build(record.method, {**values, **knowledge}, preset=record.preset, seed=record.seed)
    return model


def learn(job: Mapping[str, Any], listener: Listener) -> dict[str, Any]:
    """Fit, as `grandag fit` does, and write the result."""
    directory, record, model, table = _prepared(job)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of is shown with the graph
        model.fit(table, listener=listener)
        model.save(directory / "fitted.npz")  # without what refits say, which may be made again
        refits = None if model.learned_.was_interrupted else _halves(model, table, record.seed, listener)
    return _write(directory, job, model, table, refits, time.perf_counter() - start)


def _prepared(job: Mapping[str, Any]) -> tuple[Path, FitRecord, StructureLearner, Table]:
    """Where, what, how, and from what."""
    record = FitRecord(**job["fit"])
    frame = read_frame(Path(job["table_directory"]), TableRecord(**job["table"]), record.left_out)
    model = estimator_of(record)
    return Path(job["fit_directory"]), record, model, as_table(frame, missing=model.missing, kinds=model.kinds)


def _halves(model: StructureLearner, table: Table, seed: int, listener: Listener) -> Any:
    """Refits to halves of the rows, where they take seconds."""
    from grandag.resampling import attach, confidence, halves_by_default

    n_halves = halves_by_default(model, table)
    if not n_halves:
        return None
    try:
        refits = confidence(model, table, n_halves, "subsample", random_state=seed, n_jobs=1, listener=listener)
    except TrainingError:  # of halves of a short table, as where a required edge's column does not vary
        return None
    attach(model, refits)
    return refits


def _write(
    directory: Path, job: Mapping[str, Any], model: StructureLearner, table: Table, refits: Any, seconds: float | None
) -> dict[str, Any]:
    from grandag.report.facts import FitSummary, headline
    from grandag.report.files import write_confidence, write_results

    learned = model.learned_
    some = as_table(table.take(spread(len(table.values), _ROWS)), kinds=learned.columns, min_rows=1)
    with replacing(directory / "rows.npy") as stream:
        np.save(stream, np.asarray(some.values, dtype=np.float64), allow_pickle=False)
    summary = FitSummary(model, job["table"]["name"], seconds)
    write_results(summary, directory / "result", None if refits is None else lambda new: write_confidence(refits, new))
    score = None if learned.model is None else float(learned.model.log_prob(some).mean())
    return {"headline": headline(summary.facts), "n_concerns": len(learned.concerns), "score": score}


def refit(job: Mapping[str, Any], listener: Listener) -> dict[str, Any]:
    """Refit to resampled rows, as often as asked, and give the fit its frequencies."""
    from grandag.resampling import attach, confidence

    directory, record, fresh, table = _prepared(job)
    model = load(directory / "fitted.npz")
    count, kind = record.refits_asked, record.refits_kind
    refits = confidence(
        fresh, table, count, kind, random_state=record.seed, keep_models=True, listener=listener, n_jobs=-1
    )
    attach(model, refits)
    with replacing_directory(directory / "resamples") as new:
        for number, other in enumerate(refits.models):
            other.save(new / f"{number}.npz")  # type: ignore[attr-defined]
    return {**_write(directory, job, model, table, refits, None), "n_resamples": refits.n_done}


def report(job: Mapping[str, Any], listener: Listener) -> dict[str, Any]:
    """Write the page of a fit."""
    from grandag.report.facts import FitSummary
    from grandag.report.fit_page import page_of

    directory, _, _, table = _prepared(job)
    model = load(directory / "result" / "model.npz")
    truth = _true_graph(job, model.names_) if job["truth"] else None
    page = page_of(FitSummary(model, job["table"]["name"]), table, truth=truth)
    write_text(job["target"], page)
    return {}


def _true_graph(job: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The true graph among the columns that were used; None if it lacks one of them."""
    from grandag.graph import to_networkx
    from grandag.serve.views import true_graph

    adjacency, known = true_graph(Path(job["table_directory"]), TableRecord(**job["table"]))
    return to_networkx(adjacency, known).subgraph(names) if set(names) <= set(known) else None


TASKS: dict[str, Callable[[Mapping[str, Any], Listener], dict[str, Any]]] = {
    "inspect": inspect,
    "learn": learn,
    "refit": refit,
    "report": report,
}
"""By name: from a job, which is plain JSON, to what there is to say of it."""
