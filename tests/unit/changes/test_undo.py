"""Undo puts back exactly, or names what stands in the way; stale names what moved."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.changes.apply import NotUndoable, PlannedFile, apply_files, stale_paths, undo_changes
from workbench.changes.decision import file_plans
from workbench.changes.diff import FileChange
from workbench.effects.files import Root

EDIT = FileChange(path="a.txt", before=b"a\xff\r\n", after=b"A\n", mode=0o640)
GONE = FileChange(path="gone.sh", before=b"gone\n", after=None, mode=0o755)
NEW = FileChange(path="new.txt", before=None, after=b"", mode=0o600)
CHANGES = (EDIT, GONE, NEW)


def keyed(data: bytes) -> str:
    return hashlib.sha256(b"key" + data).hexdigest()


def before_image(path: str) -> bytes | None:
    return {change.path: change.before for change in CHANGES}[path]


PLANS = file_plans(CHANGES, keyed)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    for change in CHANGES:
        if change.before is not None:
            (tmp_path / change.path).write_bytes(change.before)
            (tmp_path / change.path).chmod(change.mode)
    with Root(tmp_path) as opened:
        yield opened


def planned_files(changes) -> list[PlannedFile]:
    return [PlannedFile(path=c.path, base=c.before, after=c.after, mode=c.mode) for c in changes]


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mode & 0o777) for path in folder.iterdir()}


def test_applied_and_undone_is_as_before(root: Root, tmp_path: Path) -> None:
    before = state(tmp_path)
    apply_files(root, planned_files(CHANGES))
    back = undo_changes(root, PLANS, keyed, before_image)
    assert back == (
        FileChange(path="a.txt", before=b"A\n", after=b"a\xff\r\n", mode=0o640),
        FileChange(path="gone.sh", before=None, after=b"gone\n", mode=0o755),
        FileChange(path="new.txt", before=b"", after=None, mode=0o600),
    )
    apply_files(root, planned_files(back))
    assert state(tmp_path) == before
    assert undo_changes(root, PLANS, keyed, before_image) == ()


def test_a_mode_given_since_is_kept(root: Root, tmp_path: Path) -> None:
    apply_files(root, planned_files(CHANGES))
    (tmp_path / "a.txt").chmod(0o600)
    assert undo_changes(root, PLANS, keyed, before_image)[0].mode == 0o600


def test_files_changed_since_are_all_named(root: Root, tmp_path: Path) -> None:
    apply_files(root, planned_files(CHANGES))
    (tmp_path / "a.txt").write_bytes(b"later\n")
    (tmp_path / "new.txt").unlink()
    (tmp_path / "new.txt").symlink_to("a.txt")
    with pytest.raises(NotUndoable) as told:
        undo_changes(root, PLANS, keyed, before_image)
    assert (told.value.changed, told.value.lost) == (("a.txt", "new.txt"), ())
    assert "changed since: a.txt, new.txt" in str(told.value)


@pytest.mark.parametrize("image", [None, b"other bytes"])
def test_earlier_bytes_that_are_gone_are_named(root: Root, image: bytes | None) -> None:
    apply_files(root, planned_files(CHANGES))
    with pytest.raises(NotUndoable) as told:
        undo_changes(root, PLANS, keyed, lambda _: image)
    assert (told.value.changed, told.value.lost) == ((), ("a.txt", "gone.sh"))


def test_moved_names_what_is_not_its_base(root: Root, tmp_path: Path) -> None:
    assert stale_paths(root, PLANS, keyed) == ()
    (tmp_path / "new.txt").write_bytes(b"")
    assert stale_paths(root, PLANS, keyed) == ("new.txt",)
    (tmp_path / "gone.sh").unlink()
    assert stale_paths(root, PLANS, keyed) == ("gone.sh", "new.txt")
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").mkdir()
    assert stale_paths(root, PLANS, keyed) == ("a.txt", "gone.sh", "new.txt")
