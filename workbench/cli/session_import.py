"""`workbench sessions import`: import sessions of other programs, recognized by the contents of the files."""

import io
import os
import re
import stat
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from msgspec import Struct, field

from workbench.cli.console import Console
from workbench.cli.context import open_journal, short_id
from workbench.cli.errors import EXIT_FAILED, EXIT_OK, UsageError
from workbench.cli.rows import JsonFields
from workbench.domain.events import Event
from workbench.formats import detect, opencode, workbench_sessions
from workbench.formats.assemble import ImportSummary
from workbench.formats.detect import UnknownFormat
from workbench.formats.input import MOST_DOCUMENT
from workbench.formats.neighbours import is_told_with_another, read_beside
from workbench.formats.records import FileProblem
from workbench.host.host_locks import refuse_inside_agents
from workbench.journal.errors import GuardFailed
from workbench.journal.imports import SessionImport, import_turn, make_imports_durable
from workbench.journal.journal import Journal
from workbench.text.human import counted, size_text
from workbench.text.safe import one_line

IMPORT_EXAMPLE = """workbench sessions import ~/.claude/projects
workbench sessions import rollout.jsonl --dry-run
cat session.json | workbench sessions import -"""
MOST_PROBLEMS: Final = 1_000
"""Problems of one session that are listed in JSON; a person sees the first 5."""
_MOST_PROBLEMS_SHOWN: Final = 5
_PROGRESS_SECONDS: Final = 0.2


class FileReport(Struct):
    """What came of one file."""

    name: str
    is_named: bool = True
    format: str = ""
    why_not: str = ""
    sessions: list[ImportSummary] = field(default_factory=list[ImportSummary])
    strays: list[FileProblem] = field(default_factory=list[FileProblem])
    kept: list[str] = field(default_factory=list[str])
    """Sessions of it that stay as they were, in words."""


