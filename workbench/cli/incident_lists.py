"""`workbench incidents list, show, results, dismiss, cancel`: how lists stand, and what came of them."""

import json
from argparse import ArgumentParser, Namespace

from workbench.cli.arguments import add_json_option, add_list_argument
from workbench.cli.console import Console, StatusIcons
from workbench.cli.context import (
    as_listed,
    find_session,
    short_id,
    user_actor,
)
from workbench.cli.errors import EXIT_OK, Refusal, UsageError
from workbench.cli.journal_access import open_journal
from workbench.cli.row_json import JsonFields, iso_time, row_fields
from workbench.domain.codec import to_json_value
from workbench.domain.rows import Session
from workbench.effects.files import workspace_path
from workbench.host.incident_requests import (
    cancel_incidents,
    dismiss_incidents,
    dismissed_fingerprints,
    listed_incidents,
)
from workbench.incidents.result import ProcessingResult, processing_result
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.text.human import counted, duration_text
from workbench.text.safe import escape_json, one_line
from workbench.views.incidents import IncidentList, IncidentRow, count_incidents, filter_incidents
from workbench.views.status_icons import told_status

_CANCEL_SECONDS = 30.0
_MOST_LISTS = 500


def find_list(journal: Journal, workspace: str, word: str | None, what: str = "nothing is shown") -> Session:
    """Return the list that a word names, or the newest one of a workspace."""
    if word:
        session = find_session(journal, word)
        if session.kind != "incidents":
            what = f"“{one_line(word, 80)}” is not a list of incidents"
            why = f"it is a session of kind {session.kind}"
            raise Refusal(what, why, "workbench incidents list shows them")
        return session
    lists = journal.sessions(workspace=workspace, kinds=("incidents",), limit=_MOST_LISTS)
    newest = next((session for session in lists if not is_imported_session(journal, session.id)), None)
    if newest is None:
        why = f"{workspace} has no list of incidents"
        raise Refusal(what, why, "make one with workbench incidents run FILE --dry-run")
    return newest


def read_list(journal: Journal, list_id: str, *, with_events: bool = True) -> IncidentList:
    """Return a list as it stands, or as it was found."""
    session = journal.session(list_id)
    dismissed = dismissed_fingerprints(journal, session.workspace) if session else {}
    incident_list = IncidentList(list_id, listed_incidents(journal, list_id), dismissed)
    if with_events:
        for event in journal.events(list_id):
            incident_list.apply(event)
        for child_id in incident_list.children:
            for action in journal.actions(child_id, states=("pending",)):
                opened = journal.event_at(action.opened_at)
                if opened is not None:
                    incident_list.apply(opened)
    return incident_list


def row_line(row: IncidentRow, signs: StatusIcons) -> str:
    """Return a line of an incident: outcome, id, severity, place, rule, message, and why."""
    sign, word = row.status
    facts = [f"{signs.of(sign)} {word:<9}", row.incident.id, row.incident.severity, row.place]
    line = f"{'  '.join(facts)}  {one_line(row.incident.rule, 60)}  {one_line(row.message, 120)}"
    why = f"  ({one_line(row.reason, 160)})" if row.reason and row.state != "fixed" else ""
    return line + why


def row_json(row: IncidentRow) -> JsonFields:
    """Return an incident with its state."""
    fields = to_json_value(row.incident)
    facts = {
        "state": row.status[1] if row.state == "open" else row.state, "reason": row.reason,
        "current_line": row.line, "prompts": row.rounds, "session_id": row.child_id or None,
        "check": row.check, "files": list(row.files), "dismissed": row.is_dismissed,
    }  # fmt: skip
    return {**(fields if isinstance(fields, dict) else {}), **facts}


def list_result(journal: Journal, list_id: str) -> ProcessingResult:
    """Return what came of a list."""
    return processing_result(list_id, journal.events(list_id), journal.events, journal.blobs.read)


def result_json(journal: Journal, list_id: str) -> JsonFields:
    """Return what came of a list as S2's ProcessingResult, with each incident's outcome."""
    result = list_result(journal, list_id)
    metadata = result.metadata
    return {
        "id": result.id, "session_id": result.session_id, "incident_ids": list(result.incident_ids),
        "status": result.status, "created_at": iso_time(result.created_at) if result.created_at else None,
        "completed_at": iso_time(result.completed_at) if result.completed_at else None,
        "errors": [to_json_value(error) for error in result.errors],
        "files_modified": list(result.files_modified),
        "files_while_ran": list(result.files_while_ran), "files_by_others": list(result.files_by_others),
        "metadata": {
            **row_fields(
                metadata, "total_processing_time_ms tool_calls_count approval_requests_count "
                "files_changed_count version goose_version model_used provider_used",
            ),
            "token_usage": row_fields(metadata.token_usage, "input_tokens output_tokens total_tokens"),
        },
        "counts": dict(result.counts), "incidents": [to_json_value(row) for row in result.incidents],
        "sessions": list(result.session_ids),
    }  # fmt: skip


