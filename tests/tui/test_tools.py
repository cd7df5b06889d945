"""The tools pane: rows and their times, the waterfall, one call in full and its keys, hostile words."""

import asyncio

from msgspec.structs import replace

from tests.support.pane_host import HOSTILE, Host, Told, session
from tests.support.waits import until_true
from tests.unit.render.inks import styles_at
from workbench.domain.events import CallExecuting, CallFinished, CallProposed
from workbench.domain.rows import Action, Call
from workbench.domain.values import GateVerdict
from workbench.render.syntax import SyntaxHighlighter
from workbench.text.width import cell_width
from workbench.tui.pane import (
    CallDetailModel,
    CopyText,
    LineWanted,
    OpenDetail,
    StatusMessage,
    ToolsModel,
    ToolWanted,
)
from workbench.tui.tools.call_detail import FIXED_ROWS
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.views.conversation_blocks import TurnSummary
from workbench.views.conversation_progress import CommandProgress

SECOND = 1_000_000
NOW = 1_763_726_400 * SECOND


def call(number, state="succeeded", *, tool="read_file", target="src/shop/router.py", turn="t1", **more):
    at = NOW + number * SECOND
    times = (
        {"started_at": at, "finished_at": at + 12_000, "duration_ms": 12}
        if state in ("succeeded", "failed")
        else {}
    )
    return Call(
        id=f"c{number}", session_id="s1", turn_id=turn, ordinal=number, provider_call_id=f"p{number}", tool=tool,
        state=state, requested_at=at, target=target, proposed=True, **{**times, **more},
    )  # fmt: skip


def asked(number, **more):
    return Action(
        id=f"a{number}", session_id="s1", kind="tool", state="pending", target="x", digest="d",
        created_at=NOW + number * SECOND, opened_at=number, call_id=f"c{number}", **more,
    )  # fmt: skip


CALLS = (
    call(1, rule="R3"),
    call(2, "failed", tool="run_in_terminal", target="pytest -q", exit_code=1),
    call(3, "executing", target="src/shop/middleware.py", started_at=NOW + 3 * SECOND),
    call(4, "pending", tool="replace_string_in_file", action_id="a4"),
    call(5, tool="grep_search", target=r"handle\("),
)
ACTIONS = {"a4": asked(4)}


class Scene:
    def __init__(self, calls=CALLS, actions=None):
        self.pane = ToolsPane()
        self.view = ToolsModel(
            session=session(),
            calls=calls,
            actions=ACTIONS if actions is None else actions,
            now=NOW + 9 * SECOND,
        )

    def show(self, **changes):
        self.view = replace(self.view, **changes)
        self.pane.show(self.view)

    def answer(self, app, output="F.......\n1 failed, 7 passed in 3.92s"):
        """Give the pane what it last asked for, as the screen would."""
        wanted = app.said(ToolWanted)[-1].call_id
        row = next(one for one in self.view.calls if one.id == wanted)
        told, about = Told(), {"call_id": wanted, "turn_id": "t1"}
        told.add(
            CallProposed(
                tool=row.tool, verdict=GateVerdict(outcome="ask", step="ask", by="default"), target=row.target
            ),
            **about,
        )
        told.add(CallExecuting(), **about)
        told.add(CallFinished(state="failed", exit_code=1, preview=output, output_bytes=len(output)), **about)
        self.pane.show_detail(CallDetailModel(call=row, action=None, events=told.events, output=output))


def play(scene, act, size=(58, 12)):
    async def run():
        app = Host(scene.pane)
        async with app.run(size) as pilot:
            scene.show()
            scene.pane.list.focus()
            await pilot.pause()
            await act(app, pilot)

    asyncio.run(run())


def test_rows_counts_and_heads():
    async def act(app, pilot):
        lines = app.lines()
        assert "3 Tool invocations" in lines[0]
        assert "× 1  ◆ 1  of 5" in lines[0]
        assert lines[1].split()[:2] == ["tool", "time"]
        assert [line[1] for line in lines[2:7]] == ["✓", "×", "●", "◆", "✓"]
        assert all(cell_width(line) == 58 for line in lines)

    play(Scene(), act)


def test_a_narrow_pane_has_no_waterfall():
    async def act(app, pilot):
        assert [line[1] for line in app.lines()[1:6]] == ["✓", "×", "●", "◆", "✓"]
        assert not any("━" in line or "╌" in line for line in app.lines()[1:])

    play(Scene(), act, size=(48, 6))


