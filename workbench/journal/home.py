"""The data folder of one user: where the database, blobs, locks, logs and the key are.

Owns the layout, who may use it, and the refusal of places where SQLite's locks or shared memory cannot be
relied on. It never opens the database.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Self

from workbench.effects.files import (
    BaseMoved,
    FileRefused,
    Root,
    private_folder,
    read_bounded,
    write_atomic,
)
from workbench.effects.mounts import network_mount
from workbench.journal.errors import HomeRefused, JournalCorrupt
from workbench.records import dataclass

KEY_BYTES: Final = 32
RESERVE_BYTES: Final = 1_000_000
FOLDERS: Final = ("run", "blobs", "blobs/sealed", "blobs/recorded", "logs")
DATABASE: Final = "journal.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A data folder that has passed every check."""

    path: Path
    """Links resolved."""
    key: bytes
    """32 random bytes; digests are HMAC-SHA-256 under it."""

    @classmethod
    def open(cls, path: Path | None = None, env: Mapping[str, str] = os.environ) -> Self:
        """Open the data folder, making what is missing.

        Args:
            path: The folder; if not given `WORKBENCH_HOME`, else the platform's data folder.
            env: The environment.

        Raises:
            HomeRefused: It cannot be used; says why and what to do.
            JournalCorrupt: Its key file is damaged.
        """
        wanted = (path or default_folder(env)).expanduser().absolute()
        _refuse_network(wanted)
        _refuse_kind(wanted)
        try:
            real = private_folder(wanted)
            for name in FOLDERS:
                private_folder(real / name)
            home = cls(path=real, key=_key(real))
            create_once(home.database, lambda: b"")
            home.restore_reserve()
        except FileRefused as error:
            raise HomeRefused(f"the data folder {wanted} was not opened", error.why, error.remedy) from None
        return home

    @property
    def database(self) -> Path:
        """The journal's database file."""
        return self.path / DATABASE

    @property
    def run(self) -> Path:
        """The folder of locks."""
        return self.path / "run"

    @property
    def blobs(self) -> Path:
        """The folder of stored bytes."""
        return self.path / "blobs"

    @property
    def logs(self) -> Path:
        """The folder of logs."""
        return self.path / "logs"

    @property
    def reserve(self) -> Path:
        """A file whose bytes are given up once when the disk is full, so that outcomes can be written."""
        return self.run / "reserve"

    def driver_lock(self, host_id: str) -> Path:
        """Return the lock that a driver holds for its life."""
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
        """Give the reserve up; True if there was one."""
        try:
            self.reserve.unlink()
        except OSError:
            return False
        return True


def create_once(path: Path, make: Callable[[], bytes]) -> None:
    """Create a private file unless it is there; of several processes exactly one content wins.

    Raises:
        FileRefused: It was not created.
    """
    if path.exists():
        return
    with Root(path.parent) as root:
        staged = root.stage(path.name, make(), 0o600)
        try:
            root.commit(staged, lambda found: found is None)
        except BaseMoved:
            return


def default_folder(env: Mapping[str, str]) -> Path:
    """Return where the data folder is, without touching it."""
    if named := env.get("WORKBENCH_HOME"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("workbench"))


def _refuse_network(path: Path) -> None:
    if kind := network_mount(path):
        raise HomeRefused(
            f"the data folder {path} was not opened",
            f"it lies on a network or foreign file system ({kind}), where the journal's locks do not hold",
            "set WORKBENCH_HOME to a folder on a local disk",
        )


def _refuse_kind(path: Path) -> None:
    what, elsewhere = f"the data folder {path} was not opened", "or set WORKBENCH_HOME to another folder"
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise HomeRefused(what, str(error.strerror), f"check the path {elsewhere}") from None
    if not path.is_dir():
        raise HomeRefused(what, "it is not a directory", f"move that file away {elsewhere}")
    if found.st_uid != os.geteuid():
        why = f"it belongs to user {found.st_uid}, this is user {os.geteuid()}"
        raise HomeRefused(what, why, f"run as its owner {elsewhere}")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        raise HomeRefused(what, "its file system is read-only", f"mount it for writing {elsewhere}")
    if not os.access(path, os.W_OK | os.X_OK):
        raise HomeRefused(what, "it is not writable", f"give yourself the permission {elsewhere}")


def _key(home: Path) -> bytes:
    path = home / "key"
    database = home / DATABASE
    # In this order: whoever fills a new database has made the key before.
    if database.exists() and database.stat().st_size and not path.exists():
        raise JournalCorrupt(
            f"the data folder {home} was not opened",
            "its key file is missing, and without it no stored digest can be checked",
            f"restore {path} from a backup, or use another WORKBENCH_HOME",
        )
    create_once(path, lambda: secrets.token_bytes(KEY_BYTES))
    key = read_bounded(path, 4096)
    if key is None or len(key) != KEY_BYTES:
        raise JournalCorrupt(
            f"the data folder {home} was not opened",
            f"its key file has {len(key or b'')} bytes instead of {KEY_BYTES}",
            f"restore {path} from a backup, or use another WORKBENCH_HOME",
        )
    return key
