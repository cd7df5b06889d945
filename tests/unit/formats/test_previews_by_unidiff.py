"""Our own previews, read and applied by unidiff: drawn edits, creations, deletions and moves come out byte for byte.

What unidiff cannot read is named here, each with a test: such a preview is still right for git.
"""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unidiff.patch import Hunk, PatchedFile, PatchSet

from workbench.changes.diff import FileChange, make_hunks, split_lines
from workbench.effects.files import FileImage
from workbench.formats.git_diff import git_diff_lines, quoted_path
from workbench.formats.session_diff import RecordedWrite, session_file_diffs
from workbench.tools.file_move import DeleteFile, MoveFile

LINES = st.sampled_from([
    b"a", b"b", b"c", b"", b" ", b"\tx", b"-", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"\\", b"diff --git a/x b/x",
    b"\\ No newline at end of file", "ü".encode(), b"\xef\xbb\xbfx", "\u2028".encode(), b"\x0c", b"d\x1b[0m", b"e\r", b"\rf", b"\r",
])  # fmt: skip
PATHS = st.sampled_from(["a.txt", "dir/b.py", "c d.txt", "ü.txt", "e"])


@st.composite
def images(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINES, max_size=14))
    return b"\n".join(lines) + (b"\n" if lines and draw(st.booleans()) else b"")


@st.composite
def changes(draw: st.DrawFn) -> list[FileChange]:
    paths = draw(st.lists(PATHS, min_size=1, max_size=4, unique=True))
    sides = st.tuples(st.none() | images(), st.none() | images()).filter(lambda pair: pair != (None, None))
    pairs = [draw(sides) for _ in paths]
    return [
        FileChange(path=path, before=before, after=after, mode=0o644)
        for path, (before, after) in zip(paths, pairs, strict=True)
        if before != after
    ]


def written(some: Iterable[FileChange]) -> str:
    """Return the diff of some changes as `sessions diff` prints it."""
    writes = [
        RecordedWrite(
            path=change.path, call_id=str(number), has_before=True, before=change.before, has_after=True,
            after=change.after,
            change="create" if change.before is None else "delete" if change.after is None else "modify",
        )
        for number, change in enumerate(some)
    ]  # fmt: skip
    return "".join(f"{line}\n" for diff in session_file_diffs(writes) for line in git_diff_lines(diff))


def rows_of(hunk: Hunk, encoding: str) -> list[tuple[str, bytes]]:
    """Return the lines of a hunk; behind one without a line end unidiff keeps a row that says so."""
    rows: list[tuple[str, bytes]] = []
    for row in hunk:
        if row.line_type == "\\":
            sign, data = rows[-1]
            rows[-1] = sign, data.removesuffix(b"\n")
        else:
            rows.append((row.line_type, row.value.encode(encoding)))
    return rows


def applied(patched: PatchedFile, before: bytes | None, encoding: str = "utf-8") -> bytes:
    """Apply the hunks of a file strictly: each line that is kept or removed must be there."""
    old, new, position = split_lines(before), list[bytes](), 0
    for hunk in patched:
        start = hunk.source_start - (1 if hunk.source_length else 0)
        assert position <= start <= len(old)
        new += old[position:start]
        assert len(new) == hunk.target_start - (1 if hunk.target_length else 0)
        position = start
        for sign, data in rows_of(hunk, encoding):
            if sign in " -":
                assert old[position] == data
                position += 1
            if sign in " +":
                new.append(data)
    return b"".join(new + old[position:])


@settings(max_examples=200, deadline=None)
@given(changes())
def test_each_preview_parses_and_comes_to_the_same_bytes(some: list[FileChange]) -> None:
    patched = {file.path: file for file in PatchSet(written(some))}
    renamed = {file.source_file.removeprefix("a/") for file in patched.values() if file.is_rename}
    assert patched.keys() | renamed == {change.path for change in some}
    for change in some:
        file = patched.get(change.path)
        if file is None:
            assert change.path in renamed and change.after is None
        elif not file.is_rename:
            assert applied(file, change.before) == (change.after or b"")
            assert (file.source_file == "/dev/null") == (change.before is None)
            assert (file.target_file == "/dev/null") == (change.after is None)


def test_a_move_is_a_rename() -> None:
    image = FileImage(data=b"x\n", mode=0o644, size=2, links=1)
    changes = MoveFile().propose({"path": "src/a.py", "new_path": "b.py"}, {"src/a.py": image}.get)
    (file,) = PatchSet(written(changes))
    assert (file.is_rename, file.source_file, file.target_file) == (True, "a/src/a.py", "b/b.py")
    assert (len(file), make_hunks(changes)) == (0, ())


def test_a_deletion_has_the_whole_text() -> None:
    image = FileImage(data=b"x\ny", mode=0o644, size=3, links=1)
    (file,) = PatchSet(written(DeleteFile().propose({"path": "a.py"}, {"a.py": image}.get)))
    assert file.is_removed_file and file.removed == 2
    assert applied(file, b"x\ny") == b""


# --- what unidiff cannot read ------------------------------------------------------------------------


@pytest.mark.parametrize("path", ['a"b', "tab\tx", "line\nx", "back\\slash", "a\x1bb"])
def test_quoted_names_stay_quoted(path: str) -> None:
    """Git writes such names in quotes with escapes; unidiff takes the quotes for part of the name."""
    (file,) = PatchSet(written([FileChange(path=path, before=b"x\n", after=b"y\n", mode=0o644)]))
    assert file.target_file == quoted_path(f"b/{path}") != f"b/{path}"
    assert applied(file, b"x\n") == b"y\n"


@pytest.mark.parametrize(("before", "after"), [(b"a\n", b""), (b"", b"a\n")])
def test_an_empty_side_is_taken_for_no_file(before: bytes, after: bytes) -> None:
    """The names say that the file stays; unidiff goes by the numbers of the hunk."""
    (file,) = PatchSet(written([FileChange(path="a", before=before, after=after, mode=0o644)]))
    assert (file.source_file, file.target_file) == ("a/a", "b/a")
    assert file.is_removed_file or file.is_added_file
    assert applied(file, before) == after


def test_binary_files_have_no_bytes() -> None:
    (file,) = PatchSet(written([FileChange(path="a", before=b"\0x", after=b"\0y", mode=0o644)]))
    assert file.is_binary_file and len(file) == 0


def test_text_that_is_not_utf_8_is_read_as_it_is_shown() -> None:
    """A diff is text: of Latin-1 the bytes come back only to a reader that knows the encoding."""
    before, after = b"caf\xe9\n", b"caf\xe8\n"
    (file,) = PatchSet(written([FileChange(path="a", before=before, after=after, mode=0o644)]))
    assert applied(file, before, "latin-1") == after
