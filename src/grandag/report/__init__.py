"""Facts as pages: one HTML file each, which needs no network, no other file and no server."""

from __future__ import annotations

from grandag.report.compare_page import compare_page
from grandag.report.environment import environment
from grandag.report.fit_page import fit_page
from grandag.report.table_facts import table_facts

__all__ = ["compare_page", "environment", "fit_page", "table_facts"]
