"""Blocks of a conversation as lines: prompts, replies, thoughts, calls, output, errors, notices.

Owns indents, what a folded block shows and which lines are muted. Lines are Content of at most the width with
a blank first column; a prompt's lie on `$panel`, which is for the row that they are drawn on.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from textual.content import Content
from textual.style import Style

from workbench.draw import markdown
from workbench.draw.cells import Column, compose, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.rows import is_path
from workbench.draw.syntax import Painter
from workbench.draw.tokens import Ink
from workbench.draw.wrapping import plain_wrap, wrap
from workbench.text.human import duration, size
from workbench.text.width import cells
from workbench.views.blocks import (
    Block,
    CallLine,
    CallRun,
    ErrorBlock,
    Notice,
    Output,
    Prompt,
    StepLine,
    Text,
    Thought,
)
from workbench.views.signs import Meaning

INDENT: Final = 3
"""Blank cells before what an agent says."""
NOTE_INDENT: Final = 5
_TOOL_CELLS: Final = 15
_LONG_TOOL_CELLS: Final = 22
"""Of the longest of our own names; from `_LONG_FROM` cells on there is room for it."""
_LONG_FROM: Final = 56
_LONG_STEP_FROM: Final = 90
_PARTS: Final = "   "
"""Between what is said at the end of a step's line."""
_STEP_GAPS: Final = 5
"""Cells between the columns of a step, and at the end of its line."""
_LEAST_WHAT: Final = 6
"""Cells from which a cut word on what a step is says something."""
_NOTE_LINES: Final = 3
"""Of why a step failed or waits; the whole is one key away."""


def block_lines(
    block: Block, width: int, ink: Ink, glyphs: Glyphs, painter: Painter | None = None
) -> list[Content]:
    """Return the lines of one block, none for folded output; blank lines between are `gap_before`'s."""
    match block:
        case Prompt():
            return _prompt(block, width, ink, glyphs)
        case Text():
            return _text(block, width, ink, glyphs, painter)
        case Thought():
            return _thought(block, width, ink, glyphs)
        case CallLine():
            return _call(block, width, ink, glyphs)
        case CallRun():
            return [_run(block, width, ink, glyphs)]
        case StepLine():
            return _step(block, width, ink, glyphs)
        case Output():
            return [] if block.is_folded else _output(block, width, ink)
        case ErrorBlock():
            return _error(block, width, ink, glyphs)
        case Notice():
            return _notice(block, width, ink, glyphs)
        case _:
            assert_never(block)


def gap_before(block: Block, previous: Block | None, *, is_compact: bool = False) -> int:
    """Return how many blank rows stand before a block: 1 between different things, 0 between calls."""
    if previous is None or isinstance(block, Output) or is_compact:
        return 0
    if isinstance(block, CallLine | CallRun) and isinstance(previous, CallLine | CallRun | Output):
        return 0
    if isinstance(block, StepLine) and isinstance(previous, StepLine):
        return 0 if block.step else 1
    return 0 if isinstance(block, Text) and isinstance(previous, Thought) and previous.is_folded else 1


def _indented(lines: Sequence[Content], indent: int, first: Content | None = None) -> list[Content]:
    """Return lines with blanks before them; `first` stands in for the blanks of the first line."""
    blanks = Content(" " * indent)
    return [(first if first is not None and not at else blanks) + line for at, line in enumerate(lines)]


def _room(width: int, indent: int) -> int:
    return max(1, width - indent - 1)


