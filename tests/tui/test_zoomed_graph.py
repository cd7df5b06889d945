"""The zoomed graph takes the rows that it needs; all parts of its step are next to the one that is open."""

from hypothesis import given
from hypothesis import strategies as st

from tests.support import drawn_runs
from tests.tui.test_pipeline_pane import play as play
from workbench.domain.events import ArtifactStored, OutputStreamed, StepChanged
from workbench.domain.values import StepPlan
from workbench.tui.pipeline.step_parts import shown_lines

FAILURE = "it ended with exit code 1: tests/test_a.py::test_one PASSED / tests/test_a.py::test_two FAILED"


def some_steps(journal, workspace):
    plans = (StepPlan(id="build", kind="command"), StepPlan(id="tests", kind="command", needs=("build",)))
    run = drawn_runs.Written(journal, workspace, plans)
    run.step("build", "running")
    stored = ArtifactStored(
        name="bundle", artifact_kind="file", digest="0" * 64, path="dist/shop.py", size_bytes=90
    )
    run.say(stored, OutputStreamed(offset=0, text="read\nbuilt all\n"), step="build")
    run.step("build", "completed", output="read\nbuilt all\n", duration_ms=2_000)
    run.step("tests", "running")
    run.say(StepChanged(state="failed", has_failed=True, detail=FAILURE, output="2 tests\n"), step="tests")
    return run


def test_the_graph_leaves_the_rows_it_does_not_need_to_all_parts_of_its_step(play):
    async def body(s):
        await s.press("z", "g")
        await s.settle()
        graph, step, parts = s.pane.graph, s.pane.step, s.pane.query_one("#pipeline-parts")
        assert graph.size.height == graph.picture.height + 1
        assert (step.region.y, step.region.right) == (parts.region.y, parts.region.x)
        assert parts.region.right == s.pane.region.right
        assert "shop.py 90 B" in s.text
        assert "built all" in s.text
        opened = step.section.name
        await s.press("]")
        assert step.section.name != opened
        assert f" {opened} ─" in s.text

    play(body, some_steps, size=(160, 48))


def test_a_narrow_pane_shows_one_part_of_a_step(play):
    async def body(s):
        await s.press("z", "g")
        await s.settle()
        assert not s.pane.query_one("#pipeline-parts").display
        assert s.pane.step.region.right == s.pane.region.right

    play(body, some_steps, size=(120, 36))


def test_a_reason_is_said_once(play):
    async def body(s):
        await s.press("z", "g", "l")
        await s.settle()
        assert s.text.count("1 of 2 tests failed") == 1
        assert "needs build" in s.text
        assert "failed, 12" not in s.text

    play(body, some_steps, size=(120, 40))


def test_an_empty_pane_draws_a_ghost_in_its_middle_where_it_has_room(play):
    async def body(s):
        await s.press("z")
        lines = s.text.splitlines()
        box = next(line for line in lines if "│ plan ├" in line)
        hatched = box.rstrip()
        left, right = (len(side) - len(side.lstrip("╱")) for side in (hatched, hatched[::-1]))
        assert left > 0
        assert abs(left - right) <= 1
        assert next(line for line in lines if "No pipeline runs." in line).strip("╱ ") == "No pipeline runs."

    play(body, None)


def test_a_small_empty_pane_has_the_words_alone(play):
    async def body(s):
        await s.press("z")
        assert "├" not in s.text
        assert "No pipeline runs." in s.text

    play(body, None, size=(60, 18))


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(0, 120))
def test_parts_next_to_the_open_one_take_the_rows_that_are_there(counts, room):
    shown = shown_lines(counts, room)
    assert all(min(count, 8) <= rows <= count for rows, count in zip(shown, counts, strict=True))
    assert sum(shown) == min(sum(counts), max(room, sum(min(count, 8) for count in counts)))
