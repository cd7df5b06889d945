"""What was left out stays left out: after a new diff, after more time, wherever the cursor is."""

import asyncio

import pytest

from tests.support.stage import USER
from tests.tui.screens import ROUTER, play, staged
from tests.unit.views.making import hunk
from workbench.domain.values import SelectedHunk
from workbench.host import session_requests
from workbench.tui.approvals import approval_selection
from workbench.tui.approvals.approval_selection import ApprovalSelection
from workbench.views.action_detail import ActionDetail

LINES = ((" ", "a"), ("-", "b"), ("+", "c"), (" ", "d"))


@pytest.fixture
def stage(tmp_path):
    return staged(tmp_path)


def edit_of(shown):
    return next(action for action in shown.stage.waiting() if action.verb == "edit")


async def new_diff(shown, action):
    """Let something else write the file, and have the action proposed anew."""
    (shown.stage.workspace / "router.py").write_text(ROUTER + "more\n")
    session_requests.request_refresh(shown.stage.journal, action.id, USER)
    stage = shown.stage
    await asyncio.to_thread(stage.drive, lambda _: stage.journal.action(action.id).state == "superseded")
    await shown.look()
    assert edit_of(shown).id != action.id
    return edit_of(shown)


async def left(shown):
    action = edit_of(shown)
    shown.approvals.queue.put_cursor(action.id)
    await shown.settle()
    await shown.press("l", "space")
    return action


@pytest.mark.parametrize("is_looked_at", [True, False])
def test_a_new_diff_leaves_what_was_left(stage, is_looked_at):
    async def body(shown):
        action = await left(shown)
        if not is_looked_at:
            await shown.press("j")
        fresh = await new_diff(shown, action)
        shown.approvals.queue.put_cursor(fresh.id)
        await shown.settle()
        assert shown.approvals.detail.id == fresh.id
        assert "2 taken, 1 left" in shown.text
        for _ in range(4):
            await shown.press("a")
        decided = stage.journal.action(fresh.id)
        assert decided.selection == (SelectedHunk(hunk=1), SelectedHunk(hunk=3))

    play(stage, body)


def test_more_time_leaves_what_was_left(stage):
    async def body(shown):
        action = await left(shown)
        await shown.press("x")
        fresh = edit_of(shown)
        assert fresh.id != action.id
        assert "2 taken, 1 left" in shown.text
        await shown.press("space")
        assert "3 taken" in shown.text
        shown.approvals.tick(shown.stage.journal.now())
        await shown.settle()
        assert "3 taken" in shown.text, "what the user takes again stays taken"

    play(stage, body)


def detail(key, *hunks):
    return ActionDetail(
        id=key, digest=key, kind="tool", verb="edit", tool="replace_string_in_file", target="a.py", sign="waiting",
        state_word="waiting", session_id="s", session_title="", hunks=tuple(hunks),
    )  # fmt: skip


def test_what_is_gone_from_the_new_diff_is_said():
    choosing, old = (
        ApprovalSelection(),
        detail("old", hunk(1, lines=LINES), hunk(2, lines=((" ", "x"), ("+", "y")))),
    )
    choosing.hunks["old"] = 1
    choosing.toggle_hunk(old)
    choosing.succeed("old", "middle")
    choosing.succeed("middle", "new")
    choosing.forget({"new"})
    new = detail("new", hunk(1, lines=((" ", "x"), ("+", "y"))))
    assert choosing.taken_of(new).is_all
    assert approval_selection.position_caption(new, choosing).endswith(
        "1 taken   2 left-out lines are gone from the new diff"
    )


def test_a_text_of_the_users_own_is_not_taken_for_the_new_diff_and_that_is_said():
    choosing = ApprovalSelection(edits={"old": {"a.py": b"mine"}})
    choosing.succeed("old", "new")
    assert not choosing.edits
    assert "your text was for the old diff" in approval_selection.dropped_parts_caption(
        detail("new", hunk(1, lines=LINES)), choosing
    )
