"""Patches in Codex's notation: what is one, and which bytes it makes."""

import pytest

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.changes import begin_patch
from workbench.changes import patched_files as applying
from workbench.changes.begin_patch import PatchChunk, PatchRefused, PatchSection, PatchUnclear, read_patch
from workbench.changes.patched_files import patched_files


def wrapped(body):
    return f"*** Begin Patch\n{body}\n*** End Patch".encode()


def update(lines, name="f", head=""):
    return wrapped(f"*** Update File: {name}\n{head}{lines}")


def made(patch, files, line_ends="normalized", **more):
    images = patched_files(read_patch(patch), files.get, line_ends=line_ends, **more)
    return {each.path: each.after for each in images}


def chunk(*lines, anchors=(), at_end=False):
    return PatchChunk(anchors=anchors, lines=tuple((line[0], line[1:]) for line in lines), at_end=at_end)


def updated(*chunks, path="f", move_to=None):
    return (PatchSection(kind="update", path=path, move_to=move_to, chunks=chunks),)


@each_row(
    ("data", "sections"),
    [
        (update("@@\n-a\n+b"), updated(chunk("-a", "+b"))),
        (update("-a\n+b"), updated(chunk("-a", "+b"))),
        (update("@@ class A\n@@   def f\n-a"), updated(chunk("-a", anchors=("class A", "  def f")))),
        (update("@@\n a\n\n b"), updated(chunk(" a", " ", " b"))),
        (update("@@\n+a\n*** End of File\n\n \n@@\n-b"), updated(chunk("+a", at_end=True), chunk("-b"))),
        (update("@@\n-a", head="*** Move to: d/g\n"), updated(chunk("-a"), move_to="d/g")),
        (update("@@\n+*** End Patch\n-*** Update File: x"), updated(chunk("+*** End Patch", "-*** Update File: x"))),
        (wrapped("*** Add File: a b\n+x\n+\n+*** End Patch"), (PatchSection(kind="add", path="a b", text="x\n\n*** End Patch\n"),)),
        (wrapped("*** Add File: a"), (PatchSection(kind="add", path="a"),)),
        (b" *** Begin Patch \r\n *** Delete File: a\t\r\n *** End Patch \r\n\r\n", (PatchSection(kind="delete", path="a"),)),
    ],
)  # fmt: skip
def test_a_patch_is_read_as_sections(data, sections):
    assert read_patch(data) == sections


def test_a_move_names_two_paths():
    assert [each.paths for each in read_patch(update("@@\n-a", head="*** Move to: g\n"))] == [("f", "g")]


@each_row(
    ("data", "message"),
    [
        (b"bad", r"first line is not \*\*\* Begin"),
        (b"*** Begin Patch\nbad", r"last line is not \*\*\* End"),
        (b"*** Begin Patch", r"last line is not"),
        (b"\xff", "not UTF-8"),
        (wrapped("*** Frobnicate File: a"), r"line 2 .*does not start a section"),
        (wrapped("*** Delete File: a\n"), "line 3 .*an empty line does not start"),
        (wrapped("*** Add File: a\n+x\ny"), "line 4 .*y does not start"),
        (update(""), "empty line before the first chunk"),
        (update("@@\n-a\nx"), "neither|does not start|not in a chunk"),
        (update("@@\n-a\n*** Nonsense"), "does not start a section"),
        (update("@foo\n-a"), "neither an anchor"),
        (b"*** Begin Patch\n*** End Patch", "changes no file"),
        (b"*** Begin Patch\n*** Update File: f\n*** End Patch", "f changes nothing"),
        (b"*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** End Patch", "f changes nothing"),
    ],
)
def test_what_is_not_a_patch_is_refused_with_its_line(data, message):
    with pytest.raises(PatchRefused, match=message):
        read_patch(data)


@each_row(
    "data",
    [
        update("@@ \n-a"), update("@@\t\n-a"), update("@@ a \n-a"), update("@@\n@@ a\n-b"), update("@@ a\n@@\n-b"),
        update("@@\n-a\n@@"), update("@@ a"), update("@@\n*** End of File"), update("@@\n-a\n*** End of File\n-b"),
        update("\n@@\n-a"), update("@@\n @@ b\n-a"), update("@@\n @@\n-a"), update("@@\n *** End Patch\n-a"),
        update("@@\n  *** Update File: x\n-a"), update("@@\n-a\n*** End of File "), update("@@\n-a\n*** Move to: x"),
        update("@@\n-a", head="*** Move to: \n"), update("@@\n-a", head="*** Move to: x \n"), update("@@\n-a", head=" *** Move to: x\n"),
        wrapped("*** Delete File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b"), wrapped("*** Environment ID: a\n*** Delete File: a"),
        wrapped("*** Add File: a\n+b\r\r\n+c"), wrapped("*** Add File:"), wrapped("*** Add File:  a"),
        wrapped("*** Delete File: a\0b"), wrapped(f"*** Delete File: {'a' * 5_000}"),
    ],
)  # fmt: skip
def test_what_versions_of_the_program_read_differently_is_unclear(data):
    with pytest.raises(PatchUnclear):
        read_patch(data)


