"""`d` shows all that a session changed; `R` goes to the agent that wrote it, only after its command was shown."""

import pytest

from tests.support.stage import USER, call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.backend.session_diff import session_diff
from workbench.domain.events import SessionCreated, SessionStatusChanged
from workbench.formats.agent_folders import AgentCommand
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.tui.backend import BackendError, ReplayBackend

SCRIPT = recording(
    exchange(
        call("c1", "replace_string_in_file", path="a.txt", old_string="b\n", new_string="B\n"),
        call("c2", "create_file", path="n.txt", content="new\n"),
    ),
    exchange(text("done")),
)
COMMAND = AgentCommand(argv=("claude", "--resume", "abc-1"), folder="/elsewhere/shop")


@pytest.fixture
def done(tmp_path):
    stage = staged(tmp_path, SCRIPT, {"a.txt": "a\nb\n"})
    while waiting := stage.waiting():
        for action in waiting:
            stage.approve(action)
        stage.drive()
    made = SessionCreated(
        session_kind="import", title="seen elsewhere", workspace="/elsewhere/shop", origin="claude-code",
        configuration={"import": {"id": "abc-1"}},
    )  # fmt: skip
    moved = (made, SessionStatusChanged(status="initializing"), SessionStatusChanged(status="ready"))
    stage.journal.append([stage.journal.event(body, "foreign", USER) for body in moved], strict=False)
    return stage


def played(stage, body, **more):
    def diff(session_id):
        return session_diff(stage.journal, stage.journal.session(session_id))

    play(stage, body, goes_to_queue=False, session_diff=diff, **more)


def test_the_page_has_all_files_and_the_diff_of_the_one_under_the_cursor(done):
    async def body(shown):
        await shown.press("escape", "1", "d")
        await shown.settle()
        assert "2 files  +2 −1" in shown.text
        assert (
            "- b" in shown.text
            and "+ B" in shown.text
            and "new" not in shown.text.partition("n.txt")[2].partition("\n")[2]
        )
        await shown.press("j")
        assert "+ new" in shown.text and "created" in shown.text
        await shown.press("escape")
        assert shown.app.screen.id == "main"

    played(done, body)


def test_a_session_without_changes_says_so(done):
    async def body(shown):
        await shown.press("escape", "5")
        await shown.settle()
        await shown.press("/", *"elsewhere", "enter")
        await shown.settle()
        await shown.press("d")
        await shown.settle()
        assert shown.said == "It changed no file that is recorded."

    played(done, body)


def test_the_page_of_an_undone_session_says_that_all_was_undone(done):
    plan = plan_undo(done.journal, done.session())
    request_undo_of_files(done.journal, plan, plan.ready, USER)
    done.drive()

    async def body(shown):
        await shown.press("escape", "1", "d")
        await shown.settle()
        assert shown.said == "All its changes were undone: the 2 files that it changed are as before."

    played(done, body)


def test_a_replay_asks_the_live_screen():
    live = ReplayBackend()
    with pytest.raises(BackendError, match="no diff here"):
        ReplayBackend(live).session_diff("x")


async def chosen(shown, *keys):
    await shown.press("escape", "5")
    await shown.settle()
    await shown.press("/", *"elsewhere", "enter")
    await shown.settle()
    await shown.press("R")
    await shown.settle()
    assert "claude --resume abc-1" in shown.text
    shown.hand.waits()
    await shown.press(*keys)
    await shown.settle()


@pytest.mark.parametrize(
    ("keys", "problem", "ran", "copied"),
    [
        (["escape"], "", [], []),
        (["c", "enter"], "", [], [COMMAND.shell_line]),
        (["x", "enter"], "", [], []),
        (["enter"], "claude is not on PATH", [], [COMMAND.shell_line]),
    ],
)
def test_nothing_runs_before_it_was_confirmed(done, keys, problem, ran, copied):
    seen, kept = [], []

    async def body(shown):
        await chosen(shown, *keys)
        assert (seen, kept) == (ran, copied)
        assert not problem or problem not in shown.text

    command = AgentCommand(argv=COMMAND.argv, folder=COMMAND.folder, problem=problem)
    played(
        done, body, agent_command=lambda key: command, run_agent=lambda given: seen.append(given) or "ended",
        copy_to_clipboard=lambda words: kept.append(words) or True,
    )  # fmt: skip
