"""The data sets that GraN-DAG's authors released, as they released them.

A setting is a folder or a zip file NAME with `dataK.npy` (rows), `DAGK.npy` (truth, [i, j] for i -> j) and for most
settings `CPDAGK.npy` (its Markov equivalence class; an undirected edge is there in both directions).
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np

from grandag.datasets.dataset import Dataset
from grandag.datasets.sachs import load_sachs

__all__ = ["list_authors", "load_authors"]

_PROVENANCE = (
    "Released by the authors of GraN-DAG (S. Lachapelle, P. Brouillard, T. Deleu, S. Lacoste-Julien: Gradient-Based "
    "Neural DAG Learning, ICLR 2020): {place}, number {number}."
)
_SETTING = re.compile(r"(pnl-gp-|pnl-mult-)?(er|sf)([14])-(\d+)")
_KINDS = {None: "GP", "pnl-gp-": "PNL_GP", "pnl-mult-": "PNL_MULT"}


def load_authors(path: str | Path, name: str, k: int) -> Dataset:
    """Data set number k of a setting: "er1-10", "sf4-50", "pnl-gp-er1-10", "pnl-mult-er4-10", "syntren", "sachs".

    `path` is the folder with the settings, as folders or zip files, or the folder or zip file of this setting itself.
    `name` may also be the authors' own name of a setting, like "data_p10_e10_n1000_GP". Files that Python 2 wrote are
    read too.
    """
    import pandas as pd

    place = _find(Path(path), _folder(name))
    rows, truth = _read(place, f"data{k}.npy"), _read(place, f"DAG{k}.npy")
    if rows is None or truth is None:
        have = ", ".join(map(str, _numbers(place))) or "none"
        raise ValueError(f"There is no data set {k!r} of {name!r} in {str(place)!r}: it has {have}.")
    cpdag = _read(place, f"CPDAG{k}.npy")
    columns = load_sachs().names if name == "sachs" else [f"X{column}" for column in range(rows.shape[1])]
    provenance = _PROVENANCE.format(place=place.name, number=k)
    data = pd.DataFrame(np.ascontiguousarray(rows, dtype=np.float64), columns=list(columns))
    return Dataset(f"{name}/{k}", data, truth.astype(bool), provenance, None if cpdag is None else cpdag.astype(bool))


def list_authors(path: str | Path, name: str) -> list[int]:
    """The numbers of the data sets of a setting; the arguments are those of `load_authors`."""
    return _numbers(_find(Path(path), _folder(name)))


def _folder(name: str) -> str:
    """The authors' name of a setting."""
    match = _SETTING.fullmatch(name)
    if match is None:
        return name
    kind, graph, density, nodes = match.groups()
    scale_free = "sf_" if graph == "sf" else ""
    return f"data_{scale_free}p{nodes}_e{int(density) * int(nodes)}_n1000_{_KINDS[kind]}"


def _find(path: Path, folder: str) -> Path:
    for candidate in (path / folder, path / f"{folder}.zip"):
        if candidate.exists():
            return candidate
    if path.stem == folder and path.exists():
        return path
    if not path.exists():
        raise FileNotFoundError(f"There is no folder or zip file {str(path)!r}.")
    raise ValueError(
        f"{str(path)!r} holds no folder {folder!r} and no {folder + '.zip'!r}: give the folder of the authors' data "
        "sets, and a setting like 'er1-10', 'sf4-50', 'pnl-gp-er1-10', 'syntren' or 'sachs'."
    )


def _read(place: Path, file: str) -> np.ndarray | None:
    """An array from a folder or zip file; None if it is not there."""
    if place.is_dir():
        return _array((place / file).read_bytes()) if (place / file).exists() else None
    with zipfile.ZipFile(place) as archive:
        for entry in archive.namelist():
            if PurePosixPath(entry).name == file and not entry.startswith("__MACOSX"):
                return _array(archive.read(entry))
    return None


def _array(content: bytes) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Reading `.npy`", category=UserWarning)  # headers by Python 2
        array: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
    return array


def _numbers(place: Path) -> list[int]:
    if place.is_dir():
        files = [entry.name for entry in place.iterdir()]
    else:
        with zipfile.ZipFile(place) as archive:
            files = [PurePosixPath(entry).name for entry in archive.namelist()]
    return sorted({int(match[1]) for match in (re.fullmatch(r"data(\d+)\.npy", file) for file in files) if match})
