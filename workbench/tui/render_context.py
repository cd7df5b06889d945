"""Colors, glyphs, clock and timers as widgets get them from the app, and how themes reach Textual."""

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol, cast

from textual.geometry import Offset
from textual.message_pump import MessagePump
from textual.widget import Widget

from workbench.render.glyphs import Glyphs
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import Ink

THEMES: Final = ("workbench-dark", "workbench-light")
"""Our own; every theme of Textual works as well."""


class RenderContext(Protocol):
    """What widgets ask of the app to draw with."""

    ink: Ink
    glyphs: Glyphs
    painter: SyntaxHighlighter | None
    cursor_position: Offset

    def monotonic(self) -> float:
        """Return the seconds of a clock that never goes back."""
        ...

    @property
    def is_held(self) -> bool:
        """Return whether what is drawn now goes nowhere."""
        ...

    @property
    def key_time(self) -> float:
        """Return when the key that is being handled arrived."""
        ...

    def call_from_thread(self, callback: Callable[..., object], *arguments: object) -> object:
        """Call a function in the event loop from another thread, and return what it returns."""
        ...


def context_of(widget: Widget) -> RenderContext:
    """Return the app as widgets see it."""
    # Textual leaves the type of an app's return value open; nothing here depends on it.
    return cast("RenderContext", cast("Any", widget).app)


def call_once_after(
    owner: MessagePump, seconds: float, callback: Callable[[], object]
) -> asyncio.TimerHandle:
    """Call a function once, in the queue of its owner, which takes nothing more once it has ended.

    Args:
        owner: The app, screen or widget.
        seconds: From now.
        callback: Called in the event loop.

    Returns:
        What cancels it.
    """
    # `set_timer` never calls back if its time passes between the two looks at the clock with which it begins,
    # as where the process has to give the core away just then: 2 of 100,000 timers of 2 ms.
    return asyncio.get_running_loop().call_later(seconds, owner.call_later, callback)


def ink(widget: Widget) -> Ink:
    """Return the colours in force."""
    return context_of(widget).ink


def glyphs(widget: Widget) -> Glyphs:
    """Return the signs in force."""
    return context_of(widget).glyphs


def has_motion(widget: Widget) -> bool:
    """Return whether a changed row flashes; an app that has no such setting lets it."""
    return bool(getattr(context_of(widget), "has_motion", True))


def are_agents_held(widget: Widget) -> bool:
    """Return whether every call of every agent asks now; in an app that has no agents they are not held."""
    return bool(getattr(context_of(widget), "are_agents_held", False))


def painter(widget: Widget) -> SyntaxHighlighter | None:
    """Return what paints code; None until the first frame is on the screen."""
    return context_of(widget).painter
