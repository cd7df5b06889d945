"""Look at what an agent wrote itself, and compare it with what was approved. Nothing here writes a file."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from workbench.changes.decision import image_digest
from workbench.changes.diff import FileChange
from workbench.domain.events import FileChanged
from workbench.domain.values import PlannedWrite
from workbench.effects.file_primitives import FileRefused
from workbench.host.approved_change import change_kind, file_changed_bodies
from workbench.host.driver_context import SessionWriter


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


def found_changes(writer: SessionWriter, files: Sequence[ObservedFile]) -> list[FileChanged]:
    """Return what is on the disk now that was not before the call, with both images kept for undo."""
    changed = [file for file in files if not file.problem and not file.is_untouched]
    changes = tuple(
        FileChange(
            path=file.step.path, before=_base_bytes(writer, file.step), after=file.found, mode=file.step.mode
        )
        for file in changed
    )
    plan = tuple(
        PlannedWrite(
            path=file.step.path, base=file.step.base, after=file.digest, mode=file.step.mode,
            base_ref=file.step.base_ref,
        )
        for file in changed
    )  # fmt: skip
    return file_changed_bodies(writer, changes, plan)


def _base_bytes(writer: SessionWriter, step: PlannedWrite) -> bytes | None:
    return writer.unseal(step.base_ref) if step.base_ref else None


def difference_words(files: Sequence[ObservedFile]) -> str:
    """Return which files are not what was approved, and how."""
    return "; ".join(f"{file.step.path}: {_difference(file)}" for file in files if not file.is_as_approved)


def _difference(file: ObservedFile) -> str:
    if file.problem:
        return f"cannot be read ({file.problem})"
    if file.is_untouched:
        return "not written"
    kind = change_kind(file.step.base, file.digest)
    return {"create": "created", "delete": "deleted"}.get(kind, "written") + " with other bytes"
