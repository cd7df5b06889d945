"""Rows and the preview of the library. Pure; titles, folders and paths are untrusted and pass `text.safe`."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content, Span
from textual.strip import Strip

from workbench.draw import cells, rows, words
from workbench.draw.cells import Column, content, styled
from workbench.draw.glyphs import Glyphs
from workbench.draw.tokens import Ink
from workbench.draw.wrapping import hard_wrap
from workbench.text.width import cells as width_of
from workbench.views.library import LibraryRow, Preview, PreviewFile
from workbench.views.places import Place
from workbench.views.signs import Meaning
from workbench.views.statistics import Outcome

OUTCOME_SIGNS: Final[dict[Outcome, Meaning]] = {
    "by rule": "rule", "by grant": "ok", "approved": "ok", "partly": "partly", "rejected": "rejected",
    "expired": "expired", "withdrawn": "cancelled", "replaced": "cancelled", "not allowed": "failed",
}  # fmt: skip
MOST_FILES: Final = 8
_NAME: Final = 13
_WHO: Final[dict[str, Meaning]] = {"call": "todo", "file": "ok"}


def library_row(
    row: LibraryRow, width: int, ink: Ink, glyphs: Glyphs, now: int, *, is_cursor: bool, has_focus: bool
) -> Strip:
    """Draw a session: sign, title, folder, when, what is to be said of it."""
    muted = ink.of("muted")
    title = underlined(content(row.title, ink.of("foreground", bold=is_cursor), ink), row.hits, ink)
    note = rows.sizes(row.added, row.removed, ink, glyphs)
    if row.note:
        note = content(row.note, ink.sign(row.tone) if row.tone else muted)
    mark = glyphs.of("taken") if row.is_marked else " "
    columns = [
        rows.bar(glyphs, ink, is_cursor=is_cursor, has_focus=has_focus),
        rows.sign(row.sign, ink, glyphs),
        Column(content=styled(mark, ink.of("info")), width=1, gap=0),
        Column(content=title, grows=True, least=20, gap=0),
        Column(content=content(row.folder, muted, ink), width=14, drop=2),
        Column(content=styled(words.clock(row.when, now) or "now", muted), width=6, align="right", drop=1),
        Column(content=note, width=16, align="right", drop=0),
        Column(content=Content(""), width=0),
    ]
    style = ink.cursor(has_focus=has_focus) if is_cursor else ink.on("background")
    return cells.row(columns, width, style, glyphs=glyphs)


def underlined(line: Content, hits: Iterable[tuple[int, int]], ink: Ink) -> Content:
    """Return a line with what was found in it underlined."""
    spans = [Span(first, last, ink.hit()) for first, last in hits]
    return line.add_spans(spans) if spans else line


def split_row(width: int, ink: Ink, glyphs: Glyphs) -> Strip:
    """Draw the line between what is live and what rests."""
    return cells.strip(
        styled(f" {glyphs.line('─') * max(0, width - 2)} ", ink.of("rule")), width, ink.on("background")
    )


def between(begin: int, end: int, now: int) -> str:
    """Write when a session was: `today 09:12 to 09:41, 29 min`."""
    from workbench.text.human import duration

    day, last = words.clock(begin, now), words.clock(end, now)
    if day == words.clock(begin) and last == words.clock(end):
        first, last = f"today {words.clock(begin)}", words.clock(end)
    elif day == last:
        first, last = f"{day} {words.clock(begin)}", words.clock(end)
    else:
        first, last = f"{day} {words.clock(begin)}", f"{last} {words.clock(end)}"
    return f"{first} to {last}, {duration((end - begin) / 1_000_000)}" if end - begin >= 1_000_000 else first


def preview_lines(view: Preview, width: int, ink: Ink, glyphs: Glyphs, chosen: int = 0) -> list[Content]:
    """Return everything that is said of a session, line by line; the places stand last.

    Args:
        view: What is said.
        width: Cells of a line.
        ink: The colours.
        glyphs: The signs.
        chosen: The place at which a replay would begin; marked where there are several.
    """
    lines = [Content(""), *_facts(view, width, ink, glyphs)]
    lines += _asked(view, width, ink, glyphs)
    lines += _calls(view, ink, glyphs)
    lines += _files(view.files, view.changed, width, ink, glyphs)
    return lines + _places(view, width, ink, glyphs, chosen)


def _facts(view: Preview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    lines: list[Content] = []
    for name, text in view.facts:
        head = styled(f"  {glyphs.line(name)}".ljust(_NAME), ink.of("muted"))
        below = hard_wrap([content(text, ink.of("foreground"), ink)], max(8, width - _NAME - 2))[:3]
        lines += [(Content(" " * _NAME) if at else head) + line for at, line in enumerate(below)]
    return lines


def _asked(view: Preview, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.asked and not view.outcomes:
        return []
    most = max((count for _, count in view.outcomes), default=0)
    digits = len(f"{most:,}")
    room = max(4, width - 20 - digits)
    waits = f", {view.waiting:,} wait{'s' if view.waiting == 1 else ''}" if view.waiting else ""
    unasked = f", {view.unasked:,} not asked" if view.unasked else ""
    lines = [Content(""), _head(f"asked {view.asked:,}{waits}{unasked}", ink)]
    for name, count in view.outcomes:
        sign = OUTCOME_SIGNS[name]
        head = Content.assemble("  ", (glyphs.of(sign), ink.sign(sign)), f" {count:>{digits},} ")
        word = styled(f"{name:<11} ", ink.of("muted"))
        lines.append(head + word + bar(count, most, room, sign, ink, glyphs))
    return lines


def bar(count: int, most: int, room: int, meaning: Meaning, ink: Ink, glyphs: Glyphs) -> Content:
    """Return a bar on a scale on which `most` takes the room; whatever is there is at least a cell."""
    length = max(1, round(room * count / most)) if count and most else 0
    return styled(glyphs.of("ran") * length, ink.sign(meaning))


def _calls(view: Preview, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not view.calls:
        return []
    line = _head(f"{view.calls:,} call{'' if view.calls == 1 else 's'}", ink)
    if view.failed_calls:
        line += styled(f"   {glyphs.of('failed')} {view.failed_calls:,} failed", ink.of("failed"))
    return [Content(""), line]


def _files(files: Sequence[PreviewFile], changed: int, width: int, ink: Ink, glyphs: Glyphs) -> list[Content]:
    if not changed:
        return []
    lines = [Content(""), _head(f"changed {changed:,} file{'' if changed == 1 else 's'}", ink)]
    for one in files[:MOST_FILES]:
        columns = [
            Column(content=content(one.path, ink.of("foreground"), ink), grows=True, cut="path", gap=2),
            Column(content=rows.sizes(one.added, one.removed, ink, glyphs), align="right"),
        ]
        lines.append(cells.compose(columns, width - 2, glyphs))
    if changed > MOST_FILES:
        lines.append(styled(f"  and {changed - MOST_FILES:,} more", ink.of("muted")))
    return lines


def _places(view: Preview, width: int, ink: Ink, glyphs: Glyphs, chosen: int) -> list[Content]:
    if not view.place_count:
        return []
    matches = "1 place matches" if view.place_count == 1 else f"{view.place_count:,} places match"
    marked = chosen if len(view.places) > 1 else None
    drawn = (_place(one, width, ink, glyphs, is_chosen=at == marked) for at, one in enumerate(view.places))
    return [Content(""), _head(matches, ink), *drawn]


def _place(one: Place, width: int, ink: Ink, glyphs: Glyphs, *, is_chosen: bool) -> Content:
    is_prompt = one.who == "you"
    sign = styled(glyphs.of("prompt") if is_prompt else " ", ink.of("info"))
    line = underlined(content(one.text, ink.of("foreground", bold=is_chosen), ink), one.hits, ink)
    bar = styled(glyphs.of("cursor") if is_chosen else " ", ink.of("info"))
    head = Content.assemble(bar, " ", sign, (f" {one.who:<6}", ink.of("muted")))
    return head + cells.shorten(line, max(4, width - width_of(head.plain) - 1), glyphs)


def _head(text: str, ink: Ink) -> Content:
    return styled(f"  {text}", ink.of("muted"))