def test_what_runs_counts_on_each_second():
    scene = Scene()

    async def act(app, pilot):
        assert "6 s" in app.lines()[4]
        scene.pane.tick(NOW + 15 * SECOND)
        await pilot.pause()
        assert "12 s" in app.lines()[4]

    play(scene, act)


def test_only_the_turn_under_the_cursor_has_bars():
    scene = Scene(calls=(call(1, turn="t0"), *(replace(one, turn_id="t1") for one in CALLS[1:])))

    async def act(app, pilot):
        def has_bar(line):
            return any(mark in line for mark in "━╌▏")

        await pilot.press("g")
        await pilot.pause()
        assert [has_bar(line) for line in app.lines()[2:4]] == [True, False]
        await pilot.press("G")
        await pilot.pause()
        assert [has_bar(line) for line in app.lines()[2:4]] == [False, True]

    play(scene, act)


def test_failed_only_and_all_again():
    scene = Scene()

    async def act(app, pilot):
        await pilot.press("f")
        assert list(scene.pane.list.rows) == ["c2"]
        assert scene.pane.label_of("tools.failed-only") == "all"
        await pilot.press("f")
        assert len(scene.pane.list.rows) == 5

    play(scene, act)


def test_a_call_that_ends_or_is_answered_is_shown_anew():
    scene = Scene()

    async def act(app, pilot):
        ended = replace(CALLS[2], state="succeeded", finished_at=NOW + 5 * SECOND, duration_ms=2000)
        scene.show(calls=(*CALLS[:2], ended, *CALLS[3:]))
        await until_true(
            lambda: (app.lines()[4][1], "2.0 s" in app.lines()[4]) == ("✓", True), pilot.pause, app.lines
        )
        rejected = replace(CALLS[3], state="rejected", finished_at=NOW + 6 * SECOND)
        said_no = {"a4": replace(ACTIONS["a4"], state="rejected", decided_at=NOW + 6 * SECOND)}
        scene.show(calls=(*CALLS[:2], ended, rejected, CALLS[4]), actions=said_no)
        await until_true(lambda: app.lines()[5][1] == "∅", pilot.pause, app.lines)
        assert "◆" not in app.lines()[0]

    play(scene, act)


def test_without_rows_it_says_why():
    scene = Scene(calls=())

    async def act(app, pilot):
        assert "No tool was called yet." in "\n".join(app.lines())
        scene.show(calls=(call(1),))
        await pilot.press("f")
        await pilot.pause()
        assert "Nothing has failed. f shows all." in "\n".join(app.lines())

    play(scene, act)


def test_n_goes_to_what_waits_or_failed():
    scene = Scene()

    async def act(app, pilot):
        seen = []
        for key in ("n", "n", "n", "N"):
            await pilot.press(key)
            seen.append(scene.pane.list.cursor)
        assert seen == ["c2", "c4", "c4", "c2"]
        assert len(app.said(StatusMessage)) == 1

    play(scene, act)


def test_new_calls_do_not_move_the_cursor():
    scene = Scene(calls=tuple(call(n) for n in range(30)), actions={})

    async def act(app, pilot):
        await pilot.press(*"gjjj")
        line = scene.pane.list.line_of("c3") - scene.pane.list.first_line
        scene.show(calls=(call(99), *scene.view.calls))
        await pilot.pause()
        assert scene.pane.list.cursor == "c3"
        assert scene.pane.list.line_of("c3") - scene.pane.list.first_line in (line, line + 1)

    play(scene, act)


def test_filter_narrows_while_it_is_typed():
    scene = Scene()

    async def act(app, pilot):
        await pilot.press("/")
        assert app.said(LineWanted)[0].purpose == "filter"
        scene.pane.line_heard("filter", "pytest", is_final=False)
        assert list(scene.pane.list.rows) == ["c2"]
        scene.pane.line_heard("filter", "nowhere", is_final=True)
        await pilot.pause()
        assert "Nothing matches “nowhere”." in "\n".join(app.lines())
        scene.pane.line_dropped("filter")
        assert len(scene.pane.list.rows) == 5

    play(scene, act, size=(100, 12))


def test_a_small_pane_asks_for_no_detail_and_says_so():
    async def act(app, pilot):
        await pilot.press("g", "j", "]")
        assert app.said(ToolWanted) == []
        assert "when this pane is large" in app.said(StatusMessage)[0].text
        await pilot.press("enter", "y")
        assert app.said(OpenDetail) == [OpenDetail("tools", "c2")]
        assert [one.text for one in app.said(CopyText)] == ["pytest -q"]

    play(Scene(), act)


