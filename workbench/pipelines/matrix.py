"""Matrix steps: items found when the step is due, one result an item, and one end of them all.

Owns how items are named and what the step as a whole hands on.
"""

import asyncio
import json
from typing import TYPE_CHECKING, Final, cast

from workbench.domain.events import Event
from workbench.domain.runs import StepChanged
from workbench.domain.values import Json
from workbench.pipelines import artifacts, due, templates
from workbench.pipelines.attempt import Attempt, combined
from workbench.pipelines.model import Matrix, Step
from workbench.pipelines.state import StepRun
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.pipelines.coordinator import Coordinator

MOST_ITEMS: Final = 1_000


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


def _items(run: "Coordinator", step: Step, found: StepRun) -> list[Json]:
    matrix = step.matrix
    assert matrix is not None
    if matrix.items is not None:
        items: Json = list(matrix.items)
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
        raise NoItems(f"{where} of {matrix.step}/{matrix.artifact} is no list of items")
    listed = cast("list[Json]", items)
    if len(listed) > MOST_ITEMS:
        raise NoItems(f"it has {len(listed)} items; {MOST_ITEMS} are the most")
    return listed


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
    failed = [item for item in items if item.state != "failed" and not item.is_done]
    broken = [item for item in items if item.state == "failed" and not item.is_warned]
    number = max(1, found.attempt)
    if broken or failed:
        names = ", ".join(item.id for item in (*broken, *failed)[:4])
        why = f"{len(broken) + len(failed)} of {len(items)} items failed: {names}"
        body = StepChanged(state="failed", attempt=number, detail=why)
        if step.failing.then in ("warn", "continue"):
            body = StepChanged(state="completed", attempt=number, detail=why, is_warned=True)
        stored: list[Event] = []
    else:
        stored = await asyncio.to_thread(_stored, run, step, items, number)
        is_warned = any(item.is_warned for item in items)
        state = "completed" if items else "completed_empty"
        body = StepChanged(state=state, attempt=number, is_warned=is_warned)
    await run.ledger.append(*stored, run.ledger.event(body, step=step.id))


def _stored(run: "Coordinator", step: Step, items: list[StepRun], number: int) -> list[Event]:
    """Return, for each artifact that the step declares, one that holds those of all items."""
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
