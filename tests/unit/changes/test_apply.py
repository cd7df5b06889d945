"""All files or none, whatever fails, and whoever else writes meanwhile."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workbench.changes.apply import AppliedFile, NotApplied, PlannedFile, apply_files
from workbench.effects.fault_points import arm_fault
from workbench.effects.files import Root

EDIT = PlannedFile(path="src/a.txt", base=b"a\r\n", after=b"A\r\n", mode=0o640)
RUN = PlannedFile(path="run.sh", base=b"#!/bin/sh\n", after=b"#!/bin/sh\ntrue\n", mode=0o755)
GONE = PlannedFile(path="gone.txt", base=b"gone\n", after=None, mode=0o600)
NEW = PlannedFile(path="new/deep/n.txt", base=None, after=b"new\n", mode=0o644)
STEPS = (EDIT, RUN, GONE, NEW)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for step in STEPS:
        if step.base is not None:
            target = tmp_path / step.path
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(step.base)
            target.chmod(step.mode)
    (tmp_path / "other.txt").write_bytes(b"other\n")
    return tmp_path


@pytest.fixture
def root(folder: Path) -> Iterator[Root]:
    with Root(folder) as opened:
        yield opened


def tree(folder: Path) -> dict[str, tuple[bytes, int] | None]:
    """Everything below a folder: bytes and mode of files, None for folders."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777)
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.spec(158)
def test_all_files_are_written(folder: Path, root: Root) -> None:
    assert apply_files(root, STEPS) == [
        AppliedFile(path="src/a.txt", change="modify", mode=0o640),
        AppliedFile(path="run.sh", change="modify", mode=0o755),
        AppliedFile(path="gone.txt", change="delete", mode=0o600),
        AppliedFile(path="new/deep/n.txt", change="create", mode=0o644),
    ]
    assert tree(folder) == {
        "new": None,
        "new/deep": None,
        "new/deep/n.txt": (b"new\n", 0o644),
        "other.txt": (b"other\n", 0o644),
        "run.sh": (b"#!/bin/sh\ntrue\n", 0o755),
        "src": None,
        "src/a.txt": (b"A\r\n", 0o640),
    }


PLACES = [
    ("apply.staged", 1),
    *(("apply.renaming", nth) for nth in range(1, 5)),
    *(("apply.renamed", nth) for nth in range(1, 5)),
    ("apply.done", 1),
]


@pytest.mark.spec(72)
@pytest.mark.parametrize(("place", "nth"), PLACES)
@pytest.mark.parametrize("order", [STEPS, STEPS[::-1]], ids=["forwards", "backwards"])
def test_a_failure_anywhere_leaves_everything_as_it_was(
    folder: Path, root: Root, place: str, nth: int, order: tuple[PlannedFile, ...]
) -> None:
    before = tree(folder)
    with (
        arm_fault(place, OSError(errno.ENOSPC, "No space left on device"), nth),
        pytest.raises(NotApplied) as told,
    ):
        apply_files(root, order)
    assert tree(folder) == before
    assert told.value.rolled_back
    assert told.value.not_restored == ()
    assert told.value.why == "the disk is full"


def test_what_failed_is_said(folder: Path, root: Root) -> None:
    with (
        arm_fault("apply.renaming", OSError(errno.EIO, "Input/output error"), 2),
        pytest.raises(NotApplied) as told,
    ):
        apply_files(root, STEPS)
    assert str(told.value) == (
        "run.sh was not written: the disk reported an input/output error; no file was changed; "
        "check the disk before you continue"
    )


@pytest.mark.parametrize(("place", "nth"), PLACES)
def test_an_interrupt_passes_through_and_leaves_nothing(
    folder: Path, root: Root, place: str, nth: int
) -> None:
    before = tree(folder)
    with arm_fault(place, KeyboardInterrupt(), nth), pytest.raises(KeyboardInterrupt):
        apply_files(root, STEPS)
    assert tree(folder) == before


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.path)
def test_a_base_that_moved_before_is_noticed_before_anything_is_staged(
    folder: Path, root: Root, step: PlannedFile
) -> None:
    (folder / step.path).parent.mkdir(parents=True, exist_ok=True)
    (folder / step.path).write_bytes(b"somebody else\n")
    before = tree(folder)
    with arm_fault("apply.staged", AssertionError("staged")), pytest.raises(NotApplied) as told:
        apply_files(root, STEPS)
    assert (told.value.path, told.value.why) == (step.path, "it was changed by somebody else")
    assert tree(folder) == before


