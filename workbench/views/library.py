"""The library as rows and a preview: what is said beside a title, what a session did, what a filter lets by.

Pure. Owns the orders that there are and every word of a row; `ranking` puts sessions in one. A row is made
when it is drawn: a list of ten thousand sessions is ten thousand ids.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from workbench.domain.counting import Glance, Spans
from workbench.domain.rows import Session
from workbench.records import dataclass
from workbench.text import human
from workbench.text.safe import one_line
from workbench.views.places import Place, hits
from workbench.views.query import Query, Term, fits
from workbench.views.sessions import title_of
from workbench.views.signs import Meaning, session_sign
from workbench.views.statistics import UNASKED, Outcome, Statistics

BUSY: Final = ("processing", "initializing")
SPLIT: Final = "-split"
"""The id of the line between what is live and what rests; the cursor passes over it."""

_MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order of the list."""

    words: str
    key: Callable[[Session], int | str]
    is_down: bool = True


ORDERS: Final = (
    Order(words="newest first", key=lambda one: one.updated_at),
    Order(words="oldest first", key=lambda one: one.updated_at, is_down=False),
    Order(words="last begun first", key=lambda one: one.created_at),
    Order(words="by title", key=lambda one: one.title.casefold(), is_down=False),
    Order(words="most tokens first", key=lambda one: one.usage.total_tokens),
    Order(words="by status", key=lambda one: one.status, is_down=False),
    Order(words="by model", key=lambda one: one.model.casefold(), is_down=False),
    Order(words="by workspace", key=lambda one: one.workspace, is_down=False),
)


class Sieve:
    """What was typed, ready to be asked of ten thousand sessions."""

    def __init__(self, query: Query, holders: Mapping[str, int], narrowed: frozenset[str] | None) -> None:
        """Prepare it.

        Args:
            query: What was typed.
            holders: Sessions whose conversation holds the words, with the number of places.
            narrowed: Sessions that pass `tool:` and `asked:`; None where neither was typed.
        """
        self._query, self._holders, self._narrowed = query, holders, narrowed
        self._words = [(term.text.casefold(), not term.is_excluded) for term in query.terms]
        self._shows_archived = "archived" in query.narrowed.get("is", ())
        self._is_narrowed = bool(query.narrowed) or query.since is not None or query.until is not None

    def passes(self, session: Session, seen: str) -> bool:
        """Return whether a session passes.

        Args:
            session: Its row.
            seen: What `seen_of` says of it.
        """
        if session.archived and not self._shows_archived:
            return False
        if self._narrowed is not None and session.id not in self._narrowed:
            return False
        if self._is_narrowed and not fits(session, self._query):
            return False
        if not self._words or session.id in self._holders:
            return True
        return all((word in seen) == is_wanted for word, is_wanted in self._words)


def seen_of(session: Session) -> str:
    """Return the words of a row that are looked through as they stand: title and tags, whatever the case."""
    return "\n".join((session.title, *session.tags)).casefold()


# --- rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRow:
    """One session. Texts are one safe line each."""

    id: str
    sign: Meaning
    title: str
    hits: tuple[tuple[int, int], ...]
    """Where the title holds what was looked for."""
    folder: str
    when: int | None
    """When it last moved; None for now."""
    note: str
    """What there is to say of it; empty while nobody has looked."""
    tone: Meaning | None
    """Whose colour the note has."""
    added: int = 0
    removed: int = 0
    """Said instead of a note, where both are not 0."""
    is_marked: bool = False


def row(
    session: Session,
    waiting: int,
    glance: Glance | None,
    terms: Sequence[Term] = (),
    *,
    is_marked: bool = False,
) -> LibraryRow:
    """Return the row of a session."""
    sign, note, tone = _said(session, waiting, glance)
    place = session.workspace.rstrip("/").rpartition("/")[2]
    title = title_of(session)
    is_quiet = not waiting and session.status not in BUSY
    has_sizes = not note and glance is not None and bool(glance.added or glance.removed)
    return LibraryRow(
        id=session.id, sign=sign, title=title, hits=hits(title, terms),
        folder=one_line(place, 24), when=session.updated_at if is_quiet else None,
        note=note if note or has_sizes else _rest(session, glance),
        tone=tone, added=glance.added if glance and has_sizes else 0,
        removed=glance.removed if glance and has_sizes else 0, is_marked=is_marked,
    )  # fmt: skip


def _said(session: Session, waiting: int, glance: Glance | None) -> tuple[Meaning, str, Meaning | None]:
    """Return sign and note of what matters more than how much was changed."""
    sign, _ = session_sign(session, waiting)
    if waiting:
        return sign, f"{waiting} wait{'s' if waiting == 1 else ''}", sign
    if session.status in BUSY:
        return sign, f"turn {glance.turns + 1}" if glance else "works", sign
    if session.status == "failed":
        return sign, "failed", sign
    if session.reason == "unattended" and glance is not None and glance.expired:
        return "expired", f"{glance.expired} expired", "expired"
    if session.status == "paused":
        return sign, f"paused, {session.reason}" if session.reason == "limit reached" else "paused", None
    if glance is not None and glance.rejected and not glance.files:
        return "rejected", f"{glance.rejected} rejected", "rejected"
    return sign, "", None


