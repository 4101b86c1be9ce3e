"""A fit as the Python script and as the command line that reproduce it."""

from __future__ import annotations

import csv
import io
import shlex
from typing import Any

from grandag.knowledge import Knowledge
from grandag.methods.registry import find
from grandag.parameters import boolean, parameters_of
from grandag.serve.tasks import parsed
from grandag.serve.workspace import FitRecord, TableRecord

__all__ = ["command", "script"]


def script(table: TableRecord, fit: FitRecord, data: str) -> str:
    """A program in Python that learns the graph of a fit again; `data` is the name of the table's file."""
    entry = find(fit.method)
    estimator = entry.estimator()
    values = {**entry.parameters, **parsed(fit.method, fit.parameters)}
    if fit.knowledge:
        values["knowledge"] = fit.knowledge
    if "random_state" in parameters_of(estimator):
        values["random_state"] = fit.seed
    maker = estimator.__name__ if fit.preset == "default" else f"{estimator.__name__}.preset"
    arguments = [repr(fit.preset)] if fit.preset != "default" else []
    arguments += [f"{name}={value!r}" for name, value in values.items()]
    lines = ["import grandag", "", *_data_in_python(table, data)]
    if fit.left_out:
        lines.append(f"data = data.drop(columns={fit.left_out!r})")
    lines.append(f"model = grandag.{maker}({', '.join(arguments)}).fit(data)")
    if fit.refits == "done":
        how = f"{fit.refits_asked}, {fit.refits_kind!r}, random_state={fit.seed}"
        lines += [f"refits = grandag.confidence(model, data, {how})", "grandag.resampling.attach(model, refits)"]
    lines += [
        "",
        "print(model.edges_)",
        "for warning in model.warnings_:",
        "    print(warning.message)",
        'model.save("model.npz")',
    ]
    return "\n".join([*lines, ""])


def _data_in_python(table: TableRecord, data: str) -> list[str]:
    if table.origin == "bundled":
        return [f"data = grandag.datasets.load({table.name!r}).data"]
    if table.origin == "simulated":
        options = ", ".join(f"{name}={value!r}" for name, value in table.options.items() if name != "mechanism")
        return [
            "from grandag.simulate import files",
            "",
            f"data = files.simulate({table.options['mechanism']!r}, {options}).data",
        ]
    options = "".join(f", {name}={value!r}" for name, value in table.options.items())
    return [f"data = grandag.read_table({data!r}{options})"]


def command(table: TableRecord, fit: FitRecord, data: str) -> str:
    """Commands for a shell that learn the graph of a fit again, and write all of its files to `results`."""
    lines = []
    if fit.knowledge:
        lines += ["cat > knowledge.toml <<'END'", Knowledge.of(fit.knowledge).to_toml().rstrip("\n"), "END"]
    if table.origin == "simulated":
        lines.append(shlex.join(["grandag", "simulate", *_simulation(table.options), "--output", "simulated"]))
    source = {"bundled": table.name, "simulated": "simulated/data.csv"}.get(table.origin, data)
    words = ["grandag", "fit", *_reading(table), *_left_out(table, fit), "--method", fit.method]
    words += [] if fit.preset == "default" else ["--preset", fit.preset]
    words += ["--seed", str(fit.seed)]
    declared = parameters_of(find(fit.method).estimator())
    for name, word in fit.parameters.items():
        option = name.replace("_", "-")
        if declared[name].rule is boolean:
            words.append(f"--{option}" if word == "yes" else f"--no-{option}")
        else:
            words.append(f"--{option}={word}")
    words += ["--knowledge", "knowledge.toml"] if fit.knowledge else []
    if fit.refits == "done":
        words += ["--resamples", str(fit.refits_asked), "--resample-kind", fit.refits_kind]
    words += ["--output", "results", "--", source]
    return "\n".join([*lines, shlex.join(words), ""])


def _simulation(options: dict[str, Any]) -> list[str]:
    given = {name: value for name, value in options.items() if name != "mechanism" and value is not None}
    return [str(options["mechanism"]), *(f"--{name.replace('_', '-')}={value}" for name, value in given.items())]


def _reading(table: TableRecord) -> list[str]:
    """Options for how the file is read."""
    if table.origin != "file":
        return []
    words = []
    for name, option in {"separator": "sep", "decimal": "decimal", "encoding": "encoding"}.items():
        if table.options.get(name):
            value = {"\t": "tab", r"\s+": "space"}.get(table.options[name], table.options[name])
            words.append(f"--{option}={value}")
    if table.options.get("na_values"):
        words.append(f"--na-values={','.join(table.options['na_values'])}")
    return words


def _left_out(table: TableRecord, fit: FitRecord) -> list[str]:
    """The columns that are left out, as a line of CSV; those that were not even read come first."""
    unread = table.options.get("exclude") if table.origin == "file" else None
    if not fit.left_out and not unread:
        return []
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="").writerow(fit.left_out)
    return [f"--exclude={','.join(filter(None, [unread, line.getvalue() if fit.left_out else '']))}"]
