"""What patches say: names, strip levels, kinds of changes, hunks that no longer fit, and what is refused."""

from collections.abc import Mapping

import pytest

from tests.support.tables import each_row
from workbench.changes.unified_diff import FoundStrip, PatchUnusable, all_paths, find_strip, patched_changes
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import FileImage
from workbench.formats.unified_diff_reader import (
    MAX_DIFF_BYTES,
    MAX_DIFF_FILES,
    PatchBroken,
    looks_like_patch,
    read_unified_diff,
)

OLD = b"".join(b"line %d\n" % number for number in range(1, 21))


def images(tree: Mapping[str, bytes]):
    found = {path: FileImage(data=data, mode=0o640, size=len(data), links=1) for path, data in tree.items()}
    return found.get


def changed(patch: str | bytes, tree: Mapping[str, bytes], strip: int = 1) -> dict[str, bytes | None]:
    """Return what a patch makes of files, by their paths."""
    data = patch.encode() if isinstance(patch, str) else patch
    return {
        change.path: change.after for change in patched_changes(read_unified_diff(data), strip, images(tree))
    }


def refusal(patch: str | bytes, tree: Mapping[str, bytes], strip: int = 1) -> str:
    try:
        changed(patch, tree, strip)
    except (PatchUnusable, PatchBroken) as error:
        return str(error)
    return ""


def edit(name: str = "a", body: str = "-x\n+y\n", old: str = "1", new: str = "1") -> str:
    return f"--- a/{name}\n+++ b/{name}\n@@ -{old} +{new} @@\n{body}"


def git(name: str, *fields: str, body: str = "") -> str:
    return "".join(f"{line}\n" for line in (f"diff --git a/{name} b/{name}", *fields)) + body


# --- what is applied ---------------------------------------------------------------------------------


CREATE = git("n", "new file mode 100644", "--- /dev/null", "+++ b/n", body="@@ -0,0 +1 @@\n+new\n")
DELETE = git("a", "deleted file mode 100644", "--- a/a", "+++ /dev/null", body="@@ -1 +0,0 @@\n-x\n")
MOVED = "diff --git a/a b/d/b\nrename from a\nrename to d/b\n"
MIXED = f"{MOVED}--- a/a\n+++ b/d/b\n@@ -1 +1 @@\n-x\n+y\n"
COPIED = "diff --git a/a b/b\nsimilarity index 100%\ncopy from a\ncopy to b\n"


@each_row("patch, tree, wanted", [
        (edit(), {"a": b"x\n"}, {"a": b"y\n"}),
        (CREATE, {}, {"n": b"new\n"}),
        (git("n", "new file mode 100644", "index 0000000..e69de29"), {}, {"n": b""}),
        (DELETE, {"a": b"x\n"}, {"a": None}),
        (git("a", "deleted file mode 100644", "index e69de29..0000000"), {"a": b""}, {"a": None}),
        (MOVED, {"a": b"x\n"}, {"d/b": b"x\n", "a": None}),
        (MIXED, {"a": b"x\n"}, {"d/b": b"y\n", "a": None}),
        (COPIED, {"a": b"x\n"}, {"b": b"x\n"}),
        (DELETE + CREATE.replace("b/n", "b/a").replace("a/n", "a/a"), {"a": b"x\n"}, {"a": b"new\n"}),
        (edit() + edit(body="-y\n+z\n"), {"a": b"x\n"}, {"a": b"z\n"}),
        (MOVED + edit("e"), {"a": b"x\n", "e": b"x\n"}, {"d/b": b"x\n", "a": None, "e": b"y\n"}),
        (MOVED + edit("d/b"), {"a": b"x\n"}, {"d/b": b"y\n", "a": None}),
        (edit(body="-x\n\\ No newline at end of file\n+y\n"), {"a": b"x"}, {"a": b"y\n"}),
        (edit(body="-x\n+y\n\\ Kein Zeilenumbruch\n"), {"a": b"x\n"}, {"a": b"y"}),
        (edit(body="-x\r\n+y\r\n"), {"a": b"x\r\n"}, {"a": b"y\r\n"}),
        (edit(body="-x\n+y"), {"a": b"x\n"}, {"a": b"y\n"}),
        ("\ufeff" + edit(), {"a": b"x\n"}, {"a": b"y\n"}),
        (edit().encode().replace(b"y", b"\xe9"), {"a": b"x\n"}, {"a": b"\xe9\n"}),
        ("From x\n\nWords.\n---\n a | 2 +-\n\n" + edit() + "-- \n2.39\n", {"a": b"x\n"}, {"a": b"y\n"}),
])  # fmt: skip
def test_each_kind_of_change_is_made(patch, tree, wanted):
    assert changed(patch, tree) == wanted


