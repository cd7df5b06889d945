"""A pipeline run for the screen (`pipeline_run`), its links, and the dry run of a pipeline (`LaunchPlan`)."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from workbench.domain.events import Event, RunStarted, StepChanged
from workbench.domain.machines import (
    COMPLETED_STEP_STATES,
    LOST,
    UNSTARTED_ITEM,
    ListedRunStatus,
    StepStateName,
    unstarted_item_state,
)
from workbench.domain.rows import Action, PipelineState, StepState, run_title, step_key
from workbench.domain.values import RunLink, SandboxLevel, StepKind, StepPlan, Usage
from workbench.text.human import SECOND_MICROS
from workbench.text.safe import one_line, reason_line
from workbench.views.approvals import seconds_left
from workbench.views.status_icons import Status, StepStatus, step_status, step_status_name

ContractState = Literal["", "kept", "broken", "unchecked"]


class PipelineItem(Struct, frozen=True, kw_only=True):
    """One item of a matrix step."""

    id: str
    label: str
    state: StepStatus
    seconds: float
    attempt: int
    retries: int
    contract_mark: ContractState
    error: str
    tokens: int
    session_id: str | None
    action_id: str | None
    refused: int = 0
    """Calls of its agent that were refused in the last attempt."""

    @property
    def status(self) -> Status:
        return step_status(self.state, self.refused)


class MatrixCounts(Struct, frozen=True, kw_only=True):
    """How the items of a matrix step stand; `failed` includes tolerated failures."""

    done: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    todo: int = 0

    @property
    def total(self) -> int:
        return self.done + self.running + self.waiting + self.failed + self.todo


class ItemTally(Struct):
    """How the items of a matrix stand by its events, counted as they come."""

    total: int = 0
    """How many its list has; 0 where no event said so."""
    _states: dict[str, StepStatus] = field(default_factory=dict[str, StepStatus])
    _counts: dict[StepStatus, int] = field(default_factory=dict[StepStatus, int])

    def note(self, item: str, state: StepStatus) -> None:
        before = self._states.get(item)
        if before is not None:
            self._counts[before] -= 1
        self._states[item] = state
        self._counts[state] = self._counts.get(state, 0) + 1

    @property
    def words(self) -> str:
        """Say how many are done, and how many failed; empty where there are none."""
        total = max(self.total, len(self._states))
        done = sum(self._counts.get(state, 0) for state in ("completed", "completed_empty"))
        failed = self._counts.get("failed", 0) + self._counts.get("warned", 0)
        return f"{done} of {total} items{f', {failed} failed' if failed else ''}" if total else ""


class PipelineStep(Struct, frozen=True, kw_only=True):
    """One step of the run, in file order. Texts are one safe line each."""

    id: str
    name: str
    kind: StepKind
    needs: tuple[str, ...]
    returns: tuple[str, ...]
    persona: str
    state: StepStatus
    started_at: int | None
    """Microseconds; None before it began."""
    completed_at: int | None
    seconds: float
    """Working time of the last attempt; it stands while the step waits for a human."""
    attempt: int
    attempts: int
    retries: int
    contract: str
    contract_mark: ContractState
    error: str
    """Why it failed, also where the run goes on, is tried again or was skipped."""
    action_id: str | None
    asks: str
    left: float | None
    """Seconds left to answer it, in the steps in which the queue counts."""
    session_id: str | None
    """The child session of an agent step's last attempt, or the child run."""
    workspace: str
    tokens: int
    cost: int
    """Millionths of a dollar, as far as it is known; 0 where it is not."""
    is_matrix: bool
    item_count: int
    """How many items it has, where that is known; 0 until then."""
    items: tuple[PipelineItem, ...]
    counts: MatrixCounts | None
    place: str = ""
    """That it waits for a place among the steps of all runs, and how many stand before its run."""
    sandbox: SandboxLevel | None = None
    refused: int = 0
    """Calls of its agents that were refused in the last attempt, by policy or by a human."""

    @property
    def status(self) -> Status:
        return step_status(self.state, self.refused)


