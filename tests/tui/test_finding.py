"""Finding in a conversation: nearest first, wherever it is, folded or far back, and out of the way again."""

import pytest

from benchmarks import homes
from tests.support.stage import call, exchange, recording, text
from tests.tui.screens import play, staged
from workbench.domain.events import PromptSubmitted
from workbench.journal.journal import Journal
from workbench.views.conversation_blocks import OutputBlock

RUN = call("c1", "run_in_terminal", command="echo hidden treasure")
SAID = recording(exchange(text("I look for the treasure map."), RUN), exchange(text("No treasure here.")))


@pytest.fixture
def stage(tmp_path):
    stage = staged(tmp_path, SAID)
    (action,) = stage.waiting()
    stage.approve(action)
    stage.drive()
    return stage


def pane(shown):
    return shown.main.conversation


async def find(shown, words, *more):
    await shown.press("escape", "1", "slash")
    await typed(shown, words, *more)


async def typed(shown, words, *more):
    shown.main.layout_controller.line_bar.input.value = words
    await shown.settle()
    await shown.press(*more)


def test_the_nearest_place_above_comes_first_and_keys_go_on(stage):
    async def body(shown):
        await find(shown, "treasure", "enter")
        finding = pane(shown).finding
        assert (finding.words, finding.current.block_id[:5]) == ("4 of 4", "text:")
        assert "“treasure” 4 of 4" in shown.text
        for words in ("3 of 4", "2 of 4", "1 of 4", "1 of 4"):
            await shown.press("N")
            assert finding.words == words
        assert shown.said == "No earlier place holds “treasure”."
        await shown.press("n")
        assert finding.words == "2 of 4"
        await shown.press("slash", "enter")
        assert finding.words == "1 of 4", "nothing else typed goes on upwards"

    play(stage, body)


def test_what_is_folded_opens_while_the_reader_is_there(stage):
    async def body(shown):
        await find(shown, "hidden treasure", "enter")
        blocks = pane(shown).view.blocks
        output = next(block for block in blocks if isinstance(block, OutputBlock))
        assert pane(shown).finding.current.block_id == output.id
        assert not output.is_folded
        await shown.press("N")
        assert next(block for block in pane(shown).view.blocks if isinstance(block, OutputBlock)).is_folded

    play(stage, body)


def test_hits_are_underlined_and_escape_ends_it(stage):
    def underlined(shown):
        strips = shown.app.screen._compositor.render_strips()
        found = [piece.text for strip in strips for piece in strip if piece.style and piece.style.underline]
        return [text for text in found if "reasure" in text]

    async def body(shown):
        await find(shown, "TREASURE")
        assert set(underlined(shown)) == {"treasure"}
        await shown.press("enter", "escape")
        assert not underlined(shown)
        assert not pane(shown).finding.text
        assert shown.main.focused_pane is pane(shown), "the first escape ends the search only"
        assert "treasure” 4" not in shown.text

    play(stage, body)


def test_what_is_not_there_is_said_and_keys_mean_problems_again(stage):
    async def body(shown):
        await find(shown, "pirates", "enter")
        assert shown.said == "“pirates” is not in this conversation."
        assert pane(shown).label_of("list.problem-next") == "next problem"

    play(stage, body)


def test_what_is_said_meanwhile_is_found_too(stage):
    async def body(shown):
        await find(shown, "treasure", "enter")
        said = PromptSubmitted(text="more treasure")
        stage.journal.append([stage.journal.event(said, stage.session_id, homes.USER)], strict=False)
        await shown.look()
        assert pane(shown).finding.words == "4 of 5"
        await shown.press("n")
        assert pane(shown).finding.words == "5 of 5"

    play(stage, body)


def test_a_narrow_screen_says_where_one_is(stage):
    async def body(shown):
        await find(shown, "treasure", "enter", "N")
        assert shown.said == "“treasure” 3 of 4"
        assert not [one for one in shown.main.notifications.kept if "treasure" in one.text]

    play(stage, body, size=(80, 24))


def test_hostile_words_are_only_words(stage):
    async def body(shown):
        await find(shown, "[red].*(", "enter")
        assert shown.said == "“[red].*(” is not in this conversation."

    play(stage, body)


def test_places_of_a_long_history_are_counted_and_shown(tmp_path):
    long = homes.conversation(tmp_path, 4_000)
    long.journal = Journal.open(long.home)

    async def body(shown):
        shown.main.go_to(1)
        await shown.settle()
        await shown.press("slash")
        await typed(shown, "prompt 1:", "enter")
        finding = pane(shown).finding
        assert (finding.words, finding.is_whole) == ("1 of 1", True)
        assert "prompt 1:" in shown.text
        assert shown.main.state.window is not None
        await shown.press("escape", "slash")
        await typed(shown, "prompt", "enter")
        assert len(finding) == 1
        finding = pane(shown).finding
        turns = 4_000 // homes.EVENTS_A_TURN
        assert len(finding) >= turns
        await shown.press("G")
        assert shown.main.state.window is None
        await shown.press("n")
        assert pane(shown).view.cursor == finding.current.block_id

    play(long, body, size=(120, 36))
