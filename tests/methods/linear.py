"""Linear data for the tests of the baselines."""

import numpy as np


def linear_data(rng, d=8, n_edges=8, n=2000):
    """Rows and adjacency: weights of 0.5 to 2 with both signs, noise N(0, 1) for all, columns in random order.

    With equal variances the graph is identifiable (Peters and Buehlmann 2014).
    """
    adjacency = np.triu(rng.random((d, d)) < 2 * n_edges / (d**2 - d), 1)
    weights = adjacency * rng.uniform(0.5, 2, (d, d)) * rng.choice([-1, 1], (d, d))
    values = rng.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)
    order = rng.permutation(d)
    return values[:, order], adjacency[np.ix_(order, order)], weights[np.ix_(order, order)]