class PipelineRun(Struct, frozen=True, kw_only=True):
    """A run as a pane shows it."""

    id: str
    name: str
    title: str
    status: ListedRunStatus
    steps: tuple[PipelineStep, ...]
    done: int
    """Completed; neither a tolerated failure nor a skipped step is done."""
    total: int
    running: int
    waiting: int
    failed: int
    """Tolerated failures among them."""
    warned: int
    skipped: int
    cancelled: int
    refused: int
    """Completed steps of whose calls some were refused."""
    seconds: float
    tokens: int
    cost: int
    error: str
    input: str
    created_at: int
    finished_at: int | None
    round: int
    links: tuple[RunLink, ...] = ()
    """What came of it: pull requests, issues, files; in the order of its steps."""
    place: str = ""
    """That its next step waits for a place, and how many runs stand before it."""


def last_started_step_plans(events: Iterable[Event]) -> tuple[StepPlan, ...]:
    """Return the plan of the last `run.started` among events; empty while the run is queued."""
    plans: tuple[StepPlan, ...] = ()
    for event in events:
        if isinstance(event.body, RunStarted):
            plans = event.body.steps
    return plans


def matrix_item_ids(events: Iterable[Event], read: Callable[[str], bytes | None]) -> tuple[str, ...]:
    """Return the ids of a matrix's items, from events of its step; empty while they are not known.

    `read` returns the bytes of a blob: the ids of many stand in one.
    """
    ids: tuple[str, ...] = ()
    for event in events:
        body = event.body
        if isinstance(body, StepChanged) and body.items is not None:
            ids = body.items
        elif isinstance(body, StepChanged) and body.items_ref is not None:
            data = read(body.items_ref)
            ids = () if data is None else msgspec.json.decode(data, type=tuple[str, ...])
    return ids


def matrix_item_count(events: Iterable[Event]) -> int:
    """Return the number of items of a matrix from events of its step; 0 while it is unknown."""
    count = 0
    for event in events:
        body = event.body
        if isinstance(body, StepChanged) and (body.items is not None or body.items_ref is not None):
            count = len(body.items or ()) or body.item_count
    return count


def pipeline_run(
    run: PipelineState,
    plans: Sequence[StepPlan],
    states: Iterable[StepState],
    actions: Iterable[Action],
    now: int,
    known: MutableMapping[str, tuple[StepState, PipelineItem]] | None = None,
    listed: Mapping[str, Sequence[str]] | None = None,
    links: Iterable[RunLink] = (),
    place: str = "",
    refused: Mapping[str, int] | None = None,
) -> PipelineRun:
    """Return a run for the screen.

    Pending gates are found among `actions`. `known` keeps items from view to view: a matrix may have
    thousands, and few of them change. `listed` has the ids of all items by matrix step; some have no row yet.
    `refused` is the number of refused calls by the session of a step.
    """
    now = run.updated_at if run.status == LOST else now  # nothing is known of what its steps did later
    rows = list(states)
    own = {row.step_id: row for row in rows if not row.matrix}
    items: dict[str, list[PipelineItem]] = {}
    known = {} if known is None else known
    refused = refused or {}
    below: dict[str, list[StepState]] = {}
    for row in rows:
        if row.matrix:
            below.setdefault(row.matrix, []).append(row)
    totals: dict[str, tuple[int, MatrixCounts]] = {}
    for matrix in {**below, **(listed or {})}:
        ending = _ending_of_unstarted(own.get(matrix))
        its, ids = below.get(matrix, []), (listed or {}).get(matrix, ())
        if max(len(its), len(ids)) > MOST_SHOWN_ITEMS:
            totals[matrix] = max(len(its), len(ids)), _row_counts(its, max(len(its), len(ids)), ending.state)
            its, ids = _urgent_rows(its), ()
        made = [_ended_item(_cached_item(row, now, known, refused), ending) for row in its]
        items[matrix] = _with_unstarted_items(matrix, made, ids, ending)
    asked = _pending_gates(actions)
    spent, denied = _usage_by_step(rows), _refused_by_step(rows, refused)
    steps = tuple(
        _pipeline_step(
            plan, own, items.get(plan.id, []), asked, now, spent.get(plan.id, _NO_USAGE), denied[plan.id]
        )
        for plan in plans
    )
    if totals:
        steps = tuple(_with_totals(step, totals.get(step.id)) for step in steps)
    if place:
        steps = tuple(replace(step, place=place) if _needs_place(step) else step for step in steps)
    words: list[StepStatus] = [step.state for step in steps]
    return PipelineRun(
        id=run.pipeline_id, name=one_line(run.pipeline_name, 120), title=run_title(run), status=run.status,
        steps=steps, done=count_done(words), total=len(steps),
        running=words.count("running"), waiting=words.count("waiting"),
        failed=words.count("failed") + words.count("warned"), warned=words.count("warned"),
        refused=words.count("refused"), skipped=words.count("skipped"),
        cancelled=words.count("cancelled"),
        seconds=_run_seconds(run, now),
        tokens=sum(used.total_tokens for used in spent.values()),
        cost=sum(used.cost_microdollars for used in spent.values()),
        error=reason_line(run.error_message, 500),
        input=one_line(run.input, 500), created_at=run.created_at, finished_at=run.finished_at,
        round=run.round, links=tuple(dict.fromkeys(links)), place=place,
    )  # fmt: skip


