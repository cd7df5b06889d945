"""A row of an agent that works on findings names its finding; after the last answer a line names key 8."""

from types import SimpleNamespace

import pytest

from tests.support.incident_lists import FAULTS, FIX_NONE, FIX_OS, FIX_SYS, Lists, asked, edit, told
from tests.support.stage import USER
from tests.tui.screens import play, staged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.host.incident_requests import title_by_request


@pytest.fixture
def stage(tmp_path):
    """Return a stage on which the edit for the first of three findings waits."""
    lists = Lists(tmp_path, *FIX_OS, *FIX_SYS, config={}, clock=ManualClock())
    workspace_trust.grant_trust(lists.journal, str(lists.root), False, USER)
    found = lists.findings()
    ids = [one.id for one in found.incidents if "`os`" in one.message]
    list_id = lists.ask(lists.make(found), *ids)
    title_by_request(lists.journal, list_id, USER)
    lists.drive(list_id)
    return SimpleNamespace(
        root=tmp_path, home=lists.home, journal=lists.journal, workspace=lists.root, lists=lists,
        list_id=list_id,
    )  # fmt: skip


def test_a_row_names_the_finding_and_the_last_answer_the_key_to_the_list(stage):
    async def body(shown):
        (waiting,) = stage.lists.waiting(stage.list_id)
        assert shown.approvals.queue.cursor == waiting.id
        assert "fixes  F401 `os` imported but unused, a.py:1" in shown.text
        assert "F401 in a.py" in shown.text
        await shown.press("a")
        assert shown.state(waiting) == "approved"
        assert shown.said == "Nothing more of these findings waits. 8 shows them."
        assert shown.main.place == shown.approvals.PLACE

    play(stage, body, size=(160, 48))


def test_a_row_of_another_session_names_no_finding(tmp_path):
    async def body(shown):
        assert shown.approvals.detail.finding == "" and " fixes  " not in shown.text
        await shown.press("=")
        assert shown.said == "Only an edit for a finding belongs to a rule."
        assert not shown.approvals.choosing.marks

    play(staged(tmp_path), body)


@pytest.fixture
def three_edits(tmp_path):
    """Return a stage on which two edits for one rule wait, and one for another."""
    both = asked("`os` imported", edit("os", "import os\n", ""), edit("os2", "import os\n", "", path="b.py"))
    files = {"a.py": FAULTS, "b.py": "import os\n"}
    lists = Lists(
        tmp_path, both, told("os"), told("os2"), *FIX_NONE, files=files, config={}, clock=ManualClock()
    )
    workspace_trust.grant_trust(lists.journal, str(lists.root), False, USER)
    found, asked_lists = lists.findings(), []
    for words, path in (("`os`", "a.py"), ("None", "a.py")):
        ids = [one.id for one in found.incidents if words in one.message and one.path == path]
        asked_lists.append(lists.ask(lists.make(found), *ids))
        lists.drive(asked_lists[-1])
    first, other = asked_lists
    return SimpleNamespace(
        root=tmp_path, home=lists.home, journal=lists.journal, workspace=lists.root, lists=lists,
        first=first, other=other,
    )  # fmt: skip


def test_all_edits_for_one_rule_are_marked_at_once_and_each_is_looked_at(three_edits):
    async def body(shown):
        pane = shown.approvals
        waiting = {row.id: row.target for row in pane.rows if row.is_pending}
        assert sorted(waiting.values()) == ["a.py", "a.py", "b.py"]
        of_os = next(key for key, target in waiting.items() if target == "b.py")
        pane.queue.put_cursor(of_os)
        await shown.settle()
        await shown.press("=")
        assert len(pane.choosing.marks) == 2 and of_os in pane.choosing.marks
        assert shown.said == "2 edits for F401: a looks at each and approves."
        await shown.press("=")
        assert not pane.choosing.marks
        assert shown.said == "2 edits for F401: nothing of them is marked."
        await shown.press("=", "a")
        assert "Approve 2 actions together" in shown.text
        assert "seen 2 of 2" in shown.text
        await shown.press("a")
        assert [action.state for action in three_edits.lists.waiting(three_edits.other)] == ["pending"]
        assert not three_edits.lists.waiting(three_edits.first)

    play(three_edits, body, size=(160, 48))
