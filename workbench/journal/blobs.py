"""Large and exact bytes beside the database, named by their keyed digest.

Two stores: `recorded` for scrubbed text, `sealed` for the exact bytes that execution needs. A blob is whole
or absent, and what does not match its name is not given out. Which blobs are in use is said by the table
`blob_ref`; nothing is removed here without asking it inside a transaction.
"""

import hashlib
import hmac
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from workbench.domain.values import BlobRef
from workbench.effects import faults
from workbench.effects.files import BaseMoved, FileRefused, Root, read_bounded
from workbench.journal.errors import JournalFailed, JournalFull, translate
from workbench.journal.home import Home

State = Literal["whole", "missing", "damaged"]

LARGEST: Final = 1 << 30
_REF: Final = re.compile(r"(sealed|recorded):([0-9a-f]{64})", re.ASCII)


class Blobs:
    """The two folders of stored bytes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self.damaged: set[BlobRef] = set()
        """Blobs that were found not to match their name, for `doctor` and for messages."""

    def keyed(self, data: bytes) -> str:
        """Return the HMAC-SHA-256 of bytes under the home's key, in hex: no oracle without the key."""
        return hmac.new(self._home.key, data, hashlib.sha256).hexdigest()

    def seal(self, data: bytes) -> BlobRef:
        """Store exact bytes; the same bytes twice are one file.

        Raises:
            JournalFull: The disk is full.
            JournalFailed: They were not stored.
        """
        return self._store("sealed", data)

    def record(self, data: bytes) -> BlobRef:
        """Store scrubbed bytes; the same bytes twice are one file.

        Raises:
            JournalFull: The disk is full.
            JournalFailed: They were not stored.
        """
        return self._store("recorded", data)

    def read(self, ref: BlobRef) -> bytes | None:
        """Return the bytes of a blob; None if it is missing or damaged (`state` says which)."""
        return self._look(ref)[0]

    def state(self, ref: BlobRef) -> State:
        """Say whether a blob is whole, by reading all of it."""
        return self._look(ref)[1]

    def has(self, ref: BlobRef) -> bool:
        """Return whether there is a file for a blob, without reading it."""
        path = self._path(ref)
        return path is not None and path.is_file()

    def remove(self, ref: BlobRef) -> bool:
        """Remove a blob that nothing refers to; the caller holds the transaction that says so."""
        path = self._path(ref)
        if path is None:
            return False
        try:
            path.unlink()
        except OSError:
            return False
        self.damaged.discard(ref)
        return True

    def stale(self, older_than: float) -> Iterator[BlobRef]:
        """Yield the blobs last stored more than some seconds ago; whether they are in use is not asked."""
        before = time.time() - older_than
        for kind in ("sealed", "recorded"):
            with os.scandir(self._home.blobs / kind) as found:
                yield from (
                    f"{kind}:{item.name}"
                    for item in found
                    if _REF.fullmatch(f"{kind}:{item.name}") and item.stat().st_mtime <= before
                )

    def sweep_temporary(self, older_than: float) -> int:
        """Remove temporary files that a dead process left; return how many."""
        with Root(self._home.blobs) as root:
            return len(root.sweep(("sealed", "recorded"), older_than))

    def _store(self, kind: str, data: bytes) -> BlobRef:
        ref = f"{kind}:{self.keyed(data)}"
        path = self._home.blobs / kind / ref.partition(":")[2]
        try:
            # The touch keeps the sweep away for another hour, until an event refers to it.
            os.utime(path)
            if self.state(ref) == "whole":
                return ref
        except FileNotFoundError:
            pass
        try:
            self._write(path, data)
            faults.point("journal.blob_renamed")
        except FileRefused as error:
            raise _not_stored(error) from None
        except OSError as error:
            raise translate(error) or error from None
        self.damaged.discard(ref)
        return ref

    def _write(self, path: Path, data: bytes) -> None:
        with Root(path.parent) as root:
            staged = root.stage(path.name, data, 0o600)
            faults.point("journal.blob_written")
            try:
                root.commit(staged, lambda _: True)
            except BaseMoved:
                # Somebody stored the same bytes at the same moment.
                root.discard(staged)

    def _look(self, ref: BlobRef) -> tuple[bytes | None, State]:
        path = self._path(ref)
        if path is None:
            return None, "missing"
        try:
            data = read_bounded(path, LARGEST)
        except FileRefused:
            return None, self._damaged(ref)
        if data is None:
            return None, "missing"
        if not hmac.compare_digest(self.keyed(data), path.name):
            return None, self._damaged(ref)
        return data, "whole"

    def _damaged(self, ref: BlobRef) -> State:
        with self._lock:
            self.damaged.add(ref)
        return "damaged"

    def _path(self, ref: BlobRef) -> Path | None:
        match = _REF.fullmatch(ref)
        return self._home.blobs / match[1] / match[2] if match else None


def _not_stored(error: FileRefused) -> JournalFull | JournalFailed:
    what = "the bytes were not stored"
    is_full = error.errno is not None and isinstance(translate(OSError(error.errno, "")), JournalFull)
    return (JournalFull if is_full else JournalFailed)(what, error.why, error.remedy)
