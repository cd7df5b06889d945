"""What an approval comes to when its call is about to run: whether it still may, and exactly which bytes.

Shared by the driver that executes calls and the one whose agent executes its own. Nothing here writes a file.
"""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.changes.decision import SealedBytesMissing, approval_outcome, image_digest, sealed_changes
from workbench.changes.diff import FileChange, changed_line_totals, make_hunks
from workbench.domain.events import FileChanged
from workbench.domain.sandbox_strength import BACKEND_BY_STRENGTH, SandboxStrength, is_weaker, strength_of
from workbench.domain.values import (
    HELD_BY,
    OUTSIDE,
    BlobRef,
    Hunk,
    JsonObject,
    Place,
    PlannedWrite,
    SandboxUse,
)
from workbench.effects.file_primitives import FileRefused
from workbench.host import redaction
from workbench.host.call_context import CallRecord, edited_bytes
from workbench.host.driver_context import CallBytesMissing, SessionWriter
from workbench.host.gate_runner import Recheck, recheck_before_execution
from workbench.host.governed_settings import GovernedSettings
from workbench.policy.gate import GateContext, ScreenedCall, granted_search_path
from workbench.policy.levels import lower_level

HELD: Final = "held"
HELD_WHY: Final = "all agents were held before it ran"
"""Detail and reason of a call that a grant had allowed and that is proposed again."""


SANDBOX_GONE: Final = "sandbox gone"
SANDBOX_GONE_WHY: Final = "it was to run inside the sandbox, which is gone"
SANDBOX_WEAKER_WHY: Final = "it was approved for a sandbox that holds more than the one that works now"
"""Detail and reasons of a call that asks again."""


class PermittedCall(Struct, frozen=True, kw_only=True):
    """A call that may run now."""

    screened: ScreenedCall | None = None
    """None of an internal call."""
    sandbox: SandboxUse | None = None
    """What a command may touch; None of all other calls, and of agents that execute their own."""
    gate: GateContext | None = None
    """What it was judged by; None of an internal call."""
    search_path: str | None = None
    """The PATH of a command outside that no human approved; None leaves that of the user."""


class ExecutionRefusal(Struct, frozen=True, kw_only=True):
    """Why an approved call does not run after all."""

    detail: str
    error: str


def recheck_call(
    writer: SessionWriter, settings: GovernedSettings, record: CallRecord, exact: JsonObject
) -> PermittedCall | ExecutionRefusal:
    """Return what the gate lets pass now and where it runs, or why it does not run."""
    until = record.row.approved_until
    if until is not None and writer.journal.now() >= until:
        return ExecutionRefusal(detail="lapsed", error="it was approved, but nothing ran it in time")
    if _is_human_request(record):
        return PermittedCall()
    rechecked = recheck_before_execution(writer, settings, record, exact)
    verdict, screened = rechecked.verdict, rechecked.screened
    if screened is None or verdict.outcome in ("denied", "refused"):
        return ExecutionRefusal(detail=verdict.outcome, error=f"{verdict.reason} ({verdict.by})")
    if record.approved is None and verdict.by == HELD_BY:
        return ExecutionRefusal(detail=HELD, error=HELD_WHY)
    if record.approved is None and verdict.outcome != "allowed":
        return ExecutionRefusal(
            detail="grant gone", error="the rule or grant that allowed it no longer exists"
        )
    use = _command_use(record, rechecked)
    if isinstance(use, ExecutionRefusal):
        return use
    is_granted = use == OUTSIDE and record.approved is None
    path = granted_search_path(screened, rechecked.gate) if is_granted else None
    return PermittedCall(screened=screened, sandbox=use, gate=rechecked.gate, search_path=path)


def _command_use(record: CallRecord, now: Recheck) -> SandboxUse | ExecutionRefusal | None:
    """Return what a command may touch: what was shown or allowed, or less where less is allowed by now.

    What was to run inside never runs outside; what a human let run outside does.
    """
    sandbox, allowed = now.gate.sandbox, _allowed_place(record)
    if sandbox is None or now.verdict.place is None:
        return None
    is_still_outside = record.approved is not None or now.verdict.place == "outside"
    if allowed != "inside" and is_still_outside:
        return OUTSIDE
    if sandbox.level == "outside" or sandbox.strength == "none":
        return ExecutionRefusal(detail=SANDBOX_GONE, error=SANDBOX_GONE_WHY)
    if record.approved is not None and is_weaker(sandbox.strength, _shown_strength(record)):
        return ExecutionRefusal(detail=SANDBOX_GONE, error=SANDBOX_WEAKER_WHY)
    shown = record.opened.level if record.opened is not None else None
    level = sandbox.level if shown is None else lower_level(shown, sandbox.level)
    return SandboxUse(level=level, backend=BACKEND_BY_STRENGTH[sandbox.strength])


def _shown_strength(record: CallRecord) -> SandboxStrength:
    """Return what held commands inside when the human was asked; rows of older versions do not say it."""
    return strength_of(record.opened.backend if record.opened is not None else "bubblewrap")


def _allowed_place(record: CallRecord) -> Place | None:
    """Return where a command was allowed to run; None where an older version let it pass without asking."""
    if record.approved is not None:
        shown = record.opened.place if record.opened is not None else None
        return record.approved.place or shown or "outside"
    return record.proposed.verdict.place if record.proposed is not None else None


def _is_human_request(record: CallRecord) -> bool:
    """Return whether a human's request is itself the permission, as for undo."""
    return record.proposed is not None and record.proposed.verdict.step == "request"


