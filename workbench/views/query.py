"""What is typed to find sessions: words, phrases, `key:value` narrowing, made an expression of the index.

Pure. Owns the little language and what it means. It never fails: what is half typed narrows as far as it
goes, and what is no date says so in `problems`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from workbench.domain.rows import Session
from workbench.text.human import parse_iso

KEYS: Final = (
    "status", "model", "provider", "in", "tag", "since", "until", "origin", "kind", "is", "tool", "asked",
)  # fmt: skip
"""What may stand before a colon; `in` is a workspace, `is` takes `archived`, `imported` or `live`,
`asked` how a question ended."""

ELSEWHERE: Final = ("tool", "asked")
"""What no row of a session says: `journal.library.facets` knows which sessions pass."""

Inside = Callable[[str, bool], Sequence[str]]
"""Returns words of the index that hold some letters behind their first; with True, that end with them."""

_LEAST_INSIDE: Final = 3
"""Letters that are looked for within words; fewer are in nearly all of them."""

_WORD = re.compile(r'(?P<minus>-?)(?:(?P<key>[a-z]+):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>\S+))')
_LIVE: Final = ("created", "initializing", "ready", "processing", "paused")
_MONTHS: Final[tuple[str, ...]] = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_WEEKDAYS: Final[tuple[str, ...]] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing that a text must hold, or must not."""

    text: str
    is_phrase: bool = False
    is_excluded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What was typed, taken apart."""

    terms: tuple[Term, ...] = ()
    narrowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    since: int | None = None
    until: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether everything fits."""
        return not self.terms and not self.narrowed and self.since is None and self.until is None


def parse(text: str, now: int = 0) -> Query:
    """Take apart what was typed.

    Args:
        text: Such as `rename "by hand" status:paused since:oct -draft`.
        now: Microseconds, for `today`, `7d`, names of days and months.
    """
    terms: list[Term] = []
    narrowed: dict[str, tuple[str, ...]] = {}
    times: dict[str, int] = {}
    problems: list[str] = []
    for found in _WORD.finditer(text):
        key, value = found["key"], found["quoted"] if found["quoted"] is not None else found["plain"]
        if key is None or key not in KEYS:
            word = value if key is None else f"{key}:{value}"
            terms += _term(word, is_phrase=found["quoted"] is not None, is_excluded=bool(found["minus"]))
        elif key in ("since", "until"):
            moment = moment_of(value, now, is_end=key == "until")
            if moment is None:
                problems.append(f"{key}:{value} is no date")
            else:
                times[key] = moment
        elif value:
            narrowed[key] = (*narrowed.get(key, ()), value.casefold())
    return Query(
        terms=tuple(terms), narrowed=narrowed, since=times.get("since"), until=times.get("until"),
        problems=tuple(problems),
    )  # fmt: skip


def _term(text: str, *, is_phrase: bool, is_excluded: bool) -> list[Term]:
    if not any(character.isalnum() for character in text):
        return []
    return [Term(text=text, is_phrase=is_phrase, is_excluded=is_excluded)]


def match(query: Query, inside: Inside | None = None) -> str:
    """Return the query as an FTS5 expression; empty where only rows narrow.

    A word stands for every word that begins with it, so that a list may follow the typing. One letter of an
    alphabet stands for itself only: everything begins with it.

    Args:
        query: What was typed.
        inside: Adds words that hold the letters further on. A phrase and what must not be there mean whole
            words.
    """
    wanted = " ".join(_alternatives(term, inside) for term in query.terms if not term.is_excluded)
    if not wanted:
        return ""
    unwanted = "".join(f" NOT {_expression(term)}" for term in query.terms if term.is_excluded)
    return f"({wanted}){unwanted}" if unwanted else wanted


def _expression(term: Term) -> str:
    quoted = '"' + term.text.replace('"', '""') + '"'
    is_letter = len(term.text) == 1 and term.text.isascii()
    return quoted if term.is_phrase or is_letter else f"{quoted}*"


