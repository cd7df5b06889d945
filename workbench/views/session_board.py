"""The board of sessions: each on one time axis in the marks of a replay, what it does now, what it said last.

Made of the last events of a session, for the rows on the screen only.
"""

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, assert_never

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.rows import Action, PipelineState, Session, SessionCounts
from workbench.text.human import HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, clock_time
from workbench.text.safe import one_line
from workbench.views.approvals import Urgency, seconds_left, urgency_for
from workbench.views.pipeline import PipelineRun
from workbench.views.sessions import BUSY_STATUSES, SessionRow
from workbench.views.status_icons import IconName, StatusName
from workbench.views.timeline import TimelineMarks, mark_fact, mark_for

HOUR: Final = HOUR_MICROS
_AXIS_LENGTHS: Final = tuple(MINUTE_MICROS * minutes for minutes in (2, 5, 10, 30, 60, 120, 240, 480))
"""Times that the axis can be long; the last is also the longest of sessions that work for days."""
_AXIS_STEPS: Final = 40
"""Into so many steps the axis is divided: it moves by a step at a time."""
_TICKS: Final = tuple(MINUTE_MICROS * minutes for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 240))
_ALWAYS_SEEN: Final = frozenset({"waiting", "failed"})
"""Signs that no count replaces."""
MAX_EVENTS: Final = 300
"""Events of a session that its row is made of: the last ones."""
MAX_QUIET_EVENTS: Final = 40
"""The same of a session that did not move in the last hour."""
MAX_SAID_CELLS: Final = 300
MAX_SAID_CHARACTERS: Final = 2_000
BoardOrder = Literal["needs", "newest", "name"]
BOARD_ORDERS: Final[Mapping[BoardOrder, str]] = {
    "needs": "what needs you first", "newest": "newest first", "name": "by name",
}  # fmt: skip


class Span(Struct, frozen=True):
    """A time in which a session ran something, or only waited; without an end it goes on."""

    name: Literal["ran", "waited"]
    begin: int
    end: int | None