def approved_changes(writer: SessionWriter, record: CallRecord) -> tuple[FileChange, ...]:
    """Return the changes to write, made again from sealed bytes and checked against what was approved.

    Raises CallBytesMissing or SealedBytesMissing.
    """
    blobs = writer.journal.blobs
    if record.opened is None or record.approved is None:
        return sealed_changes(record.files, blobs)
    edited = edited_bytes(writer, record.approved.edited)
    changes, digest = approval_outcome(record.opened, blobs, record.approved.selection, edited)
    if digest != record.approved.result_digest or record.approved.digest != record.opened.digest:
        raise CallBytesMissing("what would be written is not what was approved")
    return changes


def has_base_changed(writer: SessionWriter, changes: tuple[FileChange, ...]) -> bool:
    """Return whether a file is not what its change was computed on."""
    for change in changes:
        try:
            image = writer.context.root.image(change.path)
        except FileRefused:
            return True
        if (image.data if image else None) != change.before:
            return True
    return False


def write_plan(writer: SessionWriter, changes: tuple[FileChange, ...]) -> tuple[PlannedWrite, ...]:
    """Return the plan of some changes, by digests; the bytes before are sealed."""
    blobs = writer.journal.blobs
    return tuple(
        PlannedWrite(
            path=change.path,
            base=image_digest(change.before, blobs.keyed),
            after=image_digest(change.after, blobs.keyed),
            mode=change.mode,
            base_ref=seal_image(writer, change.before),
        )
        for change in changes
    )  # fmt: skip


def seal_image(writer: SessionWriter, data: bytes | None) -> BlobRef | None:
    """Seal an image; no file has none."""
    return None if data is None else writer.journal.blobs.seal(data)


def file_changed_bodies(
    writer: SessionWriter, changes: tuple[FileChange, ...], plan: tuple[PlannedWrite, ...]
) -> list[FileChanged]:
    """Return what was written, one body a file, with both images sealed for undo and restore."""
    bodies: list[FileChanged] = []
    line_totals = _line_totals(changes)
    for change, step in zip(changes, plan, strict=True):
        added, removed = line_totals.get(change.path, (0, 0))
        bodies.append(
            FileChanged(
                path=change.path, change=change_kind(change.before, change.after),
                before=step.base, after=step.after,
                before_ref=step.base_ref, after_ref=seal_image(writer, change.after),
                mode=change.mode, added=added, removed=removed, moved_from=change.moved_from,
            )
        )  # fmt: skip
    return bodies


def _line_totals(changes: Sequence[FileChange]) -> dict[str, tuple[int, int]]:
    """Return the added and removed lines of each file that has any."""
    hunks = make_hunks(changes)
    return {
        path: changed_line_totals([hunk for hunk in hunks if hunk.path == path])
        for path in {hunk.path for hunk in hunks}
    }


def change_kind(before: object, after: object) -> Literal["create", "modify", "delete"]:
    """Return what happened to a file between two images or digests; None is no file."""
    if before is None:
        return "create"
    return "delete" if after is None else "modify"


def hunks_taken_and_left(
    writer: SessionWriter, record: CallRecord
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of the hunks that were approved, and of those that were not; none after an edit."""
    if record.opened is None or (record.approved is not None and record.approved.edited):
        return (), ()
    numbers = [hunk.index for hunk in make_hunks(sealed_changes(record.opened.files, writer.journal.blobs))]
    selection = record.approved.selection if record.approved else None
    if selection is None:
        return tuple(numbers), ()
    selected = {part.hunk for part in selection if part.lines is None or part.lines}
    return tuple(n for n in numbers if n in selected), tuple(n for n in numbers if n not in selected)


def note_for_model(writer: SessionWriter, record: CallRecord) -> str:
    """Return what the model has to know of a change that is not made as it asked for, and what the user says.

    Empty where it is made as it asked for and the user said nothing.
    """
    said = record.approved.reason if record.approved is not None else ""
    words = " ".join(filter(None, (_alteration_words(writer, record), said and f"The user says: {said}")))
    return redaction.redact_line(words, 2_000)


def _alteration_words(writer: SessionWriter, record: CallRecord) -> str:
    if record.is_whole:
        return ""
    if record.approved is not None and record.approved.edited:
        return "The user changed this before it was written. Read the files again before you continue."
    left = ", ".join(left_out_hunks(writer, record))
    return f"The user approved only a part of this and left out: {left}. Do not write that again unasked."


def left_out_hunks(writer: SessionWriter, record: CallRecord) -> list[str]:
    """Return each hunk of a partial approval that was not approved as a whole, by its file and line."""
    approved = record.approved
    selection = (approved.selection if approved else None) or ()
    whole = {part.hunk for part in selection if part.lines is None}
    try:
        changes = sealed_changes(record.files, writer.journal.blobs)
    except SealedBytesMissing:
        return ["the rest"]
    left = [hunk for hunk in make_hunks(changes) if hunk.index not in whole]
    return [f"{hunk.path} line {hunk.old_start + _lines_before_change(hunk)}" for hunk in left]


def _lines_before_change(hunk: Hunk) -> int:
    return next((number for number, (sign, _) in enumerate(hunk.lines) if sign in "-+"), 0)


def alteration_detail(record: CallRecord) -> str:
    """Return how an approval differs from the proposal: `edited`, `partial` or nothing."""
    if record.approved is not None and record.approved.edited:
        return "edited"
    return "" if record.is_whole else "partial"
