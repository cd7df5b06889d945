"""The rows of the crash table that are about files: JOURNAL section 2."""

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.changes.apply import (
    PlannedDigests,
    PlannedFile,
    SettledExecution,
    apply_files,
    settle_interrupted,
)
from workbench.domain.values import FilePlan, PlannedWrite
from workbench.effects.fault_points import arm_fault
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage, Root, StagedFile

EDIT = PlannedFile(path="src/a.txt", base=b"a\n", after=b"A\n", mode=0o640)
GONE = PlannedFile(path="gone.txt", base=b"gone\n", after=None, mode=0o600)
NEW = PlannedFile(path="new/n.txt", base=None, after=b"new\n", mode=0o644)
STEPS = (EDIT, GONE, NEW)
BEFORE = {"src/a.txt": (b"a\n", 0o640), "gone.txt": (b"gone\n", 0o600)}
AFTER = {"src/a.txt": (b"A\n", 0o640), "new/n.txt": (b"new\n", 0o644)}


def keyed(data: bytes) -> str:
    return hashlib.sha256(b"key" + data).hexdigest()


def digest(data: bytes | None) -> str | None:
    return None if data is None else keyed(data)


RECORDED = tuple(
    PlannedDigests(
        path=step.path, base_digest=digest(step.base), after_digest=digest(step.after), mode=step.mode
    )
    for step in STEPS
)


def before_image(path: str) -> bytes | None:
    return {step.path: step.base for step in STEPS}[path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, (data, mode) in BEFORE.items():
        put(tmp_path / path, data, mode)
    return tmp_path


@pytest.fixture
def root(folder: Path) -> Iterator[Root]:
    with Root(folder) as opened:
        yield opened


def put(target: Path, data: bytes | None, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        target.unlink(missing_ok=True)
    else:
        target.write_bytes(data)
        target.chmod(mode)


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file()
    }


def die_at(root: Root, place: str, nth: int) -> None:
    """Apply in a child that is gone without a word at the fault point."""
    child = os.fork()
    if child == 0:
        arm_fault(place, "exit", nth)
        apply_files(root, STEPS)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 137


def rolled_back(*paths: str) -> SettledExecution:
    return SettledExecution(outcome="rolled_back", put_back=paths)


NOTHING = SettledExecution(outcome="nothing_written")
SUCCEEDED = SettledExecution(outcome="succeeded")


@pytest.mark.faults
@pytest.mark.parametrize(
    ("place", "nth", "expected"),
    [
        ("apply.staged", 1, NOTHING),
        ("apply.renaming", 1, NOTHING),
        ("apply.renamed", 1, rolled_back("src/a.txt")),
        ("apply.renaming", 2, rolled_back("src/a.txt")),
        ("apply.renamed", 2, rolled_back("src/a.txt", "gone.txt")),
        ("apply.renaming", 3, rolled_back("src/a.txt", "gone.txt")),
        ("apply.renamed", 3, SUCCEEDED),
        ("apply.done", 1, SUCCEEDED),
    ],
)
def test_a_death_at_every_step_is_settled(
    folder: Path, root: Root, place: str, nth: int, expected: SettledExecution
) -> None:
    die_at(root, place, nth)
    assert settle_interrupted(root, RECORDED, keyed, before_image) == expected
    final = AFTER if expected == SUCCEEDED else BEFORE
    assert files(folder) == final
    again = SUCCEEDED if expected == SUCCEEDED else NOTHING
    assert settle_interrupted(root, RECORDED, keyed, before_image) == again
    assert files(folder) == final


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ((EDIT.base, GONE.base, NEW.base), NOTHING),
        ((EDIT.after, GONE.after, NEW.after), SUCCEEDED),
        ((EDIT.after, GONE.base, NEW.base), rolled_back("src/a.txt")),
        ((EDIT.base, GONE.after, NEW.base), rolled_back("gone.txt")),
        ((EDIT.base, GONE.base, NEW.after), rolled_back("new/n.txt")),
        ((EDIT.base, GONE.after, NEW.after), rolled_back("gone.txt", "new/n.txt")),
        (
            (EDIT.after, b"theirs\n", NEW.base),
            SettledExecution(outcome="rolled_back", put_back=("src/a.txt",), untouched=("gone.txt",)),
        ),
        (
            (EDIT.after, GONE.after, b"theirs\n"),
            SettledExecution(
                outcome="rolled_back", put_back=("src/a.txt", "gone.txt"), untouched=("new/n.txt",)
            ),
        ),
        (
            (EDIT.base, b"theirs\n", NEW.base),
            SettledExecution(outcome="rolled_back", untouched=("gone.txt",)),
        ),
        (
            (None, b"theirs\n", b"theirs\n"),
            SettledExecution(outcome="rolled_back", untouched=("src/a.txt", "gone.txt", "new/n.txt")),
        ),
    ],
)
def test_what_is_found_tells_what_it_came_to(
    folder: Path, root: Root, present: tuple[bytes | None, ...], expected: SettledExecution
) -> None:
    for step, data in zip(STEPS, present, strict=True):
        put(folder / step.path, data, step.mode)
    assert settle_interrupted(root, RECORDED, keyed, before_image) == expected
    for step, data in zip(STEPS, present, strict=True):
        is_back = step.path in expected.put_back
        content = (folder / step.path).read_bytes() if (folder / step.path).exists() else None
        assert content == (step.base if is_back else data)
        if is_back and step.base is not None:
            assert (folder / step.path).stat().st_mode & 0o777 == step.mode


