"""Small experiments and jobs that several tests use."""

from grandag.reproduction.jobs import Job
from grandag.reproduction.specification import EXPERIMENTS, Experiment, narrowed

DATA = {"simulation": {"mechanism": "lin", "n_nodes": 5, "n_rows": 200, "seed": 1, "graph": "er", "n_edges": 5}}

RANDOM = Job("fit", "random", {"n_edges": "uniform"}, DATA)
ENDLESS = Job("fit", "dag-gnn", {"n_epochs": 10**9}, DATA)
WRONG = Job("fit", "random", {"n_edges": 1000}, DATA)


def small(name: str = "table1", methods: tuple[str, ...] = ("random", "notears"), graphs: tuple[str, ...] = ("ER1",)):
    """A table of the paper with few rows and columns."""
    chosen: Experiment = narrowed(EXPERIMENTS[name], methods=methods, graphs=graphs)
    return chosen


def without_time(result):
    """A result, but for the time that it took."""
    return {name: value for name, value in result.as_dict().items() if name != "seconds"}
