"""Queue of keys and pastes: each waits until the one before it has had its effect.

Keys typed together with the key that opens a text field reach that field. Drops nothing, decides nothing.
"""

# A key waits for the one before it. The framework sends a key to what has the focus when it arrives; what a
# key does travels on as messages, so that words typed with `i` reached the list. A key that came with
# others is held until no message is under way, a second at most; letters into a text field never wait.

import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct
from textual import events
from textual.app import App
from textual.widget import Widget

from workbench.tui.keyboard.press_log import KeyPress
from workbench.tui.keyboard.text_field import is_text_for
from workbench.tui.render_context import call_once_after

LONGEST_WAIT: Final = 1.0
"""Seconds after a key from which the next one no longer waits for it, whatever is still under way."""
_SAME_BURST_SECONDS: Final = 0.02
"""Seconds after a key within which the next one came with it: what the first begins may not be seen yet."""
_RECHECK_SECONDS: Final = 0.002
_QUIET_LOOKS: Final = 2


class _LastKey(Struct, frozen=True):
    """The key that was handed on last."""

    at: float
    is_text: bool


class QueuedEvent(Struct, frozen=True):
    """A key or a paste that waits for its turn, as it was recorded at its arrival."""

    event: events.Key | events.Paste
    press: KeyPress


class KeyQueue:
    """The keys and pastes of one app, in the order in which they came."""

    def __init__(
        self,
        app: App[Any],
        handle: Callable[[QueuedEvent, bool], Awaitable[None]],
        record: Callable[[events.Key | events.Paste], KeyPress],
        has_focus: Callable[[], bool],
    ) -> None:
        """Begin with no key.

        Args:
            app: Whose keys.
            handle: Handles one when its turn has come; the flag says that no message is under way.
            record: Records each at its arrival, whatever waits before it.
            has_focus: Returns whether what takes the first keys has the focus; until then they wait.
        """
        self._app, self._handle, self._record, self._has_focus = app, handle, record, has_focus
        self._held: deque[QueuedEvent] = deque()
        self._last = _LastKey(0.0, is_text=False)
        self._quiet_looks = 0

    async def take(self, event: events.Key | events.Paste) -> None:
        """Hand a key on, now or when its turn has come."""
        arrival = QueuedEvent(event, self._record(event))
        age = time.monotonic() - self._last.at
        is_quiet = age >= _SAME_BURST_SECONDS and self._is_quiet()
        is_free = self._has_focus() and (age >= LONGEST_WAIT or is_quiet)
        if not self._held and (is_free or self._continues_text(event)):
            await self._hand_on(arrival, is_quiet=is_quiet)
            return
        self._held.append(arrival)
        if len(self._held) == 1:
            self._look_soon()

    def _continues_text(self, event: events.Event) -> bool:
        return self._last.is_text and is_text_for(self._app.focused, event)

    @property
    def has_waiting(self) -> bool:
        """Return whether keys wait for their turn."""
        return bool(self._held)

    def _is_quiet(self) -> bool:
        """Return whether no message is under way, and no widget on its way onto the screen."""
        if self._app.message_queue_size:
            return False
        # Asked before every key: walking by the framework's own generator takes five times as long.
        nodes: list[Widget] = [self._app.screen]
        for node in nodes:
            if node.message_queue_size or not node.is_mounted:
                return False
            nodes += node.children
        return True

    async def _hand_on(self, arrival: QueuedEvent, *, is_quiet: bool = False) -> None:
        is_text = is_text_for(self._app.focused, arrival.event)
        self._last = _LastKey(time.monotonic(), is_text=is_text)
        self._quiet_looks = 0
        await self._handle(arrival, is_quiet)

    def _look_soon(self) -> None:
        # By the app's own queue: a timer's callback may run while a message is being handled.
        call_once_after(self._app, _RECHECK_SECONDS, self._look)

    async def _look(self) -> None:
        if not self._has_focus():
            self._look_soon()
            return
        self._quiet_looks = self._quiet_looks + 1 if self._is_quiet() else 0
        is_late = time.monotonic() - self._last.at >= LONGEST_WAIT
        if is_late or self._quiet_looks >= _QUIET_LOOKS:
            await self._hand_on(self._held.popleft(), is_quiet=self._quiet_looks >= _QUIET_LOOKS)
        while self._held and self._continues_text(self._held[0].event):
            await self._hand_on(self._held.popleft())
        if self._held:
            self._look_soon()
