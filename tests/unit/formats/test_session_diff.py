"""What a session changed as one diff: git itself says whether it holds, also where only hunks were recorded."""

import os
import subprocess
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.changes.diff import FileChange, make_hunks
from workbench.formats.git_diff import diff_stat_lines, git_diff_lines, quoted_path
from workbench.formats.session_diff import (
    BINARY,
    CONTENT_LOST,
    HUNKS_CUT,
    MOVED_BETWEEN,
    NOT_PLACED,
    RecordedWrite,
    is_quoted_edit,
    session_file_diffs,
)


def git(folder, *words, feed=b""):
    hidden = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_DIR": os.devnull,
    }
    return subprocess.run(
        ["git", *words], cwd=folder, input=feed, env=hidden, capture_output=True, check=False
    )


def applied(folder, before, diffs, **more):
    """Let git apply diffs to files and return what is there then."""
    for name, data in before.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    text = "".join(f"{line}\n" for diff in diffs for line in git_diff_lines(diff, **more))
    encoded = text.encode(diffs[0].encoding if diffs else "utf-8")
    for words in (["apply", "--check"], ["apply"]):
        done = git(folder, *words, feed=encoded)
        assert done.returncode == 0, (done.stderr.decode(), text)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def exact(path, before, after, *, call="c", mode=0o644, **more):
    change = "create" if before is None else "delete" if after is None else "modify"
    return RecordedWrite(
        path=path, change=change, call_id=call, has_before=True, before=before, has_after=True, after=after,
        mode=mode, **more,
    )  # fmt: skip


def hunked(path, before, after, *, call="c", is_placed=True):
    """Return a change of which only the hunks are recorded."""
    change = "create" if before is None else "delete" if after is None else "modify"
    hunks = make_hunks([FileChange(path=path, before=before, after=after, mode=0o644)])
    return RecordedWrite(path=path, change=change, call_id=call, hunks=hunks, is_placed=is_placed)


def quoted(path, old, new):
    return hunked(path, old, new, is_placed=False)


FILE = b"".join(b"line %d\n" % number for number in range(1, 41))


def test_first_before_and_last_after_are_one_diff(tmp_path):
    middle, last = FILE.replace(b"line 3\n", b"three\n"), FILE.replace(b"line 30\n", b"thirty\n")
    (diff,) = session_file_diffs([exact("a.txt", FILE, middle), exact("a.txt", middle, last)])
    assert (diff.change, diff.added, diff.removed, diff.notes, diff.can_apply) == ("modify", 1, 1, (), True)
    assert applied(tmp_path, {"a.txt": FILE}, [diff]) == {"a.txt": last}


def test_created_deleted_and_undone_files(tmp_path):
    writes = [
        exact("new/deep.txt", None, b"one\ntwo"), exact("gone.txt", b"bye\n", None), exact("tool.sh", None, b"#!/bin/sh\n", mode=0o755),
        exact("brief.txt", None, b"x\n"), exact("brief.txt", b"x\n", None), exact("back.txt", b"a\n", b"b\n"), exact("back.txt", b"b\n", b"a\n"),
    ]  # fmt: skip
    diffs = session_file_diffs(writes)
    assert {diff.path: diff.change for diff in diffs} == {
        "gone.txt": "delete",
        "new/deep.txt": "create",
        "tool.sh": "create",
    }
    there = applied(tmp_path, {"gone.txt": b"bye\n"}, diffs)
    assert there == {"new/deep.txt": b"one\ntwo", "tool.sh": b"#!/bin/sh\n"}
    assert os.access(tmp_path / "tool.sh", os.X_OK)


def test_a_file_that_came_as_another_went_was_renamed(tmp_path):
    diffs = session_file_diffs([exact("new name.txt", None, FILE), exact("old.txt", FILE, None)])
    assert [(diff.change, diff.old_path, diff.path) for diff in diffs] == [
        ("rename", "old.txt", "new name.txt")
    ]
    assert applied(tmp_path, {"old.txt": FILE}, diffs) == {"new name.txt": FILE}


def test_line_ends_encodings_and_the_missing_last_newline(tmp_path):
    for number, (before, after) in enumerate([
        (b"a\r\nb\r\n", b"a\r\nc\r\n"), (b"a\nb", b"a\nb\n"), (b"a\n", b"a"), (b"caf\xe9\nx\n", b"caf\xe9\ny\n"),
        ("ä\u202eb\n".encode(), "ä\u202ec\x1b[31m\n".encode()),
    ]):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        assert applied(folder, {"f": before}, session_file_diffs([exact("f", before, after)])) == {"f": after}


def test_binary_files_are_named_and_written_where_that_is_wanted(tmp_path):
    before, after = bytes(range(256)) * 9, bytes(reversed(range(256))) * 11
    diffs = session_file_diffs(
        [exact("i.png", before, after), exact("n.png", None, before), exact("o.png", after, None)]
    )
    assert all(BINARY in diff.notes for diff in diffs)
    assert "Binary files a/i.png and b/i.png differ" in list(git_diff_lines(diffs[0]))
    assert applied(tmp_path, {"i.png": before, "o.png": after}, diffs, has_binary=True) == {
        "i.png": after,
        "n.png": before,
    }


