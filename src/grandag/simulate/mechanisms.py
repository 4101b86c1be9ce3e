"""How a variable follows from its parents, for each kind of data in the paper and for eight that it does not have.

A mechanism is  x = (link(f(parents), noise) - offset) / scale  with three links:

    additive         f + N                      all but the PNL kinds, and all variables without parents (f = 0)
    sigmoid          1 / (1 + exp(-(f + N)))    PNL-GP
    multiplicative   exp(log f + N) = f e^N     PNL-MULT, f = sum of the parents

| kind | f | noise N ("released") | noise N ("text") | roots | rescaled ("released") |
|---|---|---|---|---|---|
| gauss-anm | Gaussian process | N(0, v), v ~ 0.04 U[1, 2] | v ~ U[0.4, 0.8] | N(0, v), v ~ U[1, 2] | no |
| lin | w' parents, w ~ U[0, 1] | N(0, v), v ~ 0.04 U[1, 2] | same | U[-1, 1] | no |
| add-func | sum of Gaussian processes | N(0, v), v ~ 0.04 U[1, 2] | same | U[-1, 1] | no |
| pnl-gp | Gaussian process | Laplace(0, l), l ~ U[0, 0.5] | l ~ U[0, 1] | U[-1, 1] | mean 0, variance 1 |
| pnl-mult | sum of parents | U[0, w], w ~ U[0, 0.5] | half normal, v ~ U[0, 1] | U[0, 2] | minimum 0, variance 1 |

"text" is the paper's appendix, "released" what the authors' files show (docs/simulate.md has the measurements); there
are no released files of LIN and ADD-FUNC at hand. Three kinds are LIN with noise that is not Gaussian, of mean 0 and
the same variances, for both:

| kind | f | noise N, of variance v ~ 0.04 U[1, 2] | roots | rescaled |
|---|---|---|---|---|
| lin-uniform | w' parents, w ~ U[0, 1] | uniform | U[-1, 1] | no |
| lin-laplace | the same | Laplace | U[-1, 1] | no |
| lin-exponential | the same | exponential, minus its mean | U[-1, 1] | no |

Five kinds are from other papers, and the same for both; their functions and where these are from are in `functions`:

| kind | f | noise N | roots | rescaled |
|---|---|---|---|---|
| mlp | random neural network | N(0, 1) | N(0, 1) | no |
| mlp-standard | random neural network | N(0, 0.25) | N(0, 0.25) | mean 0, variance 1 |
| mim | random index model | N(0, 1) | N(0, 1) | no |
| sigmoid | sum of random sigmoids | N(0, v), v ~ 0.04 U[1, 2] | N(0, v), v ~ U[1, 2] | no |
| sigmoid-mix | random sigmoid of a weighted sum | N(0, v), v ~ 0.04 U[1, 2] | N(0, v), v ~ U[1, 2] | no |

"mlp-standard" is the observational data of Nazaret, Hong, Azizi and Blei ("Stable differentiable causal discovery",
2024), as their program makes them (repository azizilab/sdcd, scripts/observational_benchmark.py and
sdcd/simulated_data; the package sdcd 0.1.4 has the same). Weights, hidden units and missing biases are those of "mlp".
A network sees its parents standardised by their own rows, all noises and roots have the standard deviation 0.5, and the
table is standardised at the end: together, every variable is rescaled before its children are made. (They divide by
n - 1 in the variance, we by n.) Their graphs have exactly as many edges as asked for, 4 per node (`erdos_renyi` with
`exact=True`), and their tables 10,000 rows, without interventions; a fifth of the rows is held out within the fit.

Rescaling uses the variable's own rows, before its children are computed; its offset and scale are kept, so that new
rows follow the same model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from grandag.parameters import check_parameters, one_of
from grandag.simulate.functions import Function, IndexModel, Linear, MixedSigmoid, NeuralNetwork, Sigmoids
from grandag.simulate.gaussian_process import draw_function

__all__ = [
    "DISTRIBUTIONS",
    "KINDS",
    "Kind",
    "Mechanism",
    "Noise",
    "NoiseFamily",
    "draw_mechanism",
    "find_kind",
]

DISTRIBUTIONS = ("released", "text")
"""Whose distributions data follow: those of the authors' released files, or those of the paper's text."""

_FunctionDraw = Callable[[np.ndarray, np.random.Generator], tuple[Function, np.ndarray]]
"""From rows of the parents: a drawn function, and its values at these rows."""

_STANDARD: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "laplace": lambda rng, n: rng.laplace(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "half-normal": lambda rng, n: np.abs(rng.normal(size=n)),
    "exponential": lambda rng, n: rng.exponential(size=n),
}

_MEAN_AND_VARIANCE = {"laplace": (0.0, 2.0), "uniform": (0.5, 1 / 12), "exponential": (1.0, 1.0)}
"""Of the distributions above, where noise is to have mean 0 and a given variance."""

_LINKS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "additive": lambda f, noise: f + noise,
    "sigmoid": lambda f, noise: expit(f + noise),
    "multiplicative": lambda f, noise: f * np.exp(noise),
}


@dataclass(frozen=True)
class Noise:
    """location + scale * (a standard normal, Laplace or exponential, a U[0, 1] or an absolute standard normal)."""

    distribution: str
    scale: float
    location: float = 0.0

    def sample(self, n_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Independent values."""
        return self.location + self.scale * _STANDARD[self.distribution](rng, n_rows)


