"""Write a whole change or none of it, and settle what a crash left between the two.

Owns the order: look at every base, stage all, rename one after another, put back on failure. Whether the
change was approved is the caller's business; nothing here is retried, and no bytes but the planned ones
and the before-images are ever written. JOURNAL section 2, steps 8 and 9 and the crash table.
"""

import errno
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from workbench.changes.model import FileChange, refuse_repeated
from workbench.changes.result import digest_of
from workbench.domain.values import FilePlan, PlanStep
from workbench.effects.descent import TEMPORARY
from workbench.effects.faults import point
from workbench.effects.files import BaseMoved, FileImage, FileRefused, NotDurable, Root, Staged
from workbench.effects.refusal import refusal

Change = Literal["create", "modify", "delete"]
Keyed = Callable[[bytes], str]

ABANDONED_AFTER: Final = 60.0
"""Seconds without a write after which a temporary file is nobody's: half-written ones have no digest."""

_PASSING: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT})
"""Errors that say nothing about the file; settling has to wait until they are over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One file to write: exact bytes that must be there now, and exact bytes to be there then."""

    path: str
    base: bytes | None
    after: bytes | None
    mode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One file that was written."""

    path: str
    change: Change
    mode: int


class NotApplied(Exception):
    """Nothing of a change was kept; `left` names files that could not be put back, normally none."""

    def __init__(self, path: str, why: str, remedy: str, left: tuple[str, ...] = ()) -> None:
        self.path, self.why, self.remedy, self.left = path, why, remedy, left
        self.rolled_back = not left
        state = "no file was changed" if not left else f"not put back: {', '.join(left)}"
        super().__init__(f"{path} was not written: {why}; {state}; {remedy}")


def planned(changes: Iterable[FileChange]) -> list[Planned]:
    """Return the steps that write changes."""
    return [
        Planned(path=change.path, base=change.before, after=change.after, mode=change.mode)
        for change in changes
    ]


def apply(root: Root, steps: Sequence[Planned]) -> list[Applied]:
    """Write all files or none.

    Raises:
        NotApplied: a base moved, a file was refused or the system failed; what was written is put back.
        ValueError: a path occurs twice, or a step neither starts from nor comes to a file.
    """
    refuse_repeated(step.path for step in steps)
    for step in steps:
        if step.base is None and step.after is None:
            raise ValueError(f"{step.path} is neither there before nor after")
    attempt = _Attempt(root, steps)
    try:
        attempt.run()
    except BaseException as error:
        left = attempt.put_back()
        if isinstance(error, OSError | FileRefused | BaseMoved):
            raise _not_applied(attempt.current, error, left) from error
        raise
    return [Applied(path=step.path, change=_change(step), mode=step.mode) for step in steps]


class _Attempt:
    """One run over the steps; knows how far it came."""

    def __init__(self, root: Root, steps: Sequence[Planned]) -> None:
        self.root, self.steps = root, steps
        self.current = ""
        self.modes: dict[str, int] = {}
        self.staged: dict[str, Staged] = {}
        self.begun: list[Planned] = []

    def run(self) -> None:
        for step in self.steps:
            self._look(step)
        for step in self.steps:
            self._stage(step)
        point("apply.staged")
        for step in self.steps:
            self._commit(step)
        point("apply.done")

    def _look(self, step: Planned) -> None:
        self.current = step.path
        image = self.root.image(step.path)
        if _data(image) != step.base:
            raise BaseMoved(step.path)
        self.modes[step.path] = image.mode if image else step.mode

    def _stage(self, step: Planned) -> None:
        self.current = step.path
        if step.after is not None:
            self.staged[step.path] = self.root.stage(step.path, step.after, step.mode)

    def _commit(self, step: Planned) -> None:
        self.current = step.path
        point("apply.renaming")
        self.begun.append(step)
        try:
            self._write(step)
        except (BaseMoved, FileRefused) as error:
            # Only then the file is surely not ours; any other failure may have come after the rename.
            if not isinstance(error, NotDurable):
                self.begun.pop()
            raise
        point("apply.renamed")

    def _write(self, step: Planned) -> None:
        if step.after is None:
            self.root.remove(step.path, lambda now: now == step.base)
        else:
            self.root.commit(self.staged[step.path], lambda now: now == step.base)

    def put_back(self) -> tuple[str, ...]:
        """Undo what was renamed, newest first; return the paths where that failed."""
        left = [step.path for step in reversed(self.begun) if not self._is_back(step)]
        for staged in reversed(self.staged.values()):
            with suppress(OSError):
                self.root.discard(staged)
        return tuple(sorted(left))

    def _is_back(self, step: Planned) -> bool:
        try:
            image = self.root.image(step.path)
            mode = self.modes[step.path]
            if _data(image) == step.base and (image is None or image.mode == mode):
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


def _data(image: FileImage | None) -> bytes | None:
    return image.data if image else None


def _change(step: Planned) -> Change:
    if step.base is None:
        return "create"
    return "delete" if step.after is None else "modify"


def _not_applied(path: str, error: OSError | FileRefused | BaseMoved, left: tuple[str, ...]) -> NotApplied:
    if isinstance(error, BaseMoved):
        return NotApplied(path, error.why, "look at it again and propose the change anew", left)
    refused = refusal(path, error) if isinstance(error, OSError) else error
    return NotApplied(path, refused.why, refused.remedy, left)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDigest:
    """One file of an execution as it was committed before the first byte was written."""

    path: str
    base_digest: str | None
    after_digest: str | None
    mode: int = 0o644
    """Used only to put a deleted file back."""

    @classmethod
    def of(cls, plan: FilePlan | PlanStep) -> "PlannedDigest":
        """Return what settling needs of a recorded plan."""
        return cls(path=plan.path, base_digest=plan.base, after_digest=plan.after, mode=plan.mode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a crashed execution came to."""

    outcome: Literal["succeeded", "nothing_written", "rolled_back"]
    put_back: tuple[str, ...] = ()
    """Files that held our bytes and hold the earlier ones again."""
    untouched: tuple[str, ...] = ()
    """Files left as they were found: changed by somebody else, or impossible to put back."""