def test_a_patch_has_limits(monkeypatch):
    monkeypatch.setattr(begin_patch, "MAX_SECTIONS", 2)
    read_patch(wrapped("*** Delete File: a\n*** Delete File: b"))
    with pytest.raises(PatchUnclear, match="more than 2 sections"):
        read_patch(wrapped("*** Delete File: a\n*** Delete File: b\n*** Delete File: c"))
    monkeypatch.setattr(begin_patch, "MAX_PATCH_BYTES", 20)
    with pytest.raises(PatchUnclear, match="more than 20 bytes"):
        read_patch(wrapped("*** Delete File: a"))


CODE = b"class A\n  def f\n    x = 1\nclass B\n  def f\n    x = 1\n"
EXPECTED = {
    "the first place": (update("@@\n-    x = 1\n+    x = 2"), CODE, CODE.replace(b"x = 1", b"x = 2", 1)),
    "behind an anchor": (update("@@ class B\n-    x = 1\n+    x = 2"), CODE, CODE[:-2] + b"2\n"),
    "behind stacked anchors": (update("@@ class B\n@@   def f\n-    x = 1"), CODE, CODE[:-10]),
    "an anchor of other spaces": (update("@@ def f\n@@ def f\n-    x = 1"), CODE, CODE[:-10]),
    "the end of the file": (update("@@\n-    x = 1\n+y\n*** End of File"), CODE, CODE[:-10] + b"y\n"),
    "two chunks in order": (update("@@\n-a\n+1\n@@\n-a\n+2"), b"a\nb\na\na\n", b"1\nb\n2\na\n"),
    "exact before trimmed": (update("@@\n-a\n+b"), b"  a\na \na\n", b"  a\na \nb\n"),
    "right-trimmed before trimmed": (update("@@\n-a\n+b"), b"  a\na \n", b"  a\nb\n"),
    "trimmed before folded": (update("@@\n-x - y\n+b"), "x – y\n x - y\n".encode(), "x – y\nb\n".encode()),
    "folded": (update('@@\n-say "hi" - it\n+b'), "say\u00a0“hi” — it\n".encode(), b"b\n"),
    "added lines alone": (update("@@\n+c"), b"a\n", b"a\nc\n"),
    "an empty file": (update("@@\n+c"), b"", b"c\n"),
    "all lines gone": (update("@@\n-a"), b"a\n", b""),
    "an open last line": (update("@@\n-a\n+b"), b"a\nc", b"b\nc\n"),
    "an empty line for the end": (update("@@\n-a\n+b\n"), b"x\na\n", b"x\nb\n"),
    "an old empty line for the end": (update("@@\n a\n-"), b"x\na\n", b"x\na\n"),
    "nothing but an empty line": (update("@@\n-\n+b"), b"x\n", b"b\nx\n"),
}


@each_row("name", EXPECTED)
def test_lines_are_found_in_the_programs_own_order(name):
    patch, before, after = EXPECTED[name]
    assert made(patch, {"f": before})["f"] == after


@each_row(
    ("patch", "before", "normalized", "preserved"),
    [
        (update("@@\n a\n-b\n+c"), b"a\r\nb\r\nd\r\n", b"a\nc\nd\r\n", b"a\r\nc\r\nd\r\n"),
        (update("@@\n a\n-b\n+c"), b"a \t\nb\r\nd\n", b"a\nc\nd\n", b"a \t\nc\nd\n"),
        (update("@@\n-a\n+b"), b"a\n\n\n", b"b\n\n", b"b\n\n\n"),
        (update("@@\n+c"), b"a\n\n", b"a\nc\n", b"a\n\nc\n"),
        (update("@@\n-a\n+b"), b"a\r\nz\r", b"b\nz\r\n", b"b\r\nz\r\r\n"),
        (update("@@\n \n+x\n-q\n"), b"\nq\r\n", b"\nx\n", b"\nx\n"),
        (update("@@\n-q\n \n+x"), b"p\nq\n", b"p\n\nx\n", b"p\n\nx\n"),
    ],
)
def test_both_rules_of_line_ends(patch, before, normalized, preserved):
    assert made(patch, {"f": before})["f"] == normalized
    assert made(patch, {"f": before}, "preserved")["f"] == preserved


