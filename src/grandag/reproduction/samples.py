"""The rows and the truth behind a data set's identity: simulated, bundled, or from the authors' files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grandag import datasets
from grandag.simulate.files import simulate

__all__ = ["Sample", "authors_numbers", "authors_sample", "load_sample"]


@dataclass(frozen=True)
class Sample:
    """A table and the graph that made it."""

    rows: pd.DataFrame
    truth: np.ndarray

    @property
    def sha256(self) -> str:
        """A hash of the content: values and truth, in a fixed order and type."""
        values = np.ascontiguousarray(self.rows.to_numpy(), dtype="<f8")
        truth = np.ascontiguousarray(self.truth, dtype=np.uint8)
        shape = np.asarray(values.shape, dtype="<i8")
        return hashlib.sha256(shape.tobytes() + values.tobytes() + truth.tobytes()).hexdigest()


def load_sample(data: Mapping[str, Any], path: str | None) -> Sample:
    """The data set that `data` identifies (see `Job`)."""
    if "simulation" in data:
        scenario = simulate(**data["simulation"])
        return Sample(scenario.data, scenario.adjacency)
    if "bundled" in data:
        dataset = datasets.load(data["bundled"])
        return Sample(dataset.data, dataset.adjacency)
    sample = authors_sample(Path(path or "."), data["authors"], data["number"])
    if sample.sha256 != data["sha256"]:
        raise ValueError(f"Data set {data['number']} of {data['authors']!r} in {path!r} is not the one of this job.")
    return sample


def authors_sample(path: Path, name: str, number: int) -> Sample:
    """Data set `number` of a setting of the authors' released files."""
    dataset = datasets.load_authors(path, name, number)
    return Sample(dataset.data, dataset.adjacency)


def authors_numbers(path: Path, name: str) -> list[int]:
    """The numbers of the data sets of a setting."""
    return datasets.list_authors(path, name)
