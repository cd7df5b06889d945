"""The screen as a whole: nothing moves under the hand, nothing untrusted steers it, every size shows it."""

import asyncio
import json
import re
import subprocess
import sys

import pytest

from tests.support import golden
from tests.support.sizes import rarely
from tests.support.stage import Stage, call, exchange, recording, text
from tests.support.waits import until_true
from tests.tui.backend import backend
from tests.tui.screens import CONTROL, FILES, Hand, Shown, play, staged
from workbench.effects.clock import ManualClock
from workbench.host import workspace_trust
from workbench.journal.decisions import expire_due_actions
from workbench.tui.app import WorkbenchApp

SIZES = [(160, 48), (120, 36), (100, 24), (80, 24), (46, 10)]


def play_golden(name, folder, body, *, size=(120, 36), **more):
    journal, hand = golden.load(name, folder / "home"), Hand()
    app = WorkbenchApp(journal, backend(), "/workspace/shop", home="/workspace", monotonic=hand, **more)

    async def run():
        async with app.run_test(size=size) as pilot:
            shown = Shown(None, app, hand, pilot)
            await shown.begin()
            await body(shown)

    try:
        asyncio.run(run())
    finally:
        journal.close()


@pytest.mark.spec(211)
def test_enter_on_a_step_of_a_run_goes_to_it_in_the_graph(tmp_path):
    async def body(shown):
        run = next(one for one in shown.app.main.state.sessions.values() if one.kind == "pipeline")
        shown.app.main.state.choose(run.id)
        shown.app.main.presenter.everything()
        await shown.press("escape", "1", "g", "j", "enter")
        assert (shown.app.main.place, shown.app.main.pipeline.graph.cursor) == (4, "plan")

    play_golden("release-run", tmp_path, body)


@pytest.mark.parametrize("size", [SIZES[1], SIZES[4], *map(rarely, (SIZES[0], SIZES[2], SIZES[3]))], ids=str)
def test_hostile_text_reaches_no_terminal(tmp_path, size):
    async def body(shown):
        for place in "01234":
            for keys in (["g", *"jjjjjj"], ["enter", "escape", "z", "z"]):
                await shown.press(place, *keys)
                assert not CONTROL.search(shown.text.replace("\n", ""))

    play_golden("hostile-text", tmp_path, body, size=size)


def ask_again(stage, number, title="test"):
    """Let another session of the workspace ask for something."""
    script = recording(exchange(call(f"n{number}", "create_file", path=f"new{number}.txt", content="x\n")))
    before, stage.recording = stage.recording, stage.root / f"recording{number}.json"
    stage.recording.write_text(json.dumps(script))
    first = stage.session_id
    stage.begin(f"another {number}", title)
    stage.drive()
    stage.session_id, stage.recording = first, before


