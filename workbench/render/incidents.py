"""Rows of incidents as strips, captions of their groups, and an incident in full as lines."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from textual.content import Content
from textual.strip import Strip

from workbench.domain.incidents import IncidentSeverity
from workbench.render import cells
from workbench.render.cells import Column, hanging_lines, safe_content, styled, wrap_plain_text
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import END_COLUMN, cursor_column, icon_column, list_row_style
from workbench.render.theme import ColorName, Ink
from workbench.text.human import counted, duration_text
from workbench.text.safe import one_line
from workbench.views.incidents import (
    CodeExcerpt,
    IncidentGroup,
    IncidentPlan,
    IncidentRow,
    IncidentSnapshot,
    count_incidents,
)

SEVERITY_COLORS: Final[dict[IncidentSeverity, ColorName]] = {
    "critical": "failed", "error": "failed", "warning": "foreground", "info": "muted",
}  # fmt: skip
_WORD_CELLS: Final = 9
"""Of the longest outcome and severity."""
_LABEL_CELLS: Final = 17
_LEAST_MESSAGE: Final = 12
_MAX_RULE_CELLS: Final = 28
_TURNS_FROM: Final = 100
"""Cells of a row from which it says how often an agent was asked."""


class IncidentWidths(Struct, frozen=True):
    """Cells of the columns of a list that are as wide as what stands in them."""

    rule: int
    place: int

    @classmethod
    def of(cls, rows: Iterable[IncidentRow], width: int) -> "IncidentWidths":
        """Return the widths for some rows in a list of a width."""
        rule, place = 4, 4
        for row in rows:
            rule, place = max(rule, len(row.incident.rule)), max(place, len(row.incident.path) + 5)
        return cls(min(rule, _MAX_RULE_CELLS, max(6, width // 7)), min(place, max(14, width * 3 // 10)))


def incident_strip(
    row: IncidentRow, width: int, widths: IncidentWidths, ink: Ink, glyphs: Glyphs, *,
    is_marked: bool, is_cursor: bool, has_focus: bool,
) -> Strip:  # fmt: skip
    """Return one incident: severity, rule, place, message, how often it was asked about, outcome."""
    sign, word = row.status
    muted, bold = ink.of("muted"), ink.of("foreground", bold=is_cursor)
    incident = row.incident
    mark = styled(glyphs.of("taken") if is_marked else " ", ink.of("info"))
    severity = styled(incident.severity, ink.of(SEVERITY_COLORS[incident.severity]))
    turns = f"{row.rounds}x" if row.rounds > 1 else ""
    tells_why = bool(incident.problem) or row.state in ("skipped", "failed")
    message = one_line(row.reason, 400) if tells_why and row.reason else row.message
    columns = [
        cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        Column(content=mark, width=1, gap=0),
        icon_column(sign, ink, glyphs, gap=0),
        Column(content=severity, width=_WORD_CELLS - 1),
        Column(content=safe_content(incident.rule, bold, ink), width=widths.rule),
        Column(content=safe_content(row.place, muted, ink), width=widths.place, cut="path"),
        Column(content=safe_content(message, bold, ink), grows=True, least=_LEAST_MESSAGE),
    ]
    if width >= _TURNS_FROM:
        columns.append(Column(content=styled(turns, muted), width=3, align="right"))
    columns += [Column(content=styled(word, ink.sign(sign)), width=_WORD_CELLS), END_COLUMN]
    return cells.row_strip(
        columns, width, list_row_style(ink, is_cursor=is_cursor, has_focus=has_focus), glyphs=glyphs
    )


def group_strip(group: IncidentGroup, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Return the caption of a group: its name, how many, how they stand."""
    counts = count_incidents(group.rows)
    columns = [
        Column(content=Content(" "), gap=0),
        Column(content=safe_content(group.name, ink.of("muted", bold=True), ink), grows=True, cut="path",
               least=10, gap=0),
        Column(content=styled(f"{counts.total:,}", ink.of("muted", bold=True)), gap=2),
        Column(content=styled(counts.words, ink.of("muted")), gap=2, drop=1),
        END_COLUMN,
    ]  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


class IncidentDetail(Struct, frozen=True, kw_only=True):
    """What is said of an incident in full."""

    row: IncidentRow
    code: CodeExcerpt = CodeExcerpt()
    prompts: tuple[str, ...] = ()
    """What was sent, in order; without any, what would be."""
    is_sent: bool = False
    session_title: str = ""
    """Of the agent that was asked last."""


