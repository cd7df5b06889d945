"""Hold all agents and release them from any screen, and show on all of them whether agents are held.

Owns when the key that releases counts: never in a text field, and only once the hold was drawn for half a
second. It decides no call; the gate reads the journal.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from workbench.journal.journal import Journal
from workbench.tui.backend import Backend, error_text
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.arming import TOO_QUICK, KeyArming
from workbench.tui.keyboard.messages import show_message
from workbench.tui.keyboard.text_field import is_text_field
from workbench.tui.widgets.hold_view import HoldView

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

_SUBJECT: Final = "hold"
HELD: Final = "Held: every call asks. What runs keeps running; ctrl+c stops an agent."
HELD_ALREADY: Final = "All agents are held already: every call asks."
RELEASED: Final = "Released: rules and trust count again."
NOT_HELD: Final = "Agents are not held."


class AgentHoldController:
    """The hold as one app shows and changes it."""

    def __init__(self, app: "WorkbenchApp", journal: Journal, backend: Backend) -> None:
        self._app, self._journal, self._backend = app, journal, backend
        self._arming = KeyArming()
        self.is_in_force = False
        """Whether agents are held, as last read."""

    def look(self) -> None:
        """Read whether agents are held, and have every screen show it."""
        self.is_in_force = self._journal.are_agents_held
        if self.is_in_force:
            self._arming.drawn(_SUBJECT, self._app.monotonic())
        else:
            self._arming.disarm()
        for screen in self._app.screen_stack:
            if isinstance(screen, HoldView):
                screen.show_hold()

    def hold(self) -> None:
        """Have every call ask."""
        self._change(self._backend.hold_agents, HELD, HELD_ALREADY)

    def release(self) -> None:
        """Let grants count again, or say why not."""
        if why := self._why_not_released():
            show_message(self._app, why)
        else:
            self._change(self._backend.release_agents, RELEASED, NOT_HELD)

    def _why_not_released(self) -> str:
        app = self._app
        key = keymap.own_key(keymap.key_of("agents.release"), app.user_keys)
        if not self.is_in_force:
            return NOT_HELD
        if is_text_field(app.focused):
            return f"Not released in a text field: press esc, then {key}."
        return "" if self._arming.is_armed(_SUBJECT, app.key_time) else TOO_QUICK.format(key=key)

    def _change(self, change: Callable[[], bool], done: str, already: str) -> None:
        app = self._app

        def work() -> None:
            try:
                said, is_error = (done if change() else already), False
            except Exception as error:  # noqa: BLE001 whatever a backend says is shown, nothing is hidden
                said, is_error = error_text(error), True
            app.call_from_thread(self._changed, said, is_error=is_error)

        app.run_worker(work, thread=True, group="hold", description="hold agents", exit_on_error=False)

    def _changed(self, said: str, *, is_error: bool) -> None:
        self.look()
        if is_error:
            self._app.main.say(said, is_error=True)
        else:
            show_message(self._app, said)
