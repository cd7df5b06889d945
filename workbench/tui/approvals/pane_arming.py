"""Arming of a pane: its answering keys count only for what its frame has shown, unchanged, for 300 ms.

Shared by the queue and by gates that are answered beside their graph.
"""

from collections.abc import Hashable
from typing import Protocol

from textual.widget import Widget

from workbench.tui.key_arming import ARM_SECONDS, TOO_QUICK, KeyArming
from workbench.tui.pane import KeysChanged, StatusMessage
from workbench.tui.render_context import context_of


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
        """Return whether the key that is being handled came late enough, and came once."""
        draw = context_of(self._widget)
        return not draw.is_key_repeated and self.arming.is_armed(self._pane.subject, draw.key_time)

    def take(self, key: str) -> bool:
        """Return whether a key which just arrived counts; say why if it came too early."""
        pane, widget = self._pane, self._widget
        if not pane.subject or not pane.stands:
            return False
        draw = context_of(widget)
        counts = self.arming.take(pane.subject, draw.key_time, is_repeated=draw.is_key_repeated)
        self.after_frame()
        if not counts:
            widget.post_message(StatusMessage(TOO_QUICK.format(key=key)))
        return counts

    def forget(self) -> None:
        """Let nothing count until it was drawn anew."""
        self.arming.disarm()
        self.after_frame()
        self._widget.post_message(KeysChanged())
