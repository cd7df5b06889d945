"""What the agent's tools would write, and the input for a part of it, against tools that are written otherwise."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.agent_tools import run_tool
from workbench.changes.decision import decided_changes
from workbench.changes.diff import make_hunks
from workbench.domain.values import SelectedHunk
from workbench.effects.files import FileImage
from workbench.supervised.tools import EditTool, InputNotPossible, WriteFileTool
from workbench.tools.base import ToolRefused

WORDS = st.sampled_from(["a", "b", "é", "b\r", " ", "", "“x”", "\t", "long line"])
TEXTS = st.lists(WORDS, max_size=14).map("\n".join)
ENDS = st.sampled_from(["", "\n", "\r\n"])
CONTENTS = st.builds(lambda text, end: text + end, TEXTS, ENDS)
TOOLS = {"Edit": EditTool(), "Write": WriteFileTool()}


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
        # Only an edit may have no way to say it: of a file without a line that occurs once.
        assert tool == "Edit" and chosen[0].before == b""
        return
    assert written(tool, given_input, before) == chosen[0].after


@pytest.mark.parametrize("text", ["a\nb\na\nb\n", "x\n" * 9, "a\r\nb\r\n", "no end"])
def test_an_edit_can_be_cut_to_any_of_its_lines(text):
    change = proposed("Write", {"file_path": "f.txt", "content": text.upper()}, text.encode())
    for line in range(1, sum(sign in "-+" for sign, _ in make_hunks([change])[0].lines) + 1):
        chosen = decided_changes([change], make_hunks([change]), [SelectedHunk(hunk=1, lines=(line,))])
        given_input = TOOLS["Edit"].input_for({"file_path": "f.txt"}, chosen, {})
        assert written("Edit", given_input, text.encode()) == chosen[0].after
