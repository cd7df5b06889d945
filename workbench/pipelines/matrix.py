"""Matrix steps: items found when the step is due, one result an item, and one end of them all.

Owns how items are named and what the step as a whole hands on.
"""

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from workbench.domain.events import Event
from workbench.domain.runs import StepChanged
from workbench.domain.values import Json
from workbench.pipelines import artifacts, due, failing, templates
from workbench.pipelines.attempt import Attempt, combined
from workbench.pipelines.model import ArtifactSpec, Matrix, Step
from workbench.pipelines.state import StepRun
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.pipelines.coordinator import Coordinator

MOST_ITEMS: Final = 1_000
RESULTS: Final = "results"
"""The artifact of an iteration: the last that each item left, in their order."""


class NoItems(ValueError):
    """The list of a matrix is not there, is no list, or is too long."""


async def settle(run: "Coordinator") -> None:
    """Open the matrix steps that are due, and end those all of whose items have ended."""
    steps = [step for step in run.frontier.open() if step.matrix is not None]
    if not steps:
        return
    for found in list(due.ready(run.state, steps)):
        if not found.matrix:
            await _open(run, run.pipeline.step(found.id), found)
    run.catch_up()
    for step in steps:
        await _know_again(run, step)
    for step in due.finished_matrices(run.state, steps):
        await _end(run, step)
    run.catch_up()


async def _open(run: "Coordinator", step: Step, found: StepRun) -> None:
    number = found.attempt + 1
    try:
        items = await asyncio.to_thread(_items, run, step, found)
    except (NoItems, artifacts.ArtifactGone) as error:
        bodies = [
            StepChanged(state="running", attempt=number),
            StepChanged(state="failed", attempt=number, detail=run.ledger.scrubbed(str(error))),
        ]
        await run.ledger.append(*(run.ledger.event(body, step=step.id) for body in bodies))
        return
    assert step.matrix is not None
    names = _names(step.id, step.matrix, items)
    for name, item in zip(names, items, strict=True):
        # Known to the state before its first event: what runs first is a question of slots.
        run.state.steps.setdefault(name, StepRun(id=name, matrix=step.id, item=item)).item = item
    body = StepChanged(state="running", attempt=number, items=names)
    await run.ledger.append(run.ledger.event(body, step=step.id))
    if not names:
        run.catch_up()
        await _end(run, step)


async def _know_again(run: "Coordinator", step: Step) -> None:
    """Learn again of items that have no event yet, as another driver does that goes on with the run."""
    found = run.state.steps[step.id]
    if found.state != "running" or all(name in run.state.steps for name in found.items or ()):
        return
    items = await asyncio.to_thread(_items, run, step, found)
    for name, item in zip(found.items or (), items, strict=False):
        run.state.steps.setdefault(name, StepRun(id=name, matrix=step.id, item=item))


def _items(run: "Coordinator", step: Step, found: StepRun) -> list[Json]:
    matrix = step.matrix
    assert matrix is not None
    if matrix.items is not None:
        items: Json = list(matrix.items)
    elif matrix.over:
        items = _over(run, step, found, matrix.over)
    else:
        values = Attempt(run.parts, step, found, 1).values
        artifact = values.produced(matrix.step, matrix.artifact)
        if artifact is None:
            raise NoItems(f"{matrix.step} left no artifact {matrix.artifact} to take items from")
        items = artifacts.parsed(artifacts.read(run.ledger, artifact))
        if not isinstance(items, list):
            items = templates.member(items, ".".join(matrix.keys))
    if not isinstance(items, list):
        where = ".".join(matrix.keys) or "the artifact"
        raise NoItems(f"{matrix.over or f'{where} of {matrix.step}/{matrix.artifact}'} is no list of items")
    listed = cast("list[Json]", items)
    if len(listed) > MOST_ITEMS:
        raise NoItems(f"it has {len(listed)} items; {MOST_ITEMS} are the most")
    return listed


