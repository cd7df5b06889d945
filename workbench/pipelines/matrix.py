"""Matrix steps: one instance per item of a list, ended when all of them have.

The ids of a long list stand in a blob that its event names, so that no event is megabytes.
"""

# A matrix has all its items from the moment its list is known, not only those that have a row: else every
# item that starts would change the structure, and the graph would be laid out again.
#
# Items that never began have no events: they end with their matrix (`machines.unstarted_item_state`), so that
# the end of a matrix of a hundred thousand is one event.
#
# An iteration is a matrix of pipelines and hands on one list, `results`, of what each item left last. A
# sequential one starts no further item after a failure. A pipeline whose *name* came from a template has to
# lie where trust covers it.

import asyncio
import json
from collections.abc import Sequence
from typing import Final, cast

from msgspec.structs import replace

from workbench.domain.events import Event, StepChanged
from workbench.domain.values import Json
from workbench.pipelines import artifacts, templates
from workbench.pipelines.artifacts import ArtifactMissing
from workbench.pipelines.attempt import Attempt, combine_item_results, is_failure_routed
from workbench.pipelines.control_steps import record_end
from workbench.pipelines.model import ArtifactSpec, Matrix, Step
from workbench.pipelines.run_context import RunContext
from workbench.pipelines.schedule import finished_matrices, ready_steps
from workbench.pipelines.state import StepRun
from workbench.text.safe import one_line

MOST_ITEMS: Final = 100_000
MOST_LISTED: Final = 500
"""Items whose ids stand in the event itself."""
RESULTS_NAME: Final = "results"
"""The artifact of an iteration: the last that each item left, in their order."""


class NoMatrixItems(ValueError):
    """The list of a matrix is not there, is no list, or is too long."""


async def settle_matrices(run: RunContext) -> None:
    """Open the matrix steps that are due, and end those all of whose items have ended."""
    steps = [step for step in run.open_steps.controls() if step.matrix is not None]
    if not steps:
        return
    closed = [step for step in steps if run.state.steps[step.id].state != "running"]
    for step_run in list(ready_steps(run.state, closed)):
        await _open_matrix(run, run.pipeline.step(step_run.id), step_run)
    run.catch_up()
    for step in steps:
        await _restore_items(run, step)
    for step in finished_matrices(run.state, steps):
        await _end_matrix(run, step)
    run.catch_up()


async def _open_matrix(run: RunContext, step: Step, step_run: StepRun) -> None:
    number = step_run.attempt + 1
    try:
        items = await asyncio.to_thread(_matrix_items, run, step, step_run)
    except (NoMatrixItems, ArtifactMissing) as error:
        failed = StepChanged(state="failed", attempt=number, detail=str(error))
        await record_end(run, step, number, failed)
        return
    assert step.matrix is not None
    names = await asyncio.to_thread(_item_ids, run, step.id, step.matrix, items)
    body = StepChanged(state="running", attempt=number, items=names)
    if len(names) > MOST_LISTED:
        ref = await asyncio.to_thread(run.journal.record, json.dumps(names, ensure_ascii=False).encode())
        body = replace(body, items=None, items_ref=ref, item_count=len(names))
    await run.record(step.id, body)
    run.catch_up()
    run.state.list_items(step.id, names, items)
    if not names:
        await _end_matrix(run, step)


async def _restore_items(run: RunContext, step: Step) -> None:
    """Read the items again, for a driver that continues the run."""
    step_run, items = run.state.steps[step.id], run.state.matrices.get(step.id)
    if step_run.state != "running" or (items is not None and items.is_known):
        return
    names: Sequence[str] = items.ids if items is not None else ()
    if step_run.items_ref:
        data = run.journal.unseal(step_run.items_ref)
        names = cast("list[str]", json.loads(data)) if data is not None else ()
    values = await asyncio.to_thread(_matrix_items, run, step, step_run)
    if not names and values:
        assert step.matrix is not None
        names = await asyncio.to_thread(_item_ids, run, step.id, step.matrix, values)
    run.state.list_items(step.id, tuple(names), values[: len(names)])


