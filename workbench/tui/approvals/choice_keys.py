"""Keys that a gate's file gives its answers: each counts where no other key of the screen has its letter."""

import string
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.keymap import Key
from workbench.views.action_detail import ActionDetail

_DOUBLED_BEGINNINGS: Final = frozenset("cfoswCDFILOSUWX")
"""Letters with which words begin twice (cc, ffmpeg, oops, ssh, LLM, www): pressed twice they may be text."""
_LETTERS: Final = tuple(letter for letter in string.ascii_letters if letter not in _DOUBLED_BEGINNINGS)
_KEY_OF_REJECTION: Final = {"reject": "r"}
_MOST_SPELLED: Final = 3
"""Presses of one key that are written one by one."""
_SCOPE: Final = "choice"


class ChoiceOwner(Protocol):
    """A pane in which an answer of a gate can be given by its own key."""

    def answer_with(self, letter: str) -> None:
        """Give the answer of a letter."""
        ...


def _row(letter: str) -> Key[ChoiceOwner]:
    return Key(
        id=f"{_SCOPE}.{letter}", keys=(letter,), label=letter, tooltip="the gate's answer of that key",
        shown="-", group="Decide", is_override=True, in_palette=False, decides=True, answers=True,
        action=lambda pane: pane.answer_with(letter),
    )  # fmt: skip


CHOICE: Final[tuple[Key[ChoiceOwner], ...]] = tuple(map(_row, _LETTERS))


def letter_of(key_id: str) -> str:
    """Return the letter of a row of this table; empty for any other row."""
    scope, _, letter = key_id.partition(".")
    return letter if scope == _SCOPE else ""


def choice_of_letters(
    detail: ActionDetail | None, scopes: Sequence[str], users: Mapping[str, str]
) -> dict[str, str]:
    """Return the answers of a waiting gate by the letters that give them now.

    Args:
        detail: the gate; nothing else has keys of its own.
        scopes: those in force, whose keys come first.
        users: ids of keys to keys, several with commas.
    """
    if detail is None or not detail.is_pending or detail.kind != "gate":
        return {}
    rows = keymap.keys_of_scopes([*scopes, "app", "agents"])
    in_use = {name for row in rows for name in row.keys if row.id not in users}
    in_use |= {name.strip() for names in users.values() for name in names.split(",")}
    return {c.key: c.key for c in detail.choices if c.key in _LETTERS and c.key not in in_use}


def label_of_letter(detail: ActionDetail, letter: str) -> str:
    """Return the answer of a letter in lower case, as other keys are labelled."""
    return next((choice.label for choice in detail.choices if choice.key == letter), letter).lower()


def _moves(count: int) -> str:
    """Return the keys that choose another answer: forwards with `l`, for a negative count back with `h`."""
    key, count = ("l", count) if count > 0 else ("h", -count)
    return f"{key} " * count if count <= _MOST_SPELLED else f"{key}×{count} "


def shown_choice_keys(detail: ActionDetail, chosen: str | None, letters: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that give each answer: its own letter, else `a` after moves (`l l a`, `l×5 a`)."""
    keys = [choice.key for choice in detail.choices]
    at = keys.index(chosen) if chosen in keys else 0
    ways = {key: f"{_moves(n - at)}a" for n, key in enumerate(keys)}
    own = {key: letter for letter, key in letters.items()}
    return {key: own.get(key) or _KEY_OF_REJECTION.get(key, way) for key, way in ways.items()}
