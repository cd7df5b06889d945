"""Arming: a deciding key counts only for what has been on the screen, unchanged, for half a second.

`KeyArming` is pure: each moment is an argument, and it reads no clock. `PaneArming` records what a pane has
drawn; the queue and the gates that are answered next to their graph share it.
"""

from collections.abc import Callable, Hashable
from typing import Protocol

from msgspec import Struct
from textual.timer import Timer
from textual.widget import Widget

from workbench.tui.keyboard.rule import ARM_SECONDS
from workbench.tui.render_context import context_of

TOO_QUICK = "Too quick: this one just appeared. Press {key} again."


class KeyArming(Struct):
    """What the answering keys are about, and since when it has been drawn."""

    subject: Hashable = None
    since: float | None = None

    def drawn(self, subject: Hashable, at: float) -> bool:
        """Record what was drawn with the focus at a moment; return whether the wait starts again."""
        if subject == self.subject and self.since is not None:
            return False
        self.subject, self.since = subject, at
        return True

    def disarm(self) -> None:
        """Forget what was drawn: the focus left, the size or the mode changed."""
        self.subject, self.since = None, None

    def is_armed(self, subject: Hashable, at: float) -> bool:
        """Return whether a key that arrived at a moment counts for a subject."""
        return self.since is not None and subject == self.subject and at - self.since >= ARM_SECONDS

    def count_again(self, at: float) -> None:
        """Start the wait again at a moment: a key came too early."""
        if self.since is not None:
            self.since = max(self.since, at)

    def take(self, subject: Hashable, at: float) -> bool:
        """Return whether a key counts; a key that counts ends the arming."""
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
    def is_answerable(self) -> bool:
        """Return whether it is on the screen where its keys count, with nothing over it."""
        ...


class PaneArming:
    """The arming of one pane."""

    def __init__(
        self, pane: ArmedPane, *, on_change: Callable[[], object], refuse: Callable[[str], object]
    ) -> None:
        """Arm nothing yet.

        Args:
            pane: The pane.
            on_change: Called when what its keys do now may have changed.
            refuse: Shows why a key does not count.
        """
        self._pane, self._on_change, self._refuse = pane, on_change, refuse
        self.arming = KeyArming()
        self._timer: Timer | None = None

    @property
    def _widget(self) -> Widget:
        assert isinstance(self._pane, Widget)
        return self._pane

    def after_frame(self) -> None:
        """Start the wait for what the next frame shows."""
        self._widget.call_after_refresh(self._drawn)

    def _drawn(self) -> None:
        pane, widget = self._pane, self._widget
        if not pane.subject or not pane.is_answerable:
            return
        if self.arming.drawn(pane.subject, context_of(widget).monotonic()):
            self._on_change()
            # One at a time: of rows that the cursor has only passed, nothing comes to count.
            if self._timer is not None:
                self._timer.stop()
            self._timer = widget.set_timer(ARM_SECONDS, self._on_change)

    @property
    def is_armed(self) -> bool:
        """Return whether an answering key would count now."""
        return self.arming.is_armed(self._pane.subject, context_of(self._widget).monotonic())

    @property
    def is_armed_for_key(self) -> bool:
        """Return whether the key that is being handled came late enough."""
        return self.arming.is_armed(self._pane.subject, context_of(self._widget).key_time)

    def confirm(self, key: str) -> bool:
        """Return whether a key that just arrived counts; show why if it came too early."""
        pane, widget = self._pane, self._widget
        if not pane.subject or not pane.is_answerable:
            return False
        counts = self.arming.take(pane.subject, context_of(widget).key_time)
        self.after_frame()
        if not counts:
            self._refuse(TOO_QUICK.format(key=key))
        return counts

    def count_again(self) -> None:
        """Start the wait again at the key that is handled now: it came too early."""
        self.arming.count_again(context_of(self._widget).key_time)

    def forget(self) -> None:
        """Let no key count until the pane was drawn again."""
        self.arming.disarm()
        self.after_frame()
        self._on_change()
