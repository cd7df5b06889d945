"""What is found below a folder is looked for again only where something changed, and nothing is overlooked."""

import os
import time

import pytest

from tests.support.waits import until_file_clock_moves
from workbench.effects import folder_index
from workbench.effects.folder_index import FolderFindings, FolderIndex, TooManyNames


class Reader:
    """Finds what is called `x`, enters all folders but `closed`, and keeps which folders it was asked about."""

    def __init__(self):
        self.asked = []

    def __call__(self, folder, entries, is_inner):
        self.asked.append(os.path.basename(folder))  # noqa: PTH119
        return FolderFindings(
            found={entry.path: "found" for entry in entries if entry.name == "x"},
            enter=[
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and entry.name != "closed"
            ],
        )


@pytest.fixture
def reader():
    return Reader()


@pytest.fixture
def index(tmp_path, reader, monkeypatch):
    """An index of folders that have not changed for a while."""
    monkeypatch.setattr(folder_index, "is_settled", lambda changed: True)
    for name in ("a/b", "closed/c"):
        (tmp_path / name).mkdir(parents=True)
    return FolderIndex(str(tmp_path), reader, "unreadable")


def test_what_is_there_is_found_and_asked_for_once(tmp_path, reader, index):
    (tmp_path / "a/b/x").touch()
    (tmp_path / "closed/x").touch()
    expected = {f"{tmp_path}/a/b/x": "found"}
    assert index.found() == expected
    assert sorted(reader.asked) == sorted([tmp_path.name, "a", "b"])
    reader.asked.clear()
    assert index.found() == expected
    assert reader.asked == []


@pytest.mark.parametrize("change", ["file", "link", "folder", "renamed", "removed", "exchanged"])
def test_only_what_changed_is_asked_for_again(tmp_path, reader, index, change):
    (tmp_path / "a/b/old").touch()
    index.found()
    reader.asked.clear()
    until_file_clock_moves(tmp_path / "a/b/old")
    inner = tmp_path / "a/b"
    match change:
        case "file":
            (inner / "x").touch()
        case "link":
            (inner / "x").symlink_to("old")
        case "folder":
            (inner / "x").mkdir()
        case "renamed":
            (inner / "old").rename(inner / "x")
        case "removed":
            (inner / "old").unlink()
        case "exchanged":
            inner.rename(tmp_path / "away")
            inner.mkdir()
            (inner / "x").touch()
    assert (f"{inner}/x" in index.found()) == (change != "removed")
    assert "b" in reader.asked
    assert ("a" in reader.asked) == (change == "exchanged")


def test_a_folder_that_has_just_changed_is_looked_at_again(tmp_path, reader):
    index = FolderIndex(str(tmp_path), reader, "unreadable")
    index.found()
    index.found()
    assert reader.asked == [tmp_path.name] * 2
    before = time.time() - 60
    os.utime(tmp_path, (before, before))
    index.found()
    assert len(reader.asked) == 3, "the time that a program can set does not count"


def test_links_are_not_followed(tmp_path, reader, index):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a/b/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/x").touch()
    assert list(index.found()) == [f"{tmp_path}/elsewhere/x"]


def test_a_folder_that_cannot_be_listed_is_found_itself(tmp_path, reader, index, monkeypatch):
    scandir = os.scandir

    def refusing(folder):
        if folder == f"{tmp_path}/a/b":
            raise PermissionError
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    assert index.found() == {f"{tmp_path}/a/b": "unreadable"}


def test_there_is_a_limit(tmp_path, reader):
    for name in range(8):
        (tmp_path / str(name)).touch()
    assert FolderIndex(str(tmp_path), reader, "", most=8).found() == {}
    with pytest.raises(TooManyNames, match="more than 7 names"):
        FolderIndex(str(tmp_path), reader, "", most=7).found()


def test_at_the_limit_the_folders_at_the_top_have_been_looked_at(tmp_path, reader):
    for folder in ("a", "b", "c"):
        (tmp_path / folder / "deep").mkdir(parents=True)
        (tmp_path / folder / "x").touch()
        for name in range(9):
            (tmp_path / folder / "deep" / str(name)).touch()
    with pytest.raises(TooManyNames) as caught:
        FolderIndex(str(tmp_path), reader, "", most=12).found()
    assert set(caught.value.found) == {f"{tmp_path}/{folder}/x" for folder in ("a", "b", "c")}


def test_nothing_is_found_where_nothing_is(tmp_path, reader):
    assert FolderIndex(f"{tmp_path}/none", reader, "").found() == {}
    (tmp_path / "file").touch()
    assert FolderIndex(f"{tmp_path}/file", reader, "").found() == {}
