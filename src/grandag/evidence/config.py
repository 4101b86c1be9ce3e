"""The settings of the evidence stage."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EvidenceConfig"]


@dataclass(frozen=True)
class EvidenceConfig:
    """Every default is measured: `benchmarks/evidence_accuracy.py`."""

    cost_per_edge: float | None = None
    """Nats that an edge has to be worth; by default 1 + 1.3 log d: 4 for 10 variables, 7 for 100."""
    least_length_scale: float = 0.3
    """In standard deviations. Shorter ones fit anything: a degenerate optimum without noise."""
    least_noise: float = 0.003
    """Noise variance relative to the variable's; covariances in float32 are exact enough from here on."""
    max_rows: int = 20_000
    """Of a longer table so many rows, evenly spread, are looked at: the same for all graphs, which can be compared."""
    max_mixed_rows: int = 5_000
    """The same for tables with labels or counts, whose fits take longer."""
    n_few_rows: int = 300
    """Rows that decide what is clear."""
    max_rows_at_once: int = 1500
    """More rows are cut into blocks, whose evidence is added."""
    block_rows: int = 1000
    """The largest size of a block."""
    n_training_blocks: int = 2
    """Blocks that hyper-parameters are fitted on; the evidence is always that of all blocks."""
    tolerance: float = 0.05
    """Nats that another step of the fit has to promise."""
    heavy_tails: float = 10.0
    """Kurtosis from which a column is replaced by its normal scores; a normal column has 3."""
