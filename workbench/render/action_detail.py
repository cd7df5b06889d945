"""An action in detail: its facts, its command in parts, its choices.

Commands are shown whole, wrapped, never cut; the table of their parts follows them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from textual.content import Content
from textual.style import Style

from workbench.domain.values import Place
from workbench.render.cells import (
    hanging_lines,
    mark_hidden,
    safe_content,
    safe_lines,
    shorten_line,
    styled,
    wrap_code,
    wrap_plain_text,
)
from workbench.render.glyphs import Glyphs
from workbench.render.theme import Ink
from workbench.text.human import clock_time, sentence
from workbench.text.safe import marked_spaces
from workbench.views.action_detail import ActionDetail, CommandPartRow, CommandParts, NamedList
from workbench.views.approvals import FOLDER_GONE
from workbench.views.sandbox import place_fact

BODY_INDENT: Final = 3
MAX_NAME_CELLS: Final = 20
"""Longer names of facts get a line of their own."""
_NO_KEYS: Final[Mapping[str, str]] = {}
TRUST_KEY: Final = "ctrl+t"
"""Answers a trust question with what is chosen; a letter could be one of a sentence."""


MAX_LABEL_CELLS: Final = 32


def body_lines(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None,
    place: Place | None = None, choice_keys: Mapping[str, str] = _NO_KEYS,
) -> list[Content]:  # fmt: skip
    """Return command, parameters, prompt, choices, facts as lines of at most `width` cells."""
    return body_and_parts_table(
        detail, width, ink, glyphs, choice=choice, place=place, choice_keys=choice_keys
    )[0]


def body_and_parts_table(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None,
    place: Place | None = None, choice_keys: Mapping[str, str] = _NO_KEYS,
) -> tuple[list[Content], range]:  # fmt: skip
    """Return the lines of a body, and which of them are the table of parts.

    `choice` is under the cursor; `choice_keys` are the keys that give each answer; `place` is where the
    command runs, where that is not as it was asked.
    """
    room = max(1, width - BODY_INDENT - 1)
    parts = [
        _command_lines(detail, room, ink),
        _place_lines(detail, place or detail.place, room, ink),
        _output_lines(detail, room, ink, glyphs),
        [] if detail.parts is None else command_part_lines(detail.parts, room, ink, glyphs),
        wrap_plain_text(detail.prompt, room, ink) if detail.prompt else [],
        *(_list_lines(named, room, ink) for named in detail.acts),
        _choice_lines(detail, choice, choice_keys, room, ink, glyphs),
        *(_list_lines(named, room, ink) for named in detail.covers),
        _pair_lines(detail.subject, room, ink),
        _pair_lines(_fact_pairs(detail), room, ink),
    ]
    blanks = Content(" " * BODY_INDENT)
    lines: list[Content] = []
    table = range(0)
    for number, part in enumerate(parts):
        lines += [Content(""), *(blanks + line if line.plain else line for line in part)] if part else []
        table = range(len(lines) - len(part), len(lines)) if number == _PARTS_TABLE else table
    return lines, table


_PARTS_TABLE: Final = 3


def command_height(detail: ActionDetail, width: int, ink: Ink) -> int:
    """Return the row of `body_lines` on which a command ends."""
    return len(_command_lines(detail, max(1, width - BODY_INDENT - 1), ink))


def _output_lines(detail: ActionDetail, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not detail.output:
        return []
    shown, whole = len(detail.output), detail.output_lines
    rest = f", the last {shown} of {whole} lines; 3 shows all" if shown < whole else ""
    if detail.is_running:
        rest = f" so far, its last {shown} lines" if shown < whole else " so far"
    lines = [
        shorten_line(safe_content(line, ink.of("foreground"), ink), room, glyphs) for line in detail.output
    ]
    return [styled(f"output{rest}", ink.of("muted")), *lines]


def status_bar_lines(detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what stands above the detail: stale, expired, decided; then each warning with its sentence."""
    lines: list[Content] = []
    if detail.folder.is_other or detail.folder.is_gone:
        head = styled(f" {FOLDER_GONE if detail.folder.is_gone else 'folder'}  ", ink.of("waiting"))
        lines += _sentence_lines(head, [detail.folder.path], width, ink)
    if detail.finding:
        lines += _sentence_lines(styled(" fixes  ", ink.of("muted")), [detail.finding], width, ink)
    if detail.bar:
        has_when = not detail.is_pending and detail.decided_at is not None
        when = f" {clock_time(detail.decided_at)}" if has_when else ""
        head = styled(
            f" {glyphs.of(detail.decision_sign)} {detail.decision_word}{when}  ",
            ink.sign(detail.decision_sign),
        )
        lines += _sentence_lines(head, detail.bar, width, ink)
    if detail.outcome:
        sign = styled(f"{glyphs.of(detail.sign)} ", ink.sign(detail.sign))
        lines += _sentence_lines(styled(" then  ", ink.of("muted")) + sign, [detail.outcome], width, ink)
    if detail.refused:
        head = styled(f" {glyphs.of('rejected')} ", ink.sign("rejected"))
        lines += _sentence_lines(head, [sentence(detail.refused)], width, ink)
    for risk in detail.warnings:
        head = (
            styled(f" {glyphs.of('risk')} ", ink.sign("risk"))
            + safe_content(risk.word, ink.sign("risk"))
            + "  "
        )
        lines += _sentence_lines(head, [risk.sentence], width, ink)
    return lines


