"""What is shown of a change, checked by eye-sized cases and by git as an oracle."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.changes.diff import (
    FileChange,
    changed_line_totals,
    decode_content,
    is_binary_content,
    is_shown_as_latin1,
    make_hunks,
)
from workbench.domain.values import Hunk

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


def change(before: bytes | None, after: bytes | None, path: str = "a.txt") -> FileChange:
    return FileChange(path=path, before=before, after=after, mode=0o644)


def numbered(first: int, last: int) -> bytes:
    return b"".join(b"line %d\n" % n for n in range(first, last + 1))


def hunk_of(index: int, path: str, ranges: tuple[int, int, int, int], *lines: str) -> Hunk:
    old_start, old_count, new_start, new_count = ranges
    return Hunk(
        index=index,
        path=path,
        old_start=old_start,
        old_count=old_count,
        new_start=new_start,
        new_count=new_count,
        lines=tuple((line[0], line[1:]) for line in lines),
    )


@pytest.mark.spec(208)
def test_hunks_are_numbered_over_all_files() -> None:
    old = numbered(1, 20)
    new = old.replace(b"line 2\n", b"line two\n").replace(b"line 18\n", b"line 18\nline 18.5\n")
    assert make_hunks(
        [change(old, new), change(None, b"hello\n", "new.txt"), change(b"x\n", None, "old.txt")]
    ) == (
        hunk_of(1, "a.txt", (1, 5, 1, 5), " line 1", "-line 2", "+line two", " line 3", " line 4", " line 5"),
        hunk_of(
            2,
            "a.txt",
            (16, 5, 16, 6),
            " line 16",
            " line 17",
            " line 18",
            "+line 18.5",
            " line 19",
            " line 20",
        ),
        hunk_of(3, "new.txt", (0, 0, 1, 1), "+hello"),
        hunk_of(4, "old.txt", (1, 1, 0, 0), "-x"),
    )


@pytest.mark.parametrize(("distance", "expected"), [(6, 1), (7, 2)])
def test_hunks_whose_context_touches_are_one(distance: int, expected: int) -> None:
    old = numbered(1, 30)
    new = old.replace(b"line 10\n", b"X\n").replace(b"line %d\n" % (11 + distance), b"Y\n")
    assert len(make_hunks([change(old, new)])) == expected


def test_context_is_a_choice() -> None:
    old = numbered(1, 9)
    assert make_hunks([change(old, old.replace(b"line 5\n", b""))], context=0) == (
        hunk_of(1, "a.txt", (5, 1, 4, 0), "-line 5"),
    )


@each_row(
    ("before", "after", "lines"),
    [
        (b"a", b"b", ["-a", "\\", "+b", "\\"]),
        (b"a", b"a\n", ["-a", "\\", "+a"]),
        (b"a\nb", b"c\nb", ["-a", "+c", " b", "\\"]),
        (b"a\r\n", b"a\n", ["-a\r", "+a"]),
        (b"a\rb\n", b"a\rc\n", ["-a\rb", "+a\rc"]),
        (b"\xef\xbb\xbfa\n", b"a\n", ["-\ufeffa", "+a"]),
        ("é\n".encode(), "è\n".encode(), ["-é", "+è"]),
        ("é\n".encode("latin-1"), "è\n".encode("latin-1"), ["-é", "+è"]),
        ("é\n".encode("latin-1"), "é\n".encode(), ["-é", "+Ã©"]),
        (b"a\x0bb\x0cc\x1cd\xc2\x85e\n", b"a\n", ["-a\x0bb\x0cc\x1cd\x85e", "+a"]),
        (None, b"\n", ["+"]),
        (b"", b"a\n", ["+a"]),
        (b"a\n", b"", ["-a"]),
    ],
)
def test_lines_are_shown_as_they_are(before: bytes | None, after: bytes | None, lines: list[str]) -> None:
    [hunk] = make_hunks([change(before, after)])
    assert [sign + text for sign, text in hunk.lines] == lines


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, b""), (b"", None), (b"a\n", b"a\n"), (b"\0", b"a\n"), (b"a\n", b"\0\n"), (None, b"\0")],
)
def test_without_lines_that_differ_there_are_no_hunks(before: bytes | None, after: bytes | None) -> None:
    assert make_hunks([change(before, after)]) == ()


def test_one_action_changes_a_file_once() -> None:
    with pytest.raises(ValueError, match=r"a\.txt is changed twice"):
        make_hunks([change(b"a\n", b"b\n"), change(b"a\n", b"c\n")])


def test_counts() -> None:
    assert changed_line_totals(
        make_hunks([change(b"a\nb\n", b"c\nb\nd\ne\n"), change(b"+\n", None, "b")])
    ) == (3, 2)


@each_row(
    ("data", "expected"),
    [
        (None, False),
        (b"", False),
        (b"plain\ttext\r\n\x0c", False),
        (b"a" * 8191 + b"\0", True),
        (b"a" * 8192 + b"\0", False),
        ("naïve café\n".encode("latin-1"), False),
        ("\x1b[1mgrün\x1b[0m\n".encode("latin-1"), False),
        (b"\xff\x01\x02\x03\x04" * 20, True),
        (b"\xff" * 95 + b"\x01" * 5, False),
        (b"\xff" * 94 + b"\x01" * 6, True),
        (b"\x01\x02\x03\x04" * 20, False),
        ("hello".encode("utf-16"), True),
    ],
)
def test_is_binary(data: bytes | None, expected: bool) -> None:
    assert is_binary_content(data) is expected


def test_decode_says_when_it_is_latin1() -> None:
    assert decode_content("é".encode()) == ("é", False)
    assert decode_content(b"\xe9") == ("é", True)
    assert is_shown_as_latin1(change(b"\xe9", b"e"))
    assert not is_shown_as_latin1(change(None, "é".encode()))


line = st.sampled_from([b"a", b"b", b"c\r", b"", b"\xe9", b"d\re", "ü".encode(), b"-- a", b"+b", b"\\ c"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(line, max_size=25))
    return b"\n".join(lines) + (b"\n" if draw(st.booleans()) else b"")


def printed(found: tuple[Hunk, ...], encoding: str) -> bytes:
    """Write hunks as a unified diff, the way git reads it."""
    out = b"--- a/a.txt\n+++ b/a.txt\n"
    for hunk in found:
        out += b"@@ -%d,%d +%d,%d @@\n" % (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count)
        for sign, text in hunk.lines:
            note = " No newline at end of file" if sign == "\\" else text
            out += (sign + note).encode(encoding) + b"\n"
    return out


@needs_git
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files(), files(), st.integers(1, 4))
def test_git_applies_what_is_shown(tmp_path: Path, before: bytes, after: bytes, context: int) -> None:
    # Not without context: git then takes the wrong one of two equal lines when the last has no line end.
    proposal = change(before, after)
    found = make_hunks([proposal], context)
    assert bool(found) == (before != after)
    if found:
        (tmp_path / "a.txt").write_bytes(before)
        patch = printed(found, "latin-1" if is_shown_as_latin1(proposal) else "utf-8")
        run_git(tmp_path, "apply", "--whitespace=nowarn", "-", stdin=patch)
        assert (tmp_path / "a.txt").read_bytes() == after


@needs_git
def test_headers_are_those_of_git(tmp_path: Path) -> None:
    old = numbered(1, 400)
    new = b"first\n" + old.replace(b"line 50\n", b"line fifty\n").replace(b"line 57\n", b"")
    new = new.replace(b"line 200\n", b"line 200\nadded\nadded too\n").removesuffix(b"\n")
    (tmp_path / "a.txt").write_bytes(old)
    (tmp_path / "b.txt").write_bytes(new)
    shown = run_git(tmp_path, "diff", "--no-index", "--no-color", "-U3", "a.txt", "b.txt", codes=(1,))
    headers = [piece.split(b" @@")[0] for piece in shown.split(b"\n@@ ")[1:]]
    assert headers == [header(hunk) for hunk in make_hunks([change(old, new)])]


def header(hunk: Hunk) -> bytes:
    def extent(start: int, count: int) -> str:
        return str(start) if count == 1 else f"{start},{count}"

    return f"-{extent(hunk.old_start, hunk.old_count)} +{extent(hunk.new_start, hunk.new_count)}".encode()


def run_git(folder: Path, *arguments: str, stdin: bytes = b"", codes: tuple[int, ...] = (0,)) -> bytes:
    environment = {
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    done = subprocess.run(
        [str(GIT), *arguments], cwd=folder, env=environment, input=stdin, capture_output=True, check=False
    )
    assert done.returncode in codes, done.stderr
    return done.stdout
