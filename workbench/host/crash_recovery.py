"""Settle a call that was executing when its driver died (JOURNAL section 2, the crash table).

Files are settled by their digests; everything else is interrupted with an unknown outcome. Nothing runs
again.
"""

import asyncio

from msgspec.structs import replace

from workbench.changes.apply import PlannedDigests, SettledExecution, settle_interrupted
from workbench.domain.events import CallFinished, FileChanged
from workbench.domain.values import GateVerdict, PlannedWrite
from workbench.effects.child_processes import terminate_leftovers
from workbench.effects.process_table import ProcessIdentity
from workbench.host.call_context import CallRecord, gate_context, read_call_record, tool_context
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.executor import call_finished_from_output
from workbench.policy.gate import GateCall, screen_call
from workbench.tools.base import ActTool, ToolRefused

_UNKNOWN_OUTCOME = "the host ended while it ran; it was not run again, so look first"


async def recover_call(desk: SessionWriter, call_id: str) -> None:
    """Record how an execution ended that nobody saw to its end."""
    file = read_call_record(desk.kit.journal, call_id)
    if file.row.state != "executing" or file.executing is None:
        return
    if file.executing.plan:
        settled = await asyncio.to_thread(_settle_files, desk, file)
        bodies = _recovered_bodies(file, settled)
        await desk.append(*(desk.call_event(body, file.row) for body in bodies))
        return
    done = await asyncio.to_thread(_recovered_act, desk, file)
    if done is not None:
        await desk.append(desk.call_event(done, file.row))
        return
    ended = await asyncio.to_thread(_end_leftover_processes, file)
    finished = CallFinished(
        state="interrupted", detail="outcome unknown", error=_UNKNOWN_OUTCOME, summary="outcome unknown",
        metadata={"leftovers_ended": ended} if ended else {},
    )  # fmt: skip
    await desk.append(desk.call_event(finished, file.row))


def _recovered_act(desk: SessionWriter, file: CallRecord) -> CallFinished | None:
    """Return how an act ended whose effect can be seen, as a folder that is there."""
    tool = desk.kit.tools.get(file.row.tool)
    if not isinstance(tool, ActTool):
        return None
    try:
        exact = desk.exact(file.row.parameters, file.row.parameters_ref)
        now = gate_context(desk, desk.kit.loaded())
        passed = screen_call(GateCall(tool=file.row.tool, parameters=exact), now)
        found = (
            None
            if isinstance(passed, GateVerdict)
            else tool.settle(passed.grounded, tool_context(desk, lambda: now))
        )
    except (CallBytesMissing, ToolRefused):
        return None
    return None if found is None else replace(call_finished_from_output(desk, found), detail="recovered")


def _end_leftover_processes(file: CallRecord) -> int:
    """End what is left of a command; without a recorded process its helper ended with its host's pipe."""
    if file.process is None:
        return 0
    found = ProcessIdentity(
        pid=file.process.pid, group=file.process.group, start_time=file.process.start_time
    )
    return terminate_leftovers(found, file.process.mark)


def _settle_files(desk: SessionWriter, file: CallRecord) -> SettledExecution:
    assert file.executing is not None
    plan = {step.path: step for step in file.executing.plan}

    def before(path: str) -> bytes | None:
        ref = plan[path].base_ref
        return desk.unseal(ref) if ref else None

    steps = [PlannedDigests.of(step) for step in file.executing.plan]
    return settle_interrupted(desk.kit.root, steps, desk.kit.journal.blobs.keyed, before)


def _recovered_bodies(file: CallRecord, settled: SettledExecution) -> list[FileChanged | CallFinished]:
    assert file.executing is not None
    plan = file.executing.plan
    paths = tuple(step.path for step in plan)
    match settled.outcome:
        case "succeeded":
            finished = CallFinished(
                state="succeeded", detail="recovered", summary="written before the host ended",
                preview=f"written: {', '.join(paths)}", files_affected=paths,
            )  # fmt: skip
            return [*(_file_changed_body(file, step) for step in plan), finished]
        case "nothing_written":
            detail, error = "nothing written", "the host ended before anything was written"
        case "rolled_back":
            detail = "rolled back"
            error = f"the host ended half-way; put back: {', '.join(settled.put_back) or 'nothing'}"
            if settled.untouched:
                error += f"; left as they are, changed by something else: {', '.join(settled.untouched)}"
    return [CallFinished(state="interrupted", detail=detail, error=error, summary=detail)]


def _file_changed_body(file: CallRecord, step: PlannedWrite) -> FileChanged:
    after_ref = next(
        (row.after_ref for row in file.files if row.path == step.path and row.after == step.after), None
    )
    change = "create" if step.base is None else "delete" if step.after is None else "modify"
    return FileChanged(
        path=step.path, change=change, before=step.base, after=step.after, before_ref=step.base_ref,
        after_ref=after_ref, mode=step.mode,
    )  # fmt: skip
