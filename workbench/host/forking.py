"""A new session that begins where another one ended, or stood at a moment: the conversation of it.

Owns which events of a conversation are taken over and how. Files are not touched (`restoring` copies them),
questions are not asked again, and nothing that ran runs again: every call comes over as it had ended.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from workbench.domain.events import (
    Body,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    PromptSubmitted,
    ReplyCompleted,
    SessionCreated,
    SessionStatusChanged,
    TurnEnded,
    TurnStarted,
)
from workbench.domain.fold import Tables
from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import UNDO_TOOL, Actor, Json, Verdict
from workbench.host import record
from workbench.host.filing import LONGEST_TITLE
from workbench.host.sessions import SessionRefused
from workbench.journal.journal import Journal

_CHUNK: Final = 200
_RAN: Final = ("succeeded", "failed", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkPlan:
    """Where a fork works and with what."""

    workspace: str
    provider: str
    model: str
    title: str = ""
    configuration: Mapping[str, Json] = field(default_factory=dict[str, Json])
    active_tools: tuple[str, ...] = ()


def plan_of(session: Session) -> ForkPlan:
    """Return the plan that changes nothing; what was imported brings no configuration."""
    is_ours = session.origin is None
    return ForkPlan(
        workspace=session.workspace, provider=session.provider, model=session.model,
        title=f"{session.title} (fork)" if session.title else "",
        configuration=_kept(session) if is_ours else {},
        active_tools=session.active_tools if is_ours else (),
    )  # fmt: skip


def _kept(session: Session) -> dict[str, Json]:
    """Return a session's configuration; what a human let pass in it holds for that session only."""
    return {k: v for k, v in session.configuration.items() if (k, v) != ("reads", "reads")}


def require_said(journal: Journal, session: Session, until: int | None) -> None:
    """Refuse a fork of which nothing would be there to go on from.

    Raises:
        SessionRefused: Nothing was said in it until then.
    """
    bodies = (event.body for event in _events(journal, session, until))
    if not any(isinstance(body, PromptSubmitted | ReplyCompleted) for body in bodies):
        why = "Nothing was said in it." if until is None else "Nothing had been said in it by then."
        remedy = "Begin a new one instead." if until is None else "Name a later moment."
        raise SessionRefused("The session was not forked.", why, remedy)


def _events(journal: Journal, session: Session, until: int | None) -> list[Event]:
    if until is None:
        return journal.events(session.id)
    return [event for event in journal.events(session.id) if event.sequence_number <= until]


def fork(journal: Journal, session: Session, plan: ForkPlan, actor: Actor, until: int | None = None) -> str:
    """Begin a session with the conversation of another one and return its id.

    Args:
        journal: Where both are.
        session: The other one.
        plan: Where the fork works, and with what.
        actor: Who wants it.
        until: The number of the last event that is taken over; None takes all.

    Raises:
        SessionRefused: There is no conversation in it.
    """
    require_said(journal, session, until)
    taking = _Taking(journal, session, actor, until)
    said = list(taking.conversation())
    journal.append([taking.created(plan), *taking.statuses("initializing")])
    for at in range(0, len(said), _CHUNK):
        journal.append(said[at : at + _CHUNK], strict=False)
    journal.append(list(taking.statuses("ready")))
    return taking.new_id


