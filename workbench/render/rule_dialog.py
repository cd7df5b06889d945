"""The dialog of a new rule, as lines. Patterns and calls are untrusted text: wrapped, never cut."""

from typing import Final

from textual.content import Content

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
from workbench.text.human import clock_time, counted
from workbench.views.rule_dialog import Backtest, BacktestRow, DialogField, RuleCandidateRow, RuleDialogModel
from workbench.views.status_icons import StatusName

FIELD_NAME_CELLS: Final = 13
MAX_BACKTEST_BAR_CELLS: Final = 40
_EFFECT_WORDS: Final = {"allow": "allowed", "ask": "asked about", "deny": "denied"}


def rule_dialog_lines(
    shown: RuleDialogModel, width: int, ink: Ink, glyphs: Glyphs
) -> tuple[list[Content], int]:
    """Return the lines of the dialog, and the line of the candidate under the cursor."""
    room = max(8, width - FIELD_NAME_CELLS - 1)
    lines = _named_lines("this call", _wrapped_call(shown.about, room, ink), ink)
    if shown.part_words:
        lines += _named_lines("", wrap_plain_text(shown.part_words, room, ink), ink)
    lines.append(Content(""))
    cursor_line = 0
    for index, row in enumerate(shown.candidates):
        is_here = index == shown.cursor
        cursor_line = len(lines) if is_here else cursor_line
        lines += _candidate_lines(row, "rule" if index == 0 else "", room, ink, glyphs, is_here=is_here)
    lines.append(Content(""))
    for index, field in enumerate(shown.fields):
        lines += _field_lines(field, room, ink, glyphs, is_here=index == shown.field)
    lines += ["", *_backtest_lines(shown, width, ink, glyphs), ""]  # type: ignore[list-item]
    for note in shown.notes:
        lines += [Content(" ") + line for line in wrap_plain_text(note, width - 2, ink)]
    return [Content(line) if isinstance(line, str) else line for line in lines], cursor_line


def _named_lines(name: str, below: list[Content], ink: Ink) -> list[Content]:
    head = styled(f" {name}".ljust(FIELD_NAME_CELLS), ink.of("muted"))
    return hanging_lines(head, below, FIELD_NAME_CELLS)


def _wrapped_call(text: str, room: int, ink: Ink) -> list[Content]:
    style = ink.of("foreground", bold=True)
    lines = [mark_hidden(styled(line, style), ink) for line in safe_lines(text.removesuffix("\n"))]
    return wrap_code(lines, room)


def _candidate_lines(
    row: RuleCandidateRow, name: str, room: int, ink: Ink, glyphs: Glyphs, *, is_here: bool
) -> list[Content]:
    style = ink.of("faint") if row.refused else ink.of("foreground", bold=is_here)
    pattern = safe_content(row.pattern, style, ink)
    if row.refused:
        explanation = styled(f"{glyphs.of('failed')} refused: ", ink.of("failed"))
        explanation += safe_content(row.refused, ink.of("muted"), ink)
    else:
        explanation = safe_content(row.covers, ink.of("muted"), ink)
    half = room * 2 // 5
    if pattern.cell_length <= half and explanation.cell_length <= room - half - 1:
        lines = [pattern.pad_right(half - pattern.cell_length + 1) + explanation]
    else:
        rest = [Content("  ") + line for line in wrap_code([explanation], max(8, room - 2))]
        lines = [*wrap_code([pattern], room), *rest]
    head = styled(f"{glyphs.of('cursor') if is_here else ' '}", ink.of("info"))
    head += styled(name.ljust(FIELD_NAME_CELLS - 1), ink.of("muted"))
    candidate = hanging_lines(head, lines, FIELD_NAME_CELLS)
    if not is_here:
        return candidate
    return [line.pad_right(max(0, room + FIELD_NAME_CELLS - line.cell_length)) for line in candidate]


