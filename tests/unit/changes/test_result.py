"""What a decision comes to, file by file."""

import pytest

from tests.support.tables import each_row
from workbench.changes.decision import decided_changes, file_plans
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.values import FilePlan, SelectedHunk

EDIT = FileChange(path="a.txt", before=b"a\nb\n", after=b"A\nb\nc\n", mode=0o644)
NEW = FileChange(path="new.txt", before=None, after=b"x\ny\n", mode=0o755)
GONE = FileChange(path="gone.txt", before=b"p\nq\n", after=None, mode=0o600)
BINARY = FileChange(path="logo.png", before=b"\0a", after=b"\0b", mode=0o644)
EMPTY = FileChange(path="empty.txt", before=None, after=b"", mode=0o644)
ALL = (EDIT, NEW, GONE, BINARY, EMPTY)
HUNKS = make_hunks(ALL)


def with_after(change: FileChange, after: bytes | None) -> FileChange:
    return FileChange(path=change.path, before=change.before, after=after, mode=change.mode)


@each_row(
    ("selection", "expected"),
    [
        (None, ALL),
        ((), ()),
        ((SelectedHunk(hunk=1),), (EDIT,)),
        ((SelectedHunk(hunk=1, lines=(3,)),), (with_after(EDIT, b"a\nb\nc\n"),)),
        ((SelectedHunk(hunk=2, lines=(2,)),), (with_after(NEW, b"y\n"),)),
        ((SelectedHunk(hunk=3, lines=(2,)),), (with_after(GONE, b"p\n"),)),
        ((SelectedHunk(hunk=3), SelectedHunk(hunk=2)), (NEW, GONE)),
        ((SelectedHunk(hunk=1, lines=()), SelectedHunk(hunk=2)), (NEW,)),
    ],
)
def test_only_what_was_taken_is_left(
    selection: tuple[SelectedHunk, ...] | None, expected: tuple[FileChange, ...]
) -> None:
    assert decided_changes(ALL, HUNKS, selection) == expected


def test_edited_bytes_win_over_the_selection() -> None:
    edited = {"a.txt": b"mine\n", "gone.txt": b"p\nq\n", "logo.png": b"\0c"}
    assert decided_changes(ALL, HUNKS, (SelectedHunk(hunk=1), SelectedHunk(hunk=3)), edited) == (
        with_after(EDIT, b"mine\n"),
        with_after(BINARY, b"\0c"),
    )
    assert decided_changes(ALL, HUNKS, None, {"new.txt": b""}) == (
        EDIT,
        with_after(NEW, b""),
        GONE,
        BINARY,
        EMPTY,
    )


def test_what_the_action_does_not_have_is_named() -> None:
    with pytest.raises(ValueError, match=r"other\.txt is not a file of this action"):
        decided_changes(ALL, HUNKS, None, {"other.txt": b""})
    with pytest.raises(ValueError, match="there is no hunk 9: this action has 3 hunks"):
        decided_changes([BINARY], HUNKS, (SelectedHunk(hunk=9),))


def test_a_plan_holds_digests_and_no_bytes() -> None:
    assert file_plans([EDIT, NEW, GONE], lambda data: f"<{data.decode()}>") == (
        FilePlan(path="a.txt", base="<a\nb\n>", after="<A\nb\nc\n>", mode=0o644),
        FilePlan(path="new.txt", base=None, after="<x\ny\n>", mode=0o755),
        FilePlan(path="gone.txt", base="<p\nq\n>", after=None, mode=0o600),
    )
    with pytest.raises(ValueError, match="twice"):
        file_plans([EDIT, EDIT], lambda _: "")
