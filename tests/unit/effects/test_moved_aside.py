"""Moving something to another file system: whole, or not at all."""

import errno
import os
import shutil

import pytest

from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.folders import move_aside


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder whose files have to be copied to be moved."""

    def elsewhere(*_, **__):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    (tmp_path / "work/made").mkdir(parents=True)
    (tmp_path / "work/made/kept.txt").write_text("kept")
    monkeypatch.setattr(os, "rename", elsewhere)
    return tmp_path


def move(place):
    with Root(str(place / "work")) as root:
        move_aside(root, "made", str(place / "aside/1/made"))


def test_a_folder_is_moved_with_its_links_and_without_its_pipes(place):
    os.mkfifo(place / "work/made/pipe")
    (place / "work/made/link").symlink_to("kept.txt")
    move(place)
    assert not (place / "work/made").exists()
    assert (place / "aside/1/made/link").read_text() == "kept"
    assert not os.path.lexists(place / "aside/1/made/pipe")


def test_a_folder_that_cannot_be_copied_whole_stays(place, monkeypatch):
    copied = shutil.copytree

    def failing(source, target, **how):
        copied(source, target, **how)
        raise shutil.Error([("made/other", "aside/other", "it cannot be read")])

    monkeypatch.setattr(shutil, "copytree", failing)
    with pytest.raises(FileRefused):
        move(place)
    assert (place / "work/made/kept.txt").read_text() == "kept"
    assert not (place / "aside/1/made").exists()