def step_counts_text(states: Sequence[StepStatus]) -> str:
    """Return the counts of a run's steps: `1 failed, 5 skipped, 0 of 6 done`."""
    failed = states.count("failed") + states.count("warned")
    ended = (
        (failed, "failed"),
        (states.count("skipped"), "skipped"),
        (states.count("cancelled"), "cancelled"),
    )
    parts = [f"{count:,} {word}" for count, word in ended if count]
    return ", ".join((*parts, f"{count_done(states):,} of {len(states):,} done"))


def count_done(states: Sequence[StepStatus]) -> int:
    """Return how many steps are completed; neither a tolerated failure nor a skipped step is."""
    return sum(states.count(state) for state in ("completed", "completed_empty", "refused"))


def next_attempt_text(step: PipelineStep) -> str:
    """Return `attempt 2 of 3`, or `attempt 3; 2 were planned` where a step runs again beyond its plan."""
    attempt, planned = step.attempt + 1, step.attempts
    if attempt <= planned:
        return f"attempt {attempt} of {planned}"
    return f"attempt {attempt}; {planned} {'was' if planned == 1 else 'were'} planned"


def _needs_place(step: PipelineStep) -> bool:
    return step.state in ("ready", "retrying") and step.kind in ("command", "prompt", "aggregate")


def _pending_gates(actions: Iterable[Action]) -> dict[str, Action]:
    """Return pending actions by id, and by the ids of those that they stand in for: extended ones."""
    by_id = {action.id: action for action in actions}
    asked: dict[str, Action] = {}
    for key, first in by_id.items():
        latest: Action | None = first
        while latest is not None and latest.state == "superseded":
            latest = by_id.get(latest.successor or "")
        if latest is not None and latest.state == "pending":
            asked[key] = latest
    return asked


_DONE_STATES = COMPLETED_STEP_STATES | {"refused", "warned", "skipped"}


def _pipeline_step(
    plan: StepPlan,
    own: Mapping[str, StepState],
    items: Sequence[PipelineItem],
    asked: Mapping[str, Action],
    now: int,
    spent: Usage,
    refused: int,
) -> PipelineStep:
    row = own.get(plan.id)
    action = asked.get(row.action_id or "") if row and row.state == "waiting" else None
    below = tuple(items)
    return PipelineStep(
        id=plan.id, name=one_line(plan.name or plan.id, 200), kind=plan.kind, needs=plan.needs,
        returns=plan.returns, persona=one_line(plan.persona, 80), state=_step_state(row, plan, own, refused),
        started_at=row.started_at if row else None, completed_at=row.completed_at if row else None,
        seconds=matrix_seconds(row, now) if plan.is_matrix and row else _working_seconds(row, now),
        attempt=row.attempt if row else 0, attempts=plan.attempts,
        retries=row.retry_count if row else 0, contract=plan.contract, contract_mark=_contract_state(row),
        error=reason_line(row.error_message, 500) if row else "", action_id=action.id if action else None,
        asks=_asked_text(action) if action else "", left=seconds_left(action, now) if action else None,
        session_id=row.session_id if row else None, workspace=row.workspace_path if row else "",
        tokens=spent.total_tokens, cost=spent.cost_microdollars, is_matrix=plan.is_matrix,
        item_count=len(below) or plan.item_count,
        items=below, counts=_matrix_counts(below) if below else None, sandbox=plan.sandbox, refused=refused,
    )  # fmt: skip


