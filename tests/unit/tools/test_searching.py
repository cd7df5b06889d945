"""list_dir, file_search and grep_search: what is found, what is passed over, and that all of it is bounded."""

import itertools
import os
import re
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.support.waits import PATIENCE
from workbench.effects import folder_walk
from workbench.effects.files import Root
from workbench.policy.regex import LineFinder
from workbench.tools import file_search, grep_search
from workbench.tools.base import CallContext, ToolLimits, ToolRefused
from workbench.tools.file_search import FileSearch, compile_glob
from workbench.tools.grep_search import GrepSearch, matching_lines
from workbench.tools.list_directory import ListDir


@pytest.fixture
def tree(tmp_path):
    class Tree:
        path = tmp_path

        def write(self, **files):
            for name, content in files.items():
                self.put(name.replace("__", "/").replace("_dot_", "."), content)
            return self

        def put(self, name, content=""):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            return self

        def run(self, tool, limits=ToolLimits(), **parameters):  # noqa: B008 -- frozen
            more = {key: parameters.pop(key) for key in ("is_stopped", "is_closed") if key in parameters}
            with Root(tmp_path) as root:
                return tool.read(parameters, CallContext(root=root, limits=limits, **more))

        def files(self, pattern, **more):
            found = self.run(FileSearch(), pattern=pattern, **more)
            return [line for line in found.text.splitlines() if not line.startswith("[")]

        def grep(self, pattern, **more):
            found = self.run(GrepSearch(), pattern=pattern, **more)
            return [line for line in found.text.splitlines() if not line.startswith("[")]

    return Tree()


# --- list_dir ----------------------------------------------------------------------------------------


def test_a_folder_is_listed_with_folders_first_and_links_as_links(tree):
    tree.put("b.txt", "12345").put("a/x").put(".hidden")
    (tree.path / "l").symlink_to("/etc/passwd")
    os.mkfifo(tree.path / "pipe")
    found = tree.run(ListDir(), path=".")
    assert found.text.splitlines() == ["a/", ".hidden  0 B", "b.txt  5 B", "l@", "pipe|"]
    assert found.metadata == {"entries": 5, "truncated": False}


def test_a_listing_says_what_it_leaves_out(tree):
    for number in range(1003):
        tree.put(f"f{number:04}")
    found = tree.run(ListDir(), ToolLimits(tool_output_bytes=1_000_000), path=".")
    assert "3 of 1003 names are not shown" in found.text
    assert found.metadata["truncated"] is True
    small = tree.run(ListDir(), ToolLimits(tool_output_bytes=1000), path=".")
    assert len(small.text.encode()) <= 1000


@pytest.mark.parametrize(("path", "words"), [("none", "nothing of that name"), ("f", "not a folder")])
def test_what_is_no_folder_is_not_listed(tree, path, words):
    tree.put("f")
    with pytest.raises(ToolRefused, match=words):
        tree.run(ListDir(), path=path)


def test_an_empty_folder_is_said_to_be_empty(tree):
    (tree.path / "e").mkdir()
    assert tree.run(ListDir(), path="e").text == "[e is empty]"


# --- globs -------------------------------------------------------------------------------------------


