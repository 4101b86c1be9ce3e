"""A fit with more nodes than a drawing can show, one of which has a name that would like to be HTML."""

import numpy as np
import pandas as pd

from grandag import RandomGraph

HOSTILE = "</script><b>&\"'"


def large_fit(d=150, n_edges=170):
    """A fitted model and its table."""
    names = [HOSTILE, *(f"G{node}" for node in range(1, d))]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(d + 50, d)), columns=names)
    return RandomGraph(n_edges=n_edges, random_state=2).fit(frame), frame
