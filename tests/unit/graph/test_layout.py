"""A layout is decided by structure alone: same bytes every time, whatever the states, and old places last."""

import ast
import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.graph.shapes import BAR, REAL, dags, graph_of, step_lists, steps_of
from workbench.graph import edge_routes, fit, layers, layout
from workbench.graph.edge_routes import IncrementalOrder
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StepFacts, build_graph
from workbench.views.status_icons import STEP_STATUSES

PICTURES = """
from tests.unit.graph.shapes import REAL, graph_of, wide
from workbench.graph.fit import fit_picture
from workbench.graph.layout import compute_layout
for graph in [graph_of(REAL["monorepo"]), graph_of(REAL["stages"]), wide(60, 12, 3)]:
    for kind in ("band", "wrapped", "list"):
        print("\\n".join(fit_picture(compute_layout(graph), 90, wanted=kind).lines()))
"""


def test_the_same_bytes_whatever_the_hash_seed():
    root = Path(__file__).resolve().parents[3]
    printed = {
        subprocess.run(
            [sys.executable, "-c", PICTURES],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(printed) == 1


@pytest.mark.parametrize("module", [layout, layers, layers, layout, edge_routes])
def test_layout_knows_no_states(module):
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name for name in names if name.endswith(("facts", "picture"))}


FACTS = st.builds(
    StepFacts,
    state=st.sampled_from(list(STEP_STATUSES)),
    duration=st.sampled_from(["", "0.4s", "8m41", "99999999999"]),
    attempt=st.integers(1, 9),
    contract=st.sampled_from(["", "kept", "broken"]),
    left=st.sampled_from(["", "14:20", "99:59:59"]),
    asks=st.sampled_from(["", "docs/review.md +2", "a very long question that fits nowhere"]),
    reason=st.sampled_from(["", "exit 1", "a very long reason that fits nowhere"]),
    share=st.sampled_from([None, 0.0, 0.4, 1.0, 2.5]),
    usual=st.sampled_from(["", "8:41"]),
)


@settings(max_examples=40)
@given(graph=dags(12), kind=st.sampled_from(["band", "wrapped", "list", "boxes"]), data=st.data())
def test_a_change_of_state_changes_one_line_or_box_and_no_line_cell(graph, kind, data):
    picture = fit.fit_picture(compute_layout(graph), 70, wanted=kind)
    known = data.draw(st.dictionaries(st.integers(0, len(graph.steps) - 1), FACTS, max_size=4))
    step = data.draw(st.integers(0, len(graph.steps) - 1))
    before, after = picture.lines(known), picture.lines({**known, step: data.draw(FACTS)})
    place = picture.places[step]
    changed = [y for y, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    # A box is as tall as what it says: its frame is its own, and still no line to it moves.
    own = place.lines if place.is_boxed else {place.y, place.y if place.detail_y is None else place.detail_y}
    assert set(changed) <= set(own)
    for y in changed:
        end = place.badge_x if place.aligned else place.end
        a, b = before[y].ljust(picture.width), after[y].ljust(picture.width)
        assert (a[: place.start], a[end:]) == (b[: place.start], b[end:])


def old_places(layout, ids):
    net = layout.net
    return {
        step.id: (net.layer[v], layout.row[v]) for v, step in enumerate(layout.graph.steps) if step.id in ids
    }


def check_kept(before, after, pushed):
    ids = {step.id for step in before.graph.steps} & {step.id for step in after.graph.steps}
    old, new = old_places(before, ids), old_places(after, ids)
    assert {one for one in ids if old[one][0] != new[one][0]} <= pushed
    for a, b in itertools.combinations(sorted(ids), 2):
        if old[a][0] == old[b][0] and new[a][0] == new[b][0]:
            assert (old[a][1] < old[b][1]) == (new[a][1] < new[b][1])


@settings(max_examples=40)
@given(steps=step_lists(24), data=st.data())
def test_new_steps_leave_old_ones_in_order_and_in_their_layer(steps, data):
    before = compute_layout(build_graph(steps))
    needs = data.draw(st.sets(st.sampled_from([step.id for step in steps]), max_size=3))
    heir = data.draw(st.sampled_from(steps))
    grown = [*steps, GraphStep(id="new", needs=tuple(sorted(needs))), GraphStep(id="leaf", needs=(heir.id,))]
    check_kept(before, compute_layout(build_graph(grown), before=before), set())


def test_an_old_step_moves_only_when_a_new_one_pushes_it():
    before = compute_layout(graph_of("a | b: a | c: b | other: a"))
    after = compute_layout(graph_of("a | b: a | c: b x | other: a | x: b"), before=before)
    check_kept(before, after, {"c"})
    assert old_places(after, {"c", "x"}) == {"x": (2, 0), "c": (3, 0)}


def test_a_step_that_goes_away_leaves_the_others_where_they_are():
    before = compute_layout(graph_of(BAR["monorepo"]))
    fewer = [step for step in steps_of(BAR["monorepo"]) if step.id != "pkg1-test"]
    after = compute_layout(
        build_graph([GraphStep(id=s.id, needs=tuple(n for n in s.needs if n != "pkg1-test")) for s in fewer]),
        before=before,
    )
    check_kept(before, after, set())


def test_nothing_changed_nothing_moves():
    for text in REAL.values():
        before = compute_layout(graph_of(text))
        after = compute_layout(graph_of(text), before=before)
        ids = {step.id for step in before.graph.steps}
        assert old_places(after, ids) == old_places(before, ids)


def test_components_are_not_interleaved():
    graph = graph_of("a1 | b1 | a2: a1 | b2: b1 | a3: a1 | b3: b1 | a4: a2 a3")
    found = compute_layout(graph)
    rows_of = {step.id: found.row[v] for v, step in enumerate(graph.steps)}
    assert max(at for one, at in rows_of.items() if one[0] == "a") < min(
        at for one, at in rows_of.items() if one[0] == "b"
    )


def test_bundles_draw_stages_without_crossing():
    found = compute_layout(graph_of(BAR["stages"]))
    assert [len(bus.sources) * len(bus.targets) for bus in found.net.buses] == [12, 8]
    assert (found.height, sum(edge_routes.gap_crossings(gap) for gap in found.gaps)) == (4, 0)


def test_an_empty_graph():
    found = compute_layout(build_graph([]))
    assert (found.height, found.layers, fit.fit_picture(found, 80).lines()) == (0, 1, [])


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60))
def test_an_ordering_never_holds_a_cycle(pairs):
    ordering = IncrementalOrder()
    for _ in range(13):
        ordering.add()
    taken = set()
    for a, b in pairs:
        closes = a == b or a in reach(taken, b)
        assert ordering.put(a, b) == (not closes)
        if not closes:
            taken.add((a, b))


def reach(edges, start):
    found, todo = {start}, [start]
    while todo:
        u = todo.pop()
        near = [v for a, v in edges if a == u and v not in found]
        found.update(near)
        todo += near
    return found


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from([1.0, 3.5, 8.0])), min_size=1, max_size=12))
def test_rows_are_strictly_increasing_and_untouched_where_they_can_be(pairs):
    targets = [float(at) for at, _ in pairs]
    found = layout.fit_column(targets, [weight for _, weight in pairs])
    assert all(a < b for a, b in itertools.pairwise(found))
    if all(a < b for a, b in itertools.pairwise(targets)):
        assert found == targets
