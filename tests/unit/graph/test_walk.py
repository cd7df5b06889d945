"""The cursor: along lines and back, beside, to what needs a look; the longest path; the neighbourhood."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.graph.shapes import BAR, REAL, dags, graph_of
from workbench.graph.fit import fit_picture
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StepFacts, build_graph
from workbench.graph.navigation import (
    follow_edge,
    hidden_edges_note,
    longest_path,
    needs_and_feeds_text,
    neighbourhood,
    step_beside,
    urgent_steps,
)


def picture(name, width=400, kind="band"):
    return fit_picture(compute_layout(graph_of(REAL[name])), width, wanted=kind)


def at(found, step_id):
    return found.layout.graph.index(step_id)


@settings(max_examples=40)
@given(graph=dags(20), kind=st.sampled_from(["band", "list"]))
def test_onward_and_back_returns(graph, kind):
    found = fit_picture(compute_layout(graph), 80, wanted=kind)
    for start in range(len(graph.steps)):
        to, trail = follow_edge(found, start, "onward")
        assert to == start or follow_edge(found, to, "back", trail)[0] == start


def test_onward_goes_where_it_went_last_time_then_straight_on():
    found = picture("ops-pr-review")
    start, middle, low = (at(found, one) for one in ("diff-analysis", "quality-review", "slop-review"))
    to, trail = follow_edge(found, start, "onward")
    assert to == middle
    back, trail = follow_edge(found, low, "back", trail)
    assert (back, follow_edge(found, back, "onward", trail)[0]) == (start, low)


def test_beside_walks_the_siblings_then_the_layer():
    found = picture("monorepo")
    _, trail = follow_edge(found, at(found, "install"), "onward")
    seen, here = [], trail.onward[at(found, "install")]
    while step_beside(found, here, -1, trail) != here and len(seen) < 20:
        here = step_beside(found, here, -1, trail)
        seen.append(found.steps()[here].id)
    assert set(seen) <= {step.id for step in found.steps()}
    assert seen


@pytest.mark.parametrize("kind", ["band", "list"])
def test_down_reaches_every_step_once_and_stops(kind):
    found = picture("docs-to-impl", kind=kind)
    count = len(found.places)
    order = sorted(range(count), key=lambda v: found.places[v].y) if kind == "list" else None
    here = order[0] if order else at(found, "create-feature-branch")
    seen = [here]
    while (after := step_beside(found, here, 1)) != here:
        here = after
        seen.append(here)
    assert sorted(seen) == list(range(count))


def test_urgent_ranks_waiting_before_failed_before_running():
    found = picture("stages")
    states = {3: "running", 5: "failed", 6: "waiting", 7: "completed", 8: "warned"}
    assert urgent_steps(found.layout, {v: StepFacts(state=state) for v, state in states.items()}) == [
        6,
        5,
        8,
        3,
    ]


def test_longest_path():
    graph = graph_of(BAR["demo"])
    assert [graph.steps[v].id for v in longest_path(graph, [8, 52, 521, 12, 1, 1])] == [
        "plan",
        "web",
        "tests",
        "gate",
        "summary",
    ]
    assert longest_path(build_graph([]), []) == []


@given(graph=dags(9), data=st.data())
def test_no_path_is_longer(graph, data):
    seconds = data.draw(st.lists(st.integers(0, 50), min_size=len(graph.steps), max_size=len(graph.steps)))
    path = longest_path(graph, seconds)
    assert all(edge in graph.edges() for edge in itertools.pairwise(path))
    assert not set(itertools.pairwise(path)) & set(compute_layout(graph).hidden)
    best = [0] * len(graph.steps)

    def length(v):
        return seconds[v] + max((length(u) for u in graph.needs[v]), default=0)

    best = [length(v) for v in range(len(graph.steps))]
    assert sum(seconds[v] for v in path) == max(best)


def test_neighbourhood():
    graph = graph_of(BAR["monorepo"])
    near = {step.id for step in neighbourhood(graph, graph.index("pkg1-test"), 1)}
    assert near == {"pkg1-build", "pkg1-test", "pkg1-publish"}
    all_of_it = neighbourhood(graph, graph.index("pkg1-test"))
    assert {step.id for step in all_of_it} == {
        "checkout",
        "install",
        "pkg0-build",
        "pkg1-build",
        "pkg1-test",
        "pkg1-publish",
        "release",
    }
    assert build_graph(all_of_it).problems == ()


def test_the_sentence_is_the_picture_in_words():
    found = compute_layout(graph_of(BAR["audit-issue"]))
    graph = found.graph
    assert needs_and_feeds_text(found, graph.index("synthesize")) == (
        "needs aggregate-followups, (fetch-issue) · feeds file-each-followup, (create-pr)"
    )
    assert hidden_edges_note(found) == "5 implied edges hidden"
    assert hidden_edges_note(compute_layout(graph_of("a"))) == ""


def test_the_sentence_names_the_way_back():
    steps = [GraphStep(id="work"), GraphStep(id="review", needs=("work",), returns=("work",))]
    assert needs_and_feeds_text(compute_layout(build_graph(steps)), 1) == "needs work · may go back to work"
