"""Propose the call that undoes a change, for the request that names its bytes."""

import asyncio
from collections.abc import Iterable, Sequence

from workbench.agents.planner import Undo
from workbench.changes.apply import NotUndoable, undo_changes
from workbench.changes.diff import FileChange
from workbench.domain.events import CallProposed, Event, FileChanged, UndoRequested
from workbench.domain.values import UNDO_TOOL, BlobRef, GateVerdict, JsonObject, PlannedWrite
from workbench.host.call_context import CallRecord, read_call_record
from workbench.host.driver_context import SessionWriter
from workbench.host.gate_runner import sealed_plan
from workbench.journal.replay import session_file_changes


async def propose_undo(writer: SessionWriter, undo: Undo) -> GateVerdict:
    """Propose the undo that was asked for and return its verdict; it is executed like any allowed call."""
    request = undo.body
    if request.files:
        verdict, changes = await asyncio.to_thread(_judge_files, writer, request, undo.request_id)
        parameters: JsonObject = {"calls": list(request.calls), "whole": list(request.whole)}
        parameters |= {"redo": True} if request.is_redo else {}
    else:
        action = writer.journal.action(undo.action_id)
        record = read_call_record(writer.journal, action.call_id) if action and action.call_id else None
        verdict, changes = await asyncio.to_thread(_judge_action, writer, record, undo.request_id)
        parameters = {"action": undo.action_id}
    body = CallProposed(
        tool=UNDO_TOOL, verdict=verdict, parameters=parameters, target=_target(changes),
        provider_call_id=f"undo-{undo.action_id or undo.request_id}", files=sealed_plan(writer, changes),
    )  # fmt: skip
    await writer.append(writer.event(body, call_id=writer.new_id()))
    return verdict


_MOST_NAMED = 20


def _target(changes: Sequence[FileChange]) -> str:
    more = f", and {len(changes) - _MOST_NAMED} more" if len(changes) > _MOST_NAMED else ""
    return ", ".join(change.path for change in changes[:_MOST_NAMED]) + more


_Judgement = tuple[GateVerdict, tuple[FileChange, ...]]


def _judge_files(writer: SessionWriter, request: UndoRequested, request_id: str) -> _Judgement:
    """Judge a request that names files: it may only put bytes there that a call of this session changed."""
    known_images = _known_images(session_file_changes(writer.journal, writer.session_id))
    unknown = [plan.path for plan in request.files if (plan.path, plan.after) not in known_images]
    if unknown:
        return _verdict(request_id, f"no change of this session knows it so: {', '.join(unknown)}"), ()
    applied = [
        PlannedWrite(path=plan.path, base=plan.after, after=plan.base, mode=plan.mode)
        for plan in request.files
    ]
    refs = {plan.path: plan.after_ref for plan in request.files}
    return _judge_writes(writer, applied, refs, request_id)


def _known_images(events: Iterable[Event]) -> set[tuple[str, str | None]]:
    bodies = [event.body for event in events if isinstance(event.body, FileChanged)]
    return {(body.path, side) for body in bodies for side in (body.before, body.after)}


def _judge_action(writer: SessionWriter, record: CallRecord | None, request_id: str) -> _Judgement:
    if record is None or not record.changed:
        return _verdict(request_id, "this action changed no file"), ()
    refs = {change.path: change.before_ref for change in record.changed}
    applied = [
        PlannedWrite(path=change.path, base=change.before, after=change.after, mode=change.mode)
        for change in record.changed
    ]
    return _judge_writes(writer, applied, refs, request_id)


def _judge_writes(
    writer: SessionWriter, applied: Sequence[PlannedWrite], refs: dict[str, BlobRef | None], request_id: str
) -> _Judgement:
    def before(path: str) -> bytes | None:
        ref = refs[path]
        return writer.unseal(ref) if ref else None

    try:
        changes = undo_changes(writer.context.root, applied, writer.journal.blobs.keyed, before)
    except NotUndoable as error:
        return _verdict(request_id, str(error)), ()
    if not changes:
        return _verdict(request_id, "it is as it was before already"), ()
    return _verdict(request_id), changes


def _verdict(request_id: str, refusal: str = "") -> GateVerdict:
    outcome = "refused" if refusal else "allowed"
    return GateVerdict(outcome=outcome, step="request", by=request_id, reason=refusal)
