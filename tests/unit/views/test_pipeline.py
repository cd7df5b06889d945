"""A run as the screen shows it, folded from events and rows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.unit.render.inks import DARK, UNICODE
from tests.unit.views.making import call, event
from workbench.domain.events import CallProposed
from workbench.domain.rows import Action, PipelineState, StepState, run_title
from workbench.domain.values import GateVerdict, StepPlan, Usage
from workbench.graph.export import mermaid_text, svg_document
from workbench.graph.fit import fit_picture, step_labels
from workbench.graph.folding import fold_steps
from workbench.graph.layout import compute_layout
from workbench.graph.model import build_graph
from workbench.graph.navigation import overview_lines, urgent_steps
from workbench.graph.run_graph import RunFacts, graph_step_facts, graph_steps, seconds_to_go
from workbench.graph.step_text import static_badge_width
from workbench.render.pipeline import progress_bar, run_title_facts
from workbench.text.human import countdown_text
from workbench.views.approvals import seconds_left
from workbench.views.detail_pages import step_detail
from workbench.views.pipeline import MatrixCounts, next_attempt_text, pipeline_run, step_counts_text
from workbench.views.status_icons import STEP_STATUSES

RUN = PipelineState(
    pipeline_id="r", pipeline_name="nightly", status="running", created_at=0, updated_at=0, number=41,
    moved_at=10_000_000, duration_ms=4_000,
)  # fmt: skip
PLANS = (
    StepPlan(id="plan"), StepPlan(id="api", needs=("plan",), attempts=3, contract="json_schema"),
    StepPlan(id="web", needs=("plan",)), StepPlan(id="gate", kind="gate", needs=("api", "web")),
    StepPlan(id="tests", needs=("web",), is_matrix=True),
)  # fmt: skip


def row(step, state, **more):
    return StepState(key=f"r/{step}", pipeline_id="r", step_id=step, ordinal=0, state=state, **more)


def shown(*rows, now=12_000_000, actions=(), refused=None):
    found = pipeline_run(RUN, PLANS, rows, actions, now, refused=refused)
    return found, {step.id: step for step in found.steps}


def test_the_run_counts_its_steps_and_its_working_time():
    found, _ = shown(row("plan", "completed"), row("api", "running"), row("web", "skipped"))
    assert (found.title, found.done, found.running, found.total, found.seconds) == (
        "nightly #41",
        1,  # A skipped step is not done.
        1,
        5,
        6.0,
    )
    assert run_title(replace(RUN, number=None)) == "nightly"


def test_a_clock_runs_only_while_its_step_does():
    rows = [row("plan", "running", moved_at=11_000_000, duration_ms=500)]
    rows += [row("api", "waiting", moved_at=1_000_000, duration_ms=700)]
    _, steps = shown(*rows)
    assert (steps["plan"].seconds, steps["api"].seconds) == (1.5, 0.7)


@pytest.mark.parametrize(
    ("state", "more", "word"),
    [
        ("completed", {}, "completed"), ("completed", {"is_warned": True}, "warned"),
        ("failed", {}, "failed"), ("retrying", {}, "retrying"),
    ],
)  # fmt: skip
def test_the_word_of_a_state(state, more, word):
    _, steps = shown(row("plan", state, **more))
    assert steps["plan"].state == word


@given(st.lists(st.sampled_from(list(STEP_STATUSES)), max_size=12))
def test_the_counts_of_a_run_add_up(states):
    plans = [StepPlan(id=str(n)) for n in range(len(states))]
    derived = {
        "refused": ("completed", {}),
        "warned": ("completed", {"is_warned": True}),
        "ready": ("pending", {}),
    }
    rows = []
    for n, name in enumerate(states):
        state, more = derived.get(name, (name, {}))
        rows.append(row(str(n), state, session_id="s" if name == "refused" else None, **more))
    run = pipeline_run(RUN, plans, rows, (), 0, refused={"s": 1})
    open_steps = sum(step.state in ("pending", "ready", "retrying") for step in run.steps)
    left_out = run.skipped + run.cancelled
    assert run.done + run.failed + left_out + run.running + run.waiting + open_steps == run.total
    numbers = map(int, re.findall("[0-9]+", step_counts_text([step.state for step in run.steps])))
    *ended, done, total = numbers
    assert (sum(ended), done, total) == (run.failed + left_out, run.done, run.total)
    heavy, all_cells = progress_bar(run, 30, DARK, UNICODE).plain.count("━"), 30 * (run.done + run.failed)
    assert abs(heavy - all_cells / max(1, run.total)) <= 1


@pytest.mark.parametrize(
    ("attempt", "attempts", "text"),
    [(1, 3, "attempt 2 of 3"), (2, 2, "attempt 3; 2 were planned"), (1, 1, "attempt 2; 1 was planned")],
)
def test_the_next_attempt_names_what_was_planned(attempt, attempts, text):
    run = pipeline_run(
        RUN, [StepPlan(id="a", attempts=attempts)], [row("a", "failed", attempt=attempt)], (), 0
    )
    assert next_attempt_text(run.steps[0]) == text


def test_a_failed_run_counts_no_skipped_step_as_done():
    words = ["failed", *["skipped"] * 5]
    rows = [row(f"s{n}", word) for n, word in enumerate(words)]
    run = replace(RUN, status="failed")
    view = pipeline_run(run, [StepPlan(id=f"s{n}") for n in range(6)], rows, (), 0)
    assert step_counts_text(words) == "1 failed, 5 skipped, 0 of 6 done"
    title = run_title_facts(view, None, 100, DARK, UNICODE).plain
    assert title.startswith("nightly #41  × 1 failed  – 5 skipped  ━━━━━╌") and "0 of 6 done" in title
    assert title.count("failed") == 1
    narrow = run_title_facts(view, None, 70, DARK, UNICODE).plain
    assert narrow.startswith("nightly #41  × 1  – 5  ━") and "0 of 6 done  failed" in narrow
    rows = [row(f"s{n}", state) for n, state in enumerate(("skipped", "cancelled", "cancelled"))]
    view = pipeline_run(RUN, [StepPlan(id=f"s{n}") for n in range(3)], rows, (), 0)
    assert "– 1 skipped  – 2 cancelled" in run_title_facts(view, None, 100, DARK, UNICODE).plain
    assert "  – 3  " in run_title_facts(view, None, 50, DARK, UNICODE).plain


@pytest.mark.parametrize(
    ("state", "more", "name", "said"),
    [
        ("completed", {}, "refused", ("risk", "completed, 2 calls refused")),
        ("completed_empty", {}, "refused", ("risk", "completed, 2 calls refused")),
        ("completed", {"is_warned": True}, "warned", ("failed", "failed, allowed, 2 calls refused")),
        ("failed", {}, "failed", ("failed", "failed, 2 calls refused")),
        ("running", {}, "running", ("running", "running, 2 calls refused")),
    ],
)
def test_a_step_of_whose_calls_some_were_refused_says_so(state, more, name, said):
    run, steps = shown(row("plan", state, session_id="s", **more), refused={"s": 2, "other": 9})
    assert (steps["plan"].state, steps["plan"].status) == (name, said)
    assert run.refused == (name == "refused")
    again, _ = shown(row("plan", state, session_id="next", **more), refused={"s": 2})
    assert again.steps[0].refused == 0  # those of an earlier attempt


def test_a_matrix_counts_the_refused_calls_of_its_items_and_draws_them_again():
    items = [row(f"tests[{n}]", "completed", matrix="tests", session_id=f"s{n}") for n in range(3)]
    rows, known = [row("tests", "completed"), *items], {}
    before = pipeline_run(RUN, PLANS, rows, (), 0, known)
    after = pipeline_run(RUN, PLANS, rows, (), 0, known, refused={"s1": 1, "s2": 2})
    assert (before.steps[-1].state, after.steps[-1].state, after.steps[-1].refused) == (
        "completed", "refused", 3,
    )  # fmt: skip
    assert [item.state for item in after.steps[-1].items] == ["completed", "refused", "refused"]
    assert after.steps[-1].counts == MatrixCounts(done=3) and after.done == before.done


def test_a_graph_marks_a_step_of_whose_calls_some_were_refused():
    run, _ = shown(row("plan", "completed", session_id="s", duration_ms=1_100), refused={"s": 1})
    steps = graph_steps(run)
    layout, facts = compute_layout(build_graph(steps)), {0: graph_step_facts(run.steps[0])}
    picture = fit_picture(layout, 120, slots=lambda step: 20)
    assert "! plan" in "\n".join(picture.lines(facts)) and "1.1 s 1 refused" in "\n".join(
        picture.lines(facts)
    )
    assert overview_lines(layout, facts, rows=1)[0].startswith("!")
    assert urgent_steps(layout, facts) == [0]


def test_a_step_is_ready_when_all_it_needs_is_there():
    _, steps = shown(row("plan", "completed"), row("web", "completed_empty"))
    assert [steps[name].state for name in ("api", "gate", "tests")] == ["ready", "pending", "ready"]


@pytest.mark.parametrize(
    ("outcome", "mark"),
    [
        ("passed", "kept"),
        ("failed", "broken"),
        ("warned", "broken"),
        ("not_checked", "unchecked"),
        (None, ""),
    ],
)
def test_the_contract_mark(outcome, mark):
    _, steps = shown(row("api", "running", contract=outcome))
    assert (steps["api"].contract, steps["api"].contract_mark) == ("json_schema", mark)


def test_a_gate_names_the_row_of_the_queue_that_it_is_and_how_long_it_waits():
    action = Action(
        id="a1", session_id="r", kind="gate", state="pending", target="release?", digest="d", created_at=0,
        opened_at=1, expires_at=72_000_000,
    )  # fmt: skip
    _, steps = shown(row("gate", "waiting", action_id="a1"), actions=[action])
    gate = steps["gate"]
    assert (gate.action_id, gate.asks, gate.left) == ("a1", "release?", 60.0)
    for now in (12_000_000, 12_400_000):
        for expires in (72_000_000, 5_000_000_000, 333_333_333):
            asked = replace(action, expires_at=expires)
            _, steps = shown(row("gate", "waiting", action_id="a1"), actions=[asked], now=now)
            facts = graph_step_facts(steps["gate"])
            assert facts.left == countdown_text(seconds_left(asked, now))  # as in its row of the queue
    edit = replace(action, kind="tool", target="docs/review.md", added=2, removed=1)
    _, steps = shown(row("gate", "waiting", action_id="a1"), actions=[edit])
    assert steps["gate"].asks == "docs/review.md +2 −1"
    _, steps = shown(row("gate", "completed", action_id="a1"), actions=[replace(action, state="approved")])
    assert (steps["gate"].action_id, steps["gate"].left) == (None, None)


def test_a_matrix_counts_its_items_and_adds_up_their_tokens():
    states = ["completed", "running", "failed", "waiting", "pending", "skipped", "retrying"]
    rows = [
        row(f"tests[{n}]", state, matrix="tests", usage=Usage(input_tokens=2))
        for n, state in enumerate(states)
    ]
    found, steps = shown(row("tests", "running"), *rows)
    assert steps["tests"].counts == MatrixCounts(done=2, running=2, waiting=1, failed=1, todo=1)
    assert (steps["tests"].counts.total, steps["tests"].tokens, found.tokens) == (7, 14, 14)
    assert [item.label for item in steps["tests"].items][:2] == ["0", "1"]
    assert steps["plan"].counts is None


def test_a_matrix_takes_the_time_from_its_beginning_to_its_end():
    begun = row("tests", "running", started_at=2_000_000, moved_at=2_000_000)
    _, steps = shown(begun)
    assert steps["tests"].seconds == 10.0
    _, steps = shown(replace(begun, state="completed", completed_at=9_000_000))
    assert steps["tests"].seconds == 7.0
    _, steps = shown(row("tests", "pending"))
    assert steps["tests"].seconds == 0.0


def test_items_that_have_not_begun_are_counted_in_the_order_of_their_list():
    begun = [
        row("tests", "running"),
        row("tests[b]", "running", matrix="tests"),
        row("tests[a]", "failed", matrix="tests"),
    ]
    listed = {"tests": ("tests[a]", "tests[b]", "tests[c\x1b]", "tests[d]")}
    found = pipeline_run(RUN, PLANS, begun, (), 12_000_000, listed=listed)
    tests = found.steps[-1]
    assert [(item.id, item.state) for item in tests.items] == [
        ("tests[a]", "failed"), ("tests[b]", "running"), ("tests[c\x1b]", "pending"), ("tests[d]", "pending"),
    ]  # fmt: skip
    assert tests.counts == MatrixCounts(running=1, failed=1, todo=2)
    assert "\x1b" not in tests.items[2].label


def test_hostile_texts_are_one_safe_line():
    _, steps = shown(row("plan", "failed", error_message="a\x1b[31m\nb\u202e"))
    assert "\x1b" not in steps["plan"].error
    assert "\n" not in steps["plan"].error
    assert "\u202e" not in steps["plan"].error


def test_a_call_in_the_log_of_a_step_has_the_sign_of_how_it_stands():
    run, steps = shown(row("plan", "waiting"))
    calls = [call("c1"), call("c2", state="pending", action_id="a"), call("c3", state="failed")]
    child = [
        event(
            CallProposed(
                tool="create_file",
                parameters={},
                target=one.id,
                verdict=GateVerdict(outcome="ask", step="ask", by="default"),
            ),
            call_id=one.id,
        )
        for one in calls
    ]
    log = step_detail(run, steps["plan"], [], child, calls, lambda ref: None).sections[0]
    assert log.lines == ("  ✓ create_file c1", "  ◆ create_file c2", "  × create_file c3")


def test_a_step_that_failed_and_let_its_run_go_on_is_green_nowhere():
    rows = [row("plan", "completed", is_warned=True, error_message="exit 1")]
    rows += [
        row(f"tests[{item}]", "completed", matrix="tests", is_warned=item == "b", error_message="exit 2")
        for item in "abc"
    ]
    run, steps = shown(*rows)
    assert (run.failed, run.warned, steps["plan"].status[1], steps["plan"].status[0]) == (
        1,
        1,
        "failed, allowed",
        "failed",
    )
    assert steps["tests"].counts == MatrixCounts(done=2, failed=1)
    detail = step_detail(run, steps["plan"], [], [], [], lambda _: None)
    assert (detail.sign, "failed, allowed" in detail.title) == ("failed", True)
    items = step_detail(run, steps["tests"], [], [], [], lambda _: None).sections[1].lines
    assert items[0].split("   ")[:2] == ["× b", "failed, allowed"]


def test_every_drawing_of_a_run_says_that_a_step_failed_and_goes_on():
    run, _ = shown(row("plan", "completed", is_warned=True), row("api", "completed"))
    folded = fold_steps(graph_steps(run), alike=False)
    paint, layout = RunFacts(run), compute_layout(build_graph(folded.steps))
    facts = {at: paint.of(step.id, folded) for at, step in enumerate(folded.steps)}
    by_id = {step.id: facts[at] for at, step in enumerate(folded.steps)}

    def slots(step):
        return static_badge_width(step, by_id[step.id])

    text = "\n".join(fit_picture(layout, 120, slots=slots).lines(facts))
    drawn = mermaid_text(layout, facts)
    picture = svg_document(layout, step_labels(layout.graph, 40, slots), facts)
    assert "× plan" in text and "failed, allowed" in text and "✓ plan" not in text
    assert "<br/>failed, allowed" in drawn
    assert "classDef warned stroke:#c62828" in drawn
    assert '<g class="warned"><title>failed, allowed; ' in picture
    assert "× plan failed, allowed" in picture
    assert overview_lines(layout, facts, rows=1)[0].startswith("×")


def test_a_row_of_the_command_line_says_so_too():
    from workbench.cli.console import status_icons_for
    from workbench.cli.pipeline_output import step_line

    said = step_line(
        row("plan", "completed", is_warned=True, error_message="exit 1"), status_icons_for("utf-8")
    )
    assert said.split() == ["×", "plan", "failed,", "allowed", "exit", "1"]


def to_go(before, *rows):
    run, _ = shown(*rows)
    folded = fold_steps(graph_steps(run), alike=False)
    return seconds_to_go(RunFacts(run, before), folded, build_graph(folded.steps), before)


def test_the_time_to_go_is_that_of_the_longest_of_what_is_left_and_absent_without_an_earlier_run():
    before = dict.fromkeys((plan.id for plan in PLANS), 10.0)
    every = to_go(before)
    assert every
    assert to_go(before, row("plan", "completed", completed_at=5)) == every - 10
    assert to_go({}) is None
    assert to_go({"plan": 10.0}) is None


def test_a_running_step_has_the_share_of_its_usual_time():
    _, steps = shown(row("plan", "running", duration_ms=5_000))
    assert graph_step_facts(steps["plan"]).share is None
    facts = graph_step_facts(steps["plan"], 20.0)
    assert (facts.share, facts.duration, facts.usual) == (0.25, "0:05", "0:20")
    assert graph_step_facts(steps["plan"], 1.0).share == 1.0
