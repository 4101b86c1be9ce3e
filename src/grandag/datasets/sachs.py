"""The protein signalling data of Sachs et al. (2005), as GraN-DAG's authors used them."""

from __future__ import annotations

from importlib import resources

import numpy as np

from grandag.datasets.dataset import Dataset

__all__ = ["load_sachs"]

_EDGES = (
    "Raf>Mek Mek>Erk Plcg>PIP2 Plcg>PIP3 PIP3>PIP2 Erk>Akt PKA>Raf PKA>Mek PKA>Erk PKA>Akt PKA>P38 PKA>Jnk PKC>Raf "
    "PKC>Mek PKC>PKA PKC>P38 PKC>Jnk"
)


def load_sachs() -> Dataset:
    """The protein signalling data of Sachs et al. (2005): 853 observational rows of 11 proteins, 17 consensus edges.

    Other versions are in use: all 7,466 rows, most of them under interventions, and reference graphs of 18 or 20
    edges. The paper used this one.

    >>> sachs = load_sachs()
    >>> sachs.data.shape, int(sachs.adjacency.sum())
    ((853, 11), 17)
    """
    import pandas as pd

    with resources.files(__package__).joinpath("sachs.csv").open(encoding="utf-8") as file:
        data = pd.read_csv(file, dtype=np.float64)
    adjacency = np.zeros((11, 11), dtype=bool)
    for edge in _EDGES.split():
        source, target = (data.columns.get_loc(name) for name in edge.split(">"))
        adjacency[source, target] = True
    provenance = (
        "K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan: Causal protein-signaling networks derived "
        "from multiparameter single-cell data, Science 308 (2005) 523-529. Rows: the first 853 of the 7,466 in "
        "cyto_full_data.csv of the PyPI package cdt, the observational ones. Edges: the 17 of the consensus network "
        "that GraN-DAG's authors used."
    )
    return Dataset("sachs", data, adjacency, provenance)
