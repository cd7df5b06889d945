"""`workbench ask logs`: the commands that were made of words before, as a list and one in full."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from msgspec.structs import replace

from workbench.cli.arguments import add_json_option
from workbench.cli.ask_dialog import terminal_keys
from workbench.cli.ask_output import clipboard_sequence
from workbench.cli.console import Console
from workbench.cli.context import find_session, short_id
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import iso_time
from workbench.cli.rows import clock_time
from workbench.cli.session_search import (
    SessionFilters,
    add_filter_options,
    parse_filters,
    session_ids_holding,
)
from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.rows import LogStatus, Session
from workbench.domain.values import JsonObject
from workbench.effects.files import workspace_path
from workbench.formats import json_fields
from workbench.formats.command_log import CONTEXT_KEYS, command_log, is_command_session, log_id
from workbench.journal.database import Database
from workbench.journal.journal import Journal
from workbench.journal.session_queries import (
    CommandLogScope,
    CommandText,
    command_log_session,
    command_sessions,
    command_texts,
)
from workbench.text.safe import one_line, safe_text
from workbench.views import library
from workbench.views.library import SearchQuery
from workbench.views.sessions import LogSummary, command_preview, summary_line
from workbench.views.tools import verdict_text

LOGS_EXAMPLE = """workbench ask logs --status accepted --search tar
workbench ask logs --json
workbench ask logs 3f2a"""
_NOTHING_LISTED: Final = "nothing was listed"
_INDENT: Final = "    "


def configure_logs(parser: ArgumentParser) -> None:
    parser.add_argument("logs", nargs="?", default="", metavar="ID", help="the command to show in full")
    add_json_option(parser, "print a JSON array, or the log as an object")
    add_filter_options(parser, "only accepted, rejected or quit ones")


def execute_logs(options: Namespace, console: Console) -> int:
    return show_logs(options, console)


def show_logs(options: Namespace, console: Console) -> int:
    """Print the list, or the log that is named."""
    with open_journal() as journal:
        if options.logs:
            return _show_log(options, console, journal)
        return _list_logs(options, console, journal)


# --- the list -----------------------------------------------------------------------------------------


def _list_logs(options: Namespace, console: Console, journal: Journal) -> int:
    filters = parse_filters(options)
    known = get_args(LogStatus)
    if filters.status is not None and filters.status not in known:
        why = f"“{one_line(filters.status, 40)}” is not what a command can be"
        raise UsageError(_NOTHING_LISTED, why, f"there is {', '.join(known)}")
    workspace = None if options.directory is None else workspace_path(options.directory)
    page, texts = log_page(journal, replace(filters, limit=filters.limit + 1), workspace)
    has_more, page = len(page) > filters.limit, page[: filters.limit]
    rows = [_summary(journal, session, texts[session.id]) for session in page]
    if options.json:
        console.json([_summary_json(row, session) for row, session in zip(rows, page, strict=True)])
        return EXIT_OK
    now = journal.now()
    for row, session in zip(rows, page, strict=True):
        console.say(summary_line(row, short_id(journal, session.id), clock_time(row.timestamp, now)))
    if not rows:
        is_any = bool(log_page(journal, SessionFilters(archived=None, limit=1))[0])
        console.say("Nothing matches." if is_any else 'No command yet. Try: workbench ask "list go files"')
    if has_more:
        console.note("More match: --offset and --limit show them, --search and the filters narrow it.")
    return EXIT_OK


def log_page(
    journal: Journal, filters: SessionFilters, workspace: str | None = None
) -> tuple[list[Session], dict[str, CommandText]]:
    """Return a page of the sessions that filters let through, with what was asked and suggested in them."""
    names = ("status", "model", "provider", "origin", "kind", "tag", "archived", "since", "until", "sort")
    scope = CommandLogScope(
        **{name: getattr(filters, name) for name in names},
        is_ascending=filters.is_ascending,
        workspace=workspace,
    )
    query = filters.query
    if query.is_empty:
        scope = replace(scope, limit=filters.limit, offset=filters.offset)
        with journal.snapshot() as database:
            page = command_sessions(database, scope)
            return page, _texts(database, page)
    if any(not term.is_excluded for term in query.terms):
        scope = replace(scope, ids=tuple(session_ids_holding(journal, query)))
    with journal.snapshot() as database:
        matching = [
            session for session in command_sessions(database, scope) if library.session_fits(session, query)
        ]
        texts = _texts(database, matching) if query.terms else {}
        holding = [
            session for session in matching if not query.terms or _holds(texts[session.id], session, query)
        ]
        page = holding[filters.offset : filters.offset + filters.limit]
        return page, _texts(database, page)


def _texts(database: Database, sessions: Sequence[Session]) -> dict[str, CommandText]:
    texts = command_texts(database, [session.id for session in sessions])
    return {session.id: texts.get(session.id, CommandText()) for session in sessions}


def _holds(text: CommandText, session: Session, query: SearchQuery) -> bool:
    """Return whether words, commands, explanations, title or tags hold all that is wanted, in any case."""
    searched = "\n".join((text.words, library.title_and_tags(session))).casefold()
    return all((term.text.casefold() in searched) != term.is_excluded for term in query.terms)


def _summary(journal: Journal, session: Session, text: CommandText) -> LogSummary:
    whole = journal.session(session.id) or session
    return LogSummary(
        id=log_id(whole), user_query=text.query, final_status=session.log_status,
        model=session.model, timestamp=session.created_at, iteration_count=text.count,
        command_preview=command_preview(text.last),
    )  # fmt: skip


def _summary_json(row: LogSummary, session: Session) -> JsonObject:
    return {
        "id": row.id, "session_id": session.id, "user_query": row.user_query,
        "final_status": row.final_status, "model": row.model, "timestamp": iso_time(row.timestamp),
        "iteration_count": row.iteration_count, "command_preview": row.command_preview,
        "workspace": session.workspace, "origin": session.origin or "workbench",
    }  # fmt: skip


# --- one log ------------------------------------------------------------------------------------------


def _show_log(options: Namespace, console: Console, journal: Journal) -> int:
    session = _named_log(journal, options.logs)
    events = journal.events(session.id)
    document = command_log(session, events)
    if options.json:
        console.json_line(json.dumps(document, ensure_ascii=False, indent=2))
        return EXIT_OK
    console.say_lines(log_lines(document, _verdicts(events)))
    _offer_copy(console, document)
    return EXIT_OK


def _named_log(journal: Journal, word: str) -> Session:
    with journal.snapshot() as database:
        session_id = command_log_session(database, word.removesuffix(".json"))
    session = journal.session(session_id) if session_id else find_session(journal, word)
    if session is None or not is_command_session(session):
        why = "that session is not a command that was made of words"
        raise Refusal("no log was shown", why, "workbench ask logs lists them")
    return session


def _verdicts(events: Sequence[Event]) -> list[str]:
    bodies = (event.body for event in events)
    return [
        verdict_text(body.verdict) if body.verdict else ""
        for body in bodies if isinstance(body, e.CommandSuggested)
    ]  # fmt: skip


def log_lines(document: JsonObject, verdicts: Sequence[str] = ()) -> Iterator[str]:
    """Yield a log in its eight parts: words, outcome, three contexts, tmux, tries, what was sent."""
    metadata, context = (json_fields.object_of(document, name) for name in ("metadata", "context_sources"))
    iterations = json_fields.objects_of(document, "iterations")
    yield from _part("Words", json_fields.text_of(document, "user_query"))
    yield from _part("Outcome", _outcome(metadata))
    for title, name in zip(("Preferences", "Terminal", "Documentation"), CONTEXT_KEYS, strict=True):
        yield from _part(title, json_fields.text_of(context, name))
    yield from _part("tmux", _tmux(json_fields.object_of(metadata, "tmux_info")))
    for number, iteration in enumerate(iterations, 1):
        verdict = verdicts[number - 1] if len(verdicts) == len(iterations) else ""
        yield from _iteration_lines(number, iteration, verdict)
    yield from _sent_lines(iterations)


def _outcome(metadata: JsonObject) -> str:
    count = json_fields.integer_of(metadata, "iteration_count") or 0
    tries = "1 try" if count == 1 else f"{count} tries"
    parts = (json_fields.text_of(metadata, name) for name in ("final_status", "model", "timestamp"))
    return ", ".join(filter(None, (*parts, tries)))


def _tmux(info: JsonObject) -> str:
    if info.get("in_tmux") is not True:
        return "not in tmux"
    return ", ".join(f"{name} {json_fields.text_of(info, name)}" for name in ("session", "window", "pane"))


def _iteration_lines(number: int, iteration: JsonObject, verdict: str) -> Iterator[str]:
    output = json_fields.object_of(iteration, "model_output")
    feedback = json_fields.text_of(iteration, "feedback")
    asked = f"after “{one_line(feedback, 200)}”" if feedback else ""
    yield from _part(" ".join(filter(None, (f"Try {number}", asked))), json_fields.text_of(output, "command"))
    for text in (json_fields.text_of(output, "explanation"), verdict and f"The gate: {verdict}"):
        if text:
            yield from _indented(text)
            yield ""


def _sent_lines(iterations: Sequence[JsonObject]) -> Iterator[str]:
    for number, iteration in enumerate(iterations, 1):
        sent = json_fields.object_of(iteration, "model_input")
        system = f"[system]\n{json_fields.text_of(sent, 'system_prompt')}\n" if number == 1 else ""
        raw = json_fields.text_of(json_fields.object_of(iteration, "model_output"), "raw_response")
        text = f"{system}[user]\n{json_fields.text_of(sent, 'user_prompt')}\n[reply]\n{raw}"
        yield from _part(f"Sent and received, try {number}", text)


def _part(title: str, text: str) -> Iterator[str]:
    yield safe_text(title)
    yield from _indented(text) if text.strip() else (f"{_INDENT}none",)
    yield ""


def _indented(text: str) -> Iterator[str]:
    return (f"{_INDENT}{line}".rstrip() for line in safe_text(text).splitlines())


def _offer_copy(console: Console, document: JsonObject) -> None:
    """Let a person at a terminal copy the last command."""
    iterations = json_fields.objects_of(document, "iterations")
    keys = terminal_keys(console) if console.is_terminal and iterations else None
    if keys is None:
        return
    command = json_fields.text_of(json_fields.object_of(iterations[-1], "model_output"), "command")
    console.note("y copies the command, any other key ends")
    try:
        if keys.any_key() == "y":
            console.err.write(clipboard_sequence(command))
            console.note("Sent to the terminal's clipboard.")
    except KeyboardInterrupt:
        console.note("")
