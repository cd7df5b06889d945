"""Steps of a pipeline run as lines of its conversation: an incremental fold of the events of one run.

Owns which line a step has, its words, and that an item of a matrix counts in the line of its step. Total: a
fold that begins in the middle of a run knows fewer words and the same states.
"""

from collections.abc import Iterator
from typing import Final

from workbench.domain.events import Event
from workbench.domain.machines import DONE_STEPS, ENDED_RUNS
from workbench.domain.runs import RunChanged, RunRequested, RunStarted, StepChanged, StepKind, StepPlan
from workbench.text.human import duration
from workbench.text.safe import one_line
from workbench.views.blocks import Notice, Prompt, StepLine
from workbench.views.signs import STEP_MEANINGS, Meaning

RunBlock = Prompt | Notice | StepLine

_KINDS: Final[dict[StepKind, str]] = {
    "prompt": "agent", "command": "command", "gate": "gate", "pipeline": "pipeline",
    "route": "choice of the way", "aggregate": "puts files together",
}  # fmt: skip
_WORDS: Final = {
    "pending": "todo", "ready": "todo", "running": "running", "retrying": "tried again",
    "waiting": "asks you", "skipped": "skipped", "cancelled": "cancelled", "failed": "failed",
}  # fmt: skip
_ENDS: Final[dict[str, Meaning]] = {"completed": "ok", "failed": "failed", "cancelled": "cancelled"}
_DETAIL: Final = 300
_NAMES: Final = 6
"""Steps that are named where a later round begins; of more their number is said."""


class RunLines:
    """The lines of one run; its events in order go in, the blocks that are new or another come out."""

    def __init__(self) -> None:
        self._plans: dict[str, StepPlan] = {}
        self._items: dict[str, dict[str, str]] = {}
        self._matrix: dict[str, str] = {}
        self._lines: dict[str, StepLine] = {}
        self._round = 1

    def blocks(self, event: Event) -> Iterator[RunBlock]:
        """Fold one event."""
        match event.body:
            case RunRequested() as body:
                given = f": {body.input}" if body.input else ""
                yield Prompt(id=f"run:{event.id}", at=event.at, text=f"Run {body.pipeline}{given}")
            case RunStarted() as body:
                yield from self._started(event, body)
            case StepChanged() as body if event.step:
                yield from self._changed(event, event.step, body)
            case RunChanged() as body if body.status in ENDED_RUNS:
                yield self._ended(event, body)
            case _:
                pass

    def _started(self, event: Event, body: RunStarted) -> Iterator[RunBlock]:
        self._plans = {plan.id: plan for plan in body.steps}
        self._round = body.round
        for step in body.reset:
            self._lines.pop(step, None)
            self._items.pop(step, None)
        if body.round > 1:
            named = ", ".join(one_line(step, 60) for step in body.reset)
            which = named if len(body.reset) <= _NAMES else f"{len(body.reset)} steps"
            text = f"Round {body.round} begins: {which or 'what is left'}."
            yield Notice(id=f"round:{event.id}", at=event.at, kind="continued", text=text)

    def _changed(self, event: Event, step: str, body: StepChanged) -> Iterator[StepLine]:
        matrix = body.matrix or self._matrix.get(step, "")
        if matrix:
            self._matrix[step] = matrix
            self._items.setdefault(matrix, {})[step] = "failed" if _is_allowed(body) else body.state
            if (line := self._lines.get(matrix)) is not None:
                yield self._keep(matrix, self._counted(matrix, line))
            return
        if body.items is not None:
            known = self._items.get(step, {})
            self._items[step] = {item: known.get(item, "pending") for item in body.items}
        yield self._keep(step, self._counted(step, self._line(event, step, body)))

    def _keep(self, step: str, line: StepLine) -> StepLine:
        self._lines[step] = line
        return line

    def _line(self, event: Event, step: str, body: StepChanged) -> StepLine:
        plan, before = self._plans.get(step), self._lines.get(step)
        meaning: Meaning = "failed" if _is_allowed(body) else STEP_MEANINGS[body.state]
        again = f"attempt {body.attempt}   " if body.attempt > 1 else ""
        return StepLine(
            id=f"step:{self._round}:{step}", at=before.at if before else event.at, step=step,
            name=one_line(step, 100), what=_what(plan), sign=meaning, right=f"{again}{_right(body)}",
            right_meaning=meaning if meaning in ("waiting", "failed", "risk") else None,
            note=_sentence(body.detail),
        )  # fmt: skip

    def _counted(self, step: str, line: StepLine) -> StepLine:
        items = self._items.get(step)
        if not items:
            return line
        done = sum(state in DONE_STEPS for state in items.values())
        failed = sum(state == "failed" for state in items.values())
        words = f"{done} of {len(items)} items" + (f", {failed} failed" if failed else "")
        return line.with_items(words)

    def _ended(self, event: Event, body: RunChanged) -> StepLine:
        took = f", {duration(body.duration_ms / 1000)} of work" if body.duration_ms else ""
        sign = _ENDS.get(body.status, "cancelled")
        failed = sum(line.sign == "failed" for line in self._lines.values())
        if sign == "ok" and failed:
            took = f"{took}, {failed} step{'s' * (failed != 1)} failed"
        return StepLine(
            id=f"run-end:{event.id}", at=event.at, step="", name="the run", what="", sign=sign,
            right=f"{body.status}{took}", right_meaning="failed" if failed or sign == "failed" else None,
            note=_sentence(body.detail),
        )  # fmt: skip


def _sentence(detail: str) -> str:
    return one_line(" ".join(detail.split()), _DETAIL)


def _what(plan: StepPlan | None) -> str:
    if plan is None:
        return ""
    persona = f" {one_line(plan.persona, 60)}" if plan.persona and plan.kind == "prompt" else ""
    return f"{_KINDS[plan.kind]}{persona}"


def _is_allowed(body: StepChanged) -> bool:
    """Return whether the step failed and what needs it begins all the same."""
    return (body.is_warned or body.has_failed) and body.state in DONE_STEPS


def _right(body: StepChanged) -> str:
    took = duration(body.duration_ms / 1000) if body.duration_ms else ""
    if _is_allowed(body):
        return f"failed, goes on   {took}".rstrip()
    if body.state in DONE_STEPS:
        return took or ("empty" if body.state == "completed_empty" else "done")
    return _WORDS.get(body.state, body.state)
