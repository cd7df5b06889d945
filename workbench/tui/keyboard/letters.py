"""Which letters are keys on the screen on show, and which of them are part of a word."""

from typing import Final

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.dispatch import binding_of
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.press_log import WORD_KEYS, KeyLog, KeyPress

_MOVING: Final = ("replay.", "list.row-")
"""How the ids of keys begin that only move what a replay shows."""


def is_letter(app: KeyboardApp, key: str) -> bool:
    """Return whether a key means nothing on the screen on show, or decides: words may begin so."""
    binding = binding_of(app, key)
    row = None if binding is None else keymap.find_key(binding.id or "")
    return row is None or row.decides


def ends_word(app: KeyboardApp, log: KeyLog, press: KeyPress) -> bool:
    """Return whether a key came behind letters of a word, which are not keys of a replay."""
    if log.count_in_word(press) < WORD_KEYS:
        return False
    screen = app.screen
    if not isinstance(screen, KeyOwner) or not screen.is_recording:
        return True
    ids = {**keymap.ids_by_key("list", app.user_keys), **keymap.ids_by_key("replay", app.user_keys)}
    return not all(ids.get(key, "").startswith(_MOVING) for key in log.keys_until(press))
