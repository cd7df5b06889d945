"""The tools that propose: exactly one place, bytes kept, nothing written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.changes.diff import FileChange
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.tools.base import ToolRefused, WriteTool
from workbench.tools.file_edit import CreateFile, ReplaceString


def base(data, mode=0o755):
    image = None if data is None else FileImage(data=data, mode=mode, size=len(data), links=1)
    return lambda _path: image


def refusing(path):
    raise FileRefused(path, "it is a symbolic link", "name what it points to")


def replaced(data, old, new):
    (change,) = ReplaceString().propose({"path": "a", "old_string": old, "new_string": new}, base(data))
    assert change == FileChange(path="a", before=data, after=change.after, mode=0o755)
    return change.after


def test_a_new_file_is_proposed_with_its_bytes():
    (change,) = CreateFile().propose({"path": "a/b", "content": "caf\u00e9\n"}, base(None))
    assert change == FileChange(path="a/b", before=None, after=b"caf\xc3\xa9\n", mode=0o644)


@pytest.mark.parametrize(
    ("parameters", "there", "words"),
    [
        ({"path": "a", "content": "x"}, base(b""), "a already exists"),
        ({"path": "a", "content": "x"}, refusing, "it is a symbolic link"),
        ({"path": "a", "content": "\ud800"}, base(None), "not valid text"),
    ],
)
def test_a_file_that_cannot_be_created_is_said(parameters, there, words):
    with pytest.raises(ToolRefused, match=words):
        CreateFile().propose(parameters, there)


@each_row(
    ("data", "old", "new", "after"),
    [
        (b"one two three", "two", "2", b"one 2 three"),
        (b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\ny", b"x\ny\r\n"),
        (b"a\nb\r\n", "a\nb", "x\ny", b"x\ny\r\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1", "x = 2", b"\xef\xbb\xbfx = 2\n"),
        (b"caf\xe9 x", "caf\u00e9", "th\u00e9", b"th\xe9 x"),
        ("caf\u00e9".encode(), "\u00e9", "e", b"cafe"),
        (b"a.b", ".", "", b"ab"),
        (b"x", "x", "\\1", b"\\1"),
    ],
)
def test_the_one_place_is_replaced_and_all_else_kept(data, old, new, after):
    assert replaced(data, old, new) == after


@each_row(
    ("data", "old", "words"),
    [
        (b"abc", "x", "occurs 0 times"),
        (b"x x", "x", "occurs 2 times"),
        (b"aaa", "aa", "occurs 2 times"),
        (b"a\r\na\r\na\r\n", "a\n", "occurs 3 times"),
        (None, "x", "create_file"),
        (b"x\0", "x", "binary"),
        (b"\xe9", "\u6f22", "not UTF-8"),
        (b"new", "new", "the same"),
    ],
)
def test_anything_but_one_place_is_an_error_and_changes_nothing(data, old, words):
    with pytest.raises(ToolRefused, match=words):
        replaced(data, old, "new")


def test_a_file_that_may_not_be_reached_is_said():
    with pytest.raises(ToolRefused, match="symbolic link"):
        ReplaceString().propose({"path": "a", "old_string": "a", "new_string": "b"}, refusing)


@given(
    st.text("ab\n\r\u00e9", max_size=12),
    st.text("ab\n\u00e9", min_size=1, max_size=3),
    st.text("xy\n", max_size=3),
)
def test_a_proposal_changes_one_place_or_none(text, old, new):
    data = text.encode()
    places = sum(data.startswith(old.encode(), at) for at in range(len(data)))
    if places == 1 and old != new:
        start = data.index(old.encode())
        assert replaced(data, old, new) == data[:start] + new.encode() + data[start + len(old.encode()) :]
    elif places > 1 and old != new:
        with pytest.raises(ToolRefused, match=f"occurs {places} times"):
            replaced(data, old, new)


def test_both_are_writing_tools():
    assert isinstance(CreateFile(), WriteTool)
    assert isinstance(ReplaceString(), WriteTool)
