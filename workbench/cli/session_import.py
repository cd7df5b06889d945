"""`workbench sessions import`: import sessions of other programs, recognized by the contents of the files.

Without a file every agent's folder on this machine is asked about once. A line on stderr tells how far it
is: files, bytes, rate, time to go; only on a terminal.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.cli.arguments import add_json_option, add_yes_option
from workbench.cli.console import Console
from workbench.cli.context import short_id
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields
from workbench.config.sections import SessionSettings
from workbench.effects.files import workspace_path
from workbench.formats import detect
from workbench.formats.agent_folders import AGENTS
from workbench.formats.assemble import ImportSummary
from workbench.formats.detect import counting_stream
from workbench.formats.import_sources import find_sources
from workbench.host.import_choice import (
    FoundHistory,
    LeftOut,
    delete_expired_imports,
    found_histories,
    import_rate,
    import_request,
    leave_out,
    session_settings,
)
from workbench.host.session_import import (
    FileReport,
    ImportResult,
    import_sources,
    read_source,
)
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.text.human import counted, duration_text, size_text
from workbench.text.problems import Problem
from workbench.text.safe import one_line

_PROGRESS_SECONDS: Final = 0.2


class ProgressLine:
    """One line on stderr that says how far it is; only on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begin = self._last = time.monotonic()
        self._bytes = self._all_bytes = self._files = self._all_files = 0
        self._is_shown = False

    def begin(self, files: int, size: int) -> None:
        self._begin, self._all_files, self._all_bytes = time.monotonic(), files, size

    def counted(self, stream: BinaryIO, name: str) -> BinaryIO:
        return counting_stream(stream, lambda count: self._note(count, name))

    def file_done(self) -> None:
        self._files += 1

    def _note(self, count: int, name: str) -> None:
        self._bytes += count
        now = time.monotonic()
        if now - self._last < _PROGRESS_SECONDS:
            return
        self._last, self._is_shown = now, True
        self._console.status(self._words(now - self._begin, name))

    def _words(self, seconds: float, name: str) -> str:
        speed = self._bytes / max(0.001, seconds)
        words = f"{size_text(int(speed))}/s"
        if not self._all_files:
            return f"{size_text(self._bytes)} read, {words}  {one_line(Path(name).name, 40)}"
        left = max(0, self._all_bytes - self._bytes) / max(1.0, speed)
        done = f"{self._files:,} of {counted(self._all_files, 'file')}"
        size = f"{size_text(self._bytes)} of {size_text(max(self._all_bytes, self._bytes))}"
        return f"{done}, {size}, {words}, {duration_text(left, counts_on=True)} to go"

    def wait(self) -> None:
        if not self._is_shown:
            self._is_shown = True
            self._console.status("Waiting for another import to end.")

    def clear(self) -> None:
        """Take the line away."""
        self._console.clear_status()
        self._is_shown = False


_LETTERS: Final = "abcdefghijklmoprstuvwxyz"
"""Of rows; n is no, and q ends other questions."""


class ImportAnswer(Struct, frozen=True, kw_only=True):
    """What was answered to the question."""

    is_yes: bool
    left_out: tuple[str, ...] = ()
    """What is left out from now on: agents, folders, patterns."""
    problem: str = ""
    """Why it was not understood; asked again then."""


def import_found(options: Namespace, console: Console) -> int:
    """Show what agents have here, ask once, and import what is new."""
    with open_journal(human_only="import sessions") as journal:
        settings, workspace = session_settings(journal.home), workspace_path(options.directory)
        histories = found_histories(journal, settings, workspace, is_again=options.again)
        seconds = _estimated_seconds(histories)
        if options.dry_run:
            facts: JsonFields = {"dry_run": True, **_preview_json(histories, seconds)}
            return console.result(facts, _preview_lines(histories, seconds), is_json=options.json)
        if not options.yes:
            _require_terminal(options, console, histories)
            console.say_lines(_preview_lines(histories, seconds))
            settings, is_yes = _ask_until_clear(journal.home, settings, histories, console)
            if not is_yes:
                console.say("Nothing was imported.")
                return EXIT_OK
        selected = _chosen(histories, LeftOut(settings.leave_out))
        request = import_request(settings, is_again=options.again, is_found=True)
        sources = (source for history in selected for source in history.due)
        result = import_sources(journal, sources, request, ProgressLine(console))
        result.unchanged += sum(history.files - len(history.due) for history in selected)
        preview = _preview_json(histories, seconds)
        finish_import(console, journal, settings, result, is_json=options.json, more=preview)
    return exit_code(result)


def _chosen(histories: Sequence[FoundHistory], left_out: LeftOut) -> list[FoundHistory]:
    return [
        history for history in histories if not (history.is_left_out or left_out.has_history(history.folder))
    ]


