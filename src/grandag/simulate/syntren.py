"""Transcription networks with expression data, after SynTReN (Van den Bulcke et al., BMC Bioinformatics 7:43, 2006).

1. Topology: a connected sub-network of a real one, with all edges among its genes (`choose_genes`).
2. Kinetics: with a_i = (x_i / K_i)^n_i for a regulator at level x_i in [0, 1] (n = 1: Michaelis-Menten, above: Hill),

       activator a / (1 + a),   repressor 1 / (1 + a),
       cooperative pair: both conditions must hold, h_1 h_2,
       competitive pair: a repressor takes the activator's place, a_1 / (1 + a_1 + a_2),
       independent pair: one suffices, 1 - (1 - h_1)(1 - h_2);

   regulators are paired at random, the responses of pairs and singles multiply (of g > 2 of them the product is raised
   to 2 / g, lest genes with many regulators be silent), the product is divided by its maximum, and a basal level of
   0.001 is the least, so that levels are between 0 (no expression) and 1 (maximal transcription).
3. External conditions: levels of genes without regulators are uniform. Half as many hidden conditions as such genes
   drive them; those that share a condition with another follow its opposite, with noise.
4. Biological noise (handed on to targets), then experimental noise (not handed on): a level z becomes a Beta variable
   with mean z and variance s^2 z (1 - z). It stays in [0, 1] and vanishes at the ends.
5. Units: levels times a maximum per gene, exp(N(8, 1.4^2)).

The forms of steps 2 to 5 that SynTReN's publication leaves open, and the constants, are read off the authors' five
released sets: see docs/simulate.md for what agrees and what does not. Since several roots can have one hidden cause,
these data violate causal sufficiency, as the authors' do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from grandag.parameters import ParameterError, as_generator, check_parameters, integer, number, one_of, random_state
from grandag.simulate.scenario import NodeMechanism, Scenario
from grandag.simulate.source_network import NETWORKS, SELECTIONS, choose_genes, load_network

__all__ = ["InputGene", "RegulatedGene", "draw_syntren"]

_HALF_SATURATION = (0.2, 1.0)
_HILL_EXPONENTS, _HILL_PROBABILITIES = (1, 2, 3, 4), (0.35, 0.35, 0.15, 0.15)
_BASAL = 0.001
_LOG_MAXIMUM = (8.0, 1.4)  # mean and standard deviation over the 100 genes of the authors' five sets


def _noisy(levels: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """Beta noise with mean z and variance size^2 z (1 - z); levels outside of (0, 1) stay as they are."""
    if size == 0:
        return levels
    result = levels.copy()
    inside = (levels > 0) & (levels < 1)
    concentration = 1 / size**2 - 1
    result[inside] = rng.beta(levels[inside] * concentration, (1 - levels[inside]) * concentration)
    return result


@dataclass(frozen=True)
class Condition:
    """A hidden external condition, uniform on [0, 1]."""

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Independent values."""
        return rng.uniform(size=len(parents))

    def describe(self) -> dict[str, Any]:
        """The kind of this mechanism as plain values."""
        return {"function": "external condition"}


@dataclass(frozen=True)
class InputGene:
    """A gene without regulators: it follows its external condition, or the opposite of it with noise."""

    maximum: float
    is_opposite: bool
    noise: float

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Expression for given values of the condition (n, 1)."""
        level = parents[:, 0]
        return self.maximum * (_noisy(1 - level, self.noise, rng) if self.is_opposite else level)

    def describe(self) -> dict[str, Any]:
        """The gene's kind and constants as plain values."""
        return {"function": "input gene", "maximum": self.maximum, "is_opposite": self.is_opposite}


@dataclass(frozen=True)
class RegulatedGene:
    """Michaelis-Menten and Hill kinetics of one gene; regulators in column order."""

    maximum: float
    regulator_maxima: np.ndarray
    is_activator: np.ndarray
    half_saturation: np.ndarray
    hill: np.ndarray
    groups: tuple[tuple[tuple[int, ...], str], ...]  # (regulators, interaction), each regulator once
    noise: float

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Expression for given expressions of the regulators (n, p), with biological noise."""
        levels = np.maximum(parents, 0) / self.regulator_maxima
        return self.maximum * _noisy(self.level(levels), self.noise, rng)

    def level(self, levels: np.ndarray) -> np.ndarray:
        """Level without noise for levels of the regulators; 1 where activators are at 1 and repressors at 0."""
        highest = self._rate(self.is_activator.astype(float)[None, :])
        relative: np.ndarray = self._rate(levels) / highest
        return _BASAL + (1 - _BASAL) * relative

    def _rate(self, levels: np.ndarray) -> np.ndarray:
        binding = (levels / self.half_saturation) ** self.hill
        response = np.where(self.is_activator, binding, 1.0) / (1 + binding)
        rate = np.ones(len(levels))
        for members, interaction in self.groups:
            columns = list(members)
            if interaction == "competitive":
                activator = columns[0] if self.is_activator[columns[0]] else columns[1]
                rate *= binding[:, activator] / (1 + binding[:, columns].sum(axis=1))
            elif interaction == "independent":
                rate *= 1 - (1 - response[:, columns]).prod(axis=1)
            else:
                rate *= response[:, columns].prod(axis=1)
        damped: np.ndarray = rate ** min(1.0, 2 / len(self.groups))
        return damped

    def describe(self) -> dict[str, Any]:
        """The gene's kind and constants as plain values."""
        return {
            "function": "kinetics",
            "maximum": self.maximum,
            "is_activator": self.is_activator.tolist(),
            "half_saturation": self.half_saturation.tolist(),
            "hill": self.hill.tolist(),
            "groups": [{"regulators": list(members), "interaction": name} for members, name in self.groups],
        }


