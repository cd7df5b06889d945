"""Markdown as lines: headings, lists, tables, code, quotes, emphasis.

Links are text, followed by their address; nothing can be clicked, and no HTML is read.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from textual.content import Content, Span
from textual.style import Style

from workbench.render.cells import (
    mark_hidden,
    safe_lines,
    styled,
    stylize_over,
    stylize_under,
    wrap_code,
    wrap_line,
    wrap_plain_text,
)
from workbench.render.glyphs import Glyphs
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import Ink
from workbench.text.safe import safe_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode


MAX_MARKDOWN_CHARS: Final = 200_000
MAX_NESTING: Final = 30
"""Levels of blocks in blocks; what is deeper is plain text, because a reader of markdown drops it."""
_PLAIN_PARAGRAPH: Final = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:'\"()?/%$…“”’–])*(?<! )")
"""One line of words in which markdown could see nothing but a paragraph."""


def is_markdown_loaded() -> bool:
    """Return whether the reader of markdown is there; loading it takes longer than drawing a screen."""
    return "markdown_it.main" in sys.modules


def load_markdown() -> None:
    _markdown_parser().parse("")


def markdown_lines(
    text: str, width: int, ink: Ink, glyphs: Glyphs, painter: SyntaxHighlighter | None = None
) -> list[Content]:
    """Return untrusted markdown as lines of at most `width` cells; very long text is wrapped plainly."""
    if len(text) > MAX_MARKDOWN_CHARS:
        return wrap_plain_text(text, width, ink)
    if _PLAIN_PARAGRAPH.fullmatch(text):
        return wrap_plain_text(text, width, ink)
    from markdown_it.tree import SyntaxTreeNode

    tokens = _markdown_parser().parse(safe_text(text.replace("\r\n", "\n")))
    if any(token.level >= MAX_NESTING for token in tokens):
        return wrap_plain_text(text, width, ink)
    try:
        tree = SyntaxTreeNode(tokens)
        return _MarkdownRenderer(ink=ink, glyphs=glyphs, painter=painter).stacked(
            tree.children, max(1, width)
        )
    except RecursionError:  # emphasis within emphasis has no limit of its own
        return wrap_plain_text(text, width, ink)


@cache
def _markdown_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MAX_NESTING})
        .enable("table")
        .disable("reference")
    )


class _MarkdownRenderer(Struct, frozen=True, kw_only=True):
    ink: Ink
    glyphs: Glyphs
    painter: SyntaxHighlighter | None

    def stacked(
        self, nodes: Sequence["SyntaxTreeNode"], width: int, *, is_tight: bool = False
    ) -> list[Content]:
        lines: list[Content] = []
        for node in nodes:
            node_lines = self.node(node, max(1, width))
            if lines and node_lines and not is_tight:
                lines.append(Content(""))
            lines += node_lines
        return lines

    def node(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        draw = _BLOCK_RENDERERS.get(node.type)
        if draw is None:
            return wrap_plain_text(node.content, width, self.ink)
        return draw(self, node, width)

    def paragraph(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        lines = self.inline(node.children).split("\n", allow_blank=True)
        return [part for line in lines for part in wrap_line(line, width)]

    def heading(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        style = Style(bold=True, underline=True if node.tag == "h1" else None)
        return [stylize_over(line, style) for line in self.paragraph(node, width)]

    def fence(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
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
            stylize_under(Content(" ") + line + Content(" " * max(0, width - 1 - line.cell_length)), panel)
            for line in wrap_code(lines, max(1, width - 2))
        ]

    def bullets(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        return self._items(node, width, lambda _: self.glyphs.line("• "))

    def numbered(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        first = int(node.attrs.get("start", 1))
        digits = len(str(first + len(node.children) - 1))
        return self._items(node, width, lambda index: f"{first + index}. ".rjust(digits + 2))

    def quote(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        rule = styled(self.glyphs.line("│ "), self.ink.of("rule"))
        inner = self.stacked(node.children, width - 2)
        return [rule + stylize_under(line, self.ink.of("muted")) for line in inner]

    def rule(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        del node
        return [styled(self.glyphs.line("─") * min(width, 40), self.ink.of("rule"))]

    def table(self, node: "SyntaxTreeNode", width: int) -> list[Content]:
        rows = [row for part in node.children for row in part.children]
        cells = [[self.inline(cell.children) for cell in row.children] for row in rows]
        return table_lines(cells, width, self.ink, self.glyphs)

    def _items(self, node: "SyntaxTreeNode", width: int, mark: Callable[[int], str]) -> list[Content]:
        is_tight = all(
            child.hidden for item in node.children for child in item.children if child.type == "paragraph"
        )
        lines: list[Content] = []
        for index, item in enumerate(node.children):
            sign = mark(index)
            inner = self.stacked(item.children, width - len(sign), is_tight=is_tight) or [Content("")]
            if lines and not is_tight:
                lines.append(Content(""))
            lines.append(styled(sign, self.ink.of("muted")) + inner[0])
            lines += [Content(" " * len(sign)) + line if line.plain else line for line in inner[1:]]
        return lines

    # --- running text ---------------------------------------------------------------------------------

    def inline(self, nodes: Sequence["SyntaxTreeNode"]) -> Content:
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
                return stylize_over(self.inline(node.children), style)
            case _ if node.children:
                return self.inline(node.children)
            case _:
                return self._said(node.content)

    def _said(self, text: str, style: Style | None = None) -> Content:
        return mark_hidden(styled(safe_text(text, keep_newlines=False), style), self.ink)

    def _link(self, node: "SyntaxTreeNode", name: str) -> Content:
        words = self.inline(node.children)
        address, tip = (
            safe_text(str(node.attrs.get(key, "")), keep_newlines=False) for key in (name, "title")
        )
        behind = " ".join(part for part in (address if address != words.plain else "", tip) if part)
        return words + styled(f" ({behind})", self.ink.of("muted")) if behind else words


_BLOCK_RENDERERS: Mapping[str, Callable[[_MarkdownRenderer, "SyntaxTreeNode", int], list[Content]]] = {
    "paragraph": _MarkdownRenderer.paragraph,
    "heading": _MarkdownRenderer.heading,
    "fence": _MarkdownRenderer.fence,
    "code_block": _MarkdownRenderer.fence,
    "bullet_list": _MarkdownRenderer.bullets,
    "ordered_list": _MarkdownRenderer.numbered,
    "blockquote": _MarkdownRenderer.quote,
    "hr": _MarkdownRenderer.rule,
    "table": _MarkdownRenderer.table,
}
TABLE_GAP = 2
MIN_COLUMN_CELLS = 4


def table_lines(rows: Sequence[Sequence[Content]], width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return a table as lines of at most `width` cells; if that is too narrow, one cell below another."""
    if not rows:
        return []
    columns = max(len(row) for row in rows)
    if width < columns * (MIN_COLUMN_CELLS + TABLE_GAP):
        return [line for row in rows for cell in row for line in wrap_line(cell, width)]
    widths = _column_widths(rows, columns, width)
    head, *body = rows
    lines = _table_row_lines(
        [cell.stylize(Style(bold=True)) if cell.plain else cell for cell in head], widths
    )
    lines.append(styled(glyphs.line("─") * (sum(widths) + TABLE_GAP * (columns - 1)), ink.of("rule")))
    return [*lines, *(line for row in body for line in _table_row_lines(row, widths))]


def _column_widths(rows: Sequence[Sequence[Content]], columns: int, width: int) -> list[int]:
    widths = [max((row[n].cell_length for row in rows if n < len(row)), default=0) for n in range(columns)]
    widths = [max(1, width_wanted) for width_wanted in widths]
    room = width - TABLE_GAP * (columns - 1)
    while sum(widths) > room:
        widest = widths.index(max(widths))
        second = max([width_wanted for n, width_wanted in enumerate(widths) if n != widest], default=0)
        widths[widest] -= max(1, min(sum(widths) - room, widths[widest] - second))
    return widths


def _table_row_lines(row: Sequence[Content], widths: Sequence[int]) -> list[Content]:
    wrapped = [wrap_line(cell, width) for cell, width in zip(row, widths, strict=False)]
    gap = Content(" " * TABLE_GAP)
    lines: list[Content] = []
    for parts in zip_longest(*wrapped):
        cells = [part or Content("") for part in parts]
        padded = [cell + " " * (width - cell.cell_length) for cell, width in zip(cells, widths, strict=False)]
        lines.append(gap.join(padded).rstrip())
    return lines
