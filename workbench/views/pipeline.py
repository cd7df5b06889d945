"""A pipeline run for the screen: `pipeline(run, plans, states, actions, now)` -> `PipelineRun`.

What it gives: the run's title, status, working time, tokens and counts, and every step in file order with
what a graph needs (`id needs returns kind attempts contract is_matrix`), how it stands (`state seconds
attempt retries contract_mark error tokens`), the queue's row of a gate (`action_id`, `left`), and of a
matrix its `items` and `counts`. `plans_of(events)` finds the plan of a run. Pure: live and replay alike.
"""

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Literal

from workbench.domain.events import Event
from workbench.domain.machines import DONE_STEPS, ENDED_RUNS, RunStatus
from workbench.domain.rows import Action, PipelineState, StepState
from workbench.domain.runs import RunStarted, StepChanged, StepKind, StepPlan
from workbench.domain.values import Usage
from workbench.records import dataclass, replace
from workbench.text.safe import one_line

StepWord = Literal[
    "pending", "ready", "running", "waiting", "retrying", "completed", "completed_empty", "warned", "failed",
    "skipped", "cancelled",
]  # fmt: skip
"""A step's state as it is drawn: `ready` is pending with nothing left to wait for, `warned` failed, and
its run goes on."""

ContractMark = Literal["", "kept", "broken", "unchecked"]

_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineItem:
    """One item of a matrix step."""

    id: str
    """`tests[py311]`."""
    label: str
    """What stands in the brackets, one safe line."""
    state: StepWord
    seconds: float
    """Working time of its attempt."""
    attempt: int
    retries: int
    contract_mark: ContractMark
    error: str
    tokens: int
    session_id: str | None
    action_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCounts:
    """How the items of a matrix step stand; `failed` counts those that failed and let the run go on, too."""

    done: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    todo: int = 0

    @property
    def total(self) -> int:
        """Return how many items there are."""
        return self.done + self.running + self.waiting + self.failed + self.todo


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStep:
    """One step of the run, in file order. Texts are one safe line each."""

    id: str
    name: str
    kind: StepKind
    needs: tuple[str, ...]
    returns: tuple[str, ...]
    persona: str
    state: StepWord
    started_at: int | None
    """Microseconds; None before it began."""
    completed_at: int | None
    seconds: float
    """Working time of the present or last attempt: it stands while the step waits for a human."""
    attempt: int
    """0 before the first."""
    attempts: int
    """How many it may take."""
    retries: int
    contract: str
    """Type of its contract; empty without one."""
    contract_mark: ContractMark
    error: str
    """Why it failed, also where the run goes on, is tried again or was skipped."""
    action_id: str | None
    """The gate's row of the queue while it waits."""
    asks: str
    """What the gate asks; empty while it does not."""
    left: float | None
    """Seconds until the gate's window closes."""
    session_id: str | None
    """The child session of an agent step's last attempt, or the child run."""
    workspace: str
    tokens: int
    is_matrix: bool
    item_count: int
    """How many items it has, where that is known; 0 until then."""
    items: tuple[PipelineItem, ...]
    counts: MatrixCounts | None
    """None for a step that is no matrix, and until its items are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRun:
    """A run as a pane shows it."""

    id: str
    """Of the run and of its session."""
    name: str
    title: str
    """`nightly #41`."""
    status: RunStatus
    steps: tuple[PipelineStep, ...]
    done: int
    """Steps that need nothing more: completed or skipped, or failed where the run goes on."""
    total: int
    running: int
    waiting: int
    failed: int
    """Failed steps, those where the run goes on among them."""
    warned: int
    """Failed steps with which the run goes on."""
    seconds: float
    """Working time of the run."""
    tokens: int
    error: str
    input: str
    created_at: int
    finished_at: int | None
    round: int
    """How often it was started: 2 after one resume."""


def plans_of(events: Iterable[Event]) -> tuple[StepPlan, ...]:
    """Return the plan that the last `run.started` among events names; empty while the run is queued."""
    found: tuple[StepPlan, ...] = ()
    for event in events:
        if isinstance(event.body, RunStarted):
            found = event.body.steps
    return found


def items_of(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the ids of a matrix's items, from events of its step; empty while they are not known."""
    found: tuple[str, ...] = ()
    for event in events:
        if isinstance(event.body, StepChanged) and event.body.items is not None:
            found = event.body.items
    return found


