"""What boxes found closed before their commands, recorded for others that run in the same folders.

A file that the command of one box makes must not count as there before in another: when it is moved out,
the mount that keeps it read-only in the other is gone. What a crash left is dealt with in the same way. The
record of a box stays until all that its command left has been dealt with.
"""

import os
import secrets
import weakref
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import AnyStr

from msgspec import MsgspecError, Struct, json
from msgspec.structs import replace

from workbench.effects.file_locks import FileLock, is_lock_held, remove_unheld_lock
from workbench.effects.file_primitives import FileRefused
from workbench.effects.path_files import private_folder, read_bounded, write_at_once, write_atomic
from workbench.policy.paths import is_below


class Closing(Struct, frozen=True, kw_only=True):
    """Why a box closes one path; none of these for what follows from other paths, such as bytecode."""

    by_name: bool = False
    by_settings: bool = False
    """Whether settings, links or hooks name it."""
    denials: str = ""
    """As in `BoxRecord`; empty where none of them covers it."""


class BoxRecord(Struct, frozen=True, kw_only=True):
    """A box that has not ended; paths are bytes, for names may be anything."""

    workspace: bytes
    named: frozenset[bytes] = frozenset()
    """Paths that settings, links and hooks close, whether they are there or not."""
    denials: str = ""
    """What is denied of files; boxes where it is equal deny the same."""
    before: Mapping[bytes, bytes]
    """Closed and hidden paths as the box found them, with the targets of links; nothing for other files."""
    left: frozenset[bytes] | None = None
    """What could not be moved out; then no other path counts as new."""

    def has_new(self, path: str, why: "Closing") -> bool:
        """Return whether a path was not there before this box, and may be of its command.

        Where another box closes it for a reason that this one may not have, it may have been there.
        """
        if not is_below(path, os.fsdecode(self.workspace)) or self.knows(path):
            return False
        if self.left is not None:
            return is_in(os.fsencode(path), self.left, self.workspace)
        if why.by_name or self._names(path):
            return True
        return why.denials == self.denials if why.denials else not why.by_settings

    def _names(self, path: str) -> bool:
        """Return whether this box closes a path, or a link on the way to one, whatever its name is."""
        own = os.fsencode(path)
        if is_in(own, self.named, self.workspace):
            return True
        is_link = os.path.islink(path)  # noqa: PTH114 -- text
        return is_link and any(name.startswith(own + b"/") for name in self.named)

    def knows(self, path: str) -> bool:
        """Return whether a path was there before this box, or lies where its command could not write."""
        return is_in(os.fsencode(path), self.before, self.workspace)

    def links_below(self, folder: str) -> dict[str, str]:
        """Return the links below a folder that the box found, with their targets."""
        links = {os.fsdecode(path): os.fsdecode(target) for path, target in self.before.items() if target}
        return {path: target for path, target in links.items() if is_below(path, folder)}


def is_in(path: AnyStr, paths: Container[AnyStr], folder: AnyStr) -> bool:
    """Return whether a path below a folder is among others, or lies in one of them that is below it too."""
    while path not in paths:
        path = os.path.dirname(path)  # noqa: PTH120 -- text
        if len(path) <= len(folder):
            return False
    return True


def read_records(folder: str) -> dict[Path, BoxRecord]:
    """Return the records of boxes that have not ended, those of processes that are gone too."""
    found: dict[Path, BoxRecord] = {}
    for path in sorted(Path(folder).glob("*.json")):
        with suppress(OSError, FileRefused, MsgspecError):
            if data := read_bounded(path):
                found[path] = json.decode(data, type=BoxRecord)
    return found


def is_abandoned(path: Path) -> bool:
    """Return whether nobody will end the box of this record."""
    return not is_lock_held(path.with_suffix(".lock"))


def settle_record(path: Path, record: BoxRecord, workspace: str) -> None:
    """Note that all that an abandoned box left in a workspace has been dealt with."""
    own, whole = os.fsencode(workspace), os.fsdecode(record.workspace)
    if is_below(whole, workspace):
        remove_record(path)
    elif is_below(workspace, whole):
        before = {name: target for name, target in record.before.items() if not is_in(name, (own,), b"/")}
        with suppress(FileRefused):
            write_atomic(path, json.encode(replace(record, before={**before, own: b""})))


def remove_record(path: Path) -> None:
    """Remove the record of an abandoned box with its lock."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        remove_unheld_lock(path.with_suffix(".lock"))


class RunningBox:
    """Holds the record of a box; one that is dropped without its end is abandoned."""

    def __init__(self, folder: str, record: BoxRecord) -> None:
        """Write the record. Raises OSError and FileRefused."""
        self._path, self._record = private_folder(Path(folder)) / f"{secrets.token_hex(8)}.json", record
        lock = FileLock(self._path.with_suffix(".lock"))
        lock.try_acquire()
        self.descriptors = lock.descriptors
        """What holds its lock: the record is not abandoned as long as any process has that open."""
        self._release = weakref.finalize(self, lock.release)
        self._release.atexit = False
        write_at_once(self._path, json.encode(record))

    def end(self) -> None:
        """Remove the record; twice is harmless."""
        for path in (self._path, self._path.with_suffix(".lock")):
            path.unlink(missing_ok=True)
        self._release()

    def abandon(self, left: Iterable[str] | None) -> None:
        """Keep the record for the next box: for these paths, or where None for all that is new."""
        if left is not None:
            paths = frozenset(map(os.fsencode, left))
            links = {path: target for path, target in self._record.before.items() if target and path in paths}
            with suppress(FileRefused):
                write_atomic(self._path, json.encode(replace(self._record, before=links, left=paths)))
        self._release()
