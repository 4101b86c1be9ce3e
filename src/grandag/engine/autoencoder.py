"""The variational autoencoder of DAG-GNN (Yu, Chen, Gao, Yu 2019): its objective, gradient and one epoch of Adam.

One small network f codes and one network g decodes the values of all variables (one input, one output, ReLUs between):

    Y = f(X) + w,    Z = Y (I - A) - w,    X^ = g((Z + w) (I - A)^-1 - w) = g(f(X)),    A = sinh(3 a)
    loss = (|X - X^|^2 + |Z|^2) / (2 n) + lambda h + mu / 2 h^2 + 100 tr(A o A),    h = tr((I + A o A / d)^d) - d

Rows of X are observations and A_ij is the weight of i -> j. The decoder gets the mean of Z, without noise, as in the
released program: so (I - A)^-1 undoes (I - A), the reconstruction does not depend on A, and no inverse is formed.

A network with one input is a piecewise linear function with one kink per unit. It is tabulated once per batch (kinks in
ascending order, slope and intercept between them); a value costs one search among the kinks, and the gradient of a unit
is a sum over the segments in which it is active. This is exact and does not depend on the number of units but for the
table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from grandag.engine.compiled import compiled
from grandag.engine.optimiser import adam

__all__ = ["Autoencoder", "is_network", "loss_and_gradient", "predict_one", "train_epoch"]

DIAGONAL_PENALTY = 100.0


class Autoencoder(NamedTuple):
    """The parameters, and which entries of A they may use.

    In one vector: a (d, d), w, then of encoder and decoder: weights, biases, output weights, output bias.
    """

    parameters: np.ndarray
    allowed: np.ndarray  # [i, j]: may A_ij be other than 0?
    n_encoder_units: int

    @property
    def weights(self) -> np.ndarray:
        """A, weights[i, j] of i -> j."""
        return np.asarray(weighted_adjacency(self.parameters, self.allowed, self.n_encoder_units))

    @property
    def h(self) -> float:
        """tr((I + A o A / d)^d) - d"""
        h, _ = polynomial_acyclicity(self.weights)
        return float(h)

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Each variable from its parents, its own noise z_j at its mean 0: g(sum_i A_ij (f(x_i) + w))."""
        _, w, encoder, decoder = parts(self.parameters, values.shape[1], self.n_encoder_units)
        return np.asarray(apply_network(decoder, (apply_network(encoder, values) + w[0]) @ self.weights))

    def networks(self) -> tuple[float, np.ndarray, np.ndarray]:
        """w, and the networks f and g, each in one vector."""
        _, w, encoder, decoder = parts(self.parameters, len(self.allowed), self.n_encoder_units)
        return float(w[0]), encoder.copy(), decoder.copy()

    def is_consistent(self, d: int) -> bool:
        """Does the vector have the parameters of d variables, an encoder and a decoder?"""
        encoder = d * d + 1 + 3 * self.n_encoder_units + 1
        is_vector = self.parameters.dtype == np.float64 and self.parameters.ndim == 1 and self.n_encoder_units > 0
        is_mask = self.allowed.shape == (d, d) and self.allowed.dtype == bool
        return is_vector and is_mask and is_network(self.parameters[encoder:])

    def evidence_lower_bound(self, values: np.ndarray) -> float:
        """Mean over rows of -|x - x^|^2 / 2 - |z|^2 / 2, the objective of training without its constants."""
        gradient = np.empty_like(self.parameters)
        reconstruction, divergence, _ = loss_and_gradient(
            self.parameters, gradient, values, self.allowed, self.n_encoder_units, 0.0, 0.0
        )
        return -float(reconstruction + divergence)


def is_network(network: np.ndarray) -> bool:
    """Is it the vector of a network: weights, biases and output weights of at least one unit, and the output bias?"""
    return network.dtype == np.float64 and network.ndim == 1 and network.size >= 4 and network.size % 3 == 1


def predict_one(
    encoder: np.ndarray, decoder: np.ndarray, shift: float, weights: np.ndarray, parents: np.ndarray
) -> np.ndarray:
    """g(sum_i A_ij (f(x_i) + w)) of one variable (n,), from its parents (n, p) and their weights (p,)."""
    latent = (apply_network(encoder, parents) + shift) @ weights
    return np.asarray(apply_network(decoder, latent[:, None])[:, 0])