def test_names_that_end_lines_or_hide_are_quoted(tmp_path):
    names = ["a b.txt", "tab\there.txt", 'quo"te.txt', "back\\slash", "ünï.txt", "line\nend", "bi\u202edi"]
    diffs = session_file_diffs([exact(name, None, b"x\n") for name in names])
    assert applied(tmp_path, {}, diffs) == dict.fromkeys(names, b"x\n")
    assert quoted_path("a\nb") == '"a\\nb"'


@st.composite
def histories(draw):
    lines = draw(st.lists(st.sampled_from(["a", "b", "c", "dd", ""]), min_size=8, max_size=40))
    states = [lines]
    for _ in range(draw(st.integers(1, 5))):
        lines = list(states[-1])
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(lines)))
            removed = draw(st.integers(0, 3))
            lines[at : at + removed] = draw(st.lists(st.sampled_from(["a", "new", "more", ""]), max_size=4))
        states.append(lines)
    return ["".join(f"{line}\n" for line in state).encode() for state in states]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(histories())
def test_chained_hunks_come_to_what_all_of_them_made(tmp_path_factory, states):
    writes = [hunked("f", before, after) for before, after in pairwise(states) if before != after]
    diffs = session_file_diffs(writes)
    assert all(not diff.notes for diff in diffs)
    folder = tmp_path_factory.mktemp("chain")
    # Files whose beginning or end nobody showed may have lines there that git does not ask for.
    after = applied(folder, {"f": states[0]}, diffs) if diffs else {"f": states[0]}
    assert after == {"f": states[-1]} if states[-1] else after in ({}, {"f": b""})


def test_quoted_edits_find_their_place_in_a_file_that_the_session_made(tmp_path):
    writes = [
        hunked("f", None, FILE),
        quoted("f", b"line 7\n", b"seven\n7b\n"),
        quoted("f", b"7b\nline 8\n", b"eight\n"),
    ]
    (diff,) = session_file_diffs(writes)
    wanted = FILE.replace(b"line 7\nline 8\n", b"seven\neight\n")
    assert diff.notes == () and applied(tmp_path, {}, [diff]) == {"f": wanted}


def test_quoted_edits_of_a_file_that_was_there_stand_for_themselves_and_say_so():
    writes = [
        quoted("f", b"alpha\n", b"beta\n"),
        quoted("f", b"other\n", b"thing\n"),
        quoted("f", b"beta\n", b"gamma\n"),
    ]
    (diff,) = session_file_diffs(writes)
    assert diff.notes == (NOT_PLACED,) and not diff.can_apply
    rows = [row for hunk in diff.hunks for row in hunk.lines]
    # What was changed twice is told once, from first to last.
    assert rows == [("-", "alpha"), ("+", "gamma"), ("-", "other"), ("+", "thing")]
    assert next(git_diff_lines(diff)) == f"# f: {NOT_PLACED}"


def test_a_hunk_that_contradicts_what_is_known_is_not_laid_upon_it():
    other = b"x\n" * 2 + FILE
    writes = [
        hunked("f", FILE, FILE.replace(b"line 9\n", b"nine\n")),
        hunked("f", other, other.replace(b"line 9\n", b"9\n")),
    ]
    (diff,) = session_file_diffs(writes)
    assert not diff.can_apply and NOT_PLACED in diff.notes


def test_a_file_that_another_program_moved_is_followed(tmp_path):
    changed = FILE.replace(b"line 5\n", b"five\n")
    hunks = hunked("new.py", FILE, changed).hunks
    writes = [
        RecordedWrite(path="old.py", change="delete", call_id="m"),
        RecordedWrite(path="new.py", change="create", call_id="m", hunks=hunks),
    ]
    (diff,) = session_file_diffs(writes)
    assert (diff.change, diff.old_path) == ("rename", "old.py")
    assert applied(tmp_path, {"old.py": FILE}, [diff]) == {"new.py": changed}


def test_what_is_not_recorded_is_said():
    cut = make_hunks([FileChange(path="f", before=FILE, after=b"", mode=0o644)])[0]
    kept = RecordedWrite(path="f", change="modify", hunks=(type(cut)(**{name: getattr(cut, name) for name in cut.__struct_fields__ if name != "lines"}, lines=cut.lines[:5]),))  # fmt: skip
    lost = RecordedWrite(path="g", change="delete")
    between = [exact("h", b"a\n", b"b\n"), exact("h", b"c\n", b"d\n", is_continued=False)]
    notes = {diff.path: diff.notes for diff in session_file_diffs([kept, lost, *between])}
    assert HUNKS_CUT in notes["f"] and notes["g"] == (CONTENT_LOST,) and notes["h"] == (MOVED_BETWEEN,)


@pytest.mark.parametrize(
    ("arguments", "is_quoted"),
    [
        ({"file_path": "f", "old_string": "alpha", "new_string": "beta"}, True),
        ({"file_path": "f", "old_string": "other", "new_string": "beta"}, False),
        ({"file_path": "f"}, False),
    ],
)
def test_hunks_of_quotes_are_told_from_hunks_of_files(arguments, is_quoted):
    assert is_quoted_edit("Edit", arguments, quoted("f", b"alpha\n", b"beta\n").hunks) is is_quoted


def test_the_bars_of_stat_fit_the_width():
    diffs = session_file_diffs(
        [exact(f"folder/{'x' * 70}/{number}", None, b"l\n" * 300 * number) for number in (1, 9)]
    )
    lines = list(diff_stat_lines(diffs, 80))
    assert all(len(line) <= 80 for line in lines)
    assert lines[-1] == " 2 files changed, 3,000 lines added, 0 removed"
