"""What a place with a list answers, be it a pane or a screen: its row, its empty page, and the way back."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from workbench.render.empty_place import empty_place_lines
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.render_context import glyphs, ink

EmptyWords = tuple[str, str, Sequence[tuple[str, str]]]
"""Why a list has no rows: a heading, a sentence, and ids of keys that lead on, each with what it does."""


def no_match(text: str, *keys: tuple[str, str]) -> EmptyWords:
    """Return the words for a filter that no row passes."""
    return f"Nothing matches “{text}”.", "esc clears the filter.", keys


def empty_page(
    owner: Widget, words: EmptyWords, width: int, height: int, ghost: Sequence[str] = ()
) -> list[Content]:
    """Return what a list without rows shows in a size; `ghost` are rows as they would be."""
    heading, sentence, key_ids = words
    keys = keymap.own_keys(owner, key_ids)
    return empty_place_lines(ghost, heading, sentence, keys, width, height, ink(owner), glyphs(owner))


def count_text(shown: int, total: int) -> str:
    """Return how many rows are listed: `12`, or `3 of 12` while others are left out."""
    return f"{shown:,} of {total:,}" if shown != total else f"{total:,}"


class ListPlace(KeyOwner):
    """A place whose keys are about the row under the cursor of one list."""

    NO_ROW: ClassVar[str] = ""
    """Why keys that are about a row do nothing while there is none."""

    @property
    def has_row(self) -> bool:
        """Return whether there is a row that keys are about."""
        return True

    def why_no_row(self) -> str:
        """Return why keys that are about a row do nothing; empty while there is one."""
        return keymap.unless(self.has_row, self.NO_ROW)

    def levels(self) -> Iterable[Callable[[], bool]]:
        """Return what escape leaves, the innermost first; each returns whether it was there."""
        return ()

    def leave_place(self) -> None:
        """Leave the place itself, where no level is left."""
        raise NotImplementedError

    def step_back(self) -> None:
        """Leave the innermost level that there is, or the place."""
        if not any(leave() for leave in self.levels()):
            self.leave_place()
