"""Which letters are keys on the screen on show, and which of them are part of a word."""

from collections.abc import Iterator
from typing import Any, Final

from textual.actions import parse
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import key_to_character
from textual.screen import Screen

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.press_log import WORD_KEYS, KeyLog, KeyPress

_MOVING: Final = ("replay.", "list.row-")
"""How the ids of keys begin that only move what a replay shows."""


def row_of_key(app: KeyboardApp, key: str) -> tuple[bool, keymap.Key[Any] | None]:
    """Return whether a key is bound where the focus is, and its row of the table."""
    binding = _binding_of(app, key)
    return binding is not None, None if binding is None else keymap.find_key(binding.id or "")


def is_letter(app: KeyboardApp, key: str) -> bool:
    """Return whether a key means nothing on the screen on show, or decides: words may begin so."""
    _, row = row_of_key(app, key)
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


def _binding_of(app: KeyboardApp, key: str) -> Binding | None:
    """Return what a key is bound to, as `Screen.active_bindings` has it for all keys."""
    screen: Screen[Any] = app.screen
    focused = screen.focused
    if app._keymap or (focused is not None and focused.loading):  # pyright: ignore[reportPrivateUsage]
        active = screen.active_bindings.get(key)
        return None if active is None else active.binding
    if focused is not None and focused.check_consume_key(key, key_to_character(key)):
        return None
    found: Binding | None = None
    for node, binding in _bindings(focused or screen, key):
        is_first = found is None or (binding.priority and not found.priority)
        if is_first and _is_on(node, binding):
            found = binding
    return found


def _bindings(innermost: DOMNode, key: str) -> Iterator[tuple[DOMNode, Binding]]:
    """Yield the bindings of a key, inner ones first, up to the last modal screen."""
    for node in innermost.ancestors_with_self:
        # The framework has no public door to the bindings of one key; asking for all of them is slow.
        yield from ((node, bound) for bound in node._bindings.key_to_bindings.get(key, ()))  # pyright: ignore[reportPrivateUsage]
        if node.is_modal:
            break


def _is_on(node: DOMNode, binding: Binding) -> bool:
    _, name, parameters = parse(binding.action)
    return node.check_action(name, parameters) is not False
