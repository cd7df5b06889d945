"""Whether this process has a terminal that can be drawn on, in which signs and in how many colours.

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


_COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
"""What Python sets `LC_CTYPE` to where the locale is C (PEP 538)."""


def is_drawable() -> bool:
    """Return whether standard input and output are a terminal that takes more than lines."""
    return not why_not_drawable()


def why_not_drawable() -> str:
    """Return what keeps the screen from being drawn here; empty where nothing does."""
    if not sys.stdin.isatty():
        return "standard input is no terminal, and keys come from there"
    if not sys.stdout.isatty():
        return "standard output is no terminal that can be drawn on"
    return "this terminal takes lines only (TERM is dumb)" if _is_dumb() else ""


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


def encoding(env: Mapping[str, str] = os.environ, *, is_utf8_mode: bool = bool(sys.flags.utf8_mode)) -> str:
    """Return which characters the terminal has, by the locale that its user named.

    Python takes UTF-8 where the locale is C, named or not. Where somebody named it, their terminal may not.

    Args:
        env: The environment; LC_ALL goes before LC_CTYPE, which goes before LANG.
        is_utf8_mode: Whether Python takes UTF-8 whatever the locale says.
    """
    ctype = env.get("LC_CTYPE", "")
    is_coerced = is_utf8_mode and ctype in _COERCED
    name = env.get("LC_ALL") or ("" if is_coerced else ctype) or env.get("LANG") or ""
    if name in ("C", "POSIX"):
        return "ascii"
    named = name.partition(".")[2].partition("@")[0]
    return named or getattr(sys.__stdout__, "encoding", None) or "ascii"
