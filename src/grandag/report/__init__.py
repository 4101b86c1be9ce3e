"""Facts as pages: one HTML file each, which needs no network, no other file and no server."""

from __future__ import annotations

from grandag.report.environment import environment
from grandag.report.fit_page import fit_page

__all__ = ["environment", "fit_page"]
