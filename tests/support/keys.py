"""Deciding keys as a person presses them: twice, when the screen asks for the second press.

The one place that knows how often a key is pressed. A test names the key and what it does; whether the screen
asks for it again is seen on the screen, and what was asked for is waited for, never slept for.
"""

import asyncio
import re

from textual import events

from tests.support.waits import PATIENCE, until, until_true
from workbench.tui.decision_guard import SUSPECT_SECONDS, WAIT_SECONDS
from workbench.tui.keymap import normalized_key
from workbench.tui.widgets.dialog import Dialog

PRESS_SECONDS = 0.27
"""Seconds between two practised presses (the median of people)."""
_MOST_PRESSES = 20
_AGAIN = re.compile(r"(?<!\S)(\S+) again: ")


def key_event(key):
    """Return the event of a key."""
    return events.Key(normalized_key(key), key if len(key) == 1 else None)


def waits(app, seconds):
    """Let time pass, where a test moves the clock."""
    clock = app.monotonic
    if hasattr(clock, "at"):
        clock.at += seconds


async def send_key(app, key):
    """Send a key and wait until its turn has come."""
    arrived = app.guarded.log.arrived
    app.post_message(key_event(key))
    await until_true(
        lambda: (app.guarded.log.arrived > arrived and not app._typed.has_waiting) or not app.is_running,
        lambda: asyncio.sleep(0.002),
    )


def before_key(app, key):
    """Let the time pass that somebody takes who reads a dialog before enter."""
    screen = app.screen
    if key == "enter" and isinstance(screen, Dialog) and screen.DECIDES:
        waits(app, SUSPECT_SECONDS)


async def second_press(app):
    """Press a key again that the screen asks for, until it counts; let a letter that did nothing be forgotten.

    Returns:
        Whether a key counted.
    """
    guard, has_counted = app.guarded, False
    for _ in range(_MOST_PRESSES):
        if not guard.pending_id:
            break
        if guard.state.phase == "settle" or guard.state.alone_at is not None:
            has_counted = True
            await pass_due(app)
        else:
            waits(app, PRESS_SECONDS)
            await send_key(app, guard.state.key)
    if guard.state.phase == "suspect":
        waits(app, SUSPECT_SECONDS)
    return has_counted


async def pass_due(app):
    """Let the time come at which something is due, and let it happen."""
    guard, state = app.guarded, app.guarded.state
    if state.due is None:
        return
    clock = app.monotonic
    if hasattr(clock, "at"):
        clock.at = max(clock.at, state.due)
        # Twice: a moment that is late lets keys in that have arrived meanwhile.
        for _ in range(2):
            app.call_later(guard.commit_due)
    await until_true(lambda: guard.state is not state or not app.is_running, lambda: asyncio.sleep(0.005))


def asked_again(text):
    """Return the keys that a screen asks for a second time."""
    return {found.group(1) for found in _AGAIN.finditer(text)}


def decide(terminal, key, *wanted, gone=(), pressed=None):
    """Press a deciding key in a terminal, again when the screen asks for it, until what it does is seen.

    Args:
        terminal: With `press` and `text`, both of this process's own.
        key: The letter.
        wanted: Texts of which all are seen once it counted.
        gone: Texts of which none is seen then.
        pressed: What sends a key; the terminal's own `press` by default.

    Returns:
        The text of the screen.
    """
    press, seen = pressed or terminal.press, {"at": 0.0}

    def shows():
        text = terminal.text()
        is_asked = key in asked_again(text)
        if not is_asked and all(want in text for want in wanted) and not any(one in text for one in gone):
            return text
        if is_asked or not seen["at"]:
            press(key)
            seen["at"] = 1.0
            terminal.rest()
        return ""

    return until(shows, lambda: f"{key} did not lead to {wanted} without {gone}:\n{terminal.text()}")


__all__ = ("PATIENCE", "WAIT_SECONDS", "asked_again", "before_key", "decide", "key_event", "second_press")
