"""What the agent's tools would write, and the input for a part of it, against tools that are written otherwise."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.agent_tools import run_tool
from workbench.changes.decision import decided_changes
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.values import SelectedHunk
from workbench.effects.files import FileImage
from workbench.supervised.tools import FOREIGN_TOOLS, InputNotPossible, named_files
from workbench.tools.base import ToolRefused

WORDS = st.sampled_from(["a", "b", "é", "b\r", " ", "", "“x”", "\t", "long line"])
TEXTS = st.lists(WORDS, max_size=14).map("\n".join)
ENDS = st.sampled_from(["", "\n", "\r\n"])
CONTENTS = st.builds(lambda text, end: text + end, TEXTS, ENDS)
TOOLS = {tool.descriptor.id: tool for tool in FOREIGN_TOOLS}


def written(tool, parameters, before):
    """Return what the independent tool leaves of a file; ToolRefused where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.txt"
        if before is not None:
            path.write_bytes(before)
        try:
            run_tool(Path(folder), tool, parameters)
        except (ValueError, OSError):
            raise ToolRefused("") from None
        return path.read_bytes()


def image(data):
    return None if data is None else FileImage(data=data, mode=0o644, size=len(data), links=1)


def proposed(tool, parameters, before):
    (change,) = TOOLS[tool].propose(parameters, lambda _: image(before))
    return change


@st.composite
def calls(draw):
    """Draw a tool with its input and the bytes before; most edits name something that is there."""
    before = draw(CONTENTS)
    if draw(st.booleans()):
        return (
            "Write",
            {"file_path": "f.txt", "content": draw(CONTENTS)},
            draw(st.sampled_from([before.encode(), None])),
        )
    start, end = sorted(draw(st.tuples(st.integers(0, len(before)), st.integers(0, len(before)))))
    old = draw(st.sampled_from([before[start:end], before[start : start + 1], "b\n"]))
    given = {"file_path": "f.txt", "old_string": old, "new_string": draw(CONTENTS)}
    return (
        "Edit",
        {**given, **draw(st.sampled_from([{}, {"replace_all": True}, {"replace_all": False}]))},
        before.encode(),
    )


@given(call=calls())
def test_what_is_shown_is_what_the_agents_tool_writes(call):
    tool, parameters, before = call
    try:
        change = proposed(*call)
    except ToolRefused:
        # Refused is more than fails: an edit of nothing, or to the same, is never allowed.
        return
    assert written(tool, parameters, before) == change.after


@given(call=calls(), data=st.data())
def test_the_input_for_a_part_writes_exactly_that_part(call, data):
    tool, parameters, before = call
    try:
        change = proposed(*call)
    except ToolRefused:
        assume(False)
    hunks = make_hunks([change])
    assume(hunks)
    lines = {hunk.index: sum(sign in "-+" for sign, _ in hunk.lines) for hunk in hunks}
    picked = [
        SelectedHunk(
            hunk=number, lines=tuple(data.draw(st.sets(st.integers(1, size), min_size=1), label="lines"))
        )
        for number, size in lines.items()
        if data.draw(st.booleans(), label=f"hunk {number}")
    ]
    chosen = decided_changes([change], hunks, picked)
    assume(chosen)
    try:
        given_input = TOOLS[tool].input_for(parameters, chosen, {})
    except InputNotPossible:
        # Only an edit may have no way to say it: of a file whose line ends would become of two kinds.
        assert tool == "Edit" and b"\r\n" in chosen[0].before
        return
    assert written(tool, given_input, before) == chosen[0].after


@pytest.mark.parametrize("text", ["a\nb\na\nb\n", "x\n" * 9, "a\r\nb\r\n", "no end"])
def test_an_edit_can_be_cut_to_any_of_its_lines(text):
    change = proposed("Write", {"file_path": "f.txt", "content": text.upper()}, text.encode())
    for line in range(1, sum(sign in "-+" for sign, _ in make_hunks([change])[0].lines) + 1):
        chosen = decided_changes([change], make_hunks([change]), [SelectedHunk(hunk=1, lines=(line,))])
        given_input = TOOLS["Edit"].input_for({"file_path": "f.txt"}, chosen, {})
        assert written("Edit", given_input, text.encode()) == chosen[0].after


def edit(old, new, **more):
    return {"old_string": old, "new_string": new, **more}


