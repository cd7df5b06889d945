"""The detail of an action that is no diff: a command, a gate, a question, trust; and the bar over any detail.

Owns the order of what has to be read before answering. Commands are shown whole, wrapped, never cut.
"""

import re
from collections.abc import Sequence
from typing import Final

from textual.content import Content
from textual.style import Style

from workbench.draw.cells import content, mark_hidden, shorten, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.rows import sizes
from workbench.draw.ruling import part_lines
from workbench.draw.tokens import Ink
from workbench.draw.words import clock
from workbench.draw.wrapping import hard_wrap, plain_wrap, safe_lines
from workbench.views.detail import ActionDetail

INDENT: Final = 3
NAME_CELLS: Final = 20
"""Up to here names of facts make a column; longer ones stand for themselves."""
CHOICE_KEYS: Final = {"reject": "r"}
"""Choices that a key of their own gives at once, as the table of keys has them."""
TITLE_CELLS: Final = 60


def body_lines(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None
) -> list[Content]:
    """Return command, parameters, prompt, choices, facts as lines of at most `width` cells."""
    return body(detail, width, ink, glyphs, choice=choice)[0]


def body(
    detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs, *, choice: str | None = None
) -> tuple[list[Content], range]:
    """Return the lines of a body, and which of them only explain what others say: the table of parts.

    Args:
        detail: the action.
        width: cells.
        ink: colours.
        glyphs: signs.
        choice: key of the choice under the cursor of a gate or question.
    """
    room = max(1, width - INDENT - 1)
    parts = [
        _command(detail, room, ink),
        _output(detail, room, ink, glyphs),
        [] if detail.parts is None else part_lines(detail.parts, room, ink, glyphs),
        plain_wrap(detail.prompt, room, ink) if detail.prompt else [],
        _choices(detail, choice, room, ink, glyphs),
        _pairs(detail.subject, room, ink),
        _pairs(_facts(detail), room, ink),
    ]
    blanks = Content(" " * INDENT)
    lines: list[Content] = []
    table = range(0)
    for at, part in enumerate(parts):
        lines += [Content(""), *(blanks + line if line.plain else line for line in part)] if part else []
        table = range(len(lines) - len(part), len(lines)) if at == _TABLE else table
    return lines, table


_TABLE: Final = 2
"""Where the table of a command's parts stands among the parts of a body."""


def command_height(detail: ActionDetail, width: int, ink: Ink) -> int:
    """Return the row of `body_lines` on which a command ends."""
    return len(_command(detail, max(1, width - INDENT - 1), ink))


