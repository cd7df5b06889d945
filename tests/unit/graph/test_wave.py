"""Pipelines of the program that this format comes from, where they lie beside the project: each reads back exactly.

They are not part of the project; where they are missing there is nothing to test.
"""

from pathlib import Path

import pytest

from tests.unit.graph.test_reading import check_layout
from workbench.graph.layout import compute_layout
from workbench.graph.model import build_graph
from workbench.graph.run_graph import planned_graph_steps
from workbench.pipelines.load import load_pipeline
from workbench.pipelines.step_order import step_plans

BESIDE = [folder / "shared" / "data" / "wave" for folder in Path(__file__).resolve().parents[4:]]
FILES = [
    file
    for folder in BESIDE
    for file in sorted(folder.rglob("*.yaml"))
    if "kind: WavePipeline" in file.read_text(encoding="utf-8")[:400]
]


@pytest.mark.skipif(not FILES, reason="no such files beside the project")
@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("width", [20, 60, 80, 100, 140])
def test_each_reads_back_at_every_width(width, is_ascii):
    for file in FILES:
        loaded = load_pipeline(str(file), missing_adapters=False)
        assert loaded.pipeline is not None, file
        graph = build_graph(planned_graph_steps(step_plans(loaded.pipeline, loaded.manifest)))
        for show_implied in (False, True):
            layout = compute_layout(graph, show_implied=show_implied, apart=is_ascii)
            check_layout(layout, width, "auto", is_ascii)
