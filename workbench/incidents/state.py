"""Where the work on a list of incidents stands: the fold of its session's events, and what comes next.

Pure. What happened in the sessions of agents is not in here; the driver looks there and says what it saw.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, field

from workbench.domain.events import (
    ActionApproved,
    ActionCancelled,
    ActionExpired,
    ActionOpened,
    ActionRejected,
    ActionSuperseded,
    CallFinished,
    CallProposed,
    ContinueRequested,
    ErrorRaised,
    Event,
    FileChanged,
    IncidentChecked,
    IncidentDismissed,
    IncidentEnded,
    IncidentsCancelRequested,
    IncidentsListed,
    IncidentsRequested,
    IncidentStarted,
    InterruptRequested,
    PromptSubmitted,
    SessionStatusChanged,
    TurnEnded,
)
from workbench.domain.incidents import (
    BatchSize,
    CheckOutcome,
    Incident,
    IncidentError,
    IncidentOptions,
    IncidentOutcome,
)
from workbench.domain.machines import PauseReason, SessionStatus
from workbench.domain.values import BlobRef, Body, Choice
from workbench.incidents.request import batches

FINDING_CHOICES: Final = (
    Choice(key="again", label="ask the agent again"),
    Choice(key="keep", label="keep what it changed"),
    Choice(key="undo", label="undo what it changed"),
)
"""What a human may say of an incident that the checker still finds after the last prompt."""
STILL_FOUND: Final = "the checker still finds it"
NOBODY_ANSWERED: Final = "nobody answered in time"
NOBODY_COULD_BE_ASKED: Final = f"{STILL_FOUND}, and nobody could be asked"
NOBODY_SAID: Final = f"{STILL_FOUND}, and nobody said what to do"
UNANSWERED: Final[Mapping[str, tuple[str, ...]]] = {
    "failed": (NOBODY_ANSWERED,), "unchanged": (NOBODY_COULD_BE_ASKED, NOBODY_SAID),
}  # fmt: skip
"""By outcome: what is said of an incident that ended so because no human answered."""
Answer = Literal["", "again", "keep", "undo", "rejected", "expired", "cancelled"]


class IncidentWork(Struct, kw_only=True):
    """The work on one incident since it was asked for last."""

    incident: Incident
    outcome: IncidentOutcome | None = None
    child_id: str = ""
    round: int = 0
    more_rounds: int = 0
    """How often a human wanted it to be asked again."""
    line: int = 0
    is_found: bool | None = None
    before_ref: BlobRef | None = None
    started_at: int = 0
    checked: IncidentChecked | None = None
    """What the checker said after the turn of this round."""
    action_id: str = ""
    answer: Answer = ""

    @property
    def is_open(self) -> bool:
        return self.outcome is None


class ListState(Struct, kw_only=True):
    """The fold of a list's events."""

    incidents: Mapping[str, Incident] = field(default_factory=dict[str, Incident])
    listed: IncidentsListed | None = None
    options: IncidentOptions = IncidentOptions()
    works: dict[str, IncidentWork] = field(default_factory=dict[str, IncidentWork])
    """Of the newest request, and what was left of those before it."""
    order: list[str] = field(default_factory=list[str])
    """Ids in the order in which they are begun."""
    position: int = 0
    """How far of that everything was begun."""
    working: str = ""
    """The incident that is worked on."""
    left: dict[str, int] = field(default_factory=dict[str, int])
    """How many of each batch have not ended."""
    dismissed: dict[str, str] = field(default_factory=dict[str, str])
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    """The agent's session of a batch."""
    new: set[str] = field(default_factory=set[str])
    """Fingerprints of incidents that the checker found and that were not there before."""
    fixed: set[str] = field(default_factory=set[str])
    """Ids of incidents that were fixed, in all requests."""
    is_cancelled: bool = False
    cancel_reason: str = ""
    is_stopped: bool = False
    """A human stopped the agent that is at work; nothing further is begun until they let it go on."""
    has_request: bool = False
    """A human asked for something and no driver has begun since."""
    status: SessionStatus = "created"
    reason: PauseReason | None = None
    cursor: int = 0

    @property
    def checker(self) -> str:
        return self.listed.checker if self.listed else ""

    @property
    def current(self) -> IncidentWork | None:
        """Return the incident that is worked on."""
        return self.works.get(self.working)

    @property
    def next_work(self) -> IncidentWork | None:
        """Return the incident that is begun next."""
        while self.position < len(self.order):
            work = self.works[self.order[self.position]]
            if work.is_open and not work.round:
                return work
            self.position += 1
        return None

    @property
    def has_work(self) -> bool:
        return bool(self.left)

    def is_last_of(self, batch: str) -> bool:
        """Return whether nothing of a batch is left."""
        return batch not in self.left

    def take(self, event: Event) -> None:
        """Apply one event of the list's session."""
        self.cursor = max(self.cursor, event.position)
        handler = EVENT_HANDLERS.get(type(event.body))
        if handler is not None:
            handler(self, event, event.body)

    def work_of(self, action_id: str | None) -> IncidentWork | None:
        """Return the work that a question is about."""
        return next((w for w in self.works.values() if w.action_id and w.action_id == action_id), None)


