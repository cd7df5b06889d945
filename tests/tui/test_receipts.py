"""When rows of a detail count as seen: all of a part, and each row for as long as a deciding key needs."""

from tests.unit.views.making import hunk
from workbench.render.diff import Diff
from workbench.tui.keyboard.receipts import LayoutReceipts, Receipts, RequiredRows
from workbench.views.file_changes import FileDetail
from workbench.views.hunk_selection import WHOLE_ACTION

NONE = (frozenset(), frozenset())


def body(rows=6):
    return LayoutReceipts("a", RequiredRows(None, range(rows), has_hunks=False), set())


def two_hunks():
    lines = ((" ", "a"), ("-", "b"), ("+", "c"), (" ", "d"))
    file = FileDetail(path="a.py", change="modify", hunks=(hunk(1, lines=lines), hunk(2, lines=lines)))
    return RequiredRows(Diff([file], 60), (), has_hunks=True)


def test_what_stands_on_the_screen_counts_until_it_leaves_too_early():
    drawn = body()
    assert drawn.put_on_screen(range(6), 1.0) == (frozenset([WHOLE_ACTION]), frozenset())
    assert not drawn.is_settled(1.2)
    assert drawn.put_on_screen((), 1.2) == (frozenset(), frozenset([WHOLE_ACTION]))


def test_what_stood_long_enough_counts_for_good():
    drawn = body()
    drawn.put_on_screen(range(6), 1.0)
    assert drawn.is_settled(1.5)
    assert drawn.put_on_screen((), 1.5) == NONE
    assert (drawn.is_shown(WHOLE_ACTION), drawn.unseen_rows([WHOLE_ACTION])) == (True, [])


def test_pages_add_up():
    drawn = body()
    assert drawn.put_on_screen(range(3), 1.0) == NONE
    assert (drawn.lines_left(), drawn.unseen_rows([WHOLE_ACTION])) == (3, [3, 4, 5])
    assert drawn.put_on_screen(range(3, 6), 2.0) == (frozenset([WHOLE_ACTION]), frozenset())
    assert drawn.put_on_screen(range(2), 2.1) == (frozenset(), frozenset([WHOLE_ACTION]))


def test_nothing_counts_under_a_dialog():
    drawn = body()
    drawn.put_on_screen(range(6), 1.0)
    assert drawn.put_on_screen((), None) == (frozenset(), frozenset([WHOLE_ACTION]))
    drawn.put_on_screen(range(6), 9.0)
    drawn.begin_again(10.0)
    assert drawn.put_on_screen((), 10.1) == (frozenset(), frozenset([WHOLE_ACTION]))


def test_of_a_diff_only_changed_lines_have_to_be_seen():
    rows = two_hunks()
    drawn = LayoutReceipts("a", rows, set())
    assert rows.parts == (1, 2)
    assert drawn.put_on_screen(sorted(rows.of(1)), 1.0) == (frozenset([1]), frozenset())
    assert drawn.unseen_rows([1, 2]) == sorted(rows.of(2))


def test_what_was_seen_is_remembered_in_another_size_but_not_of_other_content():
    receipts, rows = Receipts(), two_hunks()
    first = receipts.of("a", "bytes", 80, rows)
    first.put_on_screen(sorted(rows.of(1)), 1.0)
    first.put_on_screen((), 2.0)
    assert receipts.of("a", "bytes", 120, rows).is_shown(1)
    assert receipts.of("a", "bytes", 80, rows) is first
    assert not receipts.of("a", "other bytes", 80, rows).is_shown(1)


def test_memory_is_bounded():
    receipts, rows = Receipts(), two_hunks()
    first = receipts.of("0", "bytes", 80, rows)
    for number in range(1, 200):
        receipts.of(str(number), "bytes", 80, rows)
    assert receipts.of("0", "bytes", 80, rows) is not first
