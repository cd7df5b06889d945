"""Counts the files and functions between the first press of `a` and the decision that leaves the screen.

Two presses on a drawn edit. Counted is what the app's handler of keys calls on the main thread until
`MainTasks.decide`: no drawing; an inner function or comprehension belongs to the function around it.
`python -m benchmarks.key_flow` names each function; `python -m benchmarks.house` prints both counts.
"""

import asyncio
import inspect
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from textual import events

import workbench
from tests.support.keys import PRESS_SECONDS, pass_due
from tests.tui.screens import play, staged
from workbench.tui.main.tasks import MainTasks

_PACKAGE = str(Path(workbench.__file__).parent)
_HANDLER = "on_event"


class HandlerCalls:
    """Records the functions of the program that are called below the app's handler of events."""

    def __init__(self):
        self.seen = set()
        """File and function."""

    def start(self):
        """Begin to record in this thread."""
        sys.setprofile(self._see)

    def stop(self):
        """Record no more."""
        sys.setprofile(None)

    def _see(self, frame, what, _):
        code = frame.f_code
        # What runs once, while a module is imported, is not a part of the flow.
        is_ours = code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(_PACKAGE)
        name = code.co_qualname.partition(".<locals>")[0]
        place = os.path.relpath(code.co_filename, _PACKAGE), name
        if what == "call" and is_ours and place not in self.seen and _is_below_handler(frame):
            self.seen.add(place)


def _is_below_handler(frame):
    while frame is not None:
        if frame.f_code.co_name == _HANDLER and frame.f_code.co_filename.startswith(_PACKAGE):
            return True
        frame = frame.f_back
    return False


def key_flow():
    """Return the functions that two presses of `a` call until a decision, as pairs of file and name."""
    calls, decided = HandlerCalls(), []
    real = MainTasks.decide

    def decide(tasks, message):
        calls.stop()
        decided.append(message)
        return real(tasks, message)

    async def body(shown):
        action = next(action for action in shown.stage.waiting() if action.verb == "edit")
        shown.approvals.queue.put_cursor(action.id)
        await shown.settle()
        shown.hand.waits()
        for seconds in (1.0, PRESS_SECONDS):
            shown.hand.waits(seconds)
            arrived = shown.app.guarded.log.arrived
            calls.start()
            shown.app.post_message(events.Key("a", "a"))
            while shown.app.guarded.log.arrived == arrived:
                await asyncio.sleep(0)
            await shown.settle()
        await pass_due(shown.app)
        calls.stop()
        assert len(decided) == 1

    MainTasks.decide = decide
    try:
        with tempfile.TemporaryDirectory() as folder:
            play(staged(Path(folder)), body, size=(160, 60))
    finally:
        calls.stop()
        MainTasks.decide = real
    return calls.seen


def key_flow_counts():
    """Return the counts by name."""
    seen = key_flow()
    return {
        "files from a key to its decision": len({file for file, _ in seen}),
        "functions from a key to its decision": len(seen),
    }


if __name__ == "__main__":
    found = sorted(key_flow())
    for file, count in sorted(Counter(file for file, _ in found).items()):
        print(f"{file} {count}: {', '.join(name for place, name in found if place == file)}")
    print(len({file for file, _ in found}), "files,", len(found), "functions")
