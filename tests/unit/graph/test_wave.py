"""Pipelines as projects have them: the drawing of each reads back exactly."""

import pytest

from tests.support.wave_files import FILES
from tests.unit.graph.test_reading import check_layout
from workbench.graph.layout import compute_layout
from workbench.graph.model import build_graph
from workbench.graph.run_graph import planned_graph_steps
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.step_order import step_plans


@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("width", [20, 60, 80, 100, 140])
def test_each_reads_back_at_every_width(width, is_ascii):
    for _, file in FILES:
        loaded = load_pipeline(str(file), missing_adapters=False)
        assert loaded.pipeline is not None, file
        graph = build_graph(planned_graph_steps(step_plans(loaded.pipeline, loaded.manifest)))
        for show_implied in (False, True):
            layout = compute_layout(graph, show_implied=show_implied, apart=is_ascii)
            check_layout(layout, width, "auto", is_ascii)
