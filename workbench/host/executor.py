"""Execute one approved call, at most once (JOURNAL section 2, steps 6 to 9).

Checks the order, asks the gate again (its stricter word wins), appends `call.executing`, writes files or
runs a tool or a command, and records how it ended. The process of a command is recorded before it runs; of
its output the first and the last part are kept.
"""

import asyncio
import codecs
from collections.abc import Coroutine, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.changes.apply import NotApplied, PlannedFile, apply_files
from workbench.changes.decision import SealedBytesMissing, approval_outcome, image_digest, sealed_changes
from workbench.changes.diff import FileChange, changed_line_totals, make_hunks
from workbench.domain.events import (
    CallExecuting,
    CallFinished,
    Event,
    FileChanged,
    HookRan,
    OutputStreamed,
    ProcessStarted,
)
from workbench.domain.rows import Call
from workbench.domain.values import BlobRef, Body, Json, JsonObject, PlannedWrite, ToolDescriptor
from workbench.effects.command_execution import CommandExit, prepare_command
from workbench.effects.file_primitives import FileRefused
from workbench.effects.runtime import fault_point
from workbench.host import call_context, redaction
from workbench.host.call_context import CallRecord, gate_context, read_call_record, tool_context
from workbench.host.driver_context import CallBytesMissing, DeltaWriter, SessionWriter
from workbench.host.gate_runner import edited_bytes, propose_anew, recheck_before_execution
from workbench.policy import schemas
from workbench.policy.gate import ScreenedCall
from workbench.tools.base import (
    ActTool,
    CommandSpec,
    CommitTool,
    ReadTool,
    RunTool,
    ToolContext,
    ToolOutput,
    ToolRefused,
    WriteTool,
)


class ExecutionRefusal(Struct, frozen=True, kw_only=True):
    """Why an approved call does not run after all."""

    detail: str
    error: str


async def execute_call(desk: SessionWriter, call_id: str, stop: asyncio.Event) -> None:
    """Run an approved call and record how it ended; `stop` ends a running command."""
    file = read_call_record(desk.kit.journal, call_id)
    if file.row.state != "approved":
        return
    fault_point("call.before_executing")
    try:
        exact = desk.exact(file.row.parameters, file.row.parameters_ref)
        passed = _recheck_call(desk, file, exact)
        refusal = passed if isinstance(passed, ExecutionRefusal) else None
        changes = _approved_changes(desk, file) if refusal is None else ()
    except (CallBytesMissing, SealedBytesMissing) as error:
        passed, changes, refusal = None, (), ExecutionRefusal(detail="sealed bytes gone", error=str(error))
    if refusal is not None:
        await _append_call_finished(
            desk, file, CallFinished(state="cancelled", detail=refusal.detail, error=refusal.error)
        )
    elif not _is_commit_call(desk, file) and await asyncio.to_thread(_has_base_changed, desk, changes):
        await propose_anew(desk, call_id, "the file changed after it was approved")
    elif not isinstance(passed, ExecutionRefusal):
        await _run_call(desk, file, passed, changes, stop)


def _recheck_call(
    desk: SessionWriter, file: CallRecord, exact: JsonObject
) -> ScreenedCall | ExecutionRefusal | None:
    """Return what the gate let pass now, None for an internal call, or why it does not run."""
    until = file.row.approved_until
    if until is not None and desk.kit.journal.now() >= until:
        return ExecutionRefusal(detail="lapsed", error="it was approved, but nothing ran it in time")
    if _is_human_request(file):
        return None
    verdict, passed = recheck_before_execution(desk, file, exact)
    if passed is None or verdict.outcome in ("denied", "refused"):
        return ExecutionRefusal(detail=verdict.outcome, error=f"{verdict.reason} ({verdict.by})")
    if file.approved is None and verdict.outcome != "allowed":
        return ExecutionRefusal(
            detail="grant gone", error="the rule or grant that allowed it is not there any more"
        )
    return passed


def _is_human_request(file: CallRecord) -> bool:
    """Return whether a human's request is itself the permission: undo and its like."""
    return file.proposed is not None and file.proposed.verdict.step == "request"