def settle(
    root: Root,
    planned: Sequence[PlannedDigest],
    keyed: Keyed,
    before_image: Callable[[str], bytes | None],
) -> Settled:
    """Settle an execution that died between `executing` and its outcome; may itself be run again.

    Every file at its base: nothing was written. Every file as planned: it succeeded. Otherwise the files
    that hold our bytes get their earlier ones back and all others are left alone. Temporary files of the
    call are removed; folders that it created stay, since nothing tells whose they are.

    Args:
        root: the workspace.
        planned: the recorded plan.
        keyed: the digest function of the plan.
        before_image: the sealed bytes of a path from before; None if there are none.

    Raises:
        FileRefused: the system is out of descriptors, memory or disk; nothing is decided, settle again later.
    """
    refuse_repeated(step.path for step in planned)
    found = {step.path: _found(root, step, keyed) for step in planned}
    if all("base" in sides for sides in found.values()):
        settled = Settled(outcome="nothing_written")
    elif all("after" in sides for sides in found.values()):
        settled = Settled(outcome="succeeded")
    else:
        ours = [step for step in planned if found[step.path] == {"after"}]
        back = {step.path for step in reversed(ours) if _is_settled_back(root, step, keyed, before_image)}
        rest = {path for path, sides in found.items() if "base" not in sides} - back
        paths = [step.path for step in planned]
        settled = Settled(
            outcome="rolled_back",
            put_back=tuple(path for path in paths if path in back),
            untouched=tuple(path for path in paths if path in rest),
        )
    _sweep(root, planned, keyed)
    return settled


def _found(root: Root, step: PlannedDigest, keyed: Keyed) -> set[str]:
    """Return which of base and after a file is; both if the plan does not change its bytes."""
    try:
        digest = digest_of(_data(root.image(step.path)), keyed)
    except FileRefused as error:
        if error.errno in _PASSING:
            raise
        return set()
    sides = {"base": step.base_digest, "after": step.after_digest}
    return {side for side, planned in sides.items() if planned == digest}


def _is_settled_back(
    root: Root, step: PlannedDigest, keyed: Keyed, before_image: Callable[[str], bytes | None]
) -> bool:
    before = before_image(step.path) if step.base_digest is not None else None
    if digest_of(before, keyed) != step.base_digest:
        return False
    try:
        image = root.image(step.path)
        mode = image.mode if image else step.mode
        _restore(root, step.path, before, mode, lambda now: digest_of(now, keyed) == step.after_digest)
    except BaseMoved:
        return False
    except FileRefused as error:
        if error.errno in _PASSING:
            raise
        return False
    return True


def _sweep(root: Root, planned: Sequence[PlannedDigest], keyed: Keyed) -> None:
    """Remove temporary files with bytes of this plan, and those beside them that are long abandoned.

    Others may be writing into the same folder at this moment, so not every temporary file goes.
    """
    ours = {step.after_digest for step in planned} | {step.base_digest for step in planned}
    folders = sorted({step.path.rpartition("/")[0] for step in planned})
    for folder in folders:
        with suppress(FileRefused):
            names = [entry.name for entry in root.list(folder) if TEMPORARY.fullmatch(entry.name)]
            for name in names:
                with suppress(FileRefused, BaseMoved):
                    root.remove(
                        f"{folder}/{name}".lstrip("/"), lambda now: now is not None and keyed(now) in ours
                    )
    root.sweep(folders, ABANDONED_AFTER)
