"""Recorded inputs of agents' hooks through the client that hooks run, and a background process."""

import os
import sys
from pathlib import Path

import pytest

import workbench
from tests.support.agent_tools import run_tool
from tests.support.hook_inputs import NOTE, RECORDED, first, recorded_inputs
from tests.support.hook_place import HookPlace
from tests.support.stage import recording
from tests.support.waits import until
from workbench.domain.events import CallExecuting
from workbench.host.host_locks import live_host
from workbench.host.host_stop import stop_host

pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="recorded inputs are tried where they are")


@pytest.fixture
def placed(staged):
    made = []

    def make(*, is_trusted=True, **more):
        stage = staged(recording(), files={"note.txt": NOTE})
        stage = stage.trust() if is_trusted else stage
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

    # The agent writes a human's own version, and its model learns so.
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
        given["command"].startswith("apply_patch <<'EOF'\n*** Begin Patch\n")
        and "line 27" not in given["command"]
    )
    patched(place, given["command"])
    ended = {**codex[0], "hook_event_name": "PostToolUse", "tool_input": given, "tool_response": "Done!"}
    assert place.output("codex", "PostToolUse", ended) == (0, None, "")
    call = place.last_call()
    assert (call.state, call.detail) == ("succeeded", "partial")
    assert stage.read("note.txt").decode() == NOTE.replace("line 3\n", "line three\n")

    # A reason reaches the model in the words of the agent; nothing is written.
    hook, action = place.hook("qwen", "PreToolUse", first(qwen, "PreToolUse", "write_file")), place.row()
    stage.reject(action, "keep line 27")
    code, said, _ = hook.output()
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "keep line 27" in said["hookSpecificOutput"]["permissionDecisionReason"]

    # An agent that ignores another input makes a change as a whole, or learns which part to leave out.
    (folder / "note.txt").write_text(NOTE)
    asked = {**first(qwen, "PreToolUse", "write_file"), "tool_call_id": "call_7"}
    hook, action = place.hook("qwen", "PreToolUse", asked), place.row()
    stage.approve(action, hunks=[2])
    said = hook.output()[1]["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "again without this: note.txt line 3" in said["permissionDecisionReason"]
    hook, action = place.hook("qwen", "PreToolUse", {**asked, "tool_call_id": "call_8"}), place.row()
    stage.approve(action, edited={"note.txt": b"mine\n"})
    said = hook.output()[1]["hookSpecificOutput"]
    assert "other bytes than these" in said["permissionDecisionReason"]

    # The end of a turn withdraws what it left.
    hook, action = place.hook("claude", "PreToolUse", first(claude, "PreToolUse", "Bash")), place.row()
    assert place.output("claude", "Stop", claude[6]) == (0, None, "")
    code, said, _ = hook.output()
    assert "turn ended" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert stage.session().status == "ready"


ROOT = str(Path(workbench.__file__).parents[1])
SERVE = """
import sys
sys.path.insert(0, sys.argv[1])
from workbench.cli.main import main
sys.exit(main(["host", "serve", sys.argv[2]]))
"""


def test_a_hook_starts_the_background_process_of_its_folder(placed):
    place = placed(start=(sys.executable, "-c", SERVE, ROOT))
    claude = recorded_inputs("claude", place.stage.workspace)
    try:
        assert place.output("claude", "SessionStart", claude[0]) == (0, None, "")
        assert place.watch("claude", claude[0]["session_id"]).workspace == str(place.stage.workspace)
        served_by = live_host(place.stage.home, place.stage.journal, str(place.stage.workspace)).pid
        _, said, _ = place.output("claude", "PreToolUse", first(claude, "PreToolUse", "Read"))
        assert said["hookSpecificOutput"]["permissionDecision"] == "allow"
        assert os.getsid(served_by) != os.getsid(0)
        # The environment of an agent does not reach into the interpreter of ours.
        assert b"PYTHONPATH" not in Path(f"/proc/{served_by}/environ").read_bytes()
    finally:
        stop_host(place.stage.home, str(place.stage.workspace), force=True)


def edit(number, **more):
    given = {"file_path": "note.txt", "old_string": f"line {number}\n", "new_string": f"LINE {number}\n"}
    return {
        "session_id": "s",
        "cwd": more.pop("cwd"),
        "tool_name": "Edit",
        "tool_input": given,
        "tool_use_id": "c",
        **more,
    }


def test_a_question_outlives_the_background_process_and_is_answered_once(placed):
    place = placed()
    place.start_host()
    until(place.socket.exists, place.words)
    document = edit(3, cwd=str(place.stage.workspace))
    hook, action = place.hook("claude", "PreToolUse", document), place.row()
    place.host.kill()
    place.host.wait()
    place.start_host()
    place.stage.approve(action)
    assert hook.output()[1]["hookSpecificOutput"]["permissionDecision"] == "allow"
    # The same call once more, as an agent with ids that it uses again would make it, is another question.
    other = place.hook("claude", "PreToolUse", document)
    row = place.row()
    assert row.id != action.id
    place.stage.reject(row, "once is enough")
    assert other.output()[1]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert (
        len(
            [
                e
                for e in place.stage.journal.events(place.stage.session_id)
                if isinstance(e.body, CallExecuting)
            ]
        )
        == 1
    )


def test_a_folder_that_is_not_trusted_holds_no_agent_and_its_reads_ask(placed):
    place = placed(is_trusted=False)
    place.start_host()
    until(place.socket.exists, place.words)
    claude = recorded_inputs("claude", place.stage.workspace)
    hook, action = place.hook("claude", "PreToolUse", first(claude, "PreToolUse", "Read")), place.row()
    assert (action.verb, action.target) == ("read", "note.txt")
    place.stage.approve(action)
    assert hook.output()[1]["hookSpecificOutput"]["permissionDecision"] == "allow"
    # A folder that is not here, as in a container, is refused and not taken for another.
    elsewhere = {**first(claude, "PreToolUse", "Bash"), "cwd": "/no/such/folder"}
    said = place.output("claude", "PreToolUse", elsewhere)[1]["hookSpecificOutput"]
    assert (
        said["permissionDecision"] == "deny" and "not the absolute path" in said["permissionDecisionReason"]
    )


def test_a_killed_hook_takes_no_answer_with_it(placed):
    place = placed()
    place.start_host()
    until(place.socket.exists, place.words)
    document = edit(3, cwd=str(place.stage.workspace))
    killed, action = place.hook("claude", "PreToolUse", document), place.row()
    killed.kill()
    hook = place.hook("claude", "PreToolUse", document)
    place.stage.approve(action)
    assert hook.output()[1]["hookSpecificOutput"]["permissionDecision"] == "allow"
    assert [row.id for row in place.stage.journal.actions(session_id=place.stage.session_id)] == [action.id]


def test_an_answer_in_the_agents_own_dialog_withdraws_the_row(placed):
    place = placed()
    stage = place.stage
    place.start_host()
    until(place.socket.exists, place.words)
    asked = first(recorded_inputs("claude-permission", stage.workspace), "PermissionRequest", "Edit")
    hook, action = place.hook("claude", "PermissionRequest", asked), place.row()
    run_tool(stage.workspace, "Edit", asked["tool_input"])
    ended = {**asked, "hook_event_name": "PostToolUse", "tool_use_id": "toolu_7", "tool_response": {}}
    assert place.output("claude", "PostToolUse", ended)[:2] == (0, None)
    assert hook.output()[1]["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    (call,) = stage.journal.calls(stage.session_id)
    assert (call.state, call.error) == ("cancelled", "it was allowed in the agent's own screen")
    assert not stage.waiting()
    # One that is approved here is known again by its input, although only its end has an id.
    (stage.workspace / "note.txt").write_text(NOTE)
    hook, action = place.hook("claude", "PermissionRequest", asked), place.row()
    stage.approve(action, edited={"note.txt": NOTE.replace("line 3", "line III").encode()})
    given = hook.output()[1]["hookSpecificOutput"]["decision"]["updatedInput"]
    run_tool(stage.workspace, "Edit", given)
    ended = {**ended, "tool_input": given, "tool_use_id": "toolu_8"}
    assert (
        "changed this"
        in place.output("claude", "PostToolUse", ended)[1]["hookSpecificOutput"]["additionalContext"]
    )
    assert [row.state for row in stage.journal.calls(stage.session_id)] == ["cancelled", "succeeded"]
