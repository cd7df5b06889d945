"""What the guard of deciding keys asks the pane, dialog or screen whose key was pressed.

A base class whose answers are right where a key is about nothing in particular.
"""

from collections.abc import Hashable

from workbench.tui.keyboard import keymap


class KeyOwner:
    """Something with keys that decide."""

    @property
    def subject(self) -> Hashable:
        """Return what a deciding key is about: it counts only while this stays the same."""
        return ()

    def label_of(self, key_id: str) -> str:
        """Return what a key does now."""
        return keymap.key_of(key_id).label

    def asked_label_of(self, key_id: str) -> str:
        """Return what a key does that has to be pressed again, with all that it is about."""
        return self.label_of(key_id)

    def why_early(self, key_id: str) -> str:
        """Return why a key that just arrived does not count yet; empty when it counts."""
        del key_id
        return ""

    def shows_part(self, key_id: str) -> bool:
        """Return whether a key first shows a part that was not seen, and decides nothing."""
        del key_id
        return False

    def is_undoable(self, key_id: str) -> bool:
        """Return whether what a key decides is an edit that can be undone."""
        del key_id
        return False

    def was_early(self, key_id: str) -> None:
        """Called when a key came too early: what it is about has to be drawn for the whole time again."""

    def show_waiting(self, key_id: str, words: str) -> None:
        """Show next to what a key is about that it has to be pressed again; empty words take that back."""
