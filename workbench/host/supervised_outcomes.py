"""Record what an agent did: only by looking at the disk. Nothing here writes a file of the workspace."""

import asyncio
from collections.abc import Sequence

from workbench.changes.decision import SealedBytesMissing, sealed_changes
from workbench.changes.digest import action_digest
from workbench.domain.events import ActionOpened, CallExecuting, CallFinished, CallProposed, Event
from workbench.domain.rows import Call
from workbench.domain.values import GateVerdict, JsonObject, PlannedWrite
from workbench.effects.fault_points import fault_point
from workbench.host import redaction
from workbench.host.approved_change import alteration_detail, hunks_taken_and_left, write_plan
from workbench.host.call_context import CallRecord, read_call_record
from workbench.host.driver_context import SessionWriter, tool_limits
from workbench.host.observed_files import Grade, ObservedFile, difference_words, found_changes, observe_files
from workbench.host.supervised_answers import withdraw
from workbench.host.supervised_calls import DIFFERS, AgentCalls, denial
from workbench.host.supervised_session import announced_call, announcement
from workbench.supervised.messages import Done
from workbench.supervised.tools import SessionTools

FILES_FOUND = "files_found"
"""Member of an action's subject: the call after which files are not what was approved."""
_BY_ITS_OWN_MODE = "its own mode"


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


async def is_as_approved(calls: AgentCalls, call_id: str) -> bool:
    """Return whether the files of a call that was handed over are what was approved."""
    record = read_call_record(calls.writer.journal, call_id)
    plan = record.executing.plan if record.executing else ()
    files = await asyncio.to_thread(observe_files, calls.writer, plan)
    return bool(files) and all(file.is_as_approved for file in files)


async def observe(calls: AgentCalls, call_id: str, why: str) -> None:
    """Record how a call ended of which nobody will say so, by what is on the disk."""
    record = read_call_record(calls.writer.journal, call_id)
    if record.row.state != "executing" or record.executing is None:
        return
    waiting = calls.waiting.pop(call_id, None)
    if waiting is None or not waiting.is_read:
        why = f"{why}, and it did not confirm that it got the answer"
    files = await asyncio.to_thread(observe_files, calls.writer, record.executing.plan)
    if files and all(file.is_as_approved for file in files):
        body = CallFinished(
            state="succeeded", detail="recovered", metadata={"grade": "bound"},
            files_affected=tuple(file.step.path for file in files),
        )  # fmt: skip
    elif files and all(file.is_untouched for file in files):
        body = CallFinished(state="interrupted", detail="nothing written", error=why)
    else:
        body = CallFinished(
            state="interrupted", detail="outcome unknown", error=why, summary=difference_words(files),
            metadata={"grade": "checked" if files else "on its word"},
        )  # fmt: skip
    await _append_observed(calls, record, files, body)


async def _append_observed(
    calls: AgentCalls, record: CallRecord, files: Sequence[ObservedFile], finished: CallFinished
) -> None:
    changed = await asyncio.to_thread(found_changes, calls.writer, files)
    events = [calls.writer.call_event(body, record.row) for body in (*changed, finished)]
    is_other = any(not file.is_as_approved and not file.is_untouched for file in files)
    is_partial = bool(changed) and any(not file.is_as_approved for file in files)
    if is_other or is_partial:
        events.append(_files_found(calls, record, difference_words(files)))
    await calls.writer.append(*events)
    fault_point("supervised.observed")


def _files_found(calls: AgentCalls, record: CallRecord, words: str) -> Event:
    """Return the question what becomes of files that are not what was approved."""
    prompt = (
        f"After {record.row.tool} the files are not what was approved: {words}. "
        "Approve to keep them; reject to put back what was there before the call."
    )
    journal, cwd = calls.writer.journal, calls.writer.context.workspace
    subject: JsonObject = {FILES_FOUND: record.row.id}
    opened = ActionOpened(
        action_kind="gate", tool=None, target=f"files found: {words}", verb="ask", cwd=cwd, prompt=prompt,
        digest=action_digest(
            journal.blobs.keyed, kind="gate", parameters=subject, cwd=cwd, prompt=prompt
        ),
        created_at=journal.now(), expires_at=None, subject=subject,
    )  # fmt: skip
    return calls.writer.event(opened, action_id=calls.writer.new_id())


async def ran_unanswered(calls: AgentCalls, call_id: str) -> None:
    """The agent ran a call while its question waited: withdraw it, and look at the files."""
    record = read_call_record(calls.writer.journal, call_id)
    plan = await asyncio.to_thread(_proposed_plan, calls.writer, record)
    await withdraw(calls, call_id, "the agent did not wait for the answer")
    files = await asyncio.to_thread(observe_files, calls.writer, plan)
    if any(not file.is_untouched for file in files):
        changed = await asyncio.to_thread(found_changes, calls.writer, files)
        events = [calls.writer.call_event(body, record.row) for body in changed]
        paths = ", ".join(file.step.path for file in files if not file.is_untouched)
        await calls.writer.append(*events, _files_found(calls, record, f"{paths}: written without an answer"))
    waiting = calls.waiting.pop(call_id, None)
    for waiter in waiting.waiters if waiting else ():
        waiter.connection.send(denial(waiter.nonce, "The call was made without waiting for the answer."))
    calls.catch_up()


async def record_unasked(calls: AgentCalls, done: Done, cwd: str) -> None:
    """Record a call that the agent's own mode or rules allowed: it is shown, and not asked about."""
    if not calls.tools.admit(done.tool):
        return
    is_first, turn_id = not calls.turn_id, calls.turn_id or calls.writer.new_id()
    call = announced_call(
        calls.writer,
        turn_id,
        calls.round + 1,
        key=done.call,
        tool=done.tool,
        given=done.input,
        cwd=cwd,
        paths=(),
    )
    verdict = GateVerdict(
        outcome="allowed", step="agent", by=_BY_ITS_OWN_MODE, reason="the agent did not ask here"
    )
    proposed = CallProposed(
        tool=call.tool, verdict=verdict, parameters=call.parameters, parameters_ref=call.parameters_ref,
        provider_call_id=call.provider_call_id, cwd=cwd, target=_target(calls.tools, call),
    )  # fmt: skip
    limit = tool_limits(calls.writer.context.read_settings().config).tool_output_bytes
    kept = redaction.redact_output(
        done.output, redaction.redact_text(done.output), limit, calls.writer.journal.blobs
    )
    finished = CallFinished(
        state="failed" if done.is_error else "succeeded", preview=kept.recorded, output_ref=kept.whole,
        output_bytes=kept.total_bytes, metadata=kept.noted({"grade": "on its word"}),
    )  # fmt: skip
    await calls.writer.append(
        *announcement(calls.writer, call, is_first=is_first),
        *(calls.writer.call_event(body, call) for body in (proposed, CallExecuting(), finished)),
    )
    calls.turn_id, calls.round = turn_id, calls.round + 1
    calls.catch_up()


def _proposed_plan(writer: SessionWriter, record: CallRecord) -> tuple[PlannedWrite, ...]:
    try:
        return write_plan(writer, sealed_changes(record.files, writer.journal.blobs))
    except SealedBytesMissing:
        return ()


def _target(tools: SessionTools, call: Call) -> str:
    tool = tools.get(call.tool)
    name = tool.descriptor.target_parameter if tool else None
    return redaction.redact_target(str(call.parameters.get(name, ""))) if name else ""
