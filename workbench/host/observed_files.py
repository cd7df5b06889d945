"""Look at what an agent wrote itself, and compare it with what was approved. Nothing here writes a file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from workbench.changes.decision import image_digest
from workbench.changes.diff import FileChange, changed_line_totals, make_hunks
from workbench.domain.events import FileChanged
from workbench.domain.values import PlannedWrite
from workbench.effects.file_primitives import FileRefused
from workbench.host.approved_change import change_kind, file_changed_bodies, write_plan
from workbench.host.driver_context import SessionWriter

NOTHING_APPROVED: Final[Mapping[str, bytes | None]] = {}


class ObservedFile(Struct, frozen=True, kw_only=True):
    """One file of a plan as it was found."""

    step: PlannedWrite
    found: bytes | None
    digest: str | None
    """Of what was found; None is no file."""
    problem: str = ""
    """Why it could not be read."""

    @property
    def is_as_approved(self) -> bool:
        return not self.problem and self.digest == self.step.after

    @property
    def is_untouched(self) -> bool:
        return not self.problem and self.digest == self.step.base


def observe_files(writer: SessionWriter, plan: Iterable[PlannedWrite]) -> tuple[ObservedFile, ...]:
    """Read the files of a plan; blocking, so call it from a thread."""
    return tuple(_observe(writer, step) for step in plan)


def _observe(writer: SessionWriter, step: PlannedWrite) -> ObservedFile:
    try:
        image = writer.context.root.image(step.path)
    except FileRefused as error:
        return ObservedFile(step=step, found=None, digest=None, problem=str(error))
    data = image.data if image else None
    return ObservedFile(step=step, found=data, digest=image_digest(data, writer.journal.blobs.keyed))


def found_changes(writer: SessionWriter, files: Sequence[ObservedFile]) -> tuple[FileChange, ...]:
    """Return what is on the disk now that was not before the call."""
    return tuple(
        FileChange(
            path=file.step.path, before=_base_bytes(writer, file.step), after=file.found, mode=file.step.mode
        )
        for file in files
        if not file.problem and not file.is_untouched
    )


def changed_bodies(writer: SessionWriter, changes: tuple[FileChange, ...]) -> list[FileChanged]:
    """Return the records of changes that an agent made, with both images kept for undo."""
    return file_changed_bodies(writer, changes, write_plan(writer, changes))


def _base_bytes(writer: SessionWriter, step: PlannedWrite) -> bytes | None:
    return writer.unseal(step.base_ref) if step.base_ref else None


def difference_words(
    files: Sequence[ObservedFile], approved: Mapping[str, bytes | None] = NOTHING_APPROVED
) -> str:
    """Return which files are not what was approved, and how; with `approved` bytes also by how many lines."""
    return "; ".join(
        f"{file.step.path}: {_difference(file)}{_line_counts(file, approved)}"
        for file in files
        if not file.is_as_approved
    )


def _difference(file: ObservedFile) -> str:
    if file.problem:
        return f"cannot be read ({file.problem})"
    if file.is_untouched:
        return "not written"
    kind = change_kind(file.step.base, file.digest)
    words = {"create": "created", "delete": "deleted", "modify": "written"}[kind]
    return words if file.digest is None else f"{words} with other bytes"


def _line_counts(file: ObservedFile, approved: Mapping[str, bytes | None]) -> str:
    if file.problem or file.is_untouched or file.found is None or file.step.path not in approved:
        return ""
    change = FileChange(
        path=file.step.path, before=approved[file.step.path], after=file.found, mode=file.step.mode
    )
    added, removed = changed_line_totals(make_hunks([change]))
    return f" (+{added} -{removed} lines against what was approved)" if added or removed else ""
