"""Sessions as rows of the rail and items of the strip; the files a session changed; its facts.

Owns which session comes first (what waits, what runs, then what moved last) and the words beside it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.domain.events import Event
from workbench.domain.rows import Action, Session
from workbench.views.signs import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session."""

    id: str
    sign: Meaning
    word: str
    title: str
    """One safe line; `no title` words where it has none."""
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
        actions: pending ones count as waiting, others are ignored.
        current: the session on show.
        text_filter: words that a title must all have.
    """
    raise NotImplementedError(sessions, actions, current, text_filter)


def strip(rows: Sequence[SessionRow], room: int) -> tuple[tuple[SessionRow, ...], int]:
    """Return the rows that fit the one-line strip, and how many sessions there are in all.

    The session on show is always among them.

    Args:
        rows: as `rows` returns them.
        room: cells for the items, each taking `sign title count` and three blanks.
    """
    raise NotImplementedError(rows, room)


def changed_files(events: Iterable[Event], actions: Mapping[str, Action]) -> tuple[ChangedFile, ...]:
    """Return the files that a session changed, the last changed first."""
    raise NotImplementedError(events, actions)


def session_facts(session: Session, *, turns: int, asks: str, rules: int, money: str = "") -> SessionFacts:
    """Return the facts of the session on show.

    Args:
        session: the session.
        turns: how many turns it had.
        asks: `every tool` or what the settings say.
        rules: how many rules are on for it.
        money: what it cost, empty where nobody knows.
    """
    raise NotImplementedError(session, turns, asks, rules, money)
