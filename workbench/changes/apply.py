"""Write a change to the workspace, all files or none, with recovery after a crash, staleness, and undo."""

import errno
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from workbench.changes.decision import image_digest
from workbench.changes.diff import FileChange, refuse_repeated_paths
from workbench.changes.digest import KeyedDigest
from workbench.domain.values import FilePlan, PlannedWrite
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import TEMPORARY_NAME, BaseMoved, FileRefused, NotDurable, file_refusal
from workbench.effects.files import FileImage, Root, StagedFile


def stale_paths(root: Root, files: Sequence[FilePlan], keyed: KeyedDigest) -> tuple[str, ...]:
    """Return the paths whose present bytes are not their base, or that are no plain file any more."""
    return tuple(file.path for file in files if not _is_base(root, file, keyed))


def _is_base(root: Root, file: FilePlan, keyed: KeyedDigest) -> bool:
    try:
        image = root.image(file.path)
    except FileRefused:
        return False
    return image_digest(_image_data(image), keyed) == file.base


ChangeKind = Literal["create", "modify", "delete"]
ABANDONED_AFTER_SECONDS: Final = 60.0
"""Seconds without a write after which a temporary file is abandoned: half-written ones have no digest."""
_TRANSIENT_ERRORS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT})
"""Errors that say nothing about the file; settling waits until they are over."""


class PlannedFile(Struct, frozen=True, kw_only=True):
    """One file to write: exact bytes that must be there now, and exact bytes to be there then."""

    path: str
    base: bytes | None
    after: bytes | None
    mode: int


class AppliedFile(Struct, frozen=True, kw_only=True):
    """One file that was written."""

    path: str
    change: ChangeKind
    mode: int


class NotApplied(Exception):
    """Nothing of a change was kept; `not_restored` names files that could not be put back, normally none."""

    def __init__(self, path: str, why: str, remedy: str, not_restored: tuple[str, ...] = ()) -> None:
        self.path, self.why, self.remedy, self.not_restored = path, why, remedy, not_restored
        self.rolled_back = not not_restored
        state = "no file was changed" if not not_restored else f"not put back: {', '.join(not_restored)}"
        super().__init__(f"{path} was not written: {why}; {state}; {remedy}")


def apply_files(root: Root, steps: Sequence[PlannedFile]) -> list[AppliedFile]:
    """Write all files or none, or raise `NotApplied` with what was written put back."""
    refuse_repeated_paths(step.path for step in steps)
    for step in steps:
        if step.base is None and step.after is None:
            raise ValueError(f"{step.path} is neither there before nor after")
    attempt = _Attempt(root, steps)
    try:
        attempt.run()
    except BaseException as error:
        not_restored = attempt.put_back()
        if isinstance(error, OSError | FileRefused | BaseMoved):
            raise _not_applied(attempt.current, error, not_restored) from error
        raise
    return [AppliedFile(path=step.path, change=_change_kind(step), mode=step.mode) for step in steps]


class _Attempt:
    def __init__(self, root: Root, steps: Sequence[PlannedFile]) -> None:
        self.root, self.steps = root, steps
        self.current = ""
        self.modes: dict[str, int] = {}
        self.staged: dict[str, StagedFile] = {}
        self.committing: list[PlannedFile] = []

    def run(self) -> None:
        for step in self.steps:
            self._look(step)
        for step in self.steps:
            self._stage(step)
        fault_point("apply.staged")
        for step in self.steps:
            self._commit(step)
        fault_point("apply.done")

    def _look(self, step: PlannedFile) -> None:
        self.current = step.path
        image = self.root.image(step.path)
        if _image_data(image) != step.base:
            raise BaseMoved(step.path)
        self.modes[step.path] = image.mode if image else step.mode

    def _stage(self, step: PlannedFile) -> None:
        self.current = step.path
        if step.after is not None:
            self.staged[step.path] = self.root.stage(step.path, step.after, step.mode)

    def _commit(self, step: PlannedFile) -> None:
        self.current = step.path
        fault_point("apply.renaming")
        self.committing.append(step)
        try:
            self._write(step)
        except (BaseMoved, FileRefused) as error:
            # Only then the file is surely not ours; any other failure may have come after the rename.
            if not isinstance(error, NotDurable):
                self.committing.pop()
            raise
        fault_point("apply.renamed")

    def _write(self, step: PlannedFile) -> None:
        if step.after is None:
            self.root.remove(step.path, lambda now: now == step.base)
        else:
            self.root.commit(self.staged[step.path], lambda now: now == step.base)

    def put_back(self) -> tuple[str, ...]:
        """Undo what was renamed, newest first; return the paths where that failed."""
        not_restored = [step.path for step in reversed(self.committing) if not self._is_back(step)]
        for staged in reversed(self.staged.values()):
            with suppress(OSError):
                self.root.discard(staged)
        return tuple(sorted(not_restored))

    def _is_back(self, step: PlannedFile) -> bool:
        try:
            image = self.root.image(step.path)
            mode = self.modes[step.path]
            if _image_data(image) == step.base and (image is None or image.mode == mode):
                return True
            _restore(self.root, step.path, step.base, mode, lambda now: now == step.after)
        except (OSError, FileRefused, BaseMoved):
            return False
        return True


def _restore(
    root: Root, path: str, base: bytes | None, mode: int, is_ours: Callable[[bytes | None], bool]
) -> None:
    # Not confirmed by the disk is still put back: after a power loss the next look decides.
    with suppress(NotDurable):
        if base is None:
            root.remove(path, is_ours)
        else:
            root.commit(root.stage(path, base, mode), is_ours)


def _image_data(image: FileImage | None) -> bytes | None:
    return image.data if image else None