def result_lines(journal: Journal, list_id: str) -> list[str]:
    """Return what came of a list for people."""
    result = list_result(journal, list_id)
    counts = ", ".join(f"{count:,} {name}" for name, count in result.counts.items())
    metadata = result.metadata
    lines = [f"{short_id(journal, list_id)}  {result.status}: {counts or 'nothing asked for'}"]
    facts = [
        counted(metadata.tool_calls_count, "call"), counted(metadata.approval_requests_count, "question"),
        f"{metadata.token_usage.total_tokens:,} tokens",
        duration_text(metadata.total_processing_time_ms / 1000),
    ]  # fmt: skip
    lines.append(f"  {', '.join(facts)}")
    while_ran = frozenset(result.files_while_ran)
    lines += [f"  changed  {one_line(p, 200)}" for p in result.files_modified if p not in while_ran]
    lines += [f"  changed while it ran  {one_line(path, 200)}" for path in result.files_while_ran]
    lines += [f"  changed by others  {one_line(path, 200)}" for path in result.files_by_others]
    lines += [
        f"  {error.error_type}  {error.incident_id or ''}  {one_line(error.message, 160)}"
        for error in result.errors
    ]
    return lines


LIST_EXAMPLE = """workbench incidents list
workbench incidents list --json"""


def configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="lists of every workspace")
    add_json_option(parser, "print an array")


def execute_list(options: Namespace, console: Console) -> int:
    """Print the lists of a workspace, the newest first."""
    with open_journal() as journal:
        workspace = None if options.all else workspace_path(options.directory)
        rows = journal.sessions(workspace=workspace, kinds=("incidents",), limit=500)
        sessions = [as_listed(journal, session) for session in rows]
        if options.json:
            console.json([_list_json(journal, session) for session in sessions])
            return EXIT_OK
        for session in sessions:
            counts = count_incidents(read_list(journal, session.id).rows)
            title = one_line(session.title, 80)
            head = f"{short_id(journal, session.id)}  {told_status(session):<10}"
            console.say(f"{head}  {title}  {counts.words}")
        if not sessions:
            console.note("No list of incidents yet. Make one: workbench incidents run FILE --dry-run")
    return EXIT_OK


def _list_json(journal: Journal, session: Session) -> JsonFields:
    incident_list = read_list(journal, session.id)
    counts, listed = count_incidents(incident_list.rows), incident_list.listed
    return {
        "id": session.id, "title": session.title, "workspace": session.workspace, "status": session.status,
        "created_at": iso_time(session.created_at), "source": listed.source if listed else "",
        "format": listed.format if listed else "", "checker": listed.checker if listed else "",
        "incidents": counts.total, "states": {**counts.states},
        "severities": {**counts.severities},
    }  # fmt: skip


SHOW_EXAMPLE = """workbench incidents show
workbench incidents show 3f2a9c1d 'severity:error -outcome:fixed'
workbench incidents show --json"""


def configure_show(parser: ArgumentParser) -> None:
    add_list_argument(parser)
    parser.add_argument(
        "filter", metavar="FILTER", nargs="?", default="",
        help="words, -words, severity:, rule:, file:, outcome: as on the screen",
    )  # fmt: skip
    add_json_option(parser, "print an array")


