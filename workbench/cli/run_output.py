"""Events of `workbench run` as they reach a printer, its progress, its result and its exit code.

On a terminal one line of progress says who is asked, what runs and for how long.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, Literal, Protocol

from msgspec import Struct, field

from workbench.cli.console import Console
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_PARKED, EXIT_UNANSWERED
from workbench.cli.row_json import JsonFields, action_json, iso_time, row_fields, usage_json
from workbench.cli.rows import call_target
from workbench.domain import events as e
from workbench.domain.events import (
    CallProposed,
    ErrorRaised,
    Event,
    FileChanged,
    ReplyCompleted,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.rows import Action, Call, Session
from workbench.host.model_call import CUT_REPLY_CODES
from workbench.journal.journal import Journal
from workbench.text.human import SECOND_MICROS, countdown_text, duration_text, token_text
from workbench.text.safe import one_line
from workbench.views.conversation_blocks import ProgressBlock
from workbench.views.conversation_progress import ModelProgress

TICK_SECONDS: Final = 0.5
"""Twice a second: at once a second a busy machine leaves seconds out."""
_MAX_TARGET_CELLS: Final = 60
_ANSWERS: Final = (
    e.ActionApproved, e.ActionRejected, e.ActionExpired, e.ActionCancelled, e.ActionSuperseded,
)  # fmt: skip
_STOP_HINT: Final = "ctrl+c stops"


class RunProgressLine:
    """What the session of a run does now, as one line."""

    def __init__(self, console: Console, now: Callable[[], int], waiting: Iterable[Action] = ()) -> None:
        """Show progress on the terminal behind stderr.

        `now` gives microseconds, `waiting` is what waits for an answer already.
        """
        self._console, self._now = console, now
        self._model = ModelProgress()
        self._names: dict[str, tuple[str, str]] = {}
        """By call: tool and target."""
        self._running: dict[str, tuple[int, float | None]] = {}
        """By call: since when it runs, and for how many seconds it may."""
        self._waiting = {action.id: action.created_at for action in waiting}
        """By action: since when it waits for an answer."""
        self._turn_since: int | None = None

    def see(self, events: Iterable[Event]) -> None:
        """Take in events and show what they changed."""
        for event in events:
            self._model.apply(event)
            self._note(event)
        self.tick()

    def tick(self) -> None:
        """Show how it stands now; nothing where nothing goes on."""
        now = self._now()
        text, block = self.text(now), self._model.block(now)
        if text:
            # A reply that stands still in the middle of a line is worth a line end.
            self._console.status(text, breaks_line=block is not None and block.silent > 0)
        else:
            self._console.clear_status()

    def text(self, now: int) -> str:
        """Return the line of a moment; empty while no turn is open."""
        signs = self._console.signs
        if self._running:
            return f"{signs.of('running')} {self._running_words(now)}  {_STOP_HINT}"
        if (block := self._model.block(now)) is not None:
            return f"{signs.of('running')} {'  '.join([*_model_parts(block), _STOP_HINT])}"
        if self._waiting:
            since = min(self._waiting.values())
            count = len(self._waiting)
            waits = "1 question waits" if count == 1 else f"{count} questions wait"
            clock = countdown_text((now - since) // SECOND_MICROS)
            return f"{signs.of('waiting')} {waits} for your answer  {clock}"
        if self._turn_since is not None:
            clock = countdown_text((now - self._turn_since) // SECOND_MICROS)
            return f"{signs.of('running')} working  {clock}  {_STOP_HINT}"
        return ""

    def _running_words(self, now: int) -> str:
        """Return `run pytest -q  0:27 of 1:00` for the call that began last."""
        key, (since, limit) = next(reversed(self._running.items()))
        name = " ".join(word for word in self._names.get(key, ("a call", "")) if word)
        more = f" (and {len(self._running) - 1} more)" if len(self._running) > 1 else ""
        of = f" of {countdown_text(limit)}" if limit is not None else ""
        return f"{name}{more}  {countdown_text((now - since) // SECOND_MICROS)}{of}"

    def _note(self, event: Event) -> None:
        body, action = event.body, event.action_id or ""
        if isinstance(body, e.TurnStarted):
            self._turn_since = self._turn_since or event.at
        elif isinstance(body, e.TurnEnded):
            self._turn_since = None
            self._running.clear()
            self._waiting.clear()
        elif isinstance(body, e.ActionOpened):
            self._waiting[action] = event.at
        elif isinstance(body, _ANSWERS):
            self._waiting.pop(action, None)
        else:
            self._note_call(event, event.call_id or "")

    def _note_call(self, event: Event, call: str) -> None:
        body = event.body
        if isinstance(body, e.CallProposed):
            self._names[call] = body.tool, one_line(body.target, _MAX_TARGET_CELLS)
        elif isinstance(body, e.CallExecuting):
            self._running[call] = event.at, None
        elif isinstance(body, e.ProcessStarted):
            self._names[call] = "run", self._names.get(call, ("", ""))[1]
            self._running[call] = event.at, body.limit_seconds
        elif isinstance(body, e.CallFinished):
            self._running.pop(call, None)
            self._names.pop(call, None)


def _model_parts(block: ProgressBlock) -> list[str]:
    """Return `qwen3 reads`, seconds and tokens; then `qwen3 writes`, its rate, tokens and seconds."""
    parts = [f"loading {block.model}" if block.phase == "loads" else f"{block.model} {block.phase}"]
    if block.seconds is not None:
        parts.append(countdown_text(block.seconds))
    if block.phase in ("loads", "reads"):
        parts += [f"about {token_text(block.tokens)} tok"] if block.tokens else []
        usual = None if block.usual is None else duration_text(block.usual)
        return [*parts, f"usually {usual}"] if usual else parts
    if block.silent:
        parts.append(f"silent {duration_text(block.silent, counts_on=True)}")
    elif block.rate:
        parts.append(f"about {token_text(block.rate)} tok/s")
    return [*parts, f"about {token_text(block.tokens)} tok"]


@asynccontextmanager
async def ticking(tick: Callable[[], None], *, is_on: bool = True) -> AsyncGenerator[None]:
    """Call `tick` every `TICK_SECONDS` while something is awaited."""

    async def count() -> None:
        while True:
            tick()
            await asyncio.sleep(TICK_SECONDS)

    counter = asyncio.create_task(count(), name="progress") if is_on else None
    try:
        yield
    finally:
        if counter is not None:
            counter.cancel()
            with suppress(asyncio.CancelledError):
                await counter


class Printer(Protocol):
    """One way to tell a run."""

    def see(self, events: Iterable[Event]) -> None: ...

    def end(self, facts: JsonFields, waiting: list[Action], /) -> None:
        """Tell how it ended."""
        ...


RunEnding = Literal["finished", "parked", "interrupted"]


class RunTally(Struct):
    """What a run has seen so far."""

    reply: str = ""
    outcome: str | None = None
    """Of the newest turn that ended; `loop` where it is paused because the agent repeats itself."""
    detail: str = ""
    error: JsonFields | None = None
    """What went wrong last in the turn that ended with an error or a reply that was cut."""
    denied: list[str] = field(default_factory=list[str])
    """Calls that were denied because nobody could be asked."""
    refused: int = 0
    """Questions that this run answered with no."""
    files: list[JsonFields] = field(default_factory=list[JsonFields])
    is_cut: bool = False
    """Whether the newest reply is not whole: a limit of tokens, a filter, a bound of this program."""

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            match event.body:
                case ReplyCompleted() as body:
                    self.reply, self.is_cut = body.text, False
                case ErrorRaised() as body:
                    self.is_cut = self.is_cut or body.code in CUT_REPLY_CODES
                    self.error = row_fields(body, "code message remedy")
                case TurnEnded() as body:
                    self.outcome, self.detail = body.outcome, body.detail
                    self.error = self.error if body.outcome == "error" or self.is_cut else None
                case SessionStatusChanged(status="paused", reason="loop"):
                    self.outcome = "loop"
                case CallProposed() as body if (
                    body.verdict.outcome == "denied" and body.verdict.step == "ask"
                ):
                    self.denied.append(event.call_id or "")
                case FileChanged() as body:
                    self.files.append(_file_json(body))
                case _:
                    pass


def run_exit_code(tally: RunTally, ending: RunEnding) -> int:
    if ending == "interrupted":
        return EXIT_INTERRUPTED
    if ending == "parked":
        return EXIT_PARKED
    if tally.denied or tally.refused or tally.outcome == "unattended":
        return EXIT_UNANSWERED
    return EXIT_OK if tally.outcome in (None, "done") and not tally.is_cut else EXIT_FAILED


def result_json(
    session: Session, tally: RunTally, actions: Sequence[Action], denied: Sequence[Call], code: int
) -> JsonFields:
    """Return what came of a run as JSON; calls denied because nobody could be asked have no action id."""
    return {
        "session_id": session.id,
        "status": session.status,
        "reason": session.reason,
        "reply": tally.reply,
        "usage": usage_json(session),
        "instructions": session.configuration.get("instructions", []),
        "actions": [*map(action_json, actions), *map(_denied_call_json, denied)],
        "files": tally.files,
        "error": tally.error,
        "exit": code,
    }


def actions_of_run(actions: Iterable[Action], calls: Iterable[Call], start: int, since: int) -> list[Action]:
    """Return the actions that were opened, decided or carried out since a run began, or that still wait."""
    ended = {call.action_id for call in calls if (call.finished_at or 0) >= since}
    return [
        action
        for action in actions
        if action.opened_at > start
        or action.state == "pending"
        or (action.decided_at or 0) >= since
        or action.id in ended
    ]


def _denied_call_json(call: Call) -> JsonFields:
    return {
        "id": None,
        "session_id": call.session_id,
        "call_id": call.id,
        "kind": "tool",
        "tool": call.tool,
        "target": call_target(call),
        "added": 0,
        "removed": 0,
        "digest": None,
        "created_at": iso_time(call.requested_at),
        "expires_at": None,
        "state": "denied",
        "supersedes": None,
        "warnings": [],
    }


def _file_json(body: FileChanged) -> JsonFields:
    return row_fields(body, "path change added removed")


class EventConsumer:
    """The eyes of a run on one session."""

    def __init__(self, journal: Journal, session_id: str, printer: Printer, start: int) -> None:
        self.journal, self.session_id, self.start = journal, session_id, start
        self.tally = RunTally()
        self.failure: OSError | None = None
        self._printer, self._cursor = printer, start
        self.progress: RunProgressLine | None = None
        """Shows what goes on, on a terminal; None where nobody looks."""

    def see(self, events: Iterable[Event]) -> None:
        """Take in what is new of some events."""
        fresh = [event for event in events if event.position > self._cursor]
        if not fresh:
            return
        self._cursor = fresh[-1].position
        self.tally.see(fresh)
        if self.failure is None:
            try:
                self._printer.see(fresh)
            except OSError as error:
                self.failure = error
        if self.progress is not None and self.failure is None:
            self.progress.see(fresh)

    def catch_up(self) -> None:
        """Take in everything that is in the journal by now."""
        self.see(self.journal.events(self.session_id, after=self._cursor))

    def wait(self, seconds: float) -> None:
        """Wait until there is more, but not longer than some seconds."""
        if self.progress is not None:
            self.progress.tick()
        self.journal.wait(self._cursor, seconds)

    def require_listener(self) -> None:
        """Raise what went wrong while telling."""
        if self.failure is not None:
            raise self.failure
