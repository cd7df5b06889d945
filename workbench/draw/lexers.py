"""Which of Pygments' lexers reads a file or a language: by tables of names, and one lexer loaded.

Owns the looking up. Pygments' own compiles an expression for each of its thousand file name patterns and asks
all installed packages for more lexers: a sixth of the memory of a screen, and longer than a frame.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from workbench.records import dataclass

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_SPECIAL: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """Names of lexers by what they are found by; in each pair the pattern comes second."""

    names: dict[str, list[tuple[str, str]]]
    """By a whole file name."""
    endings: dict[str, list[tuple[str, str]]]
    """By the end of a file name, from a dot on."""
    patterns: list[tuple[str, str]]
    aliases: dict[str, str]


def lexer_of(name: str) -> "Lexer | None":
    """Return the lexer of a file name, else of a language by the name that fences have; None for neither.

    Args:
        name: without folders.
    """
    found = _best(_matching(name)) or _loaded(_tables().aliases.get(name.lower(), ""))
    return found(stripnl=False, ensurenl=False) if found else None


@cache
def _tables() -> _Tables:
    from pygments.lexers import get_all_lexers

    tables = _Tables(names={}, endings={}, patterns=[], aliases={})
    listed = cast(
        "Iterable[tuple[str, tuple[str, ...], tuple[str, ...], object]]", get_all_lexers(plugins=False)
    )
    for lexer, aliases, patterns, _ in listed:
        for alias in aliases:
            tables.aliases.setdefault(alias, lexer)
        for pattern in patterns:
            _enter(tables, lexer, pattern)
    return tables


def _enter(tables: _Tables, lexer: str, pattern: str) -> None:
    if not _SPECIAL & set(pattern):
        tables.names.setdefault(pattern, []).append((lexer, pattern))
    elif pattern.startswith("*.") and not _SPECIAL & set(pattern[1:]):
        tables.endings.setdefault(pattern[1:], []).append((lexer, pattern))
    else:
        tables.patterns.append((lexer, pattern))


def _matching(name: str) -> list[tuple[str, str]]:
    tables = _tables()
    found = list(tables.names.get(name, ()))
    for at, letter in enumerate(name):
        if letter == ".":
            found += tables.endings.get(name[at:], ())
    return found + [pair for pair in tables.patterns if fnmatchcase(name, pair[1])]


def _best(found: Iterable[tuple[str, str]]) -> Any:
    """Return the lexer that Pygments would choose: by its priority, a whole name counts half a point more."""
    rated = [
        (lexer.priority + ("*" not in pattern) / 2, lexer.__name__, lexer)
        for name, pattern in found
        if (lexer := _loaded(name)) is not None
    ]
    return max(rated, key=lambda one: one[:2])[2] if rated else None


def _loaded(name: str) -> Any:
    from pygments.lexers import find_lexer_class

    return find_lexer_class(name) if name else None
