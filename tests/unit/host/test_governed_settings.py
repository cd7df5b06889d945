"""What governs is read once a decision, and a change of it is noticed where something would be allowed."""

import json

import pytest

from tests.support import stage as staging
from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain import events
from workbench.host import executor, gate_runner, governed_settings, workspace_trust
from workbench.host.driver_context import apply_pending_config_changes
from workbench.policy import trust
from workbench.tools import registry

EDIT = call("c1", "replace_string_in_file", path="a.txt", old_string="a", new_string="b")
DONE = exchange(text("done"))


def run_command(command, key="c1"):
    return call(key, "run_in_terminal", command=command)


def workspace_files(**content):
    return {".workbench.json": json.dumps({"config_version": 1, **content}), ".agents/notes.md": "x"}


@pytest.fixture
def counted(monkeypatch):
    """Count hashes of governing files, and how often the descriptor of one tool is narrowed."""
    counts = {"hashes": 0, "builds": 0}
    hash_files, narrow = trust.governing_hash, registry.narrowed_tool

    def counting_hash(workspace):
        counts["hashes"] += 1
        return hash_files(workspace)

    def counting_narrow(descriptor, settings):
        counts["builds"] += descriptor.id == "read_file"
        return narrow(descriptor, settings)

    registry.tool_registry()  # is made once a process, whoever comes first
    monkeypatch.setattr(trust, "governing_hash", counting_hash)
    monkeypatch.setattr(registry, "narrowed_tool", counting_narrow)
    return counts


def approving(stage):
    """Answer what waits as a second process would, until the session is idle."""
    answered = set()

    def until(progress):
        for action in progress.waiting:
            if action.id not in answered:
                answered.add(action.id)
                assert stage.approve(action).ok
        return progress.is_idle

    return until


def test_an_approved_edit_hashes_what_governs_three_times_and_builds_the_tools_once(staged, counted):
    narrowing = {"tools": {"read_file": {"providers": ["recorded"]}}}
    stage = staged(
        recording(exchange(EDIT), DONE), files={**workspace_files(), "a.txt": "a\n"}, config=narrowing
    ).trust().begin()  # fmt: skip
    counted.update(hashes=0)
    assert stage.drive(approving(stage)).last_outcome == "done"
    assert stage.read("a.txt") == b"b\n"
    # The driver's start, the gate, and the execution: from the prompt to the end of the turn.
    assert counted == {"hashes": 3, "builds": 1}


def test_a_prompt_and_its_reply_hash_nothing_beyond_the_start_of_the_driver(staged, counted):
    stage = staged(recording(DONE), files=workspace_files()).trust().begin()
    counted.update(hashes=0)
    assert stage.drive(lambda progress: progress.is_idle).last_outcome == "done"
    assert counted["hashes"] == 1


def change_file(stage):
    (stage.workspace / ".agents/notes.md").write_text("other")


def revoke(stage):
    workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)


@pytest.mark.parametrize("end_trust", [change_file, revoke])
@pytest.mark.parametrize(
    ("module", "moment", "end"),
    [
        (gate_runner, "call.before_gate", ("pending", "")),
        (executor, "call.before_executing", ("cancelled", "grant gone")),
    ],
)
def test_trust_that_ends_before_a_call_is_judged_or_run_is_noticed_by_content(
    staged, monkeypatch, module, moment, end, end_trust
):
    read = call("c1", "read_file", path="a.txt")
    stage = staged(recording(exchange(read), DONE), files={**workspace_files(), "a.txt": "a\n"})
    stage.trust(read=True).begin()
    monkeypatch.setattr(module, "fault_point", lambda point: point == moment and end_trust(stage))
    monkeypatch.setattr(governed_settings, "governing_status", lambda workspace: ())
    stage.drive()
    row = stage.calls()["c1"]
    assert (row.state, row.detail or "") == end


def test_a_hook_that_its_own_call_changed_does_not_run_after_it(staged):
    hook = {"hooks": {"PostToolUse": [{"matcher": "Bash", "command": "sh check.sh"}]}}
    files = {**workspace_files(**hook), "check.sh": "exit 0\n"}
    script = recording(
        exchange(run_command("true")), exchange(run_command("echo 'touch ran' > check.sh", "c2")), DONE
    )
    stage = staged(script, files=files).trust().begin()
    stage.drive(approving(stage))
    assert [row.state for row in stage.calls().values()] == ["succeeded", "succeeded"]
    assert not (stage.workspace / "ran").exists()
    assert len(stage.bodies(events.HookRan)) == 1, "only while it was what the human trusted"


def test_a_model_is_asked_with_the_settings_that_a_call_before_it_left_trusted(staged, monkeypatch):
    asked = []
    make_provider = staging.make_provider

    def noting_settings(session, config, sleep):
        asked.append("near" in config.providers)
        return make_provider(session, config, sleep)

    monkeypatch.setattr(staging, "make_provider", noting_settings)
    near = {"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1"}
    script = recording(exchange(run_command("echo other > .agents/notes.md")), DONE)
    stage = staged(script, files=workspace_files(providers={"near": near})).trust().begin()
    stage.drive(approving(stage))
    assert asked == [True, False]


def test_a_recalled_reading_follows_answers_and_settings_but_no_other_file(staged, counted):
    stage = staged(recording(DONE), files=workspace_files(limits={"max_turns": 7})).trust()
    context = stage.context()
    counted.update(hashes=0)
    first = context.recall_settings()
    assert (first.config.limits.max_turns, first.trust.is_trusted) == (7, True)
    (stage.workspace / ".agents/notes.md").write_text("other")
    assert context.recall_settings() is first and counted["hashes"] == 0

    refreshed = context.refresh_settings()
    assert (refreshed.trust.is_trusted, counted["hashes"]) == (False, 1)
    assert context.refresh_settings() is context.recall_settings() is refreshed
    assert context.read_settings() is not refreshed and counted["hashes"] == 2

    stage.trust()
    assert context.recall_settings().trust.is_trusted
    workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)
    assert not context.recall_settings().trust.is_trusted
    (stage.root / "home/config.json").write_text('{"config_version": 1, "limits": {"max_turns": 5}}')
    context.settings.read_again(trusted=False)
    assert context.recall_settings().config.limits.max_turns == 5
    context.root.close()


def test_settings_of_the_user_alone_are_refreshed_without_a_look_until_the_workspace_has_some(
    staged, monkeypatch
):
    looked = []
    look = governed_settings.governing_status
    monkeypatch.setattr(
        governed_settings, "governing_status", lambda workspace: looked.append(workspace) or look(workspace)
    )
    stage = staged(recording(DONE), files={".agents/notes.md": "x"}).trust()
    context = stage.context()
    looked.clear()
    first = context.refresh_settings()
    assert context.refresh_settings() is first and looked == []
    (stage.workspace / ".workbench.json").write_text('{"config_version": 1, "limits": {"max_turns": 7}}')
    apply_pending_config_changes(context)
    assert not context.refresh_settings().trust.is_trusted
    stage.trust()
    assert context.refresh_settings().config.limits.max_turns == 7 and looked
    context.root.close()


def test_what_cannot_be_listed_is_read_again_once_it_can(staged, monkeypatch):
    stage = staged(recording(DONE), files=workspace_files()).trust()
    with monkeypatch.context() as patched:
        patched.setattr(trust, "MAX_GOVERNING_FILES", 0)
        context = stage.context()
        assert not context.refresh_settings().trust.is_trusted
    assert context.refresh_settings().trust.is_trusted
    context.root.close()
