"""Random rows inside compiled code: xoshiro256++ (Blackman and Vigna 2019), seeded from a numpy generator."""

from __future__ import annotations

import numpy as np

from grandag.engine.compiled import compiled, inlined

__all__ = ["draw_rows", "new_state"]


def new_state(rng: np.random.Generator) -> np.ndarray:
    """A fresh state of 256 random bits."""
    return rng.integers(1, 2**64, size=4, dtype=np.uint64)


@compiled
def draw_rows(state, permutation, n_rows):
    """Make the first `n_rows` entries of `permutation` a uniform draw without replacement.

    Swapping each of the first entries with a random later one is uniform whatever order was there before, so the
    permutation is never reset and a draw costs the batch, not the table.
    """
    for k in range(n_rows):
        other = k + below(state, permutation.size - k)
        permutation[k], permutation[other] = permutation[other], permutation[k]


@inlined
def below(state, n):
    """A uniform integer in [0, n) from 32 random bits; the bias is below n / 2^32."""
    return np.int64(((next_bits(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inlined
def next_bits(state):
    """The generator's next 64 bits."""
    result = rotate(state[0] + state[3], np.uint64(23)) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotate(state[3], np.uint64(45))
    return result


@inlined
def rotate(x, k):
    return (x << k) | (x >> (np.uint64(64) - k))
