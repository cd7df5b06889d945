"""Untrusted text, Markdown, diffs and JSON as HTML that is safe to open.

Nothing here lets a tag, a script, a picture or a link of another kind than http, https and mailto pass; every
hidden character becomes a visible mark, also one that Markdown makes of an entity.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from workbench.domain.values import Hunk, Json, JsonObject
from workbench.text.human import iso_time
from workbench.text.safe import one_line, safe_text
from workbench.views.action_detail import json_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_MARKDOWN: Final = 200_000
"""Characters of a text that is read as Markdown; a longer one is shown as it is."""
MOST_NESTING: Final = 30
_LINK: Final = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_HEADINGS_ABOVE: Final = 2
_LONG_LINES: Final = 30
"""Lines from which a text scrolls, so that keys have to reach it."""
_SIGN_TAGS: Final = {"+": "ins", "-": "del"}


def safe_html(text: str) -> str:
    """Return untrusted text as HTML text that can also stand in an attribute."""
    return escape(safe_text(text.replace("\r\n", "\n")), quote=True)


def line_html(text: str, most: int = 300) -> str:
    """Return untrusted text as one line of at most `most` cells."""
    return escape(one_line(text, most), quote=True)


def time_html(micros: int) -> str:
    """Return a moment as an element that says it in UTC."""
    stamp = iso_time(micros)
    return f'<time datetime="{stamp}">{stamp[:10]} {stamp[11:19]}</time>'


def anchor_html(key: str, what: str) -> str:
    """Return the link to an element of the page, which copies its address where scripts run."""
    return f'<a class="anchor" href="#{key}" title="Copy the link" aria-label="Link to this {what}">#</a>'


def element_id(kind: str, key: str) -> str:
    """Return the id of an element that an untrusted key names: the same in every page."""
    return f"{kind}-{hashlib.blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def pre_html(text: str, kind: str = "") -> str:
    """Return a text as it is, in a fixed width."""
    return _pre(f"{safe_html(text)}\n", kind, text.count("\n"))


def _pre(inner: str, kind: str, lines: int) -> str:
    classes = f' class="{kind}"' if kind else ""
    focus = ' tabindex="0"' if lines > _LONG_LINES else ""
    return f"<pre{classes}{focus}>{inner}</pre>\n"


def diff_html(hunks: Iterable[Hunk]) -> str:
    """Return hunks, file by file; elements and signs tell what was added and removed, not colours alone."""
    rows: list[str] = []
    for hunk in hunks:
        old, new = f"{hunk.old_start},{hunk.old_count}", f"{hunk.new_start},{hunk.new_count}"
        head = f"{hunk.path} @@ -{old} +{new} @@"
        rows.append(f'<span class="hunk">{line_html(head, 1_000)}</span>')
        rows += (_diff_row(sign, text) for sign, text in hunk.lines)
    return _pre("".join(rows), "diff", len(rows)) if rows else ""


def _diff_row(sign: str, text: str) -> str:
    line = f"{escape(sign)}{safe_html(text)}"
    tag = _SIGN_TAGS.get(sign)
    return f"<{tag}>{line}</{tag}>" if tag else f"{line}\n"


def values_html(values: JsonObject) -> str:
    """Return the members of an object: short ones in a line, texts of several lines below their names."""
    lines: list[str] = []
    for name, value in values.items():
        text = value if isinstance(value, str) else json_text(value)
        lines.append(f"{name}:\n{_indented(text)}" if "\n" in text else f"{name}: {text}")
    return pre_html("\n".join(lines))


def json_html(value: Json) -> str:
    return pre_html(value if isinstance(value, str) else json_text(value))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def prose_html(text: str) -> str:
    """Return Markdown as HTML; a text that is very long or deep is shown as it is."""
    clean = safe_text(text.replace("\r\n", "\n"))
    if len(clean) <= MOST_MARKDOWN:
        tokens = _markdown_parser().parse(clean)
        for token in tokens:
            if token.type in ("heading_open", "heading_close"):
                # Below the title of the page and that of the message.
                token.tag = f"h{min(6, int(token.tag[1:]) + _HEADINGS_ABOVE)}"
        if all(token.level < MOST_NESTING for token in tokens):
            try:
                # What an entity stood for is there only now.
                return f'<div class="prose">{safe_text(_rendered(tokens))}</div>\n'
            except RecursionError:  # emphasis within emphasis has no limit of its own
                pass
    return f'<div class="prose plain">{escape(clean)}</div>\n'


def _rendered(tokens: Sequence[Any]) -> str:
    parser = _markdown_parser()
    return parser.renderer.render(tokens, parser.options, {})


@cache
def _markdown_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = (
        MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MOST_NESTING, "breaks": True})
        .enable(["table", "strikethrough"])
        .disable("reference")
    )
    parser.validateLink = lambda url: bool(_LINK.match(url))
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("fence", _fence)
    return parser


def _image(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    """Return the words and the address of a picture: the page loads none."""
    token = tokens[index]
    words = f"{self.renderInlineAsText(token.children, options, env)} {token.attrs.get('src', '')}"
    return f"[picture: {escape(words.strip())}]"


def _link_open(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    del self, options, env
    target = escape(str(tokens[index].attrs.get("href", "")), quote=True)
    if not target:
        return "<a>"
    return f'<a href="{target}" rel="noopener noreferrer nofollow" title="{target}">'


def _fence(self: Any, tokens: Sequence[Any], index: int, options: Any, env: Any) -> str:
    del self, options, env
    token = tokens[index]
    lines = token.content.removesuffix("\n").split("\n")
    if token.info.split()[:1] in (["diff"], ["patch"]):
        rows = "".join(_diff_row(line[:1], line[1:]) for line in lines)
        return _pre(rows, "diff", len(lines))
    return _pre(f"<code>{escape(token.content)}</code>", "", len(lines))
