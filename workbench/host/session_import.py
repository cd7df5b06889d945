"""Import of sessions from files: one file after the other, each whole or not at all, unchanged ones unopened.

The command, the screen and the background process import through `import_sources`; only one at a time does.
"""

# A file is noted as it was before it was opened: one that is written or replaced while it is read differs
# from that afterwards, and the next import reads it again.

import contextlib
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO, Final, Protocol

import msgspec
from msgspec import Struct, field

from workbench.domain.events import SessionCreated
from workbench.formats import detect, sanitize, workbench_sessions
from workbench.formats.assemble import READ_AS, ImportSummary
from workbench.formats.detect import UnknownFormat
from workbench.formats.import_sources import FileState, ImportSource, read_beside
from workbench.formats.json_fields import as_object
from workbench.formats.line_meter import PrefixChanged
from workbench.journal.errors import GuardFailed
from workbench.journal.imported_files import (
    ImportedFile,
    file_key,
    files_of_session,
    imported_files,
    store_imported_files,
)
from workbench.journal.imports import (
    SessionIdChoices,
    SessionIdTaken,
    SessionImport,
    import_turn,
    make_imports_durable,
)
from workbench.journal.journal import Journal
from workbench.text.problems import Problem

_MOST_NOTED: Final = 50
"""Files that are noted in one transaction."""
_NOTE_SECONDS: Final = 2.0
_OTHER_STORY: Final = "another session here has its id and says something else"
_REWRITTEN: Final = "this file says something else than what was here, ends later and replaced it"
_MOST_STORIES: Final = 20
"""Sessions of one id that are told apart."""
_DAY_NS: Final = 86_400_000_000_000


class ImportCancelled(Exception):
    """The user wants an import to stop; raised by what is told the progress."""


class FileReport(Struct):
    """What came of one file."""

    name: str
    is_named: bool = True
    format: str = ""
    why_not: str = ""
    is_unchanged: bool = False
    """Whether it was not opened, because it is as it was."""
    sessions: list[ImportSummary] = field(default_factory=list[ImportSummary])
    strays: list[Problem] = field(default_factory=list[Problem])
    kept: list[str] = field(default_factory=list[str])
    """What is to be said of its sessions, in words: those that stay as they were."""
    left_out: int = 0
    """Sessions of it that were not imported: left out by the settings, deleted here, or followed."""
    followed: int = 0
    """Those of them that are recorded while their agent works."""
    deleted: tuple[str, ...] = ()
    """Ids of those that were deleted here."""
    point: detect.ResumePoint | None = None
    """From where the file is read on when it has grown."""


class ImportRequest(Struct, frozen=True, kw_only=True):
    """How files are to be imported."""

    format: str | None = None
    """The format that the user named; None detects it."""
    is_again: bool = False
    """Whether unchanged files are read as well."""
    returns_deleted: bool = True
    """Whether sessions that were deleted here come back: only for who names their file."""
    leaves_out: Callable[[SessionCreated], bool] = lambda _: False
    """Whether a session stays outside, by what its beginning says."""
    left_out_mark: str = ""
    """Changes with what `leaves_out` answers."""
    most_days: int = 0
    """Age in days from which files stay outside; 0 takes all."""


class ImportResult(Struct):
    """What came of an import."""

    reports: list[FileReport] = field(default_factory=list[FileReport])
    added: dict[str, int] = field(default_factory=dict[str, int])
    """How many events each session got, below 0 where it was there before."""
    unchanged: int = 0
    """Files that were not opened."""
    too_old: int = 0
    """Files that are older than what is kept."""
    is_cancelled: bool = False

    @property
    def left_out(self) -> int:
        """Return how many sessions of files that were read stay outside."""
        return sum(report.left_out for report in self.reports)

    @property
    def followed(self) -> int:
        """Return how many of them are recorded while their agent works."""
        return sum(report.followed for report in self.reports)


class ImportProgress(Protocol):
    """Who is told how far an import is; what it raises ends the import."""

    def begin(self, files: int, size: int) -> None:
        """Take how many files are read, and their bytes together."""
        ...

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO: ...

    def file_done(self) -> None: ...

    def wait(self) -> None:
        """Say that another import has to end first; called again and again until it has."""
        ...

    def clear(self) -> None:
        """Say nothing more."""
        ...


