"""Settle a call that was executing when its driver died (JOURNAL section 2, the crash table).

Files are settled by their digests, a command by what its owner wrote down; anything else is interrupted, its
outcome unknown. Nothing runs again.
"""

import asyncio

from msgspec.structs import replace

from workbench.changes.apply import PlannedDigests, SettledExecution, settle_interrupted
from workbench.domain.events import CallFinished, FileChanged
from workbench.domain.values import GateVerdict, PlannedWrite
from workbench.effects.found_job import JobLost
from workbench.effects.process_table import ProcessIdentity
from workbench.host import redaction
from workbench.host.approved_change import change_kind
from workbench.host.call_context import CallRecord, call_context, gate_call_of, gate_context, read_call_record
from workbench.host.command_output import CommandOutput
from workbench.host.driver_context import CallBytesMissing, SessionWriter, tool_limits
from workbench.host.executor import (
    OUTCOME_UNKNOWN,
    call_finished_from_output,
    command_finished,
    lost_command,
)
from workbench.policy.gate import screen_call
from workbench.tools.base import ActTool, RunTool, ToolRefused
from workbench.views.tools import streamed_output

_UNKNOWN_OUTCOME = "the background process ended while it ran; it was not run again, so look first"
_ENDED_WITH_DRIVER = f"{_UNKNOWN_OUTCOME}: it was ended too, after it had printed what is shown"
_NOTHING_RAN = CallFinished(
    state="interrupted", detail="nothing ran", summary="nothing ran",
    error="the background process ended before the command started",
)  # fmt: skip


async def recover_call(writer: SessionWriter, call_id: str) -> None:
    """Record how an interrupted execution ended."""
    record = read_call_record(writer.journal, call_id)
    if record.row.state != "executing" or record.executing is None:
        return
    if record.executing.plan:
        settled = await asyncio.to_thread(_settle_files, writer, record)
        bodies = _recovered_bodies(record, settled)
        await writer.append(*(writer.call_event(body, record.row) for body in bodies))
        return
    act_finished = await asyncio.to_thread(_recovered_act, writer, record)
    if act_finished is not None:
        await writer.append(writer.call_event(act_finished, record.row))
        return
    finished = await _recovered_command(writer, record)
    await writer.append(writer.call_event(finished, record.row))
    await asyncio.to_thread(writer.context.jobs.remove, writer.session_id, call_id)


async def _recovered_command(writer: SessionWriter, record: CallRecord) -> CallFinished:
    """Return how a command ended, as far as its owner wrote that down, with what it printed."""
    try:
        return await _found_command(writer, record)
    except JobLost as error:
        why = f"{_UNKNOWN_OUTCOME} ({error})" if str(error) else _UNKNOWN_OUTCOME
        finished = CallFinished(
            state="interrupted", detail=OUTCOME_UNKNOWN, error=why, summary=OUTCOME_UNKNOWN
        )
        return await asyncio.to_thread(_with_output_so_far, writer, record, finished)


async def _found_command(writer: SessionWriter, record: CallRecord) -> CallFinished:
    """Follow the command to its end, which its owner sees to when its driver dies. Raises JobLost."""
    process = record.process
    if process is None and isinstance(writer.context.tools.get(record.row.tool), RunTool):
        return _NOTHING_RAN  # it is let go when its process was recorded
    if process is None:
        raise JobLost("nothing of it was recorded")
    identity = ProcessIdentity(pid=process.pid, group=process.group, start_time=process.start_time)
    job = await asyncio.to_thread(writer.context.jobs.find, writer.session_id, process.mark, identity)
    output, stop = CommandOutput(_not_streamed), asyncio.Event()
    stop.set()
    end = await job.follow(output.feed, stop, on_gap=output.skip)
    limits = tool_limits(writer.context.read_settings().config)
    how = job.end.how if job.end is not None else "ended"
    if how == "never ran":
        return _NOTHING_RAN
    if end.stopped:
        return replace(lost_command(writer, limits, output, _ENDED_WITH_DRIVER), exit_code=end.code)
    finished = command_finished(writer, limits, output, end, process.limit_seconds)
    return replace(finished, detail=finished.detail or "recovered")


def _not_streamed(_offset: int, _text: str) -> None:
    """Stream nothing: what it printed is in its end."""


def _with_output_so_far(writer: SessionWriter, record: CallRecord, finished: CallFinished) -> CallFinished:
    """Return the end of a command with what it had printed, as far as that was streamed and recorded."""
    text = streamed_output(event.body for event in writer.journal.call_events(record.row.id))
    if not text:
        return finished
    limit = tool_limits(writer.context.read_settings().config).tool_output_bytes
    kept = redaction.redact_output(text, text, limit, writer.journal.blobs)
    return replace(
        finished, preview=kept.recorded, output_ref=kept.whole, output_bytes=kept.total_bytes,
        metadata=kept.noted(dict(finished.metadata)),
    )  # fmt: skip


def _recovered_act(writer: SessionWriter, record: CallRecord) -> CallFinished | None:
    """Return how an act ended whose effect can be seen, such as a folder that is there."""
    tool = writer.context.tools.get(record.row.tool)
    if not isinstance(tool, ActTool):
        return None
    try:
        exact = writer.exact(record.row.parameters, record.row.parameters_ref)
        settings = writer.context.read_settings()
        gate = gate_context(writer, settings)
        screened = screen_call(gate_call_of(record.row, exact, gate.workspace), gate)
        output = (
            None
            if isinstance(screened, GateVerdict)
            else tool.settle(screened.grounded, call_context(writer, settings, gate=gate))
        )
    except (CallBytesMissing, ToolRefused):
        return None
    if output is None:
        return None
    finished = call_finished_from_output(writer, tool_limits(settings.config), output)
    return replace(finished, detail="recovered")


def _settle_files(writer: SessionWriter, record: CallRecord) -> SettledExecution:
    assert record.executing is not None
    plan = {step.path: step for step in record.executing.plan}

    def before(path: str) -> bytes | None:
        ref = plan[path].base_ref
        return writer.unseal(ref) if ref else None

    steps = [PlannedDigests.of(step) for step in record.executing.plan]
    return settle_interrupted(writer.context.root, steps, writer.journal.blobs.keyed, before)


def _recovered_bodies(record: CallRecord, settled: SettledExecution) -> list[FileChanged | CallFinished]:
    assert record.executing is not None
    plan = record.executing.plan
    paths = tuple(step.path for step in plan)
    match settled.outcome:
        case "succeeded":
            finished = CallFinished(
                state="succeeded", detail="recovered", summary="written before the background process ended",
                preview=f"written: {', '.join(paths)}", files_affected=paths,
            )  # fmt: skip
            return [*(_file_changed_body(record, step) for step in plan), finished]
        case "nothing_written":
            detail, error = "nothing written", "the background process ended before anything was written"
        case "rolled_back":
            detail = "rolled back"
            error = (
                f"the background process ended half-way; put back: {', '.join(settled.put_back) or 'nothing'}"
            )
            if settled.untouched:
                error += f"; left as they are, changed by something else: {', '.join(settled.untouched)}"
    return [CallFinished(state="interrupted", detail=detail, error=error, summary=detail)]


def _file_changed_body(record: CallRecord, step: PlannedWrite) -> FileChanged:
    row = next((row for row in record.files if row.path == step.path and row.after == step.after), None)
    return FileChanged(
        path=step.path, change=change_kind(step.base, step.after), before=step.base, after=step.after,
        before_ref=step.base_ref,
        after_ref=row.after_ref if row else None, mode=step.mode,
        moved_from=row.moved_from if row else None,
    )  # fmt: skip
