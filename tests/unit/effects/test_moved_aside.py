"""Moving something aside: whole, or shut where it is, also to another file system; folders of any mode and depth."""

import errno
import inspect
import os
import stat
import sys
from pathlib import Path

import pytest

from workbench.effects import moved_aside
from workbench.effects.file_primitives import FileMissing
from workbench.effects.files import Root
from workbench.effects.folders import remove_below, remove_tree
from workbench.effects.moved_aside import move_aside

DEEP = 150


@pytest.fixture
def place(tmp_path):
    (tmp_path / "work/made").mkdir(parents=True)
    (tmp_path / "work/made/kept.txt").write_text("kept")
    return tmp_path


@pytest.fixture
def elsewhere(place, monkeypatch):
    """The place to move to is on another file system."""
    rename = os.rename

    def renamed(source, target, **more):
        if "dst_dir_fd" not in more:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target, **more)

    monkeypatch.setattr(os, "rename", renamed)
    return place


def move(place, name="made"):
    with Root(str(place / "work")) as root:
        return Path(move_aside(root, name, str(place / "aside")))


def make_deep(folder):
    folder.joinpath(*["d"] * DEEP).mkdir(parents=True)


def is_shut(place, path):
    return path.parent == place / "work" and stat.S_IMODE(path.lstat().st_mode) == 0


def test_each_is_moved_to_a_folder_of_its_own(place):
    (place / "aside/7").mkdir(parents=True)
    assert move(place) == place / "aside/8/made"
    (place / "work/made").write_text("other")
    assert move(place) == place / "aside/9/made"


def test_what_is_already_there_is_never_replaced(place, monkeypatch):
    """Another process looks for a free number at the same time."""
    (place / "aside/1").mkdir(parents=True)
    (place / "aside/1/made").write_text("of the other")
    monkeypatch.setattr(moved_aside.os, "listdir", lambda folder: [])
    assert move(place) == place / "aside/2/made"
    assert (place / "aside/1/made").read_text() == "of the other"


def test_a_folder_is_copied_with_its_links_and_without_its_pipes(elsewhere):
    os.mkfifo(elsewhere / "work/made/pipe")
    (elsewhere / "work/made/link").symlink_to("kept.txt")
    (elsewhere / "work/made/below/deeper").mkdir(parents=True)
    (elsewhere / "work/made/below/deeper/run").write_text("kept")
    (elsewhere / "work/made/below/deeper/run").chmod(0o755)
    moved = move(elsewhere)
    assert os.listdir(elsewhere / "work") == []  # noqa: PTH208
    assert (moved / "link").read_text() == "kept"
    assert stat.S_IMODE((moved / "below/deeper/run").stat().st_mode) == 0o755
    assert not os.path.lexists(moved / "pipe")


def test_of_a_pipe_nothing_is_left(elsewhere):
    os.mkfifo(elsewhere / "work/pipe")
    assert not os.path.lexists(move(elsewhere, "pipe"))
    assert os.listdir(elsewhere / "work") == ["made"]  # noqa: PTH208


def test_holes_of_a_file_take_no_room(elsewhere):
    with (elsewhere / "work/holes").open("wb") as file:
        file.truncate(moved_aside._MOST_BYTES * 4)
        file.seek(moved_aside._MOST_BYTES * 2)
        file.write(b"data")
    moved = move(elsewhere, "holes")
    assert moved.stat().st_size == moved_aside._MOST_BYTES * 4
    assert moved.stat().st_blocks * 512 < 1_000_000
    with moved.open("rb") as file:
        file.seek(moved_aside._MOST_BYTES * 2)
        assert file.read(5) == b"data\0"


def make_large(folder):
    (folder / "large").write_text("x" * 100)


def make_many(folder):
    for number in range(DEEP - 90):
        (folder / str(number)).touch()


@pytest.mark.parametrize("make", [make_large, make_many, make_deep])
def test_what_is_too_much_to_copy_is_shut_in_its_place(elsewhere, monkeypatch, make):
    monkeypatch.setattr(moved_aside, "_MOST_BYTES", 90)
    monkeypatch.setattr(moved_aside, "_MOST_NAMES", DEEP - 100)
    make(elsewhere / "work/made")
    moved = move(elsewhere)
    assert is_shut(elsewhere, moved)
    assert os.listdir(elsewhere / "work") == [moved.name]  # noqa: PTH208
    assert [files for *_, files in os.walk(elsewhere / "aside") if files] == [], "no half of a copy is left"
    moved.chmod(0o700)
    assert (moved / "kept.txt").read_text() == "kept"
    remove_tree(str(moved))


def test_where_nothing_can_be_made_it_is_shut_in_its_place(place):
    (place / "aside").write_text("a file")
    assert is_shut(place, move(place))


def test_what_is_not_there_cannot_be_moved(place):
    for name in ("other", "other/made"):
        with pytest.raises(FileMissing):
            move(place, name)


def test_a_folder_that_is_deeper_than_the_stack_is_removed(place):
    make_deep(place / "work/made")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + DEEP // 2)
    try:
        remove_tree(str(place / "work/made"))
    finally:
        sys.setrecursionlimit(limit)
    assert os.listdir(place / "work") == []  # noqa: PTH208


def test_only_what_is_in_a_folder_is_removed(place):
    (place / "work/made/outside").symlink_to(place / "kept")
    (place / "kept").mkdir()
    (place / "kept/file").touch()
    with Root(str(place)) as root:
        remove_below(root, "work/made")
    assert (place / "kept/file").exists()
    assert os.listdir(place / "work") == []  # noqa: PTH208
