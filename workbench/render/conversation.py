"""Blocks of a conversation as lines: what was said and done, what the model does now, a command that runs."""

from collections.abc import Sequence
from typing import Final, assert_never

from textual.content import Content
from textual.style import Style

from workbench.render.cells import (
    Column,
    compose_columns,
    hanging_lines,
    measured_bar,
    safe_content,
    shorten_line,
    styled,
    stylize_under,
    wrap_line,
    wrap_plain_text,
)
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import END_COLUMN, place_content, reads_as_path
from workbench.render.markdown import markdown_lines
from workbench.render.syntax import SyntaxHighlighter
from workbench.render.theme import Ink
from workbench.text.human import countdown_text, duration_text, size_text, token_text
from workbench.text.width import cell_width
from workbench.views.conversation_blocks import (
    Block,
    CallBlock,
    CallGroupBlock,
    ErrorBlock,
    GroupPlace,
    NoticeBlock,
    OutputBlock,
    ProgressBlock,
    PromptBlock,
    StepBlock,
    TextBlock,
    ThoughtBlock,
)
from workbench.views.status_icons import COUNTDOWN_BARS, StatusName, refused_calls_text

REPLY_INDENT: Final = 3
NOTE_INDENT: Final = 5
PART_SEPARATOR: Final = "   "
_MIN_BAR_CELLS: Final = 8
_MAX_BAR_CELLS: Final = 18


