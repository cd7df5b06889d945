"""The app as the keyboard needs it: takes keys one by one, and records when each arrived."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from textual import events
from textual.app import App

if TYPE_CHECKING:
    from workbench.tui.keyboard.footer_keys import FooterKey
    from workbench.tui.keyboard.guard import KeyGuard
    from workbench.tui.keyboard.owner import KeyScreen
    from workbench.tui.keyboard.queue import KeyQueue, QueuedEvent


class UnreadKeys:
    """A driver that knows whether keys came which its thread has not handed on yet."""

    @property
    def has_unread(self) -> bool:
        """Return whether something was typed that was not handed on yet."""
        raise NotImplementedError


class KeyboardApp(App[int], inherit_bindings=False):
    """An app whose deciding keys are guarded."""

    key_screen: "KeyScreen"
    """The screen that is there for as long as the app is."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Begin with no key.

        Args:
            monotonic: The clock that arms keys.
        """
        super().__init__()
        self.monotonic = monotonic
        self.key_time = monotonic()
        """When the key that is being handled arrived, on the clock that arms keys."""
        self.user_keys: Mapping[str, str] = {}
        """The user's own keymap, once it was found to be without faults."""
        self.when_user_comes: Callable[[], object] | None = None
        """Called at each key and whenever the terminal gets the focus."""
        self._has_key = False

    @cached_property
    def guarded(self) -> "KeyGuard":
        """Return the guard of deciding keys, loaded for the first key."""
        from workbench.tui.keyboard.guard import KeyGuard

        self._has_key = True
        return KeyGuard(self)

    @cached_property
    def _typed(self) -> "KeyQueue":
        from workbench.tui.keyboard.queue import KeyQueue

        return KeyQueue(self, self._handle, self.guarded.record_key, self.has_start_focus)

    @property
    def waiting_key_labels(self) -> "Sequence[FooterKey]":
        """Return what the footer shows while a key waits; nothing for none."""
        return self.guarded.footer_keys() if self._has_key else ()

    @property
    def has_unread_keys(self) -> bool:
        """Return whether a key has come that was not handled, or not even read, yet."""
        driver = self._driver
        is_waiting = self._has_key and self._typed.has_waiting
        return is_waiting or (isinstance(driver, UnreadKeys) and driver.has_unread)

    async def on_event(self, event: events.Event) -> None:
        """Take keys one by one, and note when each arrived, which may be long before it is handled."""
        if isinstance(event, events.MouseDown):
            self._before_input("")
            if self._has_key:
                self.guarded.forget_key()
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._typed.take(event)
        else:
            await super().on_event(event)
        came = self.when_user_comes
        if came is not None and isinstance(event, events.Key | events.Paste | events.AppFocus):
            came()

    def has_start_focus(self) -> bool:
        """Return whether what takes the first keys has the focus by now; until then they wait."""
        return True

    def _before_input(self, key: str) -> bool:
        from workbench.tui.keyboard.owner import KeyScreen

        screen = self.screen
        return isinstance(screen, KeyScreen) and screen.before_input(key)

    async def _handle(self, arrival: "QueuedEvent", is_quiet: bool) -> None:
        from workbench.tui.keyboard.dispatch import dispatch_key

        event = arrival.event
        # What was brought up to date now has messages under way.
        is_quiet = not self._before_input(arrival.press.key) and is_quiet
        if isinstance(event, events.Key):
            self.key_time = arrival.press.at
        if self.guarded.accept(event, arrival.press) != "run":
            return
        if isinstance(event, events.Key) and is_quiet and await dispatch_key(self, event):
            return
        await super().on_event(event)
