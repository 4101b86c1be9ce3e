"""Published transcription networks, and connected parts of them.

The tables in `networks/` name where they are from. They hold facts only: regulator, target, sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd

from grandag.graph import is_acyclic
from grandag.parameters import check_parameters, one_of

__all__ = ["NETWORKS", "SELECTIONS", "SourceNetwork", "choose_genes", "load_network"]

NETWORKS = ("ecoli", "yeast")
SELECTIONS = ("neighbour", "cluster")


@dataclass(frozen=True)
class SourceNetwork:
    """A published regulatory network; `signs` are "+", "-", "+-" (both are known) and "?" (unknown)."""

    genes: tuple[str, ...]
    regulators: np.ndarray  # positions in `genes`
    targets: np.ndarray
    signs: np.ndarray

    def neighbours(self) -> list[np.ndarray]:
        """The regulators and targets of each gene."""
        one, other = np.r_[self.regulators, self.targets], np.r_[self.targets, self.regulators]
        order = np.argsort(one, kind="stable")
        return np.split(other[order], np.cumsum(np.bincount(one, minlength=len(self.genes)))[:-1])

    def among(self, genes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Adjacency and signs among some genes, in the given order."""
        place = np.full(len(self.genes), -1)
        place[list(genes)] = np.arange(len(genes))
        inside = (place[self.regulators] >= 0) & (place[self.targets] >= 0)
        edges = place[self.regulators[inside]], place[self.targets[inside]]
        adjacency, signs = np.zeros((len(genes), len(genes)), dtype=bool), np.full((len(genes), len(genes)), "?", "U2")
        adjacency[edges], signs[edges] = True, self.signs[inside]
        return adjacency, signs


@cache
def load_network(name: str) -> SourceNetwork:
    """The E. coli ("ecoli") or yeast ("yeast") network without self-regulation; sources are named in the files.

    >>> load_network("ecoli").genes[:3]
    ('aceA', 'aceB', 'aceE')
    """
    check_parameters({"network": name}, {"network": one_of(*NETWORKS)})
    with resources.files(__package__).joinpath("networks", f"{name}.tsv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, sep="\t", comment="#", dtype=str, keep_default_na=False)
    table = table[table["regulator"] != table["target"]]
    genes, positions = np.unique(table[["regulator", "target"]].to_numpy().astype(str), return_inverse=True)
    regulators, targets = positions.reshape(-1, 2).T
    return SourceNetwork(tuple(map(str, genes)), regulators, targets, table["sign"].to_numpy().astype(str))


def choose_genes(network: SourceNetwork, n_genes: int, selection: str, rng: np.random.Generator) -> list[int]:
    """Genes of a connected sub-network that, with all edges among them, has no cycle.

    By neighbour addition: from a random gene on, a random new neighbour of one of the genes chosen so far is added,
    which is drawn with the square root of its number of new neighbours as weight. (Choosing among all neighbours alike
    would let the few largest hubs take nearly all places, choosing among genes alike gives too many edges and too small
    hubs: docs/simulate.md.) By cluster addition: it is added together with all its neighbours. A gene that would close
    a cycle is left out for good.
    """
    neighbours = [set(genes.tolist()) for genes in network.neighbours()]
    chosen: list[int] = []
    refused: set[int] = set()
    while len(chosen) < n_genes:
        options = [sorted(neighbours[gene] - {*chosen, *refused}) for gene in chosen]
        weight = np.sqrt([len(some) for some in options])
        if weight.any():
            some = options[rng.choice(len(options), p=weight / weight.sum())]
            first = some[int(rng.integers(len(some)))]
        else:  # the start, or a start in a part of the network that is too small
            chosen, refused, first = [], set(), int(rng.integers(len(network.genes)))
        cluster = rng.permutation(sorted(neighbours[first])).tolist() if selection == "cluster" else []
        for gene in [first, *cluster]:
            if len(chosen) == n_genes or gene in chosen or gene in refused:
                continue
            if is_acyclic(network.among([*chosen, gene])[0]):
                chosen.append(gene)
            else:
                refused.add(gene)
    return chosen
