"""Execute one approved call, at most once (JOURNAL section 2, steps 6 to 9).

Asks the gate again (its stricter word wins), appends `call.executing`, acts, and records how it ended.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Final, Literal

from msgspec import json
from msgspec.structs import replace

from workbench.changes.apply import NotApplied, PlannedFile, apply_files
from workbench.changes.decision import SealedBytesMissing
from workbench.changes.diff import FileChange
from workbench.config.types import Config
from workbench.domain.events import (
    CallExecuting,
    CallFinished,
    HookRan,
    OutputStreamed,
    ProcessStarted,
    SandboxRefused,
)
from workbench.domain.values import (
    OUTSIDE,
    BlobRef,
    Json,
    JsonObject,
    PlannedWrite,
    SandboxRefusal,
    SandboxUse,
    ToolDescriptor,
)
from workbench.effects.child_processes import ProcessNotStarted
from workbench.effects.command_execution import CommandExit
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import FileRefused
from workbench.effects.found_job import JobLost
from workbench.effects.process_table import ProcessIdentity
from workbench.host import redaction
from workbench.host.approved_change import (
    HELD,
    HELD_WHY,
    SANDBOX_GONE,
    ExecutionRefusal,
    PermittedCall,
    alteration_detail,
    approved_changes,
    change_kind,
    file_changed_bodies,
    has_base_changed,
    hunks_taken_and_left,
    recheck_call,
    write_plan,
)
from workbench.host.boxed_command import BoxedCommand, box_command, refusals_of_command
from workbench.host.call_context import (
    CallRecord,
    call_context,
    hook_rules,
    is_command_call,
    read_call_record,
    run_hooks_after_call,
)
from workbench.host.command_box import BoxUnavailable, forget_box
from workbench.host.command_output import CommandOutput, abandoned_on_error
from workbench.host.driver_context import CallBytesMissing, SessionWriter, tool_limits
from workbench.host.gate_runner import replace_stale_call
from workbench.host.governed_settings import GovernedSettings
from workbench.host.session_sandbox import prove_in_thread
from workbench.incidents.comparison import changed_paths
from workbench.journal.errors import AgentsAreHeld
from workbench.policy import schemas
from workbench.policy.gate import GateContext, ScreenedCall
from workbench.policy.sandbox_refusals import refusal_note
from workbench.tools.base import (
    ActTool,
    CallContext,
    CommandSpec,
    CommitTool,
    ReadTool,
    RunTool,
    Tool,
    ToolLimits,
    ToolOutput,
    ToolRefused,
    WriteTool,
)


async def execute_call(writer: SessionWriter, call_id: str, stop: asyncio.Event) -> None:
    """Run an approved call and record how it ended; `stop` ends a running command."""
    record = read_call_record(writer.journal, call_id)
    if record.row.state != "approved":
        return
    fault_point("call.before_executing")
    settings = writer.context.read_settings()
    try:
        if is_command_call(writer.context, record.row):
            await prove_in_thread(writer.session(), settings, writer.context.prove_sandbox)
        exact = writer.exact(record.row.parameters, record.row.parameters_ref)
        permitted = recheck_call(writer, settings, record, exact)
        changes = () if isinstance(permitted, ExecutionRefusal) else approved_changes(writer, record)
    except (CallBytesMissing, SealedBytesMissing) as error:
        permitted, changes = ExecutionRefusal(detail="sealed bytes gone", error=str(error)), ()
    if isinstance(permitted, ExecutionRefusal):
        await _end_refused(writer, record, permitted)
        return
    if not _is_commit_call(writer, record) and await asyncio.to_thread(has_base_changed, writer, changes):
        await replace_stale_call(writer, call_id, "the file changed after it was approved")
    else:
        try:
            await _run_call(writer, settings, record, permitted, changes, stop)
        except AgentsAreHeld:
            await replace_stale_call(writer, call_id, HELD_WHY, HELD)


async def _end_refused(writer: SessionWriter, record: CallRecord, refusal: ExecutionRefusal) -> None:
    if refusal.detail in (HELD, SANDBOX_GONE):
        await replace_stale_call(writer, record.row.id, refusal.error, refusal.detail)
        return
    finished = CallFinished(state="cancelled", detail=refusal.detail, error=refusal.error)
    await _append_call_finished(writer, record, finished)


def _is_commit_call(writer: SessionWriter, record: CallRecord) -> bool:
    return isinstance(writer.context.tools.get(record.row.tool), CommitTool)


async def _run_call(
    writer: SessionWriter,
    settings: GovernedSettings,
    record: CallRecord,
    permitted: PermittedCall,
    changes: tuple[FileChange, ...],
    stop: asyncio.Event,
) -> None:
    screened = permitted.screened
    # A commit writes nothing in the workspace, so there is nothing that a plan of its files could put back.
    plan = () if _is_commit_call(writer, record) else await asyncio.to_thread(write_plan, writer, changes)
    executing = CallExecuting(digest=record.digest, plan=plan, sandbox=permitted.sandbox)
    await writer.append(writer.call_event(executing, record.row))
    fault_point("call.executing")
    tool = writer.context.tools.get(screened.descriptor.id) if screened else None
    parameters = screened.grounded if screened else {}
    started = writer.context.clock.monotonic()
    is_file_change = bool(changes or record.files) and not isinstance(tool, CommitTool)
    if is_file_change and not _shown_refusal(tool, record):
        await _write_files(writer, record, changes, plan, started)
    else:
        finished = await _tool_call_finished(
            writer, settings, record, permitted, tool, parameters, changes, stop, started
        )
        await _append_call_finished(writer, record, finished)
        if isinstance(tool, RunTool):
            await asyncio.to_thread(writer.context.jobs.remove, writer.session_id, record.row.id)
    if screened is not None:
        await _run_hooks_after(writer, record, screened)


def _shown_refusal(tool: Tool | None, record: CallRecord) -> str:
    """Return why a change cannot be made that a human let the agent be told of; empty for any other call."""
    prompt = record.opened.prompt if record.opened and isinstance(tool, WriteTool | ActTool) else None
    return (prompt or "").partition("\n")[0]


async def _tool_call_finished(
    writer: SessionWriter,
    settings: GovernedSettings,
    record: CallRecord,
    permitted: PermittedCall,
    tool: Tool | None,
    parameters: JsonObject,
    changes: tuple[FileChange, ...],
    stop: asyncio.Event,
    started: float,
) -> CallFinished:
    if refusal := _shown_refusal(tool, record):
        return CallFinished(state="failed", error=refusal)
    if isinstance(tool, RunTool):
        spec = tool.command(parameters, tool_limits(settings.config))
        finished = await run_command(writer, settings.config, record, permitted, spec, stop)
        return check_tool_result(tool.descriptor, finished, finished.preview, exit_code=finished.exit_code)
    context = call_context(writer, settings, stop=stop, record=record)
    if isinstance(tool, CommitTool):
        return await _make_commit(writer, tool, record, changes, context, started)
    if isinstance(tool, ReadTool | ActTool):
        return await _run_tool(writer, tool, parameters, context, started)
    return CallFinished(state="succeeded", summary="nothing to write")


async def _run_hooks_after(writer: SessionWriter, record: CallRecord, screened: ScreenedCall) -> None:
    context, row = writer.context, writer.journal.call(record.row.id)
    recalled_hooks = hook_rules(context, context.recall_settings().config)
    if not any(hook.event == "PostToolUse" for hook in recalled_hooks):
        return
    # The call that ended may have changed a file that such a hook runs.
    config = context.read_settings().config

    def record_hook(hook: HookRan) -> None:
        writer.stream(writer.call_event(hook, record.row))

    await run_hooks_after_call(
        context, config, screened, writer.session_id, row.state if row else "", record_hook
    )


# --- files ---------------------------------------------------------------------------------------


async def _write_files(
    writer: SessionWriter,
    record: CallRecord,
    changes: tuple[FileChange, ...],
    plan: tuple[PlannedWrite, ...],
    started: float,
) -> None:
    steps = [PlannedFile(path=c.path, base=c.before, after=c.after, mode=c.mode) for c in changes]
    try:
        await asyncio.to_thread(apply_files, writer.context.root, steps)
    except NotApplied as error:
        await _append_call_finished(
            writer, record, CallFinished(state="failed", detail="not written", error=str(error))
        )
        return
    fault_point("call.finished_effect")
    hunks_taken, hunks_left = hunks_taken_and_left(writer, record)
    finished = CallFinished(
        state="succeeded", summary=_written_summary(changes), hunks_taken=hunks_taken, hunks_left=hunks_left,
        files_affected=tuple(change.path for change in changes), preview=_written_summary(changes),
        detail=alteration_detail(record), duration_ms=_milliseconds_since(writer, started),
        metadata={"bytes_written": sum(len(change.after or b"") for change in changes)},
    )  # fmt: skip
    await writer.append(
        *(writer.call_event(changed, record.row) for changed in file_changed_bodies(writer, changes, plan)),
        writer.call_event(finished, record.row),
    )
    fault_point("call.finished")


def _written_summary(changes: tuple[FileChange, ...]) -> str:
    if not changes:
        return "nothing was taken, so nothing was written"
    left = {change.moved_from for change in changes}
    return "; ".join(_written_words(change) for change in changes if change.path not in left)


def _written_words(change: FileChange) -> str:
    if change.moved_from is not None:
        return f"moved {change.moved_from} to {change.path} ({len(change.after or b'')} bytes)"
    words = {"create": "created", "modify": "changed", "delete": "deleted"}
    word = words[change_kind(change.before, change.after)]
    return f"{word} {change.path} ({len(change.after or b'')} bytes)"


# --- appending -------------------------------------------------------------------------------------


def _milliseconds_since(writer: SessionWriter, started: float) -> int:
    return round((writer.context.clock.monotonic() - started) * 1000)


async def _append_call_finished(writer: SessionWriter, record: CallRecord, body: CallFinished) -> None:
    fault_point("call.finished_effect")
    await writer.append(writer.call_event(body, record.row))
    fault_point("call.finished")


async def run_command(
    writer: SessionWriter,
    config: Config,
    record: CallRecord,
    permitted: PermittedCall,
    spec: CommandSpec,
    stop: asyncio.Event,
) -> CallFinished:
    """Run a command where it may run, in its own process group, and return how it ended.

    One whose sandbox cannot be made fails before anything of it runs; it never runs outside instead.
    """
    environment, use = dict(writer.context.environment), permitted.sandbox or OUTSIDE
    digests, boxed = await _file_digests(writer), None
    if use.place == "inside":
        try:
            boxed = await asyncio.to_thread(
                box_command, writer.context, writer.session_id, config, _gate_of(permitted), use, spec.argv,
                environment,
            )  # fmt: skip
        except (BoxUnavailable, FileRefused) as error:
            return _not_boxed(str(error))
    limits = tool_limits(config)
    if permitted.search_path is not None:
        environment["PATH"] = permitted.search_path
    argv = spec.argv if boxed is None else boxed.argv
    variables = environment if boxed is None else boxed.environment
    output, end = await _follow_command(
        writer, limits, record, use, boxed, replace(spec, argv=argv), variables, stop, digests
    )
    if isinstance(end, ProcessNotStarted):
        return _not_boxed(str(end))
    code = None if isinstance(end, JobLost) else end.code
    refusals = await _record_refusals(writer, record, boxed, output, code)
    if isinstance(end, JobLost):
        return lost_command(writer, limits, output, f"{_OWNER_LOST}: {end}", refusals)
    finished = command_finished(writer, limits, output, end, spec.timeout_seconds, refusals)
    if digests is None:
        return finished
    after = await _file_digests(writer) or {}
    return replace(
        finished, files_ref=_record_digests(writer, after), files_changed=changed_paths(digests, after)
    )


def _gate_of(permitted: PermittedCall) -> GateContext:
    assert permitted.gate is not None  # only an internal call has none, and runs no command
    return permitted.gate


# A sandbox that cannot be made ends the call. Asking again would put the same row before the human each time;
# its agent is told why, and can ask to run the command outside.


def _not_boxed(why: str) -> CallFinished:
    error = f"nothing ran: {redaction.redact_line(why, 1_000)}"
    return CallFinished(state="failed", detail=NO_SANDBOX, error=error, summary=NO_SANDBOX)


_OWNER_LOST: Final = "how it ended is not known, so look first"
NO_SANDBOX: Final = "no sandbox"
"""Detail of a command that was to run inside, where its sandbox could not be made."""


async def _follow_command(
    writer: SessionWriter,
    limits: ToolLimits,
    record: CallRecord,
    use: SandboxUse,
    boxed: BoxedCommand | None,
    spec: CommandSpec,
    environment: Mapping[str, str],
    stop: asyncio.Event,
    digests: dict[str, str] | None,
) -> tuple[CommandOutput, CommandExit | ProcessNotStarted | JobLost]:
    """Start a command and follow it to its end.

    Returns ProcessNotStarted where its sandbox was not made, and JobLost where its end is not known.
    """

    def stream(offset: int, text: str) -> None:
        writer.stream(writer.call_event(OutputStreamed(offset=offset, text=text), record.row))

    output = CommandOutput(stream, writer.context.clock.monotonic)
    try:
        command = await writer.context.jobs.prepare(
            writer.session_id, spec.argv, writer.context.workspace, environment, record.row.id,
            life="with driver", is_boxed=boxed is not None, held=() if boxed is None else boxed.planned.held,
        )  # fmt: skip
        fault_point("call.started")
        with abandoned_on_error(command):
            started = _process_started(writer, record, command.identity, use, spec, digests)
            await writer.append(writer.call_event(started, record.row))
            fault_point("call.process_recorded")
        end = await _await_exit(command.go(output.feed, spec.timeout_seconds, stop, limits.output_blob_bytes))
    except ProcessNotStarted as error:
        if boxed is None:
            raise
        forget_box(boxed.planned)
        return output, error
    except JobLost as error:
        end = error
    output.close()
    return output, end


def _process_started(
    writer: SessionWriter,
    record: CallRecord,
    identity: ProcessIdentity,
    use: SandboxUse,
    spec: CommandSpec,
    digests: dict[str, str] | None,
) -> ProcessStarted:
    return ProcessStarted(
        pid=identity.pid, group=identity.group, start_time=identity.start_time, mark=record.row.id,
        limit_seconds=spec.timeout_seconds, files_ref=_record_digests(writer, digests), sandbox=use,
    )  # fmt: skip


async def _record_refusals(
    writer: SessionWriter,
    record: CallRecord,
    boxed: BoxedCommand | None,
    output: CommandOutput,
    code: int | None,
) -> tuple[SandboxRefusal, ...]:
    """Record what the sandbox refused, as far as it is known, and return it."""
    if boxed is None:
        return ()
    refusals = await asyncio.to_thread(refusals_of_command, boxed, output.texts()[1], code)
    if refusals:
        await writer.append(writer.call_event(SandboxRefused(refusals=refusals), record.row))
    return refusals


async def _file_digests(writer: SessionWriter) -> dict[str, str] | None:
    """Return the digests of the workspace's files; None where nobody wants to know what commands change."""
    digests = writer.context.digests
    return None if digests is None else await asyncio.to_thread(digests.take)


