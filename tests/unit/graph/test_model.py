"""What becomes an edge, what a back edge, what a problem."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.graph.shapes import BAR, dags, graph_of
from workbench.graph.model import GraphStep, build_graph, display_name, implied_edges, topological_order


def step(name, *needs, **more):
    return GraphStep(id=name, needs=needs, **more)


@pytest.mark.parametrize(
    ("steps", "edges", "problems"),
    [
        ([], (), ()),
        ([step("a"), step("b", "a", "a")], ((0, 1),), ()),
        ([step("a", "b"), step("b")], ((1, 0),), ()),
        ([step("a", "x")], (), ("a needs x: there is no such step",)),
        (
            [step("a"), step("a"), step("b", "a")],
            ((0, 2),),
            ("two steps are called a: needs mean the first",),
        ),
    ],
)
def test_edges_and_problems(steps, edges, problems):
    graph = build_graph(steps)
    assert (graph.edges(), graph.problems, graph.back) == (edges, problems, ())


def test_a_step_that_needs_itself_leads_back_to_itself():
    graph = build_graph([step("a", "a"), step("b", "a")])
    assert (graph.edges(), graph.back, graph.problems) == (((0, 1),), ((0, 0),), ("a needs itself",))


def test_a_loop_is_cut_where_it_closes_and_reported():
    graph = build_graph(
        [step("plan"), step("work", "plan", "review"), step("review", "work"), step("pr", "review")]
    )
    assert graph.edges() == ((0, 1), (1, 2), (2, 3))
    assert graph.back == ((2, 1),)
    assert graph.problems == ("loop: work → review → work",)


def test_a_declared_return_is_a_back_edge_and_no_problem():
    graph = build_graph([step("work"), step("review", "work", returns=("work", "nothing"))])
    assert (graph.edges(), graph.back, graph.problems) == (((0, 1),), ((1, 0),), ())


@given(
    st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=5)), min_size=1, max_size=12)
)
def test_whatever_is_asked_the_edges_form_no_loop(rows):
    graph = build_graph([GraphStep(id=str(at), needs=tuple(map(str, needs))) for at, needs in rows])
    order = topological_order(graph.needs, graph.feeds)
    assert sorted(order) == list(range(len(rows)))
    place = {v: at for at, v in enumerate(order)}
    assert all(place[u] < place[v] for u, v in graph.edges())


def test_a_loop_of_a_thousand_steps():
    graph = build_graph([GraphStep(id=str(at), needs=(str((at - 1) % 1000),)) for at in range(1000)])
    assert (len(graph.edges()), graph.back) == (999, ((999, 0),))


@pytest.mark.parametrize(("name", "count"), [("audit-issue", 5), ("impl-speckit", 6), ("stages", 0)])
def test_implied_edges(name, count):
    assert len(implied_edges(graph_of(BAR[name]))) == count


def reach(edges, start):
    found, todo = set(), [start]
    while todo:
        near = [v for u, v in edges if u == todo[-1] and v not in found]
        todo.pop()
        found.update(near)
        todo += near
    return found


@given(dags(14))
def test_without_implied_edges_the_same_is_reached_and_none_could_be_left_out(graph):
    kept = set(graph.edges()) - implied_edges(graph)
    for u in range(len(graph.steps)):
        assert reach(kept, u) == reach(graph.edges(), u)
    assert all(v not in reach(kept - {(u, v)}, u) for u, v in kept)


@pytest.mark.parametrize(
    ("given_step", "name"),
    [
        (GraphStep(id="a"), "a"),
        (GraphStep(id="a", name="Plan"), "Plan"),
        (GraphStep(id="a", many=12), "a (12)"),
        (GraphStep(id="a", many=0), "a (?)"),
        (GraphStep(id=" "), "·"),
        (GraphStep(id="a\n\x1b[31mb"), "a⏎⟨ESC[31m⟩b"),
    ],
)
def test_shown(given_step, name):
    assert display_name(given_step) == name
