"""Execute one approved call, at most once: JOURNAL section 2, steps 6 to 9.

Owns the order check, `call.executing`, effect, outcome. It knows no session and no turn, and never decides
whether a call may run: the gate is asked again and its stricter word wins.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Literal

from workbench.changes.answer import ImagesGone, images, outcome
from workbench.changes.apply import NotApplied, Planned, apply
from workbench.changes.hunks import counts, hunks
from workbench.changes.model import FileChange
from workbench.changes.result import digest_of
from workbench.domain.events import Body, CallExecuting, CallFinished, Event, FileChanged, HookRan
from workbench.domain.values import BlobRef, JsonObject, PlanStep
from workbench.effects.faults import point
from workbench.effects.files import FileRefused
from workbench.host import hooks
from workbench.host.command import run_command
from workbench.host.desk import Desk, SealedGone
from workbench.host.dossier import Dossier, dossier
from workbench.host.gatekeeping import context, propose_anew, still_allowed
from workbench.host.looking import checked, commit, look
from workbench.host.placing import place
from workbench.host.proposal import edited_bytes
from workbench.policy.gate import Passed
from workbench.tools.base import ActTool, CommitTool, ReadTool, RunTool, WriteTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why an approved call does not run after all."""

    detail: str
    error: str


async def execute(desk: Desk, call_id: str, stop: asyncio.Event) -> None:
    """Run an approved call and record how it ended; `stop` ends a running command."""
    file = dossier(desk.kit.journal, call_id)
    if file.row.state != "approved":
        return
    point("call.before_executing")
    try:
        exact = desk.exact(file.row.parameters, file.row.parameters_ref)
        passed = _allowed(desk, file, exact)
        refusal = passed if isinstance(passed, Refusal) else None
        changes = _decided(desk, file) if refusal is None else ()
    except (SealedGone, ImagesGone) as error:
        passed, changes, refusal = None, (), Refusal(detail="sealed bytes gone", error=str(error))
    if refusal is not None:
        await _finish(desk, file, CallFinished(state="cancelled", detail=refusal.detail, error=refusal.error))
    elif not _is_commit(desk, file) and await asyncio.to_thread(_has_moved, desk, changes):
        await propose_anew(desk, call_id, "the file changed after it was approved")
    elif not isinstance(passed, Refusal):
        await _run(desk, file, passed, changes, stop)


def _allowed(desk: Desk, file: Dossier, exact: JsonObject) -> Passed | Refusal | None:
    """Return what the gate let pass now, None for an internal call, or why it does not run."""
    until = file.row.approved_until
    if until is not None and desk.kit.journal.now() >= until:
        return Refusal(detail="lapsed", error="it was approved, but nothing ran it in time")
    if _is_internal(file):
        return None
    verdict, passed = still_allowed(desk, file, exact)
    if passed is None or verdict.outcome in ("denied", "refused"):
        return Refusal(detail=verdict.outcome, error=f"{verdict.reason} ({verdict.by})")
    if file.approved is None and verdict.outcome != "allowed":
        return Refusal(detail="grant gone", error="the rule or grant that allowed it is not there any more")
    return passed


def _is_internal(file: Dossier) -> bool:
    """Return whether a human's request is itself the permission: undo and its like."""
    return file.proposed is not None and file.proposed.verdict.step == "request"


def _decided(desk: Desk, file: Dossier) -> tuple[FileChange, ...]:
    """Return the changes to write, made again from sealed bytes and checked against what was approved.

    Raises:
        SealedGone: they do not come to what the decision named.
        ImagesGone: sealed bytes are missing.
    """
    blobs = desk.kit.journal.blobs
    if file.opened is None or file.approved is None:
        return images(file.files, blobs)
    edited = edited_bytes(desk, file.approved.edited)
    changes, digest = outcome(file.opened, blobs, file.approved.selection, edited)
    if digest != file.approved.result_digest or file.approved.digest != file.opened.digest:
        raise SealedGone("what would be written is not what was approved")
    return changes


def _is_commit(desk: Desk, file: Dossier) -> bool:
    return isinstance(desk.kit.tools.get(file.row.tool), CommitTool)


def _has_moved(desk: Desk, changes: tuple[FileChange, ...]) -> bool:
    for change in changes:
        try:
            image = desk.kit.root.image(change.path)
        except FileRefused:
            return True
        if (image.data if image else None) != change.before:
            return True
    return False


async def _run(
    desk: Desk, file: Dossier, passed: Passed | None, changes: tuple[FileChange, ...], stop: asyncio.Event
) -> None:
    # A commit writes nothing in the workspace, so there is nothing that a plan of its files could put back.
    plan = () if _is_commit(desk, file) else await asyncio.to_thread(_plan, desk, changes)
    await _append(desk, file, CallExecuting(digest=file.digest, plan=plan))
    point("call.executing")
    tool = desk.kit.tools.get(passed.descriptor.id) if passed else None
    parameters = passed.grounded if passed else {}
    started = desk.kit.clock.monotonic()
    if isinstance(tool, CommitTool):
        where = place(desk, lambda: context(desk, desk.kit.loaded()), stop, file)
        finished = await commit(desk, tool, file, changes, where, started)
        taken, left = _taken(desk, file)
        found = replace(finished, hunks_taken=taken, hunks_left=left, detail=finished.detail or _how(file))
        await _finish(desk, file, found)
    elif isinstance(tool, WriteTool | ActTool) and file.opened is not None and file.opened.prompt:
        why = file.opened.prompt.partition("\n")[0]
        await _finish(desk, file, CallFinished(state="failed", error=why))
    elif changes or file.files:
        await _write(desk, file, changes, plan, started)
    elif isinstance(tool, RunTool):
        finished = await run_command(desk, file, tool.command(parameters, desk.kit.limits()), stop)
        found = checked(tool.descriptor, finished, finished.preview, exit_code=finished.exit_code)
        await _finish(desk, file, found)
    elif isinstance(tool, ReadTool | ActTool):
        where = place(desk, lambda: context(desk, desk.kit.loaded()), stop, file)
        await _finish(desk, file, await look(desk, tool, parameters, where, started))
    else:
        await _finish(desk, file, CallFinished(state="succeeded", summary="nothing to write"))
    if passed is not None:
        await _after(desk, file, passed)