def _record_digests(writer: SessionWriter, digests: dict[str, str] | None) -> BlobRef | None:
    return None if digests is None else writer.journal.blobs.record(json.encode(digests))


async def _await_exit(running: Coroutine[None, None, CommandExit]) -> CommandExit:
    """Follow a command to its end; its first step starts it without waiting."""
    following = asyncio.create_task(running)
    await asyncio.sleep(0)
    try:
        fault_point("call.released")
        return await following
    finally:
        following.cancel()


def command_finished(
    writer: SessionWriter,
    limits: ToolLimits,
    output: CommandOutput,
    end: CommandExit,
    limit_seconds: float | None,
    refusals: tuple[SandboxRefusal, ...] = (),
) -> CallFinished:
    """Return the end of a command with what it printed."""
    detail, error = _command_detail_and_error(end, limit_seconds)
    finished = CallFinished(
        state=_command_state(end), detail=detail, error=error, summary=detail or "exit 0",
        exit_code=end.code, duration_ms=round(end.duration * 1000),
    )  # fmt: skip
    facts: JsonObject = {"leftovers_ended": end.leftovers} if end.leftovers else {}
    notes = f"{_leftover_note(end.leftovers)}{_refusal_note(refusals)}"
    return _with_output(writer, limits, output, finished, notes, facts)


