"""Additive spline regression with significance tests: basis, smoothing selection, p-values, curves."""

from __future__ import annotations

from grandag.gam.basis import Curve
from grandag.gam.likelihood import LikelihoodFit, LikelihoodTable
from grandag.gam.regression import AdditiveFit, SplineTable

__all__ = ["AdditiveFit", "Curve", "LikelihoodFit", "LikelihoodTable", "SplineTable"]
