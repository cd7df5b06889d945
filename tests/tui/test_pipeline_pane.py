"""The pipeline pane on a real screen: what is drawn, where keys lead, what a change draws again."""

import asyncio

import pytest

from tests.support import drawn_runs
from tests.support.keys import before_key
from tests.tui.backend import backend
from tests.tui.screens import Hand, counted, settled
from workbench.domain.values import Actor, Decision, StepPlan
from workbench.effects.clock import ManualClock
from workbench.journal.decisions import decide_action
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp
from workbench.views.status_icons import ICONS

SHOP = "/workspace/shop"
FAILED = ICONS["failed"].unicode


class Screen:
    def __init__(self, app, pilot, run, hand):
        self.app, self.pilot, self.run, self.hand = app, pilot, run, hand

    @property
    def main(self):
        return self.app.main

    @property
    def pane(self):
        return self.main.pipeline

    @property
    def graph(self):
        return self.pane.graph

    @property
    def text(self):
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    def box(self, step):
        """Return the drawn cells of a step's box."""
        place, seen = self.graph.picture.places[self.graph.drawing.index[step]], self.graph.region
        lines, offset = self.text.splitlines(), self.graph.scroll_offset
        left = seen.x - offset.x + place.start
        return [lines[seen.y - offset.y + y][left : left + place.end - place.start] for y in place.lines]

    async def settle(self):
        await settled(self.app, self.pilot)

    async def press(self, *keys):
        for key in keys:
            before_key(self.app, key)
            await self.pilot.press(key)
            await self.pilot.pause()
            await counted(self.app)
            await self.settle()

    async def look(self):
        self.main.look()
        await self.settle()


@pytest.fixture
def play(tmp_path):
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())

    def run(body, make=drawn_runs.nightly, size=(120, 36), **more):
        written = make(journal, SHOP) if make else None
        hand = Hand()
        app = WorkbenchApp(journal, backend(**more), SHOP, home="/workspace", monotonic=hand)

        async def go():
            async with app.run_test(size=size) as pilot:
                screen = Screen(app, pilot, written, hand)
                await screen.settle()
                screen.main.go_to(4)
                await screen.settle()
                await body(screen)

        asyncio.run(go())

    yield run
    journal.close()


def written(*plans, **more):
    return lambda journal, workspace: drawn_runs.Written(journal, workspace, plans, **more)


def test_the_run_is_drawn_with_states_durations_retries_and_contract_marks(play):
    async def body(s):
        await s.press("z")
        shown = {step: s.box(step) for step in ("plan", "api", "web", "docs", "tests", "release", "notes")}
        assert shown == {
            "plan": ["╭───────────────╮", "│ ✓ plan        ├", "│   4.0 s       │", "╰───────────────╯"],
            "api": ["╭───────────────╮", "┤ ✓ api         ├", "│   1:12        │", "╰───────────────╯"],
            "web": [
                "╭───────────────╮",
                "┤ ✓ web         ├",
                "│   2nd try     │",
                "╰───────────────╯",
            ],
            "docs": [
                "╭───────────────╮",
                f"┤ {FAILED} docs        ├",
                "│   allowed     │",
                "╰───────────────╯",
            ],
            "tests": ["╭───────────────╮", "┤ ● tests (12)  ├", "│   9 ok 3 run  │", "╰───────────────╯"],
            "release": ["╔═══════════════╗", "╢▌◆ release?    ╟", "║   14:40       ║", "╚═══════════════╝"],
            "notes": ["╭───────────────╮", "┤ ◯ notes       ├", "╰───────────────╯", " " * 17],
        }
        assert "nightly #41" in s.text
        assert "━╌" in s.text
        assert "3 of 9 done  failed, allowed" in s.text

    play(body)


def failed_at_length(journal, workspace):
    run = drawn_runs.Written(journal, workspace, (StepPlan(id="plan"),))
    run.step("plan", "running")
    run.step("plan", "failed", detail=f"no answer: {'the model is busy ' * 20}")
    return run


def test_a_reason_that_is_longer_than_the_row_shows_that_it_is_cut(play):
    async def body(s):
        (row,) = [line for line in s.text.splitlines() if "┤ no answer: the model is busy" in line]
        assert row.rstrip().endswith("…")

    play(body, failed_at_length)


def broad(journal, workspace):
    plans = (StepPlan(id="plan"), *(StepPlan(id=f"lint{n}", needs=("plan",)) for n in range(30)))
    run = drawn_runs.Written(journal, workspace, plans)
    run.step("plan", "running")
    run.step("plan", "completed", duration_ms=4_000)
    return run