def test_new_rows_move_neither_the_cursor_nor_its_line_nor_the_diff(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("j")
        queue = shown.approvals.queue
        before = (queue.cursor, queue.line_of(queue.cursor) - queue.first_line, shown.approvals.detail.id)
        stage.journal.clock.advance(5)
        await asyncio.to_thread(ask_again, stage, 1)
        await shown.look()
        assert len(shown.approvals.rows) == 4
        assert (
            queue.cursor,
            queue.line_of(queue.cursor) - queue.first_line,
            shown.approvals.detail.id,
        ) == before
        assert shown.app.focused is queue

    play(stage, body)


def test_rows_that_belong_above_the_cursor_stand_below_it_until_the_list_scrolls(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("o", "j", "j")
        queue = shown.approvals.queue
        cursor, line = queue.cursor, queue.line_of(queue.cursor)
        stage.journal.clock.advance(5)
        await asyncio.to_thread(ask_again, stage, 2)
        await shown.look()
        assert (queue.cursor, queue.line_of(cursor) - queue.first_line) == (cursor, line)

    play(stage, body)


def test_a_second_process_that_decides_is_seen_without_a_key(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        waiting = len(stage.waiting())
        stage.reject(stage.waiting()[0], "no")
        await until_true(lambda: f"{waiting - 1} waiting" in shown.text, shown.pilot.pause)
        assert shown.said == "edit router.py was rejected by workbench approvals."

    play(stage, body)


def test_a_prompt_from_the_composer_is_recorded_and_a_host_is_wanted(tmp_path):
    stage = staged(tmp_path)
    wanted = []

    def ensure(workspace):
        wanted.append(workspace)
        return ""

    async def body(shown):
        wanted.clear()
        await shown.press("i", *"go on", "enter", wait=0.0)
        assert "prompt.submitted" in stage.kinds()[-1:]
        assert wanted == [str(stage.workspace)]

    play(stage, body, ensure_host=ensure)


@pytest.mark.parametrize(
    ("keys", "reads", "label"),
    [(["ctrl+t"], False, "trust this"), (["l", "ctrl+t"], True, "trust it, and")],
)
def test_a_trust_question_is_answered_by_ctrl_t_and_keeps_showing_the_answer(tmp_path, keys, reads, label):
    stage = Stage(
        tmp_path,
        recording(exchange(call("c1", "read_file", path="router.py"))),
        clock=ManualClock(),
        files=FILES,
    )
    stage.begin()
    workspace_trust.open_trust_question(stage.journal, str(stage.workspace))

    async def body(shown):
        assert [(row.verb, row.target) for row in shown.approvals.rows] == [("trust", "this folder")]
        assert "ctrl+t trust" in shown.text.splitlines()[-1]
        await shown.press("t", "T", "a", "r")
        assert stage.journal.trust(str(stage.workspace)) is None
        await shown.press(*keys)
        trust = stage.journal.trust(str(stage.workspace))
        assert (trust.read_grant, stage.journal.actions(states=("pending",))) == (reads, [])
        (chosen,) = [line for line in shown.text.splitlines() if "■ trust" in line]
        assert f"■ {label}" in chosen
        # What was asked is over: it takes no room from what comes.
        assert "not now" not in shown.text and "rules can allow calls" not in shown.text

    play(stage, body)


@pytest.mark.usefixtures("real_redraw_timer")
def test_nothing_of_ours_ticks_while_nothing_waits(tmp_path):
    stage = staged(tmp_path, recording(exchange(text("hello"))))

    async def body(shown):
        assert shown.main.redraw_timer.ticker is None
        assert "✓ Nothing waits." in shown.text

    play(stage, body)


@pytest.mark.usefixtures("real_redraw_timer")
def test_the_countdown_ticks_while_something_waits_and_stops_after(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        assert shown.main.redraw_timer.ticker is not None
        stage.journal.clock.advance(20 * 60)
        expire_due_actions(stage.journal)
        await shown.look()
        assert shown.main.redraw_timer.ticker is None

    play(stage, body)


@pytest.mark.parametrize("size", [(160, 48), (120, 36), (80, 24)], ids=str)
def test_every_place_is_reached_by_its_number_and_by_tab(tmp_path, size):
    stage = staged(tmp_path)

    async def body(shown):
        for place in (0, 1, 2, 3, 4):
            await shown.press(str(place))
            assert (shown.main.place, shown.main.focused_pane.PLACE) == (place, place)
        for _ in range(5):
            await shown.press("tab")
            assert shown.main.place == shown.main.focused_pane.PLACE

    play(stage, body, size=size)


def test_ctrl_g_leads_to_the_first_that_waits_also_while_typing(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("i", *"abc", "ctrl+g")
        assert shown.app.focused is shown.approvals.queue
        assert shown.main.composer.text == "abc"

    play(stage, body)


def test_help_names_the_keys_of_the_pane_and_palette_does_them(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("?")
        assert "reject with a reason" in shown.text
        await shown.press("escape", ":", *"pipeline", "enter")
        assert shown.main.place == 4

    play(stage, body, size=(160, 48))


def test_the_filter_hides_rows_and_escape_brings_them_back(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press("/", *"api")
        assert [row.target for row in shown.approvals.rows] == ["docs/api.md"]
        await shown.press("enter", "escape")
        assert len(shown.approvals.rows) == 3

    play(stage, body)


def test_leaving_says_what_goes_on_and_the_second_key_leaves(tmp_path):
    stage = staged(tmp_path)

    async def body(shown):
        await shown.press_once("q")
        assert "3 asks wait. Open workbench again to answer. q q leaves" in shown.said
        await shown.press_once("escape")
        assert "3 asks wait" not in shown.said
        await shown.press("ctrl+q", "escape", "ctrl+q")
        assert shown.app.is_running and "3 asks wait" in shown.said
        await shown.press("q")
        assert shown.app.return_code == 0

    play(stage, body)


def test_a_screen_starts_without_parsers_validators_or_colours():
    code = "import workbench.tui.app, sys; print('\\n'.join(sys.modules))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & {
        "pydantic",
        "httpx",
        "yaml",
        "jsonschema",
        "re2",
        "pygments",
        "markdown_it",
    }


@pytest.mark.parametrize("theme", ["workbench-light", "nord", "ansi-dark"])
def test_other_themes_show_the_same_words(tmp_path, theme):
    async def body(shown):
        before = shown.text
        shown.app.theme = theme
        await shown.settle()
        assert shown.text == before

    play_golden("busy-queue", tmp_path, body)


def test_ascii_signs_are_ascii(tmp_path):
    from workbench.render.glyphs import ASCII_GLYPHS

    async def body(shown):
        rest = {character for character in shown.text if not character.isascii()}
        assert rest == set()

    play_golden("rename-handler", tmp_path, body, glyphs=ASCII_GLYPHS)


@pytest.mark.parametrize("keys", [(), ("j", "enter"), ("M", "a"), ("?",), ("R",)], ids=str)
def test_without_colours_the_same_words_are_shown(tmp_path, monkeypatch, keys):
    seen = []

    async def body(shown):
        await shown.press(*keys)
        seen.append(shown.text)

    # What is said of a mark stands for four seconds, which a busy machine may need for one of the two.
    monkeypatch.setattr("workbench.tui.widgets.pane_frame.PaneRule.SECONDS", 600.0)
    play_golden("busy-queue", tmp_path / "one", body)
    monkeypatch.setenv("NO_COLOR", "1")
    play_golden("busy-queue", tmp_path / "two", body)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("size", [(120, 36), (160, 48)])
def test_another_theme_recolours_everything_that_is_drawn(tmp_path, size):
    stage = staged(tmp_path)

    async def body(shown):
        before = set(re.findall(r"#[0-9a-f]{6}", shown.app.export_screenshot()))
        assert "#d8dee7" in before
        shown.app.theme = "workbench-light"
        await shown.settle()
        after = set(re.findall(r"#[0-9a-f]{6}", shown.app.export_screenshot()))
        dark = {"#d8dee7", "#98a3b3", "#0f1217", "#181d25", "#f0b952", "#74b4ff"}
        assert after & dark == set()

    play(stage, body, size=size)


@pytest.mark.parametrize("width", [80, 100, 120, 140, 160])
def test_the_footer_keeps_its_margin(tmp_path, width):
    stage = staged(tmp_path)

    async def body(shown):
        last = shown.text.splitlines()[-1]
        assert len(last.rstrip()) <= width - 1

    play(stage, body, size=(width, 36))


@pytest.mark.parametrize("theme", ["workbench-dark", "ansi-dark"])
def test_a_dialog_leaves_what_is_behind_it_to_be_seen(tmp_path, theme):
    async def body(shown):
        shown.app.theme = theme
        await shown.press("2", ":")
        assert "Find and do" in shown.text
        assert "workbench" in shown.text.splitlines()[0]

    play_golden("busy-queue", tmp_path, body)


def test_a_small_screen_says_that_nothing_is_decided_there(tmp_path):
    async def body(shown):
        lines = [line.strip() for line in shown.text.splitlines() if line.strip()]
        assert lines[1:] == [
            "40×10 is too small", "make it 60×10", "agents still work, nothing is decided", "q q leave",
        ]  # fmt: skip

    play_golden("busy-queue", tmp_path, body, size=(40, 10))
