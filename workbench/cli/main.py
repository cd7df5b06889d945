"""Entry point of the command: answers `--version` at once and hands everything else to `dispatch`."""

import gc
import os
import sys
from collections.abc import Sequence

from workbench import __version__


def drop_framework_variables() -> None:
    """Remove the variables of the screen framework: they name modules, files and ports for it to use."""
    for name in [name for name in os.environ if name == "TEXTUAL" or name.startswith("TEXTUAL_")]:
        del os.environ[name]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"workbench {__version__}\n")
        return 0
    drop_framework_variables()
    # Importing makes much and throws nothing away: looking for garbage meanwhile is a seventh of a start.
    gc.disable()
    try:
        from workbench.cli.dispatch import dispatch

        return dispatch(words)
    finally:
        gc.enable()
