"""Markdown as wrapped lines of Content, once a block is closed; plain wrapping while it still streams.

Owns headings, lists, tables, fences, quotes and emphasis. Links are text, followed by their address; nothing
can be clicked, no HTML is read, and untrusted text never meets markup.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from textual.content import Content, Span
from textual.style import Style

from workbench.draw.cells import mark_hidden, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.syntax import Painter
from workbench.draw.table import table_lines
from workbench.draw.tokens import Ink
from workbench.draw.wrapping import hard_wrap, plain_wrap, safe_lines, wrap
from workbench.records import dataclass
from workbench.text.safe import safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

__all__ = ["LARGEST", "blocks", "plain_wrap"]

LARGEST: Final = 200_000
"""Characters that are read as markdown; more is wrapped as plain text."""

DEEPEST: Final = 30
"""Levels of blocks in blocks; what is deeper is plain text, because a reader of markdown drops it."""


_SIMPLE: Final = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:'\"()?/%$…“”’–])*(?<! )")
"""One line of words in which markdown could see nothing but a paragraph."""


def is_loaded() -> bool:
    """Return whether the reader of markdown is there; loading it takes longer than drawing a screen."""
    return "markdown_it.main" in sys.modules


def load() -> None:
    """Load the reader."""
    _reader().parse("")


def blocks(text: str, width: int, ink: Ink, glyphs: Glyphs, painter: Painter | None = None) -> list[Content]:
    """Return markdown as lines of at most `width` cells.

    Args:
        text: untrusted, of any size; above 200,000 characters it is wrapped as plain text.
        width: cells, at least 1.
        ink: colours.
        glyphs: for bullets, rules and tables.
        painter: for fenced code; None leaves it in one colour.
    """
    if len(text) > LARGEST:
        return plain_wrap(text, width, ink)
    if _SIMPLE.fullmatch(text):
        return plain_wrap(text, width, ink)
    from markdown_it.tree import SyntaxTreeNode

    tokens = _reader().parse(safe(text.replace("\r\n", "\n")))
    if any(token.level >= DEEPEST for token in tokens):
        return plain_wrap(text, width, ink)
    try:
        tree = SyntaxTreeNode(tokens)
        return _Page(ink=ink, glyphs=glyphs, painter=painter).stacked(tree.children, max(1, width))
    except RecursionError:  # emphasis within emphasis has no limit of its own
        return plain_wrap(text, width, ink)


@cache
def _reader() -> "MarkdownIt":
    """Return a reader that swallows nothing: no HTML, no definitions of links that nobody would see."""
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * DEEPEST})
        .enable("table")
        .disable("reference")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """Draws nodes of a document."""

    ink: Ink
    glyphs: Glyphs
    painter: Painter | None

    def stacked(
        self, nodes: Sequence["SyntaxTreeNode"], width: int, *, is_tight: bool = False
    ) -> list[Content]:
        """Return nodes one below another, a blank line between them unless they are tight."""
        lines: list[Content] = []
        for node in nodes:
            found = self.node(node, max(1, width))
            if lines and found and not is_tight:
                lines.append(Content(""))
            lines += found
        return lines

    def node(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return the lines of one block."""
        draw = _BLOCKS.get(node.type)
        if draw is None:
            return plain_wrap(node.content, width, self.ink)
        return draw(self, node, width)

    def paragraph(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return running text."""
        lines = self.inline(node.children).split("\n", allow_blank=True)
        return [part for line in lines for part in wrap(line, width)]

    def heading(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return a heading in bold."""
        style = Style(bold=True, underline=True if node.tag == "h1" else None)
        return [_over(line, style) for line in self.paragraph(node, width)]

    def fence(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return code on a panel, one blank before it."""
        texts = safe_lines(node.content.removesuffix("\n"))
        info = node.info.split() if node.type == "fence" else []
        language = info[0] if info else ""
        painted = self.painter.lines(language, texts) if self.painter and language else ()
        lines = [
            mark_hidden(
                Content(text, spans=[Span(a, b, self.ink.of(token)) for a, b, token in paints]), self.ink
            )
            for text, paints in zip(texts, painted or [()] * len(texts), strict=False)
        ]
        if len(info) > 1:
            lines.insert(0, self._said(" ".join(info), self.ink.of("faint")))
        panel = self.ink.on("panel")
        return [
            _under(Content(" ") + line + Content(" " * max(0, width - 1 - line.cell_length)), panel)
            for line in hard_wrap(lines, max(1, width - 2))
        ]

    def bullets(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return a list without numbers."""
        return self._items(node, width, lambda _: self.glyphs.line("• "))

    def numbered(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return a list with numbers."""
        first = int(node.attrs.get("start", 1))
        digits = len(str(first + len(node.children) - 1))
        return self._items(node, width, lambda at: f"{first + at}. ".rjust(digits + 2))

    def quote(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return quoted blocks behind a rule."""
        rule = styled(self.glyphs.line("│ "), self.ink.of("rule"))
        inner = self.stacked(node.children, width - 2)
        return [rule + _under(line, self.ink.of("muted")) for line in inner]

    def rule(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return a line across."""
        del node
        return [styled(self.glyphs.line("─") * min(width, 40), self.ink.of("rule"))]

    def table(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        """Return a table; the first row is its head."""
        rows = [row for part in node.children for row in part.children]
        cells = [[self.inline(cell.children) for cell in row.children] for row in rows]
        return table_lines(cells, width, self.ink, self.glyphs)

    def _items(self, node: "SyntaxTreeNode", width: int, mark: Callable[[int], str]) -> list[Content]:
        is_tight = all(
            child.hidden for item in node.children for child in item.children if child.type == "paragraph"
        )
        lines: list[Content] = []
        for at, item in enumerate(node.children):
            sign = mark(at)
            inner = self.stacked(item.children, width - len(sign), is_tight=is_tight) or [Content("")]
            if lines and not is_tight:
                lines.append(Content(""))
            lines.append(styled(sign, self.ink.of("muted")) + inner[0])
            lines += [Content(" " * len(sign)) + line if line.plain else line for line in inner[1:]]
        return lines

    # --- running text ---------------------------------------------------------------------------------

    def inline(self, nodes: Sequence["SyntaxTreeNode"]) -> Content:
        """Return running text with its emphasis; line breaks stand as line feeds."""
        return Content("").join([self._word(node) for node in nodes])

    def _word(self, node: "SyntaxTreeNode") -> Content:
        match node.type:
            case "softbreak":
                return Content(" ")
            case "hardbreak":
                return Content("\n")
            case "code_inline":
                return self._said(node.content, self.ink.of("info"))
            case "image":
                return self._link(node, "src")
            case "link":
                return self._link(node, "href")
            case "strong" | "em":
                style = Style(bold=True) if node.type == "strong" else Style(italic=True)
                return _over(self.inline(node.children), style)
            case _ if node.children:
                return self.inline(node.children)
            case _:
                return self._said(node.content)

    def _said(self, text: str, style: Style | None = None) -> Content:
        """Return text of a node, made safe: reading markdown has turned entities into characters."""
        return mark_hidden(styled(safe(text, keep_newlines=False), style), self.ink)

    def _link(self, node: "SyntaxTreeNode", name: str) -> Content:
        words = self.inline(node.children)
        address, tip = (safe(str(node.attrs.get(key, "")), keep_newlines=False) for key in (name, "title"))
        behind = " ".join(part for part in (address if address != words.plain else "", tip) if part)
        return words + styled(f" ({behind})", self.ink.of("muted")) if behind else words


def _over(line: Content, style: Style) -> Content:
    return line.stylize(style) if line.plain else line


def _under(line: Content, style: Style) -> Content:
    return line.stylize_before(style) if line.plain else line


_BLOCKS: Mapping[str, Callable[[_Page, "SyntaxTreeNode", int], list[Content]]] = {
    "paragraph": _Page.paragraph,
    "heading": _Page.heading,
    "fence": _Page.fence,
    "code_block": _Page.fence,
    "bullet_list": _Page.bullets,
    "ordered_list": _Page.numbered,
    "blockquote": _Page.quote,
    "hr": _Page.rule,
    "table": _Page.table,
}