def test_a_plain_move_is_one_and_an_edited_one_shows_all_its_lines():
    move = "diff --git a/a b/b\nrename from a\nrename to b\n"
    (target, source) = patched_changes(read_unified_diff(move.encode()), 1, images({"a": b"x\n"}))
    assert (target.path, target.moved_from, target.mode) == ("b", "a", 0o640)
    assert (source.path, source.after) == ("a", None)
    mixed = read_unified_diff(f"{move}--- a/a\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n".encode())
    assert [change.moved_from for change in patched_changes(mixed, 1, images({"a": b"x\n"}))] == [None, None]


def test_files_of_gnu_diff_are_made_and_deleted_by_the_time_behind_their_names():
    epoch, later = "1970-01-01 01:00:00.000000000 +0100", "2026-01-01 00:00:00.000000000 +0100"
    made = f"--- a/n\t{epoch}\n+++ b/n\t{later}\n@@ -0,0 +1 @@\n+x\n"
    gone = f"--- a/n\t{later}\n+++ b/n\t{epoch}\n@@ -1 +0,0 @@\n-x\n"
    emptied = f"--- a/n\t{later}\n+++ b/n\t{later}\n@@ -1 +0,0 @@\n-x\n"
    assert changed(made, {}) == {"n": b"x\n"}
    assert changed(made.replace(epoch, later), {}) == {"n": b"x\n"}
    assert changed(gone, {"n": b"x\n"}) == {"n": None}
    assert changed(emptied, {"n": b"x\n"}) == {"n": b""}


def test_a_program_stays_one_and_no_other_bit_is_taken():
    patch = git("n", "new file mode 100755", body="--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n")
    assert patched_changes(read_unified_diff(patch.encode()), 1, images({}))[0].mode == 0o755
    assert "mode 104755 is not one of" in refusal(patch.replace("100755", "104755"), {})


def test_hunks_are_found_where_their_lines_went():
    body = " line 9\n-line 10\n+TEN\n line 11\n"
    patch = edit(body=body, old="9,3", new="9,3")
    for base in (OLD, b"more\n" * 5 + OLD, OLD.replace(b"line 1\nline 2\n", b"")):
        assert changed(patch, {"a": base}) == {"a": base.replace(b"line 10\n", b"TEN\n")}
    twice = b"line 9\nline 10\nline 11\n"
    base = twice + b"other\n" * 9 + twice
    assert changed(patch, {"a": base})["a"] == twice + b"other\n" * 9 + twice.replace(b"line 10", b"TEN")


# --- names ----------------------------------------------------------------------------------------------


@each_row("head, name", [
        ('--- "a/q\\"uote"\n+++ "b/q\\"uote"\n', 'q"uote'),
        ('--- "a/\\303\\274 \\\\ x"\n+++ "b/\\303\\274 \\\\ x"\n', "ü \\ x"),
        ("--- a/c d\t\n+++ b/c d\t\n", "c d"),
        ("--- a/c d\t2026-01-01 00:00:00 +0000\n+++ b/c d\t2026-01-01 00:00:00 +0000\n", "c d"),
        ("--- a/x.orig\n+++ a/x\n", "x"),
        ("--- a/x\n+++ a/x.new\n", "x"),
        ("--- a//d///x\n+++ b/d/x\n", "d/x"),
])  # fmt: skip
def test_names_are_read_as_git_and_diff_write_them(head, name):
    assert list(changed(f"{head}@@ -0,0 +1 @@\n+x\n", {})) == [name]


