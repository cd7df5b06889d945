"""Record what people ask of a list of incidents: to work them off, to leave some, to end the work.

The command line and the screen both call these; whoever holds the lease of the list reacts.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import DecodeError, json

from workbench.domain.events import (
    ContinueRequested,
    Event,
    IncidentDismissed,
    IncidentsCancelRequested,
    IncidentsListed,
    IncidentsRequested,
    SessionChanged,
    SessionCreated,
)
from workbench.domain.incidents import Incident, IncidentOptions
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Body, Refused
from workbench.effects.fault_points import fault_point
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.path_files import read_bounded
from workbench.formats.findings.place import line_digest, read_lines
from workbench.formats.findings.read import MOST_BYTES, FindingsFile, OnProgress, read_findings
from workbench.formats.findings.report import FindingsUnreadable
from workbench.host import redaction
from workbench.incidents.request import asked_title, without_known
from workbench.journal.errors import SessionDriven
from workbench.journal.imports import is_imported_session
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, first_lease, next_lease
from workbench.journal.transaction import TransactionTables
from workbench.text.human import counted, sentence

MAX_REASON: Final = 500
"""Characters of a reason that are kept."""
_MAX_SOURCE: Final = 500
"""Characters that are kept of the name of a list's file, or of the command that made it."""
_MAX_TITLE: Final = 120
_MAX_COMMAND: Final = 2_000
_EVENTS_AT_ONCE: Final = 500
"""Events of one transaction, so that none is long."""
_MAX_LINES: Final = 2_000_000
"""Lines of all files of a list whose digests are kept."""


class IncidentsRefused(Refused):
    """A list of incidents was not made, or takes no request."""


def read_findings_file(
    path: str, workspace: str, *, told_root: str = "", on_progress: OnProgress | None = None
) -> FindingsFile:
    """Read a file of findings. Raises IncidentsRefused: it is not there, none of ours, or broken."""
    what = f"{path} was not read."
    try:
        data = read_bounded(Path(path).expanduser(), limit=MOST_BYTES)
        if data is None:
            raise IncidentsRefused(what, "It does not exist.", "Name the file that your linter wrote.")
        with Root(workspace) as root:
            return read_findings(data, root, told_root=told_root, on_progress=on_progress)
    except FileRefused as error:
        raise IncidentsRefused(what, f"{error.why}.", error.remedy) from None
    except FindingsUnreadable as error:
        remedy = "SARIF is what most linters can write."
        raise IncidentsRefused(what, sentence(str(error)), remedy) from None


def list_incidents(
    journal: Journal,
    workspace: str,
    findings: FindingsFile,
    *,
    source: str,
    actor: Actor,
    checker: str = "",
    baseline: tuple[str, FindingsFile] | None = None,
    driver: DriverIdentity | None = None,
) -> str:
    """Begin a list of what a file or a checker says, and return its id; nothing is worked on yet.

    `source`: the file or the command, as people know it. `baseline`: a file with what was known before, which
    is left out. `driver`: who drives it, with its `DriverLock`; None leaves it to the background process.
    Raises IncidentsRefused for a checker that cannot be kept as it is.
    """
    if redaction.redact_line(checker, _MAX_COMMAND) != checker:
        why = "The checker's command has several lines, is very long, or holds a secret."
        remedy = "Put it into a script, and its secrets into the environment."
        raise IncidentsRefused("No list was made.", why, remedy)
    known_fingerprints = (
        frozenset(i.fingerprint for i in baseline[1].incidents) if baseline else frozenset[str]()
    )
    incidents, left_out = without_known(findings.incidents, known_fingerprints)
    name = os.path.relpath(source, workspace) if source.startswith(f"{workspace}/") else source
    list_id, blobs = journal.clock.new_id(), journal.blobs
    created = SessionCreated(
        session_kind="incidents", workspace=workspace, telemetry_id=journal.clock.new_id(),
        title=redaction.redact_line(f"{counted(len(incidents), 'incident')} from {name}", _MAX_TITLE),
    )  # fmt: skip
    listed = IncidentsListed(
        source=redaction.redact_line(name, _MAX_SOURCE), format=findings.format,
        checker=checker, root=findings.root, count=len(incidents),
        incidents_ref=blobs.record(json.encode(incidents)),
        lines_ref=blobs.seal(json.encode(_line_digests(workspace, incidents))), skipped=findings.skipped,
        baseline=redaction.redact_line(baseline[0], 500) if baseline else "", known=left_out,
        problems=findings.problems,
    )  # fmt: skip
    lease = [] if driver is None else [first_lease(journal, list_id, driver)]
    journal.append([journal.event(created, list_id, actor), *lease, journal.event(listed, list_id, actor)])
    return list_id


def is_checkers_own(listed: IncidentsListed | None) -> bool:
    """Return whether the checker of a list also made it, so that it reported all that is in it."""
    if listed is None or not listed.checker:
        return False
    return listed.source == redaction.redact_line(listed.checker, _MAX_SOURCE)


def _line_digests(workspace: str, incidents: Sequence[Incident]) -> dict[str, list[str]]:
    """Return the lines of each file as they are now: what an edit does to it later moves incidents."""
    lines_left, digests = _MAX_LINES, dict[str, list[str]]()
    with Root(workspace) as root:
        for path in dict.fromkeys(i.path for i in incidents if not i.problem):
            lines = read_lines(root, path)
            lines_left -= len(lines)
            if lines_left < 0:
                break
            digests[path] = [line_digest(line) for line in lines]
    return digests