def _approved_changes(desk: SessionWriter, file: CallRecord) -> tuple[FileChange, ...]:
    """Return the changes to write, made again from sealed bytes and checked against what was approved.

    Raises:
        SealedGone: they do not come to what the decision named.
        ImagesGone: sealed bytes are missing.
    """
    blobs = desk.kit.journal.blobs
    if file.opened is None or file.approved is None:
        return sealed_changes(file.files, blobs)
    edited = edited_bytes(desk, file.approved.edited)
    changes, digest = approval_outcome(file.opened, blobs, file.approved.selection, edited)
    if digest != file.approved.result_digest or file.approved.digest != file.opened.digest:
        raise CallBytesMissing("what would be written is not what was approved")
    return changes


def _is_commit_call(desk: SessionWriter, file: CallRecord) -> bool:
    return isinstance(desk.kit.tools.get(file.row.tool), CommitTool)


def _has_base_changed(desk: SessionWriter, changes: tuple[FileChange, ...]) -> bool:
    for change in changes:
        try:
            image = desk.kit.root.image(change.path)
        except FileRefused:
            return True
        if (image.data if image else None) != change.before:
            return True
    return False


async def _run_call(
    desk: SessionWriter,
    file: CallRecord,
    passed: ScreenedCall | None,
    changes: tuple[FileChange, ...],
    stop: asyncio.Event,
) -> None:
    # A commit writes nothing in the workspace, so there is nothing that a plan of its files could put back.
    plan = () if _is_commit_call(desk, file) else await asyncio.to_thread(_write_plan, desk, changes)
    await _append_call_event(desk, file, CallExecuting(digest=file.digest, plan=plan))
    fault_point("call.executing")
    tool = desk.kit.tools.get(passed.descriptor.id) if passed else None
    parameters = passed.grounded if passed else {}
    started = desk.kit.clock.monotonic()
    if isinstance(tool, CommitTool):
        where = tool_context(desk, lambda: gate_context(desk, desk.kit.loaded()), stop, file)
        finished = await make_commit(desk, tool, file, changes, where, started)
        taken, left = _hunks_taken_and_left(desk, file)
        found = replace(
            finished, hunks_taken=taken, hunks_left=left, detail=finished.detail or _alteration_detail(file)
        )
        await _append_call_finished(desk, file, found)
    elif isinstance(tool, WriteTool | ActTool) and file.opened is not None and file.opened.prompt:
        why = file.opened.prompt.partition("\n")[0]
        await _append_call_finished(desk, file, CallFinished(state="failed", error=why))
    elif changes or file.files:
        await _write_files(desk, file, changes, plan, started)
    elif isinstance(tool, RunTool):
        finished = await run_command(desk, file, tool.command(parameters, desk.kit.limits()), stop)
        found = check_tool_result(tool.descriptor, finished, finished.preview, exit_code=finished.exit_code)
        await _append_call_finished(desk, file, found)
    elif isinstance(tool, ReadTool | ActTool):
        where = tool_context(desk, lambda: gate_context(desk, desk.kit.loaded()), stop, file)
        await _append_call_finished(desk, file, await run_tool(desk, tool, parameters, where, started))
    else:
        await _append_call_finished(desk, file, CallFinished(state="succeeded", summary="nothing to write"))
    if passed is not None:
        await _run_hooks_after(desk, file, passed)


async def _run_hooks_after(desk: SessionWriter, file: CallRecord, passed: ScreenedCall) -> None:
    row = desk.kit.journal.call(file.row.id)

    def ran(found: HookRan) -> None:
        desk.stream([_call_event(desk, file, found)])

    await call_context.run_hooks_after_call(desk.kit, passed, desk.session_id, row.state if row else "", ran)


# --- files ---------------------------------------------------------------------------------------


def _write_plan(desk: SessionWriter, changes: tuple[FileChange, ...]) -> tuple[PlannedWrite, ...]:
    blobs = desk.kit.journal.blobs
    return tuple(
        PlannedWrite(
            path=change.path,
            base=image_digest(change.before, blobs.keyed),
            after=image_digest(change.after, blobs.keyed),
            mode=change.mode,
            base_ref=seal_image(desk, change.before),
        )
        for change in changes
    )  # fmt: skip


