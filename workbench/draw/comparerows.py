"""Rows of two runs side by side: outcome, time and tokens of each, how they differ. Texts are untrusted."""

from textual.content import Content
from textual.strip import Strip
from textual.style import Style

from workbench.draw import cells
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.text.human import duration, tokens
from workbench.views.comparison import CompareRow, Comparison, Side

_SIDE, _WORD, _WIDEST = 9, 11, 27
_ELSE = 80
"""Cells of a row beside the words of both sides."""


def compare_heads(made: Comparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Draw the heads: the titles of both runs over their columns."""
    faint, bold = ink.of("faint"), ink.of("foreground", bold=True)
    columns = _columns(
        width, Content(" "), styled("step", faint), _head("before", made.earlier.title, bold, ink),
        _head("now", made.later.title, bold, ink), styled("change", faint), Content(""),
    )  # fmt: skip
    return cells.row(columns, width, ink.on("background"), glyphs=glyphs)


def _head(word: str, title: str, style: Style, ink: Ink) -> tuple[Content, Content, Content]:
    """Return the head of a side: which run it is, and what its numbers are."""
    number = title.rpartition(" #")[2] if " #" in title else ""
    faint = ink.of("faint")
    return (
        content(f"{word} #{number}" if number else word, style, ink), styled("time", faint),
        styled("tokens", faint),
    )  # fmt: skip


def compare_strip(
    row: CompareRow, width: int, ink: Ink, glyphs: Glyphs, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Draw one step in both runs."""
    bar = styled(glyphs.of("cursor") if is_cursor else " ", ink.of("info"))
    name = content(row.name, ink.of("foreground", bold=row.kind in ("outcome", "added", "gone")), ink)
    word = _word(width)
    columns = _columns(
        width, bar, name, _side(row.earlier, word, ink, glyphs), _side(row.later, word, ink, glyphs),
        _time(row, ink),
        _tokens(row.tokens, ink) if row.earlier and row.later else Content(""),
    )  # fmt: skip
    return cells.row(columns, width, ink.cursor(has_focus=has_focus) if is_cursor else None, glyphs=glyphs)


def total_strip(made: Comparison, width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Draw the sums of both runs."""
    bold = ink.of("foreground", bold=True)
    sides = [
        (styled(run.status, bold), styled(duration(run.seconds), bold), styled(tokens(run.tokens), bold))
        for run in (made.earlier, made.later)
    ]
    change = styled(_signed(made.later.seconds - made.earlier.seconds), bold)
    columns = _columns(
        width, Content(" "), styled("all of it", bold), sides[0], sides[1], change,
        _tokens(made.later.tokens - made.earlier.tokens, ink),
    )  # fmt: skip
    return cells.row(columns, width, ink.on("panel"), glyphs=glyphs)


def _word(width: int) -> int:
    """Return the cells for how a step ended, on either side."""
    return max(_WORD, min(_WIDEST, (width - _ELSE) // 2))


def _columns(
    width: int,
    bar: Content,
    name: Content,
    earlier: tuple[Content, Content, Content],
    later: tuple[Content, Content, Content],
    change: Content,
    more: Content,
) -> list[Column]:
    found = [Column(content=bar, gap=0), Column(content=name, grows=True, least=12, gap=0)]
    for side in (earlier, later):
        found += [
            Column(content=side[0], width=_word(width), gap=2),
            Column(content=side[1], width=_SIDE, align="right", drop=1),
            Column(content=side[2], width=6, align="right", drop=3),
        ]
    found += [
        Column(content=change, width=_WORD, align="right", gap=2),
        Column(content=more, width=8, align="right", drop=2),
        Column(content=Content(" "), gap=0),
    ]
    return found


def _side(side: Side | None, word_cells: int, ink: Ink, glyphs: Glyphs) -> tuple[Content, Content, Content]:
    if side is None:
        return styled("not in it", ink.of("faint")), Content(""), Content("")
    tried = f" {glyphs.of('retries')}{side.attempt}" if side.attempt > 1 else ""
    word = styled(f"{glyphs.of(side.sign)} {side.word}{tried}", ink.sign(side.sign))
    muted = ink.of("muted")
    has_time = side.seconds >= 0.05
    return (
        cells.shorten(word, word_cells, glyphs),
        styled(duration(side.seconds) if has_time else "", muted),
        styled(tokens(side.tokens) if side.tokens else "", muted),
    )


def _time(row: CompareRow, ink: Ink) -> Content:
    """Return how much longer it took, or that it ended otherwise."""
    if row.kind in ("added", "gone"):
        return styled("new" if row.kind == "added" else "gone", ink.of("info"))
    if row.kind == "outcome":
        words = "failed now" if row.is_worse else "differs"
        return styled(words, ink.of("failed" if row.is_worse else "waiting", bold=True))
    if row.kind in ("same", "open"):
        return styled("same" if row.kind == "same" else "not yet", ink.of("faint"))
    return styled(_signed(row.seconds), ink.of("waiting" if row.kind == "slower" else "added"))


def _signed(seconds: float) -> str:
    if abs(seconds) < 0.05:
        return "same"
    return f"{'+' if seconds > 0 else '-'}{duration(abs(seconds))}"


def _tokens(count: int, ink: Ink) -> Content:
    if not count:
        return Content("")
    return styled(f"{'+' if count > 0 else '-'}{tokens(abs(count))}", ink.of("muted"))


def compare_words(row: CompareRow) -> str:
    """Say what is known of a step beyond its row: attempts, contracts, errors."""
    parts: list[str] = []
    for name, side in (("before", row.earlier), ("now", row.later)):
        if side is None:
            continue
        words = [f"{name}: {side.word}"]
        words += [f"attempt {side.attempt} of {side.attempts}"] if side.attempts > 1 and side.attempt else []
        words += [f"contract {side.contract}"] if side.contract else []
        words += [side.error] if side.error else []
        parts.append(", ".join(words))
    return "   ".join([row.id, *parts])
