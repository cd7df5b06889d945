"""What the bar of a replay says: where it is, what comes next, what was shortened; cells and words.

Pure. A cell of the bar is a share of played time, in which idle gaps are short.
"""

import math
from bisect import bisect_left
from typing import Final

from workbench.records import dataclass
from workbench.text.human import countdown, duration
from workbench.views.player import Player
from workbench.views.reel import Reel
from workbench.views.signs import SignName

_SECOND: Final = 1_000_000
_GAP_CELLS: Final = 1
"""Cells on each side of a gap's middle that are drawn as gap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """What the bar shows at a moment. Texts are one safe line each."""

    speed: str
    is_playing: bool
    is_live: bool
    """Whether it stands at the end of a session and goes on with it."""
    share: float
    """0 to 1: of played time."""
    elapsed: str
    length: str
    event: str
    next_sign: SignName | None
    next_words: str
    next_in: str
    saved: str


def transport(player: Player, next_words: str = "") -> Transport:
    """Return what the bar says; `next_words` is what `words` made of the next mark."""
    reel, mark = player.reel, player.reel.jump(player.index, None, 1)
    away = (reel.played(mark.index) - player.played) / _SECOND if mark else 0.0
    return Transport(
        speed="max" if math.isinf(player.speed) else f"{player.speed:g}",
        is_playing=player.is_playing,
        is_live=player.is_following and player.is_at_end,
        share=_share(player),
        elapsed=_length(player.elapsed),
        length=_length(reel.recorded),
        event=f"event {player.index:,} of {reel.count:,}" if len(reel) else "no events",
        next_sign=mark.sign if mark else None,
        next_words=next_words if mark else "",
        next_in=duration(round(max(0.0, away))) if away >= 0.5 else "now",
        saved=_saved(reel),
    )


def _share(player: Player) -> float:
    reel = player.reel
    if not reel.is_whole:
        return min(1.0, player.played / reel.recorded) if reel.recorded else 0.0
    return min(1.0, player.played / reel.length) if reel.length else float(player.is_at_end)


def _length(micros: int) -> str:
    return countdown(micros // _SECOND)


def _saved(reel: Reel) -> str:
    if not reel.is_whole:
        return "its marks are being read"
    if reel.is_steady:
        return "no times recorded: a second an event"
    said = [back] if (back := went_back(reel)) else []
    if reel.gaps:
        gaps = "1 idle gap" if len(reel.gaps) == 1 else f"{len(reel.gaps)} idle gaps"
        said.append(f"{gaps} shortened, {_length(reel.saved)} saved")
    return ", ".join(said)


def went_back(reel: Reel) -> str:
    """Return how many recorded times were before the one before them; empty where none was."""
    if not reel.went_back:
        return ""
    return "1 time went back" if reel.went_back == 1 else f"{reel.went_back:,} times went back"


# --- cells ----------------------------------------------------------------------------------------


def cell_of(played: float, reel: Reel, width: int) -> int:
    """Return the cell of a bar of `width` cells at which a played time is."""
    share = played / reel.length if reel.length else 0.0
    return min(width - 1, max(0, round(share * (width - 1))))


def mark_cells(reel: Reel, width: int) -> dict[int, SignName]:
    """Return which sign stands on which cell; of several on one cell the most important."""
    found: dict[int, SignName] = {}
    if not reel.is_whole:
        return found
    moments, before = range(1, len(reel) + 1), 0
    for cell in range(width):
        # Cells go up with the moments, so that each has a stretch of them.
        until = bisect_left(moments, cell + 1, lo=before, key=lambda at: _cell(reel, at, width))
        sign = reel.marks.best(before, until)
        if sign is not None:
            found[cell] = sign
        before = until
    return found


def _cell(reel: Reel, index: int, width: int) -> int:
    return cell_of(reel.played(index), reel, width)


def gap_cells(reel: Reel, width: int) -> frozenset[int]:
    """Return the cells at which time was shortened."""
    if not reel.is_whole:
        return frozenset()
    middles = {cell_of(reel.played(gap.index + 1), reel, width) for gap in reel.gaps}
    reach = _GAP_CELLS if len(middles) * 8 < width else 0
    return frozenset(
        cell for middle in middles for cell in range(middle - reach, middle + reach + 1) if 0 <= cell < width
    )
