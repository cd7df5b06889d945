"""The life of an agent under supervision, step by step in one loop: each step is over when its driver rests.

The agent repeats ids, asks again, runs calls side by side, writes something else than was approved, does not wait,
does not ask, does not say that a call has ended, leaves and comes back. Its driver dies at the points where a death
matters. What the agent really ran is in its own log.
"""

import asyncio
import contextlib
from itertools import count

from tests.support.agent_tools import run_tool
from tests.support.fake_agent import HELLO, FakeAgent, FakeConnection
from tests.support.stage import USER
from tests.support.waits import PATIENCE, until_true
from workbench.domain.events import UndoRequested
from workbench.domain.values import UNDO_TOOL
from workbench.effects.fault_points import arm_fault, disarm_all_faults
from workbench.host.agent_link import AgentLink
from workbench.host.supervised_driver import drive_supervised
from workbench.host.supervised_session import require_supervised_session
from workbench.journal.decisions import extend_action
from workbench.journal.errors import JournalError
from workbench.supervised.messages import Hello

POINTS = (
    "supervised.asked", "supervised.before_executing", "supervised.executing", "supervised.answered",
    "supervised.observed",
)  # fmt: skip


OTHER_BYTES = b"something else\n"
"""What the agent writes in place of what was approved."""


class Died(BaseException):
    """The death of a driver."""


class Asked:
    """One question of the agent and what became of it."""

    def __init__(self, nonce, tool, given, key, waits):
        self.nonce, self.tool, self.given, self.key, self.waits = nonce, tool, given, key, waits
        self.allows, self.runs = [], 0
        """The answers that allowed it, and how often the agent ran it."""
        self.is_denied = False

    @property
    def is_open(self):
        return not self.allows and not self.is_denied


