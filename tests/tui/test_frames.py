"""Only the cells that changed reach the terminal, and they are the right ones."""

import re

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import COLOR_SYSTEMS, Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from workbench.tui.terminal_contents import (
    ChangedCellsUpdate,
    FullUpdate,
    SgrWriter,
    TerminalContents,
    changed_cells,
)
from workbench.tui.widgets.line_view import finish_strip

STYLES = [
    Style(), Style(bold=True), Style(color="red"), Style(color="#102030", bgcolor="#405060"),
    Style(color="red", bgcolor="#405060", italic=True), Style(bgcolor="blue", reverse=True), Style(color="default"),
]  # fmt: skip
WORDS = st.sampled_from(["a", "bc", "aab", "   ", "時", "d時e", "e\u0301"])
SEGMENTS = st.tuples(WORDS, st.sampled_from(STYLES)).map(lambda pair: Segment(*pair))
STRIPS = st.lists(SEGMENTS, max_size=6).map(Strip)


def cells(strip):
    return [(segment.text, segment.style) for segment in strip]


@given(STRIPS, STRIPS)
def test_what_lies_outside_of_the_changed_cells_is_the_same(before, after):
    first, end = changed_cells(before, after)
    assert 0 <= first <= end <= after.cell_length
    if before.cell_length == after.cell_length:
        for start, stop in ((0, first), (end, after.cell_length)):
            old, new = before.crop(start, stop).simplify(), after.crop(start, stop).simplify()
            assert cells(old) == cells(new)


@given(STRIPS)
def test_a_line_that_has_not_changed_has_no_changed_cells(strip):
    first, end = changed_cells(strip, Strip(list(strip)))
    assert first == end


def test_a_countdown_is_its_digits():
    row = [Segment(" edit a.py    "), Segment("4:52", STYLES[1]), Segment(" ")]
    other = [*row[:1], Segment("4:51", STYLES[1]), *row[2:]]
    assert changed_cells(Strip(row), Strip(other)) == (17, 18)


@pytest.mark.parametrize(
    ("span", "wanted"),
    [
        ((0, 0, 10), [(1, 1, "abcd"), (1, 5, "efghij")]),
        ((0, 2, 4), [(1, 3, "cd")]),
        ((0, 5, 7), [(1, 6, "fg")]),
        ((0, 3, 6), [(1, 4, "d"), (1, 5, "ef")]),
        ((0, 4, 4), []),
    ],
)
def test_a_partial_update_begins_where_its_span_begins(span, wanted):
    chops = [{0: Strip([Segment("abcd")]), 4: Strip([Segment("efghij")])}]
    update = ChangedCellsUpdate(ChopsUpdate(chops, [span], [[4, 10]]), TerminalContents())
    assert written(update) == wanted


def written(update):
    found = re.findall(r"\x1b\[(\d+);(\d+)H([a-z0-9:]*)", update.render_segments(Console(color_system=None)))
    return [(int(y), int(x), words) for y, x, words in found]


def row(*words):
    return Strip([Segment(word) for word in words])


def test_what_the_terminal_shows_already_is_not_written_again():
    shown = TerminalContents()

    def put(start, stop, *words):
        return written(
            ChangedCellsUpdate(ChopsUpdate([{start: row(*words)}], [(0, start, stop)], [[stop]]), shown)
        )

    assert put(0, 6, "ab", "cd", "ef") == [(1, 1, "abcdef")]
    assert put(0, 6, "ab", "cd", "ef") == []
    assert put(0, 6, "ab", "cx", "ef") == [(1, 4, "x")]
    assert put(0, 6, "ab", "xx", "ef") == [(1, 3, "x")]
    # Something else was written over a part of it, so that all of it is written again.
    assert put(4, 8, "zzzz") == [(1, 5, "zzzz")]
    assert put(0, 6, "ab", "xx", "ef") == [(1, 1, "abxxef")]
    shown.forget()
    assert put(0, 6, "ab", "xx", "ef") == [(1, 1, "abxxef")]


@given(STRIPS, st.integers(1, 24), st.sampled_from(STYLES[1:]))
def test_a_line_is_finished_as_the_framework_would_in_three_steps(strip, width, style):
    wanted = strip.adjust_cell_length(width).apply_style(style).simplify()
    found = finish_strip(strip, width, style)
    assert cells(found) == [one for one in cells(wanted) if one[0]]
    assert found.cell_length == sum(one.cell_length for one in found) == width


