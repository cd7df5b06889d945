"""The demo line by line: the agent runs in this process and the user answers by typing."""

import asyncio
import contextlib
import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.changes.decision import make_decision
from workbench.cli.approval_display import proposal_of
from workbench.cli.approval_line_mode import LineMode, read_lines
from workbench.cli.console import Console
from workbench.cli.context import user_actor
from workbench.cli.errors import EXIT_OK, EXIT_PARKED
from workbench.cli.run import EventConsumer, pause_session
from workbench.cli.run_output import HumanPrinter
from workbench.domain.rows import Action, Session
from workbench.host import workspace_trust
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.model_selection import provider_of
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.decisions import decide_action
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock

if TYPE_CHECKING:
    from workbench.cli.demo import Demo


async def run_demo_by_line(demo: "Demo", session: Session, prompt: str) -> int:
    """Let the agent work until its turn ends or the person leaves; return the exit code."""
    console, journal = demo.console, demo.journal
    lines = TypedLines(sys.stdin.fileno())
    console.say(f"A temporary project: {demo.workspace}. Its agent is recorded; no network, no model.")
    await ask_trust_question(journal, console, demo.workspace, lines, is_typed=sys.stdin.isatty())
    console.say(f"› {prompt}")
    await _drive_demo(demo, session, lines)
    return _exit_code(journal, session.id)


class TypedLines:
    """Lines as they are typed; in one event loop."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: deque[str] = deque()
        self.has_ended = False
        self.changed = asyncio.Event()
        read_lines(descriptor, self._hear)

    def _hear(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._keep, line)

    def _keep(self, line: str | None) -> None:
        if line is None:
            self.has_ended = True
        elif line.strip():
            self._lines.append(line)
        self.changed.set()

    async def next(self) -> str | None:
        """Wait for the next line and return it; None when there are no more."""
        while not self._lines and not self.has_ended:
            self.changed.clear()
            await self.changed.wait()
        return self.take()

    def take(self) -> str | None:
        """Return the next line if there is one."""
        return self._lines.popleft() if self._lines else None

    def put_back(self, line: str) -> None:
        """Let a line be the next one again."""
        self._lines.appendleft(line)


async def _drive_demo(demo: "Demo", session: Session, lines: TypedLines) -> None:
    journal = demo.journal
    printer = HumanPrinter(journal, demo.console, says_how=False)
    start = journal.last_position() if session.status == "paused" else 0
    consumer = EventConsumer(journal, session.id, printer, start)
    # Its lines may come from a pipe, one an answer; the files are a throw-away copy.
    mode = LineMode(journal, demo.console, require_seen=False)
    conversation = AnswerLoop(lines, mode, lambda: journal.actions(session.id, states=("pending",)))
    context = open_driver_context(
        demo.home, journal, demo.workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    with DriverLock(journal, driver := driver_identity(journal, demo.workspace, "run")):
        driven = asyncio.ensure_future(
            drive_session(context, driver, session.id, until=conversation.is_over, on_events=consumer.see)
        )
        await _until_either_ends(driven, asyncio.ensure_future(conversation.talk()))
    consumer.require_listener()
    pause_session(journal, session.id, "finished")


async def _until_either_ends(
    driven: "asyncio.Future[SessionProgress]", talking: "asyncio.Future[None]"
) -> None:
    """Wait until the turn ends or the person leaves, and end the other side; what failed is raised."""
    both = (driven, talking)
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        results = await asyncio.gather(*both, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


def _exit_code(journal: Journal, session_id: str) -> int:
    return EXIT_PARKED if journal.actions(session_id, states=("pending",)) else EXIT_OK


TICK_SECONDS = 1.0


class AnswerLoop:
    """Answers by line while a session is driven."""

    def __init__(self, lines: TypedLines, mode: LineMode, waiting: Callable[[], list[Action]]) -> None:
        self._lines, self._mode, self._waiting = lines, mode, waiting
        self._progress: SessionProgress | None = None

    def is_over(self, progress: SessionProgress) -> bool:
        """Take note of where the session stands; True when its turn has ended."""
        self._progress = progress
        self._lines.changed.set()
        return progress.is_idle

    async def talk(self) -> None:
        """Talk until there are no more lines or the person leaves."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._lines.changed.wait(), TICK_SECONDS)
            self._lines.changed.clear()
            if self._rests() and not self._answer():
                return

    def _rests(self) -> bool:
        progress = self._progress
        return progress is not None and progress.is_resting and bool(progress.waiting)

    def _answer(self) -> bool:
        """Take lines until one of them changes what waits; False when it is time to leave."""
        before = self._ids()
        self._mode.look()
        while (line := self._lines.take()) is not None:
            if not self._mode.answer(line):
                return False
            if self._ids() != before:
                # The driver has not seen the answer yet; the next line waits until it rests again.
                self._progress = None
                return True
        return not self._lines.has_ended

    def _ids(self) -> list[str]:
        return [action.id for action in self._waiting()]


TRUST_QUESTION = "May agents read files here without asking? yes, no"
_YES_NO = {"y": True, "yes": True, "n": False, "no": False}


async def ask_trust_question(
    journal: Journal, console: Console, workspace: str, lines: TypedLines, *, is_typed: bool
) -> None:
    """Ask the trust question unless it was answered."""
    action_id = workspace_trust.open_trust_question(journal, workspace)
    if action_id is None:
        return
    console.say(TRUST_QUESTION)
    may_read = await _read_yes_no(console, lines, is_typed=is_typed)
    _decide_trust(journal, action_id, may_read)
    console.say(
        "Reads are allowed without a question, everything else asks."
        if may_read
        else "Reads ask, like everything else."
    )


async def _read_yes_no(console: Console, lines: TypedLines, *, is_typed: bool) -> bool:
    while (line := await lines.next()) is not None:
        answer = _YES_NO.get(line.strip().lower())
        if answer is not None:
            return answer
        if not is_typed:
            lines.put_back(line)
            return True
        console.say(TRUST_QUESTION)
    return False


def _decide_trust(journal: Journal, action_id: str, may_read: bool) -> None:
    action = journal.action(action_id)
    if action is None:
        return
    shown = proposal_of(journal, action)
    choice = "trust_and_read" if may_read else "not_now"
    answer = make_decision(
        shown, action_id, "approve" if may_read else "reject", blobs=journal.blobs, choice=choice
    )
    decide_action(journal, answer, action.digest, user_actor())