class Life:
    """A stage, its clock, the agent and the driver of now."""

    def __init__(self, stage, clock):
        self.stage, self.clock = stage, clock
        self.agent = FakeAgent(stage.workspace)
        self.asked, self.unasked = [], 0
        self._connections, self._nonces = [], count(1)
        self._is_over, self._rests, self._driver = False, 0, None
        self.deaths, self._is_tick_due = 0, False

    # --- the driver -----------------------------------------------------------------------------

    def _start(self):
        self.link, driver = AgentLink(), self.stage.driver()
        hello = Hello(cwd=str(self.stage.workspace), **HELLO)
        session = require_supervised_session(self.stage.journal, hello, str(self.stage.workspace), driver)
        self.stage.session_id = session.id
        self.driving = asyncio.create_task(
            drive_supervised(self.stage.context(), driver, session.id, self.link, self._looked)
        )

    def _looked(self, driver):
        """Called by the driver when nothing is due."""
        self._driver, self._rests = driver, self._rests + 1
        return self._is_over

    async def rest(self):
        """Wait until nothing is due; a driver that has died is followed by another."""
        if self._is_tick_due and self._driver is not None and not self.driving.done():
            await self._driver.tick()
        self._is_tick_due = False
        rests, _ = self._rests, self.link.changed.set()
        await until_true(lambda: self.driving.done() or (
            self._rests > rests and not self.link.changed.is_set() and not self.link.has_unread()
        ), pause=lambda: asyncio.sleep(0.001))  # fmt: skip
        self._read_answers()
        if self.driving.done():
            await self._die()

    async def _die(self):
        error = self.driving.exception()
        if not isinstance(error, Died):
            raise error
        disarm_all_faults()
        self.deaths, self._driver = self.deaths + 1, None
        self.stage.lock.close()
        self._start()
        self.come_back()
        await self.rest()

    async def play(self, steps):
        """Take steps, each a name and numbers; end as an agent does that leaves."""
        self._start()
        self.agent.connect(self.link)
        self._connections.append(self.agent.connection)
        try:
            for name, *numbers in steps:
                getattr(self, name)(*numbers)
                await self.rest()
            disarm_all_faults()
            self._is_over = True
            self.link.changed.set()
            await asyncio.wait_for(self.driving, PATIENCE)
        finally:
            disarm_all_faults()
            self.driving.cancel()
            await asyncio.gather(self.driving, return_exceptions=True)
            self.stage.lock.close()

    def _read_answers(self):
        for asked in self.asked:
            answers = [a for each in self._connections for a in each.answers.get(asked.nonce, ())]
            asked.allows = [answer for answer in answers if answer.outcome == "allow"]
            asked.is_denied = bool(answers) and not asked.allows

    # --- steps of the agent ------------------------------------------------------------------------

    def ask(self, tool, given, key, waits=None):
        asked = Asked(f"n{next(self._nonces)}", tool, given, key, waits)
        self.asked.append(asked)
        self._send(asked)

    def _send(self, asked):
        self.agent.ask(asked.nonce, asked.tool, asked.given, asked.key, waits=asked.waits)

    def again(self, number):
        """Ask a question once more, by the same nonce."""
        if asked := _pick(self.asked, number):
            self._send(asked)

    def run(self, number):
        """Run an allowed call as it was allowed, once, and say that it ended."""
        self._execute(number, says=True)

    def run_in_silence(self, number):
        self._execute(number, says=False)

    def _execute(self, number, *, says):
        asked = _pick([each for each in self.asked if each.allows and not each.runs], number)
        if asked is None:
            return
        asked.runs += 1
        allowed = asked.allows[0].input
        given = asked.given if allowed is None else allowed
        self.agent.log.append((asked.tool, given))
        output, is_error = _tool_result(self.stage.workspace, asked.tool, given)
        if says:
            self.agent.done(asked.tool, given, asked.key, output=output, is_error=is_error)

    def write_other(self, number):
        """Say that an allowed call has ended, and have written something else."""
        asked = _pick([each for each in self.asked if each.allows and not each.runs], number)
        if asked is not None and asked.tool != "Bash":
            asked.runs += 1
            path = self.stage.workspace / asked.given["file_path"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(OTHER_BYTES)
            self.agent.done(asked.tool, asked.given, asked.key)

    def not_wait(self, number):
        """Run a call whose question is open."""
        asked = _pick([each for each in self.asked if each.is_open], number)
        if asked is not None:
            self.unasked += 1
            self.agent.run(asked.tool, asked.given, asked.key)

    def not_ask(self, tool, given, key):
        self.unasked += 1
        self.agent.run(tool, given, key)

    @property
    def is_here(self):
        """Return whether the agent waits for its answers."""
        return self.agent.connection.is_open

    def leave(self):
        self.agent.disconnect()

    def come_back(self):
        """Connect again and ask again what was not answered, as a client that lost its connection does."""
        self.agent.disconnect()
        self.agent.link, self.agent.connection = self.link, FakeConnection()
        self._connections.append(self.agent.connection)
        self.link.put(self.agent.connection, Hello(cwd=str(self.stage.workspace), **HELLO))
        for asked in self.asked:
            if asked.is_open:
                self._send(asked)

    def end_turn(self):
        self.agent.end_turn()

    # --- steps of others ----------------------------------------------------------------------------

    def approve(self, number):
        if action := _pick(self.stage.waiting(), number):
            self.stage.approve(action)

    def approve_first_hunk(self, number):
        with_hunks = [
            each for each in self.stage.waiting() if each.kind == "tool" and each.added + each.removed
        ]
        if action := _pick(with_hunks, number):
            self.stage.approve(action, hunks=[1])

    def reject(self, number):
        if action := _pick(self.stage.waiting(), number):
            self.stage.reject(action)

    def undo(self, number):
        """Have a human undo the change of an action."""
        journal = self.stage.journal
        if action := _pick(journal.actions(self.stage.session_id, states=("approved",)), number):
            journal.append([journal.event(UndoRequested(), self.stage.session_id, USER, action_id=action.id)])

    def edit(self, name, text):
        """Have a human write a file."""
        (self.stage.workspace / name).write_text(text)

    def say(self, body, number):
        """Let an event of a user come that names what there is in the session; the journal may refuse it."""
        journal, session_id = self.stage.journal, self.stage.session_id
        call = _pick(journal.calls(session_id), number)
        action = _pick(journal.actions(session_id), number)
        with contextlib.suppress(JournalError, ValueError):
            journal.append([
                journal.event(
                    body, session_id, USER, action_id=action and action.id, call_id=call and call.id,
                    turn_id=journal.session(session_id).open_turn,
                )
            ])  # fmt: skip

    def extend(self, number):
        if action := _pick(self.stage.waiting(), number):
            extend_action(self.stage.journal, action.id, USER)

    def wait(self, seconds):
        """Let time pass; the driver's clock ticks behind it."""
        self.clock.advance(seconds)
        self._is_tick_due = True

    def die(self, point):
        """Let the driver die when it next passes a point."""
        arm_fault(POINTS[point], Died())

    # --- what must hold -----------------------------------------------------------------------------

    def executing(self):
        """Return the events by which calls were handed over that the agent had asked about."""
        journal = self.stage.journal
        undone = {row.id for row in journal.calls(self.stage.session_id) if row.tool == UNDO_TOOL}
        own = {row.id for row in journal.calls(self.stage.session_id) if row.verdict_by == "its own mode"}
        events = journal.events(self.stage.session_id)
        handed = [event for event in events if event.kind == "call.executing"]
        return [event for event in handed if event.call_id not in undone | own]


def _pick(rows, number):
    return rows[number % len(rows)] if rows else None


def _tool_result(folder, tool, given):
    try:
        return run_tool(folder, tool, given), False
    except (ValueError, OSError) as error:
        return str(error), True
