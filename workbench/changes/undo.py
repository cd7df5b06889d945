"""Undo: the changes that put applied files back as they were.

Owns only the proposal; it is carried out like any other change. Refuses as a whole when one file was
changed since, so that nobody's later work is lost. Never writes.
"""

from collections.abc import Callable, Sequence

from workbench.changes.model import FileChange, refuse_repeated
from workbench.changes.result import digest_of
from workbench.domain.values import FilePlan, PlanStep
from workbench.effects.files import FileImage, FileRefused, Root


class NotUndoable(Exception):
    """What was applied cannot be put back; names every path that stands in the way."""

    def __init__(self, changed: tuple[str, ...], lost: tuple[str, ...]) -> None:
        self.changed, self.lost = changed, lost
        reasons: list[str] = []
        if changed:
            reasons.append(f"changed since: {', '.join(changed)}")
        if lost:
            reasons.append(f"the bytes from before are no longer kept: {', '.join(lost)}")
        remedy = "Put these files back by hand, from version control or a copy."
        super().__init__(f"nothing was undone: {'; '.join(reasons)}. {remedy}")


def undo_changes(
    root: Root,
    applied: Sequence[FilePlan | PlanStep],
    keyed: Callable[[bytes], str],
    before_image: Callable[[str], bytes | None],
) -> tuple[FileChange, ...]:
    """Return the changes that put applied files back; a file that is back already needs none.

    Args:
        root: the workspace.
        applied: what was written, each path once, with the digests of base and after.
        keyed: the digest function of the plan.
        before_image: the kept bytes of a path from before; None if there are none.

    Raises:
        NotUndoable: names the files changed since and those whose earlier bytes are gone.
    """
    refuse_repeated(file.path for file in applied)
    back: list[FileChange] = []
    changed: list[str] = []
    lost: list[str] = []
    for file in applied:
        try:
            image = root.image(file.path)
        except FileRefused:
            changed.append(file.path)
            continue
        before = before_image(file.path) if file.base is not None else None
        digest = digest_of(image.data if image else None, keyed)
        if digest not in (file.base, file.after):
            changed.append(file.path)
        elif digest_of(before, keyed) != file.base:
            lost.append(file.path)
        elif digest != file.base:
            back.append(_reverse(file, image, before))
    if changed or lost:
        raise NotUndoable(tuple(changed), tuple(lost))
    return tuple(back)


def _reverse(file: FilePlan | PlanStep, image: FileImage | None, before: bytes | None) -> FileChange:
    return FileChange(
        path=file.path,
        before=image.data if image else None,
        after=before,
        mode=image.mode if image else file.mode,
    )
