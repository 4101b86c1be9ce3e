"""The distributions in the authors' released files and in what `grandag.simulate` draws, by the same measurements.

    python benchmarks/simulation_distributions.py [--authors-data DIR]

Each line gives a quantity measured on the files and on simulated data (as many sets, other seeds). docs/simulate.md
quotes the output. Takes about four minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from itertools import islice, product
from pathlib import Path

import numpy as np
from scipy import optimize, stats
from threadpoolctl import threadpool_limits

from grandag import datasets, simulate
from grandag.metrics import sid
from grandag.reproduction.published import paper_cells
from grandag.reproduction.specification import Setting
from grandag.simulate.files import simulate as simulate_files
from grandag.simulate.mechanisms import KINDS

Sets = list[tuple[np.ndarray, np.ndarray]]  # values and adjacency
BANDWIDTHS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0])


def span(values: Iterable[float], digits: int = 3) -> str:
    """Least, median and greatest value."""
    low, middle, high = np.quantile(list(values), [0, 0.5, 1])
    return f"{low:.{digits}f} / {middle:.{digits}f} / {high:.{digits}f}"


def families(sets: Sets, n_parents: int | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """The parents (n, p) and the child (n,) of every variable with parents, or with exactly so many."""
    found = []
    for values, adjacency in sets:
        for node in np.flatnonzero(adjacency.any(axis=0)):
            parents = values[:, adjacency[:, node]]
            if n_parents is None or parents.shape[1] == n_parents:
                found.append((parents, values[:, node]))
    return found


def roots(sets: Sets) -> list[np.ndarray]:
    """The columns without parents."""
    return [values[:, node] for values, adjacency in sets for node in np.flatnonzero(~adjacency.any(axis=0))]


def regression(parents: np.ndarray, child: np.ndarray, bandwidth: float) -> tuple[float, float, float]:
    """Greatest marginal log-likelihood of a Gaussian-process regression; its signal and noise variance."""
    distances = ((parents[:, None, :] - parents) ** 2).sum(axis=2)
    eigenvalues, vectors = np.linalg.eigh(np.exp(-distances / 2 / bandwidth**2))
    squares, eigenvalues = (vectors.T @ child) ** 2, np.maximum(eigenvalues, 0)

    def loss(logarithms: np.ndarray) -> float:
        variances = np.exp(logarithms[0]) * eigenvalues + np.exp(logarithms[1])
        return float((squares / variances + np.log(variances)).sum() / 2)

    best = optimize.minimize(loss, [0.0, -2.0], method="Nelder-Mead")
    return -best.fun, *np.exp(best.x)


def gaussian_process(sets: Sets) -> dict[str, str]:
    """Bandwidth (by the summed likelihood), signal and noise variance, from 500 rows of each family."""
    found = [(parents[:500], child[:500]) for parents, child in families(sets) if parents.shape[1] <= 2]
    fits = np.array([[regression(*family, bandwidth) for bandwidth in BANDWIDTHS] for family in found])
    best = int(fits[:, :, 0].sum(axis=0).argmax())
    at_one = fits[:, int(np.argmin(abs(BANDWIDTHS - 1)))]
    return {
        "families with 1 or 2 parents": str(len(found)),
        "bandwidth": f"{BANDWIDTHS[best]:.2f}",
        "signal variance, geometric mean": f"{np.exp(np.log(at_one[:, 1]).mean()):.2f}",
        "noise variance, least / median / greatest": span(at_one[:, 2]),
    }


def gauss_anm(sets: Sets) -> dict[str, str]:
    """Gauss-ANM: process and noise, variance and normality of the roots."""
    variances = [root.var() for root in roots(sets)]
    normality = [stats.normaltest(root).pvalue for root in roots(sets)]
    return {
        **gaussian_process(sets),
        "root variance": span(variances, 2),
        "roots rejected as Gaussian at 1 %": f"{np.mean(np.array(normality) < 0.01):.0%}",
    }


def penalised_fit(target: np.ndarray, basis: np.ndarray, noise: str, start: np.ndarray) -> optimize.OptimizeResult:
    """Least of -log p(target | weights, scale) + |weights|^2 / 2 over (log scale, weights)."""

    def loss(q: np.ndarray) -> tuple[float, np.ndarray]:
        scale, error = np.exp(q[0]), target - basis @ q[1:]
        if noise == "laplace":
            size = np.sqrt(error**2 + 1e-5)  # |error|, smooth at 0
            value, slope = (size / scale + np.log(2 * scale)).sum(), error / size / scale
        else:
            size = error**2 / scale
            value, slope = (size / scale + np.log(2 * np.pi * scale**2)).sum() / 2, error / scale**2
        gradient = np.r_[len(error) - (size / scale).sum(), q[1:] - basis.T @ slope]
        return value + (q[1:] ** 2).sum() / 2, gradient

    return optimize.minimize(loss, start, jac=True, method="L-BFGS-B")


def unlinked(child: np.ndarray, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    """The child before the link and before rescaling, and the logarithm of this map's slope."""
    if link == "identity":
        return child * np.exp(q[0]), np.full(len(child), q[0])
    low = 1 / (1 + np.exp(-q[0]))
    high = low + (1 - low) / (1 + np.exp(-q[1]))
    slope = (high - low) / np.ptp(child)
    inside = low + slope * (child - child.min())
    return np.log(inside / (1 - inside)), np.log(slope / inside / (1 - inside))