def train_epoch(
    model: Autoencoder,
    adam_state: np.ndarray,
    rows: np.ndarray,
    batch_size: int,
    lagrange_multiplier: float,
    penalty: float,
    learning_rate: float,
) -> float:
    """One pass over the rows in batches, in place; the mean of the batches' losses without constraint and penalties."""
    return float(
        run_epoch(
            model.parameters, adam_state, rows, batch_size, model.allowed, model.n_encoder_units, lagrange_multiplier,
            penalty, learning_rate,
        )
    )  # fmt: skip


@compiled
def parts(parameters, d, n_encoder_units):
    """Views of a, w, encoder and decoder."""
    first = d * d + 1
    second = first + 3 * n_encoder_units + 1
    return (
        parameters[: d * d].reshape(d, d),
        parameters[d * d : first],
        parameters[first:second],
        parameters[second:],
    )


@compiled
def weighted_adjacency(parameters, allowed, n_encoder_units):
    """A = sinh(3 a) where allowed, 0 elsewhere."""
    d = allowed.shape[0]
    a, _, _, _ = parts(parameters, d, n_encoder_units)
    A = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            if allowed[i, j]:
                A[i, j] = np.sinh(3 * a[i, j])
    return A


@compiled
def tabulate(network):
    """Kinks in ascending order, the unit of each, and slope and intercept of the segments that they bound.

    Segment s lies above s kinks. Units without a kink (weight 0) are constant; their kink is at infinity.
    """
    n = (network.size - 1) // 3
    weight, bias, output = network[:n], network[n : 2 * n], network[2 * n : 3 * n]
    kinks = np.full(n, np.inf)
    slopes, intercepts = np.zeros(n + 1), np.zeros(n + 1)
    intercepts[0] = network[3 * n]
    for k in range(n):
        if weight[k] != 0:
            kinks[k] = -bias[k] / weight[k]
        if weight[k] < 0 or (weight[k] == 0 and bias[k] > 0):
            slopes[0] += output[k] * weight[k]
            intercepts[0] += output[k] * bias[k]
    order = np.argsort(kinks)
    for s in range(n):
        k = order[s]
        sign = 1.0 if weight[k] > 0 else (-1.0 if weight[k] < 0 else 0.0)
        slopes[s + 1] = slopes[s] + sign * output[k] * weight[k]
        intercepts[s + 1] = intercepts[s] + sign * output[k] * bias[k]
    return kinks[order], order, slopes, intercepts


@compiled
def find_segments(values, kinks, segments):
    """segments[r, c]: how many kinks lie below the value."""
    largest_step = 1
    while 2 * largest_step <= kinks.size:
        largest_step *= 2
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            x, position, step = values[r, c], 0, largest_step
            while step > 0:
                probe = min(position + step, kinks.size)
                if kinks[probe - 1] < x:
                    position = probe
                step >>= 1
            segments[r, c] = position


@compiled
def evaluate(values, table, segments, results):
    """results = network(values); remembers the segments."""
    kinks, _, slopes, intercepts = table
    find_segments(values, kinks, segments)
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            s = segments[r, c]
            results[r, c] = slopes[s] * values[r, c] + intercepts[s]


@compiled
def add_network_gradient(gradient, network, table, values, segments, upstream):
    """Add the gradient of a network's parameters, given the derivative of the loss by its results."""
    _, order, _, _ = table
    n = order.size
    sums, products = np.zeros(n + 1), np.zeros(n + 1)
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            s = segments[r, c]
            sums[s] += upstream[r, c]
            products[s] += upstream[r, c] * values[r, c]
    total, total_product = sums.sum(), products.sum()
    below, below_product = 0.0, 0.0
    for s in range(n):
        below += sums[s]
        below_product += products[s]
        k = order[s]
        weight, bias, output = network[k], network[n + k], network[2 * n + k]
        active, active_product = total - below, total_product - below_product
        if weight < 0:
            active, active_product = below, below_product
        elif weight == 0:
            active, active_product = (total, total_product) if bias > 0 else (0.0, 0.0)
        gradient[k] += output * active_product
        gradient[n + k] += output * active
        gradient[2 * n + k] += weight * active_product + bias * active
    gradient[3 * n] += total


