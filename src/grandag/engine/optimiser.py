"""RMSprop (Tieleman and Hinton 2012) without momentum, and Adam (Kingma and Ba 2015), epsilon outside the root."""

from __future__ import annotations

import math

from grandag.engine.compiled import inlined

__all__ = ["adam", "rmsprop"]

DECAY = 0.99
EPSILON = 1e-8
LARGEST_GRADIENT = 1e18


@inlined
def rmsprop(parameters, gradient, scale, mean_square, learning_rate):
    """g = scale * gradient;  v <- 0.99 v + 0.01 g^2;  w <- w - learning_rate * g / (sqrt(v) + 1e-8), in place.

    Beyond 1e18 a gradient counts as 1e18: its square must be a number, or v would be infinite and training stand still.
    """
    number = parameters.dtype.type
    decay, rest, epsilon = number(DECAY), number(1 - DECAY), number(EPSILON)
    factor, rate, largest = number(scale), number(learning_rate), number(LARGEST_GRADIENT)
    for k in range(parameters.size):
        g = factor * gradient[k]
        g = largest if g > largest else (-largest if g < -largest else g)
        v = decay * mean_square[k] + rest * g * g
        mean_square[k] = v
        parameters[k] -= rate * g / (math.sqrt(v) + epsilon)


FIRST_DECAY, SECOND_DECAY = 0.9, 0.999


@inlined
def adam(parameters, gradient, state, learning_rate):
    """m <- 0.9 m + 0.1 g;  v <- 0.999 v + 0.001 g^2;  w <- w - learning_rate * m^ / (sqrt(v^) + 1e-8), in place.

    m^ and v^ are m and v divided by 1 - 0.9^t and 1 - 0.999^t. `state` holds m, v and, in its last place, t.
    """
    n = parameters.size
    state[2 * n] += 1
    first = 1 - FIRST_DECAY ** state[2 * n]
    second = 1 - SECOND_DECAY ** state[2 * n]
    for k in range(n):
        state[k] = FIRST_DECAY * state[k] + (1 - FIRST_DECAY) * gradient[k]
        state[n + k] = SECOND_DECAY * state[n + k] + (1 - SECOND_DECAY) * gradient[k] * gradient[k]
        parameters[k] -= learning_rate * (state[k] / first) / (math.sqrt(state[n + k] / second) + EPSILON)
