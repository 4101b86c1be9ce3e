"""The evidence of a graph: Gaussian-process regressions, selection and search with their marginal likelihood.

    kernel      the covariance function and the sums that its derivatives need
    lapack      factorisation and inverse in compiled code
    regression  log p(y | X) and its gradient, dense, of low rank, and by blocks of rows
    optimiser   its maximum over the hyper-parameters
    promise     which variables a fit still depends on
    scores      local scores: computed once, warm-started, shared by threads
    selection   the parents that a variable needs
    search      optimal reinsertion
    stability   which edges halves of the rows keep
    refine      the whole: select, search, and what each edge is worth

This stage is ours, not the paper's.
"""

from grandag.evidence.config import EvidenceConfig
from grandag.evidence.refine import Refined, evaluate, refine, select
from grandag.evidence.search import Move
from grandag.evidence.stability import kept_by_halves

__all__ = ["EvidenceConfig", "Move", "Refined", "evaluate", "kept_by_halves", "refine", "select"]
