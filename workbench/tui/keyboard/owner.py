"""What the keyboard asks of a pane, dialog or screen: the written protocol of owners of keys, asked by type.

Base classes whose answers are right where a key is about nothing in particular.
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.keyboard_app import KeyboardApp

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.keyboard.guard import KeyGuard


class KeyOwner:
    """Something whose keys are rows of the table."""

    is_recording: bool = False
    """Whether it plays a recording: its keys move, and nothing can be answered there."""
    MARKS_REFUSED_LETTERS: ClassVar[bool] = False
    """Whether a deciding letter that is off may be the first one of a text."""

    # --- what a key is about ------------------------------------------------------------------------

    @property
    def subject(self) -> Hashable:
        """Return what a deciding key is about: it counts only while this stays the same."""
        return ()

    @property
    def is_armed(self) -> bool:
        """Return whether that was drawn for long enough by now."""
        return True

    def label_of(self, key_id: str) -> str:
        """Return what a key does now."""
        return keymap.key_of(key_id).label

    def asked_label_of(self, key_id: str) -> str:
        """Return what a key does that has to be pressed again, with all that it is about."""
        return self.label_of(key_id)

    # --- whether a key counts -----------------------------------------------------------------------

    def reaches_key(self, key_id: str) -> bool:
        """Return whether a key means anything here now; what does not is ignored silently."""
        del key_id
        return True

    def why_not(self, key_id: str) -> str:
        """Return why a key does nothing now; empty when it does something."""
        del key_id
        return ""

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

    # --- notifications ----------------------------------------------------------------------------

    def refuse(self, why: str) -> None:
        """Show why a key does nothing now."""

    def was_early(self, key_id: str) -> None:
        """Called when a key came too early: what it is about has to be drawn for the whole time again."""

    def show_waiting(self, key_id: str, words: str) -> None:
        """Show next to what a key is about that it has to be pressed again; empty words take that back."""

    def after_key(self, key_id: str) -> None:
        """Called after a key did something, or began to wait."""

    # --- what a key does ----------------------------------------------------------------------------

    def action_do(self, key_id: str) -> None:
        """Do what a key does, or say why it is off; a deciding key that was pressed waits first."""
        if _is_on(self, key_id, is_pressed=True):
            self.run_key(key_id)
            self.after_key(key_id)

    def run_key(self, key_id: str) -> None:
        """Do what a key does that is on in any case; a deciding key that was pressed waits first."""
        guard = guard_of(self)
        if guard is None or not guard.defers(key_id, self):
            keymap.key_of(key_id).action(self)

    def run_counted(self, key_id: str) -> None:
        """Do what a key does that was pressed as often as it has to be, if it is still on."""
        if _is_on(self, key_id, is_pressed=False):
            self.confirm(key_id)
            self.after_key(key_id)

    def confirm(self, key_id: str) -> None:
        """Do what a key does that has been asked for again already."""
        keymap.key_of(key_id).action(self)


def _is_on(owner: KeyOwner, key_id: str, *, is_pressed: bool) -> bool:
    """Return whether a key does something now; its owner shows why where it does not."""
    if not owner.reaches_key(key_id):
        return False
    why = owner.why_not(key_id)
    if not why:
        return True
    guard = guard_of(owner) if is_pressed and owner.MARKS_REFUSED_LETTERS else None
    if guard is not None:
        guard.mark_refused(key_id)
    owner.refuse(why)
    return False


def guard_of(owner: KeyOwner) -> "KeyGuard | None":
    """Return the guard of the keys of an owner; None in an app that has none."""
    # Textual leaves the type of an app's return value open; nothing here depends on it.
    app: object = cast("Any", owner).app
    return app.guarded if isinstance(app, KeyboardApp) else None


class KeyDialog(KeyOwner):
    """A dialog over a screen."""

    DECIDES: ClassVar[bool] = False
    """Whether a key in it decides something: then text that is typed in it closes it."""

    def say(self, text: str) -> None:
        """Show a sentence in it."""
        raise NotImplementedError

    def reads_key(self, key: str) -> bool:
        """Return whether it handles a key that no binding has."""
        del key
        return False

    def close(self) -> None:
        """Go back to the screen below, from whatever level of it."""
        raise NotImplementedError


class KeyScreen(KeyOwner):
    """A screen that shows which key waits, and whose composer takes text that was typed over it."""

    composer: "Composer"

    @property
    def is_on_show(self) -> bool:
        """Return whether nothing lies over it."""
        raise NotImplementedError

    @property
    def is_leaving(self) -> bool:
        """Return whether it is asked just now whether to leave."""
        raise NotImplementedError

    @property
    def takes_text(self) -> bool:
        """Return whether words can be written on this screen as it is now."""
        raise NotImplementedError

    @property
    def keeps_text(self) -> bool:
        """Return whether its user can bring typed text back from the history."""
        raise NotImplementedError

    def before_input(self, key: str) -> bool:
        """Bring up to date what a key is about, or a press of the mouse with an empty key.

        Returns:
            Whether anything was still to be brought up to date.
        """
        del key
        return False

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Show a sentence for a few seconds."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """Show in the footer what the keys do now."""
        raise NotImplementedError

    def stay(self) -> None:
        """Withdraw the question whether to leave."""
        raise NotImplementedError

    def hint_of_key(self, key: str) -> str:
        """Return where a key counts that means nothing where the focus is; empty where nowhere on show."""
        del key
        return ""

    def stop_agent(self) -> bool:
        """Stop the agent on show; return whether one works."""
        raise NotImplementedError

    def focus_composer(self) -> None:
        """Give the composer the focus, with a row of its own."""
        raise NotImplementedError

    def remember_text(self, before: str, text: str) -> None:
        """Replace the start of a text in the history by more of it."""
        raise NotImplementedError

    def restore_choices(self, since: float, done: Sequence[str]) -> None:
        """Choose again what was chosen before a moment: the first letters of a text may have chosen.

        Args:
            since: When the text began.
            done: What its letters did, as ids of rows of the table.
        """
        raise NotImplementedError
