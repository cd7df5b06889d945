"""Only the cells that changed reach the terminal, and they are the right ones."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.strip import Strip

from workbench.tui.frames import Changes, Shown, changed_cells

STYLES = [Style(), Style(bold=True), Style(color="red")]
WORDS = st.sampled_from(["a", "bc", "   ", "時", "d時e"])
SEGMENTS = st.tuples(WORDS, st.sampled_from(STYLES)).map(lambda pair: Segment(*pair))
STRIPS = st.lists(SEGMENTS, max_size=6).map(Strip)


def cells(strip):
    return [(segment.text, segment.style) for one in strip for segment in [one]]


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
    assert changed_cells(Strip(row), Strip(other)) == (14, 18)


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
    update = Changes(ChopsUpdate(chops, [span], [[4, 10]]), Shown())
    assert written(update) == wanted


def written(update):
    found = re.findall(r"\x1b\[(\d+);(\d+)H([a-z0-9:]*)", update.render_segments(Console(color_system=None)))
    return [(int(y), int(x), words) for y, x, words in found]


def row(*words):
    return Strip([Segment(word) for word in words])


def test_what_the_terminal_shows_already_is_not_written_again():
    shown = Shown()

    def put(start, stop, *words):
        return written(Changes(ChopsUpdate([{start: row(*words)}], [(0, start, stop)], [[stop]]), shown))

    assert put(0, 6, "ab", "cd", "ef") == [(1, 1, "abcdef")]
    assert put(0, 6, "ab", "cd", "ef") == []
    assert put(0, 6, "ab", "xx", "ef") == [(1, 3, "xx")]
    # Something else was written over a part of it, so that all of it is written again.
    assert put(4, 8, "zzzz") == [(1, 5, "zzzz")]
    assert put(0, 6, "ab", "xx", "ef") == [(1, 1, "abxxef")]
    shown.forget()
    assert put(0, 6, "ab", "xx", "ef") == [(1, 1, "abxxef")]
