"""Fork a session: a new one with the conversation of another, up to its end or to a moment.

No question is asked again and nothing runs again.
"""

# A fork is made by who asks for it, a command or the screen's thread, and not by a host: a session that has
# ended has no driver, and a fork writes only into a new session and a new folder.
#
# A fork from a block takes what was said up to it: to the last event of the block, and with it the end of
# the turn where nothing else came between. Asked-for calls that had not run by then come over as cancelled.
#
# An answered question comes over with its answer, both in one transaction: a fork never asks it. Of its
# change come the recorded lines and not the sealed bytes: nothing of it is written or undone in the fork.

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never, cast

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.events import (
    ActionApproved,
    ActionEvent,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    CallExecuting,
    CallFinished,
    CallProposed,
    CallRepeated,
    CommandSuggested,
    CompactionRequested,
    ContextCollected,
    ContinueRequested,
    ConversationCompacted,
    ErrorRaised,
    Event,
    FileChanged,
    ForkRequested,
    HookRan,
    IncidentEvent,
    InterruptRequested,
    MarkAdded,
    OutputStreamed,
    PatchRequested,
    ProcessStarted,
    ProgressReported,
    PromptsReordered,
    PromptSubmitted,
    PromptWithdrawn,
    RefreshRequested,
    ReplyCompleted,
    RuleEvent,
    RunEvent,
    SandboxRefused,
    SessionCreated,
    SessionEvent,
    SessionStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    TurnEnded,
    TurnStarted,
    UndoRequested,
    Unknown,
)
from workbench.domain.fold import MemoryTables
from workbench.domain.retired_prompts import retired_prompt_ids
from workbench.domain.rows import Call, Session
from workbench.domain.values import REOPENS, UNDO_TOOL, Actor, Body, GateVerdict, Json, SandboxLevel
from workbench.host import redaction
from workbench.host.session_requests import MAX_TITLE_LENGTH, SessionRefused
from workbench.journal.journal import Journal
from workbench.policy.levels import lower_level

_EVENTS_AT_ONCE: Final = 200
_ANSWERS: Final = (ActionApproved, ActionRejected, ActionExpired)
_STATES_THAT_RAN: Final = ("succeeded", "failed", "interrupted")


class ForkPlan(Struct, frozen=True, kw_only=True):
    """Where a fork works and with what."""

    workspace: str
    provider: str
    model: str
    title: str = ""
    configuration: Mapping[str, Json] = field(default_factory=dict[str, Json])
    active_tools: tuple[str, ...] = ()


def default_fork_plan(session: Session, level: SandboxLevel = "workspace") -> ForkPlan:
    """Return the plan that changes nothing; what was imported brings no configuration.

    `level`: the setting of the sandbox, below which a level that was chosen is kept.
    """
    is_ours = session.origin is None
    return ForkPlan(
        workspace=session.workspace, provider=session.provider, model=session.model,
        title=f"{session.title} (fork)" if session.title else "",
        configuration=_kept_configuration(session, level) if is_ours else {},
        active_tools=session.active_tools if is_ours else (),
    )  # fmt: skip


def _kept_configuration(session: Session, level: SandboxLevel) -> dict[str, Json]:
    """Return a session's configuration without what a human allowed for that session only."""
    kept = {k: v for k, v in session.configuration.items() if (k, v) not in _LOOSER_CHOICES}
    chosen = session.sandbox_level
    if chosen is not None and (chosen == level or lower_level(chosen, level) == level):
        kept.pop("sandbox", None)
    return kept


_LOOSER_CHOICES: Final = (("reads", "reads"), ("sandboxed", "auto"))
"""What a human chose for one session and no other, since the settings may allow less."""


def require_conversation(journal: Journal, session: Session, until: int | None) -> None:
    """Raise SessionRefused where nothing was said until then."""
    bodies = (event.body for event in _events_until(journal, session, until))
    if not any(isinstance(body, PromptSubmitted | ReplyCompleted) for body in bodies):
        why = "Nothing was said in it." if until is None else "Nothing had been said in it by then."
        remedy = "Start a new one instead." if until is None else "Name a later moment."
        raise SessionRefused("The session was not forked.", why, remedy)