def _matrix_items(run: RunContext, step: Step, step_run: StepRun) -> list[Json]:
    matrix = step.matrix
    assert matrix is not None
    if matrix.items is not None:
        items: Json = list(matrix.items)
    elif matrix.over:
        items = _iterated_value(run, step, step_run, matrix.over)
    else:
        values = Attempt(run, step, step_run, 1).values
        artifact = values.produced(matrix.step, matrix.artifact)
        if artifact is None:
            raise NoMatrixItems(f"{matrix.step} left no artifact {matrix.artifact} to take items from")
        items = artifacts.artifact_content(run.journal, artifact)
        if not isinstance(items, list):
            items = templates.member_value(items, ".".join(matrix.keys))
    if not isinstance(items, list):
        where = ".".join(matrix.keys) or "the artifact"
        raise NoMatrixItems(
            f"{matrix.over or f'{where} of {matrix.step}/{matrix.artifact}'} is not a list of items"
        )
    listed = cast("list[Json]", items)
    if len(listed) > MOST_ITEMS:
        raise NoMatrixItems(f"it has {len(listed):,} items; {MOST_ITEMS:,} are the most")
    return listed


def _iterated_value(run: RunContext, step: Step, step_run: StepRun, over: str) -> Json:
    values = replace(Attempt(run, step, step_run, 1).values, longest=artifacts.NO_LIMIT)
    try:
        return artifacts.parse_content(values.fill(over).encode("utf-8", "surrogatepass"))
    except templates.UnresolvedTemplate as error:
        raise NoMatrixItems(str(error)) from None


def _item_ids(run: RunContext, step: str, matrix: Matrix, items: list[Json]) -> tuple[str, ...]:
    """Return one id an item: by its key, by itself if it is short, else by its number; never two alike.

    They are recorded and shown, so what looks like a secret is not among them.
    """
    labels = [_item_label(matrix, item) for item in items]
    text = "\n".join(labels)
    if run.journal.scrubbed(text, len(text)) != text:
        labels = [label if run.journal.scrubbed(label) == label else "" for label in labels]
    names: dict[str, None] = {}
    for number, label in enumerate(labels, 1):
        name = f"{step}[{label or number}]"
        names[name if name not in names else f"{step}[{label or ''}#{number}]"] = None
    return tuple(names)


def _item_label(matrix: Matrix, item: Json) -> str:
    value: Json = templates.member_value(item, matrix.id_key) if matrix.id_key else item
    if isinstance(value, int | float):
        value = json.dumps(value)
    text = value if isinstance(value, str) else ""
    return one_line(text, 40).replace("[", "(").replace("]", ")").replace("/", "-")


async def _end_matrix(run: RunContext, step: Step) -> None:
    step_run, items = run.state.steps[step.id], run.state.items_of(step.id)
    number = max(1, step_run.attempt)
    why = _failed_items_text(items)
    is_gone_on = step.failing.then in ("warn", "continue")
    is_taken = bool(why) and not is_gone_on and is_failure_routed(step, run.pipeline)
    if why:
        is_done = is_gone_on or is_taken
        body = StepChanged(
            state="completed" if is_done else "failed", attempt=number, detail=why, is_warned=is_done,
            has_failed=is_taken,
        )  # fmt: skip
    else:
        state = "completed" if items else "completed_empty"
        body = StepChanged(state=state, attempt=number, is_warned=any(item.is_warned for item in items))
    is_whole = not why or (is_gone_on and step.matrix is not None and step.matrix.is_iteration)
    stored = await asyncio.to_thread(_matrix_artifacts, run, step, items, number) if is_whole else []
    await run.journal.append(*stored, run.journal.event(body, step=step.id))


def _failed_items_text(items: list[StepRun]) -> str:
    failed = [item for item in items if item.state == "failed" and not item.is_warned]
    failed += [item for item in items if item.state not in ("failed", "pending") and not item.is_done]
    unstarted = sum(item.state == "pending" for item in items)
    if not failed:
        return ""
    names = ", ".join(item.id for item in failed[:4])
    rest = f"; {unstarted} were not started" if unstarted else ""
    return f"{len(failed)} of {len(items)} items failed: {names}{rest}"


def _matrix_artifacts(run: RunContext, step: Step, items: list[StepRun], number: int) -> list[Event]:
    if step.matrix is not None and step.matrix.is_iteration and not step.outputs:
        listed = [_last_artifact(run, item) for item in items]
        body = artifacts.seal_value(run.journal, ArtifactSpec(name=RESULTS_NAME, type="json"), listed, number)
        return [run.journal.event(body, step=step.id)]
    events: list[Event] = []
    for output in step.outputs:
        values: dict[str, Json] = {}
        for item in items:
            artifact = item.artifacts.get(output.name)
            if artifact is not None:
                values[item.id] = artifacts.artifact_content(run.journal, artifact)
        body = artifacts.seal_value(run.journal, output, combine_item_results(items, values), number)
        events.append(run.journal.event(body, step=step.id))
    return events


def _last_artifact(run: RunContext, item: StepRun) -> Json:
    artifact = next(reversed(item.artifacts.values()), None)
    return None if artifact is None else artifacts.artifact_content(run.journal, artifact)