def test_one_call_in_full():
    scene = Scene()

    async def act(app, pilot):
        await pilot.press("g", "j")
        await pilot.pause()
        assert app.said(ToolWanted)[-1] == ToolWanted("c2")
        scene.answer(app)
        await pilot.pause()
        text = "\n".join(app.lines())
        for words in ("run_in_terminal × exit 1", "Output", "1 failed, 7 passed", "started", "[ ] part"):
            assert words in text
        await pilot.press("]")
        await pilot.pause()
        assert scene.pane.call.section.name == "Parameters"
        await pilot.press("[", "[")
        assert scene.pane.call.section.name == "Raw"
        await pilot.press("y")
        assert "call.finished" in app.said(CopyText)[-1].text

    play(scene, act, size=(120, 36))


def test_output_of_tests_and_a_file_that_was_read_have_their_colours():
    read = call(1, parameters={"path": "src/shop/router.py"})
    scene = Scene((read, *CALLS[1:]))

    async def act(app, pilot):
        app.painter = SyntaxHighlighter()
        view, ink = scene.pane.call, app.ink
        await pilot.press("g")
        await pilot.pause()
        scene.answer(app, output="import os\nname = 1  # PASSED")
        await pilot.pause()
        assert styles_at(view.draw_line(FIXED_ROWS, 80), "import").color.name == ink.tokens.keyword
        assert styles_at(view.draw_line(FIXED_ROWS + 1, 80), "# PASSED").color.name == ink.tokens.comment
        await pilot.press("j")
        await pilot.pause()
        scene.answer(app, output="a.py::test PASSED\n1 failed")
        await pilot.pause()
        assert styles_at(view.draw_line(FIXED_ROWS, 80), "PASSED").color.name == ink.tokens.added
        assert styles_at(view.draw_line(FIXED_ROWS + 1, 80), "1 failed").color.name == ink.tokens.failed

    play(scene, act, size=(120, 36))


def test_find_in_a_part():
    scene = Scene()

    async def act(app, pilot):
        scene.answer(app, output="\n".join(f"row {n}" for n in range(200)))
        await pilot.press("/")
        assert app.said(LineWanted)[-1].purpose == "find"
        scene.pane.line_heard("find", "row 15", is_final=True)
        await pilot.pause()
        assert "row 15 " in "\n".join(app.lines())
        scene.pane.line_heard("find", "row 15", is_final=True)
        await pilot.pause()
        assert "row 150" in "\n".join(app.lines())
        scene.pane.line_heard("find", "nowhere", is_final=True)
        await pilot.pause()
        assert app.said(StatusMessage)[-1].text == "“nowhere” is not in this part."

    play(scene, act, size=(120, 36))


def test_the_detail_scrolls_by_half_pages_and_keeps_its_head():
    scene = Scene()

    async def act(app, pilot):
        scene.answer(app, output="\n".join(f"row {n}" for n in range(200)))
        await pilot.press("ctrl+d", "ctrl+d")
        await pilot.pause()
        text = "\n".join(app.lines())
        assert "row 0 " not in text
        (parts,) = [line for line in app.lines() if "Parameters" in line]
        assert " of 20" in parts and parts.rstrip().endswith("↑↓")
        await pilot.press(*["ctrl+d"] * 40)
        await pilot.pause()
        assert "row 199" in "\n".join(app.lines())
        (parts,) = [line for line in app.lines() if "Parameters" in line]
        assert parts.rstrip().endswith("↑")

    play(scene, act, size=(120, 36))


def test_an_answer_that_comes_late_is_for_another_row():
    scene = Scene()

    async def act(app, pilot):
        await pilot.press("g", "j")
        await pilot.pause()
        scene.answer(app)
        scene.pane.list.put_cursor("c5")
        scene.answer(app)
        assert scene.pane.call.detail.id == "c2"

    play(scene, act, size=(120, 36))