def test_where_the_picture_has_no_names_the_line_below_names_the_step_under_the_cursor(play):
    async def body(s):
        await s.press("g")
        assert s.graph.drawing.names is not None
        assert s.graph.cursor == "plan"
        assert "plan · completed 4.0 s   feeds lint0" in s.text
        await s.press("l")
        assert f" {s.graph.cursor} · ready" in s.text

    play(body, broad, size=(80, 24))


def test_the_cursor_begins_on_what_asks_and_goes_along_edges_and_back(play):
    async def body(s):
        assert s.graph.cursor == "release"
        await s.press("h", "h")
        first = s.graph.cursor
        await s.press("l", "h")
        assert s.graph.cursor == first
        assert first in ("api", "web", "docs")
        await s.press("h", "l", "j")
        assert s.graph.cursor != first
        await s.press("g")
        assert s.graph.cursor == "plan"
        await s.press("G")
        assert s.graph.cursor == "summary"

    play(body)


def test_a_gate_is_its_row_of_the_queue(play):
    async def body(s):
        await s.press("enter")
        assert s.main.place == 2
        assert s.main.approvals.queue.cursor == "gate-1"

    play(body)


def test_deciding_the_row_changes_the_gate(play):
    async def body(s):
        action = s.run.journal.action("gate-1")
        said = Decision(action_id="gate-1", verdict="approve", choice="yes")
        assert decide_action(s.run.journal, said, action.digest, Actor(kind="user", via="cli")).ok
        s.run.step("release", "running", "completed", duration_ms=9_000)
        await s.look()
        await s.press("z")
        assert "✓ release?" in s.text
        assert s.pane.gate is None

    play(body)


@pytest.mark.usefixtures("drawn_frames")
def test_a_change_of_state_draws_one_box_and_moves_nothing(play):
    async def body(s):
        await s.press("z", "g")
        before = s.graph.picture
        drawn = []
        real = s.graph.draw_line
        s.graph.draw_line = lambda line, width: drawn.append(line) or real(line, width)
        s.run.step("tests[py39]", "completed", matrix="tests", item="py39", duration_ms=1_000)
        await s.look()
        assert s.graph.picture is before
        assert drawn == list(s.graph.picture.places[s.graph.drawing.index["tests"]].lines)
        assert "10 ok 2 run" in s.text

    play(body)


def test_space_opens_and_closes_a_matrix_and_nothing_else_moves_layer(play):
    async def body(s):
        await s.press("z", "/", *"tests", "enter")
        assert s.graph.cursor == "tests"
        layers = {key: s.graph.drawing.layout.net.layer[at] for key, at in s.graph.drawing.index.items()}
        await s.press("space")
        assert "▼ tests (12)" in s.text
        assert "● py39" in s.text
        assert s.graph.cursor == "tests"
        index, layer = s.graph.drawing.index, s.graph.drawing.layout.net.layer
        assert {key: layer[at] for key, at in index.items()} == layers
        await s.press("J")
        assert "py32" in s.text
        await s.press("space")
        assert "▼" not in s.text

    play(body)


def test_a_small_matrix_opens_as_steps(play):
    plans = (
        StepPlan(id="list"),
        StepPlan(id="m", needs=("list",), is_matrix=True),
        StepPlan(id="z", needs=("m",)),
    )

    async def body(s):
        s.run.done("list")
        s.run.step("m", "running")
        for one in ("a", "b"):
            s.run.step(f"m[{one}]", "running", matrix="m", item=one)
        await s.look()
        assert s.graph.cursor == "m", "it follows what runs"
        await s.press("z", "space")
        assert {"m[a]", "m[b]"} <= set(s.graph.drawing.index)
        assert s.graph.cursor == "m[a]"
        await s.press("space")
        assert s.graph.cursor == "m"

    play(body, written(*plans))


def test_a_step_is_shown_in_full_with_its_failing_paths(play):
    async def body(s):
        await s.press("z", "/", *"docs", "enter")
        assert "/pages/3/title" in s.text
        assert "/pages/7/links/0" in s.text
        await s.press("]")
        assert "out/index.json" in s.text
        await s.press("enter")
        assert s.pane.is_full
        assert not s.graph.display
        await s.press("escape")
        assert s.graph.display
        assert s.main.places.is_zoomed

    play(body)


def test_enter_without_room_for_the_step_makes_the_pane_large(play):
    async def body(s):
        await s.press("h", "enter")
        assert s.main.places.is_zoomed
        assert s.pane.step.display
        assert not s.pane.is_full
        assert "Attempts" in s.text

    play(body)