def lost_command(
    writer: SessionWriter,
    limits: ToolLimits,
    output: CommandOutput,
    error: str,
    refusals: tuple[SandboxRefusal, ...] = (),
) -> CallFinished:
    """Return the end of a command that did not end, or not as far as is known, with what it had printed."""
    finished = CallFinished(
        state="interrupted", detail=OUTCOME_UNKNOWN, error=error, summary=OUTCOME_UNKNOWN
    )  # fmt: skip
    return _with_output(writer, limits, output, finished, _refusal_note(refusals), {})


OUTCOME_UNKNOWN: Final = "outcome unknown"


def _with_output(
    writer: SessionWriter,
    limits: ToolLimits,
    output: CommandOutput,
    finished: CallFinished,
    notes: str,
    facts: JsonObject,
) -> CallFinished:
    exact, clean = (f"{text}{notes}" for text in output.texts())
    limit, blobs = limits.tool_output_bytes, writer.journal.blobs
    redacted = redaction.redact_output(exact, clean, limit, blobs, output.total)
    if output.lines > len(redacted.recorded.splitlines()):
        facts = {**facts, "output_lines": output.lines}
    return replace(
        finished, preview=redacted.recorded, result_ref=redacted.ref, output_ref=redacted.whole,
        output_bytes=output.total, metadata=redacted.noted(dict(facts)),
    )  # fmt: skip