def _change_kind(step: PlannedFile) -> ChangeKind:
    if step.base is None:
        return "create"
    return "delete" if step.after is None else "modify"


def _not_applied(
    path: str, error: OSError | FileRefused | BaseMoved, not_restored: tuple[str, ...]
) -> NotApplied:
    if isinstance(error, BaseMoved):
        return NotApplied(path, error.why, "look at it again and propose the change again", not_restored)
    refused = file_refusal(path, error) if isinstance(error, OSError) else error
    return NotApplied(path, refused.why, refused.remedy, not_restored)


class PlannedDigests(Struct, frozen=True, kw_only=True):
    """One file of an execution as it was committed before the first byte was written."""

    path: str
    base_digest: str | None
    after_digest: str | None
    mode: int = 0o644
    """Used only to put a deleted file back."""

    @classmethod
    def of(cls, plan: FilePlan | PlannedWrite) -> "PlannedDigests":
        """Return what settling needs of a recorded plan."""
        return cls(path=plan.path, base_digest=plan.base, after_digest=plan.after, mode=plan.mode)


class SettledExecution(Struct, frozen=True, kw_only=True):
    """What a crashed execution came to."""

    outcome: Literal["succeeded", "nothing_written", "rolled_back"]
    put_back: tuple[str, ...] = ()
    untouched: tuple[str, ...] = ()
    """Files that somebody else changed, or that could not be put back."""


def settle_interrupted(
    root: Root,
    planned: Sequence[PlannedDigests],
    keyed: KeyedDigest,
    before_image: Callable[[str], bytes | None],
) -> SettledExecution:
    """Settle an execution that died between `executing` and its outcome; may itself be run again.

    Every file at its base: nothing was written. Every file as planned: it succeeded. Otherwise the files with
    our bytes get their earlier ones back (`before_image`) and all others are left alone. Temporary files of
    the call are removed; folders that it created stay, since nothing tells whose they are. Raises
    FileRefused: out of descriptors, memory or disk; nothing is decided, settle again later.
    """
    refuse_repeated_paths(step.path for step in planned)
    matches = {step.path: _matching_sides(root, step, keyed) for step in planned}
    if all("base" in sides for sides in matches.values()):
        settled = SettledExecution(outcome="nothing_written")
    elif all("after" in sides for sides in matches.values()):
        settled = SettledExecution(outcome="succeeded")
    else:
        ours = [step for step in planned if matches[step.path] == {"after"}]
        back = {step.path for step in reversed(ours) if _is_settled_back(root, step, keyed, before_image)}
        rest = {path for path, sides in matches.items() if "base" not in sides} - back
        paths = [step.path for step in planned]
        settled = SettledExecution(
            outcome="rolled_back",
            put_back=tuple(path for path in paths if path in back),
            untouched=tuple(path for path in paths if path in rest),
        )
    _remove_temporary_files(root, planned, keyed)
    return settled


def _matching_sides(root: Root, step: PlannedDigests, keyed: KeyedDigest) -> set[str]:
    try:
        digest = image_digest(_image_data(root.image(step.path)), keyed)
    except FileRefused as error:
        if error.errno in _TRANSIENT_ERRORS:
            raise
        return set()
    sides = {"base": step.base_digest, "after": step.after_digest}
    return {side for side, planned in sides.items() if planned == digest}


def _is_settled_back(
    root: Root, step: PlannedDigests, keyed: KeyedDigest, before_image: Callable[[str], bytes | None]
) -> bool:
    before = before_image(step.path) if step.base_digest is not None else None
    if image_digest(before, keyed) != step.base_digest:
        return False
    try:
        image = root.image(step.path)
        mode = image.mode if image else step.mode
        _restore(root, step.path, before, mode, lambda now: image_digest(now, keyed) == step.after_digest)
    except BaseMoved:
        return False
    except FileRefused as error:
        if error.errno in _TRANSIENT_ERRORS:
            raise
        return False
    return True


def _remove_temporary_files(root: Root, planned: Sequence[PlannedDigests], keyed: KeyedDigest) -> None:
    """Remove temporary files with bytes of this plan, and abandoned ones; others may be writing right now."""
    ours = {step.after_digest for step in planned} | {step.base_digest for step in planned}
    folders = sorted({step.path.rpartition("/")[0] for step in planned})
    for folder in folders:
        with suppress(FileRefused):
            names = [entry.name for entry in root.list(folder) if TEMPORARY_NAME.fullmatch(entry.name)]
            for name in names:
                with suppress(FileRefused, BaseMoved):
                    root.remove(
                        f"{folder}/{name}".lstrip("/"), lambda now: now is not None and keyed(now) in ours
                    )
    root.sweep(folders, ABANDONED_AFTER_SECONDS)


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
    applied: Sequence[FilePlan | PlannedWrite],
    keyed: KeyedDigest,
    before_image: Callable[[str], bytes | None],
) -> tuple[FileChange, ...]:
    """Return the changes that put applied files back, those back already left out, or raise `NotUndoable`."""
    refuse_repeated_paths(file.path for file in applied)
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
        digest = image_digest(_image_data(image), keyed)
        if digest not in (file.base, file.after):
            changed.append(file.path)
        elif image_digest(before, keyed) != file.base:
            lost.append(file.path)
        elif digest != file.base:
            back.append(_reverse_change(file, image, before))
    if changed or lost:
        raise NotUndoable(tuple(changed), tuple(lost))
    return tuple(back)


def _reverse_change(
    file: FilePlan | PlannedWrite, image: FileImage | None, before: bytes | None
) -> FileChange:
    return FileChange(
        path=file.path, before=_image_data(image), after=before, mode=image.mode if image else file.mode
    )
