"""The newest calls of all listed sessions, for a tools pane that shows every session.

Reads nothing as long as no pane shows them; afterwards only the calls that events were about.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.events import Event, ReplyCompleted, TurnEnded
from workbench.domain.rows import Call, Session
from workbench.tui.journal_source import MAX_CALLS, JournalSource
from workbench.views.data_source import DataSource

_MAX_SESSIONS: Final = 40
"""Sessions whose calls are read: the ones that changed last."""


class CallStore:
    """Calls as last read."""

    def __init__(self, source: DataSource) -> None:
        self._source = source
        self._touched: set[str] = set()
        self.rows: list[Call] = []
        """In the order in which they were asked for."""

    def load(self, sessions: Iterable[Session]) -> None:
        """Read the newest calls of the sessions that changed last, and of the agents and steps below them."""
        newest = sorted(sessions, key=lambda session: -session.updated_at)[:_MAX_SESSIONS]
        keys = dict.fromkeys(key for session in newest for key in (session.id, *self._below(session)))
        self._keep(call for key in keys for call in self._source.calls(key))

    def _below(self, session: Session) -> Iterator[str]:
        if session.kind in ("pipeline", "incidents") and isinstance(self._source, JournalSource):
            yield from (child.id for child in self._source.children(session.id))

    def _keep(self, calls: Iterable[Call]) -> None:
        known = {call.id: call for call in calls}
        self.rows = sorted(known.values(), key=lambda call: (call.requested_at, call.ordinal))[-MAX_CALLS:]

    def note(self, event: Event, call_id: str | None) -> None:
        """Note which calls an event is about; `call_id` is the call of its action."""
        if isinstance(event.body, ReplyCompleted):
            self._touched |= {call.call_id for call in event.body.calls}
        elif isinstance(event.body, TurnEnded):
            self._touched |= {call.id for call in self.rows if call.session_id == event.session_id}
        elif event.kind.startswith(("call.", "action.")):
            self._touched |= {key for key in (event.call_id, call_id) if key}

    def read(self) -> bool:
        """Read again what events were about; False where that was nothing."""
        touched, self._touched = self._touched, set[str]()
        found = (self._source.call(key) for key in touched)
        self._keep([*self.rows, *(call for call in found if call is not None)])
        return bool(touched)
