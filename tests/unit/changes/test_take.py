"""The laws of a partial approval, for arbitrary bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.changes.decision import changed_line_count, taken_bytes
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.values import Hunk, SelectedHunk

Pair = tuple[FileChange, tuple[Hunk, ...]]

line = st.sampled_from([b"a", b"b", b"c\r", b"\r", b"", b"\xe9\xff", b"d\re", "ü".encode(), b"\xef\xbb\xbf"])


@st.composite
def images(draw: st.DrawFn) -> bytes | None:
    lines = draw(st.lists(line, max_size=20))
    data = b"\n".join(lines) + (b"\n" if draw(st.booleans()) else b"")
    return draw(st.sampled_from([data, data, data, None]))


@st.composite
def proposals(draw: st.DrawFn) -> Pair:
    change = FileChange(path="a.txt", before=draw(images()), after=draw(images()), mode=0o644)
    return change, make_hunks([change], draw(st.integers(0, 3)))


@st.composite
def selections(draw: st.DrawFn, found: tuple[Hunk, ...]) -> list[SelectedHunk]:
    selection: list[SelectedHunk] = []
    for hunk in found:
        numbers = st.lists(st.integers(1, changed_line_count(hunk)), max_size=6).map(tuple)
        chosen = draw(st.lists(st.none() | numbers, max_size=2))
        selection.extend(SelectedHunk(hunk=hunk.index, lines=lines) for lines in chosen)
    return selection


def every_line(hunk: Hunk) -> SelectedHunk:
    return SelectedHunk(hunk=hunk.index, lines=tuple(range(1, changed_line_count(hunk) + 1)))


@given(proposals())
def test_all_is_after_and_none_is_before(pair: Pair) -> None:
    change, found = pair
    assert taken_bytes(change, found, None) == change.after
    assert taken_bytes(change, found, ()) == change.before
    if found:
        assert taken_bytes(change, found, [SelectedHunk(hunk=hunk.index) for hunk in found]) == change.after
        assert taken_bytes(change, found, [every_line(hunk) for hunk in found]) == change.after
    assert (
        taken_bytes(change, found, [SelectedHunk(hunk=hunk.index, lines=()) for hunk in found])
        == change.before
    )


@given(st.data(), proposals())
def test_order_and_repetition_do_not_matter(data: st.DataObject, pair: Pair) -> None:
    change, found = pair
    selection = data.draw(selections(found))
    taken = taken_bytes(change, found, selection)
    assert taken_bytes(change, found, data.draw(st.permutations(selection))) == taken
    assert taken_bytes(change, found, selection * 2) == taken
    lines = [SelectedHunk(hunk=item.hunk, lines=item.lines and item.lines[::-1]) for item in selection]
    assert taken_bytes(change, found, lines) == taken


@given(st.data(), proposals())
def test_all_lines_of_a_hunk_are_the_hunk(data: st.DataObject, pair: Pair) -> None:
    change, found = pair
    chosen = [hunk for hunk in found if data.draw(st.booleans())]
    by_hunk = taken_bytes(change, found, [SelectedHunk(hunk=hunk.index) for hunk in chosen])
    assert taken_bytes(change, found, [every_line(hunk) for hunk in chosen]) == by_hunk
    single = [
        SelectedHunk(hunk=item.hunk, lines=(n,)) for item in map(every_line, chosen) for n in item.lines or ()
    ]
    assert taken_bytes(change, found, single) == by_hunk


@given(st.data(), proposals())
def test_a_selection_is_what_is_shown_without_the_lines_left_out(data: st.DataObject, pair: Pair) -> None:
    """An independent model: walk the shown lines (Latin-1 texts here are one byte a character)."""
    change, found = pair
    selection = data.draw(selections(found))
    taken = taken_bytes(change, found, selection)
    if taken is None:
        assert change.before is None or change.after is None
        return
    old = (change.before or b"").split(b"\n")
    expected: list[bytes] = []
    position = 0
    for hunk in found:
        start = hunk.old_start - (1 if hunk.old_count else 0)
        expected += old[position:start]
        expected += shown_and_taken(change, hunk, selection)
        position = start + hunk.old_count
    expected += old[position:]
    assert comparable(taken) == comparable(b"\n".join(expected))


def shown_and_taken(change: FileChange, hunk: Hunk, selection: list[SelectedHunk]) -> list[bytes]:
    numbers = range(1, changed_line_count(hunk) + 1)
    wanted: set[int] = set()
    for item in selection:
        if item.hunk == hunk.index:
            wanted.update(numbers if item.lines is None else item.lines)
    both = (change.before or b"") + (change.after or b"")
    encoding = "latin-1" if b"\xff" in both else "utf-8"
    kept: list[bytes] = []
    number = 0
    for sign, text in hunk.lines:
        number += sign in "-+"
        if sign == " " or (sign in "-+" and (sign == "+") == (number in wanted)):
            kept.append(text.encode(encoding))
    return kept


def comparable(data: bytes) -> list[bytes]:
    """Lines without line ends, and without what only the end of the file can add."""
    lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


@given(st.data(), proposals())
def test_no_two_lines_are_glued(data: st.DataObject, pair: Pair) -> None:
    change, found = pair
    taken = taken_bytes(change, found, data.draw(selections(found)))
    known = {*(change.before or b"").split(b"\n"), *(change.after or b"").split(b"\n")}
    known |= {item + b"\r" for item in known}
    assert set((taken or b"").split(b"\n")) <= known | {b""}


def part(before: bytes | None, after: bytes | None, *lines: int) -> bytes | None:
    change = FileChange(path="a.txt", before=before, after=after, mode=0o644)
    return taken_bytes(change, make_hunks([change]), [SelectedHunk(hunk=1, lines=lines)])


@each_row(
    ("before", "after", "lines", "expected"),
    [
        # Kept lines stand before taken ones.
        (b"a\nb\n", b"x\ny\n", (1, 3), b"b\nx\n"),
        (b"a\nb\n", b"x\ny\n", (3,), b"a\nb\nx\n"),
        (b"a\nb\n", b"x\ny\n", (1, 2), b""),
        # A missing line end in the middle is filled in, with what the file uses.
        (b"a\nb", b"a\nb\nc\n", (3,), b"a\nb\nc\n"),
        (b"a\r\nb", b"a\r\nb\r\nc\r\n", (3,), b"a\r\nb\r\nc\r\n"),
        (b"a\r\nb\r", b"a\r\nb!\r\n", (2,), b"a\r\nb\r\nb!\r\n"),
        (b"b", b"x\r\ny\r\n", (2,), b"b\r\nx\r\n"),
        (b"b", b"x", (2,), b"b\nx"),
        # The end of the file is the end of the last line that is left.
        (b"a\nb", b"a\nx\n", (1, 2), b"a\nx\n"),
        (b"a\nb", b"a\nx\n", (1,), b"a\n"),
        (b"a\nb\n", b"a\nx", (2,), b"a\nb\nx"),
        (b"a\nb\n", b"a\nx", (1,), b"a\n"),
        # New and deleted files.
        (None, b"a\nb\n", (2,), b"b\n"),
        (None, b"a\nb\n", (1, 2), b"a\nb\n"),
        (None, b"a\nb\n", (), None),
        (b"a\nb\n", None, (1,), b"b\n"),
        (b"a\nb\n", None, (1, 2), None),
        (b"a\nb\n", b"", (1, 2), b""),
    ],
)
def test_parts_of_a_hunk(
    before: bytes | None, after: bytes | None, lines: tuple[int, ...], expected: bytes | None
) -> None:
    assert part(before, after, *lines) == expected


def test_hunks_of_other_files_are_counted_but_not_taken() -> None:
    first = FileChange(path="a.txt", before=b"a\n", after=b"b\n", mode=0o644)
    second = FileChange(path="b.txt", before=b"c\n", after=b"d\n", mode=0o644)
    found = make_hunks([first, second])
    assert taken_bytes(first, found, [SelectedHunk(hunk=2)]) == b"a\n"
    assert taken_bytes(second, found, [SelectedHunk(hunk=2)]) == b"d\n"


def test_text_of_hunks_is_never_written() -> None:
    change = FileChange(path="a.txt", before=b"key = 1\nx\n", after=b"key = 2\ny\n", mode=0o644)
    [hunk] = make_hunks([change])
    scrubbed = Hunk(
        index=1,
        path="a.txt",
        old_start=hunk.old_start,
        old_count=hunk.old_count,
        new_start=hunk.new_start,
        new_count=hunk.new_count,
        lines=tuple((sign, "⟨secret: bearer⟩") for sign, _ in hunk.lines),
    )
    assert taken_bytes(change, [scrubbed], [SelectedHunk(hunk=1, lines=(1, 3))]) == b"x\nkey = 2\n"


@pytest.mark.parametrize(
    ("taken", "message"),
    [
        (SelectedHunk(hunk=2), "there is no hunk 2: this action has 1 hunk$"),
        (SelectedHunk(hunk=0), "there is no hunk 0"),
        (SelectedHunk(hunk=1, lines=(1, 3)), "there is no line 3 in hunk 1: it has 2 changed lines$"),
        (SelectedHunk(hunk=1, lines=(0,)), "there is no line 0 in hunk 1"),
    ],
)
def test_unknown_numbers_are_named(taken: SelectedHunk, message: str) -> None:
    change = FileChange(path="a.txt", before=b"a\n", after=b"b\n", mode=0o644)
    with pytest.raises(ValueError, match=message):
        taken_bytes(change, make_hunks([change]), [SelectedHunk(hunk=1), taken])


def test_hunks_of_other_bytes_are_refused() -> None:
    shown = FileChange(path="a.txt", before=b"a\n", after=b"b\nc\n", mode=0o644)
    other = FileChange(path="a.txt", before=b"a\nz\n", after=b"b\n", mode=0o644)
    with pytest.raises(ValueError, match=r"hunk 1 was not made from these bytes of a\.txt"):
        taken_bytes(other, make_hunks([shown]), [SelectedHunk(hunk=1, lines=(1,))])


def test_hunks_must_be_complete() -> None:
    before = b"".join(b"%d\n" % n for n in range(40))
    change = FileChange(path="a.txt", before=before, after=b"x\n" + before + b"y\n", mode=0o644)
    found = make_hunks([change])
    assert len(found) == 2
    assert taken_bytes(change, found, [SelectedHunk(hunk=2)]) == before + b"y\n"
    two_lines = FileChange(path="a.txt", before=before, after=b"x\nx\n" + before + b"y\n", mode=0o644)
    with pytest.raises(ValueError, match="are not complete"):
        taken_bytes(two_lines, make_hunks([two_lines])[:1], [SelectedHunk(hunk=1, lines=(1,))])
