"""Find the Pygments lexer of a file or a language by tables of names, and load that one only.

Pygments' own lookup compiles a thousand patterns and asks all installed packages for more lexers.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import Struct

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_PATTERN_CHARACTERS: Final = frozenset("*?[")


class _LexerTables(Struct, frozen=True, kw_only=True):
    names: dict[str, list[tuple[str, str]]]
    endings: dict[str, list[tuple[str, str]]]
    patterns: list[tuple[str, str]]
    aliases: dict[str, str]


def lexer_for(name: str) -> "Lexer | None":
    """Return the lexer of a file name, else of a language as fences name it; None for neither."""
    lexer = _best_lexer(_matching_lexers(name)) or _load_lexer(_lexer_tables().aliases.get(name.lower(), ""))
    return lexer(stripnl=False, ensurenl=False) if lexer else None


@cache
def _lexer_tables() -> _LexerTables:
    from pygments.lexers import get_all_lexers

    tables = _LexerTables(names={}, endings={}, patterns=[], aliases={})
    listed = cast(
        "Iterable[tuple[str, tuple[str, ...], tuple[str, ...], object]]", get_all_lexers(plugins=False)
    )
    for lexer, aliases, patterns, _ in listed:
        for alias in aliases:
            tables.aliases.setdefault(alias, lexer)
        for pattern in patterns:
            _add_pattern(tables, lexer, pattern)
    return tables


def _add_pattern(tables: _LexerTables, lexer: str, pattern: str) -> None:
    if not _PATTERN_CHARACTERS & set(pattern):
        tables.names.setdefault(pattern, []).append((lexer, pattern))
    elif pattern.startswith("*.") and not _PATTERN_CHARACTERS & set(pattern[1:]):
        tables.endings.setdefault(pattern[1:], []).append((lexer, pattern))
    else:
        tables.patterns.append((lexer, pattern))


def _matching_lexers(name: str) -> list[tuple[str, str]]:
    tables = _lexer_tables()
    names = list(tables.names.get(name, ()))
    for index, letter in enumerate(name):
        if letter == ".":
            names += tables.endings.get(name[index:], ())
    return names + [pair for pair in tables.patterns if fnmatchcase(name, pair[1])]


def _best_lexer(candidates: Iterable[tuple[str, str]]) -> Any:
    """Return the lexer that Pygments would choose: by its priority, a whole name counts half a point more."""
    rated = [
        (lexer.priority + ("*" not in pattern) / 2, lexer.__name__, lexer)
        for name, pattern in candidates
        if (lexer := _load_lexer(name)) is not None
    ]
    return max(rated, key=lambda rating: rating[:2])[2] if rated else None


def _load_lexer(name: str) -> Any:
    from pygments.lexers import find_lexer_class

    return find_lexer_class(name) if name else None
