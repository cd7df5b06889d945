"""`approvals reopen`: what was left out of an approved change comes as an action of its own."""

import pytest

from tests.support.stage import Stage, call, exchange, recording, text
from workbench.cli import approvals

OLD = "".join(f"line {number}\n" for number in range(40))
NEW = OLD.replace("line 2\n", "TWO\n").replace("line 30\n", "THIRTY\n")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    edit = call("c1", "replace_string_in_file", path="a.txt", old_string=OLD, new_string=NEW)
    found = Stage(tmp_path / "stage", recording(exchange(edit), exchange(text("ok"))), files={"a.txt": OLD})
    found.begin("change it").drive()
    (found.part,) = found.waiting()
    found.approve(found.part, hunks=[1])
    found.drive()
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home.path))
    monkeypatch.setattr(approvals, "start_hosts", lambda *about: found.drive())
    yield found
    found.close()


def test_what_was_left_is_proposed_under_an_id_of_its_own(shell, stage):
    assert shell("approvals", "reopen", stage.part.id) == 0
    (row,) = stage.waiting()
    assert f"Proposed: edit a.txt, what {stage.part.id[:4]}" in shell.out
    assert shell.out.rstrip().endswith(f"left. It is {row.id}.")
    assert shell("approvals", "reopen", stage.part.id) == 1
    assert "It waits already" in shell.err
    assert shell("approvals", "approve", row.id) == 0
    stage.drive()
    assert stage.read("a.txt").decode() == NEW


def test_what_can_no_longer_be_proposed_says_why(shell, stage):
    (stage.workspace / "a.txt").write_text("mine\n")
    assert shell("approvals", "reopen", stage.part.id) == 1
    assert "a.txt has changed since" in shell.err
    assert stage.waiting() == []
