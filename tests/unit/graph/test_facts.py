"""States, durations and badges: what is said beside a name, and what is left out when there is no room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.graph.model import (
    STATUS_BY_SEVERITY,
    GraphStep,
    StatusCounts,
    StepFacts,
    as_ascii,
    badge_text,
    badge_width,
    fact_line,
    fact_line_width,
    short_duration,
    status_sign,
)
from workbench.text.width import cell_width
from workbench.views.status_icons import STEP_STATUSES


@each_row(
    ("seconds", "text"),
    [
        (0.42, "0.4s"), (8, "8s"), (9.5, "9.5s"), (12, "12s"), (59.9, "59s"), (60, "1m00"), (521, "8m41"),
        (3599, "59m"), (7980, "2h13"), (36000, "10h"), (273600, "3d4h"), (35_600_000, "412d"), (1e12, "999d"), (-3, "0s"),
    ],
)  # fmt: skip
def test_short_duration(seconds, text):
    assert short_duration(seconds) == text


@given(st.floats(0, 1e15))
def test_a_duration_takes_four_cells_at_most(seconds):
    assert 1 < len(short_duration(seconds)) <= 4


def test_every_state_has_a_sign_of_one_cell_and_a_rank():
    assert set(STATUS_BY_SEVERITY) == set(STEP_STATUSES)
    for state in STEP_STATUSES:
        assert cell_width(status_sign(StepFacts(state=state))) == 1
        assert status_sign(StepFacts(state=state), is_ascii=True).isascii()


@pytest.mark.parametrize(
    ("step", "room"),
    [
        (GraphStep(id="a"), 4),
        (GraphStep(id="a", attempts=3), 9),
        (GraphStep(id="a", contract=True), 7),
        (GraphStep(id="a", asks=True), 9),
        (GraphStep(id="a", many=12), 22),
    ],
)
def test_slots(step, room):
    assert badge_width(step) == room


@each_row(
    ("facts", "room", "text"),
    [
        (StepFacts(state="completed", duration="8m41"), 4, "8m41"),
        (StepFacts(state="completed", duration="8m41"), 3, ""),
        (StepFacts(state="retrying", attempt=2, duration="8s"), 9, "8s «2/3"),
        (StepFacts(state="retrying", attempt=2, duration="8m41"), 5, "«2/3"),
        (StepFacts(state="completed", attempt=4, duration="2.1s"), 7, "2.1s «4"),
        (StepFacts(state="completed", duration="52s", contract="kept"), 7, "52s c✓"),
        (StepFacts(state="failed", contract="broken"), 2, "c×"),
        (StepFacts(state="waiting", note="ask 14:22"), 9, "ask 14:22"),
        (StepFacts(state="waiting", note="ask 14:22"), 4, ""),
        (StepFacts(state="warned", duration="52s"), 19, "52s failed, goes on"),
        (StepFacts(state="warned", duration="52s"), 18, "failed, goes on"),
        (StepFacts(state="warned", duration="52s"), 4, "52s!"),
        (StepFacts(state="skipped"), 7, "skipped"),
        (StepFacts(state="skipped"), 4, "skip"),
        (StepFacts(state="completed_empty", duration="3s"), 8, "3s empty"),
        (StepFacts(state="cancelled"), 9, "cancelled"),
        (StepFacts(counts=StatusCounts(ok=9, run=2, failed=1)), 22, "9 ok 2 run 1 failed"),
        (StepFacts(counts=StatusCounts(ok=99, run=99, failed=99)), 22, "99 ok 99 run 99 failed"),
        (StepFacts(counts=StatusCounts(ok=9999, run=99, failed=12)), 18, "99 run 12 failed"),
        (StepFacts(counts=StatusCounts(ok=3)), 22, "3 ok"),
        (StepFacts(counts=StatusCounts(ok=9, run=2, todo=1)), 22, "9 ok 2 run 1 todo"),
        (StepFacts(counts=StatusCounts(ok=99, run=2, failed=1, todo=12)), 22, "99 ok 2 run 1 failed"),
        (StepFacts(counts=StatusCounts(todo=12)), 22, ""),
    ],
)
def test_badges(facts, room, text):
    assert badge_text(GraphStep(id="a", attempts=3), facts, room) == text


@given(
    facts=st.builds(
        StepFacts,
        state=st.sampled_from(list(STEP_STATUSES)),
        duration=st.text(max_size=9),
        attempt=st.integers(1, 99),
        contract=st.sampled_from(["", "kept", "broken"]),
        note=st.text(max_size=30),
        counts=st.none() | st.builds(StatusCounts, ok=st.integers(0, 9999), failed=st.integers(0, 9999)),
    ),
    room=st.integers(0, 30),
    is_ascii=st.booleans(),
)
def test_a_badge_never_exceeds_its_slot(facts, room, is_ascii):
    text = badge_text(GraphStep(id="a", attempts=3), facts, room, is_ascii=is_ascii)
    assert cell_width(text) <= room
    assert text.isascii() or not is_ascii


@pytest.mark.parametrize(
    ("facts", "room", "text"),
    [
        (StepFacts(state="completed", duration="1m12", contract="kept"), 16, "1m12  contract ✓"),
        (StepFacts(state="completed", duration="1m12", contract="kept"), 15, "1m12 c✓"),
        (StepFacts(state="retrying", duration="48s", attempt=2), 10, "48s  « 2/3"),
        (StepFacts(state="waiting", note="asks you 14:40"), 14, "asks you 14:40"),
        (StepFacts(counts=StatusCounts(ok=9, run=2)), 22, "9 ok 2 run"),
    ],
)
def test_fact_lines(facts, room, text):
    assert fact_line(GraphStep(id="a", attempts=3), facts, room) == text
    assert (
        cell_width(text) <= fact_line_width(GraphStep(id="a", attempts=3, contract=True))
        or facts.counts
        or facts.note
    )


def test_ascii():
    assert as_ascii("a…×«中é") == "a~xr???"
