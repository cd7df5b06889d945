"""The last row of the approvals pane: what each answering key does to the row under the cursor.

The first answer is lit once its key counts. It decides nothing: it shows what the pane says of its keys.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from msgspec import Struct
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.render import cells
from workbench.tui.keyboard import keymap
from workbench.tui.render_context import glyphs, ink

_GAP: Final = "   "


class OfferedAnswer(Struct, frozen=True, kw_only=True):
    """One key of the row."""

    keys: str
    label: str
    is_lit: bool = False
    """Whether it is the answer that the row is about."""
    is_armed: bool = True
    """Whether the key counts by now."""


_TOGGLES: Final = frozenset({"approvals.hunk-toggle", "lines.line-toggle", "approvals.place"})
"""Keys that change what an answer is about, which is shown next to it."""


class AnswerSource(Protocol):
    """A pane whose keys the row shows."""

    def why_not(self, key_id: str) -> str:
        """Return why a key does nothing now; empty when it does something."""
        ...

    def label_of(self, key_id: str) -> str:
        """Return what a key does now."""
        ...

    def asked_label_of(self, key_id: str) -> str:
        """Return what a key does now, with all that it is about."""
        ...

    def shows_part(self, key_id: str) -> bool:
        """Return whether a key first shows a part that was not seen."""
        ...

    def is_undoable(self, key_id: str) -> bool:
        """Return whether one press of a key decides."""
        ...


def answers_of(
    pane: AnswerSource, scopes: Sequence[str], *, is_lit: bool, is_armed: bool
) -> list[OfferedAnswer]:
    """Return the answering keys that do something now, in the order of the footer.

    Args:
        pane: The pane.
        scopes: Scopes of its keys, inner ones first.
        is_lit: Whether the first of them is lit.
        is_armed: Whether keys about the row under the cursor count by now.
    """
    users, taken = keymap.user_keymap(cast("Widget", pane)), set[str]()
    rows: list[keymap.Key[Any]] = []
    for key in keymap.keys_of_scopes(scopes):
        is_answer = key.group == "Decide" or key.id in _TOGGLES
        if is_answer and key.footer and taken.isdisjoint(key.keys) and not pane.why_not(key.id):
            rows.append(key)
        taken |= set(key.keys)
    rows.sort(key=lambda key: key.footer)
    return [
        _answer(pane, key, users, is_lit=is_lit and number == 0, is_armed=is_armed or not key.answers)
        for number, key in enumerate(rows)
    ]


def _answer(
    pane: AnswerSource, key: keymap.Key[Any], users: Mapping[str, str], *, is_lit: bool, is_armed: bool
) -> OfferedAnswer:
    keys = keymap.printed_keys(key, users)
    if not is_lit:
        return OfferedAnswer(keys=keys, label=pane.label_of(key.id), is_armed=is_armed)
    is_pressed_twice = key.decides and len(keys) == 1
    if is_pressed_twice and not (pane.shows_part(key.id) or pane.is_undoable(key.id)):
        keys = f"{keys} {keys}"
    return OfferedAnswer(keys=keys, label=pane.asked_label_of(key.id), is_lit=True, is_armed=is_armed)


class AnswerRow(Widget):
    """The answers to what is under the cursor, or which key has to be pressed again."""

    DEFAULT_CSS = "AnswerRow { height: 1; width: 1fr; background: $background; }"

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self._answers: Sequence[OfferedAnswer] = ()
        self._waiting_words = ""
        self._words = ""

    def show(self, answers: Sequence[OfferedAnswer], words: str = "") -> None:
        """Show answers behind a sentence; none and no sentence while the keys do not count here."""
        if (answers, words) != (self._answers, self._words):
            self._answers, self._words = answers, words
            self.refresh()

    def show_waiting(self, words: str) -> None:
        """Show which key has to be pressed again instead of all answers; empty words take that back."""
        if words != self._waiting_words:
            self._waiting_words = words
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        width, base = self.size.width, ink(self).on("background")
        if self._waiting_words:
            words = f" {self._waiting_words} · esc cancels "
            lit = cells.safe_content(glyphs(self).line(words), ink(self).reverse("info"))
            return cells.line_strip(
                Content(" ") + cells.shorten_line(lit, width - 1, glyphs(self)), width, base
            )
        line = Content(" ")
        for item in self._items():
            room = width - line.cell_length
            if item.cell_length > room and line.cell_length > 1:
                continue
            line = Content.assemble(line, cells.shorten_line(item, room, glyphs(self)), _GAP)
        return cells.line_strip(cells.shorten_line(line, width, glyphs(self)), width, base)

    def _items(self) -> list[Content]:
        muted = ink(self).of("muted")
        words = [cells.safe_content(glyphs(self).line(f" {self._words}"), muted)] if self._words else []
        return [*words, *(self._item(answer) for answer in self._answers)]

    def _item(self, answer: OfferedAnswer) -> Content:
        colours, signs = ink(self), glyphs(self)
        keys, label = signs.line(answer.keys), signs.line(answer.label)
        if answer.is_lit and answer.is_armed:
            return cells.safe_content(f" {keys} {label} ", colours.reverse("info"))
        tone = colours.of("foreground" if answer.is_armed else "faint")
        key_tone = colours.of("info", bold=True) if answer.is_armed else colours.of("muted")
        gap = " " if answer.is_lit else ""
        return Content.assemble(gap, (keys, key_tone), " ", cells.safe_content(label, tone), gap)
