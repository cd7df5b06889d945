"""Run a tool that only looks, or that acts by itself, and say how it ended.

Owns the bounds of what such a tool gives back, and the check of a result against the tool's own output schema
(S4 ToolDescriptor). It never decides whether a call may run.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from workbench.changes.model import FileChange
from workbench.domain.events import CallFinished
from workbench.domain.values import Json, JsonObject, ToolDescriptor
from workbench.effects.files import FileRefused
from workbench.host import record
from workbench.host.desk import Desk
from workbench.host.dossier import Dossier
from workbench.policy import schemas
from workbench.tools.base import ActTool, CommitTool, Output, Place, ReadTool, ToolRefused

_STOPPED = "it was stopped while it ran"


async def look(
    desk: Desk, tool: ReadTool | ActTool, exact: JsonObject, place: Place, started: float
) -> CallFinished:
    """Run the tool in a thread and return the end of its call; `started` is when that began."""
    run = tool.read if isinstance(tool, ReadTool) else tool.act
    try:
        output = await asyncio.to_thread(run, exact, place)
    except (ToolRefused, FileRefused) as error:
        finished = CallFinished(state="failed", error=record.scrubbed_line(str(error), 4_000))
    else:
        finished = checked(tool.descriptor, outcome_of(desk, output), output.text)
    if place.is_stopped() and isinstance(tool, ReadTool):
        finished = replace(finished, state="cancelled", detail="stopped", error=_STOPPED)
    return replace(finished, duration_ms=round((desk.kit.clock.monotonic() - started) * 1000))


async def commit(
    desk: Desk,
    tool: CommitTool,
    file: Dossier,
    changes: Sequence[FileChange],
    place: Place,
    started: float,
) -> CallFinished:
    """Make a commit of approved changes with the words that were shown, and return the end of its call."""
    try:
        subject = await asyncio.to_thread(_subject, desk, tool, file, place)
        output = await asyncio.to_thread(tool.commit, changes, subject, place)
    except (ToolRefused, FileRefused) as error:
        finished = CallFinished(state="failed", error=record.scrubbed_line(str(error), 4_000))
    else:
        finished = checked(tool.descriptor, outcome_of(desk, output), output.text)
    return replace(finished, duration_ms=round((desk.kit.clock.monotonic() - started) * 1000))


def _subject(desk: Desk, tool: CommitTool, file: Dossier, place: Place) -> JsonObject:
    """Return the words of a commit: those that were shown, else, where nobody was asked, made now."""
    if file.opened is not None:
        if tool.words(file.opened.subject) != file.opened.prompt:
            raise ToolRefused("Not prepared: the words of the commit are not those that were approved.")
        return file.opened.subject
    return tool.draft(desk.exact(file.row.parameters, file.row.parameters_ref), place).subject


def outcome_of(desk: Desk, output: Output) -> CallFinished:
    """Return the end of a call from a tool's output: bounded for the model, scrubbed for the record."""
    clean = record.scrubbed(output.text, is_fragment=output.is_fragment)
    limits, blobs = desk.kit.limits(), desk.kit.journal.blobs
    limit = limits.context_file_bytes if output.is_content else limits.tool_output_bytes
    shown = record.output(output.text, clean, limit, blobs)
    return CallFinished(
        state="failed" if output.error else "succeeded", error=record.scrubbed_line(output.error, 4_000),
        summary=record.scrubbed_line(output.summary or shown.recorded, 120), preview=shown.recorded,
        result_ref=shown.ref, output_ref=shown.whole, output_bytes=shown.total_bytes,
        metadata=shown.noted(output.metadata), files_affected=output.affected,
    )  # fmt: skip


def checked(descriptor: ToolDescriptor, finished: CallFinished, text: str, **facts: Json) -> CallFinished:
    """Return the end of a call, a failed one if its result is not what the tool says it gives back."""
    if finished.state != "succeeded":
        return finished
    found = schemas.check(descriptor.output_schema, {"output": text, **finished.metadata, **facts})
    if not found:
        return finished
    why = f"the result of {descriptor.id} does not satisfy its output schema: {'; '.join(found)}"
    return replace(finished, state="failed", detail="bad result", error=why)