def _output(detail: ActionDetail, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return the last lines that a command printed, and where the others are."""
    if not detail.output:
        return []
    shown, whole = len(detail.output), detail.output_lines
    rest = f", the last {shown} of {whole} lines; 3 shows all" if shown < whole else ""
    lines = [shorten(content(line, ink.of("foreground"), ink), room, glyphs) for line in detail.output]
    return [styled(f"output{rest}", ink.of("muted")), *lines]


def bar_lines(detail: ActionDetail, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return what stands over the detail: stale, expired, decided; then each warning with its sentence."""
    lines: list[Content] = []
    if detail.bar:
        when = "" if detail.is_pending else f" {clock(detail.decided_at)}"
        head = styled(
            f" {glyphs.of(detail.decision_sign)} {detail.decision_word}{when}  ",
            ink.sign(detail.decision_sign),
        )
        lines += _hanging(head, detail.bar, width, ink)
    if detail.outcome:
        sign = styled(f"{glyphs.of(detail.sign)} ", ink.sign(detail.sign))
        lines += _hanging(styled(" then  ", ink.of("muted")) + sign, [detail.outcome], width, ink)
    for risk in detail.warnings:
        head = (
            styled(f" {glyphs.of('risk')} ", ink.sign("risk")) + content(risk.word, ink.sign("risk")) + "  "
        )
        lines += _hanging(head, [risk.sentence], width, ink)
    return lines


def title_left(detail: ActionDetail, ink: Ink, glyphs: Glyphs) -> Content:
    """Return the title of the detail: `src/shop/router.py +6 −3`, `run_in_terminal ! 3 risks`."""
    bold = ink.of("foreground", bold=True)
    name = detail.target if detail.files or detail.kind != "tool" else detail.tool or detail.verb
    left = shorten(content(glyphs.target(name), bold, ink), TITLE_CELLS, glyphs, keeps_end=bool(detail.files))
    if len(detail.files) > 1:
        left += styled(f"  {len(detail.files)} files", ink.of("muted"))
    size = sizes(detail.added, detail.removed, ink, glyphs)
    if size.plain:
        left += Content(" ") + size
    if detail.warnings:
        count = len(detail.warnings)
        words = f" {glyphs.of('risk')} {count} risk{'s' if count > 1 else ''}"
        left += styled(words, ink.sign("risk"))
    return left


def _hanging(head: Content, sentences: Sequence[str], width: int, ink: Ink) -> list[Content]:
    """Return sentences one below another, the first behind a head, the others under its text."""
    indent = min(head.cell_length, max(0, width - 12))
    room = max(1, width - indent - 1)
    texts = [line for sentence in sentences for line in plain_wrap(sentence, room, ink)]
    blanks = Content(" " * indent)
    return [(blanks if at else shorten(head, indent)) + line for at, line in enumerate(texts)]


def _facts(detail: ActionDetail) -> list[tuple[str, str]]:
    facts = list(detail.parameters)
    if detail.command is not None and detail.cwd:
        facts.append(("runs in", detail.cwd))
    if detail.why_asked:
        facts.append(("why it asks", detail.why_asked))
    return facts


def _command(detail: ActionDetail, room: int, ink: Ink) -> list[Content]:
    if detail.command is None:
        return []
    style = ink.of("foreground", bold=True)
    risky = [row.text for row in detail.parts.rows if row.is_risky] if detail.parts else []
    lines = [
        mark_hidden(_underlined(styled(line, style), risky, ink), ink)
        for line in safe_lines(detail.command.removesuffix("\n"))
    ]
    return hard_wrap(lines, room)


def _underlined(line: Content, risky: Sequence[str], ink: Ink) -> Content:
    """Return a line of a command with those of its risky parts marked that stand in it as they were read."""
    style = ink.of("failed", bold=True) + Style(underline=True)
    for part in risky:
        found = re.search(rf"(?<![\w./-]){re.escape(part)}(?![\w./-])", line.plain) if part else None
        line = line.stylize(style, *found.span()) if found else line
    return line


def _choices(detail: ActionDetail, choice: str | None, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    lines: list[Content] = []
    has_letters = detail.is_pending and detail.kind != "trust"
    for offered in detail.choices:
        is_chosen = offered.key == choice
        sign = glyphs.of("running" if is_chosen else "todo")
        style = ink.of("info", bold=True) if is_chosen else ink.of("foreground")
        letter = CHOICE_KEYS.get(offered.key, "a" if is_chosen else " ") if has_letters else " "
        head = styled(f"{letter}  ", ink.of("info", bold=True)) + styled(f"{sign} ", style)
        lines += _hanging(head, [offered.label or offered.key], room, ink)
    return lines


def _pairs(pairs: Sequence[tuple[str, str]], room: int, ink: Ink) -> list[Content]:
    lines: list[Content] = []
    longest = max((len(name) for name, _ in pairs if len(name) <= NAME_CELLS), default=0)
    for name, text in pairs:
        label = content(name, ink.of("muted"), ink)
        head = label.pad_right(max(0, longest - label.cell_length)) + "  "
        texts = safe_lines(text.removesuffix("\n"))
        if len(texts) == 1 and head.cell_length + len(texts[0]) <= room:
            lines.append(head + mark_hidden(Content(texts[0]), ink))
            continue
        body = hard_wrap([mark_hidden(styled(line, _BODY), ink) for line in texts], max(1, room - 2))
        lines += [shorten(head, room), *(Content("  ") + line for line in body)]
    return lines


_BODY: Final = Style.null()
