"""Jump: a letter for all that is seen; the next key goes there and decides nothing."""

import pytest

from tests.support.sizes import rarely
from tests.tui.screens import play, staged
from tests.tui.test_beside import compared
from tests.tui.test_rules_screen import with_rules
from tests.tui.test_screen import play_golden
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.main.jump import LETTERS, JumpLabel, jump_codes


@pytest.mark.parametrize("count", [0, 1, 26, 27, 51, 52, 600, 676])
def test_codes_are_as_short_as_can_be_and_none_begins_another(count):
    codes = jump_codes(count)
    assert len(codes) == len(set(codes)) == count
    assert [code for code in codes if any(code != other and other.startswith(code) for other in codes)] == []
    assert codes[:9] == list("asdfghjkl")[:count] or count > 500
    assert sum(len(code) == 1 for code in codes) >= min(count, len(LETTERS)) - -(-max(0, count - 26) // 25)


def labels(shown):
    return {label.code: label.target.at for label in shown.app.screen.query(JumpLabel)}


def code_at(shown, x, y):
    return next(code for code, at in labels(shown).items() if (at.x, at.y) == (x, y))


def state_of_queue(shown):
    return [(row.id, row.state_word, row.is_pending) for row in shown.approvals.rows]


@pytest.mark.parametrize("size", [(120, 36), *map(rarely, ((160, 48), (100, 30)))], ids=str)
def test_a_letter_leads_to_a_row_of_another_pane_with_focus_and_cursor(tmp_path, size):
    async def body(shown):
        before = state_of_queue(shown)
        await shown.press("1")
        queue = shown.approvals.queue
        await shown.press("semicolon")
        assert "goes there" in shown.text.splitlines()[-1]
        await shown.press(code_at(shown, queue.region.x, queue.region.y + 2))
        assert shown.app.screen is shown.main and shown.app.focused is queue
        assert queue.cursor == queue.ids[2] and shown.main.place == 2
        assert state_of_queue(shown) == before

    play(staged(tmp_path), body, size=size)


def test_a_letter_leads_to_a_hunk_and_one_to_a_block_of_the_conversation(tmp_path):
    async def body(shown):
        await shown.press("semicolon")
        heads = [line for line in shown.text.splitlines() if "■ taken" in line]
        y = next(n for n, line in enumerate(shown.text.splitlines()) if line == heads[1])
        await shown.press(code_at(shown, shown.approvals.detail_view.region.x, y))
        detail = shown.approvals.detail
        assert (shown.approvals.choosing.hunk_of(detail), shown.approvals.has_pane_focus) == (2, True)
        await shown.press("semicolon")
        view = shown.main.conversation.view
        await shown.press(code_at(shown, view.region.x, view.region.y))
        assert isinstance(shown.main.focused_pane, ConversationPane) and view.cursor == view.blocks[0].id

    play(staged(tmp_path), body, size=(160, 48))


@pytest.mark.parametrize("key", ["escape", "1", "A", "space", "enter", "ctrl+y", "f5"])
def test_escape_and_every_other_key_cancel_and_do_nothing(tmp_path, key):
    async def body(shown):
        before = (state_of_queue(shown), shown.approvals.queue.cursor, shown.app.focused)
        await shown.press("semicolon")
        assert labels(shown)
        await shown.press(key)
        assert shown.app.screen is shown.main
        assert (state_of_queue(shown), shown.approvals.queue.cursor, shown.app.focused) == before

    play(staged(tmp_path), body)


def test_in_the_composer_it_is_text_and_in_the_middle_of_a_word_too(tmp_path):
    async def body(shown):
        await shown.press("i", "a", "semicolon", "b")
        assert (shown.main.composer.text, shown.app.screen is shown.main) == ("a;b", True)
        await shown.press("escape")
        for key in (*"one", "semicolon"):
            shown.hand.waits(0.05)
            await shown.pilot.press(key)
        await shown.settle()
        assert shown.app.screen is shown.main and "one;" in shown.main.composer.text

    play(staged(tmp_path), body)


def test_more_than_the_alphabet_takes_two_letters(tmp_path, monkeypatch):
    async def body(shown):
        await shown.press("1", "semicolon")
        double = next(code for code in reversed(labels(shown)) if len(code) == 2)
        wanted = labels(shown)[double]
        await shown.press(double[0])
        assert {label.code[0] for label in shown.app.screen.query(JumpLabel) if label.display} == {double[0]}
        await shown.press(double[1])
        assert shown.app.screen is shown.main
        assert shown.main.focused_pane.region.contains_point(wanted)

    monkeypatch.setattr("workbench.tui.main.jump.LETTERS", "asdfgh")
    play(staged(tmp_path), body)


def test_a_recording_has_letters_too_and_a_step_is_gone_to(tmp_path):
    async def body(shown):
        run = next(one for one in shown.main.state.sessions.values() if one.kind == "pipeline")
        shown.app.open_replay(run.id, number=40)
        await shown.settle()
        graph = shown.app.screen.pipeline.graph
        await shown.press("4", "semicolon")
        inside = {code: at for code, at in labels(shown).items() if graph.region.contains_point(at)}
        code, at = list(inside.items())[-1]
        await shown.press(code)
        x, y = at - graph.region.offset + graph.scroll_offset
        steps = graph.picture.layout.graph.steps
        assert len(inside) > 1 and graph.has_focus
        assert graph.cursor in [steps[index].id for index in graph.picture.seen(y, x, x + 3)]

    play_golden("release-run", tmp_path, body, size=(160, 48))


def test_another_size_cancels_it(tmp_path):
    async def body(shown):
        await shown.press("semicolon")
        await shown.pilot.resize_terminal(80, 24)
        await shown.settle()
        assert shown.app.screen is shown.main

    play(staged(tmp_path), body)


def test_a_letter_leads_to_a_rule_on_the_page_of_rules(tmp_path):
    stage = staged(tmp_path)
    with_rules(stage)

    async def body(shown):
        await shown.press("6", "semicolon")
        rules = next(screen for screen in shown.app.screen_stack if screen.id == "rules-screen")
        view = rules.query_one("#rules-list")
        await shown.press(code_at(shown, view.region.x, view.region.y + 2))
        assert shown.app.screen is rules
        assert view.cursor == view.ids[2]

    play(stage, body)


def test_side_by_side_a_letter_leads_to_the_other_side(tmp_path):
    async def body(app, press):
        await press("f", "3", "semicolon")
        other = app.screen_stack[-2].other
        view = other.tools.list
        label = next(
            label
            for label in app.screen.query(JumpLabel)
            if label.target.at == (view.region.x, view.region.y + 1)
        )
        await press(label.code)
        assert other.has_focus_within and view.cursor == view.ids[1]

    compared(tmp_path, body)