def _incidents_listed(state: ListState, _: Event, body: IncidentsListed) -> None:
    state.listed = body


def _incidents_requested(state: ListState, _: Event, body: IncidentsRequested) -> None:
    state.options, state.is_cancelled, state.has_request = body.options, False, True
    state.is_stopped = False
    open_work = {key: work for key, work in state.works.items() if work.is_open}
    requested = {
        key: IncidentWork(incident=state.incidents[key]) for key in body.ids if key in state.incidents
    }
    state.works = {**requested, **open_work}
    state.fixed -= set(requested) - set(open_work)
    groups = batches([w.incident for w in state.works.values() if not w.round], body.options.batch)
    state.order, state.position = [incident.id for group in groups for incident in group], 0
    keys = (batch_key(work.incident, body.options.batch) for work in state.works.values())
    state.left = dict(Counter(keys))


def _continue_requested(state: ListState, _: Event, _body: ContinueRequested) -> None:
    state.has_request, state.is_stopped = True, False


def _interrupt_requested(state: ListState, _: Event, _body: InterruptRequested) -> None:
    state.is_stopped = True


def _cancel_requested(state: ListState, _: Event, body: IncidentsCancelRequested) -> None:
    state.is_cancelled, state.cancel_reason, state.has_request = True, body.reason, True


def _incident_dismissed(state: ListState, _: Event, body: IncidentDismissed) -> None:
    state.dismissed[body.fingerprint] = body.reason


def _status_changed(state: ListState, _: Event, body: SessionStatusChanged) -> None:
    state.status, state.reason = body.status, body.reason
    state.has_request = state.has_request and body.status != "processing"


def _incident_started(state: ListState, event: Event, body: IncidentStarted) -> None:
    work = state.works.get(body.incident)
    if work is None:
        return
    work.child_id, work.round, work.line = body.child_id, body.round, body.line
    work.started_at = work.started_at or event.at
    work.more_rounds += work.answer == "again"
    work.checked, work.action_id, work.answer = None, "", ""
    if body.round == 1:
        work.before_ref, work.is_found = body.before_ref, body.is_found
    state.sessions[batch_key(work.incident, state.options.batch)] = body.child_id
    state.working = body.incident


def _incident_checked(state: ListState, _: Event, body: IncidentChecked) -> None:
    state.new.update(incident.fingerprint for incident in body.new)
    work = state.works.get(body.incident)
    if work is not None:
        work.checked, work.line = body, body.line or work.line


