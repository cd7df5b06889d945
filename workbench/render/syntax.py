"""Syntax highlighting of code by Pygments, in the colours of the theme."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from workbench.render.theme import ColorName

if TYPE_CHECKING:
    from pygments.lexer import Lexer


SyntaxSpan = tuple[int, int, ColorName]
MAX_HIGHLIGHTED_CHARS: Final = 64_000
MAX_HIGHLIGHTED_LINE: Final = 1_000
_MAX_REMEMBERED: Final = 200
_NO_SPANS: Sequence[Sequence[SyntaxSpan]] = ()


@lru_cache(maxsize=256)
def lexer_for(name: str) -> "Lexer | None":
    """Return the lexer of a file name, else of a language as fences name it; None for neither.

    The first call compiles Pygments' patterns of names, 0.4 s: the screen makes it in a thread.
    """
    from pygments.util import ClassNotFound

    lexers: Any = import_module("pygments.lexers")
    for find_lexer in (lexers.get_lexer_for_filename, lexers.get_lexer_by_name):
        with suppress(ClassNotFound):
            return find_lexer(name, stripnl=False, ensurenl=False)
    return None


class SyntaxHighlighter:
    """Paints lines of code; remembers what it painted."""

    def __init__(self) -> None:
        self._painted: dict[tuple[str, tuple[str, ...]], Sequence[Sequence[SyntaxSpan]]] = {}

    def lines(self, path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[SyntaxSpan]]:
        """Return the colours of each line; none for an unknown language or a text that is too large."""
        if sum(map(len, lines)) > MAX_HIGHLIGHTED_CHARS or any(
            len(line) > MAX_HIGHLIGHTED_LINE for line in lines
        ):
            return _NO_SPANS
        key = (path_or_language, tuple(lines))
        if key not in self._painted:
            if len(self._painted) >= _MAX_REMEMBERED:
                self._painted.pop(next(iter(self._painted)))
            self._painted[key] = _highlight(path_or_language, lines)
        return self._painted[key]


def _highlight(path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[SyntaxSpan]]:
    lexer = lexer_for(path_or_language.rpartition("/")[2])
    if lexer is None:
        return _NO_SPANS
    spans: list[list[SyntaxSpan]] = [[] for _ in lines]
    line, start = 0, 0
    for offset, kind, value in lexer.get_tokens_unprocessed("\n".join(lines)):
        token = _color_of_token(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                line, start = line + 1, offset
            if piece and token and line < len(spans):
                spans[line].append((offset - start, offset - start + len(piece), token))
            offset += len(piece) + 1
    return spans


@cache
def _color_of_token(kind: object) -> ColorName | None:
    name = str(kind)
    return next(
        (token for prefix, token in _COLOR_OF_TOKEN.items() if name.startswith("Token." + prefix)), None
    )


_COLOR_OF_TOKEN: Final[Mapping[str, ColorName]] = {
    "Keyword": "keyword",
    "Operator.Word": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Comment": "comment",
    "Name.Function": "function",
    "Name.Class": "function",
    "Name.Builtin": "function",
    "Name.Decorator": "function",
    "Name.Tag": "keyword",
    "Name.Attribute": "function",
}
