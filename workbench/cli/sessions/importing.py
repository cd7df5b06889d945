"""`workbench sessions import`: take in sessions of other programs, recognised by what is in the files.

Owns which files are read, the progress that is shown, and the report. Nothing in a file is ever run. Ctrl+C
takes back what was stored.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol, cast

from workbench.cli.console import Console
from workbench.cli.errors import DONE, FAILED, Misuse
from workbench.cli.lookup import short
from workbench.cli.place import opened
from workbench.cli.render.facts import Facts
from workbench.cli.sessions.sources import Source, sources
from workbench.domain.events import Event
from workbench.formats import own, recognising, taking
from workbench.formats.assembling import Summary
from workbench.formats.foreign import Problem
from workbench.formats.recognising import NotRecognised
from workbench.host.ancestry import refuse_inside_agents
from workbench.journal.errors import GuardFailed
from workbench.journal.importing import Intake
from workbench.journal.journal import Journal
from workbench.text.human import size
from workbench.text.safe import one_line

EXAMPLE = """workbench sessions import ~/.claude/projects
workbench sessions import rollout.jsonl --dry-run
cat session.json | workbench sessions import -"""

MOST_PROBLEMS: Final = 1_000
"""Problems of one session that are listed in JSON; a person sees the first 5."""

_SHOWN: Final = 5
_PAUSE: Final = 0.2


@dataclass(slots=True)
class FileReport:
    """What came of one file."""

    name: str
    is_named: bool = True
    format: str = ""
    why_not: str = ""
    sessions: list[Summary] = field(default_factory=list[Summary])
    strays: list[Problem] = field(default_factory=list[Problem])
    kept: list[str] = field(default_factory=list[str])
    """Sessions of it that stay as they were, in words."""


def configure(parser: ArgumentParser) -> None:
    """Add the files and how they are read."""
    parser.add_argument("files", nargs="+", metavar="FILE|DIR|-", help="files, folders, or - for stdin")
    parser.add_argument(
        "--format",
        choices=sorted(recognising.names()),
        metavar="F",
        help="do not guess: " + ", ".join(recognising.names()),
    )
    parser.add_argument("--dry-run", action="store_true", help="read and report, store nothing")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute(options: Namespace, console: Console) -> int:
    """Import; 1 when a file that was named could not be read."""
    if options.files.count("-") > 1:
        raise Misuse("nothing was imported", "- is there twice", "stdin can be read once")
    progress = Progress(console)
    keys: dict[str, str] = {}
    if options.dry_run:
        reports = [_read(one, options.format, None, progress) for one in sources(options.files)]
        added: dict[str, int] = {}
    else:
        reports, added, keys = _stored(options, progress)
    progress.clear()
    if options.json:
        console.json(_facts(reports, added, is_dry=options.dry_run))
    else:
        _tell(console, reports, keys, added, is_dry=options.dry_run)
    return FAILED if any(report.why_not and report.is_named for report in reports) else DONE


def _stored(
    options: Namespace, progress: "Progress"
) -> tuple[list[FileReport], dict[str, int], dict[str, str]]:
    with opened() as (home, journal):
        refuse_inside_agents(journal, home, "import sessions")
        reports, added = taken(journal, options.files, options.format, progress)
        ids = {one.session_id for report in reports for one in report.sessions}
        return reports, added, {key: short(journal, key) for key in ids}


def taken(
    journal: Journal, names: list[str], form: str | None, progress: "Counting"
) -> tuple[list[FileReport], dict[str, int]]:
    """Take files and folders in; whatever goes wrong takes all of it back.

    Returns:
        What came of each file, and how many events each session got, below 0 where it was there before.
    """
    intake = Intake(journal)
    try:
        reports = [_read(one, form, intake, progress) for one in sources(names)]
        intake.finish()
    except BaseException:
        progress.clear()
        intake.cancel()
        raise
    # A session that was there is in `added` only if it got something.
    fresh = set(intake.begun)
    return reports, {key: count if key in fresh else -count for key, count in intake.added.items()}


def _read(source: Source, wanted: str | None, intake: Intake | None, progress: "Counting") -> FileReport:
    report = FileReport(name=source.name, is_named=source.is_named)
    begun = len(intake.begun) if intake else 0
    try:
        if source.name == "-":
            _take(sys.stdin.buffer, time.time_ns() // 1_000, report, wanted, intake, progress)
        else:
            stream, changed = source.open()
            with stream:
                _take(stream, changed, report, wanted, intake, progress)
        if intake is not None:
            _settle(intake, report)
    except NotRecognised as error:
        report.why_not = str(error)
    except GuardFailed as error:
        report.why_not, report.sessions = error.why, []
        if intake is not None:
            intake.drop(begun)
    except OSError as error:
        report.why_not = error.strerror or str(error)
    if not report.sessions and not report.why_not:
        report.why_not = f"it looks like {report.format}, but no session begins in it"
    return report


def _settle(intake: Intake, report: FileReport) -> None:
    """Store what may be refused, and say which sessions stay as they are because the file is older."""
    if report.format == own.NAME:
        intake.flush()  # only our own files may be refused for what is in their events
    kept = set(intake.end_file())
    for one in report.sessions:
        if one.session_id in kept:
            report.kept.append(f"{one.title or one.key}: this file is older than what is there, which stays")


def _take(
    stream: BinaryIO, at: int, report: FileReport, wanted: str | None, intake: Intake | None,
    progress: "Counting",
) -> None:  # fmt: skip
    found = taking.open_file(
        progress.counted(stream, report.name), report.name, at, wanted,
        store=intake.store if intake else lambda _: None,
        current_id=intake.current_id if intake else lambda key: key,
        recorded_at=intake.now if intake else None,
        is_elsewhere=intake.is_elsewhere if intake else own.no_other,
    )  # fmt: skip
    report.format, report.sessions, report.strays = found.format, found.summaries, found.strays
    for event in found.events:
        _keep(event, intake)


def _keep(event: Event, intake: Intake | None) -> None:
    if intake is not None:
        intake.add(event)


class Counting(Protocol):
    """Who is told how much is read."""

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        """Return the stream, with what is read of it counted."""
        ...

    def clear(self) -> None:
        """Say nothing more."""
        ...


class Progress:
    """One line on stderr that says how far it is; only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_shown = console.err.isatty()
        self._begin = self._last = time.monotonic()
        self._bytes = 0
        self._width = 0

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        """Return the stream, with what is read of it counted."""
        return cast("BinaryIO", taking.Counted(stream, lambda count: self._note(count, name)))

    def _note(self, count: int, name: str) -> None:
        self._bytes += count
        now = time.monotonic()
        if not self._is_shown or now - self._last < _PAUSE:
            return
        self._last = now
        speed = self._bytes / max(0.001, now - self._begin)
        text = f"{size(self._bytes)} read, {size(int(speed))}/s  {one_line(Path(name).name, 40)}"
        self._console.err.write("\r" + text.ljust(self._width))
        self._console.err.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._console.err.write("\r" + " " * self._width + "\r")
            self._console.err.flush()
            self._width = 0