@dataclass(frozen=True)
class Measurement:
    """Experimental noise, from one stream per gene: what happens to a gene leaves the noise of others alone."""

    maxima: np.ndarray
    noise: float

    def __call__(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Measured expression for given true expression (n, genes)."""
        genes = zip(values.T, self.maxima, rng.spawn(len(self.maxima)), strict=True)
        return np.column_stack([maximum * _noisy(column / maximum, self.noise, own) for column, maximum, own in genes])


def _draw_groups(
    is_activator: np.ndarray, complex_probability: float, rng: np.random.Generator
) -> tuple[tuple[tuple[int, ...], str], ...]:
    """Pairs of regulators with their interaction, and a single one if their number is odd."""
    order = [int(regulator) for regulator in rng.permutation(len(is_activator))]
    groups = []
    for start in range(0, len(order), 2):
        members = tuple(order[start : start + 2])
        interaction = "single" if len(members) == 1 else "independent"
        if len(members) == 2 and rng.random() < complex_probability:
            is_mixed = is_activator[members[0]] != is_activator[members[1]]
            interaction = "competitive" if is_mixed and rng.random() < 0.5 else "cooperative"
        groups.append((members, interaction))
    return tuple(groups)


def _draw_regulated(
    signs: np.ndarray, maximum: float, maxima: np.ndarray, complex_probability: float, noise: float,
    rng: np.random.Generator,
) -> RegulatedGene:  # fmt: skip
    is_known = np.isin(signs, ("+", "-"))
    is_activator = np.where(is_known, signs == "+", rng.random(len(signs)) < 0.5)
    half_saturation = rng.uniform(*_HALF_SATURATION, len(signs))
    hill = rng.choice(_HILL_EXPONENTS, len(signs), p=_HILL_PROBABILITIES)
    groups = _draw_groups(is_activator, complex_probability, rng)
    return RegulatedGene(maximum, maxima, is_activator, half_saturation, hill, groups, noise)


def _draw_conditions(is_root: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Conditions (rows) by genes: 1 where a gene follows the condition, -1 where it follows its opposite."""
    roots = rng.permutation(np.flatnonzero(is_root))
    n_conditions = (len(roots) + 1) // 2
    condition_of = np.r_[np.arange(n_conditions), rng.integers(n_conditions, size=len(roots) - n_conditions)]
    drives = np.zeros((n_conditions, len(is_root)), dtype=int)
    drives[condition_of, roots] = np.where(np.arange(len(roots)) < n_conditions, 1, -1)
    return drives


def draw_syntren(
    n_nodes: int = 20,
    n_rows: int = 500,
    random_state: Any = None,
    *,
    network: str = "ecoli",
    selection: str = "neighbour",
    complex_probability: float = 1.0,
    biological_noise: float = 0.1,
    experimental_noise: float = 0.1,
    input_noise: float = 0.1,
    normalised: bool = False,
) -> Scenario:
    """A sub-network of a real transcription network, and expression data of it; defaults are those of the paper.

    `complex_probability` is SynTReN's "probability for complex 2-regulator interactions"; `normalised=True` gives
    levels between 0 and 1 in place of units per gene.

    >>> draw_syntren(random_state=0).data.shape
    (500, 20)
    """
    chosen = {
        "network": network, "selection": selection, "complex_probability": complex_probability,
        "biological_noise": biological_noise, "experimental_noise": experimental_noise, "input_noise": input_noise,
        "normalised": normalised,
    }  # fmt: skip
    _check({"n_nodes": n_nodes, "n_rows": n_rows, "random_state": random_state, **chosen})
    rng = as_generator(random_state)
    source = load_network(network)
    genes = choose_genes(source, n_nodes, selection, rng)
    adjacency, signs = source.among(genes)
    maxima = np.ones(n_nodes) if normalised else np.exp(rng.normal(*_LOG_MAXIMUM, n_nodes))
    drives = _draw_conditions(adjacency.sum(axis=0) == 0, rng)
    mechanisms: list[NodeMechanism] = []
    for gene in range(n_nodes):
        parents, maximum = adjacency[:, gene], float(maxima[gene])
        if parents.any():
            regulation = (signs[parents, gene], maximum, maxima[parents])
            mechanisms.append(_draw_regulated(*regulation, complex_probability, biological_noise, rng))
        else:
            mechanisms.append(InputGene(maximum, bool((drives[:, gene] < 0).any()), input_noise))
    scenario = Scenario(
        data=pd.DataFrame(columns=[source.genes[gene] for gene in genes]),
        adjacency=adjacency,
        mechanisms=tuple(mechanisms),
        configuration={"mechanism": "syntren", "rows": n_rows, "nodes": n_nodes, **chosen},
        hidden=(Condition(),) * len(drives),
        hidden_adjacency=drives != 0,
        measure=Measurement(maxima, experimental_noise),
    )
    return replace(scenario, data=scenario.sample(n_rows, rng))


def _check(values: dict[str, Any]) -> None:
    noise = number(0, 0.9)
    rules = {
        "n_nodes": integer(2),
        "n_rows": integer(1),
        "random_state": random_state,
        "network": one_of(*NETWORKS),
        "selection": one_of(*SELECTIONS),
        "complex_probability": number(0, 1),
        "biological_noise": noise,
        "experimental_noise": noise,
        "input_noise": noise,
        "normalised": one_of(True, False),
    }
    check_parameters(values, rules)
    n_genes = len(load_network(values["network"]).genes)
    if values["n_nodes"] > n_genes // 2:
        raise ParameterError(
            "n_nodes",
            f"must be at most {n_genes // 2}, half of the {n_genes} genes of {values['network']!r}; got "
            f"{values['n_nodes']}.",
        )
