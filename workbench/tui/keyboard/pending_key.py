"""The deciding key that waits until it counts: what it is about, and what is shown about it.

It counts only while everything that it is about stays as it was at its first press.
"""

from collections.abc import Hashable

from msgspec import Struct

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.footer_keys import FooterKey
from workbench.tui.keyboard.keyboard_app import KeyboardApp
from workbench.tui.keyboard.messages import screen_on_show
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.keyboard.press_log import KeyPress
from workbench.tui.keyboard.rule import KeyState


class PendingKey(Struct, eq=False):
    """A deciding key that was pressed, and does not count yet."""

    key_id: str
    owner: KeyOwner
    press: KeyPress
    """The first press: what it is about was drawn for long enough by then."""
    about: Hashable

    def is_changed(self, app: KeyboardApp) -> bool:
        """Return whether anything is different from what the key was about when it was pressed."""
        return self.about != subject_on_screen(app, self.owner, self.key_id)

    @property
    def key(self) -> str:
        """Return the key as people read it."""
        return keymap.printed_key(self.press.key)

    def prompt(self, state: KeyState) -> str:
        """Return what is shown while it waits: `a again: approve 2 of 3`."""
        label = self.owner.asked_label_of(self.key_id)
        if state.phase == "settle":
            return f"{self.key}: {label}"
        if state.alone_at is not None and state.key == self.press.key:
            return f"{self.key}: {label} in a moment"
        return f"{self.key} again: {label}" if state.is_last else f"{self.key} twice again: {label}"

    def footer_keys(self, state: KeyState) -> list[FooterKey]:
        """Return what the footer shows while it waits."""
        keys, _, label = self.prompt(state).partition(" ")
        return [FooterKey(keys=keys, label=f"{label} ·"), FooterKey(keys="esc", label="cancels")]


def subject_on_screen(app: KeyboardApp, owner: KeyOwner, key_id: str) -> Hashable:
    """Return what a key is about: screen, focus, size, and what its owner and its label name."""
    return id(app.screen), id(app.focused), app.size, owner.subject, owner.asked_label_of(key_id)


class PendingKeyPrompt:
    """Shows which key has to be pressed again, next to what it is about and in the footer."""

    def __init__(self, app: KeyboardApp) -> None:
        self._app = app
        self._shown: PendingKey | None = None

    def refresh(self, pending: PendingKey | None, state: KeyState) -> None:
        """Show at once that a key has to be pressed again, or that it need not be any more."""
        if self._shown is not None:
            self._shown.owner.show_waiting(self._shown.key_id, "")
        self._shown = pending
        if pending is not None:
            pending.owner.show_waiting(pending.key_id, pending.prompt(state))
        screen_on_show(self._app).show_keys()
