"""Reading on where reading ended, of a file that others write and replace."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.effects.file_primitives import FileRefused
from workbench.effects.growing_file import GrowingFile

MOST = 12
LINES = st.lists(st.binary(max_size=2 * MOST).map(lambda data: data.replace(b"\n", b"")), max_size=6)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=LINES,
    cuts=st.lists(st.integers(0, 120), max_size=5),
    most=st.integers(1, 40),
    rest=st.binary(max_size=5),
)
def test_lines_are_read_once_each_when_they_are_whole(tmp_path, lines, cuts, most, rest):
    data = b"".join(line + b"\n" for line in lines)
    path = tmp_path / "grown"
    path.unlink(missing_ok=True)
    path.touch()
    file, found, at = GrowingFile(str(path), MOST), [], 0
    for end in [*sorted(cuts), len(data)]:
        with path.open("ab") as grown:
            grown.write(data[at:end])
        at = max(at, end)
        has_more = True
        while has_more:
            growth = file.read(most)
            assert growth.first == len(found) + 1
            found, has_more = [*found, *growth.lines], growth.has_more
    with path.open("ab") as grown:
        grown.write(rest.replace(b"\n", b""))
    assert file.read(1000).lines == []
    assert found == [line.rstrip(b"\r") if len(line) <= MOST else len(line) for line in lines]


@pytest.mark.parametrize("how", ["replaced", "shorter", "written again"])
def test_a_file_that_became_another_one_is_read_from_its_start(tmp_path, how):
    path = tmp_path / "grown"
    path.write_bytes(b"one\ntwo\nthr")
    file = GrowingFile(str(path), 1000)
    first = file.read(1000)
    assert (first.lines, first.is_restarted) == ([b"one", b"two"], True)
    if how == "replaced":
        (tmp_path / "new").write_bytes(b"one\ntwo\nthree\n")
        (tmp_path / "new").replace(path)
    else:
        path.write_bytes(b"uno\n" if how == "shorter" else b"uno\ntwo\nthree\n")
    again = file.read(1000)
    assert (again.is_restarted, again.first, again.lines) == (True, 1, path.read_bytes().split(b"\n")[:-1])
    assert file.read(1000).is_restarted is False


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "missing"])
def test_only_a_regular_file_is_read_and_nothing_is_waited_for(tmp_path, kind):
    path = tmp_path / "it"
    if kind == "link":
        (tmp_path / "other").write_bytes(b"secret\n")
        path.symlink_to(tmp_path / "other")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises((OSError, FileRefused)):
        GrowingFile(str(path), 1000).read(1000)
