"""`ctrl+c` and `ctrl+q` in dialogs: they mean what they mean everywhere, and never answer anything.

Owns how a dialog is left for them: as by escape, with nothing done. Elsewhere these keys are of the table.
"""

from typing import Any, Final, cast

from textual.app import App
from textual.binding import Binding
from textual.events import Key
from textual.screen import ModalScreen

from workbench.tui.messages import Interrupt

BINDINGS: Final = (
    Binding("ctrl+c", "stop_or_back", "stop", show=False, priority=True),
    Binding("ctrl+q", "leave_all", "leave", show=False, priority=True),
)
_MOST: Final = 8
"""Dialogs that can stand over one another."""


def is_dialog(app: App[Any]) -> bool:
    """Return whether a dialog has the keys."""
    return isinstance(app.screen, ModalScreen)


def stop_or_back(app: App[Any]) -> None:
    """Copy what is selected; else stop the agent on show; where none works go back from the dialog."""
    below = cast("Any", next(one for one in reversed(app.screen_stack) if not isinstance(one, ModalScreen)))
    is_now = hasattr(below, "approvals") and not below.approvals.is_past
    current = below.state.current if is_now else None
    if selected := str(getattr(app.focused, "selected_text", "") or ""):
        app.copy_to_clipboard(selected)
    elif current is not None and current.status == "processing":
        below.post_message(Interrupt())
    else:
        _leave(app)


def leave_all(app: App[Any]) -> None:
    """Go back from every dialog, then press the key again where it means to leave."""
    for _ in range(_MOST):
        if not is_dialog(app):
            break
        _leave(app)
    cast("Any", app).guarded.guard.forget()
    app.post_message(Key("ctrl+q", None))


def _leave(app: App[Any]) -> None:
    screen = cast("Any", app.screen)
    leave = getattr(screen, "leave", screen.dismiss)
    leave()
    if app.screen is screen:
        # It went back by one level of its own, as from a field.
        screen.dismiss()
