"""The errors of the journal: each says what did not happen, why, and what to do.

Errors of SQLite and the operating system are translated here and nowhere else.
"""

import errno
from typing import Final

import apsw


class JournalError(Exception):
    """Something that the journal did not do.

    `what`: what did not happen. `why`: the reason. `remedy`: what the reader can do.
    """

    def __init__(self, what: str, why: str, remedy: str) -> None:
        super().__init__(what, why, remedy)
        self.what, self.why, self.remedy = what, why, remedy

    def __str__(self) -> str:
        return f"{self.what}: {self.why}; {self.remedy}"


class HomeRefused(JournalError):
    """The data folder cannot be used as it is."""


class JournalCorrupt(JournalError):
    """The database is damaged or no database."""


class JournalNewer(JournalError):
    """The database was written by a newer version of the program."""


class MigrationBlocked(JournalError):
    """The database must be migrated, but somebody drives sessions in it."""


class JournalBusy(JournalError):
    """Another process kept the database locked for too long."""


class JournalFull(JournalError):
    """The disk is full; nothing of the call was written."""


class JournalFailed(JournalError):
    """The disk or the database reported an error; nothing of the call was written."""


class JournalClosed(JournalError):
    """The journal of this process is closed."""


class GuardFailed(JournalError):
    """What the producer relied on does not hold; nothing of the call was written."""


class AgentsAreHeld(GuardFailed):
    """Every call of every agent asks now, and no human answered for this one."""


class LeaseLost(GuardFailed):
    """Another driver owns the session now."""


class SessionUnknown(GuardFailed):
    """There is no such session, or it was deleted."""


class SessionEnded(GuardFailed):
    """The session has ended and takes no more events."""


class EventConflict(GuardFailed):
    """An event with this id and other content is in the journal."""


class BlobMissing(GuardFailed):
    """An event names bytes that are not stored."""


class SessionDriven(JournalError):
    """Another process drives the session.

    `pid`: its process id. `driver`: `host` or `run`. `host_id`: its id among the drivers. `undone`: what was
    not done with the session: `taken`, `deleted`.
    """

    def __init__(self, session_id: str, pid: int, driver: str, host_id: str, undone: str = "taken") -> None:
        super().__init__(
            f"session {session_id} was not {undone}",
            f"it is run by {'a background process' if driver == 'host' else 'workbench run'} (pid {pid})",
            "wait until that ends, or stop it",
        )
        self.session_id, self.pid, self.driver, self.host_id = session_id, pid, driver, host_id
        self.undone = undone

    def __reduce__(self) -> tuple[type["SessionDriven"], tuple[str, int, str, str, str]]:
        return SessionDriven, (self.session_id, self.pid, self.driver, self.host_id, self.undone)


_DISK_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NOTHING_WRITTEN: Final = "nothing was written to the journal"


def as_journal_error(error: BaseException) -> JournalError | None:
    """Put an error of SQLite or the operating system into words; None for any other.

    A full disk and a spent quota become `JournalFull`, whoever reports them.
    """
    if isinstance(error, JournalError):
        return error
    if isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno in _DISK_FULL_ERRNOS):
        return JournalFull(_NOTHING_WRITTEN, "the disk is full", "free some space and do it again")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return JournalCorrupt(_NOTHING_WRITTEN, f"the database is damaged ({error})", "run workbench doctor")
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return JournalBusy(_NOTHING_WRITTEN, "another process holds the database", "do it again in a moment")
    if isinstance(error, apsw.SchemaChangeError):
        return JournalNewer(
            _NOTHING_WRITTEN, f"the database was changed ({error})", "start the program again"
        )
    if isinstance(error, apsw.Error | OSError):
        return JournalFailed(_NOTHING_WRITTEN, f"the disk or the database failed ({error})", "check the disk")
    return None
