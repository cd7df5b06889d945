"""Record what an agent did: only by looking at the disk. Nothing here writes a file of the workspace."""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from workbench.changes.decision import SealedBytesMissing, sealed_changes
from workbench.changes.diff import FileChange
from workbench.domain.events import (
    Body,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    FileChanged,
)
from workbench.domain.rows import Call
from workbench.domain.values import OWN_MODE, GateVerdict, Grade, PlannedWrite
from workbench.effects.fault_points import fault_point
from workbench.host import redaction
from workbench.host.approved_change import (
    alteration_detail,
    approved_changes,
    hunks_taken_and_left,
    note_for_model,
    write_plan,
)
from workbench.host.call_context import CallRecord, read_call_record
from workbench.host.driver_context import CallBytesMissing, SessionWriter, tool_limits
from workbench.host.found_files import FoundFiles, found_files_question
from workbench.host.observed_files import (
    ObservedFile,
    changed_bodies,
    difference_words,
    found_changes,
    observe_files,
)
from workbench.host.screen_answers import ALLOWED_THERE
from workbench.host.supervised_answers import withdrawal_events
from workbench.host.supervised_calls import DIFFERS, AgentCalls, denial
from workbench.host.supervised_session import announced_call, announcement
from workbench.host.unasked_calls import UnaskedCall, look_at_unasked
from workbench.supervised.messages import Done
from workbench.supervised.tools import SessionTools, named_files

_NOT_WAITED: Final = "the agent did not wait for the answer"


async def compare(calls: AgentCalls, call_id: str, done: Done) -> None:
    """Record how a call ended that was handed over, by what is on the disk."""
    record = read_call_record(calls.writer.journal, call_id)
    plan = record.executing.plan if record.executing else ()
    files = await asyncio.to_thread(observe_files, calls.writer, plan)
    limit = tool_limits(calls.writer.context.read_settings().config).tool_output_bytes
    kept = redaction.redact_output(
        done.output, redaction.redact_text(done.output), limit, calls.writer.journal.blobs
    )
    is_as_approved = all(file.is_as_approved for file in files)
    grade: Grade = "on its word" if not files else "bound" if is_as_approved else "checked"
    state = "failed" if done.is_error and not (files and is_as_approved) else "succeeded"
    taken, left = hunks_taken_and_left(calls.writer, record)
    finished = CallFinished(
        state=state, detail=alteration_detail(record) if is_as_approved else DIFFERS,
        summary=difference_words(files), preview=kept.recorded, output_ref=kept.whole,
        output_bytes=kept.total_bytes, hunks_taken=taken, hunks_left=left,
        files_affected=tuple(file.step.path for file in files if not file.is_untouched),
        metadata=kept.noted({"grade": grade}),
    )  # fmt: skip
    await _append_observed(calls, record, files, finished)


def note_after_call(calls: AgentCalls, call_id: str) -> str:
    """Return what the model has to know of a change that was not made as it asked for; empty if it was."""
    return note_for_model(calls.writer, read_call_record(calls.writer.journal, call_id))


async def is_as_approved(calls: AgentCalls, call_id: str) -> bool:
    """Return whether the files of a call that was handed over are what was approved."""
    record = read_call_record(calls.writer.journal, call_id)
    plan = record.executing.plan if record.executing else ()
    files = await asyncio.to_thread(observe_files, calls.writer, plan)
    return bool(files) and all(file.is_as_approved for file in files)


async def observe(calls: AgentCalls, call_id: str, why: str) -> None:
    """Record the end of a call that its agent does not report, by what is on the disk."""
    record = read_call_record(calls.writer.journal, call_id)
    if record.row.state != "executing" or record.executing is None:
        return
    known = calls.waiting.get(call_id)
    if known is None or not known.is_read:
        why = f"{why}, and it did not confirm that it got the answer"
    files = await asyncio.to_thread(observe_files, calls.writer, record.executing.plan)
    if files and all(file.is_as_approved for file in files):
        calls.note_unreported(record.row)
        taken, left = hunks_taken_and_left(calls.writer, record)
        body = CallFinished(
            state="succeeded", detail=alteration_detail(record), metadata={"grade": "bound"},
            summary="seen on the disk; the agent did not say that it ended", hunks_taken=taken,
            hunks_left=left, files_affected=tuple(file.step.path for file in files),
        )  # fmt: skip
    elif files and all(file.is_untouched for file in files):
        body = CallFinished(state="interrupted", detail="nothing written", error=why)
    else:
        body = CallFinished(
            state="interrupted", detail="outcome unknown", error=why, summary=difference_words(files),
            metadata={"grade": "checked" if files else "on its word"},
        )  # fmt: skip
    calls.waiting.pop(call_id, None)
    await _append_observed(calls, record, files, body)