def _estimated_seconds(histories: Sequence[FoundHistory]) -> float:
    size = sum(history.due_size for history in histories)
    return size / import_rate(histories) if size else 0.0


def _require_terminal(options: Namespace, console: Console, histories: Sequence[FoundHistory]) -> None:
    if not any(history.due for history in histories):
        return
    if options.json or not console.can_ask:
        files = sum(len(history.due) for history in histories)
        why = f"{counted(files, 'new file')} of agents would be read, and there is no terminal to ask at"
        raise UsageError(
            "nothing was imported", why, "say so with --yes; --preview shows what would be imported"
        )


def _preview_json(histories: Sequence[FoundHistory], seconds: float) -> JsonFields:
    return {
        "folders": [
            {
                "agent": history.folder.agent, "path": history.folder.path, "files": history.files,
                "bytes": history.size, "new_files": len(history.due), "new_bytes": history.due_size,
                "is_left_out": history.is_left_out,
            }
            for history in histories
        ],
        "estimated_seconds": round(seconds, 1),
    }  # fmt: skip


def _preview_lines(histories: Sequence[FoundHistory], seconds: float) -> list[str]:
    if not histories:
        names = ", ".join(dict.fromkeys(agent.title for agent in AGENTS))
        return [
            "No sessions of other agents were found on this machine.",
            f"Looked for: {names}. A file or folder elsewhere can be named.",
        ]
    letters = _letters(histories)
    width = max(len(history.folder.title) for history in histories)
    places = [_short_path(history.folder.path) for history in histories]
    wide = max(map(len, places))
    rows = [
        f"  {letter}  {history.folder.title:<{width}}  {place:<{wide}}  {counted(history.files, 'file'):>12}"
        f"  {size_text(history.size):>8}  {_new_words(history)}"
        for letter, history, place in zip(letters, histories, places, strict=True)
    ]
    files, size = (
        sum(len(history.due) for history in histories),
        sum(history.due_size for history in histories),
    )
    if not files:
        return [*rows, "Everything is imported already; --again reads all files again."]
    return [*rows, f"{counted(files, 'file')} to read, {size_text(size)}, about {duration_text(seconds)}."]


def _letters(histories: Sequence[FoundHistory]) -> list[str]:
    return [_LETTERS[index] if index < len(_LETTERS) else " " for index in range(len(histories))]


def _short_path(path: str) -> str:
    home = str(Path.home())
    return one_line(f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path, 60)


def _new_words(history: FoundHistory) -> str:
    if history.is_left_out:
        return "left out (sessions.leave_out)"
    if len(history.due) == history.files:
        return "all new"
    return f"{len(history.due):,} new, {size_text(history.due_size)}" if history.due else "nothing new"


# --- the question ---------------------------------------------------------------------------------


def _ask_until_clear(
    home: Home, settings: SessionSettings, histories: Sequence[FoundHistory], console: Console
) -> tuple[SessionSettings, bool]:
    """Ask, remember what is left out, and return the settings as they are then."""
    if not any(history.due for history in histories):
        return settings, bool(histories)
    while True:
        console.write(
            "Import? enter all, letters leave out an agent, ~/folder or *name* a project, n nothing: "
        )
        line = sys.stdin.readline()
        answer = read_answer(line if line else "n", histories)
        if not answer.problem:
            break
        console.say(answer.problem)
    if answer.is_yes and answer.left_out:
        path = leave_out(home, answer.left_out)
        console.say(f"Left out from now on: {', '.join(answer.left_out)} (sessions.leave_out in {path}).")
        settings = replace(settings, leave_out=(*settings.leave_out, *answer.left_out))
    return settings, answer.is_yes


def read_answer(line: str, histories: Sequence[FoundHistory]) -> ImportAnswer:
    """Return what a line means: empty is yes, `n` no; letters and paths leave out what they name."""
    text = line.strip()
    if text.lower() in ("n", "no", "q", "quit"):
        return ImportAnswer(is_yes=False)
    if text.lower() in ("", "y", "yes"):
        return ImportAnswer(is_yes=True)
    rows = dict(zip(_letters(histories), histories, strict=True))
    left_out: list[str] = []
    for word in text.replace(",", " ").split():
        if any(character in word for character in "/*?["):
            left_out.append(word)
        elif set(word.lower()) <= set(rows):
            left_out += [_entry_for(rows[letter], histories) for letter in word.lower()]
        else:
            problem = f"“{one_line(word, 40)}” is neither letters of these rows nor a folder (with / or *)."
            return ImportAnswer(is_yes=False, problem=problem)
    return ImportAnswer(is_yes=True, left_out=tuple(dict.fromkeys(left_out)))