def progress_lines(block: ProgressBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    is_silent = block.phase in ("loads", "reads")
    parts = _reading_parts(block, ink) if is_silent else _writing_parts(block, ink, glyphs)
    room, gap = max(1, width - NOTE_INDENT - 1), Content(PART_SEPARATOR)
    lines = [parts[0]]
    for part in parts[1:]:
        if lines[-1].cell_length + len(PART_SEPARATOR) + part.cell_length <= room:
            lines[-1] = gap.join([lines[-1], part])
        else:
            lines.append(part)
    sign = styled(f"{' ' * REPLY_INDENT}{glyphs.of('running')} ", ink.sign("running"))
    return hanging_lines(sign, [shorten_line(line, room, glyphs) for line in lines], NOTE_INDENT)


def _reading_parts(block: ProgressBlock, ink: Ink) -> list[Content]:
    does = "is being loaded by its server" if block.phase == "loads" else "reads"
    parts = [safe_content(f"{block.model} {does}", ink.of("foreground"), ink)]
    if block.seconds is not None:
        parts.append(styled(duration_text(block.seconds, counts_on=True), ink.of("foreground", bold=True)))
    sizes = [f"about {token_text(block.tokens)} tok"] if block.tokens else []
    usual = [f"usually {_usual_text(block.usual)}"] if block.usual is not None else []
    return [*parts, styled(", ".join([*sizes, *usual]), ink.of("muted"))] if sizes or usual else parts


def _usual_text(seconds: float) -> str:
    return duration_text(round(seconds), counts_on=True) if seconds >= 1 else duration_text(seconds)


def _writing_parts(block: ProgressBlock, ink: Ink, glyphs: Glyphs) -> list[Content]:
    parts = [styled(block.phase, ink.of("foreground"))]
    about = "about "
    if block.rate is not None:
        bars = "" if glyphs.is_ascii else f"{_rate_bars(block.bars)} "
        words = f"silent {duration_text(block.silent, counts_on=True)}" if block.silent else ""
        rate = Content.assemble((bars, ink.of("info")), words or f"about {token_text(block.rate)} tok/s")
        parts.append(rate)
        about = about if words else ""
    parts.append(styled(f"{about}{token_text(block.tokens)} tok", ink.of("muted")))
    if block.seconds is not None:
        parts.append(styled(countdown_text(block.seconds), ink.of("muted")))
    return parts


def _rate_bars(counts: Sequence[int | None]) -> str:
    """Return one block a second, the fullest as high as a row; a second without a word is flat."""
    most, steps = max((count or 0 for count in counts), default=0), len(COUNTDOWN_BARS) - 1
    return "".join(
        " " if count is None else COUNTDOWN_BARS[-(-count * steps // most) if most else 0] for count in counts
    )


def running_command_lines(
    block: CallBlock, elapsed: int, limit: float, width: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    """Return `● run  pytest -q  ━━━━╌╌╌  0:27 of 1:00`, and below it what the command wrote last."""
    clock = Content.assemble(
        (countdown_text(elapsed), ink.of("info", bold=True)),
        (f" of {countdown_text(limit)}", ink.of("muted")),
    )
    room = max(_MIN_BAR_CELLS, min(_MAX_BAR_CELLS, width // 4))
    columns = [
        Column(content=styled(glyphs.of(block.sign), ink.sign(block.sign)), width=1, gap=REPLY_INDENT),
        Column(content=styled("run", ink.of("foreground")), width=4),
        Column(content=safe_content(glyphs.target(block.target), ink.of("muted"), ink), grows=True, least=12),
        _place_column(block.place, width, ink),
        Column(content=measured_bar(elapsed / limit, room, ink, glyphs), width=room, drop=1, gap=2),
        Column(content=clock, align="right", gap=2),
        END_COLUMN,
    ]  # fmt: skip
    lines = [compose_columns(columns, width, glyphs)]
    if block.last_line and block.is_folded:
        words = safe_content(glyphs.line(block.last_line), ink.of("muted"), ink)
        lines.append(
            Content(" " * NOTE_INDENT) + shorten_line(words, max(1, width - NOTE_INDENT - 1), glyphs)
        )
    return lines


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
    return hanging_lines(Content(" " * indent) if first is None else first, lines, indent)


def _text_cells(width: int, indent: int) -> int:
    return max(1, width - indent - 1)


def _prompt_lines(block: PromptBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    style = ink.of("muted") if block.is_queued or block.retired else ink.of("foreground", bold=True)
    lines = [
        stylize_under(line, style)
        for line in wrap_plain_text(block.text, _text_cells(width, REPLY_INDENT), ink)
    ]
    sign = styled(f" {glyphs.of('prompt')} ", ink.of("info"))
    indented = _indented(lines, REPLY_INDENT, sign)
    note = "queued" if block.is_queued else _RETIRED_NOTES.get(block.retired, "")
    return [*indented, styled(" " * REPLY_INDENT + note, ink.of("faint"))] if note else indented


_RETIRED_NOTES: Final = {
    "taken back": "taken back; the agent never read it",
    "edited": "edited below; the agent never read this",
}


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
    return [head, *_indented([stylize_under(line, ink.of("muted")) for line in body], NOTE_INDENT)]


def _call_lines(block: CallBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if block.elapsed is not None and block.limit_seconds is not None:
        lines = running_command_lines(block, block.elapsed, block.limit_seconds, width, ink, glyphs)
        return [*lines, *_refusal_lines(block, width, ink, glyphs), *_note_lines(block, width, ink, glyphs)]
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
        _place_column(block.place, width, ink),
        Column(content=right, align="right"),
        END_COLUMN,
    ]  # fmt: skip
    return [
        compose_columns(columns, width, glyphs),
        *_refusal_lines(block, width, ink, glyphs),
        *_note_lines(block, width, ink, glyphs),
    ]


def _place_column(place: GroupPlace | None, width: int, ink: Ink) -> Column:
    """Return the column that says where commands run; it takes no room for other calls."""
    return Column(content=place_content(place, ink, is_short=width < _LONG_TOOL_MIN_CELLS))


def _refusal_lines(block: CallBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not block.refused:
        return []
    lines = wrap_plain_text(block.refused, _text_cells(width, NOTE_INDENT + 2), ink)[:_MAX_NOTE_LINES]
    head = styled(f"{' ' * NOTE_INDENT}{glyphs.of('rejected')} ", ink.sign("rejected"))
    return _indented([stylize_under(line, ink.sign("rejected")) for line in lines], NOTE_INDENT + 2, head)


def _call_group_line(block: CallGroupBlock, width: int, ink: Ink, glyphs: Glyphs) -> Content:
    sign = styled(glyphs.of("open"), ink.of("faint"))
    if block.is_folded:
        sign = styled(glyphs.of("ok"), ink.sign("ok"))
    columns = [
        Column(content=sign, width=1, gap=REPLY_INDENT),
        Column(content=styled(f"{len(block.call_ids)} calls", ink.of("muted")), grows=True, least=8),
        _place_column(block.place, width, ink),
        Column(content=styled(duration_text(block.seconds), ink.of("muted")), align="right"),
        END_COLUMN,
    ]  # fmt: skip
    return compose_columns(columns, width, glyphs)


def _step_lines(block: StepBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    name = _LONG_TOOL_CELLS if width >= _LONG_STEP_MIN_CELLS else _TOOL_CELLS
    room = width - (REPLY_INDENT + 1 + name + _STEP_GAP_CELLS)
    words = glyphs.line(_step_words(block))
    while cell_width(words) > room and PART_SEPARATOR in words:
        # The attempt is left out first, then refused calls, then the state, and the time last.
        words = words.partition(PART_SEPARATOR)[2]
    meaning = block.right_meaning or ("risk" if block.refused else None)
    right = styled(words, _right_style(meaning, ink))
    items = block.items if len(block.items) + 2 + right.cell_length <= room else ""
    rest = room - right.cell_length - 2 - (len(items) + 1 if items else 0)
    # A letter or two of what does it would say nothing.
    what = block.what if rest >= min(_MIN_KIND_CELLS, cell_width(block.what)) else ""
    columns = [
        Column(
            content=styled(glyphs.of(block.shown_sign), ink.sign(block.shown_sign)), width=1, gap=REPLY_INDENT
        ),
        Column(content=safe_content(block.name, ink.of("foreground", bold=not block.step), ink), width=name),
        Column(content=safe_content(what, ink.of("muted"), ink), grows=True, least=1),
        Column(content=styled(items, ink.of("muted")), align="right"),
        Column(content=right, align="right", gap=2),
        END_COLUMN,
    ]  # fmt: skip
    lines = wrap_plain_text(block.note, _text_cells(width, NOTE_INDENT), ink) if block.note else []
    style = ink.of("muted", italic=True)
    notes = _indented([stylize_under(line, style) for line in lines[:_MAX_NOTE_LINES]], NOTE_INDENT)
    return [compose_columns(columns, width, glyphs), *notes]


def _step_words(block: StepBlock) -> str:
    attempt, separator, state = block.right.rpartition(PART_SEPARATOR)
    refused = f"{refused_calls_text(block.refused)}{PART_SEPARATOR}" if block.refused else ""
    return f"{attempt}{separator}{refused}{state}"


def _right_style(meaning: StatusName | None, ink: Ink) -> Style:
    return ink.of("muted") if meaning is None or meaning == "partly" else ink.sign(meaning)


def _note_lines(block: CallBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not block.note:
        return []
    quote = f": {glyphs.line('“')}{block.note_quote}{glyphs.line('”')}" if block.note_quote else ""
    lines = wrap_plain_text(block.note + quote, _text_cells(width, NOTE_INDENT), ink)
    style = ink.of("muted", italic=True)
    return _indented([stylize_under(line, style) for line in lines], NOTE_INDENT)


def _output_lines(block: OutputBlock, width: int, ink: Ink) -> list[Content]:
    lines = wrap_plain_text(block.text.removesuffix("\n"), _text_cells(width, NOTE_INDENT), ink)
    style = ink.of("muted")
    indented = _indented([stylize_under(line, style) for line in lines], NOTE_INDENT)
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
    head = [stylize_under(line, ink.of("failed")) for line in wrap_plain_text(block.message, room, ink)]
    rest = [text for text in (block.details, block.remedy) if text]
    lines = [*head, *(line for text in rest for line in wrap_plain_text(text, room, ink))]
    sign = styled(f" {glyphs.of('failed')} ", ink.of("failed"))
    return _indented([*lines, *key_hint_lines(block.keys, room, ink)], REPLY_INDENT, sign)


def _notice_lines(block: NoticeBlock, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    room = _text_cells(width, REPLY_INDENT)
    if block.kind == "mark":
        quoted = glyphs.line(f"“{block.text}”") if block.text else ""
        lines = [
            stylize_under(line, ink.of("muted", italic=True))
            for line in wrap_plain_text(quoted, room - 5, ink)
        ]
        return _indented(lines, REPLY_INDENT + 5, styled(" " * REPLY_INDENT + "mark ", ink.of("faint")))
    if block.kind == "kept":  # nothing that anybody has to read
        words = [stylize_under(line, ink.of("faint")) for line in wrap_plain_text(block.text, room, ink)]
        return _indented(words, REPLY_INDENT)
    lines = [stylize_under(line, ink.of("muted")) for line in wrap_plain_text(block.text, room, ink)]
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