def run_title(run: PipelineState) -> str:
    """Return `nightly #41`."""
    name = one_line(run.pipeline_name, 120)
    return name if run.number is None else f"{name} #{run.number}"


def pipeline(
    run: PipelineState,
    plans: Sequence[StepPlan],
    states: Iterable[StepState],
    actions: Iterable[Action],
    now: int,
    known: MutableMapping[str, tuple[StepState, PipelineItem]] | None = None,
    listed: Mapping[str, Sequence[str]] | None = None,
) -> PipelineRun:
    """Return a run for the screen.

    Args:
        run: its row.
        plans: from `plans_of`.
        states: rows of its steps and matrix items.
        actions: any; pending gates of this run are found among them.
        now: the moment, in microseconds.
        known: items as they were last made of their rows, kept from view to view: a matrix may have
            thousands, and few of them change.
        listed: by matrix step the ids of its items, from `items_of`; those that have not begun have no row.
    """
    rows = list(states)
    own = {row.step_id: row for row in rows if not row.matrix}
    items: dict[str, list[PipelineItem]] = {}
    known = {} if known is None else known
    for row in rows:
        if row.matrix:
            items.setdefault(row.matrix, []).append(_known_item(row, now, known))
    for matrix, ids in (listed or {}).items():
        items[matrix] = _with_todo(matrix, items.get(matrix, []), ids)
    asked = _asked(actions)
    spent = _tokens_by_step(rows)
    steps = tuple(
        _step(plan, own, items.get(plan.id, []), asked, now, spent.get(plan.id, 0)) for plan in plans
    )
    words = [step.state for step in steps]
    return PipelineRun(
        id=run.pipeline_id, name=one_line(run.pipeline_name, 120), title=run_title(run), status=run.status,
        steps=steps, done=sum(word in _NOTHING_LEFT for word in words), total=len(steps),
        running=words.count("running"), waiting=words.count("waiting"),
        failed=words.count("failed") + words.count("warned"), warned=words.count("warned"),
        seconds=_run_seconds(run, now),
        tokens=sum(spent.values()), error=one_line(run.error_message, 500),
        input=one_line(run.input, 500), created_at=run.created_at, finished_at=run.finished_at,
        round=run.round,
    )  # fmt: skip


def _asked(actions: Iterable[Action]) -> dict[str, Action]:
    """Return pending actions by id, and by the ids of those that they stand in for: extended ones."""
    found = {action.id: action for action in actions}
    asked: dict[str, Action] = {}
    for key, first in found.items():
        latest: Action | None = first
        while latest is not None and latest.state == "superseded":
            latest = found.get(latest.successor or "")
        if latest is not None and latest.state == "pending":
            asked[key] = latest
    return asked


_NOTHING_LEFT = DONE_STEPS | {"warned", "skipped"}


def _step(
    plan: StepPlan,
    own: Mapping[str, StepState],
    items: Sequence[PipelineItem],
    asked: Mapping[str, Action],
    now: int,
    spent: int,
) -> PipelineStep:
    row = own.get(plan.id)
    action = asked.get(row.action_id or "") if row and row.state == "waiting" else None
    below = tuple(items)
    return PipelineStep(
        id=plan.id, name=one_line(plan.name or plan.id, 200), kind=plan.kind, needs=plan.needs,
        returns=plan.returns, persona=one_line(plan.persona, 80), state=_word(row, plan, own),
        started_at=row.started_at if row else None, completed_at=row.completed_at if row else None,
        seconds=matrix_seconds(row, now) if plan.is_matrix and row else _seconds(row, now),
        attempt=row.attempt if row else 0, attempts=plan.attempts,
        retries=row.retry_count if row else 0, contract=plan.contract, contract_mark=_mark(row),
        error=one_line(row.error_message, 500) if row else "", action_id=action.id if action else None,
        asks=one_line(action.target, 200) if action else "", left=_left(action, now),
        session_id=row.session_id if row else None, workspace=row.workspace_path if row else "",
        tokens=spent, is_matrix=plan.is_matrix, item_count=len(below) or plan.item_count,
        items=below, counts=_counts(below) if below else None,
    )  # fmt: skip


def _tokens_by_step(rows: Iterable[StepState]) -> dict[str, int]:
    """Return the tokens of each step of the file with its items."""
    found: dict[str, int] = {}
    for row in rows:
        used = row.usage
        if used is not _NOTHING_USED:
            key = row.matrix or row.step_id
            found[key] = found.get(key, 0) + used.total_tokens
    return found


