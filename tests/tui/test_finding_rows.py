"""A row of an agent that works on findings names its finding; after the last answer a line names key 8."""

from types import SimpleNamespace

import pytest

from tests.support.incident_lists import FIX_OS, FIX_SYS, Lists
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

    play(staged(tmp_path), body)
