"""Moving and deleting: exact bytes, nothing replaced, nothing written while it is proposed."""

import pytest

from tests.support.tables import each_row
from tests.unit.tools.test_writing import base, refusing
from workbench.changes.diff import FileChange, make_hunks
from workbench.effects.files import FileImage, Root
from workbench.tools.base import ToolRefused, WriteTool
from workbench.tools.file_move import DeleteFile, MoveFile


def files(**there):
    return lambda path: (
        FileImage(data=there[path], mode=0o750, size=len(there[path]), links=1) if path in there else None
    )


@pytest.mark.parametrize("data", [b"a\r\nb", b"", b"\0\xff"])
def test_a_move_is_the_same_bytes_and_mode_under_another_name(data):
    new, old = MoveFile().propose({"path": "a", "new_path": "d/b"}, files(a=data))
    assert new == FileChange(path="d/b", before=None, after=data, mode=0o750, moved_from="a")
    assert old == FileChange(path="a", before=data, after=None, mode=0o750)
    assert make_hunks([new, old]) == ()


def test_a_deletion_shows_the_whole_text():
    (change,) = DeleteFile().propose({"path": "a"}, files(a=b"one\ntwo\n"))
    assert change == FileChange(path="a", before=b"one\ntwo\n", after=None, mode=0o750)
    (hunk,) = make_hunks([change])
    assert hunk.lines == (("-", "one"), ("-", "two"))


@each_row(
    ("tool", "parameters", "there", "words"),
    [
        (MoveFile(), {"path": "a", "new_path": "b"}, files(a=b"", b=b""), "Not moved: b already exists"),
        (MoveFile(), {"path": "a", "new_path": "a"}, files(a=b""), "is the new path as well"),
        (MoveFile(), {"path": "a", "new_path": "b"}, files(b=b""), "Not moved: a does not exist"),
        (MoveFile(), {"path": "a", "new_path": "b"}, refusing, "Not moved: .*symbolic link"),
        (DeleteFile(), {"path": "a"}, base(None), "Not deleted: a does not exist"),
        (DeleteFile(), {"path": "a"}, refusing, "Not deleted: .*symbolic link"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anyone_is_asked(tool, parameters, there, words):
    with pytest.raises(ToolRefused, match=words):
        tool.propose(parameters, there)


def test_folders_and_what_is_no_file_are_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "link").symlink_to("a")
    with Root(tmp_path) as root:
        for path in ("folder", "link", "a/below"):
            with pytest.raises(ToolRefused, match="Not deleted"):
                DeleteFile().propose({"path": path}, root.image)
            with pytest.raises(ToolRefused, match="Not moved"):
                MoveFile().propose({"path": path, "new_path": "b"}, root.image)
        for path in ("folder", "link"):
            with pytest.raises(ToolRefused, match="Not moved"):
                MoveFile().propose({"path": "a", "new_path": path}, root.image)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder", "link"]


def test_both_are_writing_tools():
    assert isinstance(MoveFile(), WriteTool)
    assert isinstance(DeleteFile(), WriteTool)
