"""Sessions as rows of the rail and items of the strip; the files a session changed; its facts.

Owns which session comes first (what waits, what runs, then what moved last) and the words beside it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from workbench.domain.events import Event, FileChanged
from workbench.domain.rows import Action, Session
from workbench.domain.values import SYSTEM_SESSION
from workbench.records import dataclass
from workbench.text import human
from workbench.text.safe import one_line
from workbench.text.width import cells
from workbench.views.queue import TITLE_CELLS
from workbench.views.signs import Meaning, session_sign

STRIP_TITLE_CELLS: Final = 24
"""The longest title in the one-line strip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session."""

    id: str
    sign: Meaning
    word: str
    title: str
    """One safe line."""
    waiting: int = 0
    """How many of its actions wait; shown at the right instead of the time."""
    when: int | None = None
    """When it last moved; None while it waits or runs."""
    is_current: bool = False
    is_muted: bool = False
    """Neither waits nor runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file that a session changed."""

    path: str
    sign: Meaning
    added: int = 0
    removed: int = 0
    action_id: str | None = None
    """The last action that changed it, which `u` undoes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What the rail says of the session on show, as label and words."""

    facts: tuple[tuple[str, str], ...] = ()


def rows(
    sessions: Iterable[Session],
    actions: Iterable[Action],
    *,
    current: str | None = None,
    text_filter: str = "",
) -> tuple[SessionRow, ...]:
    """Return the sessions: those that wait, those that run, then by what moved last.

    Args:
        sessions: any; `system`, archived ones and steps of pipelines are left out.
        actions: pending ones count as waiting, others are ignored; what a step asks waits in its run.
        current: the session on show.
        text_filter: words that a title must all have.
    """
    sessions = list(sessions)
    runs = {one.id: one.parent_id for one in sessions if one.kind == "step" and one.parent_id}
    pending = (action.session_id for action in actions if action.state == "pending")
    waiting = Counter(_shown_as(asking, runs) for asking in pending)
    shown = [
        session
        for session in sessions
        if session.id != SYSTEM_SESSION and not session.archived and session.kind != "step"
    ]
    shown.sort(key=lambda s: (not waiting[s.id], s.status not in _BUSY, -s.updated_at, s.id))
    words = text_filter.casefold().split()
    found = [_row(session, waiting[session.id], session.id == current) for session in shown]
    return tuple(row for row in found if all(word in row.title.casefold() for word in words))


def _shown_as(session: str, runs: Mapping[str, str]) -> str:
    """Return the session that stands in the list for one: of a step the one of its run."""
    for _ in runs:
        if session not in runs:
            break
        session = runs[session]
    return session


_BUSY = ("processing", "initializing")


def _row(session: Session, waiting: int, is_current: bool) -> SessionRow:
    sign, word = session_sign(session, waiting)
    is_quiet = not waiting and session.status not in _BUSY
    return SessionRow(
        id=session.id, sign=sign, word=word, title=title_of(session), waiting=waiting,
        when=session.updated_at if is_quiet else None, is_current=is_current, is_muted=is_quiet,
    )  # fmt: skip


def title_of(session: Session) -> str:
    """Return a session's title as one safe line; without one its kind and the start of its id."""
    title = one_line(session.title, TITLE_CELLS) or f"{session.kind} {session.id[:8]}"
    number = f"#{session.number}" if session.number else ""
    return f"{title} {number}" if number and not title.endswith(f" {number}") else title


def strip(rows: Sequence[SessionRow], room: int) -> tuple[tuple[SessionRow, ...], int]:
    """Return the rows that fit the one-line strip, and how many sessions there are in all.

    The session on show is always among them.

    Args:
        rows: as `rows` returns them.
        room: cells for the items, each taking `sign title count` and three blanks.
    """
    fitting: list[SessionRow] = []
    used = 0
    must = next((row for row in rows if row.is_current), None)
    for row in rows:
        reserved = _strip_cells(must) if must is not None and must not in (*fitting, row) else 0
        if used + _strip_cells(row) + reserved > room:
            continue
        fitting.append(row)
        used += _strip_cells(row)
    return tuple(fitting), len(rows)


def _strip_cells(row: SessionRow) -> int:
    count = len(str(row.waiting)) + 1 if row.waiting else 0
    return 2 + min(cells(row.title), STRIP_TITLE_CELLS) + count + 3


def changed_files(events: Iterable[Event], actions: Mapping[str, Action]) -> tuple[ChangedFile, ...]:
    """Return the files that a session changed, the last changed first; not those that are as they were."""
    by_call = {action.call_id: action for action in actions.values() if action.call_id}
    found: dict[str, ChangedFile] = {}
    first: dict[str, str | None] = {}
    for event in events:
        if not isinstance(event.body, FileChanged):
            continue
        body, action = event.body, by_call.get(event.call_id or "")
        if body.after == first.setdefault(body.path, body.before):
            found.pop(body.path, None)
            continue
        before = found.pop(body.path, None)
        found[body.path] = ChangedFile(
            path=body.path, sign="partly" if action and action.selection is not None else "ok",
            added=body.added + (before.added if before else 0),
            removed=body.removed + (before.removed if before else 0), action_id=action.id if action else None,
        )  # fmt: skip
    return tuple(reversed(found.values()))


def session_facts(session: Session, *, turns: int, asks: str, rules: int, money: str = "") -> SessionFacts:
    """Return the facts of the session on show.

    Args:
        session: the session.
        turns: how many turns it had.
        asks: `every tool` or what the settings say.
        rules: how many rules are on for it.
        money: what it cost, empty where nobody knows.
    """
    facts = [
        ("model", one_line(session.model, 64)),
        ("turns", str(turns)),
        ("tokens", human.tokens(session.usage.total_tokens)),
        ("cost", money),
        ("asks", asks),
        ("rules", f"{rules} on" if rules else ""),
    ]
    return SessionFacts(facts=tuple((label, words) for label, words in facts if words))


def slug(session: Session) -> str:
    """Return a name for a file of a session: words of its title in plain letters."""
    words = "".join(
        one if one.isascii() and one.isalnum() else " " for one in session.title.casefold()
    ).split()
    return "-".join(words)[:40] or session.id[:8]