@pytest.mark.parametrize("size", [(80, 24), (60, 18)])
def test_enter_opens_a_step_on_a_small_screen_and_escape_gives_the_graph_back(play, size):
    async def body(s):
        await s.press("h", "enter")
        assert s.pane.is_full
        assert "Attempts" in s.text
        await s.press("escape")
        assert not s.pane.is_full
        assert s.graph.display

    play(body, size=size)


def test_problems_find_follow_and_ways(play):
    async def body(s):
        await s.press("z", "n")
        assert s.graph.cursor == "docs"
        await s.press("n", "n")
        assert s.graph.cursor == "release"
        await s.press("/", *"nobody", "enter")
        assert "No step has" in s.main.rule.said
        await s.press("/", *"summ", "enter")
        assert s.graph.cursor == "summary"
        await s.press("f")
        assert s.graph.cursor == "release"
        await s.press("/", *"docs", "enter", "w")
        assert set(s.graph.drawing.index) == {
            "plan",
            "docs",
            "tests",
            "release",
            "deploy",
            "notes",
            "summary",
        }
        await s.press("-", "-")
        assert set(s.graph.drawing.index) == {"plan", "docs", "tests"}
        await s.press("w")
        assert len(s.graph.drawing.index) == 9

    play(body)


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 36), (160, 48)])
def test_every_size_draws_it(play, size):
    async def body(s):
        await s.press("z", "v", "v", "v", "v", "v", "o", "o", "t", "T", "J", "K")
        assert "release?" in s.text

    play(body, size=size)


def test_no_run_says_so(play):
    async def body(s):
        assert "4 Pipeline  none runs" in s.text
        await s.press("z")
        assert "No pipeline runs." in s.text
        await s.press("j", "space", "enter", "n", "/", *"x", "enter", "a", "w")
        assert s.graph.cursor is None

    play(body, None)


def test_a_large_graph_has_an_overview_and_folds_twins(play):
    lints = [StepPlan(id=f"lint-{n}", needs=("start",)) for n in range(80)]
    plans = [StepPlan(id="start"), *lints, StepPlan(id="end", needs=tuple(one.id for one in lints))]

    async def body(s):
        await s.press("z")
        assert s.graph.drawing.folded.members
        await s.press("T")
        assert len(s.graph.drawing.index) == len(plans)
        assert s.graph.picture.kind == "signs"
        await s.press("v", "v")
        assert s.pane.has_overview

    play(body, written(*plans))


def test_a_running_step_counts_on_and_nothing_is_laid_out_anew(play):
    async def body(s):
        await s.press("z")
        before = s.graph.drawing
        s.run.journal.clock.advance(75)
        s.main.redraw_timer.tick()
        await s.settle()
        assert s.graph.drawing is before
        assert "1:15" in s.text

    play(body)


def test_the_time_to_answer_a_gate_goes_by_in_the_graph_too(play):
    async def body(s):
        await s.press("z")
        assert " 14:40 " in s.box("release")[2]
        s.run.journal.clock.advance(60 - s.run.journal.now() // 1_000_000 % 10)
        s.main.redraw_timer.tick()
        await s.settle()
        assert " 13:40 " in s.box("release")[2]

    play(body)


def test_another_run_is_shown_by_key(play):
    def two(journal, workspace):
        drawn_runs.Written(journal, workspace, drawn_runs.NIGHTLY[:2], run="run-0", number=40)
        return drawn_runs.nightly(journal, workspace)

    async def body(s):
        await s.press("{")
        assert "nightly #40" in s.text
        await s.press("}")
        assert "nightly #41" in s.text

    play(body, two)


def test_the_mouse_selects_and_opens(play):
    async def body(s):
        await s.press("z")
        place = s.graph.picture.places[s.graph.drawing.index["plan"]]
        await s.pilot.click(s.graph, offset=(place.sign_x + 1, place.y))
        await s.settle()
        assert s.graph.cursor == "plan"
        web = s.graph.picture.places[s.graph.drawing.index["web"]]
        await s.pilot.click(s.graph, offset=(web.sign_x + 1, web.y - 1))
        await s.settle()
        assert s.graph.picture.kind == "boxes"
        assert s.graph.cursor == "web"
        await s.pilot.click(s.graph, offset=(place.sign_x + 1, place.y), times=2)
        await s.settle()
        assert s.pane.is_full

    play(body, size=(180, 48))
