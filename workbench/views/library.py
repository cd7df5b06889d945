"""The library: its query language, completion of the filter, order, rows, and the hits of a search.

The query never fails: what is half typed narrows as far as it goes. Rows are made when they are drawn.
"""

# The library's order is total (what the order names, the newest, the id), so that a session that changed is
# put in its place and gives what sorting all of them would (tests/unit/views/test_ranking.py).

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, assert_never

from msgspec import Struct, field

from workbench.domain import events as e
from workbench.domain.machines import LOST
from workbench.domain.rows import Session, SessionCounts
from workbench.text.human import SECOND_MICROS, counted, parse_iso_time, token_text
from workbench.text.safe import one_line, safe_text
from workbench.views.agent_tree import is_imported_fork
from workbench.views.sessions import BUSY_STATUSES, session_title
from workbench.views.status_icons import StatusName, session_status, told_status

QUERY_KEYS: Final = (
    "status", "model", "provider", "in", "tag", "since", "until", "origin", "kind", "is", "tool", "asked",
)  # fmt: skip
"""What may stand before a colon; `in` is a workspace, `asked` how a question ended."""
INDEX_QUERY_KEYS: Final = ("tool", "asked")
"""What no row of a session says: `views.session_facets` asks the journal which sessions pass."""
WordsContaining = Callable[[str, bool], Sequence[str]]
"""Returns words of the index that hold some letters behind their first; with True, that end with them."""
_MIN_SUBSTRING_LETTERS: Final = 3
"""Letters that are looked for within words; fewer are in nearly all of them."""
_QUERY_WORD = re.compile(r'(?P<minus>-?)(?:(?P<key>[a-z]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>\S+))')
_LIVE_STATUSES: Final = ("created", "initializing", "ready", "processing", "paused")
_MONTHS: Final[tuple[str, ...]] = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_WEEKDAYS: Final[tuple[str, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class SearchTerm(Struct, frozen=True, kw_only=True):
    """One thing that a text must hold, or must not."""

    text: str
    is_phrase: bool = False
    is_excluded: bool = False

    @property
    def is_option(self) -> bool:
        """Return whether it is a word such as `-la`, which is searched for with its hyphen."""
        return self.text.startswith("-") and not self.is_phrase


class SearchQuery(Struct, frozen=True, kw_only=True):
    """What was typed, taken apart."""

    terms: tuple[SearchTerm, ...] = ()
    narrowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    excluded: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The values behind `-status:` and the like: a session that has one of them is left out."""
    since: int | None = None
    until: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.terms and not self.narrows

    @property
    def narrows(self) -> bool:
        """Return whether anything but words narrows."""
        return bool(self.narrowed or self.excluded) or self.since is not None or self.until is not None

    @property
    def options(self) -> tuple[str, ...]:
        """Return the words such as `-la`: the index knows no hyphen, so its finds are compared with them."""
        return tuple(term.text for term in self.terms if term.is_option)


def parse_query(text: str, now: int = 0, keys: Collection[str] = QUERY_KEYS) -> SearchQuery:
    """Parse a query such as `rename "by hand" status:paused since:oct -"draft"`; `now` is in microseconds.

    `keys`: the keys accepted before a colon; each list has its own.

    A hyphen directly before a quotation mark, or before a known key and its colon, excludes. Before all else
    it belongs to the word, because commands are full of words such as `-la`.
    """
    terms: list[SearchTerm] = []
    narrowed: dict[str, tuple[str, ...]] = {}
    excluded: dict[str, tuple[str, ...]] = {}
    times: dict[str, int] = {}
    problems: list[str] = []
    for match in _QUERY_WORD.finditer(text):
        key, value = match["key"], match["quoted"] if match["quoted"] is not None else match["plain"]
        if key is None or key not in keys:
            terms += _search_terms(match)
        elif key in ("since", "until"):
            moment = parse_moment(value, now, is_end=key == "until")
            if moment is None:
                problems.append(f"{key}:{value} is not a date")
            else:
                _bound_time(times, key, moment, is_excluded=bool(match["minus"]))
        elif value:
            values = excluded if match["minus"] else narrowed
            values[key] = (*values.get(key, ()), value.casefold())
    return SearchQuery(
        terms=tuple(terms), narrowed=narrowed, excluded=excluded, since=times.get("since"),
        until=times.get("until"), problems=tuple(problems),
    )  # fmt: skip


def _bound_time(times: dict[str, int], key: str, moment: int, *, is_excluded: bool) -> None:
    """Set a bound; not since a moment means until it, and the other way round."""
    other = {"since": "until", "until": "since"}
    times[other[key] if is_excluded else key] = moment


def _search_terms(match: re.Match[str]) -> list[SearchTerm]:
    key, quoted, minus = match["key"], match["quoted"], match["minus"]
    word = match["plain"] if quoted is None else quoted
    text = word if key is None else f"{key}:{word}"
    if not any(character.isalnum() for character in text):
        return []
    is_excluded = bool(minus) and quoted is not None and key is None
    return [
        SearchTerm(
            text=text if is_excluded else minus + text, is_phrase=quoted is not None, is_excluded=is_excluded
        )
    ]


def fts_expression(query: SearchQuery, inside: WordsContaining | None = None) -> str:
    """Return the query as an FTS5 expression; empty where only rows narrow.

    A word stands for every word that begins with it; one letter of an alphabet for itself only. `inside` adds
    words that hold the letters further on, but not for phrases and negated terms.
    """
    # FTS5 takes words beside one another for AND, but not where one of them is a group in parentheses.
    required = " AND ".join(_alternatives(term, inside) for term in query.terms if not term.is_excluded)
    if not required:
        return ""
    excluded = "".join(f" NOT {_term_expression(term)}" for term in query.terms if term.is_excluded)
    return f"({required}){excluded}" if excluded else required


def _term_expression(term: SearchTerm) -> str:
    quoted = '"' + term.text.replace('"', '""') + '"'
    is_letter = len(term.text.lstrip("-")) == 1 and term.text.isascii()
    return quoted if term.is_phrase or is_letter else f"{quoted}*"


def _alternatives(term: SearchTerm, inside: WordsContaining | None) -> str:
    """Return a term as an expression in which its first word may begin within a word of the index."""
    words = index_words(term.text)
    is_short = len(words[0]) < _MIN_SUBSTRING_LETTERS and words[0].isascii()
    if inside is None or term.is_phrase or term.is_option or is_short:
        return _term_expression(term)
    behind = " ".join(words[1:])
    longer_words = inside(words[0], bool(behind))
    others = [f'"{longer} {behind}"*' if behind else f'"{longer}"' for longer in longer_words]
    return f"({' OR '.join((_term_expression(term), *others))})" if others else _term_expression(term)


def index_words(text: str) -> list[str]:
    """Return the words that the index sees in a text."""
    return re.findall(r"[^\W_]+", text)


def session_fits(session: Session, query: SearchQuery) -> bool:
    """Return whether a session's row passes what narrows; its words are not looked at."""
    if query.since is not None and session.updated_at < query.since:
        return False
    if query.until is not None and session.updated_at >= query.until:
        return False
    if any(_is_excluded(session, key, values) for key, values in query.excluded.items()):
        return False
    return all(_key_fits(session, key, values) for key, values in query.narrowed.items())


def _is_excluded(session: Session, key: str, values: Iterable[str]) -> bool:
    if key in INDEX_QUERY_KEYS:
        return False
    return any(_key_fits(session, key, (value,)) for value in values)


def _key_fits(session: Session, key: str, values: Iterable[str]) -> bool:
    if key in INDEX_QUERY_KEYS:
        return True
    if key == "is":
        return all(_has_state(session, value) for value in values)
    if key == "tag":
        tags = [tag.casefold() for tag in session.tags]
        return all(any(tag.startswith(value) for tag in tags) for value in values)
    return _value_fits(key, _VALUE_OF_KEY[key](session), tuple(values))


@lru_cache(maxsize=1024)
def _value_fits(key: str, value: str, wanted: tuple[str, ...]) -> bool:
    own = value.casefold()
    if key == "in":
        return all(prefix.rstrip("/") in own for prefix in wanted)
    if key == "model":  # people say opus, and the model is claude-opus-4
        return any(part in own for part in wanted)
    return any(own.startswith(prefix) for prefix in wanted)


def _has_state(session: Session, word: str) -> bool:
    match word:
        case "archived":
            return session.archived
        case "imported":
            return session.origin is not None
        case "live":
            return session.status in _LIVE_STATUSES
        case _:
            return False


_VALUE_OF_KEY: Final[Mapping[str, Callable[[Session], str]]] = {
    "status": told_status,
    "model": lambda session: session.model,
    "provider": lambda session: session.provider,
    "in": lambda session: session.workspace,
    "origin": lambda session: session.agent,
    "kind": lambda session: session.kind,
}


def title_fits(session: Session, query: SearchQuery) -> bool:
    """Return whether title and tags hold every word, anywhere in a word; what a person sees counts too."""
    text = title_and_tags(session)
    return all((term.text.casefold() in text) != term.is_excluded for term in query.terms)


def parse_moment(text: str, now: int, *, is_end: bool) -> int | None:
    """Return `2026-11-21`, `today`, `7d`, `oct` in microseconds; `is_end`: the end of that day or month."""
    word = text.casefold()
    day = _day_or_month(word, datetime.fromtimestamp(now / SECOND_MICROS).astimezone())
    if day is not None:
        first, length = day
        return int((first + length * is_end).timestamp() * SECOND_MICROS)
    try:
        return parse_iso_time(text)
    except ValueError:
        return None


def _day_or_month(word: str, now: datetime) -> tuple[datetime, timedelta] | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    day = timedelta(days=1)
    if word in ("today", "yesterday"):
        return today - day * (word == "yesterday"), day
    if match := re.fullmatch(r"(\d{1,4})([dwm])", word):
        return today - int(match[1]) * timedelta(days={"d": 1, "w": 7, "m": 30}[match[2]]), day
    if word[:3] in _WEEKDAYS:
        return today - day * ((today.weekday() - _WEEKDAYS.index(word[:3])) % 7), day
    if word[:3] in _MONTHS:
        return _month_span(_MONTHS.index(word[:3]) + 1, today)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return _iso_day(word, day)
    return None


def _month_span(month: int, today: datetime) -> tuple[datetime, timedelta]:
    year = today.year - (month > today.month)
    first = datetime(year, month, 1).astimezone()
    after = datetime(year + month // 12, month % 12 + 1, 1).astimezone()
    return first, after - first


def _iso_day(word: str, day: timedelta) -> tuple[datetime, timedelta] | None:
    try:
        return datetime.strptime(word, "%Y-%m-%d").astimezone(), day
    except ValueError:
        return None


_COMPOUND_PART_START: Final = (
    r"(?-i:(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z]))"
)
CHARS_BEFORE_HIT: Final = 30


class SearchHit(Struct, frozen=True, kw_only=True):
    """One event that holds what was looked for."""

    sequence_number: int
    at: int
    who: str
    text: str
    hits: tuple[tuple[int, int], ...] = ()
    """Where the words are in `text`: first character, and the one behind the last."""


def search_hit(event: e.Event, terms: Sequence[SearchTerm], length: int = 160) -> SearchHit:
    """Return where in a searchable event the terms are, in a line of at most `length` characters."""
    who, text = speaker_and_text(event)
    pattern = _terms_pattern(terms, text)
    match = pattern.search(text) if pattern else None
    first = max(0, match.start() - CHARS_BEFORE_HIT) if match else 0
    cut = " ".join(text[first : first + length].split())
    line = safe_text(
        ("…" if first else "") + cut + ("…" if first + length < len(text) else ""), keep_newlines=False
    )
    return SearchHit(
        sequence_number=event.sequence_number, at=event.at, who=who, text=line, hits=hit_spans(line, terms)
    )  # fmt: skip


def hit_spans(line: str, terms: Sequence[SearchTerm]) -> tuple[tuple[int, int], ...]:
    """Return where in a line the terms are: first character, and the one behind the last."""
    pattern = _terms_pattern(terms, line)
    return tuple(match.span() for match in pattern.finditer(line)) if pattern else ()


def speaker_and_text(event: e.Event) -> tuple[str, str]:
    """Return who says an event, and its text as the index has it."""
    match event.body:
        case e.PromptSubmitted(text=text):
            return "you", text
        case e.ReplyCompleted(text=text):
            return "agent", text
        case e.CallProposed() as body:
            named = (body.parameters.get(key) for key in ("command", "path"))
            words = (body.target, *(word for word in named if isinstance(word, str) and word != body.target))
            return "call", " ".join(word for word in words if word)
        case e.FileChanged(path=path):
            return "file", path
        case e.ActionRejected(reason=reason):
            return "you", reason or ""
        case e.SessionCreated(title=title):
            return "title", title
        case e.SessionChanged(title=title, tags=tags):
            return "title", " ".join((title or "", *(tags or ()))).strip()
        case (
            e.TurnStarted() | e.TextStreamed() | e.ThinkingStreamed() | e.ConversationCompacted()
            | e.TurnEnded() | e.ProgressReported() | e.ErrorRaised() | e.HookRan() | e.CommandSuggested()
            | e.CallExecuting() | e.ProcessStarted() | e.OutputStreamed() | e.CallFinished()
            | e.CallRepeated() | e.SandboxRefused() | e.SessionStatusChanged() | e.SessionDeleted()
            | e.LeaseTaken()
            | e.LeaseReleased()
            | e.AgentConnected() | e.AgentGone() | e.InterruptRequested()
            | e.PromptWithdrawn() | e.PromptsReordered()
            | e.ContinueRequested() | e.CompactionRequested()
            | e.RefreshRequested() | e.UndoRequested()
            | e.PatchRequested() | e.MarkAdded() | e.ForkRequested()
            | e.ContextCollected() | e.ActionOpened() | e.ActionApproved() | e.ActionExpired()
            | e.ActionSuperseded() | e.ActionCancelled() | e.ActionBecameStale() | e.AnswerRefused()
            | e.RuleAdded() | e.RuleUsed() | e.RuleRevoked() | e.RulePlaced() | e.WorkspaceTrusted()
            | e.WorkspaceTrustRevoked() | e.AgentsHeld()
            | e.AgentsReleased() | e.SecurityNoted() | e.RunRequested() | e.RunCancelRequested()
            | e.StepRetryRequested() | e.RunStarted() | e.RunChanged() | e.StepChanged() | e.ContractChecked()
            | e.ArtifactStored() | e.IncidentsListed() | e.IncidentsRequested() | e.IncidentsCancelRequested()
            | e.IncidentDismissed() | e.IncidentStarted() | e.IncidentChecked() | e.IncidentEnded()
            | e.Unknown()
        ):  # fmt: skip
            return "", ""  # no index holds them
        case _:
            assert_never(event.body)


def _terms_pattern(terms: Sequence[SearchTerm], text: str) -> re.Pattern[str] | None:
    alternatives = "|".join(_term_pattern(text, term) for term in terms if not term.is_excluded)
    return re.compile(alternatives, re.IGNORECASE) if alternatives else None


def _term_pattern(text: str, term: SearchTerm) -> str:
    """Return a term as a pattern: its words may be apart by anything that is no letter or digit.

    A word begins at a word or at a part of a compound; within a word only if the text has it nowhere else.
    """
    if term.is_option:
        return re.escape(term.text)
    words = r"[\W_]+".join(re.escape(word) for word in index_words(term.text))
    begun = rf"(?:(?<![^\W_])|{_COMPOUND_PART_START}){words}"
    return begun if term.is_phrase or re.search(begun, text, re.IGNORECASE) else words


SEPARATOR_ID: Final = "-split"
"""The id of the line between what is live and what rests; the cursor passes over it."""


class LibraryOrder(Struct, frozen=True, kw_only=True):
    """One order of the list."""

    words: str
    key: Callable[[Session], int | str]
    is_down: bool = True


LIBRARY_ORDERS: Final = (
    LibraryOrder(words="newest first", key=lambda session: session.updated_at),
    LibraryOrder(words="oldest first", key=lambda session: session.updated_at, is_down=False),
    LibraryOrder(words="last started first", key=lambda session: session.created_at),
    LibraryOrder(words="by title", key=lambda session: session.title.casefold(), is_down=False),
    LibraryOrder(words="most tokens first", key=lambda session: session.usage.total_tokens),
    LibraryOrder(words="by status", key=told_status, is_down=False),
    LibraryOrder(words="by model", key=lambda session: session.model.casefold(), is_down=False),
    LibraryOrder(words="by workspace", key=lambda session: session.workspace, is_down=False),
)


class SessionFilter:
    """A query prepared for ten thousand sessions."""

    def __init__(
        self, query: SearchQuery, holders: Mapping[str, int], narrowed: Container[str] | None
    ) -> None:
        """Take the hits by session, and the sessions that pass `tool:` and `asked:` (None: all)."""
        self._query, self._holders, self._narrowed = query, holders, narrowed
        self._words = [(term.text.casefold(), not term.is_excluded) for term in query.terms]
        self._shows_archived = "archived" in query.narrowed.get("is", ())
        self._is_narrowed = query.narrows

    def passes(self, session: Session, seen: str) -> bool:
        if session.archived and not self._shows_archived:
            return False
        if self._narrowed is not None and session.id not in self._narrowed:
            return False
        if self._is_narrowed and not session_fits(session, self._query):
            return False
        if not self._words or session.id in self._holders:
            return True
        return self._says(seen)

    def passing(
        self, ids: Iterable[str], sessions: Mapping[str, Session], seen: Mapping[str, str],
        archived: Collection[str],
    ) -> Iterator[str]:  # fmt: skip
        """Yield the ids that pass, in their order; `archived` are those that are out of the way."""
        holders, words = self._holders, self._words
        if self._is_narrowed or self._narrowed is not None or not words:
            return (key for key in ids if self.passes(sessions[key], seen[key]))
        # Words alone, as while somebody types: what `passes` says of them, without a call for each session.
        word, is_wanted = words[0]
        if words[1:]:
            return (
                key
                for key in ids
                if key not in archived
                and (key in holders or ((word in seen[key]) == is_wanted and self._says(seen[key])))
            )
        return (
            key for key in ids if key not in archived and (key in holders or (word in seen[key]) == is_wanted)
        )

    def _says(self, seen: str) -> bool:
        return all((word in seen) == is_wanted for word, is_wanted in self._words)


def title_and_tags(session: Session) -> str:
    """Return the words of a row that are looked through as they stand: title and tags, whatever the case."""
    return "\n".join((session.title, *session.tags)).casefold()


# --- rows -------------------------------------------------------------------------------------------


class LibraryRow(Struct, frozen=True, kw_only=True):
    """One session. Texts are one safe line each."""

    id: str
    sign: StatusName
    title: str
    hits: tuple[tuple[int, int], ...]
    folder: str
    when: int | None
    note: str
    tone: StatusName | None
    added: int = 0
    removed: int = 0
    is_marked: bool = False
    agents: int = 0
    """Agents that it began, and theirs."""
    is_opened: bool = False
    """They stand below it."""
    depth: int = 0
    """How many agents stand above one."""
    cost: str = ""
    """What it cost with all below it; empty where nobody knows."""


class SessionAgents(Struct, frozen=True):
    """What a session's row says of the agents that it began."""

    count: int
    tokens: int
    """Those of the session and of all its agents."""
    forks: int = 0
    """How many of them are no agents but what followed where a human went back."""

    @property
    def words(self) -> str:
        return f"{below_words(self.count, self.forks)} {token_text(self.tokens)}"


def below_words(count: int, forks: int) -> str:
    """Return `2 agents`, `1 fork`, or `2 agents, 1 fork`, of sessions that stand below another one."""
    parts = [counted(n, word) for n, word in ((count - forks, "agent"), (forks, "fork")) if n]
    return ", ".join(parts)


def library_row(
    session: Session,
    waiting: int,
    glance: SessionCounts | None,
    terms: Sequence[SearchTerm] = (),
    *,
    is_marked: bool = False,
    agents: SessionAgents | None = None,
    is_opened: bool = False,
    depth: int = 0,
    cost: str = "",
) -> LibraryRow:
    sign, note, tone = _status_note(session, waiting, glance)
    place = session.workspace.rstrip("/").rpartition("/")[2]
    title = session_title(session)
    is_quiet = not waiting and session.status not in BUSY_STATUSES
    if not note:
        note = agents.words if agents is not None else "fork" if is_imported_fork(session) else ""
    has_sizes = not note and glance is not None and bool(glance.added or glance.removed)
    return LibraryRow(
        id=session.id, sign=sign, title=title, hits=hit_spans(title, terms),
        folder=one_line(place, 24), when=session.updated_at if is_quiet else None,
        note=note if note or has_sizes else _quiet_note(session, glance),
        tone=tone, added=glance.added if glance and has_sizes else 0,
        removed=glance.removed if glance and has_sizes else 0, is_marked=is_marked,
        agents=agents.count if agents is not None else 0, is_opened=is_opened, depth=depth, cost=cost,
    )  # fmt: skip


def _status_note(
    session: Session, waiting: int, glance: SessionCounts | None
) -> tuple[StatusName, str, StatusName | None]:
    """Return icon and note of what matters more than how much was changed."""
    sign, word = session_status(session, waiting)
    if waiting:
        return sign, f"{waiting} wait{'s' if waiting == 1 else ''}", sign
    if session.status == LOST:
        return sign, word, sign
    if session.status in BUSY_STATUSES:
        return sign, f"turn {glance.turns + 1}" if glance else "works", sign
    if sign == "failed":
        return sign, "failed", sign
    if sign == "expired":
        count = f"{glance.expired} " if glance is not None and glance.expired else ""
        return sign, f"{count}expired", sign
    if told_status(session) == "paused":
        is_named = session.reason in ("limit reached", "loop")
        return sign, f"paused, {session.reason}" if is_named else "paused", None
    if glance is not None and glance.rejected and not glance.files:
        return "rejected", f"{glance.rejected} rejected", "rejected"
    return sign, word if session.is_supervised else "", None


def _quiet_note(session: Session, glance: SessionCounts | None) -> str:
    if session.origin is not None:
        return one_line(session.origin, 20)
    if session.kind == "ask":
        return session.log_status
    if glance is None:
        return ""
    if session.kind == "pipeline":
        return "run"
    if glance.failed:
        return f"{glance.failed} failed"
    if session.status == "terminated":
        return "stopped"
    if session.kind == "incidents":
        return "findings"
    return "no edits" if glance.turns else "empty"


# --- what goes with a deleted session ------------------------------------------------------------------


def is_typeable_title(title: str) -> bool:
    """Return whether a person can be asked to type a title: plain letters, not too many."""
    return 0 < len(title) <= 40 and title.isascii() and title.isprintable() and title == title.strip()


_SortKey = tuple[int | str, int, str]


class SessionOrder(Struct, frozen=True, kw_only=True):
    """Ids in order: live ones, archived and imported ones."""

    live: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of a list, with a line between both parts where there are both."""
        return (*self.live, SEPARATOR_ID, *self.rest) if self.live and self.rest else (*self.live, *self.rest)


EMPTY_ORDER: Final = SessionOrder()


def sort_key(session: Session, order: LibraryOrder) -> _SortKey:
    """Return what sessions are sorted by: what the order names, then the newest, then the id."""
    key = order.key(session)
    return -key if order.is_down and isinstance(key, int) else key, -session.updated_at, session.id


def sort_sessions(sessions: Iterable[Session], waiting: Collection[str], order: LibraryOrder) -> SessionOrder:
    """Sort sessions; `waiting` are those of which something waits."""
    ordered = sorted(sessions, key=lambda session: sort_key(session, order))
    live = [session.id for session in ordered if _belongs_on_top(session, waiting)]
    top = set(live)
    return SessionOrder(
        live=tuple(live), rest=tuple(session.id for session in ordered if session.id not in top)
    )


def resort_changed(
    before: SessionOrder,
    changed: Collection[str],
    there: Mapping[str, Session],
    waiting: Collection[str],
    order: LibraryOrder,
) -> SessionOrder:
    """Move only the changed sessions to their places; the result is that of `sort_sessions`."""
    parts = [[key for key in part if key not in changed] for part in (before.live, before.rest)]
    for key in changed:
        session = there.get(key)
        if session is not None:
            part = parts[0 if _belongs_on_top(session, waiting) else 1]
            wanted = sort_key(session, order)
            part.insert(bisect_left(part, wanted, key=lambda other: sort_key(there[other], order)), key)
    return SessionOrder(live=tuple(parts[0]), rest=tuple(parts[1]))


def _belongs_on_top(session: Session, waiting: Collection[str]) -> bool:
    return session.status in BUSY_STATUSES or session.id in waiting


COMPLETED_KEYS: Final = tuple(f"{key}:" for key in QUERY_KEYS if key != "kind")
_TIME_VALUES: Final = ("today", "yesterday", "7d", "30d", "90d")
_FIXED_VALUES: Final[Mapping[str, Sequence[str]]] = {
    "since": _TIME_VALUES, "until": _TIME_VALUES, "is": ("live", "imported", "archived"),
    "asked": ("approved", "rejected", "expired", "cancelled", "pending"),
}  # fmt: skip
_MAX_COMPLETIONS: Final = 12


class FilterCompletion(Struct, frozen=True, kw_only=True):
    """What could stand where the cursor is."""

    begin: int
    words: tuple[str, ...] = ()

    def taken(self, text: str, cursor: int, which: int = 0) -> tuple[str, int]:
        """Return the text with one of the words in it, and where the cursor is then."""
        word = self.words[which % len(self.words)]
        end = "" if word.endswith(":") else " "
        head = f"{text[: self.begin]}{word}{end}"
        return head + text[cursor:].lstrip(), len(head)


def complete_filter(
    text: str, cursor: int, sessions: Iterable[Session], tools: Iterable[str] = ()
) -> FilterCompletion:
    """Return what completes the word before the cursor, the most frequent values first."""
    begin = text.rfind(" ", 0, cursor) + 1
    begin += text.startswith("-", begin, cursor)
    word = text[begin:cursor].casefold()
    key, colon, value = word.partition(":")
    if not colon:
        return FilterCompletion(
            begin=begin,
            words=tuple(candidate for candidate in COMPLETED_KEYS if word and candidate.startswith(word)),
        )
    values = _FIXED_VALUES.get(key) or (tuple(tools) if key == "tool" else _frequent_values(key, sessions))
    completions = [
        _quoted_value(candidate) for candidate in values if candidate.casefold().startswith(value.strip('"'))
    ]
    return FilterCompletion(
        begin=begin, words=tuple(f"{key}:{candidate}" for candidate in completions[:_MAX_COMPLETIONS])
    )


def _frequent_values(key: str, sessions: Iterable[Session]) -> list[str]:
    if key != "tag" and key not in _VALUE_OF_KEY:
        return []
    counts = Counter(value for session in sessions for value in _completed_values(key, session) if value)
    return [one_line(value, 60) for value in sorted(counts, key=lambda counted: (-counts[counted], counted))]


def _completed_values(key: str, session: Session) -> Sequence[str]:
    if key == "tag":
        return session.tags
    value = _VALUE_OF_KEY[key](session)
    return (value.rstrip("/").rpartition("/")[2] if key == "in" else value,)


def _quoted_value(value: str) -> str:
    return f'"{value}"' if " " in value else value