def _prompt(block: Prompt, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    style = ink.of("muted") if block.is_queued else ink.of("foreground", bold=True)
    lines = [_under(line, style) for line in plain_wrap(block.text, _room(width, INDENT), ink)]
    sign = styled(f" {glyphs.of('prompt')} ", ink.of("info"))
    found = _indented(lines, INDENT, sign)
    return [*found, styled(" " * INDENT + "queued", ink.of("faint"))] if block.is_queued else found


def _text(block: Text, width: int, ink: Ink, glyphs: Glyphs, painter: Painter | None) -> list[Content]:
    room = _room(width, INDENT)
    if block.is_open:
        lines = plain_wrap(block.text, max(1, room - 1), ink)
        lines[-1] += styled(glyphs.of("typing"), ink.of("info"))
    else:
        lines = markdown.blocks(block.text, room, ink, glyphs, painter)
    if block.was_cut:
        lines.append(styled("It stopped here; the rest never came."[:room], ink.of("muted", italic=True)))
    return _indented(lines, INDENT)


def _thought(block: Thought, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    took = "" if block.seconds is None or block.is_open else f" for {_seconds(block.seconds)}"
    words = f"{'thinking' if block.is_open else 'thought'}{took}"
    sign = glyphs.of("folded" if block.is_folded else "open")
    head = styled(f"{' ' * INDENT}{sign} {words}", ink.of("faint"))
    if block.is_folded:
        return [head]
    body = plain_wrap(block.text, _room(width, NOTE_INDENT), ink)
    return [head, *_indented([_under(line, ink.of("muted")) for line in body], NOTE_INDENT)]


def _seconds(seconds: float) -> str:
    return f"{round(seconds)} s" if 1 <= seconds < 60 else duration(seconds)


def _call(block: CallLine, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    right = styled(glyphs.line(block.right), _right_style(block.right_meaning, ink))
    if block.is_by_rule:
        right = styled(f"{glyphs.of('rule')} ", ink.of("info")) + right
    tool = _LONG_TOOL_CELLS if width >= _LONG_FROM else _TOOL_CELLS
    columns = [
        Column(content=styled(glyphs.of(block.sign), ink.sign(block.sign)), width=1, gap=INDENT),
        Column(content=content(block.tool, ink.of("foreground"), ink), width=tool),
        Column(
            content=content(glyphs.target(block.target), ink.of("muted"), ink), grows=True,
            cut="path" if is_path(block.target) else "end", least=8,
        ),
        Column(content=right, align="right"),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    return [compose(columns, width, glyphs), *_note(block, width, ink, glyphs)]


def _run(block: CallRun, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    sign = styled(glyphs.of("open"), ink.of("faint"))
    if block.is_folded:
        sign = styled(glyphs.of("ok"), ink.sign("ok"))
    columns = [
        Column(content=sign, width=1, gap=INDENT),
        Column(content=styled(f"{len(block.call_ids)} calls", ink.of("muted")), grows=True, least=8),
        Column(content=styled(duration(block.seconds), ink.of("muted")), align="right"),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    return compose(columns, width, glyphs)


def _step(block: StepLine, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    name = _LONG_TOOL_CELLS if width >= _LONG_STEP_FROM else _TOOL_CELLS
    room = width - (INDENT + 1 + name + _STEP_GAPS)
    words = glyphs.line(block.right)
    while cells(words) > room and _PARTS in words:
        # The attempt goes before the state, and that before the time.
        words = words.partition(_PARTS)[2]
    right = styled(words, _right_style(block.right_meaning, ink))
    items = block.items if len(block.items) + 2 + right.cell_length <= room else ""
    rest = room - right.cell_length - 2 - (len(items) + 1 if items else 0)
    # A letter or two of what does it would say nothing.
    what = block.what if rest >= min(_LEAST_WHAT, cells(block.what)) else ""
    columns = [
        Column(content=styled(glyphs.of(block.sign), ink.sign(block.sign)), width=1, gap=INDENT),
        Column(content=content(block.name, ink.of("foreground", bold=not block.step), ink), width=name),
        Column(content=content(what, ink.of("muted"), ink), grows=True, least=1),
        Column(content=styled(items, ink.of("muted")), align="right"),
        Column(content=right, align="right", gap=2),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    lines = plain_wrap(block.note, _room(width, NOTE_INDENT), ink) if block.note else []
    style = ink.of("muted", italic=True)
    notes = _indented([_under(line, style) for line in lines[:_NOTE_LINES]], NOTE_INDENT)
    return [compose(columns, width, glyphs), *notes]


def _right_style(meaning: Meaning | None, ink: Ink) -> Style:
    return ink.of("muted") if meaning is None or meaning == "partly" else ink.sign(meaning)


def _note(block: CallLine, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not block.note:
        return []
    quote = f": {glyphs.line('“')}{block.note_quote}{glyphs.line('”')}" if block.note_quote else ""
    lines = plain_wrap(block.note + quote, _room(width, NOTE_INDENT), ink)
    style = ink.of("muted", italic=True)
    return _indented([_under(line, style) for line in lines], NOTE_INDENT)


def _output(block: Output, width: int, ink: Ink) -> list[Content]:
    lines = plain_wrap(block.text.removesuffix("\n"), _room(width, NOTE_INDENT), ink)
    style = ink.of("muted")
    found = _indented([_under(line, style) for line in lines], NOTE_INDENT)
    if block.is_open or len(block.text.encode("utf-8", "replace")) >= block.total_bytes:
        return found
    words = f"{' ' * NOTE_INDENT}{size(block.total_bytes)} in all"
    return [*found, styled(words, ink.of("faint"))]


def _error(block: ErrorBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    room = _room(width, INDENT)
    head = [_under(line, ink.of("failed")) for line in plain_wrap(block.message, room, ink)]
    rest = [text for text in (block.details, block.remedy) if text]
    lines = [*head, *(line for text in rest for line in plain_wrap(text, room, ink))]
    sign = styled(f" {glyphs.of('failed')} ", ink.of("failed"))
    return _indented([*lines, *key_lines(block.keys, room, ink)], INDENT, sign)


def _notice(block: Notice, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    room = _room(width, INDENT)
    if block.kind == "mark":
        quoted = glyphs.line(f"“{block.text}”") if block.text else ""
        lines = [_under(line, ink.of("muted", italic=True)) for line in plain_wrap(quoted, room - 5, ink)]
        return _indented(lines, INDENT + 5, styled(" " * INDENT + "mark ", ink.of("faint")))
    lines = [_under(line, ink.of("muted")) for line in plain_wrap(block.text, room, ink)]
    sign = styled(f" {glyphs.of(_NOTICE_SIGNS.get(block.kind, 'cancelled'))} ", ink.of("muted"))
    return _indented([*lines, *key_lines(block.keys, room, ink)], INDENT, sign)


_NOTICE_SIGNS: Final[dict[str, Meaning]] = {
    "continued": "ok", "limit": "expired", "expired": "expired", "trust": "ok", "unknown": "unknown",
}  # fmt: skip


def key_lines(keys: Sequence[tuple[str, str]], width: int, ink: Ink) -> list[Content]:
    """Return keys with what they do: `r ask again    p other model`."""
    if not keys:
        return []
    gap = Content(" " * 4)
    return wrap(
        gap.join([styled(key, ink.of("info", bold=True)) + f" {words}" for key, words in keys]), width
    )


def _under(line: Content, style: Style) -> Content:
    return line.stylize_before(style) if line.plain else line
