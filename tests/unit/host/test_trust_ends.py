"""Trust that ends while a workspace's checks stood: no grant counts until a human has looked."""

import json

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from workbench.domain.values import Decision
from workbench.host import workspace_trust
from workbench.journal.decisions import decide_action
from workbench.journal.journal import Journal
from workbench.policy.trust import TrustRefused

HOOK = {"hooks": {"PreToolUse": [{"matcher": "Bash(*)", "command": "exit 1"}]}}
DENIAL = {"approvals": {"deny": ["Bash(git push*)"]}}
ALLOWED = {"approvals": {"allow": ["Bash(echo *)"]}}


def files(content):
    return {".workbench.json": json.dumps({"config_version": 1, **content})}


def answer(stage, choice):
    """Answer the trust question that waits, as a human does."""
    (action,) = [a for a in stage.journal.actions(states=("pending",)) if a.kind == "trust"]
    verdict = "reject" if choice == "reject" else "approve"
    made = Decision(action_id=action.id, verdict=verdict, choice=None if choice == "reject" else choice)
    assert decide_action(stage.journal, made, action.digest, USER).ok


def ended(stage):
    return workspace_trust.trust_state(stage.journal, str(stage.workspace)).ended


ECHO = recording(
    exchange(call("c1", "run_in_terminal", command="echo one")),
    exchange(call("c2", "run_in_terminal", command="echo two")),
    exchange(text("done")),
)


def test_an_agent_that_ends_the_trust_gets_no_grant_instead_of_the_hook(staged):
    stage = staged(ECHO, files=files(HOOK), config=ALLOWED).trust().begin()
    # What an allowed command could do: the content changes, so the hooks are hooks of an untrusted folder.
    (stage.workspace / ".agents").mkdir()
    (stage.workspace / ".agents/notes.md").write_text("x")
    stage.drive()
    (row,) = stage.waiting()
    assert "trust ended" in row.warnings
    proposed = next(e.body for e in stage.journal.call_events(row.call_id) if e.kind == "call.proposed")
    assert proposed.verdict.reason == (
        "trust in this folder ended while its hooks were in force; nothing is allowed without asking "
        "until you answer the trust question"
    )
    assert [a.kind for a in stage.journal.actions(states=("pending",)) if a.kind == "trust"] == ["trust"]


@pytest.mark.parametrize("choice", ["not_now", "reject", "trust"])
def test_any_answer_to_the_new_question_lets_grants_count_again(staged, choice):
    stage = staged(ECHO, files=files(HOOK), config=ALLOWED).trust()
    (stage.workspace / ".workbench.json").unlink()
    assert ended(stage)
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    answer(stage, choice)
    assert not ended(stage)
    stage.begin().drive()
    assert stage.waiting() == []


def test_an_answer_for_one_content_does_not_open_another(staged):
    stage = staged(ECHO, files=files(HOOK)).trust()
    (stage.workspace / ".workbench.json").write_text("{}")
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    answer(stage, "not_now")
    assert not ended(stage)
    (stage.workspace / "wave.yaml").write_text("x: 1")
    assert ended(stage)


def test_taking_the_trust_back_is_looking(staged):
    stage = staged(ECHO, files=files(HOOK)).trust()
    (stage.workspace / ".workbench.json").unlink()
    assert workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)
    assert not ended(stage)


def test_it_stays_closed_over_a_restart(staged):
    stage = staged(ECHO, files=files(HOOK)).trust()
    (stage.workspace / ".workbench.json").unlink()
    said = ended(stage)
    stage.journal.close()
    stage.journal = Journal.open(stage.home)
    assert ended(stage) == said != ""


def test_denials_that_stood_close_it_too_and_nothing_that_stood_does_not(staged):
    denials = staged(ECHO, files=files(DENIAL)).trust()
    (denials.workspace / ".workbench.json").unlink()
    assert "its denials were in force" in ended(denials)
    nothing = staged(ECHO, files=files({"default_model": "x"})).trust()
    (nothing.workspace / ".workbench.json").unlink()
    assert ended(nothing) == ""