@each_row("head, name", [
        ("diff --git a/c d b/c d\n", "c d"),
        ("diff --git a/x b/x b/x b/x\n", "x b/x"),
        ('diff --git "a/\\303\\274" "b/\\303\\274"\n', "ü"),
        ("diff --git i/x w/x\n", "x"),
])  # fmt: skip
def test_names_in_the_first_line_of_git_alone_are_told_apart(head, name):
    assert list(changed(f"{head}new file mode 100644\n", {})) == [name]


def test_two_names_in_the_first_line_of_git_alone_are_refused():
    assert "cannot be told apart" in refusal("diff --git a/x b/y\nnew file mode 100644\n", {})


def test_hostile_names_are_refused():
    for name in ("a/../../x", "a/../x", "a/d/../../x", "a/./x", "/etc/passwd"):
        assert "not a p" in refusal(f"--- {name}\n+++ {name}\n@@ -0,0 +1 @@\n+x\n", {}), name
    for name in ("../x", "d/../../x", "/x"):
        assert "not a p" in refusal(f"diff --git a/a b/b\nrename from a\nrename to {name}\n", {"a": b""}), (
            name
        )
    assert "two files, without a rename" in refusal(
        git("x", "--- a/x", "+++ b/y", body="@@ -0,0 +1 @@\n+x\n"), {}
    )
    assert "not UTF-8" in refusal(b'--- "a/\\377"\n+++ "b/\\377"\n@@ -0,0 +1 @@\n+x\n', {})


# --- strip levels ---------------------------------------------------------------------------------------


def found(patch: str, *paths: str) -> FoundStrip:
    return find_strip(read_unified_diff(patch.encode()), images(dict.fromkeys(paths, b"x\n")))


PLAIN = "--- src/x\n+++ src/x\n@@ -1 +1 @@\n-x\n+y\n"
CREATED = git("x", "new file mode 100644")


@each_row("case, levels", [
        ((edit("x"), "x"), (1,)),
        ((edit("x"), "b/x", "x"), (0, 1)),
        ((PLAIN, "src/x"), (0,)),
        ((PLAIN, "x"), (1,)),
        ((PLAIN, "x", "src/x"), (0, 1)),
        ((git("x", body=edit("x")), "b/x", "x"), (1,)),
        ((CREATED,), (1,)),
        (("--- /dev/null\n+++ src/x\n@@ -0,0 +1 @@\n+x\n",), (0, 1)),
        (("diff --git src/x src/x\nnew file mode 100644\n",), (0, 1)),
        (("diff --git x x\nnew file mode 100644\n",), (0,)),
])  # fmt: skip
def test_the_strip_level_is_the_one_that_fits(case, levels):
    assert found(*case).fitting == levels


def test_where_no_level_fits_the_better_one_says_why():
    assert found(edit("x"), "y").problems == ("x: it does not exist (line 1 of the patch)",)
    assert "without a rename" not in "".join(found(git("x", body=edit("x")), "y").problems)
    wrong = found("--- src/x\n+++ src/x\n@@ -1 +1 @@\n-was\n+y\n", "src/x").problems
    assert wrong == (
        "src/x: hunk 1 (line 3 of the patch) does not fit: line 1 is “x” now, the patch has “was”",
    )


# --- what is refused --------------------------------------------------------------------------------------


MIDDLE = edit(body=" line 9\n-line 10\n+TEN\n line 11\n", old="9,3", new="9,3")
LAST = edit(body=" line 19\n-line 20\n+TWENTY\n", old="19,2", new="19,2")
FIRST = edit(body="-line 1\n+ONE\n line 2\n", old="1,2", new="1,2")