def _asked_text(action: Action) -> str:
    """Return what an action asks: its target, and of files the lines that would come and go."""
    counts = [f"+{action.added}"] * bool(action.added) + [f"−{action.removed}"] * bool(action.removed)
    return " ".join((one_line(action.target, 200), *counts))


def _usage_by_step(rows: Iterable[StepState]) -> dict[str, Usage]:
    spent: dict[str, Usage] = {}
    for row in rows:
        used = row.usage
        if used is not _NO_USAGE:
            key = row.matrix or row.step_id
            spent[key] = spent[key].plus(used) if key in spent else used
    return spent


_NO_USAGE = Usage()


def _refused_by_step(rows: Iterable[StepState], refused: Mapping[str, int]) -> Counter[str]:
    counts = Counter[str]()
    for row in rows if refused else ():
        counts[row.matrix or row.step_id] += refused.get(row.session_id or "", 0)
    return counts


def _cached_item(
    row: StepState,
    now: int,
    known: MutableMapping[str, tuple[StepState, PipelineItem]],
    refused: Mapping[str, int],
) -> PipelineItem:
    """Return an item as it was made before while its row is the same; its time goes on while it runs."""
    cached, calls = known.get(row.key), refused.get(row.session_id or "", 0)
    is_same = cached is not None and cached[0] is row and cached[1].refused == calls
    if cached is not None and is_same and row.state != "running":
        return cached[1]
    if cached is not None and is_same:
        item = replace(cached[1], seconds=_working_seconds(row, now))
    else:
        item = _pipeline_item(row, now, calls)
    known[row.key] = (row, item)
    return item


class _UnstartedEnding(Struct, frozen=True):
    """How the items of a matrix that never began ended, and why."""

    state: StepStateName = "pending"
    why: str = ""


def _ending_of_unstarted(matrix: StepState | None) -> _UnstartedEnding:
    state = unstarted_item_state(matrix.state) if matrix is not None else "pending"
    if matrix is None or state == "pending":
        return _UnstartedEnding()
    why = matrix.error_message if state == "cancelled" else UNSTARTED_ITEM
    return _UnstartedEnding(state, reason_line(why, 500))


def _ended_item(item: PipelineItem, ending: _UnstartedEnding) -> PipelineItem:
    return replace(item, state=ending.state, error=ending.why) if item.state == "pending" else item


def _with_unstarted_items(
    matrix: str, begun: list[PipelineItem], ids: Sequence[str], ending: _UnstartedEnding
) -> list[PipelineItem]:
    if len(begun) >= len(ids):
        return begun
    by_id = {item.id: item for item in begun}
    return [by_id.get(item_id) or _unstarted_item(matrix, item_id, ending) for item_id in ids]


@lru_cache(maxsize=20_000)
def _unstarted_item(matrix: str, item_id: str, ending: _UnstartedEnding) -> PipelineItem:
    return PipelineItem(
        id=item_id, label=_item_label(matrix, item_id), state=ending.state, seconds=0.0, attempt=0, retries=0,
        contract_mark="", error=ending.why, tokens=0, session_id=None, action_id=None,
    )  # fmt: skip


def _item_label(matrix: str, item_id: str) -> str:
    return one_line(item_id.removeprefix(f"{matrix}[").removesuffix("]"), 120)


def _pipeline_item(row: StepState, now: int, refused: int) -> PipelineItem:
    return PipelineItem(
        id=row.step_id, label=_item_label(row.matrix, row.step_id), state=_row_state(row, refused),
        seconds=_working_seconds(row, now), attempt=row.attempt, retries=row.retry_count,
        contract_mark=_contract_state(row),
        error=reason_line(row.error_message, 500), tokens=row.usage.total_tokens, session_id=row.session_id,
        action_id=row.action_id if row.state == "waiting" else None, refused=refused,
    )  # fmt: skip


def _step_state(
    row: StepState | None, plan: StepPlan, own: Mapping[str, StepState], refused: int
) -> StepStatus:
    word = _row_state(row, refused) if row else "pending"
    if word != "pending":
        return word
    needed = [own.get(need) for need in plan.needs]
    return (
        "ready"
        if all(required is not None and required.state in COMPLETED_STEP_STATES for required in needed)
        else "pending"
    )


