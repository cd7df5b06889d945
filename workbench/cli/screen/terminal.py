"""Whether this process has a terminal that can be drawn on, and in how many colours.

Asked before anything of the screen is loaded; only counting colours loads a part of what draws.
"""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from workbench.draw.depth import Depth

_DEPTHS: Final[Mapping[str, "Depth"]] = {"standard": "16", "windows": "16", "256": "256", "truecolor": "full"}
"""What Rich calls them."""


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


def colours() -> "Depth":
    """Return how many colours the terminal shows, as what draws on it finds out."""
    from rich.console import Console
    from textual.constants import COLOR_SYSTEM

    system = Console(color_system=cast("Any", COLOR_SYSTEM), force_terminal=True).color_system
    return _DEPTHS.get(system or "", "full")
