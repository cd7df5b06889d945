"""All agents are held and released by keys that work on every screen; each header says it in words."""

from tests.support.stage import USER, call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.config.types import UiSettings
from workbench.domain.events import AgentsHeld, AgentsReleased
from workbench.domain.values import SYSTEM_SESSION
from workbench.journal.agent_hold import hold_agents, release_agents
from workbench.journal.errors import GuardFailed
from workbench.tui.main import agent_hold

NOTICE = "HELD: every call asks; ctrl+r releases"
TALK = recording(exchange(call("c1", "read_file", path="router.py")), exchange(text("Done.")))


def holding(stage):
    return {
        "hold_agents": lambda: hold_agents(stage.journal, USER),
        "release_agents": lambda: release_agents(stage.journal, USER),
    }


def kinds(stage):
    events = stage.journal.events(SYSTEM_SESSION)
    return [event.kind for event in events if isinstance(event.body, AgentsHeld | AgentsReleased)]


def play_held(stage, body, **more):
    play(stage, body, **holding(stage), **more)


def first_row(shown):
    return shown.text.splitlines()[0]


def test_one_key_holds_from_the_composer_and_twice_never_releases(tmp_path):
    stage = staged(tmp_path, TALK)

    async def body(shown):
        assert shown.main.composer.has_focus_within
        await shown.press("h", "ctrl+s", "ctrl+s")
        assert NOTICE in first_row(shown)
        assert shown.main.composer.text == "h"
        assert kinds(stage) == ["agents.held"]
        await shown.press("ctrl+r")
        assert shown.said == "Not released in a text field: press esc, then ctrl+r."
        await shown.press("escape", "ctrl+r", "ctrl+r")
        assert kinds(stage) == ["agents.held", "agents.released"]
        assert "HELD" not in first_row(shown)
        assert shown.said == agent_hold.NOT_HELD

    play_held(stage, body, size=(80, 24), goes_to_queue=False)


def test_release_counts_only_once_the_hold_was_drawn_long_enough(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("ctrl+s")
        await shown.press_once("ctrl+r", wait=0.2)
        assert "Too quick" in shown.said
        assert kinds(stage) == ["agents.held"]
        await shown.press("ctrl+r")
        assert kinds(stage) == ["agents.held", "agents.released"]

    play_held(stage, body)


def test_what_another_process_holds_is_shown_and_answers_still_count(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        hold_agents(stage.journal, USER)
        await shown.look()
        assert NOTICE in first_row(shown)
        row = shown.approvals.queue.cursor
        await shown.press("ctrl+y")
        assert stage.journal.action(row).state == "approved"
        assert stage.journal.are_agents_held

    play_held(stage, body, size=(80, 24))


def test_a_dialog_holds_and_does_not_release(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("?", "ctrl+s")
        assert shown.app.screen.id == "help-screen"
        assert "HELD: every call asks" in first_row(shown)  # the page hides the header
        await shown.press("ctrl+r")
        assert kinds(stage) == ["agents.held"]
        await shown.press("escape")
        assert NOTICE in first_row(shown)
        await shown.press("ctrl+r")
        assert kinds(stage) == ["agents.held", "agents.released"]

    play_held(stage, body, size=(80, 24))


def test_a_dialog_whose_content_covers_the_header_says_that_all_are_held(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        hold_agents(stage.journal, USER)
        await shown.look()
        await shown.press("?")
        assert shown.app.screen.has_class("-page") and not shown.app.screen.box.has_class("-page-wide")
        assert "HELD: every call asks" in first_row(shown)
        await shown.press("escape")
        assert NOTICE in first_row(shown)

    play_held(stage, body, size=(160, 24))


def test_the_users_own_keys_hold_and_are_named(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        ui = UiSettings(keymap={"agents.hold": "f9", "agents.release": "f10"})
        shown.app.configure(ui)
        shown.app.user_keys = dict(ui.keymap)
        await shown.press("ctrl+s")
        assert kinds(stage) == []
        await shown.press("f9")
        assert "HELD: every call asks; f10 releases" in first_row(shown)
        await shown.press("f10")
        assert kinds(stage) == ["agents.held", "agents.released"]

    play_held(stage, body)


def test_a_replay_shows_the_hold_of_its_moment_and_holds_now(tmp_path):
    stage = staged(tmp_path, TALK)
    stage.journal.clock.advance(60)
    hold_agents(stage.journal, USER)
    stage.journal.clock.advance(60)
    stage.say("go on")
    stage.journal.clock.advance(60)
    release_agents(stage.journal, USER)

    async def body(shown):
        shown.app.open_replay(stage.session_id, 1)
        await shown.settle()
        assert "REPLAY" in first_row(shown)
        assert "held" not in first_row(shown).casefold()
        await shown.press("f")
        assert "agents held then" in first_row(shown)
        assert NOTICE not in first_row(shown)
        await shown.press("ctrl+s")
        assert NOTICE in first_row(shown)
        await shown.press("ctrl+r")
        assert NOTICE not in first_row(shown)

    play_held(stage, body)


def test_a_refusal_is_said_and_changes_nothing(tmp_path):
    stage = staged(tmp_path)

    def refuse():
        raise GuardFailed("the agents were not held", "the disk is full", "make room")

    async def body(shown):
        await shown.press("ctrl+s")
        assert shown.said == "The agents were not held. The disk is full. Make room."
        assert "HELD" not in first_row(shown)

    play(stage, body, hold_agents=refuse)