def post_nonlinear(parents: np.ndarray, child: np.ndarray, noise: str, link: str) -> tuple[float, float, np.ndarray]:
    """Penalised log-likelihood of child = (link(f(parent) + N) - m) / s; scale of N; the child before the link.

    f has a Gaussian-process prior of bandwidth 1 (25 leading eigenfunctions); m and s are chosen by likelihood.
    """
    eigenvalues, vectors = np.linalg.eigh(np.exp(-((parents - parents.T) ** 2) / 2))
    basis = vectors[:, -25:] * np.sqrt(np.maximum(eigenvalues[-25:], 0))
    state = np.r_[-1.0, np.zeros(25)]

    def loss(q: np.ndarray) -> float:
        target, log_slope = unlinked(child, q, link)
        fit = penalised_fit(target, basis, noise, state)
        state[:] = fit.x
        return fit.fun - log_slope.sum()

    start = [0.0] if link == "identity" else [-2.0, 2.0]
    best = optimize.minimize(loss, start, method="Nelder-Mead", options={"xatol": 0.01, "fatol": 0.05, "maxiter": 120})
    target = unlinked(child, best.x, link)[0]
    return -best.fun, float(np.exp(penalised_fit(target, basis, noise, state).x[0])), target


def pnl_gp(sets: Sets) -> dict[str, str]:
    """PNL-GP: moments, link and noise of single-parent families, bandwidth on the parents as given."""
    found = families(sets, 1)
    fits = [post_nonlinear(*family, "laplace", "sigmoid") for family in found]
    normal = [post_nonlinear(*family, "normal", "sigmoid")[0] for family in found]
    identity = [post_nonlinear(*family, "laplace", "identity")[0] for family in found]
    before = [
        (parents[:500], target[:500] - target.mean()) for (parents, _), (*_, target) in zip(found, fits, strict=True)
    ]
    likelihoods = [[regression(*family, bandwidth)[0] for bandwidth in BANDWIDTHS] for family in before]
    gain = [np.array([fit[0] for fit in fits]) - np.array(other) for other in (normal, identity)]
    return {
        **moments(sets),
        "families with 1 parent": str(len(found)),
        "Laplace likelier than Gaussian noise": f"{np.mean(gain[0] > 0):.0%}, by {np.median(gain[0]):.0f} (median)",
        "sigmoid likelier than no link": f"{np.mean(gain[1] > 0):.0%}, by {np.median(gain[1]):.0f} (median)",
        "Laplace scale, least / median / greatest": span(fit[1] for fit in fits),
        "bandwidth on rescaled parents": f"{BANDWIDTHS[int(np.sum(likelihoods, axis=0).argmax())]:.2f}",
    }


def moments(sets: Sets) -> dict[str, str]:
    """Means, minima and variances of the variables; uniformity of the roots."""
    values = np.hstack([values for values, _ in sets])
    shapes = [stats.kstest(root, stats.uniform(root.min(), np.ptp(root)).cdf).pvalue for root in roots(sets)]
    return {
        "means": span(values.mean(axis=0), 2),
        "minima": span(values.min(axis=0), 2),
        "variances": span(values.var(axis=0), 2),
        "roots rejected as uniform at 1 %": f"{np.mean(np.array(shapes) < 0.01):.0%}",
    }