def test_trust_that_an_older_version_recorded_counts_as_trust_in_hooks(staged):
    from workbench.domain.events import WorkspaceTrusted
    from workbench.domain.values import SYSTEM_SESSION

    stage = staged(ECHO, files=files({}))
    body = WorkspaceTrusted(workspace=str(stage.workspace), content_hash="another")
    stage.journal.append([stage.journal.event(body, SYSTEM_SESSION, USER)])
    assert "hooks" in ended(stage)


def test_a_folder_that_cannot_be_judged_stays_closed_until_trust_is_taken_back(staged, monkeypatch):
    stage = staged(ECHO, files=files(HOOK), config=ALLOWED).trust()
    monkeypatch.setattr("workbench.policy.trust.MAX_GOVERNING_FILES", 1)
    for name in "ab":
        (stage.workspace / ".agents").mkdir(exist_ok=True)
        (stage.workspace / ".agents" / name).touch()
    with pytest.raises(TrustRefused, match="more than 1 files"):
        workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    assert ended(stage)
    stage.begin().drive()
    assert len(stage.waiting()) == 1
    workspace_trust.revoke_trust(stage.journal, str(stage.workspace), USER)
    assert not ended(stage)


# --- what the question says ------------------------------------------------------------------------


def test_the_question_names_hook_commands_and_the_server_of_the_conversation(staged):
    content = {
        **HOOK, **DENIAL, "default_provider": "near", "incidents": {"checker": "make lint"},
        "providers": {"near": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"},
                      "far": {"kind": "openai-compatible", "base_url": "http://127.0.0.1:8/v1"}},
    }  # fmt: skip
    manifest = "hooks: {PreToolUse: [{\n  command: echo \u202e hi\n}]}\n"
    stage = staged(ECHO, files=files(content) | {"wave.yaml": manifest})
    row = stage.journal.action(workspace_trust.open_trust_question(stage.journal, str(stage.workspace)))
    words = stage.opened(row).prompt
    assert "/bin/sh -c 'exit 1' (PreToolUse Bash(*))" in words
    assert "⟨U+202E⟩" in words
    assert "\u202e" not in words
    assert "The conversation would go to http://127.0.0.1:9/v1 (model m)." in words
    assert "It also names the model servers: http://127.0.0.1:8/v1." in words
    assert "Its pipelines name commands on 1 line." in words
    assert "Findings would be checked by: make lint." in words
    assert row.subject["checker"] == "make lint"
    assert row.subject["hooks"][0] == {
        "event": "PreToolUse", "matcher": "Bash(*)", "argv": ["/bin/sh", "-c", "exit 1"],
    }  # fmt: skip
    assert (row.subject["guards"], row.subject["hook_count"], row.subject["denials"]) == ("hooks", 2, 1)
    assert [server["used"] for server in row.subject["servers"]] == [True, False]


def test_what_the_question_says_is_bounded(staged):
    many = [{"matcher": "*", "command": f"true {'x' * 2000} {n}"} for n in range(60)]
    stage = staged(ECHO, files=files({"hooks": {"PreToolUse": many}}))
    row = stage.journal.action(workspace_trust.open_trust_question(stage.journal, str(stage.workspace)))
    words = stage.opened(row).prompt
    assert "and 54 more" in words
    assert "characters)" in words
    assert len(words) < 4000
    assert (len(row.subject["hooks"]), row.subject["hook_count"]) == (50, 60)


def test_content_that_changes_while_it_is_read_is_not_asked_about(staged, monkeypatch):
    stage = staged(ECHO)
    hashes = iter("abcdefgh")
    monkeypatch.setattr(workspace_trust.trust, "governing_hash", lambda _: next(hashes))
    with pytest.raises(TrustRefused, match="change while they are read"):
        workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
