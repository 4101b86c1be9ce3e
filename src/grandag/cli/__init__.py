"""The command line: one module per command."""

import sys

from grandag.cli import interruption
from grandag.cli.exits import INTERRUPTED

__all__ = ["main"]


def main() -> None:
    """Entry point. Ctrl-C while the commands are being imported ends it as it ends a command."""
    interruption.begin()
    try:
        from grandag.cli.app import run

        run()
    except KeyboardInterrupt:
        print(interruption.sentence(), file=sys.stderr)
        sys.exit(INTERRUPTED)