def log_noise(parents: np.ndarray, child: np.ndarray) -> np.ndarray:
    """log((child + c) / sum of parents) with the shift c that makes its range least (c = 0 for a single parent)."""
    total = parents.sum(axis=1)
    is_used = (child > 1e-6) & (total > 1e-6)

    def width(shift: float) -> float:
        return float(np.ptp(np.log((child[is_used] + shift) / total[is_used])))

    shifts = np.r_[0, np.geomspace(1e-6, 1, 400)] if parents.shape[1] > 1 else np.zeros(1)
    best = shifts[int(np.argmin([width(shift) for shift in shifts]))]
    if best > 0:
        best = optimize.minimize_scalar(width, bounds=(0.95 * best, 1.05 * best), method="bounded").x
    return np.log((child[is_used] + best) / total[is_used])


def pnl_mult(sets: Sets) -> dict[str, str]:
    """PNL-MULT: moments, and distribution of the noise log(child / sum of parents)."""
    noises = [log_noise(*family) for family in families(sets)]
    widths = [np.ptp(noise) for noise in noises]
    shapes = [stats.kstest((noise - noise.min()) / np.ptp(noise), "uniform").pvalue for noise in noises]
    return {
        **moments(sets),
        "families": str(len(noises)),
        "noise rejected as uniform at 1 %": f"{np.mean(np.array(shapes) < 0.01):.0%}",
        "width of the noise, least / median / greatest": span(widths),
        "p-value of widths ~ U[0, 0.5]": f"{stats.kstest(widths, stats.uniform(0, 0.5).cdf).pvalue:.2f}",
    }


def graph(sets: Sets) -> dict[str, str]:
    """Edges, and in- and out-degrees."""
    graphs = [adjacency for _, adjacency in sets]
    return {
        "edges, mean (range)": mean_range(adjacency.sum() for adjacency in graphs),
        "greatest in-degree, mean (range)": mean_range(adjacency.sum(axis=0).max() for adjacency in graphs),
        "greatest out-degree, mean (range)": mean_range(adjacency.sum(axis=1).max() for adjacency in graphs),
        "roots, mean (range)": mean_range((~adjacency.any(axis=0)).sum() for adjacency in graphs),
    }


def attached(n_nodes: int, n_attachments: int, first: float, later: float, rng: np.random.Generator) -> np.ndarray:
    """A scale-free graph, draw by draw: weights are what a node has received, and a constant."""
    adjacency, weight = np.zeros((n_nodes, n_nodes), dtype=bool), np.full(n_nodes, later)
    weight[0] = first
    for new in range(1, n_nodes):
        share = weight[:new] / weight[:new].sum() if new > 1 else None
        old = rng.choice(new, size=n_attachments, p=share)
        adjacency[new, old] = True
        np.add.at(weight, old, 1)
    return adjacency


CONSTANTS = [(first, later) for later in (1.0, 1.5, 2.0, 3.0) for first in (later, 0.0)]
"""What is added to the weight of the first node, and of all others."""


def empty_sid(adjacency: np.ndarray) -> float:
    """SID of the empty graph, which counts pairs of ancestor and descendant."""
    return float(sid(adjacency, np.zeros_like(adjacency)))


