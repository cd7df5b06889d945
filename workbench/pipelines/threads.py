"""Threads: steps of one conversation, each of which is told what the earlier ones said and did."""

# The conversation stands in the prompt of the next step, for the agent of this program as for another one:
# persona, folder and permissions may differ from step to step, and so each has a session of its own.

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from workbench.domain.values import BlobRef
from workbench.pipelines.documents import DocumentPlace
from workbench.pipelines.model import Pipeline, Step
from workbench.pipelines.state import RunState, StepRun
from workbench.pipelines.step_order import StepNeeds, ancestors
from workbench.text.safe import one_line

MOST_SAID: Final = 100_000
"""Characters of a thread in a prompt; what was said first is left out first."""


def thread_words(
    step: Step,
    step_run: StepRun,
    pipeline: Pipeline,
    state: RunState,
    read: Callable[[BlobRef], bytes | None],
) -> str:
    """Return what the steps of a step's thread said before, oldest first; empty at its beginning."""
    if not step.thread:
        return ""
    members = {one.id for one in pipeline.steps if one.thread == step.thread}
    earlier = [
        run
        for run in state.steps.values()
        if (run.matrix or run.id) in members and run.said_ref and run.matrix != (step_run.matrix or "-")
    ]
    parts: list[str] = []
    left = MOST_SAID
    for run in sorted(earlier, key=lambda run: run.said_at, reverse=True):
        data = read(run.said_ref) if run.said_ref else None
        text = "(what it said is no longer kept)" if data is None else data.decode("utf-8", "replace")
        if len(text) > left:
            text = f"… {len(text) - left:,} characters left out …\n{text[len(text) - left :]}"
        parts.append(f"### {run.id}\n\n{text.strip()}")
        left -= min(left, len(text))
        if not left:
            break
    if not parts:
        return ""
    head = f"What was said and done before in this conversation ({one_line(step.thread, 60)}):"
    return "\n\n".join((head, *reversed(parts), "Now:"))


def check_threads(pipeline: Pipeline, needs: StepNeeds, place_of: Callable[[Step], DocumentPlace]) -> None:
    """Report steps of one thread that might run at the same time: neither would know what the other said."""
    threads: dict[str, list[Step]] = {}
    for step in pipeline.steps:
        # A rework step runs after the one that it reworks, whatever it needs.
        if step.thread and not step.is_rework_only:
            threads.setdefault(step.thread, []).append(step)
    for steps in threads.values():
        for first, second in _unordered(steps, needs):
            message = (
                f"{one_line(second.id, 60)} and {one_line(first.id, 60)} share the thread "
                f"{one_line(second.thread, 60)}, so one has to depend on the other"
            )
            place = place_of(second)
            (place.member("thread") or place).error("unordered_thread", message)


def _unordered(steps: list[Step], needs: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Step, Step]]:
    before = {step.id: ancestors(step.id, needs) for step in steps}
    for number, second in enumerate(steps):
        for first in steps[:number]:
            if first.id not in before[second.id] and second.id not in before[first.id]:
                yield first, second
                break