@dataclass(frozen=True)
class NoiseFamily:
    """Noises of one distribution whose variance (or scale) is itself uniform on [low, high].

    `of="variance"` is about the normal distribution that the noise is made of, `of="centred variance"` about the noise
    itself, whose mean is then 0.
    """

    distribution: str
    low: float
    high: float
    of: str = "scale"
    location: float = 0.0

    def draw(self, rng: np.random.Generator) -> Noise:
        """The noise of one variable."""
        value = rng.uniform(self.low, self.high)
        if self.of == "centred variance":
            mean, variance = _MEAN_AND_VARIANCE[self.distribution]
            scale = float(np.sqrt(value / variance))
            return Noise(self.distribution, scale, -scale * mean)
        return Noise(self.distribution, float(np.sqrt(value)) if self.of == "variance" else value, self.location)


@dataclass(frozen=True)
class Mechanism:
    """x = (link(function(parents), noise) - offset) / scale."""

    function: Function
    noise: Noise
    link: str = "additive"
    offset: float = 0.0
    scale: float = 1.0

    def value(self, parents: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """The variable for given rows of its parents (n, p) and given noise (n,)."""
        return self.finish(self.function(parents), noise)

    def finish(self, function_values: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Link, offset and scale applied to given values of the function and of the noise."""
        return (_LINKS[self.link](function_values, noise) - self.offset) / self.scale

    def sample(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The variable for given rows of its parents, with fresh noise."""
        return self.value(parents, self.noise.sample(len(parents), rng))

    def describe(self) -> dict[str, Any]:
        """The mechanism's kind and constants as plain values."""
        return {
            "link": self.link,
            "noise": {
                "distribution": self.noise.distribution,
                "location": self.noise.location,
                "scale": self.noise.scale,
            },
            "offset": self.offset,
            "scale": self.scale,
            **self.function.describe(),
        }


@dataclass(frozen=True)
class Kind:
    """One kind of data: how functions, noises and roots are drawn."""

    function: _FunctionDraw
    noise: NoiseFamily
    root: NoiseFamily
    link: str = "additive"
    rescale: str = "none"


def _gaussian_process(parents: np.ndarray, rng: np.random.Generator) -> tuple[Function, np.ndarray]:
    return draw_function(parents, rng)


def _additive(parents: np.ndarray, rng: np.random.Generator) -> tuple[Function, np.ndarray]:
    return draw_function(parents, rng, additive=True)


def _by_constants(draw: Callable[[int, np.random.Generator], Function]) -> _FunctionDraw:
    """Functions that need to know nothing of the parents but how many there are."""

    def draw_and_evaluate(parents: np.ndarray, rng: np.random.Generator) -> tuple[Function, np.ndarray]:
        function = draw(parents.shape[1], rng)
        return function, function(parents)

    return draw_and_evaluate


def _sum(n_parents: int, _: np.random.Generator) -> Linear:
    return Linear(np.ones(n_parents))


_FIFTH = NoiseFamily("normal", 0.04, 0.08, "variance")  # 0.2 N(0, U[1, 2])
_FIFTH_OF = {name: NoiseFamily(name, 0.04, 0.08, "centred variance") for name in ("uniform", "laplace", "exponential")}
_STANDARD_NORMAL = NoiseFamily("normal", 1.0, 1.0)
_HALF = NoiseFamily("normal", 0.5, 0.5)
_GAUSSIAN_ROOT = NoiseFamily("normal", 1.0, 2.0, "variance")
_SYMMETRIC_ROOT = NoiseFamily("uniform", 2.0, 2.0, location=-1.0)
_POSITIVE_ROOT = NoiseFamily("uniform", 2.0, 2.0)


def _same_for_both(kind: Kind) -> dict[str, Kind]:
    return dict.fromkeys(DISTRIBUTIONS, kind)


KINDS: dict[str, dict[str, Kind]] = {
    "gauss-anm": {
        "released": Kind(_gaussian_process, _FIFTH, _GAUSSIAN_ROOT),
        "text": Kind(_gaussian_process, NoiseFamily("normal", 0.4, 0.8, "variance"), _GAUSSIAN_ROOT),
    },
    "lin": _same_for_both(Kind(_by_constants(Linear.draw), _FIFTH, _SYMMETRIC_ROOT)),
    **{
        f"lin-{name}": _same_for_both(Kind(_by_constants(Linear.draw), noise, _SYMMETRIC_ROOT))
        for name, noise in _FIFTH_OF.items()
    },
    "add-func": _same_for_both(Kind(_additive, _FIFTH, _SYMMETRIC_ROOT)),
    "pnl-gp": {
        "released": Kind(_gaussian_process, NoiseFamily("laplace", 0, 0.5), _SYMMETRIC_ROOT, "sigmoid", "standard"),
        "text": Kind(_gaussian_process, NoiseFamily("laplace", 0, 1), _SYMMETRIC_ROOT, "sigmoid"),
    },
    "pnl-mult": {
        "released": Kind(
            _by_constants(_sum), NoiseFamily("uniform", 0, 0.5), _POSITIVE_ROOT, "multiplicative", "positive"
        ),
        "text": Kind(
            _by_constants(_sum), NoiseFamily("half-normal", 0, 1, "variance"), _POSITIVE_ROOT, "multiplicative"
        ),
    },
    "mlp": _same_for_both(Kind(_by_constants(NeuralNetwork.draw), _STANDARD_NORMAL, _STANDARD_NORMAL)),
    "mlp-standard": _same_for_both(Kind(_by_constants(NeuralNetwork.draw), _HALF, _HALF, rescale="standard")),
    "mim": _same_for_both(Kind(_by_constants(IndexModel.draw), _STANDARD_NORMAL, _STANDARD_NORMAL)),
    "sigmoid": _same_for_both(Kind(_by_constants(Sigmoids.draw), _FIFTH, _GAUSSIAN_ROOT)),
    "sigmoid-mix": _same_for_both(Kind(_by_constants(MixedSigmoid.draw), _FIFTH, _GAUSSIAN_ROOT)),
}
"""Kinds of data by name, then by whose distributions they follow."""


def find_kind(name: str, distributions: str) -> Kind:
    """The entry of the table, or an error that lists the legal names."""
    check_parameters(
        {"mechanism": name, "distributions": distributions},
        {"mechanism": one_of(*KINDS), "distributions": one_of(*DISTRIBUTIONS)},
    )
    return KINDS[name][distributions]


def draw_mechanism(kind: Kind, parents: np.ndarray, rng: np.random.Generator) -> tuple[Mechanism, np.ndarray]:
    """A mechanism for given rows of the parents (n, p), and the variable's values at these rows."""
    if parents.shape[1] == 0:
        mechanism, function_values = Mechanism(Linear(np.zeros(0)), kind.root.draw(rng)), np.zeros(len(parents))
    else:
        function, function_values = kind.function(parents, rng)
        mechanism = Mechanism(function, kind.noise.draw(rng), kind.link)
    values = mechanism.finish(function_values, mechanism.noise.sample(len(parents), rng))
    if kind.rescale == "none":
        return mechanism, values
    offset = float(values.mean() if kind.rescale == "standard" else values.min())
    scale = float(values.std()) or 1.0
    return replace(mechanism, offset=offset, scale=scale), (values - offset) / scale
