"""The ladder: what fits is drawn in full, then wrapped, then cut, at last listed; nothing is ever wider than asked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.tables import each_row
from tests.unit.graph.shapes import REAL, dags, graph_of, wide
from workbench.graph.fit import fit_pane, fit_picture, no_badge_width, step_labels
from workbench.graph.layout import compute_layout
from workbench.graph.model import GraphStep, StepFacts, build_graph
from workbench.graph.short_names import shorten_name
from workbench.graph.step_text import badge_width
from workbench.text.width import cell_width
from workbench.views.status_icons import ICONS

DOCS = REAL["docs-to-impl"]
FAILED = ICONS["failed"].unicode


def drawing(text, width, **more):
    return fit_picture(compute_layout(graph_of(text), apart=more.get("is_ascii", False)), width, **more)


@pytest.mark.parametrize(
    ("width", "kind"),
    [(230, "band"), (140, "wrapped"), (60, "wrapped"), (30, "list"), (20, "list")],
)
def test_the_ladder(width, kind):
    assert drawing(DOCS, width).kind == kind


@settings(max_examples=30)
@given(graph=dags(16), width=st.integers(20, 160), kind=st.sampled_from(["auto", "wrapped"]))
def test_no_line_is_wider_than_the_pane(graph, width, kind):
    picture = fit_picture(compute_layout(graph), width, wanted=kind)
    facts = {v: StepFacts(state="retrying", duration="8:41", attempt=2) for v in range(len(graph.steps))}
    assert max(map(cell_width, picture.lines(facts))) <= picture.width <= width


@pytest.mark.parametrize("width", [50, 60, 70, 80])
def test_a_tall_step_leaves_no_empty_rows_in_the_bands_below_it(width):
    needs = {"plan": "", "api": "plan", "web": "plan", "docs": "plan", "tests": "api web docs",
             "release": "tests", "deploy": "release", "notes": "release", "summary": "deploy notes"}  # fmt: skip
    items = tuple(f"py3{n}" for n in range(12))
    steps = [GraphStep(id=name, needs=tuple(of.split())) for name, of in needs.items()]
    steps[4] = replace(steps[4], is_matrix=True, is_open=True, items=items)
    picture = fit_picture(compute_layout(build_graph(steps)), width, wanted="wrapped")
    assert picture.kind == "wrapped"
    held = {y for place in picture.places for y in range(place.y, place.y + place.below + 1)}
    assert all(y in held or set(line) - set(" │") for y, line in enumerate(picture.lines({})))


@each_row("name", REAL)
@each_row("width", [20])
def test_real_pipelines_fit_twenty_columns(name, width):
    for is_ascii in (False, True):
        assert max(map(cell_width, drawing(REAL[name], width, is_ascii=is_ascii).lines())) <= width


def test_what_the_user_chose_is_drawn_even_if_it_does_not_fit():
    for kind in ("band", "list", "boxes"):
        assert drawing(DOCS, 30, wanted=kind).kind == kind


@each_row(
    ("size", "kind", "height"),
    [
        ((160, 30), "boxes", 8), ((80, 10), "boxes", 8), ((80, 3), "strip", 2), ((70, 4), "wrapped", 4),
        ((60, 3), "strip", 2), ((44, 2), "signs", 1), ((10, 2), "signs", 1),
    ],
)  # fmt: skip
def test_a_pane_is_never_given_more_than_fits(size, kind, height):
    fitted = fit_pane(compute_layout(graph_of(REAL["demo"])), *size)
    picture = fitted.picture
    assert (picture.kind, picture.height) == (kind, height)
    assert picture.width <= size[0]
    assert picture.height <= size[1]
    assert (fitted.names is not None) == (kind in ("strip", "signs"))


@settings(max_examples=40)
@given(graph=dags(30), width=st.integers(10, 160), height=st.integers(1, 40), is_ascii=st.booleans())
def test_no_graph_is_cut_in_a_pane_that_does_not_scroll(graph, width, height, is_ascii):
    fitted = fit_pane(compute_layout(graph, apart=is_ascii), width, height, is_ascii=is_ascii)
    assert fitted.picture.width <= width
    assert fitted.picture.height <= height
    names = fitted.names
    assert names is None or (names.x + names.width <= width and names.y + names.rows <= max(1, height))


def test_boxes_are_scrolled_only_where_a_graph_may_be_larger_than_its_pane():
    layout = compute_layout(graph_of(DOCS))
    large = fit_pane(layout, 60, 8, may_scroll=True).picture
    assert large.kind == "boxes"
    assert large.width > 60
    assert fit_pane(layout, 60, 8).picture.kind == "strip"


def test_boxes_have_a_second_line_where_it_fits():
    layout = compute_layout(graph_of(REAL["demo"]))
    for size, has_detail in (((160, 30), True), ((80, 30), True), ((110, 7), False)):
        places = fit_pane(layout, *size).picture.places
        assert {place.detail_y is not None for place in places} == {has_detail}


def test_tall_boxes_have_lines_for_what_came_of_a_step_and_wider_gaps():
    layout = compute_layout(graph_of("a | b: a | c: b"))
    picture = fit_pane(layout, 160, 40, is_tall=True).picture
    facts = {0: StepFacts(state="completed", duration="1.4 s", notes=("plan.json 73 B", "x" * 90))}
    assert picture.lines(facts)[2].startswith("│   plan.json 73 B ")
    assert "xxx…" in picture.lines(facts)[3]
    assert picture.places[1].start - picture.places[0].end == 5
    assert not fit_pane(layout, 160, 5, is_tall=True).picture.places[0].notes
    assert not fit_pane(layout, 40, 40, is_tall=True).picture.places[0].notes


def test_a_frame_tells_what_waits_and_closes_where_there_is_no_more_to_say():
    picture = fit_pane(compute_layout(graph_of("a | b: a | c: b")), 90, 4).picture
    facts = {
        0: StepFacts(state="completed", duration="1.4 s"),
        1: StepFacts(state="waiting", left="6:50", asks="docs/review.md +2"),
        2: StepFacts(state="failed", duration="2.0 s", reason="it ended with exit code 3", attempt=2),
    }
    assert picture.lines(facts) == [
        "╭──────────────────────────╮  ╔══════════════════════════╗  ╭──────────────────────────╮",
        f"│ ✓ a                1.4 s ├──╢ ◆ b                 6:50 ╟──┤ {FAILED} c               exit 3 │",
        "╰──────────────────────────╯  ║   docs/review.md +2      ║  │   2nd try                │",
        "                              ╚══════════════════════════╝  ╰──────────────────────────╯",
    ]


NAMES = [
    "x",
    "n" * 200,
    "构建与部署",
    "e\u0301tape-re\u0301sume\u0301",
    "👩‍💻 deploy",
    "a\nb\tc",
    "\x1b[31mred\u202etxt",
    "",
    "│─┼ ├",
]


@each_row("kind", ["band", "wrapped", "list", "boxes"])
@each_row("is_ascii", [False, True])
def test_hard_names(kind, is_ascii):
    steps = [
        GraphStep(id=f"s{at}", name=name, needs=(f"s{at - 1}",) if at else ())
        for at, name in enumerate(NAMES)
    ]
    picture = fit_picture(
        compute_layout(build_graph(steps), apart=is_ascii), 44, wanted=kind, is_ascii=is_ascii
    )
    for line in picture.lines({1: StepFacts(state="failed", duration="1:02")}):
        assert line.isprintable()
        assert "\u202e" not in line
        assert cell_width(line) <= picture.width
        assert not is_ascii or line.isascii()


def test_wires_keep_their_columns_beside_wide_names():
    text = "a | b: a | c: a | z: b c"
    plain = drawing(text, 80, slots=no_badge_width)
    steps = [
        GraphStep(id=s.id, name={"b": "构建"}.get(s.id, {"c": "text"}.get(s.id, "")), needs=s.needs)
        for s in plain.steps()
    ]
    lines = fit_picture(compute_layout(build_graph(steps)), 80, slots=no_badge_width).lines()
    assert lines == [" ◯ a ─┬─ ◯ 构建 ─┬─ ◯ z", "      └─ ◯ text ─┘"]


@given(name=st.text(max_size=40), room=st.integers(0, 24), is_ascii=st.booleans())
def test_cut_names_fit(name, room, is_ascii):
    assert cell_width(shorten_name(name, room, is_ascii=is_ascii)) <= max(room, 0) or cell_width(name) <= room


@pytest.mark.parametrize(
    ("name", "room", "cut"),
    [
        ("specify-issue-1", 13, "specif…ssue-1"),
        ("create-feature-branch", 13, "create…branch"),
        ("short", 13, "short"),
        ("构建与部署服务", 9, "构建…服务"),
        ("ab", 1, "…"),
    ],
)
def test_cut_name(name, room, cut):
    assert shorten_name(name, room) == cut


def test_a_level_at_which_two_names_look_alike_is_skipped():
    text = "deploy-service-alpha-staging-x | deploy-service-beta-staging-x: deploy-service-alpha-staging-x"
    for width in range(42, 90, 3):
        picture = drawing(text, width)
        assert len({place.name for place in picture.places}) == 2


SERVICES = [f"deploy-the-{name}-service-to-staging" for name in ("alpha", "beta", "gamma")]


@each_row("is_ascii", [False, True])
@each_row("names", [SERVICES, [f"{'n' * 90}{at}{'n' * 90}" for at in range(20)]])
@each_row("width", [20, 24, 60])
def test_different_names_look_different_in_a_list(names, width, is_ascii):
    steps = [GraphStep(id=name, needs=names[:at][-1:]) for at, name in enumerate(names)]
    picture = fit_picture(
        compute_layout(build_graph(steps), apart=is_ascii), width, wanted="list", is_ascii=is_ascii
    )
    assert len({place.name for place in picture.places}) == len(names)
    assert max(map(cell_width, picture.lines())) <= width


@pytest.mark.parametrize("width", [20, 100])
def test_wide_names_look_different_in_ascii(width):
    steps = [
        GraphStep(id="构建"),
        GraphStep(id="部署", needs=("构建",)),
        GraphStep(id="测试", needs=("部署",), many=3),
    ]
    picture = fit_picture(compute_layout(build_graph(steps), apart=True), width, is_ascii=True)
    assert [place.name for place in picture.places] == ["????", "????~2", "???? (3)"]


def test_labels_keep_the_count_of_a_fold():
    graph = build_graph([GraphStep(id="a-very-long-name-of-a-matrix", many=120)])
    assert step_labels(graph, 13, badge_width)[0].name == "a-very…matrix (120)"


def test_two_steps_with_one_name_are_drawn_all_the_same():
    steps = [GraphStep(id="a", name="same"), GraphStep(id="b", name="same", needs=("a",))]
    assert fit_picture(compute_layout(build_graph(steps)), 80, slots=no_badge_width).lines() == [
        " ◯ same ── ◯ same"
    ]


def test_a_thousand_steps():
    width = 80
    picture = fit_picture(compute_layout(wide(1000, 32, 2)), width)
    assert picture.kind == "list"
    assert picture.height >= 1000
    assert all(cell_width(line) <= width for line in picture.lines())
    chain = fit_picture(compute_layout(wide(1000, 1, 1)), width)
    assert all(cell_width(line) <= width for line in chain.lines())


def test_a_part_of_a_line_is_the_same_as_that_part_of_the_whole():
    graph = wide(60, 8, 3)
    picture = fit_picture(compute_layout(graph), 100, wanted="band")
    facts = {v: StepFacts(state="completed", duration="12 s") for v in range(30)}
    for y in range(picture.height):
        whole = "".join(run.text for run in picture.runs(y, facts))
        runs = list(picture.runs(y, facts, span=(50, 130)))
        text = "".join(run.text for run in runs)
        assert whole[runs[0].x : runs[0].x + len(text)] == text
        assert runs[0].x <= 50
        assert runs[0].x + len(text) >= min(130, picture.width)
