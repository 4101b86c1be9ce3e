"""CAM: causal additive models."""