def _entry_for(history: FoundHistory, histories: Sequence[FoundHistory]) -> str:
    """Return what leaves a row out: its agent, or its folder where another row is of the same agent."""
    folder = history.folder
    titles = {other.folder.title for other in histories if other.folder.agent == folder.agent}
    return folder.agent if len(titles) == 1 else folder.path


IMPORT_EXAMPLE = """workbench sessions import
workbench sessions import --preview
workbench sessions import ~/.claude/projects
workbench sessions import rollout.jsonl --dry-run
cat session.json | workbench sessions import -"""
MOST_PROBLEMS: Final = 1_000
"""Problems of one session that are listed in JSON; a person sees the first 5."""
_MOST_PROBLEMS_SHOWN: Final = 5
_MOST_SESSIONS_SHOWN: Final = 40
"""Sessions of folders that are listed one by one; more are counted."""


def configure_import(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE|DIR|-",
        help="files, folders, or - for stdin; without any, the sessions of every agent found on this machine",
    )  # fmt: skip
    parser.add_argument(
        "--format",
        choices=sorted(detect.format_names()),
        metavar="F",
        help="the format (default: detected): " + ", ".join(detect.format_names()),
    )
    parser.add_argument("--again", action="store_true", help="read files that have not changed as well")
    parser.add_argument(
        "--dry-run",
        "--preview",
        action="store_true",
        dest="dry_run",
        help="show what would be imported, store nothing",
    )
    add_yes_option(parser)
    add_json_option(parser)


def execute_import(options: Namespace, console: Console) -> int:
    """Import; 1 when a file that was named could not be read."""
    if not options.files:
        if options.format is not None:
            raise UsageError("nothing was imported", "--format is about a file", "name one")
        return import_found(options, console)
    if options.files.count("-") > 1:
        raise UsageError("nothing was imported", "- is there twice", "stdin can be read once")
    progress = ProgressLine(console)
    if options.dry_run:
        sources = find_sources(options.files)
        reports = [read_source(source, options.format, progress) for source in sources]
        progress.clear()
        report_import(console, ImportResult(reports=reports), {}, is_dry=True, is_json=options.json)
        return exit_code(ImportResult(reports=reports))
    with open_journal(human_only="import sessions") as journal:
        settings = session_settings(journal.home)
        request = import_request(settings, format_name=options.format, is_again=options.again)
        result = import_sources(journal, find_sources(options.files), request, progress)
        finish_import(console, journal, settings, result, is_json=options.json)
    return exit_code(result)


def finish_import(
    console: Console, journal: Journal, settings: SessionSettings, result: ImportResult, *, is_json: bool,
    more: JsonFields | None = None,
) -> None:  # fmt: skip
    """Delete what is kept no longer, and say what came of an import; `more` stands in the JSON as well."""
    expired = delete_expired_imports(journal, settings.keep_imported_days)
    ids = {session.session_id for report in result.reports for session in report.sessions}
    shown_ids = ids if len(ids) <= _MOST_SESSIONS_SHOWN else set[str]()
    keys = {key: short_id(journal, key) for key in shown_ids}
    facts: JsonFields = {**(more or {}), "expired": expired}
    report_import(console, result, keys, is_dry=False, is_json=is_json, more=facts)
    if expired and not is_json:
        days = counted(settings.keep_imported_days, "day")
        console.say(
            f"Deleted {counted(expired, 'imported session')} older than {days} (sessions.keep_imported_days)."
        )


def exit_code(result: ImportResult) -> int:
    if result.is_cancelled:
        return EXIT_INTERRUPTED
    is_bad = any(report.why_not and report.is_named for report in result.reports)
    return EXIT_FAILED if is_bad else EXIT_OK


# --- the report -----------------------------------------------------------------------------------


def report_import(
    console: Console, result: ImportResult, keys: dict[str, str], *, is_dry: bool, is_json: bool,
    more: JsonFields | None = None,
) -> None:  # fmt: skip
    """Print what came of an import, as one JSON object or as lines."""
    if is_json:
        console.json({**_import_json(result, is_dry=is_dry), **(more or {})})
    else:
        _print_reports(console, result, keys, is_dry=is_dry)


def _result_word(report: FileReport, summary: ImportSummary, added: dict[str, int], *, is_dry: bool) -> str:
    if is_dry:
        return "read"
    count = 0 if report.is_unchanged else added.get(summary.session_id, 0)
    return "imported" if count > 0 else "grown" if count < 0 else "unchanged"


