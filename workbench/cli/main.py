"""Entry point of the command: answers `--version` at once and hands everything else to `dispatch`."""

import gc
import sys
from collections.abc import Sequence

from workbench import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"workbench {__version__}\n")
        return 0
    # Importing makes much and throws nothing away: looking for garbage meanwhile is a seventh of a start.
    gc.disable()
    try:
        from workbench.cli.dispatch import dispatch

        return dispatch(words)
    finally:
        gc.enable()