def execute_show(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        session = find_list(journal, workspace_path(options.directory), options.list)
        rows = filter_incidents(read_list(journal, session.id).rows, options.filter)
        if options.json:
            console.json([row_json(row) for row in rows])
            return EXIT_OK
        for row in rows:
            console.say(row_line(row, console.signs))
        counts = count_incidents(rows)
        console.note(f"{counted(counts.total, 'incident')}: {counts.words or 'none'}.")
    return EXIT_OK


RESULTS_EXAMPLE = """workbench incidents results
workbench incidents results --format sarif > fixed.sarif
workbench incidents results --format junit > incidents.xml
workbench incidents results 3f2a9c1d --json"""


def configure_results(parser: ArgumentParser) -> None:
    add_list_argument(parser)
    how = parser.add_mutually_exclusive_group()
    add_json_option(how, "print an object: S2's ProcessingResult")
    how.add_argument(
        "--format", choices=("sarif", "junit"),
        help="print all incidents of the list with their outcomes: SARIF 2.1.0, or JUnit's XML",
    )  # fmt: skip


def execute_results(options: Namespace, console: Console) -> int:
    with open_journal() as journal:
        session = find_list(journal, workspace_path(options.directory), options.list)
        if options.format:
            console.write(exported_text(journal, session, options.format))
        elif options.json:
            console.json(result_json(journal, session.id))
        else:
            console.say_lines(result_lines(journal, session.id))
    return EXIT_OK


def exported_text(journal: Journal, session: Session, form: str) -> str:
    """Return the incidents of a list with their outcomes in a format of other programs."""
    from workbench.formats.findings_export import ExportedIncident, junit_xml, sarif_log

    incident_list = read_list(journal, session.id)
    rows = [
        ExportedIncident(
            incident=row.incident, state=row.state, line=row.line, reason=row.reason,
            is_dismissed=row.is_dismissed, files=row.files, duration_ms=row.duration_ms, prompts=row.rounds,
        )
        for row in incident_list.rows
    ]  # fmt: skip
    if form == "junit":
        return junit_xml(rows, one_line(session.title, 200))
    source = incident_list.listed.source if incident_list.listed else ""
    log = sarif_log(rows, source, list_result(journal, session.id).status)
    return f"{escape_json(json.dumps(log, ensure_ascii=False, indent=1))}\n"


DISMISS_EXAMPLE = """workbench incidents dismiss 481034a8cb0f --reason "the API needs it"
workbench incidents dismiss 481034a8cb0f --undo"""


def configure_dismiss(parser: ArgumentParser) -> None:
    parser.add_argument("incident", metavar="ID", help="id of an incident, or its beginning")
    parser.add_argument("--list", metavar="LIST", help="the list that it is in (default: the newest)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--reason", default="", metavar="TEXT", help="why it will not be fixed")
    what.add_argument("--undo", action="store_true", help="take the dismissal back")


def execute_dismiss(options: Namespace, console: Console) -> int:
    if not options.undo and not options.reason.strip():
        raise UsageError("nothing was dismissed", "the reason is empty", "say why with --reason TEXT")
    with open_journal(human_only="nothing was dismissed") as journal:
        session = find_list(journal, workspace_path(options.directory), options.list, "nothing was dismissed")
        ids = [i.id for i in listed_incidents(journal, session.id)]
        matching = [key for key in ids if key == options.incident] or [
            key for key in ids if key.startswith(options.incident)
        ]
        if len(matching) != 1:
            why = (
                f"{len(matching)} incidents of the list match"
                if matching
                else "the list has no such incident"
            )
            raise Refusal("nothing was dismissed", why, "workbench incidents show lists them")
        reason = "" if options.undo else options.reason
        dismiss_incidents(journal, session.id, [matching[0]], reason, user_actor())
        outcome = "is open again" if options.undo else "is dismissed; later lists of this workspace skip it"
        console.say(f"{matching[0]} {outcome}.")
    return EXIT_OK


CANCEL_EXAMPLE = 'workbench incidents cancel 3f2a9c1d --reason "wrong branch"'


def configure_cancel(parser: ArgumentParser) -> None:
    add_list_argument(parser)
    parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the record")
    add_json_option(parser, "print an object")


def execute_cancel(options: Namespace, console: Console) -> int:
    """End the work on a list, and wait for that."""
    from workbench.host.host_start import ensure_host
    from workbench.journal.leases import is_lease_live

    with open_journal(human_only="nothing was cancelled") as journal:
        session = find_list(journal, workspace_path(options.directory), options.list, "nothing was cancelled")
        cancel_incidents(journal, session.id, options.reason, user_actor())
        if not is_lease_live(journal.home, journal.lease(session.id)):
            ensure_host(journal.home, journal, session.workspace)
        until = journal.clock.monotonic() + _CANCEL_SECONDS
        while read_list(journal, session.id).has_open_request and journal.clock.monotonic() < until:
            journal.wait(journal.last_position(), 0.5)
        if options.json:
            console.json(result_json(journal, session.id))
        else:
            console.say_lines(result_lines(journal, session.id))
    return EXIT_OK
