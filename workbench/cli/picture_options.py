"""Options of a picture or a film of the screen."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Final

from workbench.backend.session_export import NARROWEST, THEMES, WIDEST
from workbench.views.timeline import MAX_FRAMES

_FRAME_LIMITS: Final = range(2, 20_001)
_SECONDS: Final = (1, 600)


def add_picture_options(parser: ArgumentParser) -> None:
    """Add what belongs to pictures of the screen."""
    group = parser.add_argument_group("html, cast and svg", "the screen as it was")
    moment_help = (
        "the moment: 0:30 from the start, 12:01:31, 35%% or #412\n"
        "svg shows that moment (the last if not given), html and cast start there."
    )
    group.add_argument("--at", metavar="T", help=moment_help)
    group.add_argument(
        "--animate",
        action="store_true",
        help="svg: a picture that plays\nViewers that play nothing show --at.",
    )
    group.add_argument(
        "--seconds",
        type=_parse_seconds,
        default=12.0,
        metavar="N",
        help=f"\nseconds it plays at most, {_SECONDS[0]} to {_SECONDS[1]} (12); longer sessions play faster",
    )
    group.add_argument("--size", type=_parse_size, default=(120, 36), metavar="CxR", help="cells (120x36)")
    group.add_argument(
        "--theme", choices=THEMES, default=THEMES[0], metavar="NAME", help=f"colours: {' or '.join(THEMES)}"
    )
    group.add_argument(
        "--idle",
        choices=("short", "keep"),
        default="short",
        metavar="HOW",
        help="\nshort (default): half a minute and more without an event takes two seconds; keep: as it was",
    )
    frames = (
        f"\nat most N frames, {_FRAME_LIMITS[0]} to {_FRAME_LIMITS[-1]} ({MAX_FRAMES}); moments are thinned"
    )
    group.add_argument("--frames", type=_parse_frame_count, default=MAX_FRAMES, metavar="N", help=frames)


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (NARROWEST[0] <= size[0] <= WIDEST[0] and NARROWEST[1] <= size[1] <= WIDEST[1]):
        least, most = (f"{columns}x{rows}" for columns, rows in (NARROWEST, WIDEST))
        raise ArgumentTypeError(f"“{text}” is not a size from {least} to {most}, as 120x36")
    return size


def _parse_frame_count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) not in _FRAME_LIMITS:
        raise ArgumentTypeError(f"“{text}” is not a number from {_FRAME_LIMITS[0]} to {_FRAME_LIMITS[-1]}")
    return int(text)


def _parse_seconds(text: str) -> float:
    match = re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?", text)
    if not match or not _SECONDS[0] <= float(text) <= _SECONDS[1]:
        raise ArgumentTypeError(f"“{text}” is not a number of seconds from {_SECONDS[0]} to {_SECONDS[1]}")
    return float(text)