def _sentence_lines(head: Content, sentences: Sequence[str], width: int, ink: Ink) -> list[Content]:
    indent = min(head.cell_length, max(0, width - 12))
    room = max(1, width - indent - 1)
    texts = [line for sentence in sentences for line in wrap_plain_text(sentence, room, ink)]
    return hanging_lines(shorten_line(head, indent), texts, indent)


def _fact_pairs(detail: ActionDetail) -> list[tuple[str, str]]:
    is_placed = detail.place is not None
    return [*detail.parameters, *([] if is_placed else _folder_and_reason(detail))]


def _folder_and_reason(detail: ActionDetail) -> list[tuple[str, str]]:
    facts = [("runs in", detail.cwd)] if detail.command is not None and detail.cwd else []
    return [*facts, *([("why it asks", detail.why_asked)] if detail.why_asked else [])]


def _place_lines(detail: ActionDetail, place: Place | None, room: int, ink: Ink) -> list[Content]:
    """Return where a command runs and why it asks, which belong together, with its folder."""
    if place is None:
        return []
    facts = [
        ("where", place_fact(place, detail.level, detail.backend)),
        *reversed(_folder_and_reason(detail)),
    ]
    indent = max(len(name) for name, _ in facts) + 2
    lines: list[Content] = []
    for name, text in facts:
        head = styled(name.ljust(indent), ink.of("muted"))
        lines += hanging_lines(head, wrap_plain_text(text, max(8, room - indent), ink), indent)
    return lines


def _command_lines(detail: ActionDetail, room: int, ink: Ink) -> list[Content]:
    if detail.command is None:
        return []
    style = ink.of("foreground", bold=True)
    risky = [marked_spaces(row.text) for row in detail.parts.rows if row.is_risky] if detail.parts else []
    lines = [
        mark_hidden(_with_risky_parts_marked(styled(line, style), risky, ink), ink)
        for line in safe_lines(marked_spaces(detail.command.removesuffix("\n")))
    ]
    return wrap_code(lines, room)


def _with_risky_parts_marked(line: Content, risky: Sequence[str], ink: Ink) -> Content:
    style = ink.of("failed", bold=True) + Style(underline=True)
    for part in risky:
        match = re.search(rf"(?<![\w./-]){re.escape(part)}(?![\w./-])", line.plain) if part else None
        line = line.stylize(style, *match.span()) if match else line
    return line


