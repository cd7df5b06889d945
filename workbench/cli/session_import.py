"""`workbench sessions import`: import sessions of other programs, recognized by the contents of the files."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from workbench.cli.console import Console
from workbench.cli.context import open_journal, short_id
from workbench.cli.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError
from workbench.cli.import_progress import ProgressLine
from workbench.cli.rows import JsonFields
from workbench.config.session_settings import SessionSettings
from workbench.formats import detect
from workbench.formats.assemble import ImportSummary
from workbench.formats.import_sources import find_sources
from workbench.formats.records import FileProblem
from workbench.host.host_locks import refuse_inside_agents
from workbench.host.import_choice import import_request
from workbench.host.import_retention import delete_expired_imports
from workbench.host.session_config import session_settings
from workbench.host.session_import import (
    FileReport,
    ImportResult,
    import_sources,
    read_source,
)
from workbench.journal.journal import Journal
from workbench.text.human import counted
from workbench.text.safe import one_line

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
    parser.add_argument("--yes", action="store_true", help="do not ask; required where there is no terminal")
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def execute_import(options: Namespace, console: Console) -> int:
    """Import; 1 when a file that was named could not be read."""
    if not options.files:
        from workbench.cli.import_discovery import import_found

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
    with open_journal() as (home, journal):
        refuse_inside_agents(journal, home, "import sessions")
        settings = session_settings(home)
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
    shown = ids if len(ids) <= _MOST_SESSIONS_SHOWN else set[str]()
    keys = {key: short_id(journal, key) for key in shown}
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
             "is_unchanged": report.is_unchanged, "left_out": report.left_out,
             "kept": list(report.kept), "problems": _problems_json(report.strays)}
            for report in result.reports
        ],
        "unchanged_files": result.unchanged, "too_old": result.too_old, "left_out": result.left_out,
        "is_cancelled": result.is_cancelled,
    }  # fmt: skip


def _problems_json(problems: list[FileProblem]) -> list[JsonFields]:
    return [{"line": problem.line, "why": problem.why} for problem in problems[:MOST_PROBLEMS]]


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
        for line in _count_lines(result, sessions):
            console.say(line)
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
    left = f", {counted(kept, 'record')} not understood and kept" if kept else ""
    if reports or not (result.unchanged or result.too_old):
        console.say(f"{counted(len(sessions), 'session')} in {counted(len(reports), 'file')}{left}.")
    if result.unchanged:
        console.say(f"{counted(result.unchanged, 'file')} not read again: unchanged. --again reads all.")
    if result.too_old:
        console.say(f"{counted(result.too_old, 'file')} left out: older than sessions.keep_imported_days.")
    if result.left_out:
        console.say(
            f"{counted(result.left_out, 'session')} left out by sessions.leave_out, or deleted here before."
        )
    if result.is_cancelled:
        console.say("Stopped. What was finished stays imported; the same command continues.")


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