def _over(run: "Coordinator", step: Step, found: StepRun, over: str) -> Json:
    """Return what the templates of `over` come to, read as JSON and never cut."""
    values = replace(Attempt(run.parts, step, found, 1).values, longest=artifacts.WHOLE)
    try:
        return artifacts.parsed(values.fill(over).encode("utf-8", "surrogatepass"))
    except templates.Unresolved as error:
        raise NoItems(str(error)) from None


def _names(step: str, matrix: Matrix, items: list[Json]) -> tuple[str, ...]:
    """Return one id an item: by its key, by itself if it is short, else by its number; never two alike."""
    names: list[str] = []
    for number, item in enumerate(items, 1):
        found = templates.member(item, matrix.id_key) if matrix.id_key else item
        text = (
            found if isinstance(found, str) else json.dumps(found) if isinstance(found, int | float) else ""
        )
        label = one_line(text, 40).replace("[", "(").replace("]", ")").replace("/", "-")
        name = f"{step}[{label or number}]"
        names.append(name if name not in names else f"{step}[{label or ''}#{number}]")
    return tuple(names)


async def _end(run: "Coordinator", step: Step) -> None:
    found, items = run.state.steps[step.id], run.state.items_of(step.id)
    number = max(1, found.attempt)
    why = _what_failed(items)
    is_gone_on = step.failing.then in ("warn", "continue")
    if why and not is_gone_on:
        is_taken = failing.is_taken(step, run.pipeline)
        body = StepChanged(
            state="completed" if is_taken else "failed", attempt=number, detail=why, is_warned=is_taken,
            has_failed=is_taken,
        )  # fmt: skip
    elif why:
        body = StepChanged(state="completed", attempt=number, detail=why, is_warned=True)
    else:
        is_warned = any(item.is_warned for item in items)
        state = "completed" if items else "completed_empty"
        body = StepChanged(state=state, attempt=number, is_warned=is_warned)
    left = [
        run.ledger.event(
            StepChanged(state="skipped", detail="an item before it failed", matrix=step.id, item=one.item),
            step=one.id,
        )
        for one in items
        if one.state == "pending"
    ]
    is_whole = not why or (is_gone_on and step.matrix is not None and step.matrix.is_iteration)
    stored = await asyncio.to_thread(_stored, run, step, items, number) if is_whole else []
    await run.ledger.append(*left, *stored, run.ledger.event(body, step=step.id))


def _what_failed(items: list[StepRun]) -> str:
    """Return which items failed, in words; empty if none did."""
    lost = [item for item in items if item.state == "failed" and not item.is_warned]
    lost += [item for item in items if item.state not in ("failed", "pending") and not item.is_done]
    left = sum(item.state == "pending" for item in items)
    if not lost:
        return ""
    names = ", ".join(item.id for item in lost[:4])
    return f"{len(lost)} of {len(items)} items failed: {names}{f'; {left} were not begun' if left else ''}"


def _stored(run: "Coordinator", step: Step, items: list[StepRun], number: int) -> list[Event]:
    """Return, for each artifact that the step declares, one that holds those of all items."""
    if step.matrix is not None and step.matrix.is_iteration and not step.outputs:
        listed = [_last(run, item) for item in items]
        body = artifacts.value(run.ledger, ArtifactSpec(name=RESULTS, type="json"), listed, number)
        return [run.ledger.event(body, step=step.id)]
    events: list[Event] = []
    for output in step.outputs:
        values: dict[str, Json] = {}
        for item in items:
            artifact = item.artifacts.get(output.name)
            if artifact is not None:
                values[item.id] = artifacts.parsed(artifacts.read(run.ledger, artifact))
        body = artifacts.value(run.ledger, output, combined(items, values), number)
        events.append(run.ledger.event(body, step=step.id))
    return events


def _last(run: "Coordinator", item: StepRun) -> Json:
    """Return what an item left last, as JSON or as text; None if it left nothing."""
    artifact = next(reversed(item.artifacts.values()), None)
    return None if artifact is None else artifacts.parsed(artifacts.read(run.ledger, artifact))
