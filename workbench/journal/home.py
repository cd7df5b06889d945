"""The data folder of one user: layout, access checks, key, and the blobs stored beside the database.

Refuses places where SQLite's locks do not hold. Blobs are named by their keyed digest: `recorded` for
scrubbed text, `sealed` for exact bytes. Never opens the database.
"""

import hashlib
import hmac
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, Self

from msgspec import Struct

from workbench.domain.values import BlobRef
from workbench.effects import fault_points
from workbench.effects.file_primitives import BaseMoved, FileRefused
from workbench.effects.files import Root
from workbench.effects.mounts import network_mount
from workbench.effects.path_files import private_folder, read_bounded, write_atomic
from workbench.journal.errors import HomeRefused, JournalCorrupt, JournalFailed, JournalFull, as_journal_error

KEY_BYTES: Final = 32
RESERVE_BYTES: Final = 1_000_000
HOME_FOLDERS: Final = ("run", "blobs", "blobs/sealed", "blobs/recorded", "jobs", "logs")
DATABASE_NAME: Final = "journal.db"


class Home(Struct, frozen=True, kw_only=True):
    """A data folder that has passed every check."""

    path: Path
    """Links resolved."""
    key: bytes
    """32 random bytes; digests are HMAC-SHA-256 under it."""

    @classmethod
    def open(cls, path: Path | None = None, env: Mapping[str, str] = os.environ) -> Self:
        """Open the data folder, making what is missing.

        `path`: the folder; if not given `WORKBENCH_HOME`, else the platform's data folder. Raises
        HomeRefused: it cannot be used; says why and what to do; JournalCorrupt: its key file is damaged.
        """
        requested = (path or default_home_path(env)).expanduser().absolute()
        _refuse_network(requested)
        _refuse_unusable_folder(requested)
        try:
            real = private_folder(requested)
            for name in HOME_FOLDERS:
                private_folder(real / name)
            home = cls(path=real, key=_load_key(real))
            create_file_once(home.database, lambda: b"")
            home.restore_reserve()
        except FileRefused as error:
            raise HomeRefused(
                f"the data folder {requested} was not opened", error.why, error.remedy
            ) from None
        return home

    @property
    def database(self) -> Path:
        return self.path / DATABASE_NAME

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def blobs(self) -> Path:
        return self.path / "blobs"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def ask_logs(self) -> Path:
        """The folder of the logs of commands that were made of words."""
        return self.path / "ask" / "logs"

    @property
    def reserve(self) -> Path:
        """A file whose bytes are given up once when the disk is full, so that outcomes can be written."""
        return self.run / "reserve"

    def driver_lock(self, host_id: str) -> Path:
        return self.run / f"driver-{host_id}.lock"

    def restore_reserve(self) -> bool:
        """Make the reserve again if it was used up; False if the disk has no room for it."""
        if self.reserve.exists():
            return True
        try:
            # Random, so that a file system that compresses has to keep the whole megabyte.
            write_atomic(self.reserve, secrets.token_bytes(RESERVE_BYTES))
        except FileRefused:
            return False
        return True

    def free_reserve(self) -> bool:
        try:
            self.reserve.unlink()
        except OSError:
            return False
        return True


def create_file_once(path: Path, make: Callable[[], bytes]) -> None:
    """Create a private file unless it is there; of several processes exactly one content wins.

    Raises FileRefused: it was not created.
    """
    if path.exists():
        return
    with Root(path.parent) as root:
        staged = root.stage(path.name, make(), 0o600)
        try:
            root.commit(staged, lambda data: data is None)
        except BaseMoved:
            return


def default_home_path(env: Mapping[str, str]) -> Path:
    if configured := env.get("WORKBENCH_HOME"):
        return Path(configured)
    import platformdirs

    return Path(platformdirs.user_data_dir("workbench"))


def _refuse_network(path: Path) -> None:
    if kind := network_mount(path):
        raise HomeRefused(
            f"the data folder {path} was not opened",
            f"it lies on a network or foreign file system ({kind}), where the journal's locks do not hold",
            "set WORKBENCH_HOME to a folder on a local disk",
        )