async def look_again(calls: AgentCalls, call_id: str) -> None:
    """Record what a call wrote after it counted as interrupted."""
    record = read_call_record(calls.writer.journal, call_id)
    changed, question = await asyncio.to_thread(_found_since, calls.writer, record)
    if changed or question:
        events = (calls.writer.call_event(body, record.row) for body in changed)
        await calls.writer.append(*events, *question)
        fault_point("supervised.observed")


def _found_since(writer: SessionWriter, record: CallRecord) -> tuple[list[FileChanged], list[Event]]:
    plan = record.executing.plan if record.executing else ()
    known = {(body.path, body.after) for body in record.changed}
    files = [file for file in observe_files(writer, plan) if (file.step.path, file.digest) not in known]
    return _found(writer, record, files)


async def _append_observed(
    calls: AgentCalls, record: CallRecord, files: Sequence[ObservedFile], finished: CallFinished
) -> None:
    changed, question = await asyncio.to_thread(_found, calls.writer, record, files)
    events = [calls.writer.call_event(body, record.row) for body in (*changed, finished)]
    await calls.writer.append(*events, *question)
    fault_point("supervised.observed")


def _found(
    writer: SessionWriter, record: CallRecord, files: Sequence[ObservedFile]
) -> tuple[list[FileChanged], list[Event]]:
    """Return what an agent wrote after it was answered, and the question about what is not as approved."""
    changes = found_changes(writer, files)
    differing = [file for file in files if not file.is_as_approved]
    is_as_expected = not differing or (not changes and all(file.is_untouched for file in differing))
    if is_as_expected:
        return changed_bodies(writer, changes), []
    words = difference_words(files, _approved_bytes(writer, record))
    why = f"After {record.row.tool} the files are not what was approved: {words}."
    return changed_bodies(writer, changes), [_question(writer, record, files, changes, why, words)]


def _question(
    writer: SessionWriter, record: CallRecord, files: Sequence[ObservedFile],
    changes: tuple[FileChange, ...], why: str, target: str,
) -> Event:  # fmt: skip
    """Return the question about the files that differ; where none does, about those that were written."""
    other = {file.step.path for file in files if not file.is_as_approved and not file.is_untouched}
    asked = tuple(change for change in changes if change.path in other) if other else changes
    lost = tuple(file.step.path for file in files if file.problem)
    found = FoundFiles(why=why, target=target, changes=asked, lost=lost)
    return found_files_question(writer, record.row, found)


def _approved_bytes(writer: SessionWriter, record: CallRecord) -> dict[str, bytes | None]:
    try:
        return {change.path: change.after for change in approved_changes(writer, record)}
    except (SealedBytesMissing, CallBytesMissing):
        return {}


async def ran_unanswered(calls: AgentCalls, call_id: str, digest: str) -> None:
    """The agent ran a call while its question waited: withdraw it, and look at the files.

    Nothing is asked about the files where its user has allowed the call in the agent's own screen.
    `digest`: of what the agent ran; another input than the one that was asked about was not allowed there.
    """
    record, known = read_call_record(calls.writer.journal, call_id), calls.waiting.get(call_id)
    is_allowed_there = known is not None and known.is_asked_there and digest == known.digest
    withdrawn = withdrawal_events(calls, call_id, ALLOWED_THERE if is_allowed_there else _NOT_WAITED)
    changed, question = await asyncio.to_thread(_found_unanswered, calls.writer, record)
    events = [calls.writer.call_event(body, record.row) for body in changed]
    await calls.writer.append(*withdrawn, *events, *([] if is_allowed_there else question))
    fault_point("supervised.observed")
    waiting = calls.waiting.pop(call_id, None)
    for waiter in waiting.waiters if waiting else ():
        waiter.connection.send(denial(waiter.nonce, "The call was made without waiting for the answer."))
    calls.catch_up()


def _found_unanswered(writer: SessionWriter, record: CallRecord) -> tuple[list[FileChanged], list[Event]]:
    files = observe_files(writer, _proposed_plan(writer, record))
    if all(file.is_untouched for file in files):
        return [], []
    changes = found_changes(writer, files)
    paths = ", ".join(file.step.path for file in files if not file.is_untouched)
    why = f"The agent ran {record.row.tool} without waiting for the answer."
    words = f"{paths}: written without an answer"
    lost = tuple(file.step.path for file in files if file.problem)
    found = FoundFiles(why=why, target=words, changes=changes, lost=lost)
    return changed_bodies(writer, changes), [found_files_question(writer, record.row, found)]