class SilentProgress:
    """Says nothing; `stops` ends the import between two reads."""

    def __init__(self, stops: Callable[[], bool] = lambda: False) -> None:
        self._stops = stops

    def begin(self, files: int, size: int) -> None:
        del files, size

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        del name
        return detect.counting_stream(stream, lambda _: self.wait())

    def file_done(self) -> None:
        self.wait()

    def wait(self) -> None:
        if self._stops():
            raise ImportCancelled

    def clear(self) -> None:
        pass


def import_sources(
    journal: Journal, sources: Iterable[ImportSource], request: ImportRequest, progress: ImportProgress
) -> ImportResult:
    """Import what has changed, one file at a time; who ends it takes back the file that is being read.

    Waits while another import is under way. `is_cancelled` of the result says whether ctrl+c or the progress
    ended it. Raises JournalError: it could not be stored; files that were finished before stay.
    """
    result = ImportResult(is_cancelled=True)
    with contextlib.suppress(ImportCancelled, KeyboardInterrupt), import_turn(journal, progress.wait):
        work = _Import(journal, sources, request, progress, result)
        try:
            work.run()
            result.is_cancelled = False
        finally:
            progress.clear()
            work.note_files()
            make_imports_durable(journal)
    return result


class ImportPlan:
    """What of some sources is new since they were imported last; nothing is opened for it."""

    def __init__(
        self, journal: Journal, request: ImportRequest, sources: Sequence[ImportSource] | None = None
    ) -> None:
        """Look up what is known of some sources, or of all."""
        self._journal, self._request = journal, request
        is_few = sources is not None and len(sources) <= _MOST_NOTED
        keys = [file_key(journal, source.name) for source in sources or ()] if is_few else None
        self._known_files = imported_files(journal, keys)
        self._imported_ids = _imported_ids(journal) if request.returns_deleted else set[str]()
        self._oldest = time.time_ns() - request.most_days * _DAY_NS if request.most_days else 0

    def is_too_old(self, state: FileState | None) -> bool:
        return state is not None and state.modified_ns < self._oldest

    def unchanged(self, source: ImportSource, state: FileState | None) -> ImportedFile | None:
        """Return what is known of a source that is as it was when it was read; None where it is due."""
        row = self._known_files.get(file_key(self._journal, source.name))
        if row is None or state is None or self._request.is_again or self._request.format is not None:
            return None
        is_same = (row.size, row.modified_ns, row.inode) == (state.size, state.modified_ns, state.inode)
        if not is_same or row.read_by not in self._read_marks(row):
            return None
        if source.is_named and not row.sessions:
            return None  # it is said again why
        if self._request.returns_deleted and not self._imported_ids.issuperset(row.sessions):
            return None
        return row

    def point(self, source: ImportSource, state: FileState | None) -> detect.ResumePoint | None:
        """Return from where a source that grew is read on; None where it is read from its start."""
        row = self._known_files.get(file_key(self._journal, source.name))
        if row is None or state is None or not row.point or self._request.is_again or self._request.format:
            return None
        is_grown = row.inode == state.inode and row.size < state.size
        if not is_grown or row.read_by not in self._read_marks(row):
            return None
        if self._request.returns_deleted and not self._imported_ids.issuperset(row.sessions):
            return None
        try:
            return msgspec.json.decode(row.point, type=detect.ResumePoint)
        except ValueError:
            return None

    def _read_marks(self, row: ImportedFile) -> tuple[str, ...]:
        return (
            (_reader_mark(), _reader_mark(self._request.left_out_mark or "-"))
            if row.format
            else (_reader_mark(_format_mark()),)
        )