@compiled
def polynomial_acyclicity(A):
    """h = tr(M^d) - d with M = I + A o A / d, and the gradient of h by A: 2 A o (M^(d - 1))'."""
    d = A.shape[0]
    M = A * A / d
    for i in range(d):
        M[i, i] += 1
    power, factor, exponent = np.eye(d), M.copy(), d - 1
    while exponent > 0:
        if exponent % 2 == 1:
            power = np.dot(power, factor)
        factor = np.dot(factor, factor)
        exponent //= 2
    h = -float(d)
    for i in range(d):
        for k in range(d):
            h += power[i, k] * M[k, i]
    return h, 2 * A * power.T


@compiled
def loss_and_gradient(parameters, gradient, rows, allowed, n_encoder_units, lagrange_multiplier, penalty):
    """Half the mean squared reconstruction error, half the mean square of Z, and h; fills the gradient."""
    n, d = rows.shape
    _, w, encoder, decoder = parts(parameters, d, n_encoder_units)
    gradient[:] = 0
    _, d_w, d_encoder, d_decoder = parts(gradient, d, n_encoder_units)
    encoder_table, decoder_table = tabulate(encoder), tabulate(decoder)
    codes, decoded = np.empty((n, d)), np.empty((n, d))
    encoder_segments, decoder_segments = np.empty((n, d), np.int32), np.empty((n, d), np.int32)
    evaluate(rows, encoder_table, encoder_segments, codes)
    evaluate(codes, decoder_table, decoder_segments, decoded)
    A = weighted_adjacency(parameters, allowed, n_encoder_units)
    Y = codes + w[0]
    Z = Y - np.dot(Y, A) - w[0]
    error = decoded - rows
    reconstruction, divergence = 0.5 * (error * error).sum() / n, 0.5 * (Z * Z).sum() / n
    d_Z, d_decoded = Z / n, error / n
    d_Y = d_Z - np.dot(d_Z, A.T.copy())
    d_w[0] = d_Y.sum() - d_Z.sum()
    h, d_h = polynomial_acyclicity(A)
    d_A = (lagrange_multiplier + penalty * h) * d_h - np.dot(Y.T.copy(), d_Z)
    set_adjacency_gradient(parameters, gradient, A, d_A, allowed)
    add_network_gradient(d_decoder, decoder, decoder_table, codes, decoder_segments, d_decoded)
    slopes = decoder_table[2]
    for r in range(n):
        for c in range(d):
            d_Y[r, c] += d_decoded[r, c] * slopes[decoder_segments[r, c]]
    add_network_gradient(d_encoder, encoder, encoder_table, rows, encoder_segments, d_Y)
    return reconstruction, divergence, h


@compiled
def set_adjacency_gradient(parameters, gradient, A, d_A, allowed):
    """The gradient by a = arsinh(A) / 3, with the penalty on the diagonal."""
    d = A.shape[0]
    for i in range(d):
        for j in range(d):
            if allowed[i, j]:
                by_A = d_A[i, j] + (2 * DIAGONAL_PENALTY * A[i, j] if i == j else 0.0)
                gradient[i * d + j] = by_A * 3 * np.cosh(3 * parameters[i * d + j])


@compiled
def run_epoch(parameters, adam_state, rows, batch_size, allowed, n_encoder_units, lagrange_multiplier, penalty, rate):
    """One pass over the rows in batches; the mean over batches of reconstruction error plus divergence."""
    n = rows.shape[0]
    gradient = np.empty_like(parameters)
    total, n_batches = 0.0, 0
    for start in range(0, n, batch_size):
        batch = rows[start : start + batch_size]
        reconstruction, divergence, _ = loss_and_gradient(
            parameters, gradient, batch, allowed, n_encoder_units, lagrange_multiplier, penalty
        )
        adam(parameters, gradient, adam_state, rate)
        total += reconstruction + divergence
        n_batches += 1
    return total / n_batches


@compiled
def apply_network(network, values):
    """f(X)"""
    results, segments = np.empty(values.shape), np.empty(values.shape, np.int32)
    evaluate(values, tabulate(network), segments, results)
    return results
