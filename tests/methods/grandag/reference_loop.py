"""GraN-DAG's training in plain numpy: the reference that the compiled loop has to follow.

Written from the equations of the paper (sections 3.1 to 3.4, appendices A.1 and A.6) and from what is known of the
released program, not from the compiled code, and kept naive on purpose: dense matrices, a mask that multiplies, the
exponential by its series. In common with the compiled code are only the random numbers.

All d networks are computed at once: a weight matrix is an array (d, outputs, inputs), a bias (d, outputs, 1), the
units of a layer are (d, units, rows), where the first axis tells the networks apart.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

LEAK = 0.01  # slope of the leaky ReLU


class Reference(NamedTuple):
    """What training left behind."""

    trace: list[tuple]  # iteration, h, lambda, mu, log-likelihood of the batches and of the held-out rows, edges
    mask: np.ndarray
    weights: list[np.ndarray]
    biases: list[np.ndarray]
    log_sigma: np.ndarray


def train(rows, held_out, mask, network, config, rng, required):
    """The augmented Lagrangian method, again and again: min_phi -1/d E sum_j log p_j + lambda h + mu / 2 h^2.

    The penalty alpha / d sum_ij A_ij is not in the paper.
    """
    alpha = config.sparsity / len(mask)
    W, b, log_sigma = initial_parameters(mask, required, network, rng)
    batches = draw_batches(rng, len(rows), config.batch_size)
    lagrange, mu, learning_rate = 0.0, config.initial_penalty, config.learning_rate
    mean_squares = None  # of RMSprop, which begins anew with every subproblem
    objectives, final_h, trace, batch_values = [], [], [], []
    for iteration in range(config.max_iterations):
        batch = rows[next(batches)]
        A, left = weighted_adjacency(W, mask)
        h, dh_dA = acyclicity(np.where(required, 1.0, A))  # a required edge is there, whatever its weights
        value, dW, db, dlog_sigma = likelihood_gradient(batch, W, b, log_sigma, mask)
        dA = adjacency_gradient(((lagrange + mu * h) * dh_dA + alpha) * (mask & ~required), W, left)
        batch_values.append(value)

        gradients = [*(-dW_l + dA_l for dW_l, dA_l in zip(dW, dA, strict=True)), *(-db_l for db_l in db), -dlog_sigma]
        mean_squares = mean_squares or [np.zeros_like(g) for g in gradients]
        for parameter, g, v in zip([*W, *b, log_sigma], gradients, mean_squares, strict=True):
            v[:] = 0.99 * v + 0.01 * g**2
            parameter -= learning_rate * g / (np.sqrt(v) + 1e-8)

        if final_h or alpha == 0:
            mask = mask & (required | (config.mask_threshold < A))  # A is from before the step

        is_last = h <= config.tolerance or iteration + 1 == config.max_iterations
        if iteration % config.evaluate_every == 0 or is_last:
            held_out_value = log_likelihood(held_out, W, b, log_sigma, mask)
            trace.append((iteration, h, lagrange, mu, np.mean(batch_values), held_out_value, mask.sum()))
            penalty = alpha * weighted_adjacency(W, mask & ~required)[0].sum()
            objectives.append(-held_out_value + lagrange * h + mu / 2 * h**2 + penalty)
            batch_values = []
        if is_last:
            break

        if iteration > 0 and iteration % (2 * config.evaluate_every) == 0 and has_levelled_off(objectives[-3:], config):
            before = lagrange * h + mu / 2 * h**2
            lagrange += mu * h
            if final_h and h > config.sufficient_decrease * final_h[-1]:
                mu *= config.penalty_growth
            objectives[-1] += lagrange * h + mu / 2 * h**2 - before  # the same point, by the new objective
            final_h.append(h)
            mean_squares, learning_rate = None, config.later_learning_rate
    return Reference(trace, mask, W, b, log_sigma)


def has_levelled_off(objectives, config):
    """Two windows in one direction, and that is upwards or nearly flat."""
    start, middle, end = objectives
    delta = (end - start) / config.evaluate_every
    is_monotone = start < middle < end or start > middle > end
    return is_monotone and (delta > 0 or abs(delta) < config.subproblem_tolerance)


def initial_parameters(mask, required, network, rng):
    """Xavier-uniform weights with the gain of the leaky ReLU, drawn for required inputs first; the rest is zero."""
    d, sizes = len(mask), [len(mask), *[network.n_units] * network.n_layers, n_outputs(network)]
    W = [np.zeros((d, n_out, n_in)) for n_in, n_out in itertools.pairwise(sizes)]
    for j in range(d):
        inputs = [*np.flatnonzero(required[:, j]), *np.flatnonzero(mask[:, j] & ~required[:, j])]
        for layer, weights in enumerate(W):
            columns = inputs if layer == 0 else range(weights.shape[2])
            bound = math.sqrt(2 / (1 + LEAK**2)) * math.sqrt(6 / sum(weights[j].shape))
            weights[j][:, columns] = rng.uniform(-bound, bound, size=(weights.shape[1], len(columns)))
    return W, [np.zeros((d, n_out, 1)) for n_out in sizes[1:]], np.zeros((d, 1))


def n_outputs(network):
    """GraN-DAG's networks give a mean, those of GraN-DAG++ a mean and a log sigma."""
    return {"additive-gaussian": 1, "gaussian": 2}[network.density]


