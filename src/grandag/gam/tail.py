"""Tail of a weighted sum of chi-squares over an estimated scale, with small relative error far out.

    P( sum_i w_i chi2_1  >  (stat / m) chi2_m )

Ruben (1962): for b at most the smallest weight, a weighted sum of N chi-squares is a mixture of b * chi2_(N + 2j),
j = 0, 1, ..., with positive probabilities c_j, whose generating function is the product over i of
sqrt(b / w_i) (1 - (1 - b / w_i) t)^-1/2. Each member against the scale is the tail of a beta distribution, which grows
with j by a positive amount; so all that is ever done is to add positive numbers, and the relative error stays small.
"""

from __future__ import annotations

import math

from scipy.special import betainc, betaln

from grandag.engine.compiled import compiled

__all__ = ["KNOWN_SCALE", "fractional_rank_tail"]

KNOWN_SCALE = 1e9
"""Degrees of freedom m of a scale that is not estimated: P(sum_i w_i chi2_1 > stat), to 1e-4 relative."""

_SMALL_WEIGHT = 5e-3
"""Below this weight the tail is a straight line in it, to 1e-5 relative."""

_FAR = 1e-20
"""So far out a smaller weight b beside the largest one, a, multiplies the tail by (1 - b / a)^-1/2."""

_LOG_NOTHING = -600.0
"""Numbers below e^-600 count as nothing, and only their logarithms are kept."""

_MAX_TERMS = 1_000_000


def fractional_rank_tail(stat: float, rank: float, m: float) -> float:
    """The tail for a test of rank kappa + nu (Wood 2013): kappa - 1 weights of 1, and the two weights

    a = (nu + 1 + sqrt((nu + 1)(1 - nu))) / 2  and  nu + 1 - a.

    Whole ranks, and ranks below 1, which count as 1, have weights of 1 only.
    """
    if not stat > 0:
        return 1.0
    kappa = math.floor(rank + 1e-10)
    nu = rank - kappa
    if kappa == 0 or nu < 1e-10:
        return _beta_tail(stat / m, max(1, kappa), m)
    a = (nu + 1 + math.sqrt((nu + 1) * (1 - nu))) / 2
    b = nu * (nu + 1) / (2 * a)
    without = _mixture_tail(stat / m, kappa, a, 0.0, m)
    if without < _FAR:
        return without / math.sqrt(1 - b / a)
    if b >= _SMALL_WEIGHT:
        return _mixture_tail(stat / m, kappa, a, b, m)
    return without + (_mixture_tail(stat / m, kappa, a, _SMALL_WEIGHT, m) - without) * b / _SMALL_WEIGHT


def _beta_tail(ratio: float, n: float, m: float) -> float:
    """P(chi2_n > ratio * chi2_m)"""
    return float(betainc(m / 2, n / 2, 1 / (1 + ratio)))


def _mixture_tail(ratio: float, kappa: int, a: float, b: float, m: float) -> float:
    """The tail with weights 1 (kappa - 1 times), a >= 1 and b <= 1; b = 0 leaves it out."""
    n = kappa + (b > 0)
    base = b if b > 0 else 1.0
    x = ratio / (base + ratio)
    first = _beta_tail(ratio / base, n, m)
    log_increment = (n / 2) * math.log(x) + (m / 2) * math.log1p(-x) - math.log(n / 2) - float(betaln(n / 2, m / 2))
    start = 0.5 * (kappa - 1) * math.log(base) + 0.5 * math.log(base / a)
    total = _sum_mixture(
        first,
        log_increment,
        x,
        n / 2,
        m / 2,
        start,
        1 - base,
        0.5 * (kappa - 1),
        1 - base / a,
        _LOG_NOTHING,
        _MAX_TERMS,
    )
    return min(1.0, float(total))


@compiled
def _sum_mixture(
    tail: float, log_increment: float, x: float, half_n: float, half_m: float, log_c: float, alpha: float, p: float,
    gamma: float, log_nothing: float, max_terms: int,
) -> float:  # fmt: skip
    """sum_j c_j tail_j with (1 - alpha t)(1 - gamma t) c' = (p alpha (1 - gamma t) + gamma / 2 (1 - alpha t)) c."""
    slowest = max(alpha, gamma)
    c, c_before = math.exp(log_c), 0.0
    increment = math.exp(log_increment) if log_increment > log_nothing else 0.0
    total = c * tail
    for j in range(max_terms):
        c_next = ((alpha + gamma) * j + p * alpha + gamma / 2) * c - alpha * gamma * (j - 1 + p + 0.5) * c_before
        c_before, c = c, c_next / (j + 1)
        tail += increment
        growth = x * (half_n + j + half_m) / (half_n + j + 1)
        if increment > 0:
            increment *= growth
        else:
            log_increment += math.log(growth)
            increment = math.exp(log_increment) if log_increment > log_nothing else 0.0
        total += c * min(1.0, tail)
        if c <= c_before and c <= 1e-9 * (1 - slowest) * total:
            break
    return total
