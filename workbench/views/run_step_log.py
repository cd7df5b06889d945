"""The steps of a run as lines of its conversation: events go in, new and changed blocks come out."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.machines import COMPLETED_STEP_STATES, ENDED_RUN_STATES
from workbench.domain.values import StepKind, StepPlan
from workbench.text.human import duration_text, try_text
from workbench.text.safe import one_line, reason_line
from workbench.views.conversation_blocks import NoticeBlock, PromptBlock, StepBlock, TextBlock
from workbench.views.status_icons import (
    RUN_STATUSES,
    STEP_STATUSES,
    StatusName,
    StepStatus,
    step_status_name,
)
from workbench.views.tools import shown_tool

if TYPE_CHECKING:
    from workbench.views.pipeline import ItemTally

RunBlock = PromptBlock | NoticeBlock | StepBlock | TextBlock
_STEP_KIND_WORDS: Final[dict[StepKind, str]] = {
    "prompt": "agent", "command": "command", "gate": "gate", "pipeline": "pipeline",
    "route": "choice of the way", "aggregate": "puts files together",
}  # fmt: skip
_MAX_DETAIL_CELLS: Final = 300
_MAX_NAMED_STEPS: Final = 6


class RunStepLog:
    """The lines of one run: its events in order go in, new and changed blocks come out."""

    def __init__(self) -> None:
        self._plans: dict[str, StepPlan] = {}
        self._items: dict[str, ItemTally] = {}
        self._matrix: dict[str, str] = {}
        self._lines: dict[str, StepBlock] = {}
        self._round = 1
        self.sessions: dict[str, str] = {}
        """The sessions that agents lead in its steps, each with its step."""
        self._newest: dict[str, dict[str, str]] = {}
        """Of each step the session of its last attempt by item; of a step that is not a matrix by itself."""
        self._refused: Mapping[str, int] = {}

    def with_refused(self, refused: Mapping[str, int]) -> Iterator[StepBlock]:
        """Yield the lines that change with the number of refused calls by session."""
        self._refused = refused
        for step, line in self._lines.items():
            counted = self._with_refused(step, line)
            if counted != line:
                self._lines[step] = counted
                yield counted

    def _with_refused(self, step: str, line: StepBlock) -> StepBlock:
        sessions = self._newest.get(step, {}).values()
        return line.with_refused(sum(self._refused.get(session, 0) for session in sessions))

    def agent_blocks(self, event: Event) -> Iterator[RunBlock]:
        """Yield what an event of a step's session adds: words of the agent, and what it does now."""
        step, body = self.sessions[event.session_id], event.body
        line = self._lines.get(step)
        if isinstance(body, e.ReplyCompleted) and body.text.strip():
            is_alone = sum(known.sign == "running" for known in self._lines.values()) < 2
            name = one_line(step, 60).replace("`", "'")
            text = body.text if is_alone else f"`{name}` {body.text}"
            yield TextBlock(id=f"said:{event.id}", at=event.at, text=text)
        elif isinstance(body, e.CallProposed) and line is not None and line.sign == "running":
            note = f"{one_line(shown_tool(body.tool), 40)} {one_line(body.target, 200)}".rstrip()
            yield self._keep(step, line.with_note(note))

    def blocks(self, event: Event) -> Iterator[RunBlock]:
        match event.body:
            case e.RunRequested() as body:
                input_text = f": {body.input}" if body.input else ""
                yield PromptBlock(id=f"run:{event.id}", at=event.at, text=f"Run {body.pipeline}{input_text}")
            case e.RunStarted() as body:
                yield from self._started(event, body)
            case e.StepChanged() as body if event.step:
                yield from self._changed(event, event.step, body)
            case e.RunChanged() as body if body.status in ENDED_RUN_STATES:
                yield self._ended(event, body)
            case _:
                pass

    def _started(self, event: Event, body: e.RunStarted) -> Iterator[RunBlock]:
        self._plans = {plan.id: plan for plan in body.steps}
        self._round = body.round
        for step in body.reset:
            self._lines.pop(step, None)
            self._items.pop(step, None)
            self._newest.pop(step, None)
        if body.round > 1:
            named = ", ".join(one_line(step, 60) for step in body.reset)
            which = named if len(body.reset) <= _MAX_NAMED_STEPS else f"{len(body.reset)} steps"
            text = f"Round {body.round}: {which or 'only unfinished steps'}."
            yield NoticeBlock(id=f"round:{event.id}", at=event.at, kind="continued", text=text)

    def _changed(self, event: Event, step: str, body: e.StepChanged) -> Iterator[StepBlock]:
        from workbench.views.pipeline import ItemTally

        matrix = body.matrix or self._matrix.get(step, "")
        if body.session_id:
            self._newest.setdefault(matrix or step, {})[step] = body.session_id
        if matrix:
            self._matrix[step] = matrix
            self._items.setdefault(matrix, ItemTally()).note(step, _step_status(body))
            if (line := self._lines.get(matrix)) is not None:
                yield self._keep(matrix, self._counted(matrix, line))
            return
        if count := len(body.items or ()) or body.item_count:
            self._items.setdefault(step, ItemTally()).total = count
        yield self._keep(step, self._counted(step, self._line(event, step, body)))

    def _keep(self, step: str, line: StepBlock) -> StepBlock:
        line = self._lines[step] = self._with_refused(step, line)
        return line

    def _line(self, event: Event, step: str, body: e.StepChanged) -> StepBlock:
        if body.session_id and body.state == "running":
            self.sessions[body.session_id] = step
        plan, before = self._plans.get(step), self._lines.get(step)
        meaning: StatusName = STEP_STATUSES[_step_status(body)][0]
        again = f"{try_text(body.attempt, 1)}   " if body.attempt > 1 else ""
        return StepBlock(
            id=f"step:{self._round}:{step}", at=before.at if before else event.at, step=step,
            name=one_line(step, 100), what=_step_kind_text(plan), sign=meaning,
            right=f"{again}{_step_right_text(body)}",
            right_meaning=meaning if meaning in ("waiting", "failed", "risk") else None,
            note=_detail_line(body.detail),
        )  # fmt: skip

    def _counted(self, step: str, line: StepBlock) -> StepBlock:
        items = self._items.get(step)
        return line.with_items(items.words) if items is not None and items.words else line

    def _ended(self, event: Event, body: e.RunChanged) -> StepBlock:
        took = f", {duration_text(body.duration_ms / 1000)} of work" if body.duration_ms else ""
        sign, word = RUN_STATUSES[body.status]
        failed = sum(line.sign == "failed" for line in self._lines.values())
        if sign == "ok" and failed:
            took = f"{took}, {failed} step{'s' * (failed != 1)} failed"
        return StepBlock(
            id=f"run-end:{event.id}", at=event.at, step="", name="the run", what="", sign=sign,
            right=f"{word}{took}", right_meaning="failed" if failed or sign == "failed" else None,
            note=_detail_line(_run_detail(body.detail)),
        )  # fmt: skip


def _run_detail(detail: str) -> str:
    """Return why a run ended; why its step failed stands in the line of the step."""
    step, has_failed, _ = detail.partition(" failed: ")
    return f"{step} failed" if has_failed else detail


def _detail_line(detail: str) -> str:
    return reason_line(detail, _MAX_DETAIL_CELLS)


def _step_kind_text(plan: StepPlan | None) -> str:
    if plan is None:
        return ""
    persona = f" {one_line(plan.persona, 60)}" if plan.persona and plan.kind == "prompt" else ""
    return f"{_STEP_KIND_WORDS[plan.kind]}{persona}"


def _step_status(body: e.StepChanged) -> StepStatus:
    return step_status_name(body.state, is_warned=body.is_warned or body.has_failed)


def _step_right_text(body: e.StepChanged) -> str:
    took = duration_text(body.duration_ms / 1000) if body.duration_ms else ""
    status = _step_status(body)
    word = STEP_STATUSES[status][1]
    if status == "warned":
        return f"{word}   {took}".rstrip()
    if status in COMPLETED_STEP_STATES:
        return took or ("empty" if status == "completed_empty" else "done")
    return "asks you" if status == "waiting" else word
