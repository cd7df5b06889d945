"""What several changes of one file come to, and what taking them back, or making them again, would do."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from workbench.changes.decision import image_digest
from workbench.changes.digest import KeyedDigest
from workbench.domain.values import BlobRef, UndoState
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage


class FileWrite(Struct, frozen=True, kw_only=True):
    """One file that a call wrote; digests as recorded, None is no file."""

    call_id: str
    path: str
    before: str | None
    after: str | None
    before_ref: BlobRef | None = None
    after_ref: BlobRef | None = None
    mode: int = 0o644


class NetChange(Struct, frozen=True, kw_only=True):
    """What all writes of one file come to, in the direction in which it would be written now."""

    path: str
    calls: tuple[str, ...]
    expected: str | None
    """What is there if nobody else wrote it."""
    wanted: str | None
    wanted_ref: BlobRef | None
    mode: int
    is_continuous: bool
    """Whether every write found what the one before it had left."""


def net_changes(writes: Iterable[FileWrite], *, is_redo: bool = False) -> tuple[NetChange, ...]:
    """Return what undoing writes comes to, file by file, or with `is_redo` making them again.

    `writes` are in the order in which they were made. A file that comes out as it went in is left out.
    """
    by_path: dict[str, list[FileWrite]] = {}
    for write in writes:
        by_path.setdefault(write.path, []).append(write)
    net = (_net_change(path, file_writes, is_redo=is_redo) for path, file_writes in sorted(by_path.items()))
    return tuple(change for change in net if change.expected != change.wanted)


def _net_change(path: str, writes: Sequence[FileWrite], *, is_redo: bool) -> NetChange:
    first, last = writes[0], writes[-1]
    is_continuous = all(later.before == earlier.after for earlier, later in pairwise(writes))
    return NetChange(
        path=path, calls=tuple(dict.fromkeys(write.call_id for write in writes)),
        expected=first.before if is_redo else last.after, wanted=last.after if is_redo else first.before,
        wanted_ref=last.after_ref if is_redo else first.before_ref,
        mode=last.mode if is_redo else first.mode, is_continuous=is_continuous,
    )  # fmt: skip


class FileUndo(Struct, frozen=True, kw_only=True):
    """What one file would become."""

    net: NetChange
    state: UndoState
    now: bytes | None
    wanted: bytes | None
    present: str | None
    """The digest of what is there now."""
    mode: int

    @property
    def can_be_taken(self) -> bool:
        """Return whether it can be written, if only over what somebody else made of it."""
        return self.state in ("ready", "stale")


def look_at_file(
    net: NetChange,
    image: Callable[[str], FileImage | None],
    keyed: KeyedDigest,
    unseal: Callable[[BlobRef], bytes | None],
) -> FileUndo | None:
    """Return what a file would become as it is now; None where it is already what is wanted."""
    wanted = unseal(net.wanted_ref) if net.wanted_ref else None
    try:
        current = image(net.path)
    except FileRefused:
        return FileUndo(net=net, state="refused", now=None, wanted=wanted, present=None, mode=net.mode)
    now = current.data if current else None
    present = image_digest(now, keyed)
    if present == net.wanted:
        return None
    is_ours = present == net.expected and net.is_continuous
    state: UndoState = "ready" if is_ours else "stale"
    if image_digest(wanted, keyed) != net.wanted:
        state = "lost"
    return FileUndo(
        net=net,
        state=state,
        now=now,
        wanted=wanted,
        present=present,
        mode=current.mode if current else net.mode,
    )
