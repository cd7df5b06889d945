"""What a decision comes to, file by file."""

import pytest

from workbench.changes.hunks import hunks
from workbench.changes.model import FileChange
from workbench.changes.result import plan, selected
from workbench.domain.values import FilePlan, Taken

EDIT = FileChange(path="a.txt", before=b"a\nb\n", after=b"A\nb\nc\n", mode=0o644)
NEW = FileChange(path="new.txt", before=None, after=b"x\ny\n", mode=0o755)
GONE = FileChange(path="gone.txt", before=b"p\nq\n", after=None, mode=0o600)
BINARY = FileChange(path="logo.png", before=b"\0a", after=b"\0b", mode=0o644)
EMPTY = FileChange(path="empty.txt", before=None, after=b"", mode=0o644)
ALL = (EDIT, NEW, GONE, BINARY, EMPTY)
HUNKS = hunks(ALL)


def with_after(change: FileChange, after: bytes | None) -> FileChange:
    return FileChange(path=change.path, before=change.before, after=after, mode=change.mode)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (None, ALL),
        ((), ()),
        ((Taken(hunk=1),), (EDIT,)),
        ((Taken(hunk=1, lines=(3,)),), (with_after(EDIT, b"a\nb\nc\n"),)),
        ((Taken(hunk=2, lines=(2,)),), (with_after(NEW, b"y\n"),)),
        ((Taken(hunk=3, lines=(2,)),), (with_after(GONE, b"p\n"),)),
        ((Taken(hunk=3), Taken(hunk=2)), (NEW, GONE)),
        ((Taken(hunk=1, lines=()), Taken(hunk=2)), (NEW,)),
    ],
)
def test_only_what_was_taken_is_left(
    selection: tuple[Taken, ...] | None, expected: tuple[FileChange, ...]
) -> None:
    assert selected(ALL, HUNKS, selection) == expected


def test_edited_bytes_win_over_the_selection() -> None:
    edited = {"a.txt": b"mine\n", "gone.txt": b"p\nq\n", "logo.png": b"\0c"}
    assert selected(ALL, HUNKS, (Taken(hunk=1), Taken(hunk=3)), edited) == (
        with_after(EDIT, b"mine\n"),
        with_after(BINARY, b"\0c"),
    )
    assert selected(ALL, HUNKS, None, {"new.txt": b""}) == (EDIT, with_after(NEW, b""), GONE, BINARY, EMPTY)


def test_what_the_action_does_not_have_is_named() -> None:
    with pytest.raises(ValueError, match=r"other\.txt is not a file of this action"):
        selected(ALL, HUNKS, None, {"other.txt": b""})
    with pytest.raises(ValueError, match="there is no hunk 9: this action has 3 hunks"):
        selected([BINARY], HUNKS, (Taken(hunk=9),))


def test_a_plan_holds_digests_and_no_bytes() -> None:
    assert plan([EDIT, NEW, GONE], lambda data: f"<{data.decode()}>") == (
        FilePlan(path="a.txt", base="<a\nb\n>", after="<A\nb\nc\n>", mode=0o644),
        FilePlan(path="new.txt", base=None, after="<x\ny\n>", mode=0o755),
        FilePlan(path="gone.txt", base="<p\nq\n>", after=None, mode=0o600),
    )
    with pytest.raises(ValueError, match="twice"):
        plan([EDIT, EDIT], lambda _: "")