def draw_batches(rng, n_rows, batch_size):
    """Rows without replacement by the first swaps of a shuffle, with random numbers of xoshiro256++."""
    a, b, c, d = (int(word) for word in rng.integers(1, 2**64, size=4, dtype=np.uint64))
    order, bits = list(range(n_rows)), 2**64 - 1

    def rotate(x, k):
        return (x << k | x >> (64 - k)) & bits

    while True:
        for k in range(batch_size):
            number = (rotate((a + d) & bits, 23) + a) & bits
            a, b, c, d = a ^ b ^ d, a ^ b ^ c, a ^ c ^ (b << 17 & bits), rotate(b ^ d, 45)
            other = k + ((number >> 32) * (n_rows - k) >> 32)
            order[k], order[other] = order[other], order[k]
        yield order[:batch_size]


def weighted_adjacency(W, mask):
    """A_ij: products of absolute weights along the paths from input i to any output of network j, their mean.

    Also the sums over the paths from the outputs down to each layer, which the gradient needs.
    """
    d, n_paths = len(mask), math.prod(weights.shape[1] for weights in W)
    left = [np.full((d, 1, W[-1].shape[1]), 1 / n_paths)]
    for weights in W[:0:-1]:
        left.insert(0, left[0] @ np.abs(weights))
    return (left[0] @ np.abs(W[0]))[:, 0].T * mask, left


def adjacency_gradient(G, W, left):
    """Derivatives of sum_ij G_ij A_ij with respect to the weights, G held fixed."""
    right, gradients = G.T[:, :, None], []
    for weights, above in zip(W, left, strict=True):
        gradients.append(np.sign(weights) * (above.transpose(0, 2, 1) @ right.transpose(0, 2, 1)))
        right = np.abs(weights) @ right
    return gradients


def acyclicity(A):
    """h = tr(e^A) - d = sum over k > 0 of tr(A^k) / k!, and its gradient (e^A)'."""
    term, exponential = np.eye(len(A)), np.zeros_like(A)
    for k in range(1, 31):
        term = term @ A / k
        exponential += term
    return np.trace(exponential), (exponential + np.eye(len(A))).T


def forward(x, W, b, mask):
    """The units of all layers, the last of which are theta."""
    units = [np.broadcast_to(x.T, (len(mask), *x.T.shape)) * mask.T[:, :, None]]
    for layer, (weights, bias) in enumerate(zip(W, b, strict=True)):
        z = weights @ units[-1] + bias
        units.append(z if layer == len(W) - 1 else np.where(z > 0, z, LEAK * z))
    return units


def log_density(x, theta, log_sigma):
    """log N(x_j; mu_j, sigma_j^2), with (x_j - mu_j) / sigma_j and log sigma_j on the way: (d, rows) each."""
    log_sigma = theta[:, 1] if theta.shape[1] == 2 else np.broadcast_to(log_sigma, theta[:, 0].shape)
    residuals = (x.T - theta[:, 0]) * np.exp(-log_sigma)
    return -(residuals**2) / 2 - log_sigma - math.log(2 * math.pi) / 2, residuals, log_sigma


def log_likelihood(x, W, b, log_sigma, mask):
    """Mean of log p_j over variables and rows."""
    return log_density(x, forward(x, W, b, mask)[-1], log_sigma)[0].mean()


def likelihood_gradient(x, W, b, log_sigma, mask):
    """The mean of log p_j over variables and rows, and its derivatives by back-propagation."""
    *units, theta = forward(x, W, b, mask)
    log_p, residuals, log_sigmas = log_density(x, theta, log_sigma)
    dmean, dlog_sigma = residuals * np.exp(-log_sigmas) / x.size, (residuals**2 - 1) / x.size
    if theta.shape[1] == 2:
        slope, dconstant = np.stack([dmean, dlog_sigma], axis=1), np.zeros_like(log_sigma)
    else:
        slope, dconstant = dmean[:, None], dlog_sigma.sum(axis=1, keepdims=True)
    dW, db = [], []
    for weights, below in zip(W[::-1], units[::-1], strict=True):
        dW.insert(0, slope @ below.transpose(0, 2, 1))
        db.insert(0, slope.sum(axis=2, keepdims=True))
        slope = weights.transpose(0, 2, 1) @ slope * np.where(below > 0, 1, LEAK)
    return log_p.mean(), dW, db, dconstant
