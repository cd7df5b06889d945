"""The table of token use: its migration, which counts all earlier replies, and the fold of later ones.

What a migration does never changes once released. Replays and screens do not need the fold.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.events import Event, ReplyCompleted
from workbench.domain.rows import Session, TokenUse
from workbench.domain.values import Usage
from workbench.text.human import MINUTE_MICROS

if TYPE_CHECKING:
    from workbench.journal.database import Database


OnMigration = Callable[[float], None]
"""Called during a long migration with the share that is done, from 0 to 1."""
_TOKEN_USE: Final = """
CREATE TABLE token_use (
    key TEXT PRIMARY KEY, session_id TEXT, at INTEGER, provider TEXT, model TEXT, context INTEGER,
    is_told INTEGER, first_at INTEGER, last_at INTEGER, replies INTEGER, uncounted INTEGER,
    input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
    cache_write_1h_tokens INTEGER, cost_microdollars INTEGER
) WITHOUT ROWID;
CREATE INDEX token_use_session ON token_use (session_id);
CREATE INDEX token_use_at ON token_use (at);
"""
_SELECT_COUNTED: Final = """
SELECT position, session_id, kind, at, json_extract(body, '$.provider'), json_extract(body, '$.model'),
    json_extract(body, '$.configuration.forked_from'), json_extract(body, '$.usage.input_tokens'),
    json_extract(body, '$.usage.output_tokens'), json_extract(body, '$.usage.cache_read_tokens'),
    json_extract(body, '$.usage.cache_write_tokens'), json_extract(body, '$.usage.cache_write_1h_tokens'),
    json_extract(body, '$.usage.cost_microdollars')
FROM event WHERE kind IN ('session.created', 'session.changed', 'reply.completed')
    AND session_id IN (SELECT id FROM session) ORDER BY position
"""
_LAST_BORDERS: Final = (272_000, 200_000, 100_000)
_QUARTER: Final = 900_000_000


class _SessionModel(Struct):
    """Provider and model of a session, as far as its events were read."""

    provider: str
    model: str
    forked_at: int
    """When a fork began: replies from before it are copies; 0 of other sessions."""

    def change(self, provider: str | None, model: str | None) -> None:
        """Follow a change of the session."""
        self.provider = self.provider if provider is None else provider
        self.model = self.model if model is None else model


def create_token_use(database: "Database", on_progress: OnMigration | None = None) -> None:
    """Count the tokens of all replies; `token_use_after` does the same for each that comes later."""
    database.execute(_TOKEN_USE)
    sessions: dict[str, _SessionModel] = {}
    rows: dict[str, list[Any]] = {}
    newest = database.execute("SELECT max(position) FROM event").get or 1
    for position, session_id, kind, at, provider, model, forked, *counts in database.execute(_SELECT_COUNTED):
        if on_progress is not None and not position % 1000:
            on_progress(position / newest)
        session_model = sessions.get(session_id)
        if session_model is None or kind == "session.created":
            # Only the first of two counts, as in the fold.
            sessions.setdefault(session_id, _SessionModel(provider or "", model or "", at if forked else 0))
        elif kind == "session.changed":
            session_model.change(provider, model)
        elif at >= session_model.forked_at:
            _count_reply(rows, session_id, session_model, (at, model), [count or 0 for count in counts])
    marks = ", ".join("?" * 17)
    for key, row in rows.items():
        database.execute(f"INSERT INTO token_use VALUES ({marks})", [key, *row])  # noqa: S608 only marks
    if on_progress is not None:
        on_progress(1.0)


def _count_reply(
    rows: dict[str, list[Any]], session_id: str, session_model: _SessionModel, reply: tuple[int, str | None],
    counts: list[int],
) -> None:  # fmt: skip
    at, model = reply[0], reply[1] or session_model.model
    start, is_told = at // _QUARTER * _QUARTER, int(counts[-1] > 0)
    border = next((border for border in _LAST_BORDERS if counts[0] > border), 0)
    key = f"{session_id}/{start}/{border}/{is_told}/{session_model.provider}/{model}"
    row = rows.setdefault(
        key,
        [session_id, start, session_model.provider, model, border, is_told, at, at, 0, 0, 0, 0, 0, 0, 0, 0],
    )
    row[6:8] = [min(row[6], at), max(row[7], at)]
    uncounted = int(counts[0] + counts[1] == 0)
    row[8:] = [total + more for total, more in zip(row[8:], [1, uncounted, *counts], strict=True)]


QUARTER_MICROS: Final = 15 * MINUTE_MICROS
CONTEXT_BORDERS: Final = (272_000, 200_000, 100_000)
"""Tokens of input above which some models cost more; the largest first."""


def context_border(input_tokens: int) -> int:
    """Return the largest of `CONTEXT_BORDERS` that an input exceeds; 0 where it exceeds none."""
    return next((border for border in CONTEXT_BORDERS if input_tokens > border), 0)


def token_use_after(
    event: Event, session: Session | None, lookup: Callable[[str], TokenUse | None]
) -> TokenUse | None:
    """Return the row of token use that an event changes, as it stands after it; None where it changes none.

    `session`: its row after the event; its provider is who was asked. A fork holds copies of replies from
    before it began: they were paid once, in its source, and are not counted again.
    """
    body = event.body
    if not isinstance(body, ReplyCompleted) or session is None or _is_copied(event, session):
        return None
    usage, start = body.usage, event.at // QUARTER_MICROS * QUARTER_MICROS
    model = body.model or session.model
    border, is_told = context_border(usage.input_tokens), usage.cost_microdollars > 0
    key = f"{session.id}/{start}/{border}/{int(is_told)}/{session.provider}/{model}"
    row = lookup(key) or TokenUse(
        key=key, session_id=session.id, at=start, provider=session.provider, model=model, context=border,
        is_told=is_told, first_at=event.at, last_at=event.at,
    )  # fmt: skip
    sums = {name: getattr(row, name) + getattr(usage, name) for name in Usage.__struct_fields__}
    return replace(
        row, replies=row.replies + 1, uncounted=row.uncounted + (usage.total_tokens == 0),
        first_at=min(row.first_at, event.at), last_at=max(row.last_at, event.at), **sums,
    )  # fmt: skip


def _is_copied(event: Event, session: Session) -> bool:
    return session.configuration.get("forked_from") is not None and event.at < session.created_at