def _row_state(row: StepState, refused: int = 0) -> StepStatus:
    return step_status_name(row.state, is_warned=row.is_warned, refused=refused)


def _contract_state(row: StepState | None) -> ContractState:
    match row.contract if row else None:
        case "passed":
            return "kept"
        case "failed" | "warned":
            return "broken"
        case "not_checked":
            return "unchecked"
        case None:
            return ""


def _working_seconds(row: StepState | None, now: int) -> float:
    if row is None:
        return 0.0
    live = max(0, now - row.moved_at) / SECOND_MICROS if row.state == "running" and row.moved_at else 0.0
    return row.duration_ms / 1000 + live


def matrix_seconds(row: StepState, now: int) -> float:
    """Return the seconds from a matrix's beginning to its end, or until now: it does no work of its own."""
    if row.started_at is None or row.state == "pending":
        return 0.0
    return max(0, (row.completed_at or now) - row.started_at) / SECOND_MICROS


def _run_seconds(run: PipelineState, now: int) -> float:
    is_live = run.status == "running" and run.moved_at is not None
    live = max(0, now - (run.moved_at or 0)) / SECOND_MICROS if is_live else 0.0
    return run.duration_ms / 1000 + live


MOST_SHOWN_ITEMS: Final = 20_000
"""Items of a matrix that are shown one by one; of more only those that are at work, wait or failed."""
_MOST_URGENT: Final = 1_000


def _urgent_rows(rows: Iterable[StepState]) -> list[StepState]:
    urgent = (
        row for row in rows if row.is_warned or row.state not in ("completed", "completed_empty", "pending")
    )
    return list(itertools.islice(urgent, _MOST_URGENT))


def _row_counts(rows: Iterable[StepState], total: int, unstarted: StepStateName) -> MatrixCounts:
    """Count items by state; those that never began, with a row or without, have the state `unstarted`."""
    words: list[StepStatus] = [_row_state(row) for row in rows if row.state != "pending"]
    return _state_counts([*words, *itertools.repeat(unstarted, total - len(words))])


def _with_totals(step: PipelineStep, of: tuple[int, MatrixCounts] | None) -> PipelineStep:
    return step if of is None else replace(step, item_count=of[0], counts=of[1])


def _matrix_counts(items: Sequence[PipelineItem]) -> MatrixCounts:
    return _state_counts([item.state for item in items])


def _state_counts(words: Sequence[StepStatus]) -> MatrixCounts:
    done = sum(word in _DONE_STATES and word != "warned" for word in words)
    running = words.count("running") + words.count("retrying")
    waiting = words.count("waiting")
    failed = words.count("failed") + words.count("warned") + words.count("cancelled")
    return MatrixCounts(
        done=done, running=running, waiting=waiting, failed=failed,
        todo=len(words) - done - running - waiting - failed,
    )  # fmt: skip


class PipelineChoice(Struct, frozen=True, kw_only=True):
    """A pipeline that can be chosen."""

    name: str
    file: str
    place: str = ""
    description: str = ""
    steps: int = 0
    is_broken: bool = False


class PlannedStep(Struct, frozen=True, kw_only=True):
    """A step as it would run."""

    id: str
    wave: int
    """Steps of one wave need nothing of each other; from 1."""
    kind: StepKind
    who: str
    does: str
    asks: str
    """What a human is asked in it, or why nobody is."""
    is_asking: bool
    facts: str = ""
    cannot: str = ""


_INPUT_PLACE: Final = re.compile(r"\{\{\s*input\s*\}\}")


def with_input(step: PlannedStep, text: str) -> PlannedStep:
    """Return a step with what was typed in the place of `{{ input }}`; without a text as it is."""
    if not text.strip():
        return step
    input_text = one_line(text, _MOST_INPUT_CELLS)
    return replace(step, does=input_text.join(_INPUT_PLACE.split(step.does)))


_MOST_INPUT_CELLS: Final = 200


class GrantOffer(Struct, frozen=True, kw_only=True):
    """A pattern of calls that may be let pass in the run without asking."""

    pattern: str
    whose: str
    origin: str
    is_taken: bool = False
    refused: str = ""


