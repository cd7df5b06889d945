"""A page of the web as text that can be read.

Owns which kinds of content are text, their character set, and HTML as lines (by inscriptis, loaded with the
first page). It runs nothing of a page and loads nothing that a page names.
"""

import re
from collections.abc import Mapping
from typing import Final

from workbench.tools.base import ToolRefused

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT: Final = re.compile(
    r"text/[\w.+-]+|application/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|x-sh|x-ndjson)"
)
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_KNOWN_CHARSET: Final = re.compile(
    r"utf-?(?:8|16|32)(?:-?[lb]e)?|us-ascii|ascii|latin-?1|iso-?8859-\d{1,2}|windows-\d{3,4}|cp\d{3,4}|koi8-[ru]"
    r"|gb(?:k|2312|18030)|big5(?:-hkscs)?|euc-(?:jp|kr)|shift[_-]jis|iso-2022-jp|macintosh",
    re.IGNORECASE,
)
_SNIFFED: Final = 2048
# A parser takes time with the square of the attributes of one tag; no page needs so many.
_LONG_TAG: Final = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9:-]{0,30})[^>]{4000,}(?:>|\Z)")
_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_BLANKS: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


def readable(body: bytes, headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the title of a page, if it has one, and its text.

    Raises:
        ToolRefused: It is no text.
    """
    given = headers.get("content-type", "")
    kind = given.partition(";")[0].strip().lower()
    if not kind:
        kind = "application/octet-stream" if b"\0" in body[:_SNIFFED] else "text/plain"
    if kind not in _HTML and not _TEXT.fullmatch(kind):
        raise ToolRefused(f"it is {kind[:60]}, {len(body)} bytes; only text and web pages are read")
    text = _decoded(body, given, is_html=kind in _HTML)
    if kind not in _HTML:
        return "", text
    return _title(text), html_text(text)


def html_text(html: str) -> str:
    """Return a page as lines: headings, lists and tables laid out, links as `[words](address)`."""
    import inscriptis
    from inscriptis.model.config import ParserConfig

    source = _LONG_TAG.sub(r"<\1>", html)
    # An XML declaration that names an encoding makes the parser refuse text that is decoded already.
    source = re.sub(r"\A\s*<\?xml[^>]{0,200}\?>", "", source)
    found = inscriptis.get_text(source, ParserConfig(display_links=True)) if source.strip() else ""
    return _BLANKS.sub("\n\n", "\n".join(line.rstrip() for line in found.split("\n"))).strip()


def _decoded(body: bytes, given: str, *, is_html: bool) -> str:
    named = _CHARSET.search(given)
    if named is None and is_html:
        named = _CHARSET.search(body[:_SNIFFED].decode("latin-1"))
    charset = named[1] if named and _KNOWN_CHARSET.fullmatch(named[1]) else "utf-8"
    if body.startswith(b"\xef\xbb\xbf"):
        charset = "utf-8-sig"
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _title(html: str) -> str:
    from html import unescape

    found = _TITLE.search(html[:65_536])
    return " ".join(unescape(found[1]).split())[:200] if found else ""