@each_row("case, wanted", [
        ((MIDDLE, OLD.replace(b"10", b"ten")), "line 10 is “line ten” now, the patch has “line 10”"),
        ((MIDDLE, b"line 1\n"), "the patch has “line 9” at line 9, where the file has ended"),
        ((LAST, OLD + b"more\n"), "the file has to end after its lines, and continues with “more”"),
        ((FIRST, b"top\n" + OLD), "line 1 is “top” now, the patch has “line 1”"),
        ((LAST, OLD[:-1]), "line 20 is “line 20” without a line end now, the patch has “line 20”"),
        ((edit(), b"password = 'hunter2-hunter2'\n"), "line 1 is “password = '⟨secret: password⟩'” now"),
])  # fmt: skip
def test_hunks_that_do_not_fit_say_what_the_file_has(case, wanted):
    assert refusal(case[0], {"a": case[1]}).partition("does not fit: ")[2].startswith(wanted)


def test_a_hunk_that_does_not_fit_is_named_by_its_number_and_line():
    both = edit(
        body=" line 3\n-line 4\n+FOUR\n line 5\n@@ -9,3 +9,3 @@\n line 9\n-ten\n+TEN\n line 11\n",
        old="3,3",
        new="3,3",
    )
    assert refusal(both, {"a": OLD}).startswith("a: hunk 2 (line 8 of the patch) does not fit: line 10 is")


LINK = git("l", "new file mode 120000", body="--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n")
REMOVED = "@@ -1,2 +0,0 @@\n-x\n-y\n"


@each_row("patch, wanted", [
        (git("a", "old mode 100644", "new mode 100755"), "its mode changes from 100644 to 100755"),
        (git("a", "old mode 100644", "new mode 100755", body=edit()), "its mode changes from"),
        (LINK, "it is a symbolic link"),
        (LINK.replace("120000", "160000"), "it is a submodule"),
        (git("a", "index 1..2 100644", "GIT binary patch", body="literal 1\nIcmZ\n\n"), "its change is binary"),
        (git("a", "index 1..2", "Binary files a/a and b/a differ"), "its change is binary"),
        (edit().replace("+y", "+y\0"), "it is binary, so its lines cannot be shown"),
        (git("a", "new file mode 100644"), "already exists"),
        ("diff --git a/a b/d\nrename from a\nrename to d\n", "already exists"),
        (git("n", "new file mode 100644", body="--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n"), "removes lines of it"),
        (git("d", "deleted file mode 100644", body="--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"), "does not fit"),
        (edit() + "diff --git a/a b/n\nrename from a\nrename to n\n", "changes it twice and then moves it"),
        (edit("gone"), "gone: it does not exist (line 1 of the patch)"),
        (edit(body="-x\n+x\n"), "it changes nothing"),
        (f"--- a/d\n+++ /dev/null\n{REMOVED}", ""),
        (f"--- a/three\n+++ /dev/null\n{REMOVED}", "does not fit"),
        (git("a", "deleted file mode 100644"), "deletes it, and it holds more than the patch"),
])  # fmt: skip
def test_what_is_not_supported_is_refused_with_a_reason(patch, wanted):
    got = refusal(patch, {"a": b"x\n", "d": b"x\ny\n", "three": b"x\ny\nz\n"})
    assert wanted in got and bool(got) == bool(wanted)


HEAD = "Words.\n--- a/a\n+++ b/a\n"


