"""How many files and functions stand between a cause and its effect; bounds that only fall.

Whoever follows one of these flows reads that many files. A function counts that was called at least once.
"""

import asyncio
import contextlib
import inspect
import os
import sys
import threading
from collections import Counter
from pathlib import Path

import workbench
from tests.support.keys import PRESS_SECONDS
from tests.support.runs import Runs
from tests.support.stage import Stage, call, exchange, recording, text
from tests.support.waits import PATIENCE
from tests.tui.screens import CHANGED, EDIT, FILES, play, staged
from tests.unit.pipelines.projects import command
from workbench.effects.runtime import ManualClock
from workbench.host import session_driver
from workbench.host.session_driver import drive_session
from workbench.host.steps import run_driver
from workbench.pipelines.coordinator import Coordinator
from workbench.tui.journal_source import JournalFeed
from workbench.tui.main import screen
from workbench.tui.main.redraw_timer import RedrawTimer
from workbench.tui.main.tasks import MainTasks

PACKAGE = str(Path(workbench.__file__).parent)
MOST = {
    # Flow: files, functions.
    "a key until its decision leaves the screen": (17, 78),
    "a decision until the file is written and the turn has ended": (48, 540),
    "an event in the journal until its row is drawn": (66, 803),
    "a step due until it is completed": (36, 275),
}


class Calls:
    """Notes which functions of the program are called, in all threads, until it is closed."""

    def __init__(self):
        self.seen = set()

    def _see(self, frame, what, _):
        code = frame.f_code
        # What is run once, while a module is imported, is no part of a flow.
        if what == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(PACKAGE):
            self.seen.add((code.co_filename, code.co_qualname))

    def __enter__(self):
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)
        threading.setprofile(None)

    def within(self, flow):
        """Assert that no more was called than the bound of a flow allows."""
        files = Counter(os.path.relpath(file, PACKAGE) for file, _ in self.seen)
        most_files, most_functions = MOST[flow]
        assert len(files) <= most_files and len(self.seen) <= most_functions, (
            f"{flow}: {len(files)} files, {len(self.seen)} functions\n" + "\n".join(sorted(files))
        )


def test_a_key_that_decides(tmp_path, monkeypatch):
    stage, calls, decided = staged(tmp_path), Calls(), []

    def decide(tasks, message, real=MainTasks.decide):
        calls.__exit__()
        decided.append(message.action_id)
        return real(tasks, message)

    async def body(shown):
        action = next(action for action in shown.stage.waiting() if action.verb == "edit")
        shown.approvals.queue.put_cursor(action.id)
        await shown.settle()
        for seconds in (1.0, PRESS_SECONDS):
            await shown.press_once("a", wait=seconds)
        shown.hand.at = shown.app.guarded.state.due
        monkeypatch.setattr(MainTasks, "decide", decide)
        with calls:
            shown.app.guarded.commit_due()
            async with asyncio.timeout(5):
                while not decided:
                    await asyncio.sleep(0.001)
        await shown.settle()
        assert decided == [action.id]

    play(stage, body, size=(160, 60))
    calls.within("a key until its decision leaves the screen")


def test_a_decision_that_is_carried_out(tmp_path, monkeypatch):
    script = recording(exchange(text("I change the router."), EDIT), exchange(text("Done.")))
    stage, calls = Stage(tmp_path, script, clock=ManualClock(), files=FILES).trust().begin(), Calls()
    stage.drive()
    stage.approve(*stage.waiting())
    # What a driver opens once is no part of the flow, and neither is what it looks at once a second.
    monkeypatch.setattr(session_driver, "running_clock", lambda *_: contextlib.AsyncExitStack())
    context, driver = stage.context(), stage.driver()

    async def drive():
        driving = drive_session(context, driver, stage.session_id, until=lambda progress: progress.is_resting)
        await asyncio.wait_for(driving, PATIENCE)

    with calls:
        asyncio.run(drive())
    stage.lock.close()
    assert stage.read("router.py").decode() == CHANGED
    stage.close()
    calls.within("a decision until the file is written and the turn has ended")


def test_an_event_that_is_drawn(tmp_path, monkeypatch):
    # What a second brings is no part of an event, and a slow machine would count it.
    monkeypatch.setattr(RedrawTimer, "tick", lambda timer: None)
    # Neither is what a screen looks at a while after its start.
    monkeypatch.setattr(screen, "_CHECK_HOST_AFTER", PATIENCE)
    # Nothing is read before the calls are noted.
    monkeypatch.setattr(JournalFeed, "start", lambda feed: None)
    script = recording(exchange(text("I run it."), call("c3", "run_in_terminal", command="make all")))
    stage, calls = Stage(tmp_path, script, clock=ManualClock(), files=FILES).trust().begin(), Calls()

    async def body(shown):
        async def drive():
            driving = drive_session(
                stage.context(), stage.driver(), stage.session_id, until=lambda progress: progress.is_resting
            )
            await asyncio.wait_for(driving, PATIENCE)

        await asyncio.to_thread(lambda: asyncio.run(drive()))
        stage.lock.close()
        with calls:
            await shown.look()
        assert "make all" in shown.text

    play(stage, body, size=(160, 48), goes_to_queue=False)
    calls.within("an event in the journal until its row is drawn")


def test_a_step_that_is_run(tmp_path, monkeypatch):
    runs, calls = Runs(tmp_path), Calls()
    run = runs.request(runs.pipeline(command("hi", "echo hi")))

    async def coordinate(coordinator, until, real=Coordinator.run):
        with calls:
            await real(coordinator, until)

    monkeypatch.setattr(Coordinator, "run", coordinate)
    # What the driver does once a second is no part of a step, and a slow machine would count it.
    monkeypatch.setattr(run_driver, "running_clock", lambda *_: contextlib.AsyncExitStack())
    row = runs.drive(run)
    assert row.status == "completed"
    calls.within("a step due until it is completed")
