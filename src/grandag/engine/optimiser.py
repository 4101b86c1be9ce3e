"""RMSprop (Tieleman and Hinton 2012) with decay 0.99, no momentum, epsilon outside the square root."""

from __future__ import annotations

import math

from grandag.engine.compiled import inlined

__all__ = ["rmsprop"]

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
