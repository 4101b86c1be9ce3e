"""PC and GES beside other packages, and all three equivalence methods beside the paper (`make bench`).

Time is CPU seconds in one thread; "apart" counts the pairs of variables whose edge differs between a package's answer
and ours. Other packages come with `pip install grandag[compare]`, xges with `pip install --no-deps xges
sortedcontainers`; those that are missing are left out, and one that needs more than LIMIT seconds is not asked for
larger problems of the same kind.
"""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from common import cpu_seconds, gauss_anm
from grandag import GES, GSF, PC, datasets
from grandag.graph import from_causal_learn
from grandag.metrics import shd, sid_bounds

AUTHORS = Path(__file__).parents[2] / "shared" / "data" / "authors"
LIMIT = 60.0
SIZES = [(10, 1), (10, 4), (20, 1), (20, 4), (50, 1), (50, 4), (100, 1), (100, 4)]
PAPER = {
    "data_p10_e10_n1000_GP": ("8.4±3.0 [22.6, 27.3]", "13.8±4.8 [24.1, 27.2]", "6.5±2.6 [6.2, 17.7]"),
    "data_p10_e40_n1000_GP": ("34.0±2.6 [78.1, 79.2]", "32.3±4.3 [68.5, 75.0]", "21.7±8.4 [37.2, 62.7]"),
    "data_sf_p10_e10_n1000_GP": ("4.8±2.4 [8.3, 16.8]", "8.1±2.4 [11.6, 16.4]", "1.8±1.7 [2.0, 6.9]"),
    "data_sf_p10_e40_n1000_GP": ("16.4±2.8 [36.5, 41.7]", "17.4±4.5 [39.3, 43.9]", "8.5±4.2 [13.2, 20.6]"),
    "data_p20_e20_n1000_GP": ("corrupt [80.9, 94.9]", "43.3±12.4 [62.1, 65.7]", "12.3±4.6 [15.0, 45.6]"),
}
"""SHD and SID of PC, GES and GSF in the paper."""

Learner = Callable[[np.ndarray], np.ndarray]


def others() -> Iterator[tuple[str, str, Learner]]:
    """(method, package, learner) of what is installed."""
    with contextlib.suppress(ImportError):
        from causallearn.search.ConstraintBased.PC import pc
        from causallearn.search.ScoreBased.GES import ges as causal_learn_ges

        yield "PC", "causal-learn", lambda X: from_causal_learn(pc(X, 0.01, "fisherz", show_progress=False).G.graph)[0]
        yield "GES", "causal-learn", lambda X: from_causal_learn(causal_learn_ges(X, "local_score_BIC")["G"].graph)[0]
    with contextlib.suppress(ImportError):
        from castle.algorithms import GES as CastleGES  # noqa: N811 (its class)
        from castle.algorithms import PC as CastlePC  # noqa: N811

        yield "PC", "gcastle", lambda X: _castle(CastlePC(alpha=0.01), X)
        yield "GES", "gcastle", lambda X: _castle(CastleGES(criterion="bic", method="scatter"), X)
    with contextlib.suppress(ImportError):
        import ges

        yield "GES", "ges", lambda X: ges.fit_bic(X, phases=["forward", "backward", "turning"], iterate=True)[0] != 0
    with contextlib.suppress(ImportError):
        from xges import XGES

        yield "GES", "xges", lambda X: _xges(XGES(), X)
    with contextlib.suppress(ImportError):
        from pgmpy.estimators import PC as PgmpyPC  # noqa: N811

        yield "PC", "pgmpy", lambda X: _pgmpy(PgmpyPC, X)


def _castle(learner: object, X: np.ndarray) -> np.ndarray:
    learner.learn(X)  # type: ignore[attr-defined]
    return np.asarray(learner.causal_matrix) != 0  # type: ignore[attr-defined]


def _xges(learner: object, X: np.ndarray) -> np.ndarray:
    learner.fit(X)  # type: ignore[attr-defined]
    pdag = learner.get_pdag()  # type: ignore[attr-defined]
    return np.asarray(pdag.to_adjacency_matrix()) != 0


def _pgmpy(learner: type, X: np.ndarray) -> np.ndarray:
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"X{k}" for k in range(X.shape[1])])
    found = learner(frame).estimate(
        ci_test="pearsonr", significance_level=0.01, return_type="pdag", show_progress=False
    )
    adjacency = np.zeros((X.shape[1],) * 2, dtype=bool)
    for source, target in found.edges():
        adjacency[int(source[1:]), int(target[1:])] = True
    return adjacency