@each_row(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/b.py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("src/**", ["src/a", "src/x/y"], ["a"]),
        ("src/", ["src/a", "src/x/y"], ["src"]),
        ("**/test_?.py", ["test_1.py", "a/test_x.py"], ["test_10.py"]),
        ("*.{ts,tsx}", ["a.ts", "x/b.tsx"], ["a.tsxx"]),
        ("[ab].c", ["a.c", "x/b.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("./a", ["a"], ["b/c"]),
        ("a+(b)", ["a+(b)"], ["aab"]),
        ("a b", ["a b", "x/a b"], ["ab"]),
        ("*", ["a", ".hidden", "x/y"], []),
        ("[", ["["], ["a"]),
        ("{a", ["{a"], ["a"]),
        ("é*", ["été/é1"], ["e"]),
    ],
)
def test_globs_mean_what_users_expect(glob, yes, no):
    wanted = compile_glob(glob)
    assert [path for path in yes if not wanted.is_in(path)] == []
    assert [path for path in no if wanted.is_in(path)] == []


@pytest.mark.parametrize("glob", ["../x", "/etc/*", "a/../../b"])
def test_a_glob_that_leads_out_is_refused(tree, glob):
    with pytest.raises(ToolRefused, match="leads out of the workspace"):
        tree.files(glob)


@given(st.text(max_size=40))
def test_no_glob_crashes(glob):
    try:
        compile_glob(glob or "x").is_in("a/b")
    except ToolRefused as error:
        assert "Not searched" in str(error)


# --- what searches pass over -----------------------------------------------------------------------


def test_ignored_files_are_passed_over_as_git_does(tree):
    tree.put(".gitignore", "*.log\n!keep.log\nbuild/\n/top\n").put("a.log").put("keep.log").put("top")
    tree.put("sub/top").put("build/x").put("sub/build/y").put("sub/.gitignore", "!a.log\nlocal\n")
    tree.put("sub/a.log").put("sub/local").put("local").put(".git/config").put(
        ".git/info/exclude", "secret*\n"
    )
    tree.put("secret1")
    assert tree.files("*") == [".gitignore", "keep.log", "local", "sub/.gitignore", "sub/a.log", "sub/top"]
    everything = tree.files("*", include_ignored=True)
    assert "build/x" in everything and not [path for path in everything if path.startswith(".git/")]


def test_a_hostile_ignore_file_holds_nothing_up(tree):
    tree.put(".gitignore", "*a" * 60 + "b\n[z-a]\n\\\n*.log\n" + "# " + "x" * 1000 + "\n")
    tree.put("a" * 200).put("x.log")
    begun = time.monotonic()
    assert tree.files("*") == [".gitignore", "a" * 200]
    assert time.monotonic() - begun < PATIENCE


def test_files_that_may_not_be_read_are_not_found_either(tree):
    tree.put(".env", "KEY=1\n").put("a", "KEY=2\n")
    closed = {"is_closed": lambda path: path == ".env"}
    assert tree.files("*", **closed) == ["a"]
    assert tree.grep("KEY", **closed) == ["a:1:KEY=2"]


@pytest.mark.spec(66)
def test_no_search_follows_a_link(tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("needle\n")
    tree.put("a", "needle\n")
    (tree.path / "link").symlink_to(outside / "secret")
    (tree.path / "folder").symlink_to(outside)
    (tree.path / "self").symlink_to(".")
    os.mkfifo(tree.path / "pipe")
    assert tree.grep("needle") == ["a:1:needle"]
    assert tree.files("*") == ["a"]


def test_a_file_that_becomes_a_link_while_it_is_searched_is_not_followed(tree, tmp_path_factory, monkeypatch):
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("needle\n")
    tree.put("a", "x\n").put("d/b", "x\n")
    listed = folder_walk._list_folder

    def swapping(here, path):
        found = listed(here, path)
        for name in list(found.files):
            os.unlink(name, dir_fd=here)
            os.symlink(outside, name, dir_fd=here)
        return found

    monkeypatch.setattr(folder_walk, "_list_folder", swapping)
    found = tree.run(GrepSearch(), pattern="needle")
    assert found.metadata["matches"] == 0
    assert "not readable: a, d/b" in found.text


def test_a_folder_that_becomes_a_link_is_not_entered(tree, tmp_path_factory, monkeypatch):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "f").write_text("needle\n")
    tree.put("d/f", "x\n")
    listed = folder_walk._list_folder

    def swapping(here, path):
        found = listed(here, path)
        if path == "":
            os.rename("d", "old", src_dir_fd=here, dst_dir_fd=here)
            os.symlink(outside, "d", dir_fd=here)
        return found

    monkeypatch.setattr(folder_walk, "_list_folder", swapping)
    assert tree.grep("needle") == []


def test_too_deep_is_said(tree, monkeypatch):
    monkeypatch.setattr(folder_walk, "DEEPEST", 3)
    tree.put("a/b/c/d", "needle")
    found = tree.run(GrepSearch(), pattern="needle")
    assert (found.metadata["matches"], "too deep" in found.text) == (0, True)


def test_too_many_names_in_a_folder_are_said(tree, monkeypatch):
    monkeypatch.setattr(folder_walk, "MOST_NAMES", 5)
    for number in range(9):
        tree.put(f"f{number}")
    found = tree.run(FileSearch(), pattern="*")
    assert (found.metadata["files"], "too large" in found.text) == (5, True)


def test_a_search_that_is_stopped_ends_early_and_says_so(tree):
    tree.put("a", "needle\n")
    found = tree.run(GrepSearch(), pattern="needle", is_stopped=lambda: True)
    assert "ended early: it was stopped" in found.text


def test_more_than_a_thousand_files_are_cut(tree):
    for number in range(1100):
        tree.put(f"d{number // 100}/f{number}")
    found = tree.run(FileSearch(), ToolLimits(tool_output_bytes=100_000), pattern="f*")
    assert "more than 1000 files match" in found.text
    assert found.metadata["truncated"] is True


# --- grep_search -----------------------------------------------------------------------------------


def test_lines_are_found_with_their_numbers(tree):
    tree.put("a/b.py", "one\ntwo\nthree two\n").put("c.txt", "two")
    assert tree.grep("two") == ["c.txt:1:two", "a/b.py:2:two", "a/b.py:3:three two"]
    assert tree.grep("two", include="*.py") == ["a/b.py:2:two", "a/b.py:3:three two"]
    assert tree.grep("TWO") == []
    assert tree.grep("TWO", ignore_case=True, include="c.txt") == ["c.txt:1:two"]
    assert tree.grep("t.o", is_regex=True, include="c*") == ["c.txt:1:two"]
    assert tree.grep("t.o") == []
    assert tree.grep("^two$", is_regex=True) == ["c.txt:1:two", "a/b.py:2:two"]


def test_lines_around_a_match_are_shown_as_grep_does(tree):
    tree.put("f", "".join(f"{n}\n" for n in range(1, 21)))
    assert tree.grep("^(3|5|12)$", is_regex=True, context_lines=1) == [
        "f-2-2", "f:3:3", "f-4-4", "f:5:5", "f-6-6", "--", "f-11-11", "f:12:12", "f-13-13",
    ]  # fmt: skip


def test_a_match_does_not_go_over_the_end_of_a_line(tree):
    tree.put("f", "a\nb\nab\n")
    assert tree.grep(r"a\s*b", is_regex=True) == ["f:3:ab"]
    assert tree.grep(r"[^x]b", is_regex=True) == ["f:3:ab"]
    tree.put("g", "end\r\nmore\r\n")
    assert tree.grep("end$", is_regex=True) == ["g:1:end"]


@pytest.mark.spec(221)
@pytest.mark.parametrize("pattern", ["(", "a(?=b)", r"(a)\1", "a{2000}{2000}", "[z-a]", "x" * 3000])
def test_a_pattern_that_is_none_is_a_named_error(tree, pattern):
    with pytest.raises(ToolRefused, match="cannot be used as a regular expression"):
        tree.grep(pattern, is_regex=True)


@pytest.mark.spec(221)
def test_a_runaway_pattern_does_not_run_away(tree):
    tree.put("f", "a" * 200_000 + "\n")
    begun = time.monotonic()
    assert tree.grep("(a*)*b|(a|aa)+$x", is_regex=True) == []
    assert time.monotonic() - begun < PATIENCE


@pytest.mark.spec(221)
@pytest.mark.parametrize(("module", "tool"), [(grep_search, GrepSearch()), (file_search, FileSearch())])
def test_a_search_beyond_its_time_ends_and_says_so(tree, monkeypatch, module, tool):
    tree.put("f", "x\n").put("g", "x\n")
    monkeypatch.setattr(module, "MAX_SEARCH_SECONDS", -1.0)
    found = tree.run(tool, pattern="x" if module is grep_search else "*")
    assert found.metadata["truncated"] is True
    assert "the search ended early: it took longer than" in found.text
    monkeypatch.undo()
    assert tree.run(tool, pattern="x" if module is grep_search else "*").metadata["truncated"] is False


@pytest.mark.spec(221)
def test_a_search_that_is_stopped_ends_and_says_so(tree):
    tree.put("f", "x\n")
    for tool, pattern in ((GrepSearch(), "x"), (FileSearch(), "*")):
        found = tree.run(tool, pattern=pattern, is_stopped=lambda: True)
        assert "the search ended early: it was stopped" in found.text


@pytest.mark.spec(221)
def test_a_search_in_one_large_file_can_be_stopped_between_its_parts(tree, monkeypatch):
    monkeypatch.setattr(grep_search, "BLOCK_BYTES", 4096)
    tree.put("f", "x\n" * 100_000)
    asked = itertools.count()
    found = tree.run(GrepSearch(), pattern="x", max_results=100_000, is_stopped=lambda: next(asked) > 0)
    assert "the search ended early: it was stopped" in found.text
    assert 0 < found.metadata["matches"] <= 4096 // 2


def test_results_are_bounded_and_say_so(tree):
    tree.put("f", "x\n" * 5000)
    found = tree.run(GrepSearch(), ToolLimits(tool_output_bytes=100_000), pattern="x", max_results=7)
    assert (found.metadata["matches"], found.metadata["truncated"]) == (7, True)
    assert "more than 7 matches" in found.text
    small = tree.run(GrepSearch(), ToolLimits(tool_output_bytes=1000), pattern="x", max_results=1000)
    assert len(small.text.encode()) <= 1000
    assert "more lines are not shown" in small.text


def test_binary_files_are_passed_over_and_counted_and_broken_text_is_not(tree):
    tree.put("b", b"\0needle\n").put("l", b"caf\xe9 needle\n").put("u", "\ufeffneedle")
    found = tree.run(GrepSearch(), pattern="needle")
    assert "l:1:caf\ufffd needle" in found.text
    assert "1 binary files were passed over" in found.text
    assert found.metadata["files"] == 2


@pytest.mark.spec(220)
def test_a_line_without_end_costs_no_memory_and_is_found_across_blocks(tree):
    size = grep_search.BLOCK_BYTES
    tree.put("f", b"first\n" + b"." * (size - 3) + b"needle" + b"." * (6 * size) + b"needle\nlast needle")
    tracemalloc.start()
    found = tree.grep("needle")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [line[:4] for line in found] == ["f:2:", "f:3:"]
    assert "needle" in found[0] and len(found[0]) < 400
    assert peak < 8 * size


@pytest.mark.spec(220)
def test_a_large_file_is_searched_as_a_stream(tree):
    with (tree.path / "big").open("wb") as file:
        for number in range(40):
            file.write(b"filler line of text\n" * 50_000 + b"needle %d\n" % number)
    tracemalloc.start()
    found = tree.grep("needle")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0] == "big:50001:needle 0"
    assert len(found) == 40
    assert peak < 4_000_000


