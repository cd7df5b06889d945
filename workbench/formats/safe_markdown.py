"""Untrusted Markdown made harmless for every viewer: no HTML, no pictures, no links but to pages and mail.

Blocks and spans of code stay as they are. What cannot be made harmless is put into a fence as it is.
"""

# The rules of Markdown leave room, so the result is read again by a real parser, with and without tables: a
# viewer that sees other code than this module does would otherwise see tags. Links are all taken apart where
# one of them is not harmless: which of them it is cannot be told from the text.

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MOST_CHARACTERS: Final = 200_000
_MOST_BRACKETS: Final = 4_000
"""The parser follows each that is open, which takes seconds for many."""
_MOST_NESTING: Final = 200
_BEHIND: Final = "what follows"
_SCHEMES: Final = frozenset({"", "http", "https", "mailto"})
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):")
_IGNORED: Final = re.compile(r"[\x00-\x20\x7f-\xa0]+")
_PIECE: Final = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<(?=[A-Za-z/!?])|!(?=\[)|\](?=[(:])", re.DOTALL)
"""An escape, a run of backticks, and what can begin a tag, a picture, or the address of a link."""
_ESCAPED: Final = {"<": "&lt;", "!": "&#33;"}


def harmless_markdown(text: str, fence: Callable[[str], str]) -> str:
    """Return Markdown that loads and runs nothing in a viewer; `fence` puts a text into a block of code."""
    if len(text) > _MOST_CHARACTERS or text.count("[") > _MOST_BRACKETS:
        return fence(text)
    try:
        for keeps_links in (True, False):
            clean = _closed(_escaped(text, keeps_links=keeps_links))
            if _is_harmless(clean):
                return clean
    except RecursionError:
        pass
    return fence(text)


def _escaped(text: str, *, keeps_links: bool) -> str:
    lines = text.split("\n")
    parts: list[str] = []
    for first, last, is_code in _pieces(text, len(lines)):
        part = "\n".join(lines[first:last])
        parts.append(part if is_code else _escaped_inline(part, keeps_links=keeps_links))
    return "\n".join(parts)


def _pieces(text: str, count: int) -> Iterator[tuple[int, int, bool]]:
    """Yield ranges of lines in their order that span all: blocks of code, paragraphs, lines between them."""
    place = 0
    for token in _parser(html=False, tables=False).parse(text):
        if token.type not in ("fence", "code_block", "inline") or token.map is None:
            continue
        first, last = token.map
        if first < place:
            continue
        yield from ((line, line + 1, False) for line in range(place, first))
        yield first, last, token.type != "inline"
        place = last
    yield from ((line, line + 1, False) for line in range(place, count))


def _escaped_inline(text: str, *, keeps_links: bool) -> str:
    parts: list[str] = []
    place = 0
    while match := _PIECE.search(text, place):
        parts.append(text[place : match.start()])
        piece, place = match[0], match.end()
        if piece.startswith("`") and (end := _span_end(text, place, len(piece))):
            piece, place = text[match.start() : end], end
        elif piece == "]" and not keeps_links:
            piece = "\\]"
        parts.append(_ESCAPED.get(piece, piece))
    return "".join((*parts, text[place:]))


def _span_end(text: str, start: int, length: int) -> int:
    """Return where a span of code ends whose backticks end at `start`; 0 where it is none."""
    closing = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(text, start)
    return closing.end() if closing else 0


def _closed(text: str) -> str:
    """Return a text with the fence closed that it leaves open, if it does."""
    fences = [token for token in _parser(html=False, tables=False).parse(text) if token.type == "fence"]
    return text if not fences or _is_whole(text) else f"{text}\n{fences[-1].markup}"


def _is_whole(text: str) -> bool:
    """Return whether a paragraph behind a text is read as one."""
    tokens = _parser(html=True, tables=True).parse(f"{text}\n\n{_BEHIND}")[-2:-1]
    return any((token.type, token.level, token.content) == ("inline", 1, _BEHIND) for token in tokens)


def _is_any(url: str) -> bool:  # noqa: ARG001 -- the name is the parser's
    return True


@cache
def _parser(*, html: bool, tables: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": html, "maxNesting": _MOST_NESTING})
    parser.validateLink = _is_any  # each is looked at here, and none left out
    return parser.enable(["table", "strikethrough"]) if tables else parser


def _is_harmless(text: str) -> bool:
    return (
        _is_whole(text)
        and all(map(_is_harmless_token, _tokens(text, tables=False)))
        and all(map(_is_harmless_token, _tokens(text, tables=True)))
    )


def _tokens(text: str, *, tables: bool) -> Iterator["Token"]:
    """Yield what a text is read as; a definition that another text could use is a link as well."""
    known: dict[str, Any] = {}
    for token in _parser(html=True, tables=tables).parse(text, known):
        yield token
        yield from token.children or ()
    for definition in known.get("references", {}).values():
        yield _link(str(definition["href"]))


def _link(address: str) -> "Token":
    from markdown_it.token import Token

    return Token("link_open", "a", 1, attrs={"href": address})


def _is_harmless_token(token: "Token") -> bool:
    if token.type in ("html_block", "html_inline", "image"):
        return False
    return token.type != "link_open" or is_harmless_address(str(token.attrGet("href") or ""))


def is_harmless_address(address: str) -> bool:
    """Return whether a link may lead to an address: a page, mail, or a place in the same folder."""
    scheme = _SCHEME.match(_IGNORED.sub("", address).casefold())
    return (scheme[1] if scheme else "") in _SCHEMES
