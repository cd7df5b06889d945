"""Syntax colours for code: Pygments, loaded when first needed, a hunk or a fence at a time.

Owns what counts as keyword, string, function, number, comment. Never holds up a frame: big or long-lined
texts have no colours, and what was painted is kept.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from workbench.draw.lexers import lexer_of
from workbench.draw.tokens import TokenName

Paint = tuple[int, int, TokenName]
"""From character, to character, token."""

LARGEST: Final = 64_000
"""Characters of a text that is painted."""
LONGEST: Final = 1_000
"""Characters of its longest line."""
_KEPT: Final = 200
_NOTHING: Sequence[Sequence[Paint]] = ()


class Painter:
    """Paints lines of code; remembers what it painted."""

    def __init__(self) -> None:
        self._painted: dict[tuple[str, tuple[str, ...]], Sequence[Sequence[Paint]]] = {}

    def lines(self, path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[Paint]]:
        """Return the paints of each line; no lines for a language nobody knows or a text too big.

        Args:
            path_or_language: a file's path, or the word behind the fence of markdown.
            lines: the text; the same lines twice are painted once.
        """
        if sum(map(len, lines)) > LARGEST or any(len(line) > LONGEST for line in lines):
            return _NOTHING
        key = (path_or_language, tuple(lines))
        if key not in self._painted:
            if len(self._painted) >= _KEPT:
                self._painted.pop(next(iter(self._painted)))
            self._painted[key] = _paint(path_or_language, lines)
        return self._painted[key]


def _paint(path_or_language: str, lines: Sequence[str]) -> Sequence[Sequence[Paint]]:
    lexer = lexer_of(path_or_language.rpartition("/")[2])
    if lexer is None:
        return _NOTHING
    found: list[list[Paint]] = [[] for _ in lines]
    line, start = 0, 0
    for at, kind, value in lexer.get_tokens_unprocessed("\n".join(lines)):
        token = _token(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                line, start = line + 1, at
            if piece and token and line < len(found):
                found[line].append((at - start, at - start + len(piece), token))
            at += len(piece) + 1
    return found


@cache
def _token(kind: object) -> TokenName | None:
    """Return the token of a Pygments type, by its name: `Token.Name.Function` and so on."""
    name = str(kind)
    return next((token for prefix, token in _TOKENS.items() if name.startswith("Token." + prefix)), None)


_TOKENS: Final[Mapping[str, TokenName]] = {
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