def _leftover_note(count: int) -> str:
    if not count:
        return ""
    subject = (
        "1 process that it left running was" if count == 1 else f"{count} processes that it left running were"
    )
    return f"\n[{subject} ended with it]\n"


def _refusal_note(refusals: tuple[SandboxRefusal, ...]) -> str:
    return f"\n[{refusal_note(refusals)}]\n" if refusals else ""


def _command_state(end: CommandExit) -> Literal["cancelled", "succeeded", "failed"]:
    if end.stopped:
        return "cancelled"
    return "succeeded" if end.code == 0 and not (end.timed_out or end.flooded) else "failed"


def _command_detail_and_error(end: CommandExit, limit_seconds: float | None) -> tuple[str, str]:
    if end.stopped:
        return "stopped", "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return "timeout", f"it ran longer than {limit_seconds or 0:g} s and was ended"
    if end.flooded:
        return "flood", "it printed more than is kept and was ended"
    if end.signal is not None:
        return "signal", f"it was ended by signal {end.signal}"
    return ("", "") if end.code == 0 else (f"exit {end.code}", f"it ended with exit code {end.code}")


_STOPPED_ERROR = "it was stopped while it ran"


async def _run_tool(
    writer: SessionWriter,
    tool: ReadTool | ActTool,
    parameters: JsonObject,
    context: CallContext,
    started: float,
) -> CallFinished:
    run = tool.read if isinstance(tool, ReadTool) else tool.act
    finished = await _finish_in_thread(
        writer, context.limits, tool.descriptor, lambda: run(parameters, context), started
    )
    if context.is_stopped() and isinstance(tool, ReadTool):
        return replace(finished, state="cancelled", detail="stopped", error=_STOPPED_ERROR)
    return finished


