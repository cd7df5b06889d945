"""Whatever the journal brings, the focus stays where a key or a click has put it.

Events are drawn by seed: rows come, are answered elsewhere and expire, turns start and end, runs start and
end, sessions come. Between them the hand goes to another pane, page or dialog.
"""

import random

import pytest

from tests.support import drawn_runs
from tests.support.drawn_runs import HOST
from tests.support.sizes import size
from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.domain.events import (
    ActionOpened,
    ErrorRaised,
    RunChanged,
    SessionCreated,
    SessionStatusChanged,
)
from workbench.domain.values import Choice, Decision, StepPlan
from workbench.journal.decisions import decide_action, expire_due_actions

MINUTE = 60_000_000
SPOTS = {
    "composer": ("i",), "sessions": ("0",), "conversation": ("1",), "approvals": ("2",), "tools": ("3",),
    "pipeline": ("4",), "library": ("5",), "full diff": ("2", "enter"), "zoomed": ("1", "z"),
    "help": ("2", "?"), "palette": ("2", "ctrl+p"), "filter": ("1", "/"), "findings": ("8",),
}  # fmt: skip
"""Where the hand can be, and the keys that lead there from any pane."""


class Events:
    """What other processes write, drawn by chance."""

    def __init__(self, stage, chance):
        self.stage, self.journal, self.chance = stage, stage.journal, chance
        self.workspace = str(stage.workspace)
        self.sessions = [self.journal.sessions(self.workspace)[0].id]
        self.runs = []

    def write_one(self):
        """Write something, and return what it was."""
        kinds = (
            self.open_row, self.open_row, self.answer_row, self.expire_rows, self.change_status,
            self.change_status, self.start_run, self.change_run, self.create_session, self.raise_error,
        )  # fmt: skip
        kind = self.chance.choice(kinds)
        kind()
        return kind.__name__

    def _append(self, body, session, **about):
        self.journal.append([self.journal.event(body, session, HOST, **about)], strict=False)

    def open_row(self):
        now, kind = self.journal.now(), self.chance.choice(("gate", "question", "trust"))
        choices = () if kind == "question" else (Choice(key="yes", label="Yes"), Choice(key="no", label="No"))
        body = ActionOpened(
            action_kind=kind, tool=None, target="which route wins?", digest="0" * 64, created_at=now,
            expires_at=now + self.chance.randint(1, 20) * MINUTE, verb="ask", prompt="Which?", choices=choices,
        )  # fmt: skip
        self._append(body, self.chance.choice(self.sessions), action_id=self.journal.clock.new_id())

    def answer_row(self):
        waiting = self.stage.waiting()
        if waiting:
            action = self.chance.choice(waiting)
            decide_action(self.journal, Decision(action_id=action.id, verdict="reject"), action.digest, USER)

    def expire_rows(self):
        self.journal.clock.advance(self.chance.choice((5, 60, 1_200)))
        expire_due_actions(self.journal)

    def change_status(self):
        status = self.chance.choice(("processing", "ready", "paused"))
        self._append(SessionStatusChanged(status=status), self.chance.choice(self.sessions))

    def create_session(self):
        created = SessionCreated(session_kind="chat", title="another", workspace=self.workspace)
        self.sessions.append(self.journal.clock.new_id())
        self._append(created, self.sessions[-1])

    def start_run(self):
        plans = (StepPlan(id="build", kind="command"), StepPlan(id="release", kind="gate", needs=("build",)))
        name = self.journal.clock.new_id()
        self.runs.append(drawn_runs.Written(self.journal, self.workspace, plans, run=name))

    def change_run(self):
        if not self.runs:
            return
        run = self.runs.pop()
        if self.chance.random() < 0.5:
            run.done("build")
            run.ask("release", action=self.journal.clock.new_id())
        run.say(RunChanged(status=self.chance.choice(("completed", "failed"))))

    def raise_error(self):
        self._append(
            ErrorRaised(code="connection_closed", message="It closed."), self.chance.choice(self.sessions)
        )


async def back(shown):
    """Leave a dialog, a line, the full diff and a zoom, and rest in a pane."""
    for _ in range(3):
        await shown.press("escape")


@pytest.mark.parametrize("columns_rows", [(80, 24), (160, 48)])
def test_no_event_moves_the_focus(tmp_path, columns_rows):
    seed = 20_261_129
    chance = random.Random(seed)

    async def body(shown):
        events, done = Events(shown.stage, chance), []
        for _ in range(size("WORKBENCH_FOCUS_SPOTS", 8, 120)):
            await back(shown)
            spot = chance.choice(list(SPOTS))
            await shown.press(*SPOTS[spot])
            before = shown.app.screen, shown.app.focused, shown.main.place
            done.append(spot)
            for _ in range(chance.randint(2, 5)):
                done.append(events.write_one())
                await shown.look()
                now = shown.app.screen, shown.app.focused, shown.main.place
                assert now == before, (seed, done[-8:], before, now)

    play(staged(tmp_path), body, size=columns_rows)