_NOTHING_USED = Usage()


def _known_item(
    row: StepState, now: int, known: MutableMapping[str, tuple[StepState, PipelineItem]]
) -> PipelineItem:
    """Return an item as it was made before while its row is the same; its time goes on while it runs."""
    kept = known.get(row.key)
    if kept is not None and kept[0] is row and row.state != "running":
        return kept[1]
    if kept is not None and kept[0] is row:
        item = replace(kept[1], seconds=_seconds(row, now))
    else:
        item = _item(row, now)
    known[row.key] = (row, item)
    return item


def _with_todo(matrix: str, begun: list[PipelineItem], ids: Sequence[str]) -> list[PipelineItem]:
    """Return all items of a matrix in the order of its list."""
    if len(begun) >= len(ids):
        return begun
    by_id = {item.id: item for item in begun}
    return [by_id.get(one) or _todo(matrix, one) for one in ids]


@lru_cache(maxsize=20_000)
def _todo(matrix: str, item_id: str) -> PipelineItem:
    return PipelineItem(
        id=item_id, label=_label(matrix, item_id), state="pending", seconds=0.0, attempt=0, retries=0,
        contract_mark="", error="", tokens=0, session_id=None, action_id=None,
    )  # fmt: skip


def _label(matrix: str, item_id: str) -> str:
    return one_line(item_id.removeprefix(f"{matrix}[").removesuffix("]"), 120)


def _item(row: StepState, now: int) -> PipelineItem:
    return PipelineItem(
        id=row.step_id, label=_label(row.matrix, row.step_id), state=_own_word(row),
        seconds=_seconds(row, now), attempt=row.attempt, retries=row.retry_count, contract_mark=_mark(row),
        error=one_line(row.error_message, 500), tokens=row.usage.total_tokens, session_id=row.session_id,
        action_id=row.action_id if row.state == "waiting" else None,
    )  # fmt: skip


def _word(row: StepState | None, plan: StepPlan, own: Mapping[str, StepState]) -> StepWord:
    word = _own_word(row) if row else "pending"
    if word != "pending":
        return word
    needed = [own.get(need) for need in plan.needs]
    return "ready" if all(one is not None and one.state in DONE_STEPS for one in needed) else "pending"


def _own_word(row: StepState) -> StepWord:
    return "warned" if row.is_warned and row.state in DONE_STEPS else row.state


def _mark(row: StepState | None) -> ContractMark:
    match row.contract if row else None:
        case "passed":
            return "kept"
        case "failed" | "warned":
            return "broken"
        case "not_checked":
            return "unchecked"
        case None:
            return ""


def _seconds(row: StepState | None, now: int) -> float:
    if row is None:
        return 0.0
    live = max(0, now - row.moved_at) / _SECOND if row.state == "running" and row.moved_at else 0.0
    return row.duration_ms / 1000 + live


def matrix_seconds(row: StepState, now: int) -> float:
    """Return the seconds from a matrix's beginning to its end, or until now: it does no work of its own."""
    if row.started_at is None or row.state == "pending":
        return 0.0
    return max(0, (row.completed_at or now) - row.started_at) / _SECOND


def _run_seconds(run: PipelineState, now: int) -> float:
    is_live = run.status == "running" and run.moved_at is not None
    live = max(0, now - (run.moved_at or 0)) / _SECOND if is_live else 0.0
    return run.duration_ms / 1000 + live


def _left(action: Action | None, now: int) -> float | None:
    if action is None or action.expires_at is None:
        return None
    return max(0, action.expires_at - now) / _SECOND


def _counts(items: Sequence[PipelineItem]) -> MatrixCounts:
    words = [item.state for item in items]
    done = sum(word in _NOTHING_LEFT and word != "warned" for word in words)
    running = words.count("running") + words.count("retrying")
    waiting = words.count("waiting")
    failed = words.count("failed") + words.count("warned") + words.count("cancelled")
    return MatrixCounts(
        done=done, running=running, waiting=waiting, failed=failed,
        todo=len(words) - done - running - waiting - failed,
    )  # fmt: skip


def is_over(run: PipelineState) -> bool:
    """Return whether nothing of the run goes on by itself."""
    return run.status in ENDED_RUNS
