"""The comparison of two runs of a pipeline, as lines."""

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.render import cells
from workbench.render.cells import Column, safe_content, styled
from workbench.render.glyphs import Glyphs
from workbench.render.list_rows import cursor_column
from workbench.render.theme import Ink
from workbench.text.human import duration_text, ordinal, token_text, try_text
from workbench.views.run_comparison import ComparedStep, ComparisonRow, RunComparison

_TIME_CELLS, _MIN_OUTCOME_CELLS, _MAX_OUTCOME_CELLS = 9, 11, 27
_OTHER_CELLS = 80


def comparison_head_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    faint, bold = ink.of("faint"), ink.of("foreground", bold=True)
    earlier, later = comparison.earlier.title, comparison.later.title
    columns = _comparison_columns(
        width, Content(" "), styled("step", faint), _run_heads("before", earlier, bold, ink),
        _run_heads("now", later, bold, ink), styled("change", faint), styled("tokens", faint),
    )  # fmt: skip
    return cells.row_strip(columns, width, ink.on("background"), glyphs=glyphs)


def _run_heads(word: str, title: str, style: Style, ink: Ink) -> tuple[Content, Content, Content]:
    number = title.rpartition(" #")[2] if " #" in title else ""
    faint = ink.of("faint")
    return (
        safe_content(f"{word} #{number}" if number else word, style, ink), styled("time", faint),
        styled("tokens", faint),
    )  # fmt: skip


def comparison_strip(
    row: ComparisonRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    bar = cursor_column(glyphs, ink, is_cursor=is_cursor, has_focus=True).content
    is_bold = row.kind in ("outcome", "added", "gone")
    columns = _difference_columns(row, bar, width, ink, glyphs, is_bold=is_bold)
    return cells.row_strip(
        columns, width, ink.cursor(has_focus=has_focus) if is_cursor else None, glyphs=glyphs
    )


def comparison_total_strip(comparison: RunComparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    columns = _difference_columns(comparison.total, Content(" "), width, ink, glyphs, is_bold=True)
    return cells.row_strip(columns, width, ink.on("panel"), glyphs=glyphs)


def _difference_columns(
    row: ComparisonRow, bar: Content, width: int, ink: Ink, glyphs: Glyphs, *, is_bold: bool
) -> list[Column]:
    word = _outcome_cells(width)
    return _comparison_columns(
        width, bar, safe_content(row.name, ink.of("foreground", bold=is_bold), ink),
        _step_contents(row.earlier, word, ink, glyphs), _step_contents(row.later, word, ink, glyphs),
        _time_change(row, ink), _token_change(row.tokens, ink) if row.earlier and row.later else Content(""),
    )  # fmt: skip


def _outcome_cells(width: int) -> int:
    return max(_MIN_OUTCOME_CELLS, min(_MAX_OUTCOME_CELLS, (width - _OTHER_CELLS) // 2))


def _comparison_columns(
    width: int,
    bar: Content,
    name: Content,
    earlier: tuple[Content, Content, Content],
    later: tuple[Content, Content, Content],
    change: Content,
    more: Content,
) -> list[Column]:
    columns = [Column(content=bar, gap=0), Column(content=name, grows=True, least=12, gap=0)]
    for side in (earlier, later):
        columns += [
            Column(content=side[0], width=_outcome_cells(width), gap=2),
            Column(content=side[1], width=_TIME_CELLS, align="right", drop=1),
            Column(content=side[2], width=6, align="right", drop=3),
        ]
    columns += [
        Column(content=change, width=_MIN_OUTCOME_CELLS, align="right", gap=2),
        Column(content=more, width=8, align="right", drop=2),
        Column(content=Content(" "), gap=0),
    ]
    return columns


def _step_contents(
    side: ComparedStep | None, word_cells: int, ink: Ink, glyphs: Glyphs
) -> tuple[Content, Content, Content]:
    if side is None:
        return styled("not in it", ink.of("faint")), Content(""), Content("")
    tried = f", {ordinal(side.attempt)} try" if side.attempt > 1 else ""
    word = styled(f"{glyphs.of(side.sign)} {side.word}{tried}", ink.sign(side.sign))
    muted = ink.of("muted")
    has_time = side.seconds >= 0.05
    return (
        cells.shorten_line(word, word_cells, glyphs),
        styled(duration_text(side.seconds) if has_time else "", muted),
        styled(token_text(side.tokens) if side.tokens else "", muted),
    )


def _time_change(row: ComparisonRow, ink: Ink) -> Content:
    if row.kind in ("added", "gone"):
        return styled("new" if row.kind == "added" else "gone", ink.of("info"))
    if row.kind == "outcome":
        words = "failed now" if row.is_worse else "differs"
        return styled(words, ink.of("failed" if row.is_worse else "waiting", bold=True))
    if row.kind in ("same", "open"):
        return styled("same" if row.kind == "same" else "not yet", ink.of("faint"))
    return styled(_signed_duration(row.seconds), ink.of("waiting" if row.kind == "slower" else "added"))


def _signed_duration(seconds: float) -> str:
    if abs(seconds) < 0.05:
        return "same"
    return f"{'+' if seconds > 0 else '-'}{duration_text(abs(seconds))}"


def _token_change(count: int, ink: Ink) -> Content:
    if not count:
        return Content("")
    return styled(f"{'+' if count > 0 else '-'}{token_text(abs(count))}", ink.of("muted"))


def comparison_text(row: ComparisonRow) -> str:
    """Say what is known of a step beyond its row: attempts, contracts, errors."""
    parts: list[str] = []
    for name, side in (("before", row.earlier), ("now", row.later)):
        if side is None:
            continue
        words = [f"{name}: {side.word}"]
        words += [try_text(side.attempt, side.attempts)] if side.attempts > 1 and side.attempt else []
        words += [f"contract {side.contract}"] if side.contract else []
        words += [side.error] if side.error else []
        parts.append(", ".join(words))
    return "   ".join([row.id, *parts])