def incident_lines(detail: IncidentDetail, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    """Return an incident in full: what is wrong, the code around it, what was asked, what came of it."""
    row, room = detail.row, max(20, width - 3)
    lines = _facts(row, room, ink, glyphs)
    if row.rounds or row.state != "open":
        lines += _section("What came of it", ink) + _outcome_lines(detail, room, ink)
    lines += _section("Code", ink) + _code_lines(detail.code, row.line, ink, glyphs)
    title = "Prompt as it would be sent" if not detail.is_sent else "Prompt as it was sent"
    for number, prompt in enumerate(detail.prompts, 1):
        count = f", {number} of {len(detail.prompts)}" if len(detail.prompts) > 1 else ""
        lines += _section(f"{title}{count}", ink) + _text_lines(prompt, room, ink)
    return lines


def _section(title: str, ink: Ink) -> list[Content]:
    return [Content(""), styled(f" {title}", ink.of("foreground", bold=True))]


def _facts(row: IncidentRow, room: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    incident, (sign, word) = row.incident, row.status
    head = Content.assemble(
        " ", (glyphs.of(sign), ink.sign(sign)), " ", (word, ink.sign(sign)), "   ",
        (incident.severity, ink.of(SEVERITY_COLORS[incident.severity])), "   ",
        safe_content(incident.rule, ink.of("foreground", bold=True), ink),
    )  # fmt: skip
    lines = [head, Content(" ") + safe_content(row.place, ink.of("info"), ink)]
    lines += _text_lines(incident.message or incident.description, room, ink)
    told = incident.description if incident.message else ""
    facts = [
        ("rule says", told if told != incident.message else ""), ("category", incident.category),
        ("file says", incident.location), ("cannot be asked", incident.problem),
        *((one_line(name, 30), one_line(str(value), 300)) for name, value in incident.metadata.items()),
    ]  # fmt: skip
    for name, text in facts:
        if text:
            lines += _labelled_lines(f" {name:<16}", text, room, ink)
    return lines


def _labelled_lines(label: str, text: str, room: int, ink: Ink) -> list[Content]:
    lines = wrap_plain_text(text, max(10, room - _LABEL_CELLS), ink)
    return hanging_lines(styled(label, ink.of("muted")), lines, _LABEL_CELLS)


def _text_lines(text: str, room: int, ink: Ink) -> list[Content]:
    return [Content("   ") + line for line in wrap_plain_text(text, room, ink)]


def _code_lines(code: CodeExcerpt, marked: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if code.problem or not code.lines:
        words = code.problem or "The file is empty."
        return [Content("   ") + safe_content(words, ink.of("muted"), ink)]
    digits = len(str(code.lines[-1].number))
    rows: list[Content] = []
    for line in code.lines:
        is_here = line.number == marked
        bar = styled(glyphs.of("prompt") if is_here else " ", ink.of("info", bold=True))
        number = styled(f" {line.number:>{digits}} ", ink.of("info" if is_here else "faint"))
        text = cells.safe_lines(line.text)[0]
        words = safe_content(text, ink.of("foreground", bold=is_here), ink)
        rows.append(Content(" ") + bar + number + words)
    return rows


def _outcome_lines(detail: IncidentDetail, room: int, ink: Ink) -> list[Content]:
    row = detail.row
    facts = [
        ("outcome", row.status[1]),
        ("asked", counted(row.rounds, "time") if row.rounds else ""),
        ("checker", row.check or ""),
        ("why", row.reason),
        ("took", duration_text(row.duration_ms / 1000) if row.duration_ms else ""),
        ("changed files", ", ".join(path for path in row.files if path not in row.files_while_ran)),
        ("while it ran", ", ".join(row.files_while_ran)),
        ("by others", ", ".join(row.files_by_others)),
        ("new findings", _new_words(row)),
        ("session", detail.session_title or row.child_id[:8]),
    ]
    lines: list[Content] = []
    for name, text in facts:
        if text:
            lines += _labelled_lines(f"   {name:<14}", text, room, ink)
    return lines


def _new_words(row: IncidentRow) -> str:
    if not row.new_count:
        return ""
    named = [f"{new.path}:{new.line} {new.rule} {one_line(new.message, 120)}" for new in row.new]
    more = [f"and {row.new_count - len(named):,} more"] if row.new_count > len(named) else []
    return "\n".join([f"{row.new_count:,}", *named, *more])


def plan_lines(
    plan: IncidentPlan, snapshot: IncidentSnapshot, which: str, model: str, width: int, ink: Ink
) -> list[Content]:
    """Return what a start would ask: how many agents and prompts, whom, and how it is checked."""
    least, most = plan.least_prompts, plan.most_prompts
    prompts = counted(least, "prompt") if least == most else f"{least:,} prompts, at most {most:,}"
    each, left = snapshot.seconds_each, plan.options.timeout_s
    about = f"about {duration_text(each * least)}, as before here" if each else "not known before the first"
    batch = {"one": "one agent a finding", "file": "one agent a file", "rule": "one agent a rule"}
    checker = one_line(plan.checker, 400) or "none: what changed is called changed, not fixed"
    rows: Sequence[tuple[str, str]] = (
        ("findings", f"{counted(least, 'finding')} {which}"),
        ("agents", f"{plan.sessions:,}, {batch[plan.options.batch]}"),
        ("prompts", prompts),
        (
            "turns each",
            f"{plan.options.max_turns}, then you are asked" if plan.checker else "1, as none checks",
        ),
        ("time each", f"at most {duration_text(left)} of work"),
        ("takes", about),
        ("model", one_line(model, 200) or "none is set up"),
        ("checker", checker),
        ("approvals", "every edit and command is a row of the queue, as your settings say"),
        *(("left out", text) for text in plan.left_out),
    )
    lines: list[Content] = []
    for name, text in rows:
        head = styled(f" {name:<12}", ink.of("muted"))
        lines += hanging_lines(head, wrap_plain_text(text, max(10, width - 14), ink), 13)
    return lines
