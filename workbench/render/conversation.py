"""Blocks of a conversation as lines, and their markdown: headings, lists, tables, code, quotes, emphasis.

Links are text, followed by their address; nothing can be clicked, and no HTML is read.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, assert_never

from msgspec import Struct
from textual.content import Content, Span
from textual.style import Style

from workbench.render.cells import (
    Column,
    compose_columns,
    mark_hidden,
    safe_content,
    safe_lines,
    styled,
    wrap_code,
    wrap_line,
    wrap_plain_text,
)
from workbench.render.conversation_progress import (
    NOTE_INDENT,
    PART_SEPARATOR,
    REPLY_INDENT,
    progress_lines,
    running_command_lines,
)
from workbench.render.list_rows import reads_as_path
from workbench.render.theme import Glyphs, Ink, SyntaxHighlighter
from workbench.text.human import duration_text, size_text
from workbench.text.safe import safe_text
from workbench.text.width import cell_width
from workbench.views.conversation_blocks import (
    Block,
    CallBlock,
    CallGroupBlock,
    ErrorBlock,
    NoticeBlock,
    OutputBlock,
    ProgressBlock,
    PromptBlock,
    StepBlock,
    TextBlock,
    ThoughtBlock,
)
from workbench.views.status_icons import StatusName

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_TOOL_CELLS: Final = 15
_LONG_TOOL_CELLS: Final = 22
"""Of the longest of our own names; from `_LONG_FROM` cells on there is room for it."""
_LONG_TOOL_MIN_CELLS: Final = 56
_LONG_STEP_MIN_CELLS: Final = 90
_STEP_GAP_CELLS: Final = 5
_MIN_KIND_CELLS: Final = 6
_MAX_NOTE_LINES: Final = 3


def block_lines(
    block: Block, width: int, ink: Ink, glyphs: Glyphs, painter: SyntaxHighlighter | None = None
) -> list[Content]:
    """Return the lines of one block, none for folded output; `blank_rows_before` gives the blank lines."""
    match block:
        case PromptBlock():
            return _prompt_lines(block, width, ink, glyphs)
        case TextBlock():
            return _text_lines(block, width, ink, glyphs, painter)
        case ThoughtBlock():
            return _thought_lines(block, width, ink, glyphs)
        case CallBlock():
            return _call_lines(block, width, ink, glyphs)
        case CallGroupBlock():
            return [_call_group_line(block, width, ink, glyphs)]
        case StepBlock():
            return _step_lines(block, width, ink, glyphs)
        case OutputBlock():
            return [] if block.is_folded else _output_lines(block, width, ink)
        case ErrorBlock() | NoticeBlock():
            return _message_lines(block, width, ink, glyphs)
        case ProgressBlock():
            return progress_lines(block, width, ink, glyphs)
        case _:
            assert_never(block)


def blank_rows_before(block: Block, previous: Block | None, *, is_compact: bool = False) -> int:
    """Return how many blank rows stand before a block: 1 between different things, 0 between calls."""
    if previous is None or isinstance(block, OutputBlock) or is_compact:
        return 0
    if isinstance(block, CallBlock | CallGroupBlock) and isinstance(
        previous, CallBlock | CallGroupBlock | OutputBlock
    ):
        return 0
    if isinstance(block, ProgressBlock) and isinstance(previous, TextBlock | ThoughtBlock):
        return 0
    if isinstance(block, StepBlock) and isinstance(previous, StepBlock):
        return 0 if block.step else 1
    return (
        0 if isinstance(block, TextBlock) and isinstance(previous, ThoughtBlock) and previous.is_folded else 1
    )


def _indented(lines: Sequence[Content], indent: int, first: Content | None = None) -> list[Content]:
    blanks = Content(" " * indent)
    return [(first if first is not None and not index else blanks) + line for index, line in enumerate(lines)]


def _text_cells(width: int, indent: int) -> int:
    return max(1, width - indent - 1)


def _prompt_lines(block: PromptBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    style = ink.of("muted") if block.is_queued else ink.of("foreground", bold=True)
    lines = [
        _stylize_under(line, style)
        for line in wrap_plain_text(block.text, _text_cells(width, REPLY_INDENT), ink)
    ]
    sign = styled(f" {glyphs.of('prompt')} ", ink.of("info"))
    indented = _indented(lines, REPLY_INDENT, sign)
    return (
        [*indented, styled(" " * REPLY_INDENT + "queued", ink.of("faint"))] if block.is_queued else indented
    )


def _text_lines(
    block: TextBlock, width: int, ink: Ink, glyphs: Glyphs, painter: SyntaxHighlighter | None
) -> list[Content]:
    room = _text_cells(width, REPLY_INDENT)
    if block.is_open:
        lines = wrap_plain_text(block.text, max(1, room - 1), ink)
        lines[-1] += styled(glyphs.of("typing"), ink.of("info"))
    else:
        lines = markdown_lines(block.text, room, ink, glyphs, painter)
    if block.was_cut:
        lines.append(styled("It stopped here; the rest never came."[:room], ink.of("muted", italic=True)))
    return _indented(lines, REPLY_INDENT)


def _thought_lines(block: ThoughtBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    took = "" if block.seconds is None or block.is_open else f" for {duration_text(block.seconds)}"
    words = f"{'thinking' if block.is_open else 'thought'}{took}"
    sign = glyphs.of("folded" if block.is_folded else "open")
    head = styled(f"{' ' * REPLY_INDENT}{sign} {words}", ink.of("faint"))
    if block.is_folded:
        return [head]
    body = wrap_plain_text(block.text, _text_cells(width, NOTE_INDENT), ink)
    return [head, *_indented([_stylize_under(line, ink.of("muted")) for line in body], NOTE_INDENT)]


def _call_lines(block: CallBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if block.elapsed is not None and block.limit_seconds is not None:
        lines = running_command_lines(block, block.elapsed, block.limit_seconds, width, ink, glyphs)
        return [*lines, *_note_lines(block, width, ink, glyphs)]
    right = styled(glyphs.line(block.right), _right_style(block.right_meaning, ink))
    if block.elapsed:
        right += f"   {duration_text(block.elapsed, counts_on=True)}"
    if block.is_by_rule:
        right = styled(f"{glyphs.of('rule')} ", ink.of("info")) + right
    tool = _LONG_TOOL_CELLS if width >= _LONG_TOOL_MIN_CELLS else _TOOL_CELLS
    columns = [
        Column(content=styled(glyphs.of(block.sign), ink.sign(block.sign)), width=1, gap=REPLY_INDENT),
        Column(content=safe_content(block.tool, ink.of("foreground"), ink), width=tool),
        Column(
            content=safe_content(glyphs.target(block.target), ink.of("muted"), ink), grows=True,
            cut="path" if reads_as_path(block.target) else "end", least=8,
        ),
        Column(content=right, align="right"),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    return [compose_columns(columns, width, glyphs), *_note_lines(block, width, ink, glyphs)]


def _call_group_line(block: CallGroupBlock, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    sign = styled(glyphs.of("open"), ink.of("faint"))
    if block.is_folded:
        sign = styled(glyphs.of("ok"), ink.sign("ok"))
    columns = [
        Column(content=sign, width=1, gap=REPLY_INDENT),
        Column(content=styled(f"{len(block.call_ids)} calls", ink.of("muted")), grows=True, least=8),
        Column(content=styled(duration_text(block.seconds), ink.of("muted")), align="right"),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    return compose_columns(columns, width, glyphs)


def _step_lines(block: StepBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    name = _LONG_TOOL_CELLS if width >= _LONG_STEP_MIN_CELLS else _TOOL_CELLS
    room = width - (REPLY_INDENT + 1 + name + _STEP_GAP_CELLS)
    words = glyphs.line(block.right)
    while cell_width(words) > room and PART_SEPARATOR in words:
        # The attempt goes before the state, and that before the time.
        words = words.partition(PART_SEPARATOR)[2]
    right = styled(words, _right_style(block.right_meaning, ink))
    items = block.items if len(block.items) + 2 + right.cell_length <= room else ""
    rest = room - right.cell_length - 2 - (len(items) + 1 if items else 0)
    # A letter or two of what does it would say nothing.
    what = block.what if rest >= min(_MIN_KIND_CELLS, cell_width(block.what)) else ""
    columns = [
        Column(content=styled(glyphs.of(block.sign), ink.sign(block.sign)), width=1, gap=REPLY_INDENT),
        Column(content=safe_content(block.name, ink.of("foreground", bold=not block.step), ink), width=name),
        Column(content=safe_content(what, ink.of("muted"), ink), grows=True, least=1),
        Column(content=styled(items, ink.of("muted")), align="right"),
        Column(content=right, align="right", gap=2),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    lines = wrap_plain_text(block.note, _text_cells(width, NOTE_INDENT), ink) if block.note else []
    style = ink.of("muted", italic=True)
    notes = _indented([_stylize_under(line, style) for line in lines[:_MAX_NOTE_LINES]], NOTE_INDENT)
    return [compose_columns(columns, width, glyphs), *notes]


def _right_style(meaning: StatusName | None, ink: Ink) -> Style:
    return ink.of("muted") if meaning is None or meaning == "partly" else ink.sign(meaning)


def _note_lines(block: CallBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not block.note:
        return []
    quote = f": {glyphs.line('“')}{block.note_quote}{glyphs.line('”')}" if block.note_quote else ""
    lines = wrap_plain_text(block.note + quote, _text_cells(width, NOTE_INDENT), ink)
    style = ink.of("muted", italic=True)
    return _indented([_stylize_under(line, style) for line in lines], NOTE_INDENT)


def _output_lines(block: OutputBlock, width: int, ink: Ink) -> list[Content]:
    lines = wrap_plain_text(block.text.removesuffix("\n"), _text_cells(width, NOTE_INDENT), ink)
    style = ink.of("muted")
    indented = _indented([_stylize_under(line, style) for line in lines], NOTE_INDENT)
    if block.is_open or len(block.text.encode("utf-8", "replace")) >= block.total_bytes:
        return indented
    words = f"{' ' * NOTE_INDENT}{size_text(block.total_bytes)} in all"
    return [*indented, styled(words, ink.of("faint"))]


def _message_lines(block: ErrorBlock | NoticeBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if isinstance(block, ErrorBlock):
        return _error_lines(block, width, ink, glyphs)
    return _notice_lines(block, width, ink, glyphs)


def _error_lines(block: ErrorBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    room = _text_cells(width, REPLY_INDENT)
    head = [_stylize_under(line, ink.of("failed")) for line in wrap_plain_text(block.message, room, ink)]
    rest = [text for text in (block.details, block.remedy) if text]
    lines = [*head, *(line for text in rest for line in wrap_plain_text(text, room, ink))]
    sign = styled(f" {glyphs.of('failed')} ", ink.of("failed"))
    return _indented([*lines, *key_hint_lines(block.keys, room, ink)], REPLY_INDENT, sign)


def _notice_lines(block: NoticeBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    room = _text_cells(width, REPLY_INDENT)
    if block.kind == "mark":
        quoted = glyphs.line(f"“{block.text}”") if block.text else ""
        lines = [
            _stylize_under(line, ink.of("muted", italic=True))
            for line in wrap_plain_text(quoted, room - 5, ink)
        ]
        return _indented(lines, REPLY_INDENT + 5, styled(" " * REPLY_INDENT + "mark ", ink.of("faint")))
    if block.kind == "kept":  # nothing that anybody has to read
        words = [_stylize_under(line, ink.of("faint")) for line in wrap_plain_text(block.text, room, ink)]
        return _indented(words, REPLY_INDENT)
    lines = [_stylize_under(line, ink.of("muted")) for line in wrap_plain_text(block.text, room, ink)]
    sign = styled(f" {glyphs.of(_NOTICE_ICONS.get(block.kind, 'cancelled'))} ", ink.of("muted"))
    return _indented([*lines, *key_hint_lines(block.keys, room, ink)], REPLY_INDENT, sign)


_NOTICE_ICONS: Final[dict[str, StatusName]] = {
    "continued": "ok", "expired": "expired", "trust": "ok", "unknown": "unknown",
}  # fmt: skip


def key_hint_lines(keys: Sequence[tuple[str, str]], width: int, ink: Ink) -> list[Content]:
    """Return keys with what they do: `r ask again    p other model`."""
    if not keys:
        return []
    gap = Content(" " * 4)
    return wrap_line(
        gap.join([styled(key, ink.of("info", bold=True)) + f" {words}" for key, words in keys]), width
    )


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
        return [_stylize_over(line, style) for line in self.paragraph(node, width)]

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
            _stylize_under(Content(" ") + line + Content(" " * max(0, width - 1 - line.cell_length)), panel)
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
        return [rule + _stylize_under(line, self.ink.of("muted")) for line in inner]

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
                return _stylize_over(self.inline(node.children), style)
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


def _stylize_over(line: Content, style: Style) -> Content:
    return line.stylize(style) if line.plain else line


def _stylize_under(line: Content, style: Style) -> Content:
    return line.stylize_before(style) if line.plain else line


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
