"""The protein signalling data of Sachs et al. (2005), as GraN-DAG's authors used them, and with interventions."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from grandag.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_sachs"]

_EDGES = (
    "Raf>Mek Mek>Erk Plcg>PIP2 Plcg>PIP3 PIP3>PIP2 Erk>Akt PKA>Raf PKA>Mek PKA>Erk PKA>Akt PKA>P38 PKA>Jnk PKC>Raf "
    "PKC>Mek PKC>PKA PKC>P38 PKC>Jnk"
)

_BLOCKS = {"": 1755, "Akt": 2666, "PKC": 3389, "PIP2": 4199, "Mek": 4998, "PIP3": 5846}
"""Where the rows of each target end. The observational ones are of two conditions, of which the first has 853 rows."""

_CONDITIONS = (
    "with these conditions, each up to the row in brackets: anti-CD3/CD28 (853) and the same with ICAM-2 (1755), no "
    "target; anti-CD3/CD28 with an inhibitor of Akt (2666), of PKC: G06976 (3389), of PIP2: psitectorigenin (4199), of "
    "Mek: U0126 (4998), of PI3K, counted as PIP3: LY294002 (5846). Not in the table: PMA and a cAMP analogue (7466). A "
    "public README of the nine original files has 853, 902, 911, 723, 810, 799, 848, 913 and 707 rows, of which these "
    "are the cumulative sums"
)

_SOURCE = (
    "K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan: Causal protein-signaling networks derived from "
    "multiparameter single-cell data, Science 308 (2005) 523-529. Rows: the first {rows} of the 7,466 in "
    "cyto_full_data.csv of the PyPI package cdt, {which}. Edges: the 17 of the consensus network that GraN-DAG's "
    "authors used."
)


def load_sachs(*, interventions: bool = False) -> Dataset:
    """The protein signalling data of Sachs et al. (2005): 853 observational rows of 11 proteins, 17 consensus edges.

    With `interventions`, 5,846 rows: 1,755 observational ones of two conditions, and 4,091 in which Akt, PKC, PIP2, Mek
    or PIP3 was inhibited, as `interventions` of the data set says row by row, and `provenance` by which reagent. (The
    rows in which activators of PKC and PKA were used, 1,620 more, are left out, as is common.)

    Reference graphs of 18 edges (with a cycle through Plcg, PIP2 and PIP3, so no DAG) and of 20 edges (three more that
    Sachs et al. expected and did not find) are in use, too. The paper used these 17, and the 853 rows.

    >>> sachs = load_sachs()
    >>> sachs.data.shape, int(sachs.adjacency.sum())
    ((853, 11), 17)
    >>> load_sachs(interventions=True).interventions[1754:1756]
    ('', 'Akt')
    """
    if interventions:
        data, which = _read("sachs_interventions.csv.gz"), _CONDITIONS
        ends = list(_BLOCKS.values())
        counts = np.diff([0, *ends])
        targets = tuple(np.repeat(list(_BLOCKS), counts).tolist())
    else:
        data, which, targets = _read("sachs.csv"), "those stimulated with anti-CD3/CD28 alone", None
    adjacency = np.zeros((11, 11), dtype=bool)
    for edge in _EDGES.split():
        source, target = (data.columns.get_loc(name) for name in edge.split(">"))
        adjacency[source, target] = True
    provenance = _SOURCE.format(rows=f"{len(data):,}", which=which)
    return Dataset("sachs", data, adjacency, provenance, interventions=targets)


def _read(name: str) -> pd.DataFrame:
    import pandas as pd

    with resources.as_file(resources.files(__package__).joinpath(name)) as path:
        return pd.read_csv(path, dtype=np.float64)