async def _write_files(
    desk: SessionWriter,
    file: CallRecord,
    changes: tuple[FileChange, ...],
    plan: tuple[PlannedWrite, ...],
    started: float,
) -> None:
    steps = [PlannedFile(path=c.path, base=c.before, after=c.after, mode=c.mode) for c in changes]
    try:
        await asyncio.to_thread(apply_files, desk.kit.root, steps)
    except NotApplied as error:
        await _append_call_finished(
            desk, file, CallFinished(state="failed", detail="not written", error=str(error))
        )
        return
    fault_point("call.finished_effect")
    taken, left = _hunks_taken_and_left(desk, file)
    finished = CallFinished(
        state="succeeded", summary=_written_summary(changes), hunks_taken=taken, hunks_left=left,
        files_affected=tuple(change.path for change in changes), preview=_written_summary(changes),
        detail=_alteration_detail(file), duration_ms=_milliseconds_since(desk, started),
        metadata={"bytes_written": sum(len(change.after or b"") for change in changes)},
    )  # fmt: skip
    await desk.append(
        *(_call_event(desk, file, changed) for changed in file_changed_bodies(desk, changes, plan)),
        _call_event(desk, file, finished),
    )
    fault_point("call.finished")


def seal_image(desk: SessionWriter, data: bytes | None) -> BlobRef | None:
    """Seal an image; no file has none."""
    return None if data is None else desk.kit.journal.blobs.seal(data)


def file_changed_bodies(
    desk: SessionWriter, changes: tuple[FileChange, ...], plan: tuple[PlannedWrite, ...]
) -> list[FileChanged]:
    """Return what was written, one body a file, with both images sealed for undo and restore."""
    bodies: list[FileChanged] = []
    for change, step in zip(changes, plan, strict=True):
        added, removed = changed_line_totals(make_hunks([change]))
        bodies.append(
            FileChanged(
                path=change.path, change=_change_kind(change), before=step.base, after=step.after,
                before_ref=step.base_ref, after_ref=seal_image(desk, change.after),
                mode=change.mode, added=added, removed=removed,
            )
        )  # fmt: skip
    return bodies


def _change_kind(change: FileChange) -> Literal["create", "modify", "delete"]:
    if change.before is None:
        return "create"
    return "delete" if change.after is None else "modify"


def _hunks_taken_and_left(desk: SessionWriter, file: CallRecord) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of the hunks that were taken, wholly or in part, and of those that were left."""
    if file.opened is None or (file.approved is not None and file.approved.edited):
        return (), ()
    numbers = [hunk.index for hunk in make_hunks(sealed_changes(file.opened.files, desk.kit.journal.blobs))]
    selection = file.approved.selection if file.approved else None
    if selection is None:
        return tuple(numbers), ()
    named = {part.hunk for part in selection if part.lines is None or part.lines}
    return tuple(n for n in numbers if n in named), tuple(n for n in numbers if n not in named)


def _alteration_detail(file: CallRecord) -> str:
    """Return whether a human took less than was proposed, or wrote something else."""
    if file.approved is not None and file.approved.edited:
        return "edited"
    return "" if file.is_whole else "partial"


def _written_summary(changes: tuple[FileChange, ...]) -> str:
    if not changes:
        return "nothing was taken, so nothing was written"
    words = {"create": "created", "modify": "changed", "delete": "deleted"}
    return "; ".join(f"{words[_change_kind(c)]} {c.path} ({len(c.after or b'')} bytes)" for c in changes)


# --- appending -------------------------------------------------------------------------------------


def _milliseconds_since(desk: SessionWriter, started: float) -> int:
    return round((desk.kit.clock.monotonic() - started) * 1000)


def _call_event(desk: SessionWriter, file: CallRecord, body: Body) -> Event:
    return desk.event(body, turn_id=file.row.turn_id, call_id=file.row.id)


async def _append_call_event(desk: SessionWriter, file: CallRecord, body: Body) -> None:
    await desk.append(_call_event(desk, file, body))


async def _append_call_finished(desk: SessionWriter, file: CallRecord, body: CallFinished) -> None:
    fault_point("call.finished_effect")
    await _append_call_event(desk, file, body)
    fault_point("call.finished")


MAX_KEPT_END_BYTES = 1_048_576
"""Bytes kept of each end of an output."""
MAX_STREAMED_CHARACTERS = 262_144
"""Characters of output that are streamed live; what follows is only counted until the end."""


class OutputEnds:
    """The first and the last part of an output, and its size."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, data: bytes) -> None:
        """Take a piece of the output."""
        self.total += len(data)
        room = MAX_KEPT_END_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * MAX_KEPT_END_BYTES:
            del self._tail[:-MAX_KEPT_END_BYTES]

    def texts(self) -> tuple[str, str]:
        """Return what was kept, with a line that names what is missing, and the same without its secrets.

        Where something is missing both parts end at a line end, so that no half of a secret is left over.
        """
        head, tail = bytes(self._head), bytes(self._tail[-MAX_KEPT_END_BYTES:])
        if self.total == len(head) + len(tail):
            whole = (head + tail).decode("utf-8", "replace")
            return whole, redaction.redact_text(whole)
        head, tail = head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :]
        gap = f"… {self.total - len(head) - len(tail)} bytes left out …\n"
        first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        clean = redaction.redact_text(first) + gap + redaction.redact_text(last, is_fragment=True)
        return first + gap + last, clean


