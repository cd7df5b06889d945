"""Patches in Codex's notation in files of other programs: shown as the edits that they ask for."""

from tests.support.tables import each_row
from workbench.formats.patches import edits_of_call, edits_to_hunks, files_of_begin_patch, parse_begin_patch
from workbench.formats.records import ToolCall


def wrapped(body):
    return f"*** Begin Patch\n{body}\n*** End Patch"


def shown(text):
    return [
        (edit.path, edit.change, [hunk.lines for hunk in edits_to_hunks((edit,))])
        for edit in parse_begin_patch(text)
    ]


UPDATE = "*** Update File: {}\n@@\n-a\n+b"
LINES = [(("-", "a"), ("+", "b"))]


@each_row(
    ("text", "edits"),
    [
        ("no patch", []),
        (wrapped(UPDATE.format("f")), [("f", "modify", LINES)]),
        (wrapped("*** Add File: f\n+a\n+*** End Patch\n+*** Add File: g"), [("f", "create", [(("+", "a"), ("+", "*** End Patch"), ("+", "*** Add File: g"))])]),
        (wrapped("*** Add File: f"), [("f", "create", [])]),
        (wrapped("*** Delete File: f"), [("f", "delete", [])]),
        (wrapped("*** Update File: f\n*** Move to: g\n@@\n-a\n+b"), [("f", "delete", []), ("g", "create", LINES)]),
        (wrapped("  *** Update File: f\n@@\n-a\n+b"), [("f", "modify", LINES)]),
        (wrapped("*** Update File: f\n@@ class A\n@@  def x\n-a\n+b\n*** End of File"), [("f", "modify", [((" ", "class A"), (" ", " def x"), ("-", "a"), ("+", "b"))])]),
        (f"apply_patch <<'EOF'\n{wrapped(UPDATE.format('f'))}\nEOF\ncd x && apply_patch \"{wrapped(UPDATE.format('g'))}\"", [("f", "modify", LINES), ("g", "modify", LINES)]),
        (f"*** Begin Patch\n{UPDATE.format('f')}", [("f", "modify", LINES)]),
        (wrapped(f"{UPDATE.format('f')}\n*** Frobnicate\n{UPDATE.format('g')}"), [("f", "modify", LINES), ("g", "modify", LINES)]),
        (wrapped(f"*** Update File: f\n@@ \n-a\n+b\n{UPDATE.format('g')}"), [("f", "modify", LINES), ("g", "modify", LINES)]),
        (wrapped("note\n*** Delete File: f"), [("f", "delete", [])]),
        (wrapped("*** Add File: f\n+\ud800"), [("f", "create", [(("+", "\ud800"),)])]),
    ],
)  # fmt: skip
def test_each_patch_in_a_text_is_shown(text, edits):
    assert shown(text) == edits


def test_the_files_of_all_patches_are_named():
    text = wrapped("*** Add File: a b\n+*** Update File: x") + "\n" + wrapped("*** Delete File: c")
    assert files_of_begin_patch(text) == ["a b", "c"]
    assert files_of_begin_patch("*** Add File: a") == []


@each_row(
    ("command", "paths"),
    [
        ("apply_patch <<'EOF'\n{}\nEOF", ["f"]),
        ("cd a/b && apply_patch <<'EOF'\n{}\nEOF", ["a/b/f"]),
        ("cat <<'EOF' > x\n{}\nEOF", []),
        ("apply_patch <<'EOF'\n{}\nEOF\nrm y", []),
    ],
)
def test_a_command_that_is_a_patch_has_its_edits(command, paths):
    patch = wrapped(UPDATE.format("f"))
    call = ToolCall("k", "shell", {"command": command.format(patch)})
    assert [edit.path for edit in edits_of_call(call)] == paths