@pytest.mark.parametrize("image", [None, b"not the bytes of the plan\n"])
def test_without_the_right_earlier_bytes_a_file_is_left_and_named(
    folder: Path, root: Root, image: bytes | None
) -> None:
    put(folder / EDIT.path, EDIT.after, EDIT.mode)
    assert settle_interrupted(root, RECORDED, keyed, lambda _: image) == SettledExecution(
        outcome="rolled_back", untouched=("src/a.txt",)
    )
    assert (folder / EDIT.path).read_bytes() == EDIT.after


def test_a_file_whose_bytes_do_not_change_is_on_either_side(folder: Path, root: Root) -> None:
    same = PlannedDigests(path="gone.txt", base_digest=digest(GONE.base), after_digest=digest(GONE.base))
    edit = RECORDED[0]
    assert settle_interrupted(root, (edit, same), keyed, before_image) == NOTHING
    put(folder / EDIT.path, EDIT.after, EDIT.mode)
    assert settle_interrupted(root, (edit, same), keyed, before_image) == SUCCEEDED
    assert settle_interrupted(root, (edit, same, RECORDED[2]), keyed, before_image) == rolled_back(
        "src/a.txt"
    )


def test_what_is_no_plain_file_any_more_is_left_and_named(folder: Path, root: Root) -> None:
    put(folder / NEW.path, NEW.after, NEW.mode)
    (folder / EDIT.path).unlink()
    (folder / EDIT.path).symlink_to(folder / "gone.txt")
    assert settle_interrupted(root, RECORDED, keyed, before_image) == SettledExecution(
        outcome="rolled_back", put_back=("new/n.txt",), untouched=("src/a.txt",)
    )
    assert files(folder)["gone.txt"] == BEFORE["gone.txt"]


def test_only_temporary_files_of_the_call_and_abandoned_ones_go(folder: Path, root: Root) -> None:
    ours, base, fresh, old, alike = (
        folder / f"{prefix}/.workbench-{digit * 32}.tmp"
        for prefix, digit in (("src", "1"), (".", "2"), ("src", "3"), ("src", "4"), ("elsewhere", "5"))
    )
    put(ours, EDIT.after, 0o600)
    put(base, GONE.base, 0o600)
    put(fresh, b"somebody else is writing this", 0o600)
    put(old, b"half writ", 0o600)
    put(alike, EDIT.after, 0o600)
    os.utime(old, (0, 0))
    assert settle_interrupted(root, RECORDED, keyed, before_image) == NOTHING
    assert {path for path in (ours, base, fresh, old, alike) if path.exists()} == {fresh, alike}
    assert files(folder).items() > BEFORE.items()


class Starved(Root):
    """A root without descriptors (or disk) left for one path."""

    def image(self, rel: str, limit: int | None = None) -> FileImage | None:
        if rel == GONE.path:
            raise FileRefused(rel, "too many files are open", "close some", errno.EMFILE)
        return super().image(rel, limit)

    def stage(self, rel: str, data: bytes, mode: int) -> StagedFile:
        raise FileRefused(rel, "the disk is full", "free some space", errno.ENOSPC)


def test_a_system_without_means_decides_nothing(folder: Path) -> None:
    put(folder / EDIT.path, EDIT.after, EDIT.mode)
    with Starved(folder) as root:
        with pytest.raises(FileRefused, match="too many files"):
            settle_interrupted(root, RECORDED, keyed, before_image)
        with pytest.raises(FileRefused, match="the disk is full"):
            settle_interrupted(root, (RECORDED[0], RECORDED[2]), keyed, before_image)
    assert (folder / EDIT.path).read_bytes() == EDIT.after


def test_the_plan_is_read_from_either_record() -> None:
    expected = PlannedDigests(path="a", base_digest=None, after_digest="2", mode=0o755)
    assert PlannedDigests.of(FilePlan(path="a", base=None, after="2", mode=0o755)) == expected
    assert PlannedDigests.of(PlannedWrite(path="a", base=None, after="2", mode=0o755)) == expected


@pytest.mark.parametrize("fault", ["moved", "refused", "passing"])
def test_what_cannot_be_put_back_is_named_and_a_passing_fault_is_raised(
    folder: Path, root: Root, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    from workbench.changes import apply
    from workbench.effects.file_primitives import BaseMoved, FileRefused

    def fails(*_: object) -> None:
        if fault == "moved":
            raise BaseMoved(EDIT.path)
        raise FileRefused(
            EDIT.path, "no", "wait", min(apply._TRANSIENT_ERRORS) if fault == "passing" else None
        )

    put(folder / EDIT.path, EDIT.after, EDIT.mode)
    monkeypatch.setattr(apply, "_restore", fails)
    if fault == "passing":
        with pytest.raises(FileRefused):
            settle_interrupted(root, RECORDED, keyed, before_image)
    else:
        assert settle_interrupted(root, RECORDED, keyed, before_image) == SettledExecution(
            outcome="rolled_back", untouched=("src/a.txt",)
        )
