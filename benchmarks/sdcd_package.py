"""The package sdcd fitted to a table; run by `benchmarks/sdcd.py --package`, in the environment of `make bench-sdcd`.

    python benchmarks/sdcd_package.py TABLE.npy GRAPH.npy

Fits as the authors' observational benchmark does: all hyper-parameters are the package's own, on the CPU. It has one
thread: on a busy machine two spend their time waiting for each other. Writes the graph (0/1, row -> column), and prints
seconds and memory as JSON; what the package prints goes to stderr. Needs nothing of grandag.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

os.environ["WANDB_MODE"] = "disabled"

import numpy as np
import pandas as pd
import torch
from sdcd.models import SDCD
from sdcd.utils import create_intervention_dataset


def main() -> None:
    """Fit, write, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("graph", type=Path)
    arguments = parser.parse_args()
    rows = pd.DataFrame(np.load(arguments.table))
    rows.columns = rows.columns.map(str)
    rows["perturbation_label"] = "obs"
    data = create_intervention_dataset(rows)
    torch.set_num_threads(1)
    model = SDCD()
    cpu, wall = time.process_time(), time.monotonic()
    with redirect_stdout(sys.stderr):
        model.train(data, device=torch.device("cpu"))
    figures = {
        "seconds": time.process_time() - cpu,
        "wall": time.monotonic() - wall,
        "memory": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9,
    }
    np.save(arguments.graph, model.get_adjacency_matrix())
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
