"""Deciding keys as a person presses them: twice, when the screen asks for the second press.

The one place that knows how often a key is pressed. A test names the key and what it does; whether the screen
asks for it again is seen on the screen, and what was asked for is waited for, never slept for.
"""

import asyncio

from textual import events

from tests.support.waits import until, until_true
from workbench.tui.keyboard.keymap import normalized_key
from workbench.tui.keyboard.rule import SUSPECT_SECONDS
from workbench.tui.widgets.dialog import Dialog

PRESS_SECONDS = 0.27
"""Seconds between two practised presses (the median of people)."""
_MOST_PRESSES = 20
EARLY = "Too quick"
"""What the screen says of a key that came too early."""
CHANGED = "the screen changed"
"""What it says of a key whose row changed before it counted."""
FORGOTTEN = "was not pressed again"
_ASKED = {2: "twice again", 1: "again"}


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


def decide(terminal, key):
    """Press a deciding key in a terminal, and as often again as its screen asks for that.

    What the key is about may change in between, as a row that is drawn again: then the screen says so, and the
    key is pressed from the beginning.

    Args:
        terminal: A `Terminal` or a window of `Tmux`, with a screen that rests.
        key: A letter that decides there.
    """
    for _ in range(_MOST_PRESSES):
        _seen(terminal, lambda text: not _is_refused(text))
        terminal.press(key)
        _seen(terminal, lambda text: times_asked(text, key) or _is_refused(text))
        press_again(terminal, key)
        # What it says of a key may be drawn in the next frame.
        if _has_ended(terminal) or not (terminal.rest() or _is_refused(terminal.text())):
            return
    raise AssertionError(terminal.text())


def press_again(terminal, key):
    """Press a key as often as the screen asks for it; return how often that was."""
    presses = 0
    while times := times_asked(terminal.text(), key):
        terminal.pump(PRESS_SECONDS)  # sooner it would be held down, however late the program reads it
        terminal.press(key)
        presses += 1
        _seen(terminal, lambda text, times=times: times_asked(text, key) != times or _has_ended(terminal))
        if _has_ended(terminal):
            break
    return presses


def _is_refused(text):
    """Return whether the screen says that a key did not count."""
    return any(words in text for words in (EARLY, CHANGED, FORGOTTEN))


def decide_in_lines(terminal, key):
    """Press a deciding key of a dialog that only writes lines, and once more when it asks for that."""
    asked = f"{key} again: "
    before = terminal.text().count(asked)
    terminal.press(key)
    _seen(terminal, lambda text: text.count(asked) > before)
    terminal.pump(PRESS_SECONDS)
    terminal.press(key)


def _has_ended(terminal):
    process = getattr(terminal, "process", None)
    return process is not None and process.poll() is not None


def times_asked(text, key):
    """Return how often the screen still asks for a key."""
    return next((times for times, words in _ASKED.items() if f"{key} {words}: " in text), 0)


def _seen(terminal, holds):
    def look():
        terminal.pump(0.05)
        return holds(terminal.text())

    return until(look, terminal.text)
