"""Receipts: which rows of an action were on the screen for as long as a deciding key needs.

A part counts when every row of it that says what would happen was visible for half a second. It never reads a
clock and never scrolls.
"""

# `a` approves what was seen. What was drawn is recorded row by row, with its time on the screen. `ctrl+y`
# approves the rest unseen and the record says so; an answer by id from the command line is recorded as that.

from collections.abc import Collection, Hashable, Iterable
from functools import cached_property

from workbench.render.diff import Diff
from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.views.hunk_selection import WHOLE_ACTION

_MAX_ACTIONS = 64
"""Drawings whose rows are remembered while others are looked at."""


class RequiredRows:
    """Which rows of a layout belong to which part, and which of them have to be seen."""

    def __init__(self, diff: Diff | None, body: Collection[int], *, has_hunks: bool) -> None:
        """Begin.

        Args:
            diff: of the action; None where there is only a body.
            body: rows of it that have to be seen, where there is no diff.
            has_hunks: whether there are hunks to take and to leave.
        """
        self._diff = diff
        self._has_hunks = has_hunks and diff is not None
        self._all = body if diff is None else range(len(diff))
        self._of: dict[int, Collection[int]] = {}

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """Return the parts: each hunk, and `WHOLE` for what has none."""
        if self._diff is None or not self._has_hunks:
            return (WHOLE_ACTION,)
        rest = (WHOLE_ACTION,) if self._diff.rows_to_see(WHOLE_ACTION) else ()
        return (*(hunk.index for file in self._diff.files for hunk in file.hunks), *rest)

    def part_at(self, row: int) -> int:
        """Return the part that a row belongs to."""
        return (
            self._diff.hunk_at(row) or WHOLE_ACTION
            if self._diff is not None and self._has_hunks
            else WHOLE_ACTION
        )

    def of(self, part: int) -> Collection[int]:
        """Return the rows of a part that have to be seen."""
        rows = self._of.get(part)
        if rows is None:
            is_diff = self._diff is not None and self._has_hunks
            rows = self._diff.rows_to_see(part) if is_diff and self._diff else self._all
            self._of[part] = rows
        return rows


class LayoutReceipts:
    """The rows of one action in one layout."""

    def __init__(self, action_id: str, rows: RequiredRows, seen: set[int]) -> None:
        """Begin.

        Args:
            action_id: whose rows they are.
            rows: the layout.
            seen: its parts that were on the screen for long enough, in whatever layout.
        """
        self.action_id, self.rows = action_id, rows
        self.told = set(seen)
        """Parts that were reported as shown."""
        self._seen = seen
        self._stood: set[int] = set()
        self._since: dict[int, float] = {}

    def put_on_screen(self, rows: Collection[int], at: float | None) -> tuple[frozenset[int], frozenset[int]]:
        """Note which rows are on the screen from now on.

        Args:
            rows: all of them.
            at: the moment; None where something lies over them, for an unknown time.

        Returns:
            The parts that count as seen now, and those that do not any more: they left too early.
        """
        touched = {
            self.rows.part_at(row) for row in rows if row not in self._since and row not in self._stood
        }
        for row in [row for row in self._since if row not in rows]:
            since = self._since.pop(row)
            if at is not None and at - since >= ARM_SECONDS:
                self._stood.add(row)
            touched.add(self.rows.part_at(row))
        if at is not None:
            self._since |= {row: at for row in rows if row not in self._since}
        self._seen |= {part for part in touched if self._has_stood(part)}
        shown = {part for part in touched if self.is_shown(part)}
        come, gone = frozenset(shown - self.told), frozenset((touched & self.told) - shown)
        self.told = (self.told | come) - gone
        return come, gone

    def begin_again(self, at: float) -> None:
        """Count what is on the screen from this moment on: something lay over it until now."""
        self._since = dict.fromkeys(self._since, at)

    def is_shown(self, part: int) -> bool:
        """Return whether all of a part was on the screen, or is."""
        return part in self._seen or all(self._counts(row) for row in self.rows.of(part))

    def unseen_parts(self, parts: Iterable[int]) -> set[int]:
        """Return those of some parts of which not all was on the screen."""
        return {part for part in parts if not self.is_shown(part)}

    def is_unseen(self, part: int, rows: Iterable[int]) -> bool:
        """Return whether any of some rows of a part was not on the screen yet."""
        return part not in self._seen and not all(self._counts(row) for row in rows)

    def is_settled(self, at: float) -> bool:
        """Return whether all that counts as seen has been on the screen for long enough at a moment."""
        needed = [self.rows.of(part) for part in self.rows.parts if part not in self._seen]
        recent = [
            row for row, since in self._since.items() if row not in self._stood and at - since < ARM_SECONDS
        ]
        return not any(row in rows for rows in needed for row in recent)

    def unseen_rows(self, parts: Iterable[int]) -> list[int]:
        """Return the rows of some parts that were not on the screen, from the top."""
        return sorted(
            row
            for part in parts
            if part not in self._seen
            for row in self.rows.of(part)
            if not self._counts(row)
        )

    def lines_left(self) -> int:
        """Return how many rows were not on the screen yet, where one part is left; counting more is slow."""
        parts = [part for part in self.rows.parts if part not in self.told]
        return len(self.unseen_rows(parts)) if len(parts) == 1 else 0

    def _counts(self, row: int) -> bool:
        return row in self._stood or row in self._since

    def _has_stood(self, part: int) -> bool:
        return all(row in self._stood for row in self.rows.of(part))


class Receipts:
    """The drawings of the actions that were looked at: what was seen is not asked for twice."""

    def __init__(self) -> None:
        self._drawings: dict[Hashable, LayoutReceipts] = {}
        self._seen: dict[Hashable, set[int]] = {}

    def of(self, action_id: str, what: Hashable, layout: Hashable, rows: RequiredRows) -> LayoutReceipts:
        """Return the drawing of an action, the same for the same content in the same layout.

        Args:
            action_id: of the action.
            what: its content; other content was not seen.
            layout: width and arrangement; rows are counted again in another one.
            rows: of that layout.
        """
        content = (action_id, what)
        seen = self._seen.setdefault(content, set())
        key = (content, layout)
        drawing = self._drawings.pop(key, None) or LayoutReceipts(action_id, rows, seen)
        drawing.told |= seen
        self._drawings[key] = drawing
        while len(self._drawings) > _MAX_ACTIONS:
            self._drawings.pop(next(iter(self._drawings)))
        while len(self._seen) > _MAX_ACTIONS:
            self._seen.pop(next(iter(self._seen)))
        return drawing
