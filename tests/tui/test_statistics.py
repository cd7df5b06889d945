"""Place 7: what is counted, of what, and the way from a line to its sessions."""

import pytest

from tests.tui.screens import CONTROL, play, staged
from tests.tui.test_library import HOSTILE, add, shows, titles
from workbench.domain.rows import ActionFact, UsageFact
from workbench.domain.values import Usage
from workbench.render.glyphs import ASCII_GLYPHS
from workbench.render.statistics import StatisticsFrame, column_chart
from workbench.render.theme import own_theme_ink
from workbench.text.human import DAY_MICROS
from workbench.views.statistics import insights, tokens_by_day


@pytest.fixture
def stage(tmp_path):
    made = staged(tmp_path)
    add(made, "s-docs", "write the docs", said="explain the rename", status="completed")
    add(made, "s-else", "other place", workspace="/elsewhere/infra", said="pipes")
    return made


async def opened(shown, *keys):
    await shown.press("escape", "7")
    await shows(shown)
    await shown.press(*keys)
    await shows(shown)


def test_tools_asks_sessions_and_tokens_are_counted(stage):
    async def body(shown):
        await opened(shown)
        for words in (
            "last 30 days all workspaces",
            "replace_string_in_file",
            "Who decided",
            "Your time to decide",
            "Tokens by day",
            "Sessions",
            "Most changed",
        ):
            assert words in shown.text, words
        assert "sent 180, received 20" in shown.text
        await shown.press("escape")
        assert shown.main.place == 2

    play(stage, body, size=(160, 48))


def test_period_and_place_are_chosen(stage):
    async def body(shown):
        await opened(shown, "l", "l", "l")
        assert "all days" in shown.text
        await shown.press("h", "h", "h", "h", "w")
        await shows(shown)
        assert "last 7 days this workspace" in shown.text and "sent 90, received 10" in shown.text
        await shown.press("w")
        await shows(shown)
        assert "this session" in shown.text
        await shown.press("l")
        assert "A session is counted whole" in shown.said

    play(stage, body, size=(160, 48))


def test_enter_opens_the_library_narrowed_to_the_line(stage):
    async def body(shown):
        await opened(shown, "g", "enter")
        await shows(shown)
        assert shown.main.place == 5 and "tool:" in shown.text
        assert len(titles(shown)) == 1

    play(stage, body, size=(160, 48))


def test_the_cursor_goes_from_one_column_to_the_other(stage):
    async def body(shown):
        await opened(shown, "G", "j")
        pane = next(one for one in shown.main.panes if one.PLACE == 7)
        assert pane.right.has_focus and pane.right.cursor.startswith("status:")
        await shown.press("k")
        assert pane.left.has_focus

    play(stage, body, size=(160, 48))


def test_hostile_names_stay_text(stage):
    add(stage, "s-bad", HOSTILE, said="x", status="failed")

    async def body(shown):
        await opened(shown, "w", "w")
        assert not CONTROL.search(shown.text)

    play(stage, body)


def answer(state="approved", tool="read_file", at=0, **more):
    return ActionFact(state=state, is_partly=False, took_ms=1, tool=tool, asked_at=at, **more)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], []),
        ([answer()] * 9, []),
        ([answer()] * 10, ["read_file asked 10 times, all approved. A rule fits: 6"]),
        ([*[answer()] * 10, answer("rejected")], []),
        ([answer("expired", at=19)], ["1 ask expired, 1 after 18:00. ui.notify says how you are told."]),
        ([answer("expired", at=9)] * 2, ["2 asks expired. ui.notify says how you are told."]),
    ],
)
def test_what_is_worth_a_look(answers, said):
    assert [one.words for one in insights(answers, (), lambda hour: hour)] == said


def test_tokens_are_counted_on_the_day_they_were_used():
    def used(day, sent):
        at = day * DAY_MICROS
        return UsageFact(
            group="", at=at, provider="p", model="m", context=0, first_at=at, last_at=at, replies=1,
            uncounted=0, usage=Usage(input_tokens=sent, output_tokens=1),
        )  # fmt: skip

    found = tokens_by_day(
        [used(3, 10), used(3, 5), used(5, 1), used(9, 7)], 3, 3, lambda at: at // DAY_MICROS
    )
    assert found == [17, 0, 2]


def test_bars_stand_on_one_scale_and_what_is_there_is_seen():
    frame = StatisticsFrame(width=40, ink=own_theme_ink("workbench-dark"), glyphs=ASCII_GLYPHS)
    assert column_chart([0, 1, 1000], 2, 2, frame) == ["      ## ", "   ## ## "]


def test_tokens_and_cost_are_shown_by_what_the_key_chooses(stage):
    async def body(shown):
        await opened(shown, "b")
        assert "Tokens and cost by day" in shown.text and "price not known" in shown.text
        assert "Who decided" not in shown.text and "hits" in shown.text
        for by in ("week", "month", "model", "project", "agent", "session", "block"):
            await shown.press("b")
            await shows(shown)
            title = "blocks of five hours" if by == "block" else by
            assert f"Tokens and cost by {title}" in shown.text, by
            assert "200" in shown.text, by
        await shown.press("b")
        await shows(shown)
        assert "No tokens in this period" in shown.text, "no pipeline ran"
        await shown.press("b")
        await shows(shown)
        assert "Who decided" in shown.text
        await shown.press("B", "B")
        await shows(shown)
        assert "blocks of five hours" in shown.text

    play(stage, body)


def test_a_row_of_tokens_opens_its_sessions(stage):
    async def body(shown):
        await opened(shown, "b", "b", "b", "b", "b", "g", "enter")
        await shows(shown)
        assert shown.main.place == 5 and "in:" in shown.text

    play(stage, body)


def test_without_tokens_the_page_says_what_would_be_there(tmp_path):
    async def body(shown):
        await opened(shown, "b", "w", "w")
        assert "No tokens in this period" in shown.text

    play(staged(tmp_path), body)