class _Import:
    """The files of one import, while it has the turn."""

    def __init__(
        self, journal: Journal, sources: Iterable[ImportSource], request: ImportRequest,
        progress: ImportProgress, result: ImportResult,
    ) -> None:  # fmt: skip
        self._journal, self._request, self._progress, self._result = journal, request, progress, result
        self._sources = list(sources)
        self._plan = ImportPlan(journal, request, self._sources)
        self._read_files: list[ImportedFile] = []
        self._noted_at = time.monotonic()

    def run(self) -> None:
        due = list(self._due())
        self._progress.begin(len(due), sum(state.size for _, state in due if state))
        new_ids: set[str] = set()
        added: Counter[str] = Counter()
        try:
            for source, state in due:
                report, intake = self._import(source, self._plan.point(source, state))
                self._result.reports.append(report)
                new_ids.update(intake.new_sessions)
                added.update(intake.added)
                self._note(source, state, report)
                self._progress.file_done()
        finally:
            # A session that was there is in `added` only if it got something.
            self._result.added = {
                key: count if key in new_ids else -count for key, count in added.items() if count
            }

    def _import(
        self, source: ImportSource, point: detect.ResumePoint | None
    ) -> tuple[FileReport, SessionImport]:
        """Import a file; it is read again where it holds another session under an id that is taken.

        `point`: where to read on; a file whose beginning changed is read from its start.
        """
        id_choices = SessionIdChoices(lambda session_id: self._is_in_another_file(session_id, source))
        if point and len(files_of_session(self._journal, point.state.session_id)) > 1:
            point = None
        for _ in range(_MOST_STORIES):
            intake = SessionImport(
                self._journal, returns_deleted=self._request.returns_deleted,
                leaves_out=self._request.leaves_out, id_choices=id_choices,
            )  # fmt: skip
            try:
                report = _import_source(source, self._request.format, intake, self._progress, point)
            except PrefixChanged:
                point = None
                continue
            except SessionIdTaken as other:
                id_choices.add(other)
                if source.name == "-":
                    break  # it cannot be read once more
                continue
            report.kept += [
                f"{session.title or session.key}: {_OTHER_STORY}; both stay"
                for session in report.sessions
                if session.session_id in id_choices.ids
            ]
            report.kept += [
                f"{session.title or session.key}: {_REWRITTEN}"
                for session in report.sessions
                if session.session_id in intake.rewritten and not self._rewrites(report, session.session_id)
            ]
            return report, intake
        report = FileReport(name=source.name, is_named=source.is_named, why_not=_OTHER_STORY)
        return report, SessionImport(self._journal)

    def _is_in_another_file(self, session_id: str, source: ImportSource) -> bool:
        """Return whether a session was read from other files only, or from another one that is as it was."""
        own_key, rows = file_key(self._journal, source.name), files_of_session(self._journal, session_id)
        return (bool(rows) and all(row.key != own_key for row in rows)) or any(
            row.key != own_key and state is not None and row.size == state.size
            for row in rows
            for state in (state_of(ImportSource(name=row.path)),)
        )

    def _rewrites(self, report: FileReport, session_id: str) -> bool:
        """Return whether an agent rewrote its own file, which is usual."""
        own_key = file_key(self._journal, report.name)
        is_ours = report.format == workbench_sessions.FORMAT_NAME
        return not is_ours and any(row.key == own_key for row in files_of_session(self._journal, session_id))

    def _due(self) -> Iterator[tuple[ImportSource, FileState | None]]:
        for source in self._sources:
            state = state_of(source)
            if self._plan.is_too_old(state):
                self._result.too_old += 1
            elif (row := self._plan.unchanged(source, state)) is None:
                yield source, state
            else:
                self._result.unchanged += 1
                if row.sessions:
                    self._result.reports.append(_unchanged_report(self._journal, source, row))

    def _note(self, source: ImportSource, state: FileState | None, report: FileReport) -> None:
        if state is None or self._request.format is not None:
            return
        is_known = bool(report.sessions or report.left_out)
        extra = self._request.left_out_mark or "-" if report.left_out else ""
        row = ImportedFile(
            key=file_key(self._journal, source.name), path=sanitize.sanitize_line(source.name),
            agent=source.agent, format=report.format if is_known else "", size=state.size,
            modified_ns=state.modified_ns, inode=state.inode,
            read_by=_reader_mark(extra if is_known else _format_mark()),
            sessions=(*(session.session_id for session in report.sessions), *report.deleted),
            point=_point_text(report),
        )  # fmt: skip
        self._read_files.append(row)
        report.point = None  # it is noted, and of thousands of files it would stay
        if len(self._read_files) >= _MOST_NOTED or time.monotonic() - self._noted_at > _NOTE_SECONDS:
            self.note_files()

    def note_files(self) -> None:
        """Remember how the files were that were read so far."""
        store_imported_files(self._journal, self._read_files)
        self._read_files, self._noted_at = [], time.monotonic()


def _point_text(report: FileReport) -> str:
    """Return from where a grown file is read on; empty where some of it was not imported."""
    is_whole = report.point is not None and not (report.left_out or report.kept or report.deleted)
    return msgspec.json.encode(report.point).decode() if is_whole else ""


def _reader_mark(extra: str = "") -> str:
    """Return the version of the reader, with what else decides what it takes from a file."""
    return f"{READ_AS} {extra}" if extra else str(READ_AS)


def _format_mark() -> str:
    """Return a mark that changes with the formats that are known, so that unknown files are tried again."""
    return f"{zlib.crc32(' '.join(detect.format_names()).encode()):08x}"


