"""From one structure of a run to the next: what had no place keeps none."""

from tests.unit.graph.shapes import steps_of
from workbench.graph.pane_picture import GraphSize, GraphStructure, draw_graph

ROOM = GraphSize(width=120, height=30)
STEPS = tuple(
    steps_of(
        "plan | api: plan | web: plan | flaky: plan | json: plan | gate: api flaky | last: gate web json"
    )
)


def test_a_run_that_was_queued_is_laid_out_as_if_it_had_never_been_empty():
    queued = draw_graph(GraphStructure(run="r"), ROOM)
    begun = draw_graph(GraphStructure(run="r", steps=STEPS), ROOM, queued)
    assert begun.layout.row == draw_graph(GraphStructure(run="r", steps=STEPS), ROOM).layout.row
    assert begun.layout.crossed() == 0
