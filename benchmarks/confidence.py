"""What refits of the preset fast are good for, on the authors' released data sets 11 to 20 (`make confidence`).

1. SHD and SID of the consensus over restarts, beside the mean of the single fits.
2. Calibration: of the edges with a frequency in a range, how many are true? By bootstrap, and by restarts.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

from grandag import GraNDAG, confidence, datasets
from grandag.metrics import shd, sid

SETTINGS = {"10 nodes ER1": "er1-10", "10 nodes ER4": "er4-10", "10 nodes SF4": "sf4-10"}
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def compare(authors: Path, setting: str, n_refits: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Per data set SHD and SID, single and consensus; and (frequency, is true) of all edges, by kind of refit."""
    distances, edges = [], {"restarts": [], "bootstrap": []}
    for number in range(11, 21):
        dataset = datasets.load_authors(authors, setting, number)
        for kind, found in edges.items():
            model = GraNDAG.preset("fast", retrain=False)
            refits = confidence(model, dataset.data, n_refits, kind, random_state=number)
            present = refits.frequency > 0
            found.append(np.column_stack([refits.frequency[present], dataset.adjacency[present]]))
            if kind == "restarts":
                single = [(shd(dataset.adjacency, one), sid(dataset.adjacency, one)) for one in refits.adjacencies]
                together = refits.consensus()
                distances.append(
                    [*np.mean(single, axis=0), shd(dataset.adjacency, together), sid(dataset.adjacency, together)]
                )
    return np.array(distances), {kind: np.vstack(found) for kind, found in edges.items()}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--authors-data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "authors")
    parser.add_argument("--refits", type=int, default=10)
    arguments = parser.parse_args()
    if not arguments.authors_data.is_dir():
        parser.error(f"there is no folder {arguments.authors_data}: give the authors' data sets with --authors-data")
    pooled: dict[str, list[np.ndarray]] = {"restarts": [], "bootstrap": []}
    print(f"setting        SHD / SID of one fit   of the consensus of {arguments.refits} restarts", flush=True)
    for name, setting in SETTINGS.items():
        distances, edges = compare(arguments.authors_data, setting, arguments.refits)
        one_shd, one_sid, all_shd, all_sid = distances.mean(axis=0)
        error = (distances[:, 2] - distances[:, 0]).std(ddof=1) / np.sqrt(len(distances))
        print(
            f"{name}   {one_shd:5.2f} / {one_sid:5.2f}          {all_shd:5.2f} / {all_sid:5.2f}   "
            f"(standard error of the difference in SHD {error:.2f})",
            flush=True,
        )
        for kind, found in edges.items():
            pooled[kind].append(found)
    print("\nfrequency      true edges among those found by restarts / by bootstrap (how many)")
    for low, high in pairwise(EDGES):
        cells = []
        for kind in pooled:
            frequency, is_true = np.vstack(pooled[kind]).T
            inside = (frequency > low) & (frequency <= high)
            cells.append(f"{is_true[inside].mean():5.0%} ({inside.sum():4d})" if inside.any() else "    - (   0)")
        print(f"{low:.1f} to {high:.1f}     {'   '.join(cells)}")


if __name__ == "__main__":
    main()