async def run_command(
    desk: SessionWriter, file: CallRecord, spec: CommandSpec, stop: asyncio.Event
) -> CallFinished:
    """Run a command in its own process group and return how it ended."""
    environment = dict(desk.kit.environment)
    command = prepare_command(spec.argv, desk.kit.workspace, environment, file.row.id)
    fault_point("call.started")
    identity = command.identity
    started = ProcessStarted(
        pid=identity.pid, group=identity.group, start_time=identity.start_time, mark=file.row.id
    )
    try:
        await desk.append(desk.call_event(started, file.row))
        fault_point("call.process_recorded")
    except BaseException:
        command.abandon()
        raise
    kept, live = OutputEnds(), _LiveOutput(desk, file.row)
    limits = desk.kit.limits()

    def on_output(data: bytes) -> None:
        kept.feed(data)
        live.feed(data)

    end = await _await_exit(command.go(on_output, spec.timeout_seconds, stop, limits.output_blob_bytes))
    live.close()
    return _command_finished(desk, kept, end, spec)


async def _await_exit(running: Coroutine[None, None, CommandExit]) -> CommandExit:
    """Follow a command to its end; its first step, without waiting for anything, lets it go."""
    following = asyncio.create_task(running)
    await asyncio.sleep(0)
    try:
        fault_point("call.released")
        return await following
    finally:
        following.cancel()


class _LiveOutput:
    """The part of the output that is streamed while it comes."""

    def __init__(self, desk: SessionWriter, call: Call) -> None:
        self._desk, self._call = desk, call
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._deltas = DeltaWriter(self._write)
        self._left = MAX_STREAMED_CHARACTERS

    def feed(self, data: bytes) -> None:
        if self._left <= 0:
            return
        text = self._decode(data)[: self._left]
        self._left -= len(text)
        self._deltas.feed(text)

    def close(self) -> None:
        self._deltas.close()

    def _write(self, offset: int, text: str) -> None:
        body = OutputStreamed(offset=offset, text=text)
        self._desk.stream([self._desk.call_event(body, self._call)])


def _command_finished(
    desk: SessionWriter, kept: OutputEnds, end: CommandExit, spec: CommandSpec
) -> CallFinished:
    exact, clean = (f"{text}{_leftover_note(end.leftovers)}" for text in kept.texts())
    limit, blobs = desk.kit.limits().tool_output_bytes, desk.kit.journal.blobs
    shown = redaction.redact_output(exact, clean, limit, blobs, kept.total)
    detail, error = _command_detail_and_error(end, spec)
    return CallFinished(
        state=_command_state(end), detail=detail, error=error, summary=detail or "exit 0",
        preview=shown.recorded,
        result_ref=shown.ref, output_ref=shown.whole,
        output_bytes=kept.total, exit_code=end.code, duration_ms=round(end.duration * 1000),
        metadata=shown.noted({"leftovers_ended": end.leftovers} if end.leftovers else {}),
    )  # fmt: skip


def _leftover_note(count: int) -> str:
    """Return what the agent is told of processes that outlived the command."""
    if not count:
        return ""
    what = (
        "1 process that it left running was" if count == 1 else f"{count} processes that it left running were"
    )
    return f"\n[{what} ended with it]\n"


def _command_state(end: CommandExit) -> Literal["cancelled", "succeeded", "failed"]:
    if end.stopped:
        return "cancelled"
    return "succeeded" if end.code == 0 and not (end.timed_out or end.flooded) else "failed"