def attraction(files: dict[int, Sets], n_graphs: int = 2000) -> None:
    """Print how many standard errors the scale-free files are away from graphs with other weights."""

    def facts(adjacency: np.ndarray) -> tuple[float, ...]:
        in_degrees = adjacency.sum(axis=0)
        return adjacency.sum(), in_degrees.max(), (in_degrees == 0).sum(), empty_sid(adjacency)

    names = [f"SF{m}: {name}" for m in files for name in ("edges", "in-degree", "roots", "SID")[m == 1 :]]
    print("\nScale-free graphs: distance of the ten files from other distributions, in standard errors\n")
    print(f"| first node | others | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for first, later in CONSTANTS:
        cells = []
        for n_attachments, sets in files.items():
            rng = np.random.default_rng(0)
            theirs = np.array([facts(adjacency) for _, adjacency in sets])
            ours = np.array([facts(attached(10, n_attachments, first, later, rng)) for _ in range(n_graphs)])
            kept = slice(1 if n_attachments == 1 else 0, None)  # SF1 always has 9 edges
            distance = (theirs.mean(axis=0) - ours.mean(axis=0))[kept]
            cells += [f"{z:+.1f}" for z in distance / (ours.std(axis=0)[kept] / np.sqrt(len(sets)))]
        print(f"| {first:g} | {later:g} | " + " | ".join(cells) + " |")


def depth(n_graphs: int = 100) -> None:
    """Print edges and SID of the empty graph, which counts descendants, beside the paper's figures of DAG-GNN.

    On these data DAG-GNN finds so little that its SHD and SID tell how many edges and descendants the graphs had.
    """
    cells = paper_cells()
    tables = {10: "1", 20: "8", 50: "2", 100: "9"}
    print("\nSize and depth of larger graphs: edges / SID of the empty graph, means\n")
    others = [constants for constants in CONSTANTS[:6] if constants != (0.0, 1.5)]
    columns = ["ours", *(f"{first:g}, {later:g}" for first, later in others)]
    print(f"| nodes | graph | DAG-GNN in the paper | first ten seeds | {' | '.join(columns)} |")
    print("|---|---|---|---|" + "---|" * len(columns))

    def means(graphs: Iterable[np.ndarray]) -> str:
        facts = [(adjacency.sum(), empty_sid(adjacency)) for adjacency in graphs]
        return " / ".join(f"{mean:,.0f}" for mean in np.mean(facts, axis=0))

    for n_nodes, name in product(tables, ("ER1", "SF1", "SF4")):
        theirs = (cells[tables[n_nodes], "DAG-GNN", name, measure].figures[0].mean for measure in ("SHD", "SID"))
        setting = Setting(name, "lin", n_nodes, name, n_rows=10)
        drawn = (simulate_files(**setting.simulation(seed)).adjacency for seed in range(1, n_graphs + 11))
        ours = [means(islice(drawn, 10)), means(drawn)]
        for constants in others:
            rng = np.random.default_rng(0)
            graphs = (attached(n_nodes, int(name[2]), *constants, rng) for _ in range(n_graphs))
            ours.append("" if name == "ER1" else means(graphs))
        print(f"| {n_nodes} | {name} | {' / '.join(f'{mean:,.0f}' for mean in theirs)} | {' | '.join(ours)} |")


def mean_range(values: Iterable[float]) -> str:
    """Mean, least and greatest value."""
    numbers = list(values)
    return f"{np.mean(numbers):.1f} ({min(numbers)}-{max(numbers)})"


def root_correlations(values: np.ndarray, adjacency: np.ndarray) -> np.ndarray:
    """Absolute correlations of all pairs of roots."""
    chosen = values[:, ~adjacency.any(axis=0)]
    matrix = np.atleast_2d(np.corrcoef(chosen, rowvar=False))
    return np.abs(matrix[np.triu_indices(len(matrix), 1)])


def hill(regulator: np.ndarray, gene: np.ndarray) -> tuple[float, float, float]:
    """Exponent and half-saturation of the better of an activating and a repressing Hill curve; explained variance."""
    x, y = regulator / regulator.max(), gene / gene.max()

    def residuals(q: np.ndarray, sign: int) -> np.ndarray:
        return np.exp(q[2]) / (1 + (np.exp(q[0]) / x) ** (sign * np.exp(q[1]))) - y

    fits = [
        optimize.least_squares(residuals, [-0.6, 0.5, 0.2], args=(sign,), loss="soft_l1", f_scale=0.1, method="trf")
        for sign in (1, -1)
    ]
    best = min(range(2), key=lambda which: fits[which].cost)
    error = residuals(fits[best].x, (1, -1)[best])
    return float(np.exp(fits[best].x[1])), float(np.exp(fits[best].x[0])), 1 - error.var() / y.var()


def hill_fits(sets: Sets) -> np.ndarray:
    """Hill curves of all genes whose only regulator is a root, so that its level spans its range."""
    fits = []
    for values, adjacency in sets:
        for gene in np.flatnonzero(adjacency.sum(axis=0) == 1):
            regulator = int(np.flatnonzero(adjacency[:, gene])[0])
            if not adjacency[:, regulator].any():
                fits.append(hill(np.maximum(values[:, regulator], 1e-12), values[:, gene]))
    return np.array(fits)


def syntren(sets: Sets) -> dict[str, str]:
    """SynTReN: topology, ranges and shapes of the variables, dependence among roots."""
    columns = [column for values, _ in sets for column in values.T]
    correlations = np.concatenate([root_correlations(*one) for one in sets])

    def quartiles(numbers: Iterable[float], form: str) -> str:
        return " / ".join(format(value, form) for value in np.quantile(list(numbers), [0.1, 0.25, 0.5, 0.75, 0.9]))

    exponents, half_saturations, explained = hill_fits(sets).T
    return {
        **graph(sets),
        "leaves, mean (range)": mean_range((~adjacency.any(axis=1)).sum() for _, adjacency in sets),
        "greatest value, quantiles 10/25/50/75/90 %": quartiles((column.max() for column in columns), ",.0f"),
        "skewness, same quantiles": quartiles(map(stats.skew, columns), ".2f"),
        "standard deviation / mean, same quantiles": quartiles((c.std() / c.mean() for c in columns), ".2f"),
        "Hill exponent of genes with one root as regulator, same quantiles": quartiles(exponents, ".2f"),
        "half-saturation of these, same quantiles": quartiles(half_saturations, ".2f"),
        "variance of these that the curve explains, same quantiles": quartiles(explained, ".2f"),
        "pairs of roots with absolute correlation above 0.9": f"{np.mean(correlations > 0.9):.0%}",
        "median absolute correlation of these": f"{np.median(correlations[correlations > 0.9]):.3f}",
        "varsortability, mean": f"{np.mean([simulate.varsortability(*one) for one in sets]):.2f}",
        "R2-sortability, mean": f"{np.mean([simulate.r2_sortability(*one) for one in sets]):.2f}",
    }


def simulated(kind: str, graph_kind: str, edges: int, n_sets: int) -> Sets:
    """Sets of the same size as the files', 10 nodes."""
    sets = []
    for number in range(n_sets):
        seed = 1000 * edges + number
        adjacency = simulate.draw_graph(graph_kind, 10, edges, seed)
        sets.append((simulate.draw_scenario(kind, adjacency, 1000, seed).data.to_numpy(), adjacency))
    return sets


def simulated_syntren(n_sets: int) -> Sets:
    """Default sets of the generator."""
    scenarios = [simulate.draw_syntren(random_state=seed) for seed in range(n_sets)]
    return [(scenario.data.to_numpy(), scenario.adjacency) for scenario in scenarios]


def sortability(n_sets: int = 20) -> None:
    """Print how much variances and R2 give away of the order, for every kind of mechanism."""
    print("\nSortability of 10 nodes, varsortability / R2-sortability, means\n\n| kind | ER1 | ER4 |\n|---|---|---|")
    for kind in KINDS:
        cells = []
        for edges in (10, 40):
            sets = simulated(kind, "er", edges, n_sets)
            both = [(simulate.varsortability(*one), simulate.r2_sortability(*one)) for one in sets]
            cells.append(" / ".join(f"{mean:.2f}" for mean in np.mean(both, axis=0)))
        print(f"| {kind} | {' | '.join(cells)} |")


def show(title: str, measure: Callable[[Sets], dict[str, str]], files: Sets, ours: Sets) -> None:
    """Print one table."""
    print(f"\n{title}\n\n| | files | simulated |\n|---|---|---|")
    theirs, others = measure(files), measure(ours)
    for name, value in theirs.items():
        print(f"| {name} | {value} | {others[name]} |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors-data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "authors")
    folder = parser.parse_args().authors_data
    if not folder.is_dir():
        parser.error(f"there is no folder {folder}: give the authors' data sets with --authors-data")

    def released(name: str, numbers: Iterable[int] = range(11, 21)) -> Sets:
        sets = [datasets.load_authors(folder, name, number) for number in numbers]
        return [(dataset.data.to_numpy(), dataset.adjacency) for dataset in sets]

    with threadpool_limits(1):
        for name, kind, edges in (
            ("er1-10", "er", 10),
            ("er4-10", "er", 40),
            ("sf1-10", "sf", 10),
            ("sf4-10", "sf", 40),
        ):
            show(f"Graphs, {name}", graph, released(name), simulated("lin", kind, edges, 1000))
        attraction({1: released("sf1-10"), 4: released("sf4-10")})
        depth()
        show("Gauss-ANM, er1-10", gauss_anm, released("er1-10"), simulated("gauss-anm", "er", 10, 10))
        show("PNL-GP, er1-10", pnl_gp, released("pnl-gp-er1-10"), simulated("pnl-gp", "er", 10, 10))
        both = released("pnl-mult-er1-10") + released("pnl-mult-er4-10")
        ours = simulated("pnl-mult", "er", 10, 10) + simulated("pnl-mult", "er", 40, 10)
        show("PNL-MULT, er1-10 and er4-10", pnl_mult, both, ours)
        sortability()
        show(
            "SynTReN, 5 files and 100 simulated sets", syntren, released("syntren", range(1, 6)), simulated_syntren(100)
        )


if __name__ == "__main__":
    main()
