"""The dialog that makes a rule, and the table of a command's parts, as lines.

Pure. Patterns and calls are untrusted text: they pass `text.safe`, and are wrapped, never cut.
"""

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from workbench.draw.cells import content, mark_hidden, shorten, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.draw.words import clock
from workbench.draw.wrapping import hard_wrap, plain_wrap, safe_lines
from workbench.views.ruling import CandidateRow, Choosable, CommandParts, PartRow, Past, PastRow, RuleDialog
from workbench.views.signs import Meaning

NAME: Final = 13
"""Cells of the names at the left."""
BAR: Final = 40
_WORDS: Final = {"allow": "allowed", "ask": "asked about", "deny": "denied"}


def dialog_lines(shown: RuleDialog, width: int, ink: Ink, glyphs: Glyphs) -> tuple[list[Content], int]:
    """Return the lines of the dialog, and the line of the candidate under the cursor."""
    room = max(8, width - NAME - 1)
    lines = _named("this call", _wrapped(shown.about, room, ink), ink)
    if shown.part_words:
        lines += _named("", plain_wrap(shown.part_words, room, ink), ink)
    lines.append(Content(""))
    cursor_line = 0
    for at, row in enumerate(shown.candidates):
        is_here = at == shown.cursor
        cursor_line = len(lines) if is_here else cursor_line
        lines += _candidate(row, "rule" if at == 0 else "", room, ink, glyphs, is_here=is_here)
    lines.append(Content(""))
    for at, field in enumerate(shown.fields):
        lines += _choosable(field, room, ink, glyphs, is_here=at == shown.field)
    lines += ["", *_past(shown, width, ink, glyphs), ""]  # type: ignore[list-item]
    for note in shown.notes:
        lines += [Content(" ") + line for line in plain_wrap(note, width - 2, ink)]
    return [Content(line) if isinstance(line, str) else line for line in lines], cursor_line


def _named(name: str, below: list[Content], ink: Ink) -> list[Content]:
    head = styled(f" {name}".ljust(NAME), ink.of("muted"))
    blanks = Content(" " * NAME)
    return [(blanks if at else head) + line for at, line in enumerate(below)]


def _wrapped(text: str, room: int, ink: Ink) -> list[Content]:
    style = ink.of("foreground", bold=True)
    lines = [mark_hidden(styled(line, style), ink) for line in safe_lines(text.removesuffix("\n"))]
    return hard_wrap(lines, room)


def _candidate(
    row: CandidateRow, name: str, room: int, ink: Ink, glyphs: Glyphs, *, is_here: bool
) -> list[Content]:
    style = ink.of("faint") if row.refused else ink.of("foreground", bold=is_here)
    pattern = content(row.pattern, style, ink)
    if row.refused:
        said = styled(f"{glyphs.of('failed')} refused: ", ink.of("failed"))
        said += content(row.refused, ink.of("muted"), ink)
    else:
        said = content(row.covers, ink.of("muted"), ink)
    half = room * 2 // 5
    if pattern.cell_length <= half and said.cell_length <= room - half - 1:
        lines = [pattern.pad_right(half - pattern.cell_length + 1) + said]
    else:
        rest = [Content("  ") + line for line in hard_wrap([said], max(8, room - 2))]
        lines = [*hard_wrap([pattern], room), *rest]
    head = styled(f"{glyphs.of('cursor') if is_here else ' '}", ink.of("info"))
    head += styled(name.ljust(NAME - 1), ink.of("muted"))
    blanks = Content(" " * NAME)
    made = [(blanks if at else head) + line for at, line in enumerate(lines)]
    return [line.pad_right(max(0, room + NAME - line.cell_length)) for line in made] if is_here else made


def _choosable(field: Choosable, room: int, ink: Ink, glyphs: Glyphs, *, is_here: bool) -> list[Content]:
    options: list[Content] = []
    for at, word in enumerate(field.options):
        is_chosen = at == field.chosen
        mark = glyphs.of("running" if is_chosen else "todo")
        sign = styled(f"{mark} ", ink.of("info" if is_chosen else "faint"))
        options.append(sign + styled(word, ink.of("foreground" if is_chosen else "muted", bold=is_chosen)))
    name = styled(
        f"{glyphs.of('cursor') if is_here else ' '}{field.name}".ljust(NAME),
        ink.of("info", bold=True) if is_here else ink.of("muted"),
    )
    line = Content("   ").join(options)
    if line.cell_length <= room:
        return [name + line]
    blanks = Content(" " * NAME)
    return [(blanks if at else name) + one for at, one in enumerate(options)]


# --- the past ------------------------------------------------------------------------------------


