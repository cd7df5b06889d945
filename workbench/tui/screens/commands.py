"""What the composer's `/commands` do: one function a command that no key does already.

Owns which command is which. Those that change how a session goes on ask in a thread and say what came of it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

from workbench.tui import keymap

if TYPE_CHECKING:
    from workbench.tui.screens.routes import RoutedScreen

_KEYS: Final = {
    "stop": "app.agent-stop", "new": "app.session-new", "help": "app.help", "quit": "app.leave",
    "library": "app.place-5", "rules": "app.place-6", "statistics": "app.place-7",
}  # fmt: skip
"""Commands that are another way to press a key."""


def has_key(name: str) -> bool:
    """Return whether a command is another way to press a key."""
    return name in _KEYS


def carry_out(screen: "RoutedScreen", name: str, rest: str) -> None:
    """Do what a command says."""
    if name in _KEYS:
        keymap.run(_KEYS[name], screen)
    elif name in _ALONE:
        _ALONE[name](screen)
    elif name in _STEERING:
        _STEERING[name](screen, rest)
    else:
        screen.say(f"/{name}: not there yet.")


def _messages(screen: "RoutedScreen") -> None:
    from workbench.tui.screens.said import open_messages

    open_messages(cast("Any", screen))


def _restart(screen: "RoutedScreen") -> None:
    screen.requests.restart_host()


def _continue(screen: "RoutedScreen") -> None:
    screen.about_session(screen.services.go_on, "Goes on.")


def _end(screen: "RoutedScreen") -> None:
    screen.about_session(screen.services.end, "The session is ended; ctrl+n begins another.")


def _model(screen: "RoutedScreen", rest: str) -> None:
    if not rest:
        screen.composer.begin("/model ")
        return
    current = screen.state.current
    session_id = current.id if current is not None else ""
    screen.requests.steer(lambda: screen.services.set_model(session_id, rest))


def _mode(screen: "RoutedScreen", rest: str) -> None:
    if not rest:
        screen.composer.begin("/mode ")
        return
    current = screen.state.current
    session_id = current.id if current is not None else ""
    screen.requests.steer(lambda: screen.services.set_mode(session_id, rest))


def _mark(screen: "RoutedScreen", rest: str) -> None:
    current = screen.state.current
    if current is None:
        screen.say("Nothing was marked: there is no session here.")
        return
    session_id = current.id
    screen.requests.steer(lambda: screen.services.mark(session_id, rest))


_ALONE: Final[dict[str, "Callable[[RoutedScreen], None]"]] = {
    "messages": _messages, "restart": _restart, "continue": _continue, "go": _continue, "end": _end,
}  # fmt: skip
_STEERING: Final[dict[str, "Callable[[RoutedScreen, str], None]"]] = {
    "model": _model, "mode": _mode, "mark": _mark,
}  # fmt: skip
"""Commands with a word behind them."""
