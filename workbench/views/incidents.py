"""Incidents as rows: what events of a list and of its agents' sessions say of each; filter, groups, counts.

`IncidentList` is the fold; command line and screen read its rows. What is listed stays as it was found.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, assert_never

import msgspec
from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.incidents import (
    SEVERITIES,
    BatchSize,
    CheckOutcome,
    Incident,
    IncidentOptions,
    IncidentSeverity,
    IncidentState,
)
from workbench.domain.rows import Action, Session
from workbench.text.safe import one_line
from workbench.views.status_icons import INCIDENT_STATUSES, Status

IncidentGroupName = Literal["list", "file", "rule", "severity", "outcome"]
"""What rows are put together by; `list` keeps them as they were found."""
GROUP_NAMES: Final[tuple[IncidentGroupName, ...]] = ("list", "file", "rule", "severity", "outcome")
FILTER_KEYS: Final = ("severity", "rule", "file", "path", "outcome", "state", "category")
"""What may stand before a colon in a filter."""
OUTCOMES: Final[tuple[IncidentState, ...]] = (
    "fixed", "changed", "unchanged", "rejected", "skipped", "failed",
)  # fmt: skip
UNDECIDED: Final[tuple[IncidentState, ...]] = ("open", "working", "waiting")
_MAX_MESSAGE_CELLS: Final = 400
_MAX_NEW: Final = 20
"""New incidents that are named beside the one that they came of."""


class IncidentRow(Struct, frozen=True, kw_only=True):
    """One incident as it stands."""

    incident: Incident
    state: IncidentState = "open"
    is_dismissed: bool = False
    """A human said that it will not be fixed; `reason` says why."""
    is_requested: bool = False
    """It was asked for and has not ended since."""
    line: int = 0
    """Where it is now; 0 means the whole file."""
    rounds: int = 0
    """Prompts that were sent about it, in all requests."""
    reason: str = ""
    """Why it ended so, or what the checker last said of it."""
    child_id: str = ""
    """The session of the agent that was asked last; empty before."""
    action_id: str = ""
    """The question about it that waits for a human; empty while none does."""
    check: CheckOutcome | None = None
    """What the checker last said."""
    new_count: int = 0
    """Incidents that were not there before it was worked on."""
    new: tuple[Incident, ...] = ()
    """The first of them."""
    files: tuple[str, ...] = ()
    files_while_ran: tuple[str, ...] = ()
    files_by_others: tuple[str, ...] = ()
    duration_ms: int = 0

    @property
    def place(self) -> str:
        """Return `src/a.py:12`, or the file alone."""
        path = one_line(self.incident.path or self.incident.location, 400)
        return f"{path}:{self.line}" if self.line else path

    @property
    def message(self) -> str:
        """Return what is wrong, in a line: its message, else what the rule says of all such places."""
        return one_line(self.incident.message or self.incident.description, _MAX_MESSAGE_CELLS)

    @property
    def status(self) -> Status:
        """Return its sign and word; one that was asked for and waits for its turn is queued."""
        if self.state == "open" and self.is_requested:
            return "todo", "queued"
        return INCIDENT_STATUSES[self.state]

    @property
    def is_askable(self) -> bool:
        """Return whether an agent can be asked about it now."""
        is_open = not self.is_requested and not self.is_dismissed and self.state != "fixed"
        return is_open and not self.incident.problem


class IncidentCounts(Struct, frozen=True, kw_only=True):
    """How many incidents there are, by state and by severity."""

    total: int
    states: Mapping[IncidentState, int]
    severities: Mapping[IncidentSeverity, int]
    requested: int = 0
    """Asked for and not ended yet."""

    @property
    def ended(self) -> int:
        """Return how many have an outcome."""
        return sum(self.states.get(name, 0) for name in OUTCOMES)

    @property
    def words(self) -> str:
        """Return `9 fixed, 1 rejected, 2 open`: states that occur, those that ended first."""
        names = (*OUTCOMES, *UNDECIDED)
        return ", ".join(f"{self.states[name]:,} {name}" for name in names if self.states.get(name))


class IncidentGroup(Struct, frozen=True, kw_only=True):
    """Rows that share a file, a rule, a severity or an outcome."""

    name: str
    rows: tuple[IncidentRow, ...]


def decode_incidents(data: bytes) -> tuple[Incident, ...]:
    """Return the incidents of the blob that `incidents.listed` names.

    Raises:
        msgspec.MsgspecError: it is none of ours.
    """
    return msgspec.json.decode(data, type=tuple[Incident, ...])


class IncidentList:
    """A list of incidents and what events say of them; feed it those of its session and of its children."""

    def __init__(
        self, session_id: str, incidents: Iterable[Incident] = (), dismissed: Mapping[str, str] | None = None
    ) -> None:
        """Begin with what was found; `dismissed` are reasons by fingerprint of what will not be fixed."""
        self.session_id = session_id
        self.listed: e.IncidentsListed | None = None
        self.options = IncidentOptions()
        """Of the last request."""
        self.is_cancelled = False
        """A human ended the work since the last request."""
        self.new: dict[str, Incident] = {}
        """Incidents that the checker found after a change and not before, by id."""
        self._dismissed = dict(dismissed or {})
        self._rows: dict[str, IncidentRow] = {}
        self._of_session: dict[str, str] = {}
        """The incident that a child session works on."""
        self._asked: dict[str, str] = {}
        """The incident that a question is about, by action; those that wait."""
        self._cached: tuple[IncidentRow, ...] | None = None
        self._ids_of_print: dict[str, list[str]] = {}
        for incident in incidents:
            self._rows[incident.id] = self._begin(incident)
            self._ids_of_print.setdefault(incident.fingerprint, []).append(incident.id)

    def _begin(self, incident: Incident) -> IncidentRow:
        row = IncidentRow(incident=incident, line=incident.line, reason=incident.problem)
        why = self._dismissed.get(incident.fingerprint)
        return (
            row if not why else msgspec.structs.replace(row, state="skipped", is_dismissed=True, reason=why)
        )

    @property
    def rows(self) -> tuple[IncidentRow, ...]:
        """Return the rows in the order of the list."""
        if self._cached is None:
            self._cached = tuple(self._rows.values())
        return self._cached

    @property
    def has_open_request(self) -> bool:
        """Return whether something that was asked for has not ended."""
        return any(row.is_requested for row in self._rows.values())

    def row(self, incident_id: str) -> IncidentRow | None:
        """Return the row of an incident; None where the list has no such one."""
        return self._rows.get(incident_id)

    @property
    def children(self) -> tuple[str, ...]:
        """Return the sessions of agents that were asked, in their order."""
        return tuple(self._of_session)

    def apply(self, event: e.Event) -> bool:
        """Take an event of the list or of a child; return whether a row reads otherwise now."""
        match event.body:
            case e.IncidentEvent() as body:
                if event.session_id != self.session_id:
                    return False
                self._apply_incident(body)
                return True
            case e.ActionOpened() as body:
                return self._asks(event, body)
            case (
                e.ActionApproved() | e.ActionRejected() | e.ActionExpired() | e.ActionSuperseded()
                | e.ActionCancelled()
            ):  # fmt: skip
                return self._answered(event.action_id or "")
            case e.ActionBecameStale() | e.AnswerRefused():
                return False
            case (
                e.TurnStarted() | e.TextStreamed() | e.ThinkingStreamed() | e.ReplyCompleted()
                | e.ConversationCompacted() | e.TurnEnded() | e.ProgressReported() | e.ErrorRaised()
                | e.HookRan() | e.CommandSuggested() | e.CallProposed() | e.CallExecuting()
                | e.ProcessStarted() | e.OutputStreamed() | e.FileChanged() | e.CallFinished()
                | e.CallRepeated() | e.SandboxRefused() | e.SessionCreated() | e.SessionStatusChanged()
                | e.SessionChanged()
                | e.SessionDeleted() | e.LeaseTaken() | e.LeaseReleased()
                | e.AgentConnected() | e.AgentGone() | e.PromptSubmitted()
                | e.InterruptRequested()
                | e.PromptWithdrawn() | e.PromptsReordered()
                | e.ContinueRequested() | e.CompactionRequested()
                | e.RefreshRequested() | e.UndoRequested()
                | e.PatchRequested() | e.MarkAdded() | e.ForkRequested()
                | e.ContextCollected() | e.RuleAdded() | e.RuleUsed() | e.RuleRevoked() | e.RulePlaced()
                | e.WorkspaceTrusted()
                | e.WorkspaceTrustRevoked() | e.AgentsHeld()
                | e.AgentsReleased() | e.SecurityNoted() | e.RunRequested() | e.RunCancelRequested()
                | e.StepRetryRequested() | e.RunStarted() | e.RunChanged() | e.StepChanged()
                | e.ContractChecked() | e.ArtifactStored() | e.Unknown()
            ):  # fmt: skip
                return False
            case _:
                assert_never(event.body)

    def ask(self, waiting: Iterable[Action]) -> bool:
        """Take all questions that wait now, in place of the events of children; as `apply` returns."""
        asked = {action.id: key for action in waiting if (key := self._subject(action))}
        changed = [self._answered(action_id) for action_id in self._asked.keys() - asked.keys()]
        for action_id, key in asked.items():
            row = self._rows.get(key)
            if row is not None and row.state in ("working", "waiting"):
                self._asked[action_id] = key
                if row.state != "waiting" or not row.action_id:
                    self._change(key, state="waiting", action_id=action_id)
                    changed.append(True)
        return any(changed)

    def _subject(self, action: Action) -> str:
        about = action.subject.get("incident")
        is_ours = action.session_id in (self.session_id, *self._of_session)
        if action.kind == "finding" and is_ours and isinstance(about, str):
            return about
        return self._of_session.get(action.session_id, "")

    def _apply_incident(self, body: e.IncidentBody) -> None:
        match body:
            case e.IncidentsListed():
                self.listed = body
            case e.IncidentsRequested():
                self._request(body)
            case e.IncidentsCancelRequested():
                self.is_cancelled = True
            case e.IncidentDismissed():
                self._dismiss(body)
            case e.IncidentStarted():
                self._of_session[body.child_id] = body.incident
                row = self._rows.get(body.incident)
                self._change(
                    body.incident, state="working", is_requested=True, child_id=body.child_id,
                    line=body.line or (row.line if row else 0), rounds=(row.rounds if row else 0) + 1,
                )  # fmt: skip
            case e.IncidentChecked():
                self._check(body)
            case e.IncidentEnded():
                self._end(body)
            case _:
                assert_never(body)

    def _request(self, body: e.IncidentsRequested) -> None:
        self.options, self.is_cancelled = body.options, False
        for key in body.ids:
            self._change(key, is_requested=True, state="open", reason="", check=None)

    def _dismiss(self, body: e.IncidentDismissed) -> None:
        self._dismissed[body.fingerprint] = body.reason
        for key in self._ids_of_print.get(body.fingerprint, ()):
            row = self._rows[key]
            if body.reason and row.state in ("open", "skipped", "unchanged", "failed", "rejected"):
                self._change(key, state="skipped", is_dismissed=True, reason=body.reason)
            elif not body.reason and row.is_dismissed:
                self._change(key, state="open", is_dismissed=False, reason=row.incident.problem)

    def _check(self, body: e.IncidentChecked) -> None:
        for incident in body.new:
            self.new.setdefault(incident.id, incident)
        row = self._rows.get(body.incident)
        if row is not None:
            self._change(
                body.incident, check=body.outcome, reason=body.detail, line=body.line or row.line,
                new_count=row.new_count + body.new_count, new=(*row.new, *body.new)[:_MAX_NEW],
            )  # fmt: skip

    def _end(self, body: e.IncidentEnded) -> None:
        row = self._rows.get(body.incident)
        reason = body.detail or (row.reason if row and body.outcome == "unchanged" else "")
        self._change(
            body.incident, state=body.outcome, is_requested=False, action_id="", reason=reason,
            files=body.files, files_while_ran=body.files_while_ran, files_by_others=body.files_by_others,
            duration_ms=body.duration_ms,
        )  # fmt: skip
        self._asked = {action: key for action, key in self._asked.items() if key != body.incident}

    def _asks(self, event: e.Event, body: e.ActionOpened) -> bool:
        about = body.subject.get("incident")
        is_child = event.session_id in self._of_session
        if body.action_kind == "finding" and (is_child or event.session_id == self.session_id):
            key = about if isinstance(about, str) else self._of_session.get(event.session_id, "")
        else:
            key = self._of_session.get(event.session_id, "")
        row = self._rows.get(key)
        if row is None or not event.action_id or row.state not in ("working", "waiting"):
            return False
        self._asked[event.action_id] = key
        self._change(key, state="waiting", action_id=row.action_id or event.action_id)
        return True

    def _answered(self, action_id: str) -> bool:
        key = self._asked.pop(action_id, "")
        row = self._rows.get(key)
        if row is None or row.state != "waiting":
            return False
        other = next((action for action, about in self._asked.items() if about == key), "")
        self._change(key, state="waiting" if other else "working", action_id=other)
        return True

    def _change(self, key: str, **changes: object) -> None:
        row = self._rows.get(key)
        if row is not None:
            self._rows[key] = msgspec.structs.replace(row, **changes)
            self._cached = None


class CodeLine(Struct, frozen=True):
    """A line of a file."""

    number: int
    text: str


class CodeExcerpt(Struct, frozen=True, kw_only=True):
    """Lines around an incident, as the file has them now; untrusted."""

    lines: tuple[CodeLine, ...] = ()
    problem: str = ""
    """Why there are none."""


class IncidentSnapshot(Struct, frozen=True, kw_only=True):
    """A list as it stood when it was read; what a place shows."""

    session: Session
    listed: e.IncidentsListed
    rows: tuple[IncidentRow, ...]
    options: IncidentOptions = IncidentOptions()
    """Of the last request."""
    is_cancelled: bool = False
    new: tuple[Incident, ...] = ()

    @property
    def name(self) -> str:
        """Return the file, or the checker's command, in a line."""
        return one_line(self.listed.source, 200)

    @property
    def seconds_each(self) -> float | None:
        """Return how long the work on one took so far; None where none was worked on."""
        took = [row.duration_ms for row in self.rows if row.duration_ms]
        return sum(took) / len(took) / 1000 if took else None


