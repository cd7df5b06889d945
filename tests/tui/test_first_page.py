"""The first page of a folder without sessions, and what leads on when the demo is done."""

import asyncio

import pytest

from tests.support.drawn_runs import HOST
from tests.support.sizes import rarely
from tests.support.stage import Stage, exchange, recording, text
from tests.tui.screens import FILES, play
from workbench.domain.events import SessionStatusChanged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.tui.backend import EXIT_FOR_DEMO
from workbench.tui.main.first_page import DEMO_DONE, DEMO_DONE_IN_COMPOSER

HELLO = recording(exchange(text("Hello."), {"usage": {"input_tokens": 10, "output_tokens": 2}}))


@pytest.fixture
def fresh(tmp_path):
    """A folder in which nothing has happened yet, with a question of trust."""
    stage = Stage(tmp_path, HELLO, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))
    return stage


@pytest.mark.parametrize(
    "size", [(120, 36), (46, 10), *map(rarely, ((160, 48), (80, 24), (60, 18)))], ids=str
)
def test_the_first_page_has_the_body_and_the_footer_names_its_keys(fresh, size):
    async def body(shown):
        assert "You decide." in shown.text and "2 Approvals ──" not in shown.text
        last = shown.text.splitlines()[-1]
        assert "d demo" in last and "p set up a model" in last
        await shown.press("p")
        assert "Models and providers" in shown.text and "add a provider" in shown.text
        await shown.press("f")
        assert "Models are named in one file" in shown.text
        await shown.press("escape", "escape")
        assert "You decide." in shown.text

    play(fresh, body, size=size, has_model=lambda: False)


def test_its_other_keys_lead_where_they_say(fresh):
    async def body(shown):
        assert ".workbench.json not trusted yet; 2 shows the question" in shown.text
        await shown.press("2")
        assert shown.approvals.has_pane_focus and "ctrl+t trust" in shown.text.splitlines()[-1]
        assert "d   try the demo" in shown.text and "not trusted yet" not in shown.text
        await shown.press("1")
        assert "2 Approvals" not in shown.text and "d   try the demo" in shown.text
        await shown.press("5")
        assert shown.main.place == 5

    play(fresh, body, has_model=lambda: False)


def test_leaving_asks_nothing_where_only_the_trust_question_waits(fresh):
    async def body(shown):
        assert [action.kind for action in shown.main.state.pending] == ["trust"]
        await shown.press_once("q")
        assert "wait" not in shown.main.rule.said
        await shown.press_once("escape")
        await shown.press_once("ctrl+q")
        assert shown.app.return_code == 0

    play(fresh, body, has_model=lambda: False)


def test_agents_that_have_sessions_here_are_named_on_the_page(fresh):
    async def body(shown):
        await shown.settle()
        assert "I imports those of Claude Code, Codex, pi and 1 more" in shown.text

    agents = ("Claude Code", "Codex", "pi", "Goose")
    play(fresh, body, size=(160, 48), has_model=lambda: False, found_agents=lambda: agents)


@pytest.mark.parametrize("place", ["0", "2", "3", "4"])
def test_the_demo_begins_from_wherever_the_cursor_is(fresh, place):
    async def body(shown):
        await shown.press(place, "d")
        assert shown.app.return_value == EXIT_FOR_DEMO

    play(fresh, body, has_model=lambda: False)


def test_what_is_typed_on_the_page_begins_no_demo(fresh):
    async def body(shown):
        await shown.press("d")
        assert (shown.main.composer.text, shown.app.return_value) == ("d", None)

    play(fresh, body, goes_to_queue=False)


def test_the_first_session_takes_the_place_of_the_page(fresh):
    async def body(shown):
        assert shown.main.composer.has_focus_within, "what is typed is text"
        fresh.begin(title="first words")
        await asyncio.to_thread(fresh.drive)
        await shown.look()
        assert "You decide." not in shown.text
        assert "2 Approvals" in shown.text and "Hello." in shown.text

    play(fresh, body, goes_to_queue=False)


def test_when_the_demo_is_done_its_keys_lead_on(tmp_path):
    stage = Stage(tmp_path, HELLO, clock=ManualClock(), files=FILES)
    stage.trust()

    async def body(shown):
        assert "a recorded agent" in shown.text and "try the demo" not in shown.text
        stage.begin(title="the demo")
        await shown.look()
        assert "replay it" not in shown.text and shown.main.composer.has_focus_within
        await asyncio.to_thread(stage.drive)
        await shown.look()
        assert shown.said == DEMO_DONE_IN_COMPOSER and shown.main.composer.has_focus_within
        await shown.press("escape")
        assert shown.text.splitlines()[-1].startswith(" p replay it  L its pipeline  5 find it")
        await shown.press("L")
        assert shown.said != DEMO_DONE and "pipeline" in shown.said
        await shown.press("p")
        assert "REPLAY  the demo" in shown.text

    play(stage, body, opening=("a recorded agent",))


@pytest.mark.parametrize("place", ["0", "1", "2", "3", "4"])
def test_the_demo_is_replayed_from_every_pane_when_it_is_done(tmp_path, place):
    stage = Stage(tmp_path, HELLO, clock=ManualClock(), files=FILES)
    stage.trust()

    async def body(shown):
        stage.begin(title="the demo")
        await asyncio.to_thread(stage.drive)
        await shown.look()
        await shown.press("escape", place)
        assert "p replay it" in shown.text.splitlines()[-1]
        await shown.press("p")
        assert "REPLAY  the demo" in shown.text

    play(stage, body, opening=("a recorded agent",))


def test_a_demo_whose_first_turn_is_about_to_begin_is_not_done(tmp_path):
    stage = Stage(tmp_path, HELLO, clock=ManualClock(), files=FILES)
    stage.trust()

    async def body(shown):
        stage.begin(title="the demo")
        for status in ("initializing", "ready"):
            event = stage.journal.event(SessionStatusChanged(status=status), stage.session_id, HOST)
            stage.journal.append([event])
        await shown.look()
        assert "demo is done" not in shown.said and shown.main.composer.has_focus_within

    play(stage, body, opening=("a recorded agent",))


def test_what_is_being_written_when_the_demo_is_done_keeps_the_keys(tmp_path):
    stage = Stage(tmp_path, HELLO, clock=ManualClock(), files=FILES)
    stage.trust()

    async def body(shown):
        stage.begin(title="the demo")
        await shown.look()
        await shown.press("h", "i")
        await asyncio.to_thread(stage.drive)
        await shown.look()
        assert shown.said == DEMO_DONE_IN_COMPOSER
        await shown.press("p")
        assert (shown.main.composer.text, shown.main.composer.has_focus_within) == ("hip", True)

    play(stage, body, opening=("a recorded agent",))
