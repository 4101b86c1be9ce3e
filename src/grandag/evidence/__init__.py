"""The evidence of a graph: Gaussian-process regressions, selection and search with their marginal likelihood.

    kernel      the covariance function and the sums that its derivatives need
    lapack      factorisation and inverse in compiled code
    regression  log p(y | X) and its gradient, dense, of low rank, and by blocks of rows
    optimiser   its maximum over the hyper-parameters
    promise     which variables a fit still depends on
    interface   what selection and search ask of local scores
    scores      local scores by Gaussian processes: computed once, warm-started, shared by threads
    additive    local scores by additive regressions, for columns of several kinds
    grouped     local scores under interventions: each variable on rows, or groups of rows, of its own
    selection   the parents that a variable needs
    search      optimal reinsertion
    greedy      the best change of a single edge, for scores that take long
    stability   which edges halves of the rows keep
    refine      the whole: select, search, and what each edge is worth

This stage is ours, not the paper's.
"""

from grandag.evidence.additive import is_mixed
from grandag.evidence.config import EvidenceConfig
from grandag.evidence.refine import Refined, evaluate, refine, select
from grandag.evidence.search import Move
from grandag.evidence.stability import kept_by_halves

__all__ = ["EvidenceConfig", "Move", "Refined", "evaluate", "is_mixed", "kept_by_halves", "refine", "select"]