async def _make_commit(
    writer: SessionWriter,
    tool: CommitTool,
    record: CallRecord,
    changes: Sequence[FileChange],
    context: CallContext,
    started: float,
) -> CallFinished:
    """Commit approved changes with the words that were shown."""

    def commit() -> ToolOutput:
        return tool.commit(changes, _commit_subject(writer, tool, record, context), context)

    finished = await _finish_in_thread(writer, context.limits, tool.descriptor, commit, started)
    hunks_taken, hunks_left = hunks_taken_and_left(writer, record)
    detail = finished.detail or alteration_detail(record)
    return replace(finished, hunks_taken=hunks_taken, hunks_left=hunks_left, detail=detail)


async def _finish_in_thread(
    writer: SessionWriter,
    limits: ToolLimits,
    descriptor: ToolDescriptor,
    work: Callable[[], ToolOutput],
    started: float,
) -> CallFinished:
    try:
        output = await asyncio.to_thread(work)
    except (ToolRefused, FileRefused) as error:
        finished = CallFinished(state="failed", error=redaction.redact_line(str(error), 4_000))
    else:
        ended = call_finished_from_output(writer, limits, output)
        finished = check_tool_result(descriptor, ended, output.text)
    return replace(finished, duration_ms=_milliseconds_since(writer, started))


