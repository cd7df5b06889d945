"""Recorded inputs of agents' hooks through the client that hooks run, and a background process."""

import pytest

from tests.support.agent_tools import run_tool
from tests.support.hook_inputs import NOTE, RECORDED, first, recorded_inputs
from tests.support.hook_place import HookPlace
from tests.support.stage import recording
from tests.support.waits import until

pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="recorded inputs are tried where they are")


@pytest.fixture
def placed(staged):
    made = []

    def make(**more):
        stage = staged(recording(), files={"note.txt": NOTE}).trust()
        made.append(HookPlace(stage, **more))
        return made[-1]

    yield make
    for place in made:
        place.close()


def patched(place, command):
    """Do what Codex does with a patch in a line."""
    patch = command.partition("\n")[2].rpartition("EOF")[0].strip()
    folder = place.stage.workspace
    run_tool(folder, "apply_patch", {"patch": patch.replace(f"{folder}/", "")})


def test_recorded_hooks_are_rows_and_their_answers_are_what_the_agent_needs(placed):
    place = placed()
    stage, folder = place.stage, place.stage.workspace
    claude, codex = recorded_inputs("claude", folder), recorded_inputs("codex", folder)
    qwen = recorded_inputs("qwen", folder)
    place.start_host()
    until(place.socket.exists, place.words)

    # A session appears before its first call, and reads pass as those of our own agents.
    assert place.output("claude", "SessionStart", claude[0]) == (0, None, "")
    session = place.watch("claude", claude[0]["session_id"])
    assert (session.kind, session.title, session.status) == ("supervised", "claude-code", "ready")
    code, said, _ = place.output("claude", "PreToolUse", first(claude, "PreToolUse", "Read"))
    assert (code, said["hookSpecificOutput"]["permissionDecision"]) == (0, "allow")
    assert place.output("claude", "PostToolUse", first(claude, "PostToolUse", "Read")) == (0, None, "")

    # A human's own version is handed over, and the model is told.
    asked = first(claude, "PreToolUse", "Edit")
    hook, action = place.hook("claude", "PreToolUse", asked), place.row()
    edited = NOTE.replace("line 3\n", "line THREE by human\n")
    stage.approve(action, edited={"note.txt": edited.encode()})
    code, said, _ = hook.output()
    given = said["hookSpecificOutput"]["updatedInput"]
    assert given == {**asked["tool_input"], "new_string": "line THREE by human\n"}
    run_tool(folder, "Edit", given)
    ended = {**first(claude, "PostToolUse", "Edit"), "session_id": asked["session_id"], "tool_input": given}
    _, said, _ = place.output("claude", "PostToolUse", ended)
    assert "changed this before it was written" in said["hookSpecificOutput"]["additionalContext"]
    call = place.last_call()
    assert (call.state, stage.read("note.txt"), call.detail) == ("succeeded", edited.encode(), "edited")

    # One hunk of a patch, in Codex's own line.
    (folder / "note.txt").write_text(NOTE)
    hook, action = place.hook("codex", "PreToolUse", codex[0]), place.row()
    stage.approve(action, hunks=[1])
    code, said, _ = hook.output()
    given = said["hookSpecificOutput"]["updatedInput"]
    assert (
        given["command"].startswith("apply_patch <<'EOF'\n*** Begin Patch\n") and "27" not in given["command"]
    )
    patched(place, given["command"])
    ended = {**codex[0], "hook_event_name": "PostToolUse", "tool_input": given, "tool_response": "Done!"}
    _, said, _ = place.output("codex", "PostToolUse", ended)
    assert "left out: note.txt line 2" in said["hookSpecificOutput"]["additionalContext"]
    call = place.last_call()
    assert (call.state, call.detail) == ("succeeded", "partial")
    assert stage.read("note.txt").decode() == NOTE.replace("line 3\n", "line three\n")

    # A reason reaches the model in the words of the agent; nothing is written.
    hook, action = place.hook("qwen", "PreToolUse", first(qwen, "PreToolUse", "write_file")), place.row()
    stage.reject(action, "keep line 27")
    code, said, _ = hook.output()
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "keep line 27" in said["hookSpecificOutput"]["permissionDecisionReason"]

    # The end of a turn withdraws what it left.
    hook, action = place.hook("claude", "PreToolUse", first(claude, "PreToolUse", "Bash")), place.row()
    assert place.output("claude", "Stop", claude[6]) == (0, None, "")
    code, said, _ = hook.output()
    assert "turn ended" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert stage.session().status == "ready"