async def _after(desk: Desk, file: Dossier, passed: Passed) -> None:
    row = desk.kit.journal.call(file.row.id)

    def ran(found: HookRan) -> None:
        desk.stream([_event(desk, file, found)])

    await hooks.after(desk.kit, passed, desk.session_id, row.state if row else "", ran)


# --- files ---------------------------------------------------------------------------------------


def _plan(desk: Desk, changes: tuple[FileChange, ...]) -> tuple[PlanStep, ...]:
    blobs = desk.kit.journal.blobs
    return tuple(
        PlanStep(
            path=change.path,
            base=digest_of(change.before, blobs.keyed),
            after=digest_of(change.after, blobs.keyed),
            mode=change.mode,
            base_ref=sealed(desk, change.before),
        )
        for change in changes
    )  # fmt: skip


async def _write(
    desk: Desk, file: Dossier, changes: tuple[FileChange, ...], plan: tuple[PlanStep, ...], started: float
) -> None:
    steps = [Planned(path=c.path, base=c.before, after=c.after, mode=c.mode) for c in changes]
    try:
        await asyncio.to_thread(apply, desk.kit.root, steps)
    except NotApplied as error:
        await _finish(desk, file, CallFinished(state="failed", detail="not written", error=str(error)))
        return
    point("call.finished_effect")
    taken, left = _taken(desk, file)
    finished = CallFinished(
        state="succeeded", summary=_written(changes), hunks_taken=taken, hunks_left=left,
        files_affected=tuple(change.path for change in changes), preview=_written(changes),
        detail=_how(file), duration_ms=_since(desk, started),
        metadata={"bytes_written": sum(len(change.after or b"") for change in changes)},
    )  # fmt: skip
    await desk.append(
        *(_event(desk, file, changed) for changed in file_changes(desk, changes, plan)),
        _event(desk, file, finished),
    )
    point("call.finished")


def sealed(desk: Desk, data: bytes | None) -> BlobRef | None:
    """Seal an image; no file has none."""
    return None if data is None else desk.kit.journal.blobs.seal(data)


def file_changes(
    desk: Desk, changes: tuple[FileChange, ...], plan: tuple[PlanStep, ...]
) -> list[FileChanged]:
    """Return what was written, one body a file, with both images sealed for undo and restore."""
    bodies: list[FileChanged] = []
    for change, step in zip(changes, plan, strict=True):
        added, removed = counts(hunks([change]))
        bodies.append(
            FileChanged(
                path=change.path, change=_kind(change), before=step.base, after=step.after,
                before_ref=step.base_ref, after_ref=sealed(desk, change.after),
                mode=change.mode, added=added, removed=removed,
            )
        )  # fmt: skip
    return bodies


def _kind(change: FileChange) -> Literal["create", "modify", "delete"]:
    if change.before is None:
        return "create"
    return "delete" if change.after is None else "modify"


def _taken(desk: Desk, file: Dossier) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of the hunks that were taken, wholly or in part, and of those that were left."""
    if file.opened is None or (file.approved is not None and file.approved.edited):
        return (), ()
    numbers = [hunk.index for hunk in hunks(images(file.opened.files, desk.kit.journal.blobs))]
    selection = file.approved.selection if file.approved else None
    if selection is None:
        return tuple(numbers), ()
    named = {part.hunk for part in selection if part.lines is None or part.lines}
    return tuple(n for n in numbers if n in named), tuple(n for n in numbers if n not in named)


def _how(file: Dossier) -> str:
    """Return whether a human took less than was proposed, or wrote something else."""
    if file.approved is not None and file.approved.edited:
        return "edited"
    return "" if file.is_whole else "partial"


def _written(changes: tuple[FileChange, ...]) -> str:
    if not changes:
        return "nothing was taken, so nothing was written"
    words = {"create": "created", "modify": "changed", "delete": "deleted"}
    return "; ".join(f"{words[_kind(c)]} {c.path} ({len(c.after or b'')} bytes)" for c in changes)


# --- appending -------------------------------------------------------------------------------------


def _since(desk: Desk, started: float) -> int:
    return round((desk.kit.clock.monotonic() - started) * 1000)


def _event(desk: Desk, file: Dossier, body: Body) -> Event:
    return desk.event(body, turn_id=file.row.turn_id, call_id=file.row.id)


async def _append(desk: Desk, file: Dossier, body: Body) -> None:
    await desk.append(_event(desk, file, body))


async def _finish(desk: Desk, file: Dossier, body: CallFinished) -> None:
    point("call.finished_effect")
    await _append(desk, file, body)
    point("call.finished")