def _alternatives(term: Term, inside: Inside | None) -> str:
    """Return a term as an expression in which its first word may begin within a word of the index."""
    words = words_of(term.text)
    if inside is None or term.is_phrase or (len(words[0]) < _LEAST_INSIDE and words[0].isascii()):
        return _expression(term)
    behind = " ".join(words[1:])
    found = inside(words[0], bool(behind))
    others = [f'"{one} {behind}"*' if behind else f'"{one}"' for one in found]
    return f"({' OR '.join((_expression(term), *others))})" if others else _expression(term)


def words_of(text: str) -> list[str]:
    """Return the words that the index sees in a text."""
    return re.findall(r"[^\W_]+", text)


def fits(session: Session, query: Query) -> bool:
    """Return whether a session's row passes what narrows; its words are not looked at."""
    if query.since is not None and session.updated_at < query.since:
        return False
    if query.until is not None and session.updated_at >= query.until:
        return False
    return all(_one_fits(session, key, values) for key, values in query.narrowed.items())


def _one_fits(session: Session, key: str, values: Iterable[str]) -> bool:
    if key in ELSEWHERE:
        return True
    if key == "is":
        return all(_is(session, value) for value in values)
    if key == "tag":
        tags = [tag.casefold() for tag in session.tags]
        return all(any(tag.startswith(value) for tag in tags) for value in values)
    return _value_fits(key, _OWN[key](session), tuple(values))


@lru_cache(maxsize=1024)
def _value_fits(key: str, value: str, wanted: tuple[str, ...]) -> bool:
    """Return whether a value passes; ten thousand sessions share a few dozen of them."""
    own = value.casefold()
    if key == "in":
        return all(one.rstrip("/") in own for one in wanted)
    return any(own.startswith(one) for one in wanted)


def _is(session: Session, word: str) -> bool:
    match word:
        case "archived":
            return session.archived
        case "imported":
            return session.origin is not None
        case "live":
            return session.status in _LIVE
        case _:
            return False


_OWN: Final[Mapping[str, Callable[[Session], str]]] = {
    "status": lambda session: session.status,
    "model": lambda session: session.model,
    "provider": lambda session: session.provider,
    "in": lambda session: session.workspace,
    "origin": lambda session: session.origin or "workbench",
    "kind": lambda session: session.kind,
}


def title_fits(session: Session, query: Query) -> bool:
    """Return whether title and tags hold every word, anywhere in a word; what a person sees counts too."""
    seen = "\n".join((session.title, *session.tags)).casefold()
    return all((term.text.casefold() in seen) != term.is_excluded for term in query.terms)


def moment_of(text: str, now: int, *, is_end: bool) -> int | None:
    """Return a moment as people write it; None if it is none.

    Args:
        text: `2026-11-21`, a time of ISO 8601, `today`, `yesterday`, `7d`, `oct`, `fri`.
        now: Microseconds.
        is_end: Whether the end of a day or month is meant.
    """
    word = text.casefold()
    day = _day(word, datetime.fromtimestamp(now / 1_000_000).astimezone())
    if day is not None:
        first, length = day
        return int((first + length * is_end).timestamp() * 1_000_000)
    try:
        return parse_iso(text)
    except ValueError:
        return None


def _day(word: str, now: datetime) -> tuple[datetime, timedelta] | None:
    """Return where a day or month begins, and how long it is."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    one = timedelta(days=1)
    if word in ("today", "yesterday"):
        return today - one * (word == "yesterday"), one
    if found := re.fullmatch(r"(\d{1,4})([dwm])", word):
        return today - int(found[1]) * timedelta(days={"d": 1, "w": 7, "m": 30}[found[2]]), one
    if word[:3] in _WEEKDAYS:
        return today - one * ((today.weekday() - _WEEKDAYS.index(word[:3])) % 7), one
    if word[:3] in _MONTHS:
        return _month(_MONTHS.index(word[:3]) + 1, today)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word):
        return _written(word, one)
    return None


def _month(month: int, today: datetime) -> tuple[datetime, timedelta]:
    year = today.year - (month > today.month)
    first = datetime(year, month, 1).astimezone()
    after = datetime(year + month // 12, month % 12 + 1, 1).astimezone()
    return first, after - first


def _written(word: str, one: timedelta) -> tuple[datetime, timedelta] | None:
    try:
        return datetime.strptime(word, "%Y-%m-%d").astimezone(), one
    except ValueError:
        return None
