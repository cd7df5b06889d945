"""Record what people ask of a list of incidents: to work them off, to leave some, to end the work.

The command line and the screen both call these; whoever holds the lease of the list reacts.
"""

from collections.abc import Sequence

from workbench.domain.events import (
    ContinueRequested,
    IncidentDismissed,
    IncidentsCancelRequested,
    IncidentsListed,
    IncidentsRequested,
)
from workbench.domain.incidents import Incident, IncidentOptions
from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.domain.rows import Session
from workbench.domain.values import Actor, Body, Refused
from workbench.host import redaction
from workbench.journal.journal import Journal

MAX_REASON: int = 500
"""Characters of a reason that are kept."""


class IncidentsRefused(Refused):
    """A list of incidents was not made, or takes no request."""


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


def continue_incidents(journal: Journal, list_id: str, actor: Actor) -> None:
    """Let the work on a list go on that was paused. Raises IncidentsRefused."""
    require_open_list(journal, list_id, "Nothing was continued.")
    _append(journal, list_id, ContinueRequested(), actor)


def cancel_incidents(journal: Journal, list_id: str, reason: str, actor: Actor) -> None:
    """Ask for the work on a list to end; what was not begun is skipped. Raises IncidentsRefused."""
    require_open_list(journal, list_id, "Nothing was cancelled.")
    body = IncidentsCancelRequested(reason=redaction.redact_line(reason.strip(), MAX_REASON))
    _append(journal, list_id, body, actor)


def dismiss_incident(journal: Journal, list_id: str, incident_id: str, reason: str, actor: Actor) -> None:
    """Say that an incident will not be fixed, and why; an empty reason takes it back.

    It is kept by fingerprint for the workspace, so a later list leaves it out as well. Raises
    IncidentsRefused.
    """
    what = "Nothing was dismissed."
    require_open_list(journal, list_id, what)
    incident = next((i for i in listed_incidents(journal, list_id) if i.id == incident_id), None)
    if incident is None:
        why = f"The list has no incident {incident_id}."
        raise IncidentsRefused(what, why, "workbench incidents show")
    words = redaction.redact_line(reason.strip(), MAX_REASON)
    _append(journal, list_id, IncidentDismissed(fingerprint=incident.fingerprint, reason=words), actor)


def listed_incidents(journal: Journal, list_id: str) -> tuple[Incident, ...]:
    """Return the incidents of a list; none where what was recorded of it is gone."""
    from msgspec import DecodeError, json

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
    if session.status in TERMINAL_SESSION_STATES:
        why = f"The list is {session.status}."
        raise IncidentsRefused(what, why, "Make a new one: workbench incidents run FILE.")
    return session


def _append(journal: Journal, list_id: str, body: Body, actor: Actor) -> None:
    journal.append([journal.event(body, list_id, actor)])
