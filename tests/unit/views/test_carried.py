"""What was left out stays left out in the diff that stands in for the old one."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.views.making import hunk
from workbench.views.hunk_selection import HunkSelection, carried_selection

ONE = hunk(1, lines=((" ", "a"), ("-", "b"), ("+", "c"), ("+", "d"), (" ", "e")))
TWO = hunk(2, lines=((" ", "k"), ("-", "l"), ("+", "m"), (" ", "n")))
NEW = ((" ", "x"), ("+", "before"), (" ", "y"))


def moved(lines, index):
    return hunk(index, lines=lines)


def left_out(old, state, new):
    taken, gone = carried_selection(old, state, new)
    assert taken.sizes == HunkSelection.of(new).sizes
    return {index: sorted(lines) for index, lines in taken.left.items()}, gone


ALL = HunkSelection.of([ONE, TWO])


@each_row(
    ("state", "new", "left", "gone"),
    [
        (ALL, [moved(NEW, 1), moved(TWO.lines, 2)], {}, 0),
        (ALL.toggle_hunk(2), [ONE, TWO], {2: [1, 2]}, 0),
        (ALL.toggle_hunk(2), [moved(NEW, 1), moved(ONE.lines, 2), moved(TWO.lines, 3)], {3: [1, 2]}, 0),
        (ALL.toggle_line(1, 3), [moved(NEW, 1), moved(ONE.lines, 2)], {2: [3]}, 0),
        (ALL.toggle_hunk(2), [moved(TWO.lines, 1)], {1: [1, 2]}, 0),
        (ALL.toggle_hunk(2), [ONE], {}, 2),
        (ALL.toggle_line(1, 2), [TWO], {}, 1),
        # The line around it changed: the line itself is still the same.
        (ALL.toggle_line(1, 3), [moved(((" ", "A"), ("-", "b"), ("+", "c"), ("+", "d"), (" ", "E")), 1)], {1: [3]}, 0),
        # What it replaces changed: a hunk left whole is left whole.
        (ALL.toggle_hunk(2), [moved(((" ", "k"), ("-", "other"), ("+", "m"), (" ", "n")), 1)], {1: [1, 2]}, 1),
        # A new line in a stretch of which a part was taken is taken.
        (
            ALL.toggle_line(1, 3),
            [moved(((" ", "a"), ("-", "b"), ("+", "c"), ("+", "d"), ("+", "more"), (" ", "e")), 1)], {1: [3]}, 0,
        ),
        (ALL.toggle_all(), [moved(TWO.lines, 1), moved(ONE.lines, 2)], {1: [1, 2], 2: [1, 2, 3]}, 0),
    ],
)  # fmt: skip
def test_what_was_left_is_left(state, new, left, gone):
    assert left_out([ONE, TWO], state, new) == (left, gone)


def test_of_equal_lines_the_one_with_the_same_neighbours_is_left():
    old = [hunk(1, lines=((" ", "def a"), ("+", "pass"), (" ", "def b"), ("+", "pass"), (" ", "end")))]
    new = [hunk(1, lines=(("+", "top"), *old[0].lines))]
    assert left_out(old, HunkSelection.of(old).toggle_line(1, 2), new) == ({1: [3]}, 0)


def test_of_equal_lines_nobody_can_tell_apart_none_is_taken():
    old = [hunk(1, lines=((" ", "a"), ("+", "pass"), (" ", "b")))]
    new = [hunk(1, lines=((" ", "q"), ("+", "pass"), (" ", "r"), ("+", "pass"), (" ", "s")))]
    assert left_out(old, HunkSelection.of(old).toggle_line(1, 1), new) == ({1: [1, 2]}, 0)


LINE = st.tuples(st.sampled_from(" +-"), st.sampled_from("abc"))


@given(st.lists(LINE, min_size=1, max_size=12), st.lists(LINE, min_size=1, max_size=12), st.data())
def test_a_line_that_was_left_is_never_taken_where_it_stands_once(before, after, data):
    old, new = [hunk(1, lines=tuple(before))], [hunk(1, lines=tuple(after))]
    size = HunkSelection.of(old).sizes[0]
    state = HunkSelection.of(old)
    for line in data.draw(st.sets(st.integers(1, max(1, size)))):
        state = state.toggle_line(1, line)
    taken, _ = carried_selection(old, state, new)
    changed = [line for line in before if line[0] != " "]
    fresh = [line for line in after if line[0] != " "]
    for number, line in enumerate(changed, 1):
        if not state.is_line_taken(1, number) and changed.count(line) == fresh.count(line) == 1:
            assert not taken.is_line_taken(1, fresh.index(line) + 1)