def _refuse_unusable_folder(path: Path) -> None:
    failure, elsewhere = f"the data folder {path} was not opened", "or set WORKBENCH_HOME to another folder"
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeRefused(failure, str(error.strerror), f"check the path {elsewhere}") from None
    if not path.is_dir():
        raise HomeRefused(failure, "it is not a directory", f"move that file away {elsewhere}")
    if status.st_uid != os.geteuid():
        why = f"it belongs to user {status.st_uid}, this is user {os.geteuid()}"
        raise HomeRefused(failure, why, f"run as its owner {elsewhere}")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        raise HomeRefused(failure, "its file system is read-only", f"mount it for writing {elsewhere}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise HomeRefused(failure, "it is not writable", f"give yourself the permission {elsewhere}")


def _load_key(home: Path) -> bytes:
    path = home / "key"
    database = home / DATABASE_NAME
    # In this order: whoever fills a new database has made the key before.
    if database.exists() and database.stat().st_size and not path.exists():
        raise JournalCorrupt(
            f"the data folder {home} was not opened",
            "its key file is missing, and without it no stored digest can be checked",
            f"restore {path} from a backup, or use another WORKBENCH_HOME",
        )
    create_file_once(path, lambda: secrets.token_bytes(KEY_BYTES))
    key = read_bounded(path, 4096)
    if key is None or len(key) != KEY_BYTES:
        raise JournalCorrupt(
            f"the data folder {home} was not opened",
            f"its key file has {len(key or b'')} bytes instead of {KEY_BYTES}",
            f"restore {path} from a backup, or use another WORKBENCH_HOME",
        )
    return key


BlobState = Literal["whole", "missing", "damaged"]
LARGEST_BLOB: Final = 1 << 30
_BLOB_REF: Final = re.compile(r"(sealed|recorded):([0-9a-f]{64})", re.ASCII)


class BlobStore:
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

        Raises JournalFull: the disk is full; JournalFailed: they were not stored.
        """
        return self._store("sealed", data)

    def record(self, data: bytes) -> BlobRef:
        """Store scrubbed bytes; the same bytes twice are one file.

        Raises JournalFull: the disk is full; JournalFailed: they were not stored.
        """
        return self._store("recorded", data)

    def read(self, ref: BlobRef) -> bytes | None:
        """Return the bytes of a blob; None if it is missing or damaged (`state` says which)."""
        return self._look(ref)[0]

    def state(self, ref: BlobRef) -> BlobState:
        return self._look(ref)[1]

    def has(self, ref: BlobRef) -> bool:
        """Return whether there is a file for a blob, without reading it."""
        path = self._path(ref)
        return path is not None and path.is_file()

    def size(self, ref: BlobRef) -> int:
        """Return the bytes of a blob's file, 0 where there is none."""
        path = self._path(ref)
        try:
            return path.stat().st_size if path is not None else 0
        except OSError:
            return 0

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
            with os.scandir(self._home.blobs / kind) as entries:
                yield from (
                    f"{kind}:{item.name}"
                    for item in entries
                    if _BLOB_REF.fullmatch(f"{kind}:{item.name}") and item.stat().st_mtime <= before
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
            fault_points.fault_point("journal.blob_renamed")
        except FileRefused as error:
            raise _blob_not_stored(error) from None
        except OSError as error:
            raise as_journal_error(error) or error from None
        self.damaged.discard(ref)
        return ref

    def _write(self, path: Path, data: bytes) -> None:
        with Root(path.parent) as root:
            staged = root.stage(path.name, data, 0o600)
            fault_points.fault_point("journal.blob_written")
            try:
                root.commit(staged, lambda _: True)
            except BaseMoved:
                # Somebody stored the same bytes at the same moment.
                root.discard(staged)

    def _look(self, ref: BlobRef) -> tuple[bytes | None, BlobState]:
        path = self._path(ref)
        if path is None:
            return None, "missing"
        try:
            data = read_bounded(path, LARGEST_BLOB)
        except FileRefused:
            return None, self._damaged(ref)
        if data is None:
            return None, "missing"
        if not hmac.compare_digest(self.keyed(data), path.name):
            return None, self._damaged(ref)
        return data, "whole"

    def _damaged(self, ref: BlobRef) -> BlobState:
        with self._lock:
            self.damaged.add(ref)
        return "damaged"

    def _path(self, ref: BlobRef) -> Path | None:
        match = _BLOB_REF.fullmatch(ref)
        return self._home.blobs / match[1] / match[2] if match else None


def _blob_not_stored(error: FileRefused) -> JournalFull | JournalFailed:
    failure = "the bytes were not stored"
    is_full = error.errno is not None and isinstance(as_journal_error(OSError(error.errno, "")), JournalFull)
    return (JournalFull if is_full else JournalFailed)(failure, error.why, error.remedy)
