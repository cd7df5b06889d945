"""A foreign file as a recording: taken into a data folder of its own that is gone when the replay is over.

Owns that folder from its making to its end, also the ones that a killed replay left. The user's own library
is touched only by `kept`, which is what `--keep` asks for.
"""

import contextlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from workbench.cli.console import Console
from workbench.cli.errors import Misuse, Refusal
from workbench.domain.rows import Session
from workbench.effects.locks import FileLock, is_held
from workbench.effects.refusal import FileRefused
from workbench.effects.trees import remove_tree
from workbench.journal.errors import GuardFailed
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.records import dataclass, replace
from workbench.text.safe import one_line

if TYPE_CHECKING:
    from workbench.cli.sessions.importing import Progress
    from workbench.formats.assembling import Summary
    from workbench.journal.importing import Intake

STDIN: Final = "-"
_PREFIX: Final = "workbench-replay-"
_LOCK: Final = "replay.lock"
_YOUNG: Final = 60.0
"""Seconds for which a folder without a held lock may be one that is just being made."""
_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A session that came out of a file, in a journal that is open."""

    home: Home
    journal: Journal
    session: Session
    remark: str
    """What is to be said about the file: how many sessions it has, what was not understood."""
    is_lent: bool = False
    """Whether the journal is gone when the replay is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What of which file is to be replayed."""

    file: str
    """Its path, or `-`."""
    format: str | None = None
    """The format that the user named; None looks into the file."""
    number: int | None = None
    """Which of its sessions, from 1; None takes the first."""


def is_path(given: str) -> bool:
    """Return whether an argument can only mean a file."""
    return given == STDIN or os.sep in given


@contextlib.contextmanager
def lent(wish: Wish, console: Console) -> Generator[Loan, None, None]:
    """Take a file into a data folder that is gone afterwards.

    Raises:
        Refusal: It cannot be read, or no session is in it.
    """
    _sweep()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        home = Home.open(folder)
        with FileLock(home.run / _LOCK) as lock:
            lock.try_acquire()
            with Journal.open(home) as journal:
                yield replace(taken(home, journal, wish, console), is_lent=True)
    finally:
        remove_tree(str(folder))


def taken(home: Home, journal: Journal, wish: Wish, console: Console) -> Loan:
    """Take a file into a journal, as an import does.

    Raises:
        Refusal: It cannot be read, or no session is in it; then nothing is left of it.
    """
    # What reads foreign files is loaded for them: a session of the library is on the screen without it.
    from workbench.cli.sessions.importing import Progress
    from workbench.journal.importing import Intake

    intake, progress = Intake(journal), Progress(console)
    try:
        summaries = _read(wish, intake, progress)
        intake.finish()
    except BaseException as error:
        intake.cancel()
        if why := _why_not(error):
            raise _refused(wish, why) from None
        raise
    finally:
        progress.clear()
    found = [one for one in summaries if journal.session(one.session_id) is not None]
    chosen = _chosen(wish, found)
    session = journal.session(chosen.session_id)
    if session is None:
        raise _refused(wish, "its session is not there any more")
    return Loan(home=home, journal=journal, session=session, remark=_remark(found, chosen, wish))


def _read(wish: Wish, intake: "Intake", progress: "Progress") -> "list[Summary]":
    from workbench.formats import taking

    with _stream(wish.file) as (stream, at):
        opened = taking.open_file(
            progress.counted(stream, wish.file), wish.file, at, wish.format, store=intake.store,
            current_id=intake.current_id, recorded_at=intake.now,
        )  # fmt: skip
        for event in opened.events:
            intake.add(event)
        return opened.summaries


@contextlib.contextmanager
def _stream(given: str) -> Generator[tuple[BinaryIO, int], None, None]:
    if given == STDIN:
        yield sys.stdin.buffer, time.time_ns() // 1_000
        return
    from workbench.formats.recognising import NotRecognised

    path = Path(given).expanduser()
    found = path.stat()
    # Looked at before it is opened: a pipe that nobody writes to would be waited for.
    if not stat.S_ISREG(found.st_mode):
        raise NotRecognised("it is no regular file")
    with path.open("rb") as stream:
        yield stream, int(found.st_mtime * 1_000_000)


def _why_not(error: BaseException) -> str:
    from workbench.formats.recognising import NotRecognised

    match error:
        case NotRecognised():
            return str(error)
        case GuardFailed():
            return error.why
        case OSError():
            return error.strerror or str(error)
        case _:
            return ""


def _refused(wish: Wish, why: str) -> Refusal:
    shown = "stdin" if wish.file == STDIN else one_line(wish.file, 120)
    remedy = (
        "workbench sessions import --dry-run FILE says more, workbench sessions list --all shows sessions"
    )
    return Refusal(f"“{shown}” was not replayed", why, remedy)


def _chosen(wish: Wish, found: "list[Summary]") -> "Summary":
    if not found:
        raise _refused(wish, "no session is in it")
    number = 1 if wish.number is None else wish.number
    if not 1 <= number <= len(found):
        what = "1 session is" if len(found) == 1 else f"{len(found)} sessions are"
        raise Misuse("nothing was replayed", f"{what} in that file", f"name one from 1 to {len(found)}")
    return found[number - 1]


def _remark(found: "list[Summary]", chosen: "Summary", wish: Wish) -> str:
    parts: list[str] = []
    if len(found) > 1 and wish.number is None:
        names = ", ".join(one_line(one.title, 40) or one.key[:20] for one in found[:_NAMED])
        more = ", …" if len(found) > _NAMED else ""
        parts.append(f"{len(found)} sessions are in it ({names}{more}); --number 2 shows the next.")
    if count := len(chosen.problems):
        what = "1 place" if count == 1 else f"{count} places"
        parts.append(f"{what} of it could not be read as its format says; sessions import lists them.")
    return " ".join(parts)


# --- what killed replays left -----------------------------------------------------------------------


def _sweep() -> None:
    """Remove folders of replays that are not there any more: of this user, and held by nobody."""
    with contextlib.suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError, FileRefused):
                if _is_left(folder):
                    remove_tree(str(folder))


def _is_left(folder: Path) -> bool:
    found = folder.lstat()
    is_mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_mine and time.time() - found.st_mtime > _YOUNG and not is_held(folder / "run" / _LOCK)