class LaunchProblem(Struct, frozen=True, kw_only=True):
    """Something wrong with the pipeline or its manifest."""

    place: str
    message: str
    stops: bool


class LaunchPlan(Struct, frozen=True, kw_only=True):
    """The dry run of one pipeline."""

    name: str
    file: str
    steps: tuple[PlannedStep, ...] = ()
    plans: tuple[StepPlan, ...] = ()
    """What its graph is drawn from."""
    grants: tuple[GrantOffer, ...] = ()
    findings: tuple[LaunchProblem, ...] = ()
    input_hint: str = ""
    input_steps: tuple[str, ...] = ()
    """Steps that use an input which the pipeline does not demand: their texts have a gap without it."""
    why_not: str = ""
    project: str = ""
    """What the manifest says of the project, in one line."""

    @property
    def asking(self) -> int:
        return sum(step.is_asking for step in self.steps)

    @property
    def taken(self) -> tuple[str, ...]:
        return tuple(grant.pattern for grant in self.grants if grant.is_taken)

    def with_grant_toggled(self, pattern: str) -> "LaunchPlan":
        """Return the plan with one grant taken or left; one that is refused stays left."""
        return replace(
            self,
            grants=tuple(
                replace(grant, is_taken=not grant.is_taken and not grant.refused)
                if grant.pattern == pattern
                else grant
                for grant in self.grants
            ),
        )

    def with_all_grants_toggled(self) -> "LaunchPlan":
        """Return the plan with every grant taken that may be; with none if they were."""
        grantable = [grant for grant in self.grants if not grant.refused]
        is_taken = not all(grant.is_taken for grant in grantable)
        return replace(
            self,
            grants=tuple(replace(grant, is_taken=is_taken and not grant.refused) for grant in self.grants),
        )


def planned_run(plan: LaunchPlan) -> PipelineRun:
    """Return a run of which nothing has begun, for the graph of what would run."""
    run = PipelineState(
        pipeline_id=plan.file, pipeline_name=plan.name, status="queued", created_at=0, updated_at=0
    )
    return pipeline_run(run, plan.plans, (), (), 0)


def used_by_text(steps: Sequence[str]) -> str:
    """Return which steps use the input: `plan uses it`, `plan, notes and 2 more use it`."""
    shown = ", ".join(one_line(step, 40) for step in steps[:_MAX_NAMED_STEPS])
    more = f" and {len(steps) - _MAX_NAMED_STEPS} more" if len(steps) > _MAX_NAMED_STEPS else ""
    return f"{shown}{more} {'uses' if len(steps) == 1 else 'use'} it"


_MAX_NAMED_STEPS: Final = 3


class LaunchRequest(Struct, frozen=True, kw_only=True):
    """What the user wants to have run."""

    file: str
    input: str = ""
    grants: tuple[str, ...] = ()


def step_links(events: Iterable[Event]) -> tuple[RunLink, ...]:
    """Return the links of a step, from its events: those of its last completed attempt, of all its items."""
    links: dict[str | None, tuple[RunLink, ...]] = {}
    for event in events:
        if isinstance(event.body, StepChanged) and event.body.state in COMPLETED_STEP_STATES:
            links[event.step] = event.body.links
    return tuple(dict.fromkeys(link for links_of_step in links.values() for link in links_of_step))


class RunLinks:
    """What came of runs, read once for each row of a step that has ended."""

    def __init__(self, events_of: Callable[[str, str], Iterable[Event]]) -> None:
        self._events_of = events_of
        self._known: dict[str, tuple[StepState, tuple[RunLink, ...]]] = {}

    def of(self, run_id: str, plans: Sequence[StepPlan], rows: Mapping[str, StepState]) -> Iterator[RunLink]:
        """Yield the links of a run in the order of its steps; rows are by `step_key`."""
        for plan in plans:
            key = step_key(run_id, plan.id)
            row = rows.get(key) if plan.has_links else None
            if row is None or row.state not in COMPLETED_STEP_STATES:
                continue
            if key not in self._known or self._known[key][0] is not row:
                self._known[key] = (row, step_links(self._events_of(run_id, plan.id)))
            yield from self._known[key][1]