def _commit_subject(
    writer: SessionWriter, tool: CommitTool, record: CallRecord, context: CallContext
) -> JsonObject:
    """Return the words of a commit: those that were shown or, where nobody was asked, new ones."""
    if record.opened is not None:
        if tool.words(record.opened.subject) != record.opened.prompt:
            raise ToolRefused("Not prepared: the words of the commit are not those that were approved.")
        return record.opened.subject
    draft = tool.draft(writer.exact(record.row.parameters, record.row.parameters_ref), context)
    if draft.needs_answer:
        raise ToolRefused("Not run: an agent wrote it, so only a human's answer counts, and no rule.")
    return draft.subject


def call_finished_from_output(writer: SessionWriter, limits: ToolLimits, output: ToolOutput) -> CallFinished:
    """Return the end of a call from a tool's output: bounded for the model, scrubbed for the record."""
    clean = redaction.redact_text(output.text, is_fragment=output.is_fragment)
    blobs = writer.journal.blobs
    limit = limits.context_file_bytes if output.is_content else limits.tool_output_bytes
    redacted = redaction.redact_output(output.text, clean, limit, blobs)
    return CallFinished(
        state="failed" if output.error else "succeeded", error=redaction.redact_line(output.error, 4_000),
        summary=redaction.redact_line(output.summary or redacted.recorded, 120), preview=redacted.recorded,
        result_ref=redacted.ref, output_ref=redacted.whole, output_bytes=redacted.total_bytes,
        metadata=redacted.noted(output.metadata), files_affected=output.affected,
    )  # fmt: skip


def check_tool_result(
    descriptor: ToolDescriptor, finished: CallFinished, text: str, **facts: Json
) -> CallFinished:
    """Return the end of a call, failed where the result does not satisfy the tool's output schema."""
    if finished.state != "succeeded":
        return finished
    problems = schemas.parameter_problems(
        descriptor.output_schema, {"output": text, **finished.metadata, **facts}
    )
    if not problems:
        return finished
    why = f"the result of {descriptor.id} does not satisfy its output schema: {'; '.join(problems)}"
    return replace(finished, state="failed", detail="bad result", error=why)
