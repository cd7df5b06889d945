"""Steps of a run as lines of its conversation: one line a step, in the order in which they began."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import golden
from tests.unit.render.inks import DARK, UNICODE
from tests.unit.views.making import NOW, event
from workbench.domain import events as e
from workbench.domain.values import StepPlan
from workbench.render.conversation import block_lines
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import CallBlock, StepBlock


def run_events(name):
    found = [event for event in golden.events(name)]
    run = next(event.session_id for event in found if event.kind == "run.requested")
    return run, [event for event in found if event.session_id == run]


def said(name):
    run, events = run_events(name)
    transcript = Transcript(run)
    transcript.apply_all(events)
    return [
        (one.name, one.sign, one.items or one.right)
        for one in transcript.blocks
        if isinstance(one, StepBlock)
    ]


@pytest.mark.spec(211)
def test_a_run_is_told_step_by_step():
    assert said("release-run") == [
        ("plan", "ok", "2nd try   752 ms"),
        ("pages", "ok", "3 of 3 items"),
        ("tests", "failed", "failed, allowed   3.0 s"),
        ("size", "ok", "5.5 s"),
        ("notes", "ok", "410 ms"),
        ("ship", "ok", "done"),
        ("hold", "cancelled", "skipped"),
        ("publish", "ok", "2.5 s"),
        ("summary", "ok", "312 ms"),
        ("the run", "ok", "completed, 17 s of work, 1 step failed"),
    ]


@pytest.mark.spec(211)
def test_a_later_round_has_lines_of_its_own():
    names = [name for name, _, _ in said("hotfix-run")]
    assert names.count("check") == 2
    assert [name for name in names if name == "the run"] == ["the run"] * 2


@pytest.mark.spec(211)
def test_what_is_said_asked_and_run_is_in_one_order():
    run, events = run_events("release-run")
    transcript = Transcript(run)
    transcript.apply_all(events)
    lines = [one for one in transcript.blocks if isinstance(one, StepBlock | CallBlock)]
    assert [one.at for one in lines] == sorted(one.at for one in lines)


def test_the_line_of_a_step_says_how_many_of_its_calls_were_refused():
    plans = (StepPlan(id="mend"), StepPlan(id="each", is_matrix=True))
    bodies = [
        (e.RunStarted(pipeline="p", steps=plans), None),
        (e.StepChanged(state="running", session_id="s1"), "mend"),
        (e.StepChanged(state="retrying"), "mend"),
        (e.StepChanged(state="running", attempt=2, session_id="s2"), "mend"),
        (e.StepChanged(state="completed", attempt=2, duration_ms=1_100), "mend"),
        (e.StepChanged(state="running", items=("each[a]", "each[b]")), "each"),
        *(
            (e.StepChanged(state="running", matrix="each", item=name, session_id=name), f"each[{name}]")
            for name in "ab"
        ),
    ]
    transcript = Transcript("s1")
    transcript.apply_all(event(body, step=step, at=NOW + at) for at, (body, step) in enumerate(bodies))
    changed = transcript.know_refused({"s1": 5, "s2": 1, "a": 2, "b": 3})
    blocks = {one.step: one for one in transcript.blocks if isinstance(one, StepBlock)}
    assert {name: (one.refused, one.shown_sign) for name, one in blocks.items()} == {
        "mend": (1, "risk"), "each": (5, "running"),
    }  # fmt: skip
    assert changed == {one.id for one in blocks.values()} and not transcript.know_refused({"s2": 1, "a": 5})
    ink, glyphs = DARK, UNICODE
    (line, *_) = block_lines(blocks["mend"], 70, ink, glyphs)
    assert line.plain.startswith("   ! mend") and "2nd try   1 call refused   1.1 s" in line.plain


def lines(*bodies):
    """Return the lines that events of a run come to, with their items and notes."""
    transcript = Transcript("s1")
    transcript.apply_all(event(body, step=step, at=NOW + at) for at, (body, step) in enumerate(bodies))
    return [
        (one.name, one.sign, one.items, one.right) if isinstance(one, StepBlock) else one.text
        for one in transcript.blocks
    ]


@pytest.mark.spec(211)
def test_a_run_begins_with_its_input_and_a_matrix_counts_its_items():
    plans = (StepPlan(id="pages", is_matrix=True, kind="command"),)
    begun = [
        (e.RunRequested(pipeline="nightly", input="all"), None),
        (e.RunStarted(pipeline="nightly", steps=plans), None),
        (e.StepChanged(state="running", items=("x", "y", "z")), "pages"),
    ]
    assert lines(*begun) == ["Run nightly: all", ("pages", "running", "0 of 3 items", "running")]
    item = [(e.StepChanged(state=state, matrix="pages"), "pages[0]") for state in ("running", "completed")]
    assert lines(*begun, *item)[1:] == [("pages", "running", "1 of 3 items", "running")]
    without = (e.StepChanged(state="running", item_count=3), "pages")
    assert lines(*begun[:2], without)[1:] == [("pages", "running", "0 of 3 items", "running")]
    assert lines((e.RunRequested(pipeline="nightly"), None)) == ["Run nightly"]


@given(st.integers(0, 120), st.sampled_from(["release-run", "hotfix-run"]))
def test_a_fold_that_begins_in_the_middle_comes_to_the_same_states(start, name):
    run, events = run_events(name)
    late, whole = Transcript(run), Transcript(run)
    late.apply_all(events[start:])
    whole.apply_all(events)
    known = {one.name: one.sign for one in whole.blocks if isinstance(one, StepBlock)}
    last = {one.name: one.sign for one in late.blocks if isinstance(one, StepBlock)}
    assert all(known[name] == sign for name, sign in last.items() if name in known)