def configure_import(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE|DIR|-", help="files, folders, or - for stdin")
    parser.add_argument(
        "--format",
        choices=sorted(detect.format_names()),
        metavar="F",
        help="the format (default: detected): " + ", ".join(detect.format_names()),
    )
    parser.add_argument("--dry-run", action="store_true", help="read and report, store nothing")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute_import(options: Namespace, console: Console) -> int:
    """Import; 1 when a file that was named could not be read."""
    if options.files.count("-") > 1:
        raise UsageError("nothing was imported", "- is there twice", "stdin can be read once")
    progress = ProgressLine(console)
    keys: dict[str, str] = {}
    if options.dry_run:
        reports = [
            _read_source(source, options.format, None, progress) for source in find_sources(options.files)
        ]
        added: dict[str, int] = {}
    else:
        reports, added, keys = _import_into_journal(options, progress)
    progress.clear()
    if options.json:
        console.json(_import_json(reports, added, is_dry=options.dry_run))
    else:
        _print_reports(console, reports, keys, added, is_dry=options.dry_run)
    return EXIT_FAILED if any(report.why_not and report.is_named for report in reports) else EXIT_OK


def _import_into_journal(
    options: Namespace, progress: "ProgressLine"
) -> tuple[list[FileReport], dict[str, int], dict[str, str]]:
    with open_journal() as (home, journal):
        refuse_inside_agents(journal, home, "import sessions")
        reports, added = import_paths(journal, options.files, options.format, progress)
        ids = {session.session_id for report in reports for session in report.sessions}
        return reports, added, {key: short_id(journal, key) for key in ids}


def import_paths(
    journal: Journal, names: list[str], form: str | None, progress: "ImportProgress"
) -> tuple[list[FileReport], dict[str, int]]:
    """Import files and folders, one file at a time; what goes wrong takes back the file that is being read.

    Waits while another import is under way. Returns what came of each file, and how many events each
    session got, below 0 where it was there before.
    """
    reports: list[FileReport] = []
    added: Counter[str] = Counter()
    fresh: set[str] = set()
    with import_turn(journal, progress.wait):
        try:
            for source in find_sources(names):
                intake = SessionImport(journal)
                reports.append(_import_source(source, form, intake, progress))
                fresh.update(intake.begun)
                added.update(intake.added)
        finally:
            progress.clear()
            make_imports_durable(journal)
    # A session that was there is in `added` only if it got something.
    return reports, {key: count if key in fresh else -count for key, count in added.items() if count}


def _import_source(
    source: "ImportSource", form: str | None, intake: SessionImport, progress: "ImportProgress"
) -> FileReport:
    try:
        report = _read_source(source, form, intake, progress)
        intake.finish(is_durable=False)
    except BaseException:
        intake.cancel()
        raise
    return report


class ImportSource(Struct, frozen=True, kw_only=True):
    """Something that may hold sessions."""

    name: str
    is_named: bool
    """Whether it was named itself, and not found below a folder."""
    open: Callable[[], tuple[BinaryIO, int]]
    """Opens it: its bytes, and when it was changed in microseconds.

    Raises:
        OSError: It cannot be read.
        NotRecognised: It is nothing that is read.
    """


def _read_source(
    source: ImportSource, wanted: str | None, intake: SessionImport | None, progress: "ImportProgress"
) -> FileReport:
    report = FileReport(name=source.name, is_named=source.is_named)
    begun = len(intake.begun) if intake else 0
    try:
        if source.name == "-":
            _read_stream(sys.stdin.buffer, time.time_ns() // 1_000, report, wanted, intake, progress)
        else:
            stream, changed = source.open()
            with stream:
                _read_stream(stream, changed, report, wanted, intake, progress)
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
    if not report.sessions and not report.why_not:
        report.why_not = f"it looks like {report.format}, but no session starts in it"
    return report


def _finish_file(intake: SessionImport, report: FileReport) -> None:
    if report.format == workbench_sessions.FORMAT_NAME:
        intake.flush()  # only our own files may be refused for what is in their events
    kept = set(intake.end_file())
    for session in report.sessions:
        if session.session_id in kept:
            report.kept.append(
                f"{session.title or session.key}: this file is older than what is there, which stays"
            )


def _read_stream(
    stream: BinaryIO, time_us: int, report: FileReport, wanted: str | None, intake: SessionImport | None,
    progress: "ImportProgress",
) -> None:  # fmt: skip
    opened = detect.open_file(
        progress.counted(stream, report.name), report.name, time_us, wanted,
        store=intake.store if intake else lambda _: None,
        current_id=intake.current_id if intake else lambda key: key,
        recorded_at=intake.now if intake else None,
        is_elsewhere=intake.is_elsewhere if intake else workbench_sessions.never_elsewhere,
        beside=lambda path: read_beside(report.name, path),
    )  # fmt: skip
    report.format, report.sessions, report.strays = opened.format, opened.summaries, opened.strays
    for event in opened.events:
        _store_event(event, intake)


def _store_event(event: Event, intake: SessionImport | None) -> None:
    if intake is not None:
        intake.add(event)


class ImportProgress(Protocol):
    """Who is told how much is read."""

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO: ...

    def wait(self) -> None:
        """Say that another import has to end first; called again and again until it has."""
        ...

    def clear(self) -> None:
        """Say nothing more."""
        ...


class ProgressLine:
    """One line on stderr that says how far it is; only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_shown = console.err.isatty()
        self._begin = self._last = time.monotonic()
        self._bytes = 0
        self._width = 0

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        return cast("BinaryIO", detect.CountingStream(stream, lambda count: self._note(count, name)))

    def _note(self, count: int, name: str) -> None:
        self._bytes += count
        now = time.monotonic()
        if not self._is_shown or now - self._last < _PROGRESS_SECONDS:
            return
        self._last = now
        speed = self._bytes / max(0.001, now - self._begin)
        text = f"{size_text(self._bytes)} read, {size_text(int(speed))}/s  {one_line(Path(name).name, 40)}"
        self._write(text)

    def _write(self, text: str) -> None:
        self._console.err.write("\r" + text.ljust(self._width))
        self._console.err.flush()
        self._width = len(text)

    def wait(self) -> None:
        if self._is_shown and not self._width:
            self._write("Waiting for another import to end.")

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._console.err.write("\r" + " " * self._width + "\r")
            self._console.err.flush()
            self._width = 0


# --- the report -----------------------------------------------------------------------------------


def _result_word(summary: ImportSummary, added: dict[str, int], *, is_dry: bool) -> str:
    if is_dry:
        return "read"
    count = added.get(summary.session_id, 0)
    return "imported" if count > 0 else "grown" if count < 0 else "unchanged"


def _import_json(reports: list[FileReport], added: dict[str, int], *, is_dry: bool) -> JsonFields:
    return {
        "dry_run": is_dry,
        "sessions": [
            {
                "id": session.session_id, "foreign_id": session.key, "title": session.title,
                "format": report.format, "file": report.name,
                "result": _result_word(session, added, is_dry=is_dry), "events": session.events,
                "added": abs(added.get(session.session_id, 0)), "not_understood": session.kept,
                "problem_count": len(session.problems), "problems": _problems_json(session.problems),
            }
            for report in reports
            for session in report.sessions
        ],
        "files": [
            {"file": report.name, "format": report.format or None, "why_not": report.why_not or None,
             "kept": list(report.kept), "problems": _problems_json(report.strays)}
            for report in reports
        ],
    }  # fmt: skip


def _problems_json(problems: list[FileProblem]) -> list[JsonFields]:
    return [{"line": problem.line, "why": problem.why} for problem in problems[:MOST_PROBLEMS]]


def _print_reports(
    console: Console, reports: list[FileReport], keys: dict[str, str], added: dict[str, int], *, is_dry: bool
) -> None:
    for report in reports:
        for session in report.sessions:
            word = _result_word(session, added, is_dry=is_dry)
            title = one_line(session.title, 60) or session.key[:40]
            key = keys.get(session.session_id, session.session_id[:8])
            console.say(f"{word:<9}  {key}  {report.format:<14} {session.events:>6} events  {title}")
            _print_problems(console, report.name, session.problems)
        _print_problems(console, report.name, report.strays)
        for words in report.kept:
            console.note(f"  {_display_name(report.name)}: {one_line(words, 160)}")
    _print_left_out(console, reports)
    sessions = [session for report in reports for session in report.sessions]
    kept = sum(session.kept for session in sessions)
    left = f", {counted(kept, 'record')} not understood and kept" if kept else ""
    console.say(f"{counted(len(sessions), 'session')} in {counted(len(reports), 'file')}{left}.")


def _print_left_out(console: Console, reports: list[FileReport]) -> None:
    left = [report for report in reports if report.why_not]
    unnamed = [report for report in left if not report.is_named]
    for report in [*(report for report in left if report.is_named), *unnamed[:_MOST_PROBLEMS_SHOWN]]:
        console.note(f"Not imported: {one_line(report.name, 120)}: {one_line(report.why_not, 200)}.")
    if len(unnamed) > _MOST_PROBLEMS_SHOWN:
        more = len(unnamed) - _MOST_PROBLEMS_SHOWN
        console.note(f"Not imported: {more} more files of the folder; --json names them.")


def _display_name(name: str) -> str:
    return "stdin" if name == "-" else one_line(Path(name).name, 60)


def _print_problems(console: Console, name: str, problems: list[FileProblem]) -> None:
    shown = _display_name(name)
    for problem in problems[:_MOST_PROBLEMS_SHOWN]:
        console.note(f"  {shown} line {problem.line}: {one_line(problem.why, 160)}")
    if len(problems) > _MOST_PROBLEMS_SHOWN:
        console.note(f"  … and {len(problems) - _MOST_PROBLEMS_SHOWN} more; --json lists them")


_SKIPPED_FOLDERS: Final = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_STORE_FOLDERS: Final = ("session", "message", "part")
_PIECE_FOLDERS: Final = ("project", "todo", "session_diff", "session_share", "share", *_STORE_FOLDERS)
_EVENT_FILE: Final = re.compile(r"(?:event-)?(\d{1,9})(?:-[\w-]+)?\.json\Z")
"""Files of OpenHands: `7.json` in older versions, `event-00007-<id>.json` in newer ones."""


def find_sources(names: list[str]) -> Iterator[ImportSource]:
    """Yield what there is to read; `-` is left to the caller."""
    for name in names:
        path = Path(name)
        if name != "-" and path.is_dir():
            yield from _sources_below(path)
        elif name != "-" and (root := _store_of_file(path)):
            yield _store_session(root, path, is_named=True)
        else:
            yield _file_source(name, is_named=True)


def _file_source(name: str, *, is_named: bool) -> ImportSource:
    return ImportSource(name=name, is_named=is_named, open=lambda: _open_file(Path(name)))


def _open_file(path: Path) -> tuple[BinaryIO, int]:
    # Without O_NONBLOCK a named pipe would be waited for; what is no file is refused below.
    stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    about = os.fstat(stream.fileno())
    if not stat.S_ISREG(about.st_mode):
        stream.close()
        raise UnknownFormat("it is not a regular file")
    changed = int(about.st_mtime * 1_000_000)
    log = path.with_name(f"{path.name}-wal")
    if about.st_size <= MOST_DOCUMENT and log.is_file() and stream.read(16) == opencode.SQLITE_MAGIC:
        stream.seek(0)
        with stream:
            return io.BytesIO(opencode.apply_write_ahead_log(stream.read(), _read_document(log))), changed
    stream.seek(0)
    return stream, changed


def _read_document(path: Path) -> bytes:
    with path.open("rb") as stream:
        data = stream.read(MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        raise UnknownFormat(f"{path.name} is over {MOST_DOCUMENT >> 20} MB")
    return data


def _sources_below(folder: Path) -> Iterator[ImportSource]:
    for here, folders, names in os.walk(folder):
        place = Path(here)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        if _is_opencode_store(place):
            yield from _store_sources(place)
            folders[:] = [name for name in folders if name not in _PIECE_FOLDERS]
        files = [name for name in sorted(names) if stat.S_ISREG((place / name).lstat().st_mode)]
        if place.name in ("events", "event_stream") and (numbered := _numbered_names(files)):
            yield _event_folder_source(place, numbered)
            files = [name for name in files if name not in numbered]
        for name in files:
            if not name.endswith(("-wal", "-shm")) and not is_told_with_another(name, names):
                yield _file_source(str(place / name), is_named=False)


# --- OpenCode: session/<project>/<id>.json, message/<session>/<id>.json, part/<message>/<id>.json ---


def _is_opencode_store(place: Path) -> bool:
    return all((place / name).is_dir() for name in _STORE_FOLDERS)


def _store_of_file(path: Path) -> Path | None:
    root = path.parent.parent.parent
    is_one = path.suffix == ".json" and path.parent.parent.name == "session" and _is_opencode_store(root)
    return root if is_one else None


def _store_sources(root: Path) -> Iterator[ImportSource]:
    for path in sorted((root / "session").glob("*/*.json")):
        yield _store_session(root, path, is_named=False)


def _store_session(root: Path, path: Path, *, is_named: bool) -> ImportSource:
    return ImportSource(name=str(path), is_named=is_named, open=lambda: _assemble_session(root, path))


def _assemble_session(root: Path, path: Path) -> tuple[BinaryIO, int]:
    messages = _piece_files(root / "message" / path.stem)
    parts = (
        (_read_document(message), map(_read_document, _piece_files(root / "part" / message.stem)))
        for message in messages
    )
    changed = max(file.stat().st_mtime for file in (path, *messages))
    return io.BytesIO(opencode.session_document(_read_document(path), parts)), int(changed * 1_000_000)


def _piece_files(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names, which rise with time."""
    return sorted(path for path in folder.glob("*.json") if path.is_file() and not path.is_symlink())


# --- OpenHands: one file an event -------------------------------------------------------------------


def _numbered_names(names: list[str]) -> list[str]:
    numbered = [(int(match[1]), name) for name in names if (match := _EVENT_FILE.match(name))]
    return [name for _, name in sorted(numbered)]


def _event_folder_source(place: Path, names: list[str]) -> ImportSource:
    return ImportSource(name=str(place), is_named=False, open=lambda: _joined_events(place, names))


def _joined_events(place: Path, names: list[str]) -> tuple[BinaryIO, int]:
    lines = (b" ".join(_read_document(place / name).split()) for name in names)
    changed = max((place / name).stat().st_mtime for name in names)
    return io.BytesIO(b"\n".join(lines) + b"\n"), int(changed * 1_000_000)
