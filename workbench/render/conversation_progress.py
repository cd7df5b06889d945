"""What goes on in a conversation, as lines: a model that reads or writes, a command that runs.

Everything in them is measured; nothing moves but what was counted.
"""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from workbench.render.cells import (
    Column,
    compose_columns,
    measured_bar,
    safe_content,
    shorten_line,
    styled,
)
from workbench.render.theme import Glyphs, Ink
from workbench.text.human import countdown_text, duration_text, token_text
from workbench.views.conversation_blocks import CallBlock, ProgressBlock
from workbench.views.status_icons import COUNTDOWN_BARS

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
    blanks = Content(" " * NOTE_INDENT)
    return [
        (blanks if number else sign) + shorten_line(line, room, glyphs) for number, line in enumerate(lines)
    ]


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
        Column(content=measured_bar(elapsed / limit, room, ink, glyphs), width=room, drop=1, gap=2),
        Column(content=clock, align="right", gap=2),
        Column(content=Content(""), width=0),
    ]  # fmt: skip
    lines = [compose_columns(columns, width, glyphs)]
    if block.last_line and block.is_folded:
        words = safe_content(glyphs.line(block.last_line), ink.of("muted"), ink)
        lines.append(
            Content(" " * NOTE_INDENT) + shorten_line(words, max(1, width - NOTE_INDENT - 1), glyphs)
        )
    return lines