def dismissed_fingerprints(journal: Journal, workspace: str) -> dict[str, str]:
    """Return what a human said will not be fixed in a workspace, with the reason."""
    dismissed: dict[str, str] = {}
    for event in journal.dismissals(workspace):
        if isinstance(event.body, IncidentDismissed):
            dismissed[event.body.fingerprint] = event.body.reason
    return {fingerprint: reason for fingerprint, reason in dismissed.items() if reason}


def request_incidents(
    journal: Journal, list_id: str, ids: Sequence[str], options: IncidentOptions, actor: Actor
) -> None:
    """Ask for incidents of a list to be worked off, in that order. Raises IncidentsRefused."""
    what = "Nothing was asked for."
    require_open_list(journal, list_id, what)
    listed = {incident.id: incident for incident in listed_incidents(journal, list_id)}
    unknown = [key for key in ids if key not in listed]
    if unknown:
        raise IncidentsRefused(what, f"The list has no incident {unknown[0]}.", "workbench incidents show")
    if not ids:
        raise IncidentsRefused(what, "No incident is asked for.", "Name some, or widen the filter.")
    _append(journal, list_id, IncidentsRequested(ids=tuple(dict.fromkeys(ids)), options=options), actor)


def title_by_request(journal: Journal, list_id: str, actor: Actor) -> None:
    """Title a list by what was asked of it so far, unless a human gave it a title."""
    session, listed = journal.session(list_id), {i.id: i for i in listed_incidents(journal, list_id)}
    asked, own = dict[str, Incident](), set[str]()
    for event in journal.events(list_id):
        if isinstance(event.body, SessionCreated):
            own.add(event.body.title)
        elif isinstance(event.body, IncidentsRequested):
            asked |= {key: listed[key] for key in event.body.ids if key in listed}
            if asked:
                own.add(redaction.redact_line(asked_title(tuple(asked.values())), _MAX_TITLE))
    title = redaction.redact_line(asked_title(tuple(asked.values())), _MAX_TITLE) if asked else ""
    if title and session is not None and session.title in own - {title}:
        _append(journal, list_id, SessionChanged(title=title), actor)


def continue_incidents(
    journal: Journal, list_id: str, actor: Actor, driver: DriverIdentity | None = None
) -> None:
    """Continue the work on a list that was paused. Raises IncidentsRefused.

    `driver`, which holds its `DriverLock`, owns the list with the request, unless another process drives it.
    """
    require_open_list(journal, list_id, "Nothing was continued.")
    request = journal.event(ContinueRequested(), list_id, actor)

    def work(live: TransactionTables, _now: int) -> list[Event]:
        with suppress(SessionDriven):
            return [request, *(next_lease(journal, live, list_id, driver) if driver is not None else ())]
        return [request]

    journal.transact(work)
    fault_point("run.requested")


def cancel_incidents(journal: Journal, list_id: str, reason: str, actor: Actor) -> None:
    """Ask for the work on a list to end; what was not started is skipped. Raises IncidentsRefused."""
    require_open_list(journal, list_id, "Nothing was cancelled.")
    body = IncidentsCancelRequested(reason=redaction.redact_line(reason.strip(), MAX_REASON))
    _append(journal, list_id, body, actor)


def dismiss_incidents(journal: Journal, list_id: str, ids: Sequence[str], reason: str, actor: Actor) -> None:
    """Say that incidents will not be fixed, and why; an empty reason takes it back.

    It is kept by fingerprint for the workspace, so a later list leaves them out as well. Raises
    IncidentsRefused.
    """
    what = "Nothing was dismissed."
    require_open_list(journal, list_id, what)
    fingerprints = {incident.id: incident.fingerprint for incident in listed_incidents(journal, list_id)}
    if unknown := [key for key in ids if key not in fingerprints]:
        why = f"The list has no incident {unknown[0]}."
        raise IncidentsRefused(what, why, "workbench incidents show")
    clean_reason = redaction.redact_line(reason.strip(), MAX_REASON)
    bodies = [
        IncidentDismissed(fingerprint=text, reason=clean_reason)
        for text in dict.fromkeys(fingerprints[key] for key in ids)
    ]
    for start in range(0, len(bodies), _EVENTS_AT_ONCE):
        batch = bodies[start : start + _EVENTS_AT_ONCE]
        journal.append([journal.event(body, list_id, actor) for body in batch])


def listed_incidents(journal: Journal, list_id: str) -> tuple[Incident, ...]:
    """Return the incidents of a list; none where what was recorded of it is gone."""
    for event in journal.events(list_id, limit=20):
        if isinstance(event.body, IncidentsListed):
            data = journal.blobs.read(event.body.incidents_ref)
            try:
                return tuple(json.decode(data, type=list[Incident])) if data else ()
            except DecodeError:
                return ()
    return ()


def require_open_list(journal: Journal, list_id: str, what: str) -> Session:
    """Return the session of a list that takes requests, or raise IncidentsRefused."""
    session = journal.session(list_id)
    if session is None or session.kind != "incidents":
        remedy = "workbench incidents list shows them."
        raise IncidentsRefused(what, f"There is no list of incidents {list_id}.", remedy)
    if is_imported_session(journal, list_id):
        why = "It was imported, and nothing of it is run here."
        raise IncidentsRefused(what, why, "Make a new one: workbench incidents run FILE.")
    if session.status in TERMINAL_SESSION_STATES:
        why = f"The list is {session.status}."
        raise IncidentsRefused(what, why, "Make a new one: workbench incidents run FILE.")
    return session


def _append(journal: Journal, list_id: str, body: Body, actor: Actor) -> None:
    journal.append([journal.event(body, list_id, actor)])
