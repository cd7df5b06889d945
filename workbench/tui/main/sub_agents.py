"""Reads what the agents have done that calls of the session on show began, and opens one of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.domain.events import CallFinished
from workbench.domain.rows import Call, Session
from workbench.tui.journal_source import JournalSource
from workbench.views.conversation import Transcript
from workbench.views.sub_agents import NO_AGENTS, SubAgent, agent_at, sessions_of_calls

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState

_SECOND = 1_000_000


class SubAgentReader:
    """Knows the sessions below the one on show; a living journal is asked once a second at most."""

    def __init__(self, state: "ScreenState") -> None:
        self._state = state
        self._asked: tuple[object, ...] = ()
        self._children: Sequence[Session] = ()
        self._calls: dict[str, Sequence[Call]] = {}
        self._named: dict[str, str] = {}
        """The session that a finished call has named, by call; empty where it named none."""

    def at(self, transcript: Transcript) -> Mapping[str, SubAgent]:
        """Return what they have done by now, by the id of the call that began them."""
        source, calls = self._state.source, tuple(transcript.agent_calls.values())
        if not calls or not isinstance(source, JournalSource):
            return NO_AGENTS
        now = source.now()
        self._ask(source, transcript.session_id, now)
        if not self._children:
            return NO_AGENTS
        begun = {child.id: child for child in self._children if child.created_at <= now}
        named = {call.id: self._name_of(source, call) for call in calls}
        led = sessions_of_calls(calls, tuple(begun.values()), named)
        return {
            call: agent_at(begun[child], self._calls_of(source, child), now) for call, child in led.items()
        }

    def _ask(self, source: JournalSource, session_id: str, now: int) -> None:
        asked = (session_id, now // _SECOND if source.is_live else None)
        if asked != self._asked:
            self._asked, self._calls = asked, {}
            self._children = sorted(source.children(session_id), key=lambda child: child.created_at)

    def _calls_of(self, source: JournalSource, session_id: str) -> Sequence[Call]:
        if session_id not in self._calls:
            self._calls[session_id] = source.recorded_calls(session_id)
        return self._calls[session_id]

    def _name_of(self, source: JournalSource, call: Call) -> str:
        if call.finished_at is None:
            return ""
        if call.id not in self._named:
            bodies = [event.body for event in source.call_events(call.id)]
            told = [body.metadata.get("child_session") for body in bodies if isinstance(body, CallFinished)]
            self._named[call.id] = next((name for name in told if isinstance(name, str)), "")
        return self._named[call.id]