def incident_list(
    session_id: str, incidents: Iterable[Incident], events: Iterable[e.Event], dismissed: Mapping[str, str]
) -> IncidentList:
    """Return a list as it stands after events of its session and of its children, in their order."""
    folded = IncidentList(session_id, incidents, dismissed)
    for event in events:
        folded.apply(event)
    return folded


def count_incidents(rows: Sequence[IncidentRow]) -> IncidentCounts:
    """Count rows by state and by severity."""
    return IncidentCounts(
        total=len(rows), states=Counter(row.state for row in rows),
        severities=Counter(row.incident.severity for row in rows),
        requested=sum(row.is_requested for row in rows),
    )  # fmt: skip


class SearchedText:
    """What words of a filter are looked for in, by row; a place that filters again and again keeps one."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[IncidentRow, str]] = {}

    def of(self, row: IncidentRow) -> str:
        """Return the text of a row in small letters."""
        known = self._texts.get(row.incident.id)
        if known is None or known[0] is not row:
            self._texts[row.incident.id] = known = row, _searched_text(row)
        return known[1]

    def prepare(self, rows: Iterable[IncidentRow]) -> None:
        """Make the texts of rows before somebody waits for them; any thread may."""
        for row in rows:
            self.of(row)


def filter_incidents(
    rows: Sequence[IncidentRow], text: str, texts: SearchedText | None = None
) -> tuple[IncidentRow, ...]:
    """Return the rows that hold every word; `-word` leaves out, `severity:error rule:F4 file:src` narrow.

    A word is looked for in rule, place, message, category, outcome and reason. A severity stands for itself,
    all else for what begins with it, a file for paths that hold it.
    """
    known = texts or SearchedText()
    tests = [_FilterWord(word, known) for word in text.casefold().split() if word.strip("-")]
    return tuple(row for row in rows if all(test.fits(row) for test in tests)) if tests else tuple(rows)


class _FilterWord:
    def __init__(self, word: str, texts: SearchedText) -> None:
        self._texts = texts
        self._is_excluded = word.startswith("-")
        self._text = word.lstrip("-")
        key, colon, value = self._text.partition(":")
        self._key, self._value = (key, value) if colon and key in FILTER_KEYS else ("", self._text)

    def fits(self, row: IncidentRow) -> bool:
        return self._holds(row) != self._is_excluded

    def _holds(self, row: IncidentRow) -> bool:
        incident, value = row.incident, self._value
        match self._key:
            case "":
                return value in self._texts.of(row)
            case "severity":
                return value in ("", incident.severity)
            case "rule":
                return incident.rule.casefold().startswith(value)
            case "category":
                return incident.category.casefold().startswith(value)
            case "file" | "path":
                return value in row.place.casefold()
            case _:
                return row.status[1].startswith(value) or row.state.startswith(value)


def _searched_text(row: IncidentRow) -> str:
    incident = row.incident
    parts = (
        incident.rule, row.place, incident.message or incident.description, incident.category,
        incident.severity, row.status[1], row.reason,
    )  # fmt: skip
    return "\n".join(parts).casefold()


def group_incidents(rows: Sequence[IncidentRow], by: IncidentGroupName) -> tuple[IncidentGroup, ...]:
    """Return rows in groups: severities worst first, outcomes as they are named, files and rules by name."""
    if by == "list":
        return (IncidentGroup(name="", rows=tuple(rows)),)
    parts: dict[str, list[IncidentRow]] = {}
    for row in rows:
        parts.setdefault(_group_key(row, by), []).append(row)
    names = sorted(parts)
    if by in ("severity", "outcome"):
        order: Sequence[str] = SEVERITIES if by == "severity" else (*UNDECIDED, "queued", *OUTCOMES)
        names.sort(key=order.index)
    return tuple(IncidentGroup(name=name, rows=tuple(parts[name])) for name in names)


def _group_key(row: IncidentRow, by: IncidentGroupName) -> str:
    match by:
        case "file":
            return row.incident.path or row.incident.location
        case "rule":
            return row.incident.rule
        case "severity":
            return row.incident.severity
        case _:
            return row.status[1]


class IncidentPlan(Struct, frozen=True, kw_only=True):
    """What a start would ask for, before anything is asked."""

    ids: tuple[str, ...]
    sessions: int
    """Agents that are started, one a batch."""
    options: IncidentOptions
    checker: str = ""
    left_out: tuple[str, ...] = ()
    """Why some are not asked about, a sentence each."""

    @property
    def least_prompts(self) -> int:
        return len(self.ids)

    @property
    def most_prompts(self) -> int:
        """Return how many there are if the checker still finds each after every turn."""
        return len(self.ids) * (self.options.max_turns if self.checker else 1)


def plan_incidents(rows: Sequence[IncidentRow], options: IncidentOptions, checker: str) -> IncidentPlan:
    """Return what working off these rows would ask: those that can be asked about, in batches."""
    askable = [row for row in rows if row.is_askable]
    return IncidentPlan(
        ids=tuple(row.incident.id for row in askable), options=options, checker=checker,
        sessions=len({_batch_key(row.incident, options.batch) for row in askable}),
        left_out=tuple(_left_out(rows)),
    )  # fmt: skip


def _batch_key(incident: Incident, batch: BatchSize) -> str:
    return {"one": incident.id, "file": incident.path, "rule": incident.rule}[batch]


def _left_out(rows: Sequence[IncidentRow]) -> Iterable[str]:
    broken = [row for row in rows if row.incident.problem]
    if broken:
        first = f"{broken[0].place}: {one_line(broken[0].incident.problem, 120)}"
        yield f"{len(broken):,} cannot be asked about: {first}"
    if count := sum(row.state == "fixed" for row in rows):
        yield f"{count:,} fixed already"
    if count := sum(row.is_dismissed for row in rows):
        yield f"{count:,} dismissed"
    if count := sum(row.is_requested for row in rows):
        yield f"{count:,} asked for already"
