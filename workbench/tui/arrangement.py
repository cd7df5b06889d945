"""Which panes are on the screen and how big, from its size and where the user is; UX section 2.

Pure: numbers in, numbers out.
"""

from typing import Final, Literal

from workbench.records import dataclass

Width = Literal["tiny", "narrow", "medium", "wide"]

NARROW, MEDIUM, WIDE = 60, 100, 140
SHORT, TALL = 18, 30
RAIL: Final = 25
_CONVERSATION, _QUEUE = 58, 74
_LEAST: Final = 48
"""Columns of the conversation on a medium screen, and the least it has on a wide one."""

PLACES: Final = (0, 1, 2, 3, 4)
"""Sessions, conversation, approvals, tools, pipeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """What is where."""

    width: Width
    shown: frozenset[int]
    """Places whose panes are on the screen."""
    left: int = 0
    """Columns of conversation and tools; 0 is all of them."""
    tools: int = 0
    """Rows of the tools under the conversation; 0 is all of them."""
    pipeline: int = 0
    """Rows of the pipeline under the approvals; 0 is all of them."""
    is_alone: bool = False
    """One pane has the whole body."""

    @property
    def has_rail(self) -> bool:
        """Return whether the rail is beside the other panes."""
        return 0 in self.shown and not self.is_alone

    @property
    def has_strip(self) -> bool:
        """Return whether the one-line strip stands for the rail."""
        return self.width == "medium" and not self.is_alone

    @property
    def has_tabs(self) -> bool:
        """Return whether a tab row says which panes there are."""
        return self.width == "narrow"


def width_class(columns: int, rows: int) -> Width:
    """Return the class of a size."""
    if columns < NARROW or rows < SHORT:
        return "tiny"
    if columns < MEDIUM:
        return "narrow"
    return "medium" if columns < WIDE else "wide"


def arrange(columns: int, rows: int, place: int, *, is_zoomed: bool = False) -> Arrangement:
    """Return what is on a screen.

    Args:
        columns: of the terminal.
        rows: of the terminal.
        place: where the user is; a place that is none of the five panes has the whole body.
        is_zoomed: whether that pane has the whole body.
    """
    width = width_class(columns, rows)
    is_short = rows < TALL
    hidden_here = place == 0 and width == "medium"
    opened_over = is_short and place in (3, 4)
    if width in ("tiny", "narrow") or is_zoomed or hidden_here or opened_over or place not in PLACES:
        return Arrangement(width=width, shown=frozenset({place}), is_alone=True)
    small = 1 if is_short else None
    if width == "medium":
        return Arrangement(
            width=width, shown=frozenset(PLACES[1:]), left=_LEAST, tools=small or 7, pipeline=small or 7
        )
    room = columns - RAIL - 2
    left = max(_LEAST, min(_CONVERSATION, room - _QUEUE), round(room / 2.27) if room > 133 else 0)
    return Arrangement(
        width=width, shown=frozenset(PLACES), left=left, tools=small or 12, pipeline=small or 10
    )