def _field_lines(field: DialogField, room: int, ink: Ink, glyphs: Glyphs, *, is_here: bool) -> list[Content]:
    options: list[Content] = []
    for index, word in enumerate(field.options):
        is_chosen = index == field.chosen
        mark = glyphs.of("taken" if is_chosen else "left")
        sign = styled(f"{mark} ", ink.of("info" if is_chosen else "faint"))
        options.append(sign + styled(word, ink.of("foreground" if is_chosen else "muted", bold=is_chosen)))
    name = styled(
        f"{glyphs.of('cursor') if is_here else ' '}{field.name}".ljust(FIELD_NAME_CELLS),
        ink.of("info", bold=True) if is_here else ink.of("muted"),
    )
    line = Content("   ").join(options)
    if line.cell_length <= room:
        return [name + line]
    return hanging_lines(name, options, FIELD_NAME_CELLS)


def _backtest_lines(shown: RuleDialogModel, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    bold, muted = ink.of("foreground", bold=True), ink.of("muted")
    past = shown.past
    if past is None:
        counting = styled(glyphs.line("  is being counted …"), muted)
        return [Content(" ") + styled("What it would have done", bold) + counting]
    since = f" since {clock_time(past.since, shown.now)}" if past.since is not None else ""
    asked = f"  {counted(past.asks, 'ask')} in {counted(past.sessions, 'session')}{since}"
    lines = [Content(" ") + styled("What it would have done", bold) + styled(asked, muted)]
    if not past.asks:
        return [*lines, Content(" ") + styled("Nothing like this was asked before.", muted)]
    word = _EFFECT_WORDS[shown.effect]
    lines.append(
        styled(f" {word}".ljust(FIELD_NAME_CELLS), muted)
        + styled(f"{past.matched} of {past.asks}", bold)
        + "  "
        + _backtest_bar(past, max(4, min(MAX_BACKTEST_BAR_CELLS, width - FIELD_NAME_CELLS - 16)), ink, glyphs)
    )
    if past.matched:
        lines += _named_lines("", [_backtest_outcomes(past, ink, glyphs)], ink)
    rows = [
        _backtest_row(row, shown.now, max(20, width - FIELD_NAME_CELLS - 1), ink, glyphs)
        for row in past.look_at
    ]
    lines += _named_lines("look at", rows, ink)
    still = past.asks - past.matched
    if still and shown.effect == "allow":
        asked = styled(f"{glyphs.of('waiting')} {still}", ink.sign("waiting")) + styled(" of them", muted)
        lines += _named_lines("still asked", [asked], ink)
    return lines


def _backtest_bar(past: Backtest, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    full = max(1, round(room * past.matched / max(1, past.asks))) if past.matched else 0
    bad = min(full, max(1, round(full * past.rejected / past.matched))) if past.rejected else 0
    sign = glyphs.of("ran")
    return styled(sign * (full - bad), ink.of("added")) + styled(sign * bad, ink.of("failed"))


def _backtest_outcomes(past: Backtest, ink: Ink, glyphs: Glyphs) -> Content:
    other = past.matched - past.approved - past.rejected - past.expired
    counted: tuple[tuple[StatusName, int, str], ...] = (
        ("ok", past.approved, "were approved"),
        ("rejected", past.rejected, "were rejected"),
        ("expired", past.expired, "expired"),
        ("cancelled", other, "withdrawn or still open"),
    )
    outcomes = [
        styled(f"{glyphs.of(sign)} {count}", ink.sign(sign)) + f" {words}"
        for sign, count, words in counted
        if count
    ]
    return Content("   ").join(outcomes)


def _backtest_row(row: BacktestRow, now: int, room: int, ink: Ink, glyphs: Glyphs) -> Content:
    right = f"  {clock_time(row.when, now)}"
    head = styled(f"{glyphs.of(row.sign)} ", ink.sign(row.sign))
    who = safe_content(f"  {row.session_title}", ink.of("muted"), ink)
    why = safe_content(f"  “{row.why}”", ink.of("muted"), ink) if row.why else Content("")
    text = shorten_line(safe_content(row.text, None, ink), max(8, room * 2 // 5), glyphs)
    return shorten_line(head + text + styled(right, ink.of("faint")) + who + why, room, glyphs)