def _choice_lines(
    detail: ActionDetail, choice: str | None, keys: Mapping[str, str], room: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    lines: list[Content] = []
    if not detail.is_pending:
        keys = _NO_KEYS
    elif detail.kind == "trust":
        keys = {offered.key: TRUST_KEY if offered.key == choice else "" for offered in detail.choices}
    pad = max(map(len, keys.values()), default=1)
    for offered in detail.choices:
        is_chosen = offered.key == choice
        sign = glyphs.of("taken" if is_chosen else "left")
        style = ink.of("info", bold=True) if is_chosen else ink.of("foreground")
        head = styled(f"{keys.get(offered.key, ''):<{pad}}  ", ink.of("info", bold=True)) + styled(
            f"{sign} ", style
        )
        lines += _sentence_lines(head, [offered.label or offered.key], room, ink)
        # Of one answer at a time: the whole question has to be seen before it is answered.
        if is_chosen and (note := detail.choice_notes.get(offered.key)):
            indent = Content(" " * head.cell_length)
            lines += [line.stylize(ink.of("muted")) for line in _sentence_lines(indent, [note], room, ink)]
    return lines


def _list_lines(named: NamedList, room: int, ink: Ink) -> list[Content]:
    """Return a heading, and its rows with what each is for in a column of its own."""
    labels = [safe_content(label, ink.of("muted"), ink) for label, _ in named.rows]
    width = min(MAX_LABEL_CELLS, room // 2, max((label.cell_length for label in labels), default=0))
    lines = [styled(named.heading, ink.of("faint"))]
    for label, (_, text) in zip(labels, named.rows, strict=True):
        head = shorten_line(label, width)
        head = styled("  ") + head.pad_right(max(0, width - head.cell_length)) + styled("  ")
        code = [mark_hidden(styled(line, _BODY_STYLE), ink) for line in safe_lines(text)]
        body = wrap_code(code, max(1, room - head.cell_length))
        lines += hanging_lines(head, body, head.cell_length)
    return lines


def _pair_lines(pairs: Sequence[tuple[str, str]], room: int, ink: Ink) -> list[Content]:
    lines: list[Content] = []
    longest = max((len(name) for name, _ in pairs if len(name) <= MAX_NAME_CELLS), default=0)
    for name, text in pairs:
        label = safe_content(name, ink.of("muted"), ink)
        head = label.pad_right(max(0, longest - label.cell_length)) + "  "
        texts = safe_lines(text.removesuffix("\n"))
        if len(texts) == 1 and head.cell_length + len(texts[0]) <= room:
            lines.append(head + mark_hidden(Content(texts[0]), ink))
            continue
        body = wrap_code([mark_hidden(styled(line, _BODY_STYLE), ink) for line in texts], max(1, room - 2))
        lines += [shorten_line(head, room), *(Content("  ") + line for line in body)]
    return lines


_BODY_STYLE: Final = Style.null()


_PART_GAP: Final = 2
_DOES_HEAD: Final = "what it does"
_MIN_MEANING_CELLS: Final = 22
"""Cells below which what a part does is not put into a column."""


def command_part_lines(parts: CommandParts, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the table of a command's parts, each line at most `room` cells wide."""
    columns = _part_columns(parts.rows, room, ink)
    lines: list[Content] = []
    if parts.rows and columns is not None:
        does = _DOES_HEAD if any(row.does for row in parts.rows) else ""
        heads = f"   {'part'.ljust(columns[0])}  {does.ljust(columns[1])}{'  ' if columns[1] else ''}says"
        lines.append(styled(heads, ink.of("faint")))
    for number, row in enumerate(parts.rows, 1):
        if columns is not None:
            lines += _part_row_lines(number, row, *columns, ink, glyphs)
        else:
            lines += _part_stack_lines(number, row, room, ink, glyphs)
    for note in parts.notes:
        lines += wrap_plain_text(note, room, ink)
    return lines


def _part_columns(rows: Sequence[CommandPartRow], room: int, ink: Ink) -> tuple[int, int] | None:
    """Return the cells of text and meaning; None where a part would not stand on one line beside it."""
    says = max((len(row.says) + 2 for row in rows), default=0)
    left = room - 3 - says - 2 * _PART_GAP
    first = max((_part_text(row, ink).cell_length for row in rows), default=0)
    second = max((len(row.does) for row in rows), default=0)
    first, second = max(first, len("part")), max(second, len(_DOES_HEAD)) if second else 0
    if first + min(second, _MIN_MEANING_CELLS) > left:
        return None
    return first, min(second, left - first)


def _part_row_lines(
    number: int, row: CommandPartRow, first: int, second: int, ink: Ink, glyphs: Glyphs
) -> list[Content]:
    text = _part_text(row, ink)
    does = wrap_plain_text(row.does, second, ink) if row.does else [Content("")]
    head = styled(f"{number:>2} ", ink.of("faint")) + text.pad_right(first - text.cell_length + _PART_GAP)
    head += does[0].stylize(ink.of("muted"))
    says_at = 3 + first + _PART_GAP + (second + _PART_GAP if second else 0)
    lines = [head.pad_right(says_at - head.cell_length) + _part_verdict(row, ink, glyphs)]
    blanks = Content(" " * (3 + first + _PART_GAP))
    return lines + [blanks + line.stylize(ink.of("muted")) for line in does[1:]]


def _part_stack_lines(number: int, row: CommandPartRow, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    texts = wrap_code([_part_text(row, ink)], max(8, room - 3))
    lines = hanging_lines(styled(f"{number:>2} ", ink.of("faint")), texts, 3)
    said = _part_verdict(row, ink, glyphs)
    if row.does:
        said += styled("  ", None) + safe_content(row.does, ink.of("muted"), ink)
    return lines + [Content("     ") + line for line in wrap_code([said], max(8, room - 5))]


def _part_text(row: CommandPartRow, ink: Ink) -> Content:
    return safe_content(
        marked_spaces(row.text), ink.of("failed", bold=True) if row.is_risky else ink.of("foreground"), ink
    )


def _part_verdict(row: CommandPartRow, ink: Ink, glyphs: Glyphs) -> Content:
    return styled(f"{glyphs.of(row.sign)} {row.says}", ink.sign(row.sign))
