"""The screen with a session of an agent that executes its own calls: its name, its state, what can be asked of it."""

import asyncio

import pytest

from tests.support import golden
from tests.support.fake_agent import supervise
from tests.support.sizes import rarely
from tests.support.stage import Stage, recording
from tests.support.waits import until_true
from tests.tui.backend import backend
from tests.tui.screens import Hand, Shown, play
from workbench.domain.events import ActionCancelled, AgentGone, PromptSubmitted, SessionStatusChanged
from workbench.domain.values import Actor
from workbench.effects.clock import ManualClock
from workbench.host.undo import plan_undo, request_undo_of_files
from workbench.tui.app import WorkbenchApp
from workbench.views.conversation import Transcript

OWN_TERMINAL = "Claude Code reads its prompts in its own terminal"
HOST = Actor(kind="host")


def played(folder, body, *, size=(120, 40), **services):
    """Run a coroutine function of a screen and its journal, which holds the golden session."""
    journal, hand = golden.load("supervised", folder / "home"), Hand()
    app = WorkbenchApp(journal, backend(**services), "/workspace/shop", home="/workspace", monotonic=hand)

    async def run():
        async with app.run_test(size=size) as pilot:
            shown = Shown(None, app, hand, pilot)
            await shown.begin()
            await body(shown, journal)

    try:
        asyncio.run(run())
    finally:
        journal.close()


async def comes(shown, journal, *bodies):
    """Let events of the driver come in."""
    session = shown.main.state.current
    journal.append(
        [journal.event(body, session.id, HOST, turn_id=session.open_turn) for body in bodies], strict=False
    )
    await shown.look()


@pytest.mark.parametrize("size", [(200, 60), *map(rarely, [(120, 40), (80, 24)])], ids=str)
def test_each_place_names_the_agent_and_its_state(tmp_path, size):
    async def body(shown, journal):
        is_wide = size[0] >= 100
        header, *rest = shown.text.splitlines()
        assert ("◎ Claude Code, waits for you" in header) == is_wide
        assert any("edit  docs/api.md" in line and "Claude Code" in line for line in rest)
        await shown.press("0", "z")
        assert "◎ Claude Code" in shown.text and "waits   edit docs/api.md" in shown.text
        assert "This session" not in shown.text and "1 waits" not in shown.text

    played(tmp_path, body, size=size)


def test_the_header_the_sidebar_and_the_title_say_when_it_is_idle_or_gone(tmp_path):
    async def body(shown, journal):
        (waiting,) = shown.main.state.pending
        withdrawn = ActionCancelled(why="the agent's turn ended")
        journal.append([journal.event(withdrawn, waiting.session_id, HOST, action_id=waiting.id)])
        for change, word in ((SessionStatusChanged(status="ready"), "idle"), (AgentGone(), "gone")):
            await comes(shown, journal, change)
            head, titles, first, *_ = shown.text.splitlines()
            assert f"◎ Claude Code, {word}" in head
            assert f" {word}  turn 2" in titles
            assert first.split("│")[0].split()[-2:] == [word, "◄"]

    played(tmp_path, body, size=(200, 60))


def test_the_calls_say_how_they_were_judged(tmp_path):
    async def body(shown, journal):
        await shown.press("1")
        rows = shown.text.splitlines()
        for tool, words in (
            ("ls src/shop", "by its own mode"),
            ("cat docs/api.md", "on its word"),
            ("docs/api.md", "differs"),
        ):
            assert any(tool in row and words in row for row in rows), tool
        await shown.press("3", "g", "enter")
        rows = shown.text.splitlines()
        for tool, words in (
            ("ls src/shop", "by its own mode"), ("src/shop/router.py", "you, bound"), ("docs/api.md", "you, checked"),
            ("cat docs/api.md", "on its word"), ("sh scripts/test.sh", "you, on its word"),
        ):  # fmt: skip
            assert any(tool in row and words in row for row in rows), tool
        assert "On its word: what it did cannot be compared with what was approved." in shown.text

    played(tmp_path, body, size=(200, 60))