@each_row(
    ("patch", "files", "after"),
    [
        (wrapped("*** Add File: f\n+b"), {"f": b"\xff"}, {"f": b"b\n"}),
        (wrapped("*** Delete File: f"), {"f": b"a"}, {"f": None}),
        (update("@@\n-a\n+b", head="*** Move to: g\n"), {"f": b"a\n", "g": b"old"}, {"f": None, "g": b"b\n"}),
        (wrapped("*** Add File: f\n+a\n*** Update File: ./f\n@@\n-a\n+b"), {}, {"f": b"b\n"}),
        (wrapped("*** Delete File: f\n*** Add File: f\n+a"), {"f": b"x"}, {"f": b"a\n"}),
    ],
)
def test_sections_are_applied_in_order(patch, files, after):
    assert made(patch, files) == after


def test_a_move_and_what_was_matched_loosely_are_told():
    patch = update("@@\n-a\n+b", head="*** Move to: g\n")
    images = {each.path: each for each in patched_files(read_patch(patch), {"f": b" a\n"}.get)}
    assert (images["g"].moved_from, images["g"].is_exact) == ("f", False)
    assert (images["f"].moved_from, images["f"].before, images["f"].is_exact) == (None, b" a\n", True)


@each_row(
    ("patch", "files", "message"),
    [
        (update("@@\n-a"), {}, "f does not exist"),
        (wrapped("*** Delete File: f"), {}, "f does not exist"),
        (update("@@\n-a"), {"f": b"\xff"}, "f is not UTF-8"),
        (update("@@\n-x"), {"f": b"a\n"}, "does not have the expected line 'x'"),
        (update("@@ x\n-a"), {"f": b"a\n"}, "does not have the expected line 'x'"),
        (update("@@ a\n-a"), {"f": b"a\n"}, "expected line 'a'"),
        (update("@@\n-a\n-b\n-c"), {"f": b"a\nb\n"}, "expected line 'a'"),
        (wrapped("*** Add File: d\n*** Add File: d/e/f"), {}, "d/e/f is in d, which is a file"),
        (wrapped("*** Add File: /d/e\n*** Add File: /d"), {}, "/d/e is in /d, which is a file"),
        (update("@@\n-b\n-a"), {"f": b"a\nb\na\nc\n"}, None),
        (wrapped("*** Delete File: f\n*** Update File: f\n@@\n-a"), {"f": b"a\n"}, "f does not exist"),
    ],
)
def test_what_does_not_fit_the_files_is_refused(patch, files, message):
    if message is None:
        assert made(patch, files)
        return
    with pytest.raises(PatchRefused, match=message) as caught:
        made(patch, files)
    assert caught.type is PatchRefused


@each_row(
    ("patch", "before"),
    [
        (update("@@\n-b\n@@\n-b\n*** End of File"), b"a\nb\n"),
        (update("@@\n+x\n@@\n-a"), b"a\n"),
        (update("@@\n-a", head="*** Move to: ./f\n"), b"a\n"),
    ],
)
def test_what_versions_of_the_program_apply_differently_is_unclear(patch, before):
    with pytest.raises(PatchUnclear):
        made(patch, {"f": before})


def test_a_file_and_a_search_have_limits(monkeypatch):
    monkeypatch.setattr(applying, "MAX_FILE_BYTES", 3)
    with pytest.raises(PatchUnclear, match="more than 3 bytes"):
        made(update("@@\n-a"), {"f": b"abcd"})
    monkeypatch.undo()
    monkeypatch.setattr(applying, "MAX_SEARCH_STEPS", 1_000)
    with pytest.raises(PatchUnclear, match="takes too long"):
        made(update("@@\n" + "-a\n" * 100 + "-b"), {"f": b"a\n" * 400})


def test_reading_and_applying_follow_the_length_of_the_patch():
    def work(lines):
        made(update("@@\n" + "\n".join(f"-{line}" for line in lines)), {"f": "\n".join(lines).encode()})

    lines = [f"line {number}" for number in range(16_000)]
    assert_grows_with_length(work, lines[:2_000], lines)