def n_apart(one: np.ndarray, other: np.ndarray) -> int:
    """Pairs whose edge is not the same."""
    differ = one != other
    return int((np.triu(differ) | np.triu(differ.T)).sum())


def print_speed() -> None:
    """Seconds and agreement, Gauss-ANM data with 1,000 rows."""
    packages = list(others())
    too_slow: set[tuple[str, str]] = set()
    print(f"{'nodes':>5} {'graph':5} {'method':6} {'package':13} {'CPU s':>8} {'SHD':>5} {'apart':>6}", flush=True)
    for d, density in SIZES:
        values, truth = gauss_anm(d, density * d, 1000, seed=1)
        for method, learner in {"PC": PC(), "GES": GES()}.items():
            seconds, _ = cpu_seconds(partial(learner.fit, values))
            ours, problem = learner.adjacency_, f"{d:5} ER{density:<3} {method:6}"
            print(f"{problem} {'grandag':13} {seconds:8.2f} {n_apart(truth, ours):5} {0:6}", flush=True)
            for _, package, learn in (entry for entry in packages if entry[0] == method):
                if (method, package) in too_slow:
                    continue
                try:
                    seconds, found = cpu_seconds(partial(_quietly, learn, values))
                except Exception as error:  # a package that breaks down is a result, too
                    print(f"{problem} {package:13} {type(error).__name__}: {error}", flush=True)
                    continue
                if seconds > LIMIT:
                    too_slow.add((method, package))
                figures = f"{seconds:8.2f} {n_apart(truth, found):5} {n_apart(ours, found):6}"
                print(f"{problem} {package:13} {figures}", flush=True)


def _quietly(learn: Learner, values: np.ndarray) -> np.ndarray:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return learn(values)


def print_gsf_speed() -> None:
    """CPU seconds of GSF, Gauss-ANM ER1 data with 1,000 rows."""
    for d, target in ((20, 60), (50, 900)):
        values, truth = gauss_anm(d, d, 1000, seed=1)
        seconds, model = cpu_seconds(partial(GSF().fit, values))
        print(f"GSF, {d} nodes ER1: {seconds:.1f} CPU s (target {target}), SHD {n_apart(truth, model.adjacency_)}")


def learners() -> dict[str, Any]:
    """What is compared with the paper."""
    return {"PC": PC(), "GES": GES.preset("paper"), "GES, intercept": GES(), "GSF": GSF()}


def print_accuracy() -> None:
    """SHD and the bounds of SID on the authors' files, beside the paper's figures."""
    print(f"\n{'data':26} {'method':15} {'SHD [SID]':>28} {'paper':>24}")
    for folder, figures in PAPER.items():
        paper = dict(zip(("PC", "GES", "GSF"), figures, strict=True))
        sets = [datasets.load_authors(AUTHORS, folder, k) for k in range(11, 21)]
        for method, learner in learners().items():
            rows = []
            for data in sets:
                learner.fit(data.data)
                rows.append((shd(data.adjacency, learner.adjacency_), *sid_bounds(data.adjacency, learner.adjacency_)))
            (mean, lower, upper), (deviation, *_) = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1)
            figure = f"{mean:.1f}±{deviation:.1f} [{lower:.1f}, {upper:.1f}]"
            print(f"{folder:26} {method:15} {figure:>28} {paper.get(method, ''):>24}", flush=True)


def print_sachs() -> None:
    """The paper's real data: SHD 17 (PC), 26 (GES) and 18 (GSF)."""
    sachs = datasets.load_sachs()
    for method, learner in learners().items():
        learner.fit(sachs.data)
        print(f"Sachs {method:15} SHD {shd(sachs.adjacency, learner.adjacency_)}, {len(learner.edges_)} edges")


def main() -> None:
    """Everything."""
    warnings.simplefilter("ignore")
    logging.disable(logging.INFO)
    small = gauss_anm(5, 5, 100, seed=0)[0]
    PC().fit(small), GES().fit(small)  # compiles
    with threadpool_limits(1):
        print_speed()
        print_gsf_speed()
        if AUTHORS.exists():
            print_accuracy()
        print_sachs()


if __name__ == "__main__":
    main()