def _import_json(result: ImportResult, *, is_dry: bool) -> JsonFields:
    added = result.added
    return {
        "dry_run": is_dry,
        "sessions": [
            {
                "id": session.session_id, "foreign_id": session.key, "title": session.title,
                "format": report.format, "file": report.name,
                "result": _result_word(report, session, added, is_dry=is_dry), "events": session.events,
                "added": 0 if report.is_unchanged else abs(added.get(session.session_id, 0)),
                "not_understood": session.kept,
                "problem_count": len(session.problems), "problems": _problems_json(session.problems),
            }
            for report in result.reports
            for session in report.sessions
        ],
        "files": [
            {"file": report.name, "format": report.format or None, "why_not": report.why_not or None,
             "is_unchanged": report.is_unchanged, "left_out": report.left_out, "followed": report.followed,
             "kept": list(report.kept), "problems": _problems_json(report.strays)}
            for report in result.reports
        ],
        "unchanged_files": result.unchanged, "too_old": result.too_old, "left_out": result.left_out,
        "followed": result.followed, "is_cancelled": result.is_cancelled,
    }  # fmt: skip


def _problems_json(problems: list[Problem]) -> list[JsonFields]:
    return [{"line": problem.line, "why": problem.message} for problem in problems[:MOST_PROBLEMS]]


def _print_reports(console: Console, result: ImportResult, keys: dict[str, str], *, is_dry: bool) -> None:
    reports = [report for report in result.reports if not report.is_unchanged]
    sessions = [(report, session) for report in reports for session in report.sessions]
    is_listed = len(sessions) <= _MOST_SESSIONS_SHOWN or is_dry or any(report.is_named for report in reports)
    for report in reports:
        for session in report.sessions if is_listed else ():
            word = _result_word(report, session, result.added, is_dry=is_dry)
            title = one_line(session.title, 60) or session.key[:40]
            key = keys.get(session.session_id, session.session_id[:8])
            console.say(f"{word:<9}  {key}  {report.format:<14} {session.events:>6} events  {title}")
            _print_problems(console, report.name, session.problems)
        _print_problems(console, report.name, report.strays)
        for words in report.kept:
            console.note(f"  {_display_name(report.name)}: {one_line(words, 160)}")
    if not is_listed:
        console.say_lines(_count_lines(result, sessions))
    _print_left_out(console, reports)
    _print_summary(console, result, reports)


def _count_lines(result: ImportResult, sessions: list[tuple[FileReport, ImportSummary]]) -> Iterable[str]:
    counts = Counter(
        (report.format, _result_word(report, session, result.added, is_dry=False))
        for report, session in sessions
    )
    for name in sorted({form for form, _ in counts}):
        words = [
            f"{counts[name, word]:,} {word}"
            for word in ("imported", "grown", "unchanged")
            if counts[name, word]
        ]
        yield f"{name:<14} {', '.join(words)}"


def _print_summary(console: Console, result: ImportResult, reports: list[FileReport]) -> None:
    sessions = [session for report in reports for session in report.sessions]
    kept = sum(session.kept for session in sessions)
    kept_text = f", {counted(kept, 'record')} not understood and kept" if kept else ""
    if reports or not (result.unchanged or result.too_old):
        console.say(f"{counted(len(sessions), 'session')} in {counted(len(reports), 'file')}{kept_text}.")
    if result.unchanged:
        console.say(f"{counted(result.unchanged, 'file')} not read again: unchanged. --again reads all.")
    if result.too_old:
        console.say(f"{counted(result.too_old, 'file')} left out: older than sessions.keep_imported_days.")
    if result.followed:
        console.say(f"{counted(result.followed, 'session')} followed live: recorded while the agent works.")
    if left_out := result.left_out - result.followed:
        console.say(f"{counted(left_out, 'session')} left out by sessions.leave_out, or deleted here before.")
    if result.is_cancelled:
        console.say("Stopped. What was finished stays imported; the same command continues.")


def _print_left_out(console: Console, reports: list[FileReport]) -> None:
    unread = [report for report in reports if report.why_not]
    unnamed = [report for report in unread if not report.is_named]
    for report in [*(report for report in unread if report.is_named), *unnamed[:_MOST_PROBLEMS_SHOWN]]:
        console.note(f"Not imported: {one_line(report.name, 120)}: {one_line(report.why_not, 200)}.")
    if len(unnamed) > _MOST_PROBLEMS_SHOWN:
        more = len(unnamed) - _MOST_PROBLEMS_SHOWN
        console.note(f"Not imported: {more} more files of the folder; --json names them.")


def _display_name(name: str) -> str:
    return "stdin" if name == "-" else one_line(Path(name).name, 60)


def _print_problems(console: Console, name: str, problems: list[Problem]) -> None:
    file_name = _display_name(name)
    for problem in problems[:_MOST_PROBLEMS_SHOWN]:
        console.note(f"  {file_name} line {problem.line}: {one_line(problem.message, 160)}")
    if len(problems) > _MOST_PROBLEMS_SHOWN:
        console.note(f"  … and {len(problems) - _MOST_PROBLEMS_SHOWN} more; --json lists them")