def test_hostile_words_are_only_words():
    async def said(app, pilot, words):
        made = call(1, "failed", tool=words, target=words, error=words, parameters={"x": words, words: 1})
        scene = Scene(calls=(made,), actions={})
        app.heard.clear()
        await app.put(scene.pane)
        scene.show()
        scene.pane.list.focus()
        await pilot.pause()
        scene.answer(app, output=words)
        for _ in range(5):
            await pilot.press("]")
            await pilot.pause()
            lines = app.lines()
            assert not any(
                ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200b\U000e0041" for c in "".join(lines)
            ), words
            assert all(cell_width(line) == 120 for line in lines), words
        assert app.is_running and "3 Tool invocations" in lines[0], words

    async def act(app, pilot):
        for words in HOSTILE:
            await said(app, pilot, words)

    play(Scene(), act, size=(120, 36))


def test_another_session_forgets_filter_and_detail():
    scene = Scene()

    async def act(app, pilot):
        scene.answer(app)
        await pilot.press("f")
        scene.show(session=session(id="s2"), calls=(call(7),))
        await pilot.pause()
        assert (list(scene.pane.list.rows), scene.pane.call.detail) == (["c7"], None)

    play(scene, act, size=(120, 36))


# --- turns and what runs --------------------------------------------------------------------------------


def turns(count):
    return tuple(
        TurnSummary(id=f"t{n}", number=n, block_id=f"prompt:{n}", title=f"Question {n}", sign="ok")
        for n in range(1, count + 1)
    )


BY_TURN = tuple(call(10 * n + k, turn=f"t{n}") for n in (1, 2, 3) for k in (1, 2))


def test_a_small_pane_shows_the_turn_in_view_at_its_end():
    scene = Scene(calls=BY_TURN, actions={})

    async def act(app, pilot):
        scene.show(turns=turns(3), turn=turns(3)[1])
        await pilot.pause()
        assert list(scene.pane.list.rows) == ["c21", "c22"]
        assert scene.pane.list.cursor == "c22"
        assert "turn 2  2 calls" in app.lines()[0]
        scene.show(calls=(*BY_TURN, call(23, turn="t2")))
        await pilot.pause()
        assert scene.pane.list.cursor == "c23"
        await pilot.press("k")
        scene.show(calls=(*scene.view.calls, call(24, turn="t2")))
        assert scene.pane.list.cursor == "c22"
        scene.show(turn=turns(3)[2])
        assert list(scene.pane.list.rows) == ["c21", "c22", "c23", "c24"], "somebody reads here"
        await pilot.press("G")
        scene.show()
        await pilot.pause()
        assert list(scene.pane.list.rows) == ["c31", "c32"]

    play(scene, act)


def test_a_large_pane_shows_all_turns_with_their_names():
    scene = Scene(calls=BY_TURN, actions={})

    async def act(app, pilot):
        scene.show(turns=turns(3)[1:], turn=turns(3)[0])
        await pilot.pause()
        text = [line.rstrip() for line in app.lines()[2:11]]
        assert [line.split()[:2] for line in text if "turn" in line] == [
            ["an", "earlier"],
            ["turn", "2"],
            ["turn", "3"],
        ]
        assert scene.pane.list.cursor == "c32"
        await pilot.press("k", "k")
        assert scene.pane.list.cursor == "c22"

    play(scene, act, size=(120, 40))


def test_a_call_of_another_turn_is_gone_to_when_there_is_room():
    scene = Scene(calls=BY_TURN, actions={})

    async def act(app, pilot):
        scene.show(turns=turns(3), turn=turns(3)[2])
        scene.pane.put_cursor("c12")
        assert scene.pane.list.cursor == "c32"
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        assert scene.pane.list.cursor == "c12"

    play(scene, act)


def test_a_command_that_runs_has_its_limit_and_its_last_line():
    command = CommandProgress(limit_seconds=60.0, last_line="tests/test_app.py ..F..", output="one\ntwo")
    runs = call(3, "executing", tool="run_in_terminal", target="pytest -q", started_at=NOW + 3 * SECOND)
    scene = Scene(calls=(*CALLS[:2], runs), actions={})

    async def act(app, pilot):
        scene.show(commands={"c3": command})
        await pilot.pause()
        assert any("run_in_terminal" in line and "0:06 of 1:00" in line for line in app.lines())
        shown = [line for line in app.lines() if "tests/test_app.py ..F.." in line]
        assert len(shown) == 1
        await pilot.press("k", "j")
        assert scene.pane.list.cursor == "c3"
        scene.answer(app)
        scene.pane.tick(NOW + 30 * SECOND)
        await pilot.pause()
        text = "\n".join(app.lines())
        assert "━━━━━━╌╌╌╌╌╌  0:27 of 1:00" in text and "two" in text

    play(scene, act, size=(120, 40))