def test_nothing_found_is_said(tree):
    tree.put("f", "x")
    found = tree.run(GrepSearch(), pattern="needle")
    assert found.text == "[no line matches]"
    assert tree.run(FileSearch(), pattern="zzz").text == "[no file matches]"


class _Bytes:
    """A file that gives a few bytes at a time."""

    def __init__(self, data, step):
        self.data, self.step, self.at = data, step, 0

    def read(self, size):
        part = self.data[self.at : self.at + min(size, self.step)]
        self.at += len(part)
        return part


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "", "ba\r", "é"]), max_size=30),
    st.integers(0, 4),
    st.integers(1, 50),
    st.sampled_from(["a", "b$", "^", "^a", "ab|é"]),
    st.booleans(),
)
def test_lines_and_what_is_around_them_are_what_a_simple_search_finds(
    given_lines, around, step, pattern, ends
):
    """An oracle of a few lines: every line alone, then the neighbours of those that match."""
    text = "\n".join(given_lines) + ("\n" if ends else "")
    parts = text.split("\n")
    if parts and parts[-1] == "":
        parts.pop()
    hits = {n for n, line in enumerate(parts, 1) if re.search(pattern, line.removesuffix("\r"))}
    near = {n for hit in hits for n in range(hit - around, hit + around + 1) if 1 <= n <= len(parts)}
    wanted = LineFinder(pattern, is_literal=False, ignore_case=False)
    found = [line for line in matching_lines(_Bytes(text.encode(), step), wanted, around) if line is not None]
    assert [(line.number, line.is_match) for line in found] == [(n, n in hits) for n in sorted(near)]
    assert [line.text for line in found] == [parts[n - 1].rstrip("\r") for n in sorted(near)]
