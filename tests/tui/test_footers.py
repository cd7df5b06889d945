"""What the last two rows say: a hint that is whole at any width, and only keys that could ever count."""

import asyncio

import pytest

from tests.support.stage import Stage
from tests.tui.screens import FILES, THREE, play, staged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust

LONG = "Fix the router so that all of the tests pass, and say why"


@pytest.mark.parametrize("size", [(80, 24), (60, 18), (120, 36)])
def test_the_title_in_the_hint_is_cut_inside_its_quotes(tmp_path, size):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    stage.trust()
    stage.begin(title=LONG)
    stage.drive()

    async def body(shown):
        await shown.press("2")
        row = next(
            line
            for line in shown.text.splitlines()
            if "› " in line and "“" in line and line.strip()[0] == "›"
        )
        assert "”" in row
        assert "asks before every call" in row

    play(stage, body, size=size)


def test_the_trust_question_offers_no_rule(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files={**FILES, ".workbench.json": "{}"})
    stage.begin()
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        last = shown.text.splitlines()[-1]
        assert "t trust" in last or "a trust" in last
        assert "always" not in last
        assert "extend" not in last
        assert "choice" in last and "m mark" not in last
        await shown.press("m")
        assert shown.said == "The trust question is answered by itself."

    play(stage, body)


def test_an_empty_queue_names_no_key_that_needs_a_row(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    stage.trust()
    stage.begin()

    async def body(shown):
        await shown.press("escape", "2")
        last = shown.text.splitlines()[-1]
        assert "all keys" in last
        assert "nothing is under the cursor" not in last
        assert not any(word in last for word in ("approve", "full diff", "next problem", "order", "copy"))

    play(stage, body, size=(160, 48))


def test_a_decided_row_offers_no_choice_and_says_where_the_next_is(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    question = workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        await shown.press("ctrl+g", "l", "ctrl+t")
        assert shown.stage.journal.action(question).state == "approved"
        stage.begin()
        await asyncio.to_thread(stage.drive)
        await shown.look()
        assert shown.approvals.queue.current.is_pending, "nothing waited: the cursor goes to what came"
        await shown.press("escape", "2")
        shown.approvals.queue.put_cursor(question)
        await shown.settle()
        last = shown.text.splitlines()[-1]
        assert "n N next that waits" in last and "choice" not in last and "mark" not in last.partition("M")[0]
        await shown.press("a")
        assert shown.said == "It is trusted; n goes to the next that waits."
        await shown.press("n")
        assert shown.approvals.queue.current.is_pending

    play(stage, body)


def test_a_call_keeps_its_key_for_rules(tmp_path):
    async def body(shown):
        assert "A always…" in shown.text.splitlines()[-1]

    play(staged(tmp_path), body)


def test_a_notice_outside_of_the_terminal_names_what_waits_and_how_long(tmp_path):
    said = []

    async def body(shown):
        shown.main.context.tasks.notify()
        await shown.settle()
        ((name, words),) = said
        assert name == "workbench"
        assert words.startswith("project: edit router.py waits, 1")
        assert words.endswith(":00 left")

    play(staged(tmp_path), body, notify_desktop=lambda *words: said.append(words))


def test_what_comes_while_a_diff_fills_the_screen_waits_below_and_what_waits_keeps_the_cursor(tmp_path):
    stage = Stage(tmp_path, THREE, clock=ManualClock(), files=FILES)
    question = workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        await shown.press("ctrl+g", "ctrl+t", "escape", "2", "enter")
        assert shown.approvals.is_full
        stage.begin()
        await asyncio.to_thread(stage.drive)
        await shown.look()
        assert (shown.approvals.queue.cursor, len(shown.main.state.pending) > 0) == (question, True)
        await shown.press("escape", "n")
        at = shown.approvals.queue.cursor
        await shown.look()
        assert (shown.approvals.queue.cursor, at != question) == (at, True)

    play(stage, body)