@pytest.mark.spec(72)
@pytest.mark.parametrize("number", range(4))
def test_a_base_that_moves_meanwhile_is_not_overwritten(folder: Path, root: Root, number: int) -> None:
    step = STEPS[number]
    before = tree(folder)
    target = folder / step.path
    with (
        arm_fault("apply.renaming", lambda: write(target, b"theirs\n"), number + 1),
        pytest.raises(NotApplied) as told,
    ):
        apply_files(root, STEPS)
    assert (told.value.path, told.value.rolled_back) == (step.path, True)
    assert target.read_bytes() == b"theirs\n"
    after = tree(folder)
    for name in ("new", "new/deep", step.path):
        before.pop(name, None)
        after.pop(name, None)
    assert after == before


def write(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def test_the_same_bytes_by_somebody_else_are_theirs(folder: Path, root: Root) -> None:
    target = folder / RUN.path
    same = RUN.after or b""
    with arm_fault("apply.renaming", lambda: write(target, same), 2), pytest.raises(NotApplied):
        apply_files(root, STEPS)
    assert target.read_bytes() == same
    assert (folder / EDIT.path).read_bytes() == EDIT.base


def failing_after(action: Callable[[], None]) -> Callable[[], None]:
    def fire() -> None:
        action()
        raise OSError(errno.EIO, "Input/output error")

    return fire


def test_what_others_wrote_after_us_is_left_and_named(folder: Path, root: Root) -> None:
    target = folder / EDIT.path
    with (
        arm_fault("apply.renamed", failing_after(lambda: write(target, b"theirs\n")), 2),
        pytest.raises(NotApplied) as told,
    ):
        apply_files(root, STEPS)
    assert not told.value.rolled_back
    assert told.value.not_restored == (EDIT.path,)
    assert "not put back: src/a.txt" in str(told.value)
    assert target.read_bytes() == b"theirs\n"
    assert (folder / RUN.path).read_bytes() == RUN.base


@pytest.mark.parametrize("place", ["apply.staged", "apply.done"])
def test_a_folder_made_for_several_files_goes_with_them(folder: Path, root: Root, place: str) -> None:
    before = tree(folder)
    second = PlannedFile(path="new/deep/second.txt", base=None, after=b"2\n", mode=0o644)
    with arm_fault(place, "eio"), pytest.raises(NotApplied):
        apply_files(root, [NEW, second])
    assert tree(folder) == before


def test_a_mode_alone_is_put_back(folder: Path, root: Root) -> None:
    before = tree(folder)
    step = PlannedFile(path=RUN.path, base=RUN.base, after=RUN.base, mode=0o644)
    with arm_fault("apply.done", "eio"), pytest.raises(NotApplied):
        apply_files(root, [step])
    assert tree(folder) == before
    apply_files(root, [step])
    assert (folder / RUN.path).stat().st_mode & 0o777 == 0o644


@pytest.mark.spec(72)
@pytest.mark.parametrize("failures", [1, 3, 1000])
def test_what_the_disk_does_not_confirm_is_put_back(
    folder: Path, root: Root, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    before = tree(folder)
    left = iter(range(failures))

    def sync(_: int) -> None:
        if next(left, None) is not None:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("workbench.effects.files.sync_to_disk", sync)
    with pytest.raises(NotApplied, match="the disk did not confirm it") as told:
        apply_files(root, STEPS)
    assert told.value.rolled_back
    assert tree(folder) == before


def test_a_target_that_becomes_a_link_meanwhile_is_not_called_ours(folder: Path, root: Root) -> None:
    target = folder / RUN.path

    def link() -> None:
        target.unlink()
        target.symlink_to(folder / "other.txt")

    with (
        arm_fault("apply.renaming", link, 2),
        pytest.raises(NotApplied, match=r"run\.sh.*symbolic link") as told,
    ):
        apply_files(root, STEPS)
    assert told.value.rolled_back
    assert target.is_symlink()
    assert (folder / "other.txt").read_bytes() == b"other\n"
    assert (folder / EDIT.path).read_bytes() == EDIT.base


def test_a_link_is_refused_with_its_remedy(folder: Path, root: Root) -> None:
    (folder / GONE.path).unlink()
    (folder / GONE.path).symlink_to(folder / "other.txt")
    with pytest.raises(NotApplied) as told:
        apply_files(root, STEPS)
    assert told.value.path == GONE.path
    assert told.value.why
    assert told.value.remedy
    assert (folder / "other.txt").read_bytes() == b"other\n"
    assert (folder / EDIT.path).read_bytes() == EDIT.base


def test_impossible_steps_are_refused(root: Root) -> None:
    with pytest.raises(ValueError, match="twice"):
        apply_files(root, [EDIT, EDIT])
    with pytest.raises(ValueError, match="neither there before nor after"):
        apply_files(root, [PlannedFile(path="x", base=None, after=None, mode=0o644)])


def test_a_failure_before_the_rename_has_nothing_to_put_back(
    folder: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    before = tree(folder)
    monkeypatch.setattr(Root, "commit", fails)
    with pytest.raises(NotApplied) as told:
        apply_files(root, STEPS)
    assert (told.value.rolled_back, told.value.not_restored, tree(folder)) == (True, (), before)