def test_nothing_is_sent_to_it_and_a_draft_stays(tmp_path):
    sent = []

    async def body(shown, journal):
        assert f" {OWN_TERMINAL}; ctrl+n starts a session, /command" in shown.text
        await shown.press("i")
        assert shown.said == f"{OWN_TERMINAL}. Nothing can be sent to it from here; ctrl+n starts a session."
        await shown.press(*"now test it", "enter")
        assert shown.said == f"Not sent. {OWN_TERMINAL}."
        assert shown.main.composer.text == "now test it" and sent == []
        assert "enter /command" in shown.text and "enter send" not in shown.text
        await shown.press("ctrl+c")
        assert (shown.main.composer.text, shown.said) == ("", "Cleared. ↑ brings it back.")
        await shown.press("escape", "ctrl+c")
        assert shown.said == "Claude Code is stopped and continued in its own terminal."
        assert not [event for event in journal.events() if isinstance(event.body, PromptSubmitted)]

    played(tmp_path, body, submit_prompt=lambda *words: sent.append(words), interrupt_session=sent.append)


def test_without_a_model_i_says_the_same(tmp_path):
    async def body(shown, journal):
        await shown.press("i")
        assert shown.said.startswith(f"{OWN_TERMINAL}. Nothing can be sent")
        assert "Claude Code, waits for you" in shown.text and "no model yet" not in shown.text

    played(tmp_path, body, has_model=lambda: False)


def test_the_library_continues_and_resumes_it_nowhere(tmp_path):
    async def body(shown, journal):
        for key in ("c", "R"):
            await shown.press("5", key)
            why = "Claude Code is stopped and continued in its own terminal."
            assert shown.said == f"{why} F starts a session from its end."

    played(tmp_path, body)


def test_keys_that_ask_its_agent_are_off_with_the_reason(tmp_path):
    async def body(shown, journal):
        pane = shown.main.conversation
        assert (
            pane.why_not("conversation.retry") == "Claude Code is stopped and continued in its own terminal."
        )
        assert "has its own model" in pane.why_not("conversation.model")
        assert pane.why_not("conversation.continue-turn") == "Nothing is paused here."
        assert pane.why_not("conversation.undo") == "this turn changed no file"
        assert "stop the agent" not in shown.text
        assert not shown.main.stop_agent()

    played(tmp_path, body)


EDIT = {"file_path": "a.txt", "old_string": "one\n", "new_string": "two\n"}


@pytest.fixture
def changed(tmp_path):
    """Return a stage on which an agent made an approved change, left a part of another, and let one expire."""
    stage = Stage(tmp_path, recording(), clock=ManualClock(), files={"a.txt": "one\n"})

    async def scenario(agent):
        asking = asyncio.create_task(agent.call("n1", "Edit", EDIT, "c1"))
        (action,) = await until_true(stage.waiting)
        stage.approve(action)
        await asking
        await until_true(lambda: all(row.finished_at for row in stage.calls().values()))

    supervise(stage, scenario)
    return stage


def test_a_turn_of_it_is_undone_by_its_table(changed):
    asked = []

    def plan(session_id, turn_id, *, is_redo):
        return plan_undo(changed.journal, changed.journal.session(session_id), turn_id, is_redo=is_redo)

    def files(made, paths):
        asked.extend(paths)
        return request_undo_of_files(changed.journal, made, paths, Actor(kind="user")) and "Undone."

    async def body(shown):
        await shown.press("escape", "1", "u")
        assert "Undo the changes of turn 1" in shown.text and "- two" in shown.text
        await shown.press("a")
        assert (asked, shown.said) == (["a.txt"], "Undone.")

    play(changed, body, undo_plan=plan, undo_files=files, goes_to_queue=False)


def test_an_empty_conversation_of_it_asks_for_no_message(tmp_path):
    async def body(shown, journal):
        shown.main.state.transcript = Transcript(shown.main.state.current.id)
        shown.main.presenter.conversation(None)
        await shown.settle()
        assert "Nothing was said yet." in shown.text and "Write below" not in shown.text

    played(tmp_path, body)
