"""Whether this process has a terminal that can be drawn on; imports nothing of the screen."""

import os
import sys


def is_drawable() -> bool:
    """Return whether standard input and output are a terminal that takes more than lines."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
