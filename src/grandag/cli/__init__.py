"""The command line: one module per command."""

from grandag.cli.app import app_for, main

__all__ = ["app_for", "main"]
