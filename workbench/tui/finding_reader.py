"""Finds which finding an agent worked on when it asked for something.

Reads a list of findings once. It writes nothing.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import DecodeError, json

from workbench.domain.events import IncidentsListed, PromptSubmitted
from workbench.domain.incidents import Incident
from workbench.domain.rows import Action, Session
from workbench.views.data_source import DataSource

_MAX_EVENTS: Final = 20_000
"""Events of an agent's session among which its prompts are looked for."""
_FIRST_EVENTS: Final = 20
"""Events of a list among which its findings are named."""


class FindingReader:
    """The findings behind the actions of agents that work on a list."""

    def __init__(self, source: DataSource) -> None:
        self._source = source
        self._lists: dict[str, Mapping[str, Incident]] = {}

    def of(self, action: Action, session: Session | None) -> Incident | None:
        """Return the finding that an action is about; None for any other session."""
        if session is None or session.parent_id is None or "incident_ids" not in session.configuration:
            return None
        asked = ""
        for event in self._source.events(session.id, 0, _MAX_EVENTS):
            if event.position > action.opened_at:
                break
            if isinstance(event.body, PromptSubmitted) and event.body.incident:
                asked = event.body.incident
        return self._listed(session.parent_id).get(asked)

    def _listed(self, list_id: str) -> Mapping[str, Incident]:
        if list_id not in self._lists:
            bodies = [event.body for event in self._source.events(list_id, 0, _FIRST_EVENTS)]
            ref = next((body.incidents_ref for body in bodies if isinstance(body, IncidentsListed)), None)
            text = self._source.text_of(ref) if ref is not None else None
            try:
                found = json.decode(text, type=list[Incident]) if text else []
            except DecodeError:
                found = []
            self._lists[list_id] = {incident.id: incident for incident in found}
        return self._lists[list_id]