def _events_until(journal: Journal, session: Session, until: int | None) -> list[Event]:
    if until is None:
        return journal.events(session.id)
    return [event for event in journal.events(session.id) if event.sequence_number <= until]


def fork_session(
    journal: Journal, session: Session, plan: ForkPlan, actor: Actor, until: int | None = None
) -> str:
    """Begin a session with the conversation of another one and return its id.

    `until` is the number of the last event that is taken over. Raises SessionRefused without a conversation.
    """
    require_conversation(journal, session, until)
    copy = _ConversationCopy(journal, session, actor, until)
    events = list(copy.conversation())
    journal.append([copy.created(plan), *copy.statuses("initializing")])
    for part in _parts_without_open_questions(events):
        journal.append(part, strict=False)
    journal.append(list(copy.statuses("ready")))
    return copy.new_id


def _parts_without_open_questions(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield events in parts for one transaction each; a question is in the same part as its answer."""
    part: list[Event] = []
    for event in events:
        part.append(event)
        if len(part) >= _EVENTS_AT_ONCE and not isinstance(event.body, ActionOpened):
            yield part
            part = []
    if part:
        yield part


class _ConversationCopy:
    def __init__(self, journal: Journal, session: Session, actor: Actor, until: int | None) -> None:
        self._journal, self._session, self._actor, self._until = journal, session, actor, until
        self.new_id = journal.clock.new_id()
        self._events = _events_until(journal, session, until)
        # The rows as they stood after the last event that is taken over, not as they stand now.
        rows = MemoryTables().fold(self._events)
        self._calls, self._actions = rows.calls, rows.actions
        self._dropped = retired_prompt_ids(journal.events(session.id)) - retired_prompt_ids(self._events)
        """Prompts that were queued at that moment and taken back or edited later: no model reads them."""
        self._new_ids: dict[str, str] = {}
        self._announced_ids: dict[str, str] = {}
        """The id by which a reply named a call, by that of the call that ended in its place."""
        self._proposals = {
            event.call_id: event.body
            for event in self._events
            if isinstance(event.body, CallProposed) and event.call_id
        }
        self._questions = {
            event.action_id: event for event in self._events if isinstance(event.body, ActionOpened)
        }
        self._answers = {event.action_id: event for event in self._events if isinstance(event.body, _ANSWERS)}
        self._open_turn: str | None = None
        self._results = {
            event.call_id: event.body
            for event in self._events
            if isinstance(event.body, CallFinished) and event.call_id
        }

    def created(self, plan: ForkPlan) -> Event:
        old = self._session
        origin: dict[str, Json] = {"forked_from": old.id}
        if self._until is not None:
            origin["forked_at"] = self._until
        body = SessionCreated(
            title=redaction.redact_line(plan.title, MAX_TITLE_LENGTH), workspace=plan.workspace,
            provider=plan.provider, model=plan.model, system_prompt=old.system_prompt,
            system_prompt_ref=old.system_prompt_ref, active_tools=plan.active_tools,
            configuration={**plan.configuration, **origin},
            telemetry_id=self._journal.clock.new_id(),
        )  # fmt: skip
        return self._journal.event(body, self.new_id, self._actor)

    def statuses(self, *names: str) -> Iterator[Event]:
        for name in names:
            body = SessionStatusChanged(status=name)  # type: ignore[arg-type]
            yield self._journal.event(body, self.new_id, self._actor)

    def conversation(self) -> Iterator[Event]:
        for event in self._events:
            yield from self._copied_event(event)
        if self._open_turn is not None:
            yield self._event(TurnEnded(outcome="interrupted", detail="forked here"), self._last, None)

    def _copied_event(self, event: Event) -> Iterator[Event]:
        self._last = event
        match event.body:
            case PromptSubmitted() | PromptWithdrawn() | PromptsReordered() as body:
                yield from self._prompt(event, body)
            case ConversationCompacted():
                yield self._event(event.body, event, None)
            case TurnStarted():
                self._open_turn = event.turn_id
                yield self._event(event.body, event, None)
            case TurnEnded():
                self._open_turn = None
                yield self._event(event.body, event, None)
            case ReplyCompleted() as body:
                yield from self._reply(event, body)
            case CallFinished() as body:
                if body.state == "succeeded":
                    yield from self._copied_undo(event, body)
                    yield from self._copied_reopening(event)
            case (
                InterruptRequested() | ContinueRequested() | CompactionRequested() | RefreshRequested()
                | UndoRequested()
                | PatchRequested() | MarkAdded() | ForkRequested() | ContextCollected() | TextStreamed()
                | ThinkingStreamed() | ProgressReported() | ErrorRaised() | HookRan() | CommandSuggested()
                | CallProposed() | CallExecuting() | ProcessStarted() | OutputStreamed() | FileChanged()
                | CallRepeated() | SandboxRefused() | SessionEvent() | ActionEvent() | RuleEvent()
                | RunEvent() | IncidentEvent()
                | Unknown()
            ):  # fmt: skip
                pass
            case _:
                assert_never(event.body)

    def _prompt(
        self, event: Event, body: PromptSubmitted | PromptWithdrawn | PromptsReordered
    ) -> Iterator[Event]:
        """Copy a prompt or a change of the queue; each names the prompts of the fork."""
        if event.id in self._dropped:
            return
        match body:
            case PromptSubmitted():
                replaced = self._new_id_of(body.replaces_id) if body.replaces_id else ""
                again = tuple(map(self._new_id_of, body.asks_again))
                copied = self._event(replace(body, replaces_id=replaced, asks_again=again), event, None)
                yield replace(copied, id=self._new_id_of(event.id))
            case PromptWithdrawn():
                yield self._event(replace(body, prompt_id=self._new_id_of(body.prompt_id)), event, None)
            case PromptsReordered():
                kept = tuple(self._new_id_of(key) for key in body.prompt_ids if key not in self._dropped)
                yield self._event(replace(body, prompt_ids=kept), event, None)

    def _reply(self, event: Event, body: ReplyCompleted) -> Iterator[Event]:
        calls = tuple(replace(call, call_id=self._new_id_of(call.call_id)) for call in body.calls)
        yield self._event(replace(body, calls=calls), event, None)
        for call in body.calls:
            if ended_call := self._final_call(call.call_id):
                yield from self._copied_call(event, call.call_id, ended_call)

    def _final_call(self, call_id: str) -> Call | None:
        """Return a call, or the one that replaced it."""
        call = self._calls.get(call_id)
        for _ in range(len(self._calls)):
            if call is None or call.replaced_by is None:
                break
            call = self._calls.get(call.replaced_by)
        return call

    def _copied_undo(self, event: Event, body: CallFinished) -> Iterator[Event]:
        proposed = self._proposals.get(event.call_id or "")
        if proposed is None or proposed.tool != UNDO_TOOL or event.call_id is None:
            return
        if "calls" in proposed.parameters:
            yield from self._copied_joint_undo(event, proposed, body)
            return
        undone = proposed.parameters.get("call")
        action = self._actions.get(str(proposed.parameters.get("action")))
        source = str(undone) if undone else (action.call_id if action else None)
        call_id = self._announced_ids.get(source or "", source)
        parameters: dict[str, Json] = {"call": self._new_id_of(call_id)} if call_id else {}
        yield from self._copied_undo_events(event, replace(proposed, parameters=parameters), body)

    def _copied_reopening(self, event: Event) -> Iterator[Event]:
        """Copy the call by which a human took up a change again; no reply announced it."""
        call = self._calls.get(event.call_id or "")
        action = self._actions.get(call.action_id or "") if call else None
        if call is not None and action is not None and REOPENS in action.subject:
            yield from self._copied_call(event, call.id, call)

    def _copied_joint_undo(self, event: Event, proposed: CallProposed, body: CallFinished) -> Iterator[Event]:
        """Take over that several calls were undone; nothing of it can be undone in the fork."""
        parameters: dict[str, Json] = {"redo": bool(proposed.parameters.get("redo"))}
        for name in ("calls", "whole"):
            ids = cast("list[str]", proposed.parameters.get(name, []))
            parameters[name] = [self._new_id_of(self._announced_ids.get(key, key)) for key in ids]
        yield from self._copied_undo_events(event, replace(proposed, parameters=parameters), body)

    def _copied_undo_events(
        self, event: Event, proposed: CallProposed, body: CallFinished
    ) -> Iterator[Event]:
        verdict = GateVerdict(outcome="allowed", step="request", by="fork")
        proposal = replace(proposed, verdict=verdict, parameters_ref=None, replaces=None)
        yield self._event(proposal, event, event.call_id)
        yield self._event(CallExecuting(), event, event.call_id)
        yield self._event(body, event, event.call_id)

    def _copied_call(self, event: Event, call_id: str, call: Call) -> Iterator[Event]:
        self._announced_ids[call.id] = call_id
        answer = self._answer_of(call)
        gate = self._proposals.get(call.id)
        verdict = _copied_verdict(call, gate and gate.verdict, answer)
        proposed = CallProposed(
            tool=call.tool, verdict=verdict, parameters=call.parameters, parameters_ref=call.parameters_ref,
            provider_call_id=call.provider_call_id, target=call.target,
        )  # fmt: skip
        yield self._event(proposed, event, call_id)
        if answer is not None:
            yield from self._copied_question(answer, call_id)
        if call.state in ("rejected", "expired"):
            return
        finished = self._results.get(call.id) or CallFinished(state="cancelled", detail="forked here")
        if finished.state in _STATES_THAT_RAN:
            yield self._event(CallExecuting(), event, call_id)
        yield self._event(finished, event, call_id)

    def _answer_of(self, call: Call) -> Event | None:
        """Return the answer to the question about a call; None where none was asked or answered."""
        return self._answers.get(call.action_id) if call.action_id in self._questions else None

    def _copied_question(self, answer: Event, call_id: str) -> Iterator[Event]:
        """Copy an answered question, without the bytes that could be written or undone, and its answer."""
        question = self._questions[answer.action_id]
        assert isinstance(question.body, ActionOpened)
        subject = dict(question.body.subject)
        if reopened := subject.get(REOPENS):
            subject[REOPENS] = self._new_id_of(str(reopened))
        opened = replace(question.body, files=(), supersedes=None, subject=subject, subject_ref=None)
        action_id = self._new_id_of(answer.action_id or "")
        for body, old in ((opened, question), (answer.body, answer)):
            yield replace(self._event(body, old, call_id), action_id=action_id)

    def _event(self, body: Body, old: Event, call_id: str | None) -> Event:
        event_copy = self._journal.event(
            body, self.new_id, old.actor, at=old.at,
            turn_id=self._new_id_of(old.turn_id) if old.turn_id else None,
            call_id=self._new_id_of(call_id) if call_id else None,
        )  # fmt: skip
        return replace(event_copy, recorded_at=self._journal.now())

    def _new_id_of(self, old: str) -> str:
        return self._new_ids.setdefault(old, self._journal.clock.new_id())


def _copied_verdict(call: Call, verdict: GateVerdict | None, answer: Event | None) -> GateVerdict:
    """Return the gate's own verdict if the call ended by it, else one with which its copy ends so."""
    if answer is not None:
        is_question = verdict is not None and verdict.outcome == "ask"
        return verdict if verdict and is_question else GateVerdict(outcome="ask", step="ask", by="fork")
    endings = ("denied", "refused") if call.state in ("rejected", "expired") else ("allowed",)
    if verdict is not None and verdict.outcome in endings:
        return verdict
    if endings == ("allowed",):
        return GateVerdict(outcome="allowed", step="request", by="fork")
    by = "nobody" if call.state == "expired" else call.verdict_by
    return GateVerdict(outcome="denied", step="ask", by=by, reason=call.error)


# --- the folder -------------------------------------------------------------------------------------