class BoardAxis(Struct, frozen=True, kw_only=True):
    """The time that all rows of a board show."""

    begin: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.begin

    def cell_of(self, moment: int, width: int) -> int:
        """Return the cell of a moment; outside the axis it is below 0 or beyond the width."""
        return (moment - self.begin) * width // self.length

    def ticks(self, width: int, label_cells: int) -> tuple[int, ...]:
        """Return moments to name above an axis, whose labels of so many cells do not touch."""
        least = self.length * (label_cells + 2) // max(1, width)
        step = next((step for step in _TICKS if step >= least), 2 * _TICKS[-1])
        return tuple(range(-(-self.begin // step) * step, self.end, step))


def board_axis(sessions: Iterable[Session], now: int) -> BoardAxis:
    """Return the axis from the beginning of the first session that moved within the last hour until now."""
    begun = min((one.created_at for one in sessions if one.updated_at >= now - HOUR), default=now - HOUR // 2)
    length = next(
        (one for one in _AXIS_LENGTHS if one - one // _AXIS_STEPS >= now - begun), _AXIS_LENGTHS[-1]
    )
    step = length // _AXIS_STEPS
    end = -(-now // step) * step
    return BoardAxis(begin=end - length, end=end)


class BoardCell(Struct, frozen=True):
    """What stands on a cell of the axis."""

    sign: IconName | Literal["rests"]
    """Of several marks the most important."""
    count: int = 1
    """How many marks there are, where their count says more than one sign."""


class BoardMarks(Struct, frozen=True):
    """Marks of a replay, and when each of them was."""

    times: Sequence[int] = ()
    marks: TimelineMarks = TimelineMarks()

    def cell(self, after: int, until: int) -> BoardCell | None:
        """Return the mark or the count of marks from one moment to before another."""
        low, high = bisect_left(self.times, after), bisect_left(self.times, until)
        sign = self.marks.best(low, high)
        return None if sign is None else BoardCell(sign, 1 if sign in _ALWAYS_SEEN else high - low)


class Activity(Struct, frozen=True, kw_only=True):
    """What the last events of a session say."""

    marks: BoardMarks = BoardMarks()
    spans: tuple[Span, ...] = ()
    tool: str = ""
    target: str = ""
    """What runs now; empty while no tool does."""
    since: int | None = None
    """When what goes on now began."""
    said: str = ""
    error: str = ""


class _ActivityFold:
    """What events say so far."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        """Since when questions wait, by action."""
        self.running: dict[str, int] = {}
        """Since when calls and steps run."""
        self.names: dict[str, tuple[str, str]] = {}
        """Tool and target of each call, name of each step."""
        self.spans: list[Span] = []
        self.said, self.error = "", ""
        self.begun: int | None = None

    def note(self, event: e.Event) -> None:
        match event.body:
            case e.PromptSubmitted():
                self.begun, self.error = event.at, ""
            case e.TurnEvent() as body:
                self._note_turn(body)
            case e.CallEvent() as body:
                self._note_call(event, body)
            case e.ActionEvent() as body:
                self._note_question(event, body)
            case e.StepChanged(state=state):
                self._note_step(event, is_running=state == "running")
            case (
                e.SessionCreated() | e.SessionStatusChanged() | e.SessionChanged() | e.SessionDeleted()
                | e.LeaseTaken() | e.LeaseReleased()
                | e.AgentConnected() | e.AgentGone() | e.InterruptRequested()
                | e.PromptWithdrawn() | e.PromptsReordered() | e.ContinueRequested()
                | e.CompactionRequested() | e.RefreshRequested() | e.UndoRequested()
                | e.PatchRequested() | e.MarkAdded()
                | e.ForkRequested() | e.ContextCollected() | e.RuleAdded() | e.RuleUsed()
                | e.RuleRevoked() | e.RulePlaced()
                | e.WorkspaceTrusted() | e.WorkspaceTrustRevoked() | e.AgentsHeld()
                | e.AgentsReleased() | e.SecurityNoted() | e.RunRequested()
                | e.RunCancelRequested() | e.StepRetryRequested() | e.RunStarted() | e.RunChanged()
                | e.ContractChecked() | e.ArtifactStored() | e.IncidentsListed() | e.IncidentsRequested()
                | e.IncidentsCancelRequested() | e.IncidentDismissed() | e.IncidentStarted()
                | e.IncidentChecked() | e.IncidentEnded() | e.Unknown()
            ):  # fmt: skip
                pass
            case _:
                assert_never(event.body)

    def _note_turn(self, body: e.TurnBody) -> None:
        match body:
            case e.ReplyCompleted():
                self.said = body.text or self.said
            case e.ErrorRaised():
                self.error = body.message
            case e.TurnEnded():
                self.running.clear()
            case (
                e.TurnStarted() | e.TextStreamed() | e.ThinkingStreamed() | e.ConversationCompacted()
                | e.CommandSuggested() | e.ProgressReported() | e.HookRan()
            ):  # fmt: skip
                pass
            case _:
                assert_never(body)

    def _note_call(self, event: e.Event, body: e.CallBody) -> None:
        key = event.call_id or ""
        match body:
            case e.CallProposed():
                self.names[key] = body.tool, body.target
            case e.CallExecuting():
                self.running[key] = event.at
            case e.CallFinished():
                self._end("ran", self.running.pop(key, None), event.at)
            case (
                e.ProcessStarted() | e.OutputStreamed() | e.FileChanged() | e.CallRepeated()
                | e.SandboxRefused()
            ):  # fmt: skip
                pass
            case _:
                assert_never(body)

    def _note_question(self, event: e.Event, body: e.ActionBody) -> None:
        key = event.action_id or ""
        match body:
            case e.ActionOpened():
                self.asked[key] = event.at
            case (
                e.ActionApproved() | e.ActionRejected() | e.ActionExpired() | e.ActionSuperseded()
                | e.ActionCancelled()
            ):  # fmt: skip
                self._end("waited", self.asked.pop(key, None), event.at)
            case e.ActionBecameStale() | e.AnswerRefused():
                pass
            case _:
                assert_never(body)

    def _note_step(self, event: e.Event, *, is_running: bool) -> None:
        step = event.step or ""
        if is_running:
            self.names[step] = step, ""
            self.running.setdefault(step, event.at)
        else:
            self._end("ran", self.running.pop(step, None), event.at)

    def _end(self, name: Literal["ran", "waited"], begin: int | None, end: int) -> None:
        if begin is not None:
            self.spans.append(Span(name, begin, end))


def activity(events: Sequence[e.Event]) -> Activity:
    """Return what events of a session say, in their order."""
    fold = _ActivityFold()
    for event in events:
        fold.note(event)
    spans = [*fold.spans, *(Span("waited", begin, None) for begin in fold.asked.values())]
    spans += [Span("ran", begin, None) for begin in fold.running.values()]
    key = next(reversed(fold.running), None)
    tool, target = fold.names.get(key or "", ("", ""))
    return Activity(
        marks=_board_marks(events, fold.asked), spans=tuple(spans), tool=tool, target=target,
        since=fold.begun if key is None else fold.running[key], said=_last_paragraph(fold.said),
        error=one_line(fold.error, MAX_SAID_CELLS),
    )  # fmt: skip


def _last_paragraph(text: str) -> str:
    paragraphs = [" ".join(part.split()) for part in text[-MAX_SAID_CHARACTERS:].split("\n\n")]
    return one_line(next((part for part in reversed(paragraphs) if part), ""), MAX_SAID_CELLS)


def _board_marks(events: Iterable[e.Event], asked: Container[str]) -> BoardMarks:
    """Return the marks of events; a question has one only as long as it waits (`asked`)."""
    times, marks = array("q"), TimelineMarks()
    for event in events:
        if isinstance(event.body, e.ActionOpened) and (event.action_id or "") not in asked:
            continue
        fact: object = mark_fact(event)
        pair = mark_for(event.kind, fact)
        # A step that waits has a question, which has the mark while it waits.
        if pair is not None and fact != "waiting":
            times.append(max(event.at, times[-1] if times else 0))
            marks.add(len(times), pair)
    return BoardMarks(times, marks)


def axis_cells(
    shown: Activity, axis: BoardAxis, now: int, width: int, begun: int = 0
) -> tuple[BoardCell | None, ...]:
    """Return what stands on each cell of the axis: marks, what ran or waited, or a session that rests.

    None: the session had not begun (`begun`), or the cell is later than now.
    """
    first, last = axis.cell_of(begun, width), axis.cell_of(now, width)
    rests = BoardCell("rests")
    row = [rests if first <= cell <= last else None for cell in range(width)]
    for span in shown.spans:
        low = axis.cell_of(span.begin, width)
        high = axis.cell_of(now, width) + 1 if span.end is None else axis.cell_of(span.end, width)
        # Shorter than a cell is left to the marks.
        for cell in range(max(0, low), min(width, high)):
            row[cell] = BoardCell(span.name)
    edges = [axis.begin + axis.length * cell // width for cell in range(width)] + [axis.end + 1]
    return tuple(shown.marks.cell(*pair) or row[cell] for cell, pair in enumerate(pairwise(edges)))


class RunProgress(Struct, frozen=True, kw_only=True):
    """How far a run of a pipeline is."""

    done: int
    total: int
    tokens: int
    """Those of all steps."""
    seconds: float
    to_go: float | None = None
    """Seconds; None without an earlier run to go by."""
    place: str = ""
    """That it waits for a place among the steps of all runs."""


def run_progress(run: PipelineRun, runs: Iterable[PipelineState]) -> RunProgress:
    """Return how far a run is; `runs` are all that are known, the newest first."""
    completed = (row for row in runs if row.pipeline_name == run.name and row.status == "completed")
    previous = next((row for row in completed if row.pipeline_id != run.id), None)
    is_going = run.status in ("running", "waiting")
    left = previous.duration_ms / 1000 - run.seconds if previous is not None and is_going else None
    to_go = left if left is not None and left > 0 else None
    return RunProgress(
        done=run.done, total=run.total, tokens=run.tokens, seconds=run.seconds, to_go=to_go, place=run.place
    )


class BoardRow(Struct, frozen=True, kw_only=True):
    """One session on the board."""

    id: str
    sign: StatusName
    title: str
    is_current: bool
    is_muted: bool
    activity: Activity
    axis: BoardAxis
    begun: int
    """When the session began, in microseconds."""
    counts: SessionCounts
    waiting: int
    turn: int
    """The one that goes on, else how many there were."""
    does: str
    """One word."""
    what: str = ""
    left: float | None = None
    """Seconds until what it waits for expires."""
    urgency: Urgency = "calm"
    elapsed: float | None = None
    """Seconds that it does this."""
    tokens: int = 0
    run: RunProgress | None = None
    folder: str = ""
    is_supervised: bool = False


def board_row(
    row: SessionRow,
    session: Session,
    shown: Activity,
    counts: SessionCounts,
    asked: Sequence[Action],
    now: int,
    run: RunProgress | None = None,
    axis: BoardAxis | None = None,
) -> BoardRow:
    """Return a session's row; `asked` is what waits in it or below it."""
    does, what, left, elapsed = row.word, "", None, None
    if asked:
        first = min(asked, key=lambda action: (action.expires_at is None, action.expires_at, action.id))
        does = "waits" if first.kind == "tool" else "asks"
        what = one_line(
            f"{first.verb} {first.target}" if first.kind == "tool" else first.target, MAX_SAID_CELLS
        )
        left = seconds_left(first, now)
    elif run is not None and run.place:
        does, what = "queued", run.place
    elif session.status in BUSY_STATUSES:
        does, what = (
            ("runs", one_line(f"{shown.tool} {shown.target}", MAX_SAID_CELLS))
            if shown.tool
            else ("works", "")
        )
        elapsed = None if shown.since is None else (now - shown.since) / SECOND_MICROS
    elif row.sign == "failed" or shown.error:
        does, what = "failed", shown.error
    else:
        what = clock_time(session.updated_at, now)
    return BoardRow(
        id=row.id, sign=row.sign, title=row.title, is_current=row.is_current, is_muted=row.is_muted,
        activity=shown, axis=axis or board_axis((session,), now), begun=session.created_at, counts=counts,
        waiting=row.waiting, run=run, does=does, what=what, left=left,
        turn=counts.turns + (session.open_turn is not None),
        tokens=run.tokens if run is not None else session.usage.total_tokens,
        urgency=urgency_for(left), elapsed=elapsed, folder=row.folder, is_supervised=row.is_supervised,
    )  # fmt: skip


def board_order(
    rows: Sequence[SessionRow], asked: Mapping[str, Sequence[Action]], order: BoardOrder
) -> list[SessionRow]:
    """Return the rows of a board; `asked` is what waits, by session."""
    if order == "name":
        return sorted(rows, key=lambda row: (row.title.casefold(), row.id))
    if order == "newest":
        return sorted(rows, key=lambda row: (row.when is not None, -(row.when or 0), row.id))

    def need(row: SessionRow) -> tuple[bool, float, bool, bool]:
        times = [action.expires_at for action in asked.get(row.id, ()) if action.expires_at is not None]
        return not row.waiting, min(times, default=0), row.sign != "running", row.sign != "failed"

    return sorted(rows, key=need)