def _past(shown: RuleDialog, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    bold, muted = ink.of("foreground", bold=True), ink.of("muted")
    past = shown.past
    if past is None:
        counting = styled(glyphs.line("  is being counted …"), muted)
        return [Content(" ") + styled("What it would have done", bold) + counting]
    since = f" since {clock(past.since, shown.now)}" if past.since is not None else ""
    counted = f"  {past.asks} asks in {past.sessions} session{'' if past.sessions == 1 else 's'}{since}"
    lines = [Content(" ") + styled("What it would have done", bold) + styled(counted, muted)]
    if not past.asks:
        return [*lines, Content(" ") + styled("Nothing like this was asked before.", muted)]
    word = _WORDS[shown.effect]
    lines.append(
        styled(f" {word}".ljust(NAME), muted)
        + styled(f"{past.matched} of {past.asks}", bold)
        + "  "
        + _bar(past, max(4, min(BAR, width - NAME - 16)), ink, glyphs)
    )
    if past.matched:
        lines += _named("", [_outcomes(past, ink, glyphs)], ink)
    rows = [_past_row(row, shown.now, max(20, width - NAME - 1), ink, glyphs) for row in past.look_at]
    lines += _named("look at", rows, ink)
    still = past.asks - past.matched
    if still and shown.effect == "allow":
        asked = styled(f"{glyphs.of('waiting')} {still}", ink.sign("waiting")) + styled(" of them", muted)
        lines += _named("still asked", [asked], ink)
    return lines


def _bar(past: Past, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    full = max(1, round(room * past.matched / max(1, past.asks))) if past.matched else 0
    bad = min(full, max(1, round(full * past.rejected / past.matched))) if past.rejected else 0
    sign = glyphs.of("ran")
    return styled(sign * (full - bad), ink.of("added")) + styled(sign * bad, ink.of("failed"))


def _outcomes(past: Past, ink: Ink, glyphs: Glyphs) -> Content:
    other = past.matched - past.approved - past.rejected - past.expired
    counted: tuple[tuple[Meaning, int, str], ...] = (
        ("ok", past.approved, "were approved"),
        ("rejected", past.rejected, "were rejected"),
        ("expired", past.expired, "expired"),
        ("cancelled", other, "withdrawn or still open"),
    )
    found = [
        styled(f"{glyphs.of(sign)} {count}", ink.sign(sign)) + f" {words}"
        for sign, count, words in counted
        if count
    ]
    return Content("   ").join(found)


def _past_row(row: PastRow, now: int, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    right = f"  {clock(row.when, now)}"
    head = styled(f"{glyphs.of(row.sign)} ", ink.sign(row.sign))
    who = content(f"  {row.session_title}", ink.of("muted"), ink)
    why = content(f"  “{row.why}”", ink.of("muted"), ink) if row.why else Content("")
    text = shorten(content(row.text, None, ink), max(8, room * 2 // 5), glyphs)
    return shorten(head + text + styled(right, ink.of("faint")) + who + why, room, glyphs)


# --- the parts of a command ----------------------------------------------------------------------

_PART_GAP: Final = 2
_LEAST_MEANING: Final = 22
"""Cells below which what a part does is not put into a column."""


def part_lines(parts: CommandParts, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the table of a command's parts, each line at most `room` cells wide."""
    columns = _part_columns(parts.rows, room, ink)
    lines: list[Content] = []
    if parts.rows and columns is not None:
        heads = f"   {'part'.ljust(columns[0])}  {'what it does'.ljust(columns[1])}  says"
        lines.append(styled(heads, ink.of("faint")))
    for number, row in enumerate(parts.rows, 1):
        if columns is not None:
            lines += _part_row(number, row, *columns, ink, glyphs)
        else:
            lines += _part_stack(number, row, room, ink, glyphs)
    for note in parts.notes:
        lines += plain_wrap(note, room, ink)
    return lines


def _part_columns(rows: Sequence[PartRow], room: int, ink: Ink) -> tuple[int, int] | None:
    """Return the cells of text and meaning; None where a part would not stand on one line beside it."""
    says = max((len(row.says) + 2 for row in rows), default=0)
    left = room - 3 - says - 2 * _PART_GAP
    first = max((_part_text(row, ink).cell_length for row in rows), default=0)
    second = max((len(row.does) for row in rows), default=0)
    first, second = max(first, len("part")), max(second, len("what it does"))
    if first + min(second, _LEAST_MEANING) > left:
        return None
    return first, min(second, left - first)


def _part_row(number: int, row: PartRow, first: int, second: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    text = _part_text(row, ink)
    does = plain_wrap(row.does, second, ink) if row.does else [Content("")]
    head = styled(f"{number:>2} ", ink.of("faint")) + text.pad_right(first - text.cell_length + _PART_GAP)
    head += does[0].stylize(ink.of("muted"))
    says_at = 3 + first + second + 2 * _PART_GAP
    lines = [head.pad_right(says_at - head.cell_length) + _says(row, ink, glyphs)]
    blanks = Content(" " * (3 + first + _PART_GAP))
    return lines + [blanks + line.stylize(ink.of("muted")) for line in does[1:]]


def _part_stack(number: int, row: PartRow, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    head, blanks = styled(f"{number:>2} ", ink.of("faint")), Content("   ")
    texts = hard_wrap([_part_text(row, ink)], max(8, room - 3))
    lines = [(blanks if at else head) + line for at, line in enumerate(texts)]
    said = _says(row, ink, glyphs)
    if row.does:
        said += styled("  ", None) + content(row.does, ink.of("muted"), ink)
    return lines + [Content("     ") + line for line in hard_wrap([said], max(8, room - 5))]


def _part_text(row: PartRow, ink: Ink) -> Content:
    return content(row.text, ink.of("failed", bold=True) if row.is_risky else ink.of("foreground"), ink)


def _says(row: PartRow, ink: Ink, glyphs: Glyphs) -> Content:
    return styled(f"{glyphs.of(row.sign)} {row.says}", ink.sign(row.sign))
