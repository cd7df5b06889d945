"""What waits and what failed is read at once: computed from the drawn cells of eight runs, at three sizes."""

import asyncio

import pytest

from tests.support import urgent_runs
from tests.support.sizes import rarely
from tests.support.tables import each_row
from tests.tui.backend import backend
from tests.tui.screens import Hand, settled
from workbench.effects.clock import ManualClock
from workbench.graph.model import display_name
from workbench.graph.navigation import urgent_steps
from workbench.graph.step_text import status_sign
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tui.app import WorkbenchApp

SIZES = ((160, 48), (120, 36), (80, 24))
MUST_BE_SEEN = ("waiting", "failed", "warned")
SHOP = "/workspace/shop"


def cells_of(widget, app):
    """Return the drawn cells of a widget as lines."""
    lines = [strip.text for strip in app.screen._compositor.render_strips()]
    seen = widget.region
    return [line[seen.x : seen.right] for line in lines[seen.y : seen.bottom]]


async def shown(app, pilot, is_zoomed):
    app.main.go_to(4)
    await settled(app, pilot)
    if is_zoomed:
        await pilot.press("z")
        await settled(app, pilot)
    graph = app.main.pipeline.graph
    return graph, cells_of(graph, app)


def draw(tmp_path, make, size, is_zoomed, look, *, then=None):
    journal = Journal.open(Home.open(tmp_path / "home"), clock=ManualClock())
    make(journal, SHOP)
    app = WorkbenchApp(journal, backend(), SHOP, home="/workspace", monotonic=Hand())

    async def go():
        async with app.run_test(size=size) as pilot:
            await settled(app, pilot)
            look(*await shown(app, pilot, is_zoomed))
            if then is not None:
                await then(app, pilot)

    try:
        asyncio.run(go())
    finally:
        journal.close()


def urgent_names(graph):
    """Return sign and name of everything that waits or failed, as the run has it and not as it is drawn."""
    steps = graph.drawing.layout.graph.steps
    states = {v: facts.state for v, facts in graph.facts.items()}
    assert set(urgent_steps(graph.drawing.layout, graph.facts)) >= {
        v for v in states if states[v] in MUST_BE_SEEN
    }
    for v, state in states.items():
        if state in MUST_BE_SEEN:
            yield f"{status_sign(graph.facts[v])} {display_name(steps[v])}"


@pytest.mark.parametrize("size", [SIZES[0], rarely(SIZES[1])], ids=["wide-and-narrow", "medium"])
@pytest.mark.parametrize("run", urgent_runs.RUNS)
def test_all_that_waits_or_failed_is_seen_with_its_name(tmp_path, run, size):
    drawn = set()

    def look(graph, lines):
        drawn.add(graph.size)
        expected = list(urgent_names(graph))
        assert len(expected) == NUMBER_OF_PROBLEMS[run]
        for name in expected:
            assert any(name in line for line in lines), (name, lines)

    async def zoom_and_narrow(app, pilot):
        look(*await shown(app, pilot, True))
        if size == SIZES[0]:
            await pilot.resize_terminal(*SIZES[2])
            await settled(app, pilot)
            look(*await shown(app, pilot, False))
            look(*await shown(app, pilot, True))

    draw(tmp_path, urgent_runs.RUNS[run], size, False, look, then=zoom_and_narrow)
    # A narrow screen gives it all of its room either way.
    assert len(drawn) == (3 if size == SIZES[0] else 2), "in part of the screen and on all of it"


NUMBER_OF_PROBLEMS = {
    "gate": 1, "failure": 1, "rails": 2, "folded": 2, "retried": 1, "cancelled": 1, "large": 3, "done": 0,
}  # fmt: skip


def test_what_is_out_of_view_is_named_and_the_way_to_more_is_shown(tmp_path):
    def look(graph, lines):
        del lines
        graph.next_kind()
        assert graph.drawing.is_cut
        for at, more in (((0, 0), "↓→"), ((60, 0), "←↓→"), ((0, 9), "↑→")):
            graph.scroll_to(*at, animate=False, force=True)
            rows = [graph.render_line(y).text for y in range(graph.size.height)]
            assert rows[-1].rstrip().endswith(f"more {more}")
            for name in urgent_names(graph):
                assert any(name in row for row in rows), (at, name)

    draw(tmp_path, urgent_runs.many_rails, (100, 30), True, look)


def test_the_cursor_is_on_what_is_most_urgent_until_a_key_moves_it(tmp_path):
    def look(graph, lines):
        del lines
        assert graph.cursor == "review"
        graph.go("left")
        assert not graph.follows_run
        moved = graph.cursor
        graph.changed()
        assert graph.cursor == moved
        assert graph.follow()
        assert graph.cursor == "review"

    draw(tmp_path, urgent_runs.many_rails, (120, 36), False, look)


@each_row(
    ("size", "is_zoomed", "kind"),
    [
        ((160, 48), True, "boxes"), ((160, 48), False, "strip"), ((120, 36), False, "signs"),
        ((80, 24), False, "wrapped"), ((60, 18), False, "strip"),
    ],
)  # fmt: skip
def test_a_graph_is_drawn_as_large_as_fits_and_never_cut(tmp_path_factory, size, is_zoomed, kind):
    def look(graph, lines):
        del lines
        assert graph.picture.kind == kind
        assert not graph.drawing.is_cut

    draw(tmp_path_factory.mktemp("run"), urgent_runs.many_rails, size, is_zoomed, look)
