"""Sessions in and out of files for the screen, by the functions of the command line.

Owns the words about what an import brought. Nothing in a file is ever run.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from workbench.cli.sessions.export import printed
from workbench.cli.sessions.importing import FileReport, taken
from workbench.domain.rows import Session
from workbench.effects.private import write_atomic
from workbench.formats.taking import Counted
from workbench.journal.journal import Journal
from workbench.text.safe import one_line
from workbench.tui.services import NotDone

Told = Callable[[int, float, str], None]


def carry(journal: Journal, session: Session, form: str, target: Path) -> None:
    """Write a session to a file, whole or not at all."""
    text = "".join(f"{part}\n" for part in printed(journal, session, form))
    write_atomic(target, text.encode("utf-8", "backslashreplace"))


class _Telling:
    """Tells how much is read; what is told may raise, which takes the import back."""

    def __init__(self, told: Told) -> None:
        self._told, self._bytes, self._begin = told, 0, time.monotonic()

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        """Return the stream, with what is read of it told."""

        def note(count: int) -> None:
            self._bytes += count
            self._told(self._bytes, time.monotonic() - self._begin, name)

        return cast("BinaryIO", Counted(stream, note))

    def clear(self) -> None:
        """Say nothing more."""


def bring(journal: Journal, place: str, told: Told) -> str:
    """Import a file or folder and return what came of it.

    Raises:
        NotDone: No session was in it.
    """
    reports, added = taken(journal, [place], None, _Telling(told))
    sessions = [one for report in reports for one in report.sessions]
    why = next((report.why_not for report in reports if report.why_not), "")
    if not sessions:
        what = f": {one_line(why, 200)}" if why else ", no session was in it"
        raise NotDone(f"Nothing was imported{what}.")
    fresh = sum(added.get(one.session_id, 0) > 0 for one in sessions)
    grown = sum(added.get(one.session_id, 0) < 0 for one in sessions)
    parts = [f"{fresh} imported"] if fresh else []
    parts += [f"{grown} went on"] if grown else []
    parts += [f"{len(sessions) - fresh - grown} were here already"] if len(sessions) > fresh + grown else []
    return f"{', '.join(parts)}.{_left(reports)}"


def _left(reports: list[FileReport]) -> str:
    kept = sum(one.kept for report in reports for one in report.sessions)
    odd = sum(len(one.problems) for report in reports for one in report.sessions)
    odd += sum(len(report.strays) for report in reports)
    not_read = sum(bool(report.why_not) for report in reports)
    words = f" {kept} records were not understood and are kept." if kept else ""
    words += f" {not_read} files were none." if not_read else ""
    return words + (
        f" {odd} places had something wrong: workbench sessions import lists them." if odd else ""
    )