def _incident_ended(state: ListState, _: Event, body: IncidentEnded) -> None:
    work = state.works.get(body.incident)
    if work is None or not work.is_open:
        return
    work.outcome = body.outcome
    state.working = "" if state.working == body.incident else state.working
    batch = batch_key(work.incident, state.options.batch)
    state.left[batch] = state.left.get(batch, 1) - 1
    if state.left[batch] <= 0:
        del state.left[batch]
    if body.outcome == "fixed":
        state.fixed.add(body.incident)


def _action_opened(state: ListState, event: Event, body: ActionOpened) -> None:
    work = state.works.get(str(body.subject.get("incident", "")))
    if work is not None:
        work.action_id, work.answer = event.action_id or "", ""


def _action_superseded(state: ListState, event: Event, body: ActionSuperseded) -> None:
    work = state.work_of(event.action_id)
    if work is not None:
        work.action_id = body.successor


def _action_approved(state: ListState, event: Event, body: ActionApproved) -> None:
    choice = body.choice
    _answer(state, event, "undo" if choice == "undo" else "again" if choice == "again" else "keep")


def _answer(state: ListState, event: Event, answer: Answer) -> None:
    work = state.work_of(event.action_id)
    if work is not None:
        work.answer = answer


_Handler = Callable[[ListState, Event, Any], None]
EVENT_HANDLERS: Final[Mapping[type[Body], _Handler]] = {
    IncidentsListed: _incidents_listed,
    IncidentsRequested: _incidents_requested,
    ContinueRequested: _continue_requested,
    InterruptRequested: _interrupt_requested,
    IncidentsCancelRequested: _cancel_requested,
    IncidentDismissed: _incident_dismissed,
    SessionStatusChanged: _status_changed,
    IncidentStarted: _incident_started,
    IncidentChecked: _incident_checked,
    IncidentEnded: _incident_ended,
    ActionOpened: _action_opened,
    ActionSuperseded: _action_superseded,
    ActionApproved: _action_approved,
    ActionRejected: lambda state, event, _: _answer(state, event, "rejected"),
    ActionExpired: lambda state, event, _: _answer(state, event, "expired"),
    ActionCancelled: lambda state, event, _: _answer(state, event, "cancelled"),
}


def batch_key(incident: Incident, size: BatchSize) -> str:
    """Return what incidents of one batch have in common."""
    return {"one": incident.id, "file": incident.path, "rule": incident.rule}[size]


def fold_list(incidents: Iterable[Incident], events: Iterable[Event]) -> ListState:
    """Return where a list stands after events of its session."""
    state = ListState(incidents={incident.id: incident for incident in incidents})
    for event in events:
        state.take(event)
    return state


def is_list_runnable(state: ListState, waiting: int) -> bool:
    """Return whether a driver has something to do; `waiting`: questions that are open in it and below it."""
    if not state.has_work:
        return state.status == "processing"
    if state.status == "processing":
        return True  # its driver was lost: the next one says so, or goes on if a human spoke
    return state.has_request or (state.reason == "parked" and not waiting)


class TurnFacts(Struct, kw_only=True):
    """What happened in the turn that an incident's prompt began."""

    turn_id: str = ""
    outcome: str = ""
    """Of the turn; empty while it is open."""
    detail: str = ""
    error: str = ""
    """The last error, in words."""
    rejection: str | None = None
    """A human refused what the agent wanted last, or a part of it; why, if they said so."""
    denied: str = ""
    """Nobody could be asked, or a rule or hook forbade something; why."""
    turns: tuple[str, ...] = ()
    """All turns about this incident in its session, oldest first."""
    written: frozenset[str] = frozenset()
    """The files that calls wrote in them."""
    changed_while_ran: frozenset[str] = frozenset()
    """The files that changed while a command of them ran."""