def _command_detail_and_error(end: CommandExit, spec: CommandSpec) -> tuple[str, str]:
    if end.stopped:
        return "stopped", "it was stopped while it ran; what it did until then stays"
    if end.timed_out:
        return "timeout", f"it ran longer than {spec.timeout_seconds:g} s and was ended"
    if end.flooded:
        return "flood", "it printed more than is kept and was ended"
    if end.signal is not None:
        return "signal", f"it was ended by signal {end.signal}"
    return ("", "") if end.code == 0 else (f"exit {end.code}", f"it ended with exit code {end.code}")


_STOPPED_ERROR = "it was stopped while it ran"


async def run_tool(
    desk: SessionWriter, tool: ReadTool | ActTool, exact: JsonObject, place: ToolContext, started: float
) -> CallFinished:
    """Run the tool in a thread and return the end of its call; `started` is when that began."""
    run = tool.read if isinstance(tool, ReadTool) else tool.act
    try:
        output = await asyncio.to_thread(run, exact, place)
    except (ToolRefused, FileRefused) as error:
        finished = CallFinished(state="failed", error=redaction.redact_line(str(error), 4_000))
    else:
        finished = check_tool_result(tool.descriptor, call_finished_from_output(desk, output), output.text)
    if place.is_stopped() and isinstance(tool, ReadTool):
        finished = replace(finished, state="cancelled", detail="stopped", error=_STOPPED_ERROR)
    return replace(finished, duration_ms=round((desk.kit.clock.monotonic() - started) * 1000))


async def make_commit(
    desk: SessionWriter,
    tool: CommitTool,
    file: CallRecord,
    changes: Sequence[FileChange],
    place: ToolContext,
    started: float,
) -> CallFinished:
    """Make a commit of approved changes with the words that were shown, and return the end of its call."""
    try:
        subject = await asyncio.to_thread(_commit_subject, desk, tool, file, place)
        output = await asyncio.to_thread(tool.commit, changes, subject, place)
    except (ToolRefused, FileRefused) as error:
        finished = CallFinished(state="failed", error=redaction.redact_line(str(error), 4_000))
    else:
        finished = check_tool_result(tool.descriptor, call_finished_from_output(desk, output), output.text)
    return replace(finished, duration_ms=round((desk.kit.clock.monotonic() - started) * 1000))


def _commit_subject(
    desk: SessionWriter, tool: CommitTool, file: CallRecord, place: ToolContext
) -> JsonObject:
    """Return the words of a commit: those that were shown, else, where nobody was asked, made now."""
    if file.opened is not None:
        if tool.words(file.opened.subject) != file.opened.prompt:
            raise ToolRefused("Not prepared: the words of the commit are not those that were approved.")
        return file.opened.subject
    return tool.draft(desk.exact(file.row.parameters, file.row.parameters_ref), place).subject


def call_finished_from_output(desk: SessionWriter, output: ToolOutput) -> CallFinished:
    """Return the end of a call from a tool's output: bounded for the model, scrubbed for the record."""
    clean = redaction.redact_text(output.text, is_fragment=output.is_fragment)
    limits, blobs = desk.kit.limits(), desk.kit.journal.blobs
    limit = limits.context_file_bytes if output.is_content else limits.tool_output_bytes
    shown = redaction.redact_output(output.text, clean, limit, blobs)
    return CallFinished(
        state="failed" if output.error else "succeeded", error=redaction.redact_line(output.error, 4_000),
        summary=redaction.redact_line(output.summary or shown.recorded, 120), preview=shown.recorded,
        result_ref=shown.ref, output_ref=shown.whole, output_bytes=shown.total_bytes,
        metadata=shown.noted(output.metadata), files_affected=output.affected,
    )  # fmt: skip


def check_tool_result(
    descriptor: ToolDescriptor, finished: CallFinished, text: str, **facts: Json
) -> CallFinished:
    """Return the end of a call, a failed one if its result is not what the tool says it gives back."""
    if finished.state != "succeeded":
        return finished
    found = schemas.parameter_problems(
        descriptor.output_schema, {"output": text, **finished.metadata, **facts}
    )
    if not found:
        return finished
    why = f"the result of {descriptor.id} does not satisfy its output schema: {'; '.join(found)}"
    return replace(finished, state="failed", detail="bad result", error=why)
