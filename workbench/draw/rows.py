"""Rows of lists as strips: the queue, tool calls, sessions, changed files, call lines.

Owns the rhythm of UX section 2: cursor bar, sign, blank, verb, target, numbers at the right, last column
blank; and the drop order: session, size, state word, middle of the path.
"""

from textual.strip import Strip

from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.views.queue import QueueRow
from workbench.views.sessions import ChangedFile, SessionRow
from workbench.views.tools import Axis, Span, ToolRow


def queue_row(
    row: QueueRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    now: int,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
    shows_marks: bool = False,
) -> Strip:
    """Return one row of the queue.

    Args:
        row: what it says.
        width: cells.
        ink: colours.
        glyphs: signs.
        now: for the day of decided ones, in microseconds.
        is_cursor: whether the cursor is on it.
        has_focus: whether the pane has focus.
        shows_marks: the zoomed queue: a column for batch marks, columns of fixed width.
    """
    raise NotImplementedError(row, width, ink, glyphs, now, is_cursor, has_focus, shows_marks)


def queue_heads(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the column heads of the zoomed queue."""
    raise NotImplementedError(width, ink, glyphs)


def tool_row(
    row: ToolRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    span: Span | None = None,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one tool call; with a span and 58 cells or more its bar on the time axis as well.

    From 100 cells it has columns for who let it pass, run and wait.
    """
    raise NotImplementedError(row, width, ink, glyphs, span, is_cursor, has_focus)


def tool_heads(width: int, ink: Ink, glyphs: Glyphs, axis: Axis) -> Strip:
    """Return the column heads over tool rows of the same width, with the marks of the axis."""
    raise NotImplementedError(width, ink, glyphs, axis)


def session_row(
    row: SessionRow,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    now: int,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one session of the rail."""
    raise NotImplementedError(row, width, ink, glyphs, now, is_cursor, has_focus)


def changed_row(
    file: ChangedFile,
    width: int,
    ink: Ink,
    glyphs: Glyphs,
    *,
    is_cursor: bool = False,
    has_focus: bool = False,
) -> Strip:
    """Return one changed file of the rail."""
    raise NotImplementedError(file, width, ink, glyphs, is_cursor, has_focus)


def fact_row(label: str, words: str, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return a label and its words at the right."""
    raise NotImplementedError(label, words, width, ink, glyphs)