async def record_unasked(
    calls: AgentCalls, done: Done, cwd: str, refused: str | None = None, recorded: str | None = None
) -> None:
    """Record a call that the agent's own mode or rules allowed; it is shown, and rarely asked about.

    A question is opened where a denial names it, or where it wrote a file that is closed, runs automatically,
    or is outside the folder, and where it is a call that was refused (`refused`: its id).
    `recorded`: the call that was recorded from the agent's session file already.
    """
    if not calls.tools.admit(done.tool):
        return
    writer, is_first, turn_id = calls.writer, not calls.turn_id, calls.turn_id or calls.writer.new_id()
    call = announced_call(
        writer, turn_id, calls.round + 1, key=done.call, tool=done.tool, given=done.input, cwd=cwd,
        paths=named_files(done.tool, done.input),
    )  # fmt: skip
    seen = await asyncio.to_thread(look_at_unasked, writer, call, done.input, has_failed=done.is_error)
    if refused is not None and not seen.objection:
        seen = replace(seen, objection=_refusal_words(calls, refused))
    if recorded is not None and (row := writer.journal.call(recorded)) is not None:
        changed, question = await asyncio.to_thread(_question_about_unasked, calls, row, seen)
        await writer.append(*(writer.call_event(body, row) for body in changed), *question)
        return
    bodies, question = await asyncio.to_thread(_unasked_bodies, calls, call, done, seen)
    events = (writer.call_event(body, call) for body in bodies)
    await writer.append(*announcement(writer, call, is_first=is_first), *events, *question)
    calls.turn_id, calls.round = turn_id, calls.round + 1
    fault_point("supervised.observed")
    calls.catch_up()


def _unasked_bodies(
    calls: AgentCalls, call: Call, done: Done, seen: UnaskedCall
) -> tuple[tuple[Body, ...], list[Event]]:
    """Return what is recorded of a call that was made without asking, and the question about it, if any."""
    writer, target = calls.writer, _target(calls.tools, call)
    verdict = GateVerdict(outcome="allowed", step="agent", by=OWN_MODE, reason="the agent did not ask here")
    proposed = CallProposed(
        tool=call.tool, verdict=verdict, parameters=call.parameters, parameters_ref=call.parameters_ref,
        provider_call_id=call.provider_call_id, cwd=call.cwd, paths=call.paths, target=target,
    )  # fmt: skip
    limit = tool_limits(writer.context.read_settings().config).tool_output_bytes
    kept = redaction.redact_output(
        done.output, redaction.redact_text(done.output), limit, writer.journal.blobs
    )
    lost = f"{', '.join(seen.lost)}: the bytes before are not known" if seen.lost else ""
    finished = CallFinished(
        state="failed" if done.is_error else "succeeded", preview=kept.recorded, output_ref=kept.whole,
        output_bytes=kept.total_bytes, metadata=kept.noted({"grade": "on its word"}),
        summary=redaction.redact_line(lost, 1_000),
        files_affected=(*(change.path for change in seen.changes), *seen.lost),
    )  # fmt: skip
    changed, question = _question_about_unasked(calls, call, seen)
    return (proposed, CallExecuting(), *changed, finished), question


def _question_about_unasked(
    calls: AgentCalls, call: Call, seen: UnaskedCall
) -> tuple[list[FileChanged], list[Event]]:
    """Return what a call changed that was made without asking, and the question about it, if there is one."""
    writer, target = calls.writer, _target(calls.tools, call)
    changed = changed_bodies(writer, seen.changes)
    named = ", ".join(change.path for change in seen.changes) or target or call.tool
    found = FoundFiles(
        why=f"The agent ran {call.tool} without asking. {seen.objection}.",
        target=f"{named}: done without asking", changes=seen.changes, lost=seen.lost,
    )  # fmt: skip
    return changed, [found_files_question(writer, call, found)] if seen.objection else []


def _refusal_words(calls: AgentCalls, call_id: str) -> str:
    row = calls.writer.journal.call(call_id)
    is_rejected = row is not None and row.state == "rejected"
    return "The same call was rejected before" if is_rejected else "The same call was not answered in time"


def _proposed_plan(writer: SessionWriter, record: CallRecord) -> tuple[PlannedWrite, ...]:
    try:
        return write_plan(writer, sealed_changes(record.files, writer.journal.blobs))
    except SealedBytesMissing:
        return ()


def _target(tools: SessionTools, call: Call) -> str:
    tool = tools.get(call.tool)
    name = tool.descriptor.target_parameter if tool else None
    return redaction.redact_target(str(call.parameters.get(name, ""))) if name else ""
