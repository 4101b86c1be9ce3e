"""Data sets of the library and of GraN-DAG's authors, with their truth as far as it is known and where it is from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from grandag.datasets.authors import list_authors, load_authors
from grandag.datasets.dataset import Dataset
from grandag.datasets.sachs import load_sachs

__all__ = ["DATASETS", "WITH_INTERVENTIONS", "Dataset", "list_authors", "load", "load_authors", "load_sachs"]

DATASETS: dict[str, Callable[[], Dataset]] = {
    "sachs": load_sachs,
    "sachs-interventions": partial(load_sachs, interventions=True),
}
"""Loaders by name, as the command line knows them."""

WITH_INTERVENTIONS = ("sachs-interventions",)
"""Names of data sets whose rows were made under interventions."""


def load(name: str) -> Dataset:
    """A bundled data set by name."""
    if name not in DATASETS:
        raise ValueError(f"There is no bundled data set {name!r}: choose from {', '.join(DATASETS)}.")
    return DATASETS[name]()
