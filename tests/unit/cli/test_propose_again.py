"""`workbench approvals propose-again`."""

import pytest

CALLS = [
    {"id": name, "name": "create_file", "arguments": {"path": f"{name}.py", "content": "x\n"}}
    for name in "mn"
]


@pytest.fixture
def late(shell, monkeypatch):
    """Return a shell in whose workspace two actions of one session have expired."""
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)
    monkeypatch.setenv("WORKBENCH_APPROVALS_WINDOW_MINUTES", "0.00001")
    reply = {"reply": [{"tool_call": one} for one in CALLS]}
    shell("run", "-p", "x", "--recording", shell.recording(reply), "--on-approval", "park")
    rows = shell.json("approvals", "list", "--json", "--decided")
    late = sorted((row["target"], row["id"]) for row in rows if row["state"] == "expired")
    shell.ids = [key for _, key in late]
    shell.session = next(row["session_id"] for row in rows if row["kind"] == "tool")
    assert len(shell.ids) == 2
    return shell


def test_one_is_asked_for_once(late):
    assert late("approvals", "propose-again", late.ids[0]) == 0
    assert "The agent is asked to propose it again: write m.py." in late.out
    assert late("approvals", "propose-again", late.ids[0]) == 1
    assert "asked for it already" in late.err


def test_a_whole_session_is_one_prompt(late):
    found = late.json("approvals", "propose-again", "--session", late.session, "--json")
    assert [row["id"] for row in found["asked"]] == late.ids
    assert late("approvals", "propose-again", "--session", late.session) == 1
    assert "for all that expired already" in late.err


@pytest.mark.parametrize("words", [(), ("--session", "x", "3f2a")])
def test_it_wants_either_ids_or_a_session(shell, words):
    assert shell("approvals", "propose-again", *words) == 2
    assert "Give ids, or --session" in shell.err


def test_a_bad_id_does_not_stop_the_others(late):
    assert late("approvals", "propose-again", late.ids[0]) == 0
    assert late("approvals", "propose-again", *late.ids) == 0
    assert "write n.py" in late.out