@each_row("patch, wanted", [
        (f"{HEAD}@@ -1,3 +1,3 @@\n x\n-y\n", "line 6: the hunk ends here, and its numbers say that it continues"),
        (f"{HEAD}@@ -1 +1 @@\n-x\n+y\n+z\n", "line 7: the hunk continues, and its numbers say that it ends above"),
        (f"{HEAD}@@ -1,2 +1 @@\n-x\n+y\n+z\n-w\n", "line 7: the hunk continues, and its numbers say that it ends above"),
        (f"{HEAD}@@ -1 +x @@\n-x\n+y\n", "line 4: the numbers of this hunk cannot be read"),
        (f"{HEAD}@@ -1,2 +1,2 @@\n-x\n*y\n", "line 5: the hunk ends here, and its numbers say that it continues"),
        ("Words.\n@@ -1 +1 @@\n-x\n+y\n", "line 2: a hunk without the names of its file above it"),
        ("diff --cc a\n", "line 1: this form of patch is not read; make a unified diff, for example with git diff"),
        ("*** Begin Patch\n", "line 1: this form of patch is not read; make a unified diff, for example with git diff"),
        ("*** 1,2 ****\n", "line 1: this form of patch is not read; make a unified diff, for example with git diff"),
        ("Binary files a and b differ\n",
         "line 1: a binary change, whose bytes are not in the patch; copy the file itself"),
        (edit().replace("\n", "\r\n"),
         "line 1: its own lines end in CR LF, which hides those of its files; convert it with dos2unix"),
        (git("a", "new file mode 9"), "line 2: this mode cannot be read"),
        ("Only words.\n", "no change of a file was found in it; it is not a unified diff"),
        ("", "no change of a file was found in it; it is not a unified diff"),
])  # fmt: skip
def test_a_bad_patch_names_the_line(patch, wanted):
    assert refusal(patch, {"a": b"x\n"}) == wanted


def test_bounds_are_kept():
    padding = b"#" * (MAX_DIFF_BYTES - len(edit()) - 1) + b"\n"
    assert len(read_unified_diff(padding + edit().encode())) == 1
    with pytest.raises(PatchBroken, match="longer than 1,000,000 bytes"):
        read_unified_diff(padding + b"#" + edit().encode())
    files = [git(f"n{number}", "new file mode 100644") for number in range(MAX_DIFF_FILES + 1)]
    assert len(read_unified_diff("".join(files[1:]).encode())) == MAX_DIFF_FILES
    with pytest.raises(PatchBroken, match="more than 500 files"):
        read_unified_diff("".join(files).encode())


def test_a_patch_is_known_by_its_beginning():
    for head in (git("a"), edit(), "From " + "a" * 40 + " Mon Sep 17 00:00:00 2001\n", "\ufeff" + edit()):
        assert looks_like_patch(head.encode())
    for head in ("", "words\n" + edit(), "--- a\nkind: x\n", "{}", "From me\n"):
        assert not looks_like_patch(head.encode())


def test_hunks_whose_lines_are_there_and_may_not_be_taken_say_why():
    late = edit(body="-line 3\n+THREE\n line 4\n", old="1,2", new="3,2")
    assert "it has to be the beginning of the file" in refusal(late, {"a": OLD})
    first, second = (
        " line 2\n-line 3\n+THREE\n line 4\n",
        "@@ -4,3 +4,3 @@\n line 4\n-line 5\n+FIVE\n line 6\n",
    )
    shared = edit(body=first + second, old="2,3", new="2,3")
    assert "hunk 2 (line 8 of the patch) does not fit: an earlier hunk changed its lines" in refusal(
        shared, {"a": OLD}
    )


def test_a_file_that_cannot_be_read_is_one_of_the_problems():
    def read(path):
        raise FileRefused(path, "it is a symbolic link", "name the file itself")

    with pytest.raises(PatchUnusable) as refused:
        patched_changes(read_unified_diff((edit() + edit("b")).encode()), 1, read)
    assert refused.value.problems == ("a: it is a symbolic link", "b: it is a symbolic link")


def test_every_path_is_named_once_and_problems_are_counted_beyond_twenty():
    moved = read_unified_diff((MOVED + edit("d/b")).encode())
    assert all_paths(moved, 1) == ("a", "d/b")
    error = PatchUnusable([f"{number}" for number in range(23)])
    assert len(error.problems) == 21 and error.problems[-1] == "and 3 more"