TERMINAL = Console(color_system="truecolor", force_terminal=True)


def drawn(*sequences, rows=3):
    """Return every cell that a terminal shows; on a blank one no colour of letters is seen."""
    screen = pyte.Screen(30, rows)
    stream = pyte.Stream(screen)
    for one in sequences:
        stream.feed(one)
    cells = (screen.buffer[y][x] for y in range(screen.lines) for x in range(screen.columns))
    return [one._replace(fg="") if one.data == " " and not one.reverse else one for one in cells]


@settings(max_examples=50)
@given(st.lists(st.tuples(STRIPS, STRIPS), min_size=1, max_size=3))
def test_what_is_written_makes_one_screen_of_another(rows):
    shown, made = (
        TerminalContents(),
        [[strip.adjust_cell_length(20) for strip in pair] for pair in zip(*rows, strict=True)],
    )
    spans = [(y, 0, 20) for y in range(len(rows))]
    sent = [
        ChangedCellsUpdate(ChopsUpdate([{0: strip} for strip in strips], spans, [[20]] * len(rows)), shown)
        .render_segments(TERMINAL)
        for strips in made
    ]  # fmt: skip
    whole = [f"\x1b[{y + 1};1H{strip.render(TERMINAL)}" for y, strip in enumerate(made[-1])]
    assert drawn(*sent) == drawn(*whole)


@pytest.mark.parametrize(
    ("styles", "wanted"),
    [
        (("bold red", "red"), "\x1b[1;31ma\x1b[22mb\x1b[0m"),
        (("bold dim", "dim"), "\x1b[1;2ma\x1b[0;2mb\x1b[0m"),
        (("red on blue", "on blue"), "\x1b[31;44ma\x1b[39mb\x1b[0m"),
        (("red", "red on blue"), "\x1b[31ma\x1b[44mb\x1b[0m"),
        (("underline", "italic"), "\x1b[4ma\x1b[24;3mb\x1b[0m"),
        (("red", "none"), "\x1b[31ma\x1b[39mb"),
    ],
)
def test_only_what_differs_from_the_style_before_is_said(styles, wanted):
    pen = SgrWriter(COLOR_SYSTEMS["truecolor"])
    piece = Strip([Segment(text, Style.parse(style)) for text, style in zip("ab", styles, strict=True)])
    assert "".join(pen.write(piece)) + pen.lift() == wanted


@pytest.mark.parametrize(
    ("system", "code"), [("256", "38;5;16"), ("standard", "30"), ("truecolor", "38;2;1;2;3")]
)
def test_colours_are_those_that_the_terminal_has(system, code):
    pen = SgrWriter(COLOR_SYSTEMS[system])
    assert "".join(pen.write(Strip([Segment("a", Style(color="#010203"))]))) == f"\x1b[{code}ma"


def test_a_row_that_scrolled_by_one_writes_its_number_and_its_words():
    def line(number):
        dim, plain = Style(color="#767981", bgcolor="#0f1217"), Style(color="#d8dee7", bgcolor="#0f1217")
        return Strip(
            [Segment("  ", plain), Segment(f"  {number} ", dim), Segment(f"v{number} = 1".ljust(80), plain)]
        )

    spans, shown, console = [(0, 0, 87)], TerminalContents(), Console(color_system="truecolor")
    sent = [
        ChangedCellsUpdate(ChopsUpdate([{0: line(number)}], spans, [[87]]), shown).render_segments(console)
        for number in (41, 42)
    ]
    assert sent[1] == ("\x1b[1;6H\x1b[38;2;118;121;129;48;2;15;18;23m2 \x1b[38;2;216;222;231mv42\x1b[0m")


ROWS, MANY = 12, 40
LINES = [Strip([Segment(f"{n:02d} line".ljust(24), STYLES[n % len(STYLES)])]) for n in range(MANY)]