# --- the report -----------------------------------------------------------------------------------


def _word(summary: Summary, added: dict[str, int], *, is_dry: bool) -> str:
    if is_dry:
        return "read"
    count = added.get(summary.session_id, 0)
    return "imported" if count > 0 else "grown" if count < 0 else "unchanged"


def _facts(reports: list[FileReport], added: dict[str, int], *, is_dry: bool) -> Facts:
    return {
        "dry_run": is_dry,
        "sessions": [
            {
                "id": one.session_id, "foreign_id": one.key, "title": one.title, "format": report.format,
                "file": report.name, "result": _word(one, added, is_dry=is_dry), "events": one.events,
                "added": abs(added.get(one.session_id, 0)), "not_understood": one.kept,
                "problem_count": len(one.problems), "problems": _problems(one.problems),
            }
            for report in reports
            for one in report.sessions
        ],
        "files": [
            {"file": report.name, "format": report.format or None, "why_not": report.why_not or None,
             "kept": list(report.kept), "problems": _problems(report.strays)}
            for report in reports
        ],
    }  # fmt: skip


def _problems(found: list[Problem]) -> list[Facts]:
    return [{"line": one.line, "why": one.why} for one in found[:MOST_PROBLEMS]]


def _tell(
    console: Console, reports: list[FileReport], keys: dict[str, str], added: dict[str, int], *, is_dry: bool
) -> None:
    for report in reports:
        for one in report.sessions:
            word = _word(one, added, is_dry=is_dry)
            title = one_line(one.title, 60) or one.key[:40]
            key = keys.get(one.session_id, one.session_id[:8])
            console.say(f"{word:<9}  {key}  {report.format:<14} {one.events:>6} events  {title}")
            _tell_problems(console, report.name, one.problems)
        _tell_problems(console, report.name, report.strays)
        for words in report.kept:
            console.note(f"  {_named(report.name)}: {one_line(words, 160)}")
    _tell_left_out(console, reports)
    sessions = [one for report in reports for one in report.sessions]
    kept = sum(one.kept for one in sessions)
    left = f", {_counted(kept, 'record')} not understood and kept" if kept else ""
    console.say(f"{_counted(len(sessions), 'session')} in {_counted(len(reports), 'file')}{left}.")


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _tell_left_out(console: Console, reports: list[FileReport]) -> None:
    """Name every file that was asked for and the first of those that lay in a folder."""
    left = [report for report in reports if report.why_not]
    found = [report for report in left if not report.is_named]
    for report in [*(one for one in left if one.is_named), *found[:_SHOWN]]:
        console.note(f"Not imported: {one_line(report.name, 120)}: {one_line(report.why_not, 200)}.")
    if len(found) > _SHOWN:
        console.note(f"Not imported: {len(found) - _SHOWN} more files of the folder; --json names them.")


def _named(name: str) -> str:
    return "stdin" if name == "-" else one_line(Path(name).name, 60)


def _tell_problems(console: Console, name: str, problems: list[Problem]) -> None:
    shown = _named(name)
    for one in problems[:_SHOWN]:
        console.note(f"  {shown} line {one.line}: {one_line(one.why, 160)}")
    if len(problems) > _SHOWN:
        console.note(f"  … and {len(problems) - _SHOWN} more; --json lists them")
