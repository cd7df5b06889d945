"""A session of kind `ask`: words become a command, which a human accepts, rejects or leaves. Nothing runs it.

Each iteration is one turn, driven in this process under a lease. What the gate says is judged here and
recorded with the command; its log is a file in the form of S3, made of the session's events.
"""

# The lease is given back between two turns. The next one takes it before the words are recorded, so that no
# background process finds a prompt that nobody drives.

import json
import os
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.ask.answer import SYSTEM_PROMPT, Answer, AnswerUnreadable, read_answer
from workbench.ask.context import AskContext
from workbench.domain.events import (
    CommandSuggested,
    ContextCollected,
    ErrorRaised,
    Event,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.machines import SESSION_MOVES
from workbench.domain.rows import LogStatus
from workbench.domain.values import Actor, GateVerdict, Json, JsonObject, Refused
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import private_folder, write_atomic
from workbench.formats.command_log import command_log, log_id
from workbench.host import redaction, session_requests
from workbench.host.call_context import gate_context
from workbench.host.driver_context import DriverContext, OnEvents, SessionWriter, ignore_events
from workbench.host.session_driver import SessionProgress, drive_session
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, first_lease, lease_guard, take_lease
from workbench.policy.command_review import CommandReview, review_command
from workbench.policy.gate import GateCall, command_boundary, judge_screened_call, screen_call
from workbench.text.human import iso_time
from workbench.text.safe import one_line
from workbench.tools.registry import tool_registry
from workbench.views.sessions import log_name

NO_TOOLS: Final = ("none",)
"""The active tools of these sessions: none is called that, so none is offered and calls are refused."""
_MOST_ROUNDS: Final = 2
_COMMAND_TOOL: Final = "run_in_terminal"
_TITLE_CELLS: Final = 60


class CommandRefused(Refused):
    """No command was made of the words."""

    def __init__(self, why: str, remedy: str, raw: str = "") -> None:
        super().__init__("No command was made.", why, remedy)
        self.raw = raw
        """The reply as it came, where it could not be read."""


class Suggestion(Struct, frozen=True, kw_only=True):
    """One iteration: a command, and what the gate and the review of its parts say of it."""

    feedback: str
    """What was said of the one before; empty for the first."""
    answer: Answer
    verdict: GateVerdict
    review: CommandReview

    @property
    def is_denied(self) -> bool:
        return self.verdict.outcome in ("denied", "refused")


class CommandPlan(Struct, frozen=True, kw_only=True):
    """Whom a new session asks, and what it is told."""

    provider: str
    model: str
    configuration: JsonObject
    context: AskContext


class CommandSession:
    """One session of kind `ask` from its first event to what a human makes of it."""

    def __init__(
        self, context: DriverContext, driver: DriverIdentity, plan: CommandPlan, actor: Actor
    ) -> None:
        """Prepare a session; nothing is recorded before the first words."""
        self._context, self._driver, self._plan, self._actor = context, driver, plan, actor
        self.session_id = ""
        self.suggestions: list[Suggestion] = []
        self.is_over = False

    @property
    def _journal(self) -> Journal:
        return self._context.journal

    # --- iterations -------------------------------------------------------------------------------

    async def suggest(
        self,
        words: str,
        on_events: OnEvents = ignore_events,
        is_over: Callable[[SessionProgress], bool] = lambda progress: progress.is_idle,
    ) -> Suggestion:
        """Ask for a command, or with what is wrong with the last one for a better one; one turn.

        Raises CommandRefused where none came, and what driving a session raises.
        """
        is_first = not self.session_id
        if is_first:
            self._begin(words)
        else:
            take_lease(self._journal, self.session_id, self._driver)
        start = self._journal.last_position()
        session_requests.submit_prompt(self._journal, self.session_id, words, self._actor)
        await drive_session(self._context, self._driver, self.session_id, until=is_over, on_events=on_events)
        turn_id, answer = self._answer_of(self._journal.events(self.session_id, after=start))
        verdict, review = self.judge(answer.command)
        self._record(turn_id, answer, verdict)
        suggestion = Suggestion(
            feedback="" if is_first else words, answer=answer, verdict=verdict, review=review
        )
        self.suggestions.append(suggestion)
        return suggestion

    def _begin(self, words: str) -> None:
        journal, plan = self._journal, self._plan
        self.session_id = journal.clock.new_id()
        log = log_name(iso_time(journal.now()), self.session_id)
        settings: dict[str, Json] = {**plan.configuration, "ask": {"log": log}, "max_turns": _MOST_ROUNDS}
        created = SessionCreated(
            session_kind="ask", workspace=self._context.workspace, provider=plan.provider, model=plan.model,
            title=redaction.redact_line(one_line(words.strip(), _TITLE_CELLS), 120),
            system_prompt=SYSTEM_PROMPT, configuration=settings, active_tools=NO_TOOLS,
            telemetry_id=journal.clock.new_id(),
        )  # fmt: skip
        context = plan.context
        collected = ContextCollected(
            text=context.prompt_text(), preferences=context.preferences, terminal=context.terminal,
            documentation="\n\n".join(filter(None, (context.documentation, context.build_tools))),
            tmux=context.tmux.as_json(), notes=context.notes,
        )  # fmt: skip
        journal.append([
            journal.event(created, self.session_id, self._actor),
            first_lease(journal, self.session_id, self._driver),
            journal.event(collected, self.session_id, self._actor),
        ])  # fmt: skip

    def _answer_of(self, events: Sequence[Event]) -> tuple[str | None, Answer]:
        """Return the turn and the answer of its last reply; raises CommandRefused."""
        error = next((event.body for event in reversed(events) if isinstance(event.body, ErrorRaised)), None)
        ended = next((event.body for event in reversed(events) if isinstance(event.body, TurnEnded)), None)
        reply = next((event for event in reversed(events) if isinstance(event.body, ReplyCompleted)), None)
        if ended is None or ended.outcome == "interrupted":
            raise CommandRefused("It was stopped.", "Ask again.")
        if reply is None or ended.outcome == "error":
            raise CommandRefused(*_failure_words(error, ended))
        assert isinstance(reply.body, ReplyCompleted)
        ref = reply.body.text_ref
        exact = self._journal.blobs.read(ref) if ref else None
        text = reply.body.text if exact is None else exact.decode("utf-8", "replace")
        try:
            return reply.turn_id, read_answer(text)
        except AnswerUnreadable as unreadable:
            why = f"The model's reply cannot be used: {unreadable.why}."
            raise CommandRefused(why, "Say it in other words, or name another model.", text) from None

    def judge(self, command: str) -> tuple[GateVerdict, CommandReview]:
        """Return what the gate says of a command (steps 1 to 4, 6 and 7; no hook runs) and its parts."""
        lease = self._journal.lease(self.session_id)
        assert lease is not None
        # The session itself has no tools, so that nothing of them is checked before the model is asked.
        judging_context = replace(self._context, tools=tool_registry())
        writer = SessionWriter(judging_context, self.session_id, lease_guard(lease))
        gate = replace(gate_context(writer, self._context.read_settings()), active_tools=(), can_ask=True)
        screened = screen_call(
            GateCall(tool=_COMMAND_TOOL, parameters={"command": command}, cwd=gate.workspace), gate
        )
        verdict = screened if isinstance(screened, GateVerdict) else judge_screened_call(screened, gate)
        return verdict, review_command(command, command_boundary(gate))

    def _record(self, turn_id: str | None, answer: Answer, verdict: GateVerdict) -> None:
        body = CommandSuggested(
            command=redaction.redact_and_cut_text(answer.command),
            explanation=redaction.redact_and_cut_text(answer.explanation), verdict=verdict,
        )  # fmt: skip
        actor = Actor(kind="agent")
        self._journal.append([self._journal.event(body, self.session_id, actor, turn_id=turn_id)])

    def repeat(self, suggestion: Suggestion) -> None:
        """Record an earlier command once more as the last one, because the human accepts that one."""
        if suggestion is not self.suggestions[-1]:
            self._record(None, suggestion.answer, suggestion.verdict)

    # --- the end ----------------------------------------------------------------------------------

    def end(self, status: LogStatus) -> None:
        """Record what the human made of it, once; a session that never began is nothing."""
        session = self._journal.session(self.session_id) if self.session_id and not self.is_over else None
        if session is None:
            return
        self.is_over = True
        moves = SESSION_MOVES[session.status]
        last = next((name for name in ("completed", "terminated") if name in moves), None)
        if last is not None:
            body = SessionStatusChanged(status=last, detail=status)  # type: ignore[arg-type]
            self._journal.append([self._journal.event(body, self.session_id, self._actor)])

    def write_log(self) -> str:
        """Write the log as it stands; return a warning where that is not possible, else nothing."""
        if not self.session_id:
            return ""
        return write_log(self._context.home, self._journal, self.session_id)


def _failure_words(error: ErrorRaised | None, ended: TurnEnded) -> tuple[str, str]:
    if error is None:
        return f"The turn ended: {ended.detail or ended.outcome}.", "Ask again."
    return error.message, error.remedy or error.details or "Ask again."


def write_log(home: Home, journal: Journal, session_id: str) -> str:
    """Write the log of a session by a temporary file; return a warning where it cannot be written."""
    session = journal.session(session_id)
    if session is None:
        return ""
    folder = home.ask_logs
    try:
        private_folder(folder.parent)
        private_folder(folder)
        document = command_log(session, journal.events(session_id))
        text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        write_atomic(folder / f"{log_id(session)}.json", text.encode("utf-8", "replace"))
    except FileRefused as error:
        return f"The log was not written: {error.why}. The command is not affected."
    except OSError as error:
        return f"The log was not written: {os.strerror(error.errno or 0)}. The command is not affected."
    return ""