MULTI = {
    "file_path": "f.txt",
    "edits": [edit("a", "A"), edit("A\n", "B\n"), edit("c", "C", replace_all=True)],
}


def test_edits_of_one_file_are_made_in_their_order_and_cut_as_one():
    before = b"a\nb\nb\nc\nc\n"
    change = proposed("MultiEdit", MULTI, before)
    assert change.after == written("MultiEdit", MULTI, before) == b"B\nb\nb\nC\nC\n"
    chosen = decided_changes([change], make_hunks([change]), [SelectedHunk(hunk=1, lines=(1, 2))])
    given_input = TOOLS["MultiEdit"].input_for(MULTI, chosen, {})
    assert written("MultiEdit", given_input, before) == chosen[0].after == b"B\nb\nb\nc\nc\n"


def test_an_edit_of_nothing_makes_a_file_and_is_cut_so():
    given_input = {"file_path": "f.txt", **edit("", "a\nb\n")}
    change = proposed("Edit", given_input, None)
    assert (change.before, change.after) == (None, written("Edit", given_input, None))
    assert TOOLS["Edit"].input_for(given_input, [change], {}) == given_input
    for data in (b"a\nb\n", b"x"):
        with pytest.raises(ToolRefused):
            proposed("Edit", given_input, data)
    with pytest.raises(ToolRefused, match="does not exist"):
        proposed("Edit", {"file_path": "f.txt", **edit("a", "b")}, None)


def test_a_file_with_windows_line_ends_is_edited_as_agents_see_it():
    before, given_input = b"a\r\nb\r\n", {"file_path": "f.txt", **edit("a\nb", "a\nB", replace_all=True)}
    change = proposed("Edit", given_input, before)
    assert change.after == written("Edit", given_input, before) == b"a\r\nB\r\n"
    again = TOOLS["Edit"].input_for(given_input, [change], {})
    # An agent may keep what its own input had, so it is said that this is one place.
    assert again == {"file_path": "f.txt", **edit("b\n", "B\n", replace_all=False)}
    mixed = FileChange(path="f.txt", before=before, after=b"a\r\nB\n", mode=0o644)
    with pytest.raises(InputNotPossible, match="two kinds"):
        TOOLS["Edit"].input_for(given_input, [mixed], {})
    with pytest.raises(InputNotPossible, match="deleted"):
        TOOLS["Edit"].input_for(given_input, [replace(change, after=None)], {})


def test_a_patch_leaves_windows_line_ends_as_codex_does():
    """Tried with Codex 0.171: context lines of its patches have no CR, and the file keeps them."""
    before = b"".join(b"%c\r\n" % letter for letter in b"abcdefghijklmno")
    patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n a\n-b\n+B\n c\n@@\n m\n-n\n+N\n*** End Patch"
    change = proposed("apply_patch", {"patch": patch}, before)
    assert change.after == before.replace(b"b", b"B").replace(b"n", b"N")
    chosen = decided_changes([change], make_hunks([change]), [SelectedHunk(hunk=2)])
    cut = TOOLS["apply_patch"].input_for({"patch": patch}, chosen, {})
    assert proposed("apply_patch", cut, before).after == before.replace(b"n", b"N")


@pytest.mark.parametrize(
    ("tool", "given_input", "files"),
    [
        ("Glob", {"pattern": "**/*.py"}, ()),
        ("Glob", {"pattern": "/etc/*.conf"}, ("/etc",)),
        ("Glob", {"pattern": "/etc/passwd"}, ("/etc/passwd",)),
        ("Glob", {"pattern": "/*"}, ("/",)),
        ("Glob", {"pattern": "../x/{a,b}/c"}, ("../x",)),
        ("Glob", {"pattern": "*/../../x"}, ("/",)),
        ("Glob", {}, ()),
        ("ReadMany", {"paths": ["a", "/b", "/b"], "include": "../c"}, ("../c", "/b")),
        ("Grep", {"pattern": "/etc"}, ()),
        ("Read", {"file_path": "/etc/passwd"}, ()),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}, ("a",)),
        ("apply_patch", {"patch": "no patch"}, ()),
        ("mcp__x__y", {"pattern": "/etc/*"}, ()),
    ],
)
def test_files_that_are_named_elsewhere_than_in_a_path(tool, given_input, files):
    assert named_files(tool, given_input) == files
