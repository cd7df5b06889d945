"""Arming: a deciding key counts only for what has been on the screen, unchanged, for half a second.

`KeyArming` is pure: it is told every moment and reads no clock. `PaneArming` tells it what a pane has drawn;
the queue and gates that are answered beside their graph share it.
"""

from collections.abc import Hashable
from typing import Protocol

from msgspec import Struct
from textual.widget import Widget

from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.pane import KeysChanged, StatusMessage
from workbench.tui.render_context import context_of

TOO_QUICK = "Too quick: this one just appeared. Press {key} again."


class KeyArming(Struct):
    """What stands under the answering keys, and since when."""

    subject: Hashable = None
    since: float | None = None

    def drawn(self, subject: Hashable, at: float) -> bool:
        """Note what was drawn with the focus at a moment; True if that starts the wait anew."""
        if subject == self.subject and self.since is not None:
            return False
        self.subject, self.since = subject, at
        return True

    def disarm(self) -> None:
        """Forget it: the focus left, the size or the mode changed."""
        self.subject, self.since = None, None

    def is_armed(self, subject: Hashable, at: float) -> bool:
        """Return whether a key that arrived at a moment counts for a subject."""
        return self.since is not None and subject == self.subject and at - self.since >= ARM_SECONDS

    def count_again(self, at: float) -> None:
        """Count from a moment on: a key came too early."""
        if self.since is not None:
            self.since = max(self.since, at)

    def take(self, subject: Hashable, at: float) -> bool:
        """Return whether a key counts; one that does uses the arming up."""
        if not self.is_armed(subject, at):
            return False
        self.disarm()
        return True


class ArmedPane(Protocol):
    """A pane with something to answer."""

    @property
    def subject(self) -> Hashable:
        """Return what an answering key is about; empty for nothing."""
        ...

    @property
    def stands(self) -> bool:
        """Return whether it is on the screen with the focus."""
        ...


class PaneArming:
    """What stands under the answering keys of a pane."""

    def __init__(self, pane: ArmedPane) -> None:
        self._pane = pane
        self.arming = KeyArming()

    @property
    def _widget(self) -> Widget:
        assert isinstance(self._pane, Widget)
        return self._pane

    def after_frame(self) -> None:
        """Begin to count what the next frame shows."""
        self._widget.call_after_refresh(self._drawn)

    def _drawn(self) -> None:
        pane, widget = self._pane, self._widget
        if not pane.subject or not pane.stands:
            return
        if self.arming.drawn(pane.subject, context_of(widget).monotonic()):
            widget.post_message(KeysChanged())
            widget.set_timer(ARM_SECONDS, self._tell)

    def _tell(self) -> None:
        self._widget.post_message(KeysChanged())

    @property
    def is_armed(self) -> bool:
        """Return whether an answering key would count now."""
        return self.arming.is_armed(self._pane.subject, context_of(self._widget).monotonic())

    @property
    def is_armed_for_key(self) -> bool:
        """Return whether the key that is being handled came late enough."""
        return self.arming.is_armed(self._pane.subject, context_of(self._widget).key_time)

    def take(self, key: str) -> bool:
        """Return whether a key which just arrived counts; say why if it came too early."""
        pane, widget = self._pane, self._widget
        if not pane.subject or not pane.stands:
            return False
        counts = self.arming.take(pane.subject, context_of(widget).key_time)
        self.after_frame()
        if not counts:
            widget.post_message(StatusMessage(TOO_QUICK.format(key=key)))
        return counts

    def count_again(self) -> None:
        """Count from the key that is handled now: it came too early."""
        self.arming.count_again(context_of(self._widget).key_time)

    def forget(self) -> None:
        """Let nothing count until it was drawn anew."""
        self.arming.disarm()
        self.after_frame()
        self._widget.post_message(KeysChanged())
