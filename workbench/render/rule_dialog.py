"""The dialog of a new rule, as lines. Patterns and calls are untrusted text: wrapped, never cut."""

from textual.content import Content

from workbench.render.cells import (
    hanging_lines,
    mark_hidden,
    safe_content,
    safe_lines,
    styled,
    wrap_code,
    wrap_plain_text,
)
from workbench.render.glyphs import Glyphs
from workbench.render.rule_backtest import FIELD_NAME_CELLS, backtest_lines, named_lines
from workbench.render.theme import Ink
from workbench.views.rule_dialog import DialogField, RuleCandidateRow, RuleDialogModel


def rule_dialog_lines(
    shown: RuleDialogModel, width: int, ink: Ink, glyphs: Glyphs
) -> tuple[list[Content], int]:
    """Return the lines of the dialog, and the line of the candidate under the cursor."""
    room = max(8, width - FIELD_NAME_CELLS - 1)
    lines = named_lines("this call", _wrapped_call(shown.about, room, ink), ink)
    if shown.part_words:
        lines += named_lines("", wrap_plain_text(shown.part_words, room, ink), ink)
    lines.append(Content(""))
    cursor_line = 0
    for index, row in enumerate(shown.candidates):
        is_here = index == shown.cursor
        cursor_line = len(lines) if is_here else cursor_line
        lines += _candidate_lines(row, "rule" if index == 0 else "", room, ink, glyphs, is_here=is_here)
    lines.append(Content(""))
    for index, field in enumerate(shown.fields):
        lines += _field_lines(field, room, ink, glyphs, is_here=index == shown.field)
    past = backtest_lines(shown.past, shown.effect, shown.now, width, ink, glyphs)
    lines += ["", *past, ""]  # type: ignore[list-item]
    for note in shown.notes:
        lines += [Content(" ") + line for line in wrap_plain_text(note, width - 2, ink)]
    return [Content(line) if isinstance(line, str) else line for line in lines], cursor_line


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
