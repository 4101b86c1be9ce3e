"""What is said of a table before anything is learned from it."""

import json

import numpy as np
import pandas as pd

from grandag.report import table_facts


def test_columns_of_every_kind():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "few": rng.integers(3, size=n),
            "constant": np.ones(n),
            "empty": np.full(n, np.nan),
            "text": ["<b>x</b>", *["y"] * (n - 1)],
            "identifier": [f"row {k}" for k in range(n)],
            "count": rng.poisson(2, size=n),
            "date": pd.date_range("2020-01-01", periods=n),
            "gaps": rng.normal(size=n),
            "endless": rng.normal(size=n),
        }
    )
    frame.loc[10:14, "gaps"] = np.nan
    frame.loc[7, "endless"] = np.inf
    frame["copy"] = 2 * frame["number"] + 1
    facts = table_facts(frame)
    columns = {column["name"]: column for column in facts["columns"]}
    kinds = {name: column["kind"] for name, column in columns.items()}
    assert kinds == {
        "number": "continuous", "few": "few values", "constant": "constant", "empty": "empty", "text": "binary",
        "identifier": "unusable", "count": "count", "date": "unusable", "gaps": "continuous", "endless": "continuous",
        "copy": "continuous",
    }  # fmt: skip
    assert {name for name, column in columns.items() if column["problem"]} == {"empty", "identifier", "date"}
    assert "an identifier or free text is no variable" in columns["identifier"]["problem"]
    assert (columns["gaps"]["n_missing"], columns["endless"]["n_infinite"]) == (5, 1)
    assert (facts["n_rows"], facts["n_complete"]) == (n, n - 6)
    assert columns["text"]["common"] == [["y", n - 1], ["<b>x</b>", 1]]
    assert columns["number"]["minimum"] == frame["number"].min()
    assert sum(columns["number"]["counts"]) == n
    assert sum(columns["endless"]["counts"]) == n - 1
    concerns = {concern["kind"]: concern["variables"] for concern in facts["concerns"]}
    assert concerns["constant columns"] == ("constant",)
    assert concerns["copied columns"] == ("number", "copy")
    json.dumps(facts, allow_nan=False)


def test_a_table_that_cannot_be_used_says_why():
    assert "minimum of 10" in table_facts(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}))["problem"]
    assert "minimum of 2" in table_facts(pd.DataFrame({"a": np.arange(20.0), "b": [None] * 20}))["problem"]
