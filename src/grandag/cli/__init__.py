"""The command line: one module per command."""

from grandag.cli.app import app, main

__all__ = ["app", "main"]
