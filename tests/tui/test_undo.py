"""The table that undoes a turn or a session: what it says, what is taken, and what one answer asks for."""

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.tui.replay.replay_screen import is_off_in_replay

SCRIPT = recording(
    exchange(
        call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n"),
        call("c2", "create_file", path="n.txt", content="new\n"),
        call("c3", "run_in_terminal", command="true"),
    ),
    exchange(text("done")),
    exchange(text("nothing changed")),
)


@pytest.fixture
def done(tmp_path):
    """Return a stage with two turns that are over; only the first changed files."""
    stage = staged(tmp_path, SCRIPT, {"a.txt": "a\nb\n"})
    while waiting := stage.waiting():
        for action in waiting:
            stage.approve(action)
        stage.drive()
    stage.say("and now?")
    stage.drive()
    return stage


def played(stage, body, **more):
    asked = []

    def plan(session_id, turn_id, *, is_redo):
        return plan_undo(stage.journal, stage.journal.session(session_id), turn_id, is_redo=is_redo)

    def files(undo, paths):
        asked.append((undo.turn_id is not None, undo.is_redo, list(paths)))
        return "Undone."

    async def run(shown):
        await body(shown, asked)

    play(stage, run, undo_plan=plan, undo_files=files, goes_to_queue=False, **more)


async def open_turn(shown):
    await shown.press("escape", "1", "[", "[", "u")


def test_a_turn_is_undone_with_one_answer_after_its_table(done):
    async def body(shown, asked):
        await open_turn(shown)
        assert "Undo the changes of turn 1" in shown.text
        assert "2 of 2 taken" in shown.text
        assert "1 command ran: what it did is not undone." in shown.text
        assert "restored" in shown.text
        assert "removed" in shown.text
        assert "- B" in shown.text
        await shown.press("a")
        assert asked == [(True, False, ["a.txt", "n.txt"])]
        assert shown.said == "Undone."

    played(done, body)


def test_space_leaves_a_file_and_the_answer_names_the_others(done):
    async def body(shown, asked):
        await open_turn(shown)
        await shown.press("space")
        assert "left as it is" in shown.text
        await shown.press("a")
        assert asked == [(True, False, ["n.txt"])]

    played(done, body)


def test_where_nothing_is_taken_nothing_is_asked(done):
    async def body(shown, asked):
        await open_turn(shown)
        await shown.press("space", "space", "a")
        assert asked == []
        assert "a nothing is taken" in shown.text

    played(done, body)


def test_a_key_that_comes_with_the_table_is_too_quick(done):
    async def body(shown, asked):
        await open_turn(shown)
        await shown.press("a", wait=0.0)
        await shown.wait_for_key()
        assert asked == []

    played(done, body)


def test_what_somebody_else_changed_is_left_until_it_is_taken(done):
    (done.workspace / "a.txt").write_text("mine\n")

    async def body(shown, asked):
        await open_turn(shown)
        assert "left: changed since by somebody else" in shown.text
        assert "not touched unless you" in shown.text
        await shown.press("space")
        assert "taking it loses" in shown.text
        await shown.press("a")
        assert asked == [(True, False, ["a.txt", "n.txt"])]

    played(done, body)


def test_a_turn_without_changes_says_so_instead(done):
    async def body(shown, asked):
        await shown.press("escape", "1", "G")
        assert shown.main.conversation.why_not("conversation.undo") == "this turn changed no file"
        await shown.press("u")
        assert (shown.said, asked) == ("This turn changed no file.", [])

    played(done, body)


@pytest.mark.parametrize("keys", [("0", "u"), ("5", "u")])
def test_a_session_is_undone_from_rail_and_library(done, keys):
    async def body(shown, asked):
        await shown.press("escape", *keys)
        assert "Undo the changes of the session" in shown.text
        await shown.press("a")
        assert asked == [(False, False, ["a.txt", "n.txt"])]

    played(done, body)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
def test_what_was_undone_is_restored_by_the_same_table(done, size):
    plan = plan_undo(done.journal, done.session())
    request_undo_of_files(done.journal, plan, {"n.txt"}, USER)
    done.drive()

    async def body(shown, asked):
        await shown.press("escape", "1", "[", "[")
        row = next(row for row in shown.main.state.actions.values() if row.target == "n.txt")
        assert row.id in shown.main.state.undone
        await shown.press("u")
        assert "what was undone" in shown.text
        await shown.press("r")
        assert "Restore the changes of turn 1" in shown.text
        assert "created again" in shown.text
        await shown.press("a")
        assert asked == [(True, True, ["n.txt"])]

    played(done, body, size=size)


def test_a_restored_change_is_not_called_undone_any_more(done):
    for is_redo in (False, True):
        plan = plan_undo(done.journal, done.session(), is_redo=is_redo)
        request_undo_of_files(done.journal, plan, plan.ready, USER)
        done.drive()

    async def body(shown, asked):
        assert shown.main.state.undone == set()
        assert asked == []

    played(done, body)


def test_in_a_replay_the_keys_are_off():
    assert all(is_off_in_replay(key) for key in ("conversation.undo", "rail.undo"))