class _Taking:
    """One fork: the old ids and the new ones."""

    def __init__(self, journal: Journal, session: Session, actor: Actor, until: int | None) -> None:
        self._journal, self._session, self._actor, self._until = journal, session, actor, until
        self.new_id = journal.clock.new_id()
        self._events = _events(journal, session, until)
        # The rows as they stood after the last event that is taken over, not as they stand now.
        rows = Tables().fold(self._events)
        self._calls, self._actions = rows.calls, rows.actions
        self._names: dict[str, str] = {}
        self._announced: dict[str, str] = {}
        """The id by which a reply named a call, by that of the call that ended in its place."""
        self._proposals = {
            event.call_id: event.body
            for event in self._events
            if isinstance(event.body, CallProposed) and event.call_id
        }
        self._open_turn: str | None = None
        self._results = {
            event.call_id: event.body
            for event in self._events
            if isinstance(event.body, CallFinished) and event.call_id
        }

    def created(self, plan: ForkPlan) -> Event:
        """Return the first event."""
        old = self._session
        origin: dict[str, Json] = {"forked_from": old.id}
        if self._until is not None:
            origin["forked_at"] = self._until
        body = SessionCreated(
            title=record.scrubbed_line(plan.title, LONGEST_TITLE), workspace=plan.workspace,
            provider=plan.provider, model=plan.model, system_prompt=old.system_prompt,
            system_prompt_ref=old.system_prompt_ref, active_tools=plan.active_tools,
            configuration={**plan.configuration, **origin},
            telemetry_id=self._journal.clock.new_id(),
        )  # fmt: skip
        return self._journal.event(body, self.new_id, self._actor)

    def statuses(self, *names: str) -> Iterator[Event]:
        """Yield the moves of the new session."""
        for name in names:
            body = SessionStatusChanged(status=name)  # type: ignore[arg-type]
            yield self._journal.event(body, self.new_id, self._actor)

    def conversation(self) -> Iterator[Event]:
        """Yield what was said and done, in order, under new ids."""
        for event in self._events:
            yield from self._taken(event)
        if self._open_turn is not None:
            yield self._event(TurnEnded(outcome="interrupted", detail="forked here"), self._last, None)

    def _taken(self, event: Event) -> Iterator[Event]:
        self._last = event
        match event.body:
            case PromptSubmitted():
                yield self._event(event.body, event, None)
            case TurnStarted():
                self._open_turn = event.turn_id
                yield self._event(event.body, event, None)
            case TurnEnded():
                self._open_turn = None
                yield self._event(event.body, event, None)
            case ReplyCompleted() as body:
                yield from self._reply(event, body)
            case CallFinished(state="succeeded") as body:
                yield from self._undone(event, body)
            case _:
                return

    def _reply(self, event: Event, body: ReplyCompleted) -> Iterator[Event]:
        calls = tuple(replace(call, call_id=self._name(call.call_id)) for call in body.calls)
        yield self._event(replace(body, calls=calls), event, None)
        for call in body.calls:
            if found := self._final(call.call_id):
                yield from self._called(event, call.call_id, found)

    def _final(self, call_id: str) -> Call | None:
        """Return a call, or the one that took its place."""
        found = self._calls.get(call_id)
        for _ in range(len(self._calls)):
            if found is None or found.replaced_by is None:
                break
            found = self._calls.get(found.replaced_by)
        return found

    def _undone(self, event: Event, body: CallFinished) -> Iterator[Event]:
        """Yield that a change was taken back, so that the fork's agent is told of it as well."""
        proposed = self._proposals.get(event.call_id or "")
        if proposed is None or proposed.tool != UNDO_TOOL or event.call_id is None:
            return
        undone = proposed.parameters.get("call")
        action = self._actions.get(str(proposed.parameters.get("action")))
        source = str(undone) if undone else (action.call_id if action else None)
        call_id = self._announced.get(source or "", source)
        parameters: dict[str, Json] = {"call": self._name(call_id)} if call_id else {}
        verdict = Verdict(outcome="allowed", step="request", by="fork")
        taken = replace(proposed, parameters=parameters, verdict=verdict, parameters_ref=None, replaces=None)
        yield self._event(taken, event, event.call_id)
        yield self._event(CallExecuting(), event, event.call_id)
        yield self._event(body, event, event.call_id)

    def _called(self, event: Event, call_id: str, call: Call) -> Iterator[Event]:
        self._announced[call.id] = call_id
        action = self._actions.get(call.action_id or "")
        proposed = CallProposed(
            tool=call.tool, verdict=_verdict(call, action), parameters=call.parameters,
            parameters_ref=call.parameters_ref, provider_call_id=call.provider_call_id, target=call.target,
        )  # fmt: skip
        yield self._event(proposed, event, call_id)
        if proposed.verdict.outcome != "allowed":
            return
        finished = self._results.get(call.id) or CallFinished(state="cancelled", detail="forked here")
        if finished.state in _RAN:
            yield self._event(CallExecuting(), event, call_id)
        yield self._event(finished, event, call_id)

    def _event(self, body: Body, old: Event, call_id: str | None) -> Event:
        made = self._journal.event(
            body, self.new_id, old.actor, at=old.at, turn_id=self._name(old.turn_id) if old.turn_id else None,
            call_id=self._name(call_id) if call_id else None,
        )  # fmt: skip
        return replace(made, recorded_at=self._journal.now())

    def _name(self, old: str) -> str:
        return self._names.setdefault(old, self._journal.clock.new_id())


def _verdict(call: Call, action: Action | None) -> Verdict:
    """Return what the fork says of a call: it ran, or who did not let it."""
    if call.state == "rejected":
        if action is not None and action.state == "rejected":
            reason = action.reason or "without a reason"
            return Verdict(outcome="denied", step="ask", by="the human", reason=reason)
        return Verdict(outcome="denied", step="ask", by=call.verdict_by, reason=call.error)
    if call.state == "expired":
        return Verdict(outcome="denied", step="ask", by="nobody", reason="nobody answered in time")
    return Verdict(outcome="allowed", step="request", by="fork")