def _rest(session: Session, glance: Glance | None) -> str:
    if session.origin is not None:
        return one_line(session.origin, 20)
    if glance is None:
        return ""
    if session.kind == "pipeline":
        return "run"
    if glance.failed:
        return f"{glance.failed} failed"
    if session.status == "terminated":
        return "stopped"
    return "no edits" if glance.turns else "empty"


# --- the preview ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewFile:
    """A file that a session changed."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What is said of the session under the cursor."""

    id: str
    title: str
    sign: Meaning
    word: str
    facts: tuple[tuple[str, str], ...]
    """Label and words; raw."""
    asked: int
    unasked: int
    """Calls that were decided without a question."""
    waiting: int
    outcomes: tuple[tuple[Outcome, int], ...]
    """Those that are there; together they are what was asked and does not wait, and what was not asked."""
    calls: int
    failed_calls: int
    changed: int
    files: tuple[PreviewFile, ...]
    places: tuple[Place, ...] = ()
    place_count: int = 0
    """How many places match what was typed; `places` are the newest."""


def preview(
    session: Session,
    waiting: int,
    counts: Statistics,
    spans: Spans,
    *,
    home: str = "",
    when: Callable[[int, int], str],
    places: Sequence[Place] = (),
    place_count: int = 0,
) -> Preview:
    """Return the preview of a session.

    Args:
        session: Its row.
        waiting: How many of its questions wait.
        counts: What is counted of it alone.
        spans: When it worked and waited.
        home: The user's home folder, written `~`.
        when: Writes two moments as a time from to; microseconds.
        places: The newest places that hold what was typed.
        place_count: All of them.
    """
    sign, word = session_sign(session, waiting)
    worked, waited = worked_and_waited(spans)
    money = "" if counts.cost is None else f"   {counts.cost:.2f}"
    used = counts.input_tokens + counts.output_tokens
    facts = (
        ("workspace", _short(session.workspace, home)),
        ("model", ", ".join(part for part in (session.model, session.provider) if part)),
        ("when", when(session.created_at, session.updated_at)),
        ("worked", _worked(worked, waited)),
        ("tokens", f"{human.tokens(used)}{money}" if used else ""),
        ("tags", ", ".join(session.tags)),
        ("from", session.origin or ""),
        ("kept as", "archived" if session.archived else ""),
    )
    # A question that another one replaced is the same question.
    outcomes: tuple[tuple[Outcome, int], ...] = tuple(
        pair for pair in counts.outcomes if pair[1] and pair[0] != "replaced"
    )
    return Preview(
        id=session.id, title=title_of(session), sign=sign, word=_word(session, word),
        facts=tuple((name, words) for name, words in facts if words),
        asked=sum(count for name, count in outcomes if name not in UNASKED) + waiting, waiting=waiting,
        unasked=sum(count for name, count in outcomes if name in UNASKED), outcomes=outcomes,
        calls=sum(one.calls for one in counts.tools), failed_calls=sum(one.failed for one in counts.tools),
        changed=len(counts.files),
        files=tuple(PreviewFile(path=one.path, added=one.added, removed=one.removed) for one in counts.files),
        places=tuple(places), place_count=place_count,
    )  # fmt: skip


def _word(session: Session, word: str) -> str:
    return f"{word}, {session.reason}" if session.status == "paused" and session.reason else word


def _worked(worked: int, waited: int) -> str:
    if worked < _MICROS / 1000 and not waited:
        return ""
    words = human.duration(worked / _MICROS)
    return f"{words}   waited for you {human.duration(waited / _MICROS)}" if waited else words


def worked_and_waited(spans: Spans) -> tuple[int, int]:
    """Return how long a session worked and how long it only waited for its human, in microseconds.

    Time in which a question waited is no working time, however many waited at once.
    """
    waits = _joined(spans.waits)
    turns = _joined(spans.turns)
    both = sum(max(0, min(end, last) - max(begin, first)) for begin, end in turns for first, last in waits)
    return sum(end - begin for begin, end in turns) - both, sum(last - first for first, last in waits)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of time without overlaps."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif end > begin:
            found.append((begin, end))
    return found


def _short(path: str, home: str) -> str:
    home = home.rstrip("/")
    return f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path


# --- what goes with a deleted session ------------------------------------------------------------------


def is_typeable(title: str) -> bool:
    """Return whether a person can be asked to type a title: plain letters, not too many."""
    return 0 < len(title) <= 40 and title.isascii() and title.isprintable() and title == title.strip()