def _imported_ids(journal: Journal) -> set[str]:
    with journal.snapshot() as database:
        return {row[0] for row in database.execute("SELECT id FROM session WHERE origin IS NOT NULL")}


def state_of(source: ImportSource) -> FileState | None:
    """Return the state of a source; None of one that has none, or cannot be looked at."""
    try:
        return source.state()
    except OSError:
        return None  # opening it says why


def _unchanged_report(journal: Journal, source: ImportSource, row: ImportedFile) -> FileReport:
    sessions = [_stored_summary(journal, key) for key in row.sessions]
    return FileReport(
        name=source.name, is_named=source.is_named, format=row.format, is_unchanged=True,
        sessions=[session for session in sessions if session is not None],
    )  # fmt: skip


def _stored_summary(journal: Journal, session_id: str) -> ImportSummary | None:
    session = journal.session(session_id)
    if session is None:
        return None
    facts = as_object(session.configuration.get("import")) or {}
    key = facts.get("id")
    with journal.snapshot() as database:
        count = "SELECT max(sequence_number) FROM event WHERE session_id = ?"
        events = database.execute(count, (session_id,)).get or 0
    return ImportSummary(
        session_id=session_id, key=key if isinstance(key, str) else session_id, title=session.title,
        events=events,
    )  # fmt: skip


def _import_source(
    source: ImportSource, format_name: str | None, intake: SessionImport, progress: ImportProgress,
    point: detect.ResumePoint | None,
) -> FileReport:  # fmt: skip
    try:
        if point and not intake.resume(point.state.session_id, point.state.last_event):
            point = None
        report = read_source(source, format_name, progress, intake, point)
        intake.finish(is_durable=False)
    except BaseException:
        intake.cancel()
        raise
    return report


def read_source(
    source: ImportSource, format_name: str | None, progress: ImportProgress,
    intake: SessionImport | None = None, point: detect.ResumePoint | None = None,
) -> FileReport:  # fmt: skip
    """Read a source into an import, or to see what is in it where nothing is to be stored."""
    report = FileReport(name=source.name, is_named=source.is_named)
    begun = len(intake.new_sessions) if intake else 0
    try:
        if source.name == "-":
            _read_stream(sys.stdin.buffer, time.time_ns() // 1_000, report, format_name, intake, progress)
        else:
            stream, changed = source.open()
            with stream:
                _read_stream(stream, changed, report, format_name, intake, progress, point)
        if intake is not None:
            _finish_file(intake, report)
    except UnknownFormat as error:
        report.why_not = str(error)
    except GuardFailed as error:
        report.why_not, report.sessions = error.why, []
        if intake is not None:
            intake.drop(begun)
    except OSError as error:
        report.why_not = error.strerror or str(error)
    if not report.sessions and not report.why_not and not report.left_out:
        report.why_not = f"it looks like {report.format}, but no session starts in it"
    return report


def _finish_file(intake: SessionImport, report: FileReport) -> None:
    if report.format == workbench_sessions.FORMAT_NAME:
        intake.flush()  # only our own files may be refused for what is in their events
    older_ids = set(intake.end_file())
    for session in report.sessions:
        if session.session_id in older_ids:
            report.kept.append(
                f"{session.title or session.key}: this file is older than what is there, which stays"
            )
    excluded = [session for session in report.sessions if session.session_id in intake.left_out]
    report.left_out = len(excluded)
    report.followed = sum(session.session_id in intake.followed for session in excluded)
    report.deleted = tuple(s.session_id for s in excluded if s.session_id in intake.deleted)
    report.sessions = [session for session in report.sessions if session not in excluded]


def _read_stream(
    stream: BinaryIO, time_us: int, report: FileReport, format_name: str | None, intake: SessionImport | None,
    progress: ImportProgress, point: detect.ResumePoint | None = None,
) -> None:  # fmt: skip
    opened = detect.open_file(
        progress.counted(stream, report.name), report.name, time_us, format_name,
        store=intake.store if intake else lambda _: None,
        current_id=intake.current_id if intake else lambda key: key,
        recorded_at=intake.now if intake else None,
        is_elsewhere=intake.is_elsewhere if intake else workbench_sessions.never_elsewhere,
        beside=lambda path: read_beside(report.name, path),
        seal=intake.seal if intake else bytes.hex, point=point,
        is_paid=intake.is_paid if intake else lambda _session, _request: False,
    )  # fmt: skip
    report.format, report.sessions, report.strays = opened.format, opened.summaries, opened.strays
    for event in opened.events:
        if intake is not None:
            intake.add(event)
    report.point = opened.point