def frame(shown, picture, rows=range(ROWS), width=24):
    """Write some rows of a picture."""
    chops = [{0: strip} for strip in picture]
    update = ChopsUpdate(chops, [(y, 0, width) for y in rows], [[24]] * ROWS)
    return ChangedCellsUpdate(update, shown).render_segments(TERMINAL)


def window(top, head=None):
    """Return a picture: a head that stands still, and lines from one on."""
    return [*(() if head is None else LINES[head : head + 1]), *LINES[top:]][:ROWS]


PICTURES = st.lists(
    st.one_of(
        st.builds(window, st.integers(0, MANY - ROWS), st.sampled_from([None, 0, 39])),
        st.lists(st.sampled_from(LINES[:15]), min_size=ROWS, max_size=ROWS),
    ),
    min_size=2,
    max_size=6,
)  # fmt: skip


@settings(max_examples=150)
@given(PICTURES, st.data())
def test_rows_that_the_terminal_moves_make_the_same_screen(pictures, data):
    shown, sent, now = TerminalContents(), [], [Strip.blank(24)] * ROWS
    for picture in pictures:
        first = data.draw(st.sampled_from([0, 0, 3]))
        rows = range(first, data.draw(st.sampled_from([ROWS, ROWS, 9])))
        now = [*now[:first], *picture[rows.start : rows.stop], *now[rows.stop :]]
        sent.append(frame(shown, now, rows))
    whole = [f"\x1b[{y + 1};1H{strip.render(TERMINAL)}" for y, strip in enumerate(now)]
    assert drawn(*sent, rows=ROWS) == drawn(*whole, rows=ROWS)


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (window(5), window(6), "\x1b[1;12r\x1b[1;1H\x1b[1M\x1b[r"),
        (window(5, 0), window(6, 0), "\x1b[2;12r\x1b[2;1H\x1b[1M\x1b[r"),
        (window(5), window(2), "\x1b[1;12r\x1b[1;1H\x1b[3L\x1b[r"),
        (window(5), window(5), ""),
        (window(5), window(14), ""),
    ],
    ids=["down", "below a head", "up", "not at all", "too far"],
)
def test_rows_that_only_moved_are_moved_by_the_terminal(before, after, wanted):
    shown = TerminalContents()
    frame(shown, before)
    sent = frame(shown, after)
    assert sent[: len(wanted)] == wanted
    assert ("r" in sent.replace("line", "")) == bool(wanted)
    written = [n for n in range(MANY) if f"{n:02d} line" in sent]
    assert len(written) <= (3 if wanted else 12)


def beside(rail, top):
    """Return chops of rows with something beside them."""
    return [{0: rail[y], 6: LINES[top + y]} for y in range(ROWS)]


def both(shown, rail, top, first):
    update = ChopsUpdate(beside(rail, top), [(y, first, 30) for y in range(ROWS)], [[6, 30]] * ROWS)
    return ChangedCellsUpdate(update, shown).render_segments(TERMINAL)


@pytest.mark.parametrize(("words", "is_moved"), [(1, True), (12, False)])
def test_what_stands_beside_is_put_back_and_little_of_it_only(words, is_moved):
    blank = Strip([Segment(" " * 6)])
    rail = [Strip([Segment(f"rail{y:02d}")]) if y < words else blank for y in range(ROWS)]
    shown = TerminalContents()
    sent = [both(shown, rail, 3, 0), both(shown, rail, 4, 6)]
    assert ("\x1b[1M" in sent[1], "rail00" in sent[1]) == (is_moved, is_moved)
    whole = [f"\x1b[{y + 1};1H{rail[y].text}{LINES[4 + y].render(TERMINAL)}" for y in range(ROWS)]
    assert drawn(*sent, rows=ROWS) == drawn(*whole, rows=ROWS)


def test_all_of_the_screen_is_written_and_noted():
    shown, picture = TerminalContents(), window(7)
    update = FullUpdate(LayoutUpdate([[strip] for strip in picture], Region(0, 0, 24, ROWS)), shown)
    sent = update.render_segments(TERMINAL)
    whole = [f"\x1b[{y + 1};1H{strip.render(TERMINAL)}" for y, strip in enumerate(picture)]
    assert drawn(sent, rows=ROWS) == drawn(*whole, rows=ROWS)
    assert update.render_segments(TERMINAL) == sent
    assert frame(shown, picture) == ""
