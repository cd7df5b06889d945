"""An approval of a change whose file moved while nobody drove the session: nothing is said that is not true."""

import shutil

import pytest

BEFORE, AFTER = "one\n", "two\n"


def edit(name, old, new):
    arguments = {"path": "a.py", "old_string": old, "new_string": new}
    return {"tool_call": {"id": name, "name": "replace_string_in_file", "arguments": arguments}}


@pytest.fixture
def asked(shell, monkeypatch):
    monkeypatch.setattr("workbench.host.host_start.ensure_host", lambda *_: None)

    def ask(*calls):
        (shell.workspace / "a.py").write_text(BEFORE)
        shell("run", "-p", "x", "--recording", shell.recording({"reply": [*calls]}), "--on-approval", "park")
        return [row["id"] for row in shell.json("approvals", "list", "--json") if row["kind"] == "tool"]

    return ask


def test_an_approval_is_refused_with_the_paths_and_the_remedy(shell, asked):
    (key,) = asked(edit("c1", "one", "two"))
    (shell.workspace / "a.py").write_text("three\n")
    assert shell("approvals", "approve", key) == 1
    assert shell.out == ""
    assert "Changed since it was proposed: a.py" in shell.err and f"approvals refresh {key}" in shell.err
    assert shell("approvals", "refresh", key) == 0
    assert shell("approvals", "reject", key) == 0


def test_what_did_not_move_is_approved_and_not_refreshed(shell, asked):
    (key,) = asked(edit("c1", "one", "two"))
    assert shell("approvals", "refresh", key) == 1
    assert "as they were" in shell.err
    assert shell("approvals", "approve", key) == 0


def test_a_change_on_top_of_another_is_not_compared_with_the_disk(shell, asked):
    first, second = asked(edit("c1", "one", "two"), edit("c2", "two", "three"))
    assert shell("approvals", "approve", first, second) == 0


def test_a_workspace_that_is_gone_is_said(shell, asked, monkeypatch):
    (key,) = asked(edit("c1", "one", "two"))
    monkeypatch.chdir(shell.folder)
    shutil.rmtree(shell.workspace)
    assert shell("approvals", "approve", key) == 1
    assert "a.py" in shell.err and "Traceback" not in shell.err
    assert shell("approvals", "list") == 0
    assert shell("approvals", "reject", key) == 0
