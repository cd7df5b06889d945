"""A screen on a stage: real journal and real proposals, a hand whose clock only moves when a test says so."""

import asyncio
import re
from contextlib import suppress

from textual.worker import WorkerCancelled

from tests.support.keys import PRESS_SECONDS, before_key, pass_due, second_press
from tests.support.stage import USER, Stage, call, exchange, recording, text
from tests.tui.backend import backend
from workbench.backend.rules import LocalRules
from workbench.effects.clock import ManualClock
from workbench.host import queued_prompts, session_requests
from workbench.host.reopening import request_reopening
from workbench.journal.decisions import add_rule, revoke_rule
from workbench.tui.app import WorkbenchApp

LINES = [f"line {n}\n" for n in range(1, 61)]
ROUTER = "".join(LINES)
CHANGED = (
    ROUTER.replace("line 3\n", "line three\n")
    .replace("line 15\n", "line fifteen\n")
    .replace("line 27\n", "line twenty-seven\n")
)
EDIT = call("c1", "replace_string_in_file", path="router.py", old_string=ROUTER, new_string=CHANGED)
CREATE = call("c2", "create_file", path="docs/api.md", content="# API\n")
RUN = call("c3", "run_in_terminal", command="true")
THREE = recording(exchange(text("I change the router."), EDIT, CREATE, RUN), exchange(text("Done.")))
FILES = {"router.py": ROUTER}


async def work_done(app):
    """Wait for all work beside the loop; one that a newer one took the place of does not count."""
    while app.workers:
        with suppress(WorkerCancelled):
            await app.workers.wait_for_complete()
            return


MOST_ROUNDS = 20
"""What begins new work in every round is not waited for without end."""


async def settled(app, pilot):
    """Wait until all work beside the loop is done, and what it led to, and nothing is left to do."""
    for _ in range(MOST_ROUNDS):
        await work_done(app)
        await pilot.pause()
        # Keys that arrived together wait for their turn, on a busy machine longer than one round.
        if not app.workers and not app._typed.has_waiting:
            return


async def counted(app, *, paused=0.5):
    """Press a deciding key the second time, and let the time pass of somebody who looks before the next one.

    Args:
        app: With the key, if there is one.
        paused: Seconds between two keys; none where the same clock moves what is looked at.
    """
    await second_press(app)
    pause(app, paused)


def pause(app, seconds=0.5):
    """Let the time pass that somebody takes who looks at the screen between two keys."""
    if isinstance(app.monotonic, Hand):
        app.monotonic.waits(seconds)


class Hand:
    """The clock that arms keys."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at

    def waits(self, seconds=1.0):
        self.at += seconds


class Shown:
    """A running app with its stage."""

    def __init__(self, stage, app, hand, pilot):
        self.stage, self.app, self.hand, self.pilot = stage, app, hand, pilot

    @property
    def main(self):
        return self.app.main

    @property
    def approvals(self):
        return self.app.main.approvals

    @property
    def said(self):
        return self.main.rule.said

    @property
    def text(self):
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    async def settle(self):
        await settled(self.app, self.pilot)

    async def look(self):
        """Look at the journal now, as after a ring."""
        self.main.look()
        await self.settle()

    async def press(self, *keys, wait=1.0):
        """Press keys, each after the screen has stood for a while, and a deciding one twice."""
        for key in keys:
            self.hand.waits(wait)
            if wait > PRESS_SECONDS:
                before_key(self.app, key)
            await self.pilot.press(key)
            await self.settle()
            if wait > PRESS_SECONDS:
                await self.wait_for_key()

    async def press_once(self, key, *, wait=1.0):
        """Press a key once, after the screen has stood for a while."""
        self.hand.waits(wait)
        await self.pilot.press(key)
        await self.settle()

    async def begin(self):
        """Go from the composer, where a screen begins, to what waits."""
        await self.settle()
        if self.main.state.pending and self.main.composer.has_focus_within:
            await self.press("escape")

    async def wait_for_key(self):
        """Press a deciding key the second time, if the screen asks for that, and let it count."""
        if await second_press(self.app):
            await self.settle()

    async def pass_due(self):
        """Let the time come at which something is due."""
        await pass_due(self.app)
        await self.settle()

    def state(self, action):
        return self.stage.journal.action(action.id).state

    def row(self, target):
        return next(row for row in self.approvals.rows if target in row.target)


def driven(stage):
    stage.trust()
    stage.begin()
    stage.drive()
    return stage


kept_stages = None
"""What gives out copies of stages that were driven once; set for the tests of the screen."""


def staged(root, script=THREE, files=None, **more):
    """Return a stage on which an agent has asked for things and rests; its folder may be another than the root."""
    files = FILES if files is None else files
    kept = kept_stages.stage(script, files, more, driven) if kept_stages is not None else None
    return kept or driven(Stage(root, script, clock=ManualClock(), files=files, **more))


def edit_queued(stage, key, prompt, words):
    """Edit a queued message as the backend does."""
    if words:
        queued_prompts.edit_prompt(stage.journal, key, prompt, words, USER)
    else:
        queued_prompts.withdraw_prompt(stage.journal, key, prompt, USER)


def services(stage, **more):
    """Return services that reach the sessions of a stage, and no host."""
    ruling = LocalRules(stage.home, stage.journal, str(stage.workspace))
    made = {
        "submit_prompt": lambda key, words: session_requests.submit_prompt(stage.journal, key, words, USER),
        "edit_prompt": lambda key, prompt, words: edit_queued(stage, key, prompt, words),
        "move_prompt": lambda *asked: queued_prompts.move_prompt(stage.journal, *asked, USER),
        "interrupt_session": lambda key: session_requests.interrupt_session(stage.journal, key, USER),
        "continue_session": lambda key: session_requests.continue_session(stage.journal, key, USER),
        "refresh_action": lambda key: session_requests.request_refresh(stage.journal, key, USER),
        "known_tools": ruling.known_tools,
        "all_rules": ruling.all_rules,
        "asked_calls": ruling.asked_calls,
        "add_rule": lambda rule: add_rule(stage.journal, rule, USER),
        "revoke_rule": lambda number: revoke_rule(stage.journal, number, USER),
        "reopen_action": lambda key: request_reopening(stage.journal, key, USER),
    }
    return backend(**{**made, **more})


def play(stage, body, *, size=(120, 36), opens_on=None, goes_to_queue=True, **more):
    """Run a coroutine function of `Shown` against the screen of a stage.

    Args:
        stage: With its journal.
        body: What is done and looked at.
        size: Columns and rows.
        opens_on: Which session is on show.
        goes_to_queue: Whether the first key is the one that leads from the composer to what waits.
        more: Services of its own.
    """
    hand = Hand()
    app = WorkbenchApp(
        stage.journal, services(stage, **more), str(stage.workspace), home=str(stage.root), monotonic=hand
    )
    app.opens_on = opens_on

    async def run():
        async with app.run_test(size=size) as pilot:
            shown = Shown(stage, app, hand, pilot)
            await (shown.begin() if goes_to_queue else shown.settle())
            await body(shown)

    try:
        asyncio.run(run())
    finally:
        stage.journal.close()


CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b-\u200f\ufeff]")