def turn_facts(events: Iterable[Event], work: IncidentWork) -> TurnFacts:
    """Return what happened since the newest prompt about an incident in its agent's session."""
    facts, turns, is_about = TurnFacts(), list[str](), False
    written, while_ran = set[str](), set[str]()
    for event in events:
        body = event.body
        if isinstance(body, PromptSubmitted):
            is_about = body.incident == work.incident.id and event.at >= work.started_at
            facts = TurnFacts() if is_about else facts
        elif is_about and isinstance(body, TurnEnded):
            facts.turn_id, facts.outcome, facts.detail = event.turn_id or "", body.outcome, body.detail
            turns.append(facts.turn_id)
        elif is_about:
            _take_fact(facts, body)
            _take_files(written, while_ran, body)
    facts.turns = tuple(dict.fromkeys(turns))
    facts.written, facts.changed_while_ran = frozenset(written), frozenset(while_ran)
    return facts


def _take_files(written: set[str], while_ran: set[str], body: Body) -> None:
    if isinstance(body, FileChanged):
        written.update(filter(None, (body.path, body.moved_from)))
    elif isinstance(body, CallFinished):
        while_ran.update(body.files_changed)


def _take_fact(facts: TurnFacts, body: Body) -> None:
    if isinstance(body, ErrorRaised):
        facts.error = f"{body.message} {body.remedy}".strip()
    elif isinstance(body, ActionRejected):
        facts.rejection = body.reason or ""
    elif isinstance(body, CallProposed) and body.verdict.outcome == "denied":
        facts.denied = body.verdict.reason
    elif isinstance(body, CallFinished) and body.state == "succeeded" and body.files_affected:
        # A later change that was taken whole stands for the one that was refused.
        facts.rejection = "a part of the change was refused" if body.hunks_left else None


class Verdict(Struct, frozen=True, kw_only=True):
    """How work on an incident ends."""

    outcome: IncidentOutcome
    detail: str = ""
    error: IncidentError = ""


NextMove = Verdict | Literal["check", "again", "ask", "wait", "undo"]
"""An end; or: run the checker, ask the agent again, ask the human, wait for the answer, take it back."""


def next_move(work: IncidentWork, facts: TurnFacts, *, checker: bool, changed: bool, limit: int) -> NextMove:
    """Return what comes next for an incident whose turn is over.

    `changed`: files that its agent's calls changed differ from before the first turn. `limit`: prompts for
    one incident.
    """
    if facts.outcome != "done":
        return _end_of_broken_turn(facts)
    is_refused = facts.rejection is not None
    if is_refused and not changed:
        return Verdict(outcome="rejected", detail=facts.rejection or "")
    if checker and work.checked is None:
        return "check"
    outcome: CheckOutcome = work.checked.outcome if work.checked else "not checked"
    if outcome == "gone":
        return Verdict(outcome="fixed")
    if is_refused:
        return Verdict(outcome="rejected", detail=facts.rejection or "")
    if outcome == "not checked":
        detail = facts.denied or (work.checked.detail if work.checked else "")
        return Verdict(outcome="changed" if changed else "unchanged", detail=detail)
    if facts.denied and not changed:
        return Verdict(outcome="unchanged", detail=facts.denied)
    if work.round < limit + work.more_rounds:
        return "again"
    return _answered_move(work)


def _end_of_broken_turn(facts: TurnFacts) -> Verdict:
    match facts.outcome:
        case "limit":
            is_time = "time limit" in facts.detail
            return Verdict(outcome="failed", detail=facts.detail, error="timeout" if is_time else "incident")
        case "unattended":
            return Verdict(outcome="failed", detail=NOBODY_ANSWERED, error="incident")
        case "interrupted":
            return Verdict(outcome="skipped", detail="its agent was stopped")
        case "error":
            return Verdict(outcome="failed", detail=facts.error or facts.detail, error="agent")
        case _:
            detail = facts.detail or "its agent ended without an answer"
            return Verdict(outcome="failed", detail=detail, error="system")


def _answered_move(work: IncidentWork) -> NextMove:
    match work.answer:
        case "":
            return "wait" if work.action_id else "ask"
        case "again":
            return "again"
        case "undo":
            return "undo"
        case "expired":
            return Verdict(outcome="unchanged", detail=NOBODY_SAID)
        case _:
            return Verdict(outcome="unchanged", detail=STILL_FOUND)
