"""Whether this process has a terminal that can be drawn on; imports nothing of the screen."""

import os
import sys


def is_drawable() -> bool:
    """Return whether standard input and output are a terminal that takes more than lines."""
    return _is_terminal() and not _is_dumb()


def takes_lines_only() -> bool:
    """Return whether somebody sits at a terminal that takes lines and nothing else."""
    return _is_terminal() and _is_dumb()


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _is_dumb() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"
