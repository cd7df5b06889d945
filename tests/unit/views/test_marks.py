"""Marks as columns: what is looked up in bytes is what walking over all of them finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.views.replay import bar_cell, mark_cells
from workbench.views.timeline import (
    ICONS_BY_IMPORTANCE,
    MARK_EVENT_KINDS,
    RecordingOutline,
    Timeline,
    TimelineMarks,
    mark_for,
)

SECOND = 1_000_000
KINDS = [*sorted(MARK_EVENT_KINDS), "call.executing"]
FACTS = [None, "failed", "interrupted", "succeeded", "running", "completed", "waiting", "5 s"]
JUMPS = ["approval", "edit", "error", "expiry", "prompt", "step", "note", None]
entries = st.lists(st.tuples(st.integers(0, 90), st.sampled_from(KINDS), st.sampled_from(FACTS)), max_size=40)


def timeline(events):
    """Return a recording of (seconds passed, kind, fact), at positions that leave some out."""
    at, found = 0, []
    for number, (passed, kind, fact) in enumerate(events):
        at += passed * SECOND
        found.append((3 + number * 2, at, kind, 7 if kind == "turn.ended" else fact))
    return Timeline(found)


def walked(events):
    pairs = ((n, mark_for(kind, fact)) for n, (_, kind, fact) in enumerate(events, 1))
    return [(n, *pair) for n, pair in pairs if pair is not None]


@pytest.mark.spec(140)
@given(entries, st.integers(0, 41), st.sampled_from(JUMPS))
def test_the_next_and_the_previous_mark_are_those_of_a_walk(events, index, kind):
    marks, every = timeline(events).marks, walked(events)
    assert [(mark.index, mark.jump, mark.sign) for mark in marks] == every
    wanted = [one for one in every if kind is None or one[1] == kind]
    later = next((n for n, *_ in wanted if n > index), None)
    earlier = next((n for n, *_ in reversed(wanted) if n < index), None)
    for step, expected in ((1, later), (-1, earlier)):
        found = marks.jump(index, kind, step)
        assert (found and found.index) == expected
    if kind is not None:
        assert [mark.index for mark in marks.of(kind)] == [n for n, *_ in wanted]


@given(entries, st.integers(1, 60))
def test_a_cell_has_the_most_important_of_its_marks(events, width):
    recording, expected = timeline(events), {}
    for n, _, sign in walked(events):
        cell = bar_cell(recording.played(n), recording, width)
        if cell not in expected or ICONS_BY_IMPORTANCE.index(sign) < ICONS_BY_IMPORTANCE.index(
            expected[cell]
        ):
            expected[cell] = sign
    assert mark_cells(recording, width) == expected


def test_no_marks_have_no_neighbour():
    assert (len(TimelineMarks()), TimelineMarks().jump(0, None, 1), TimelineMarks().jump(9, "edit", -1), TimelineMarks().best(0, 9)) == (
        0, None, None, None,
    )  # fmt: skip


def test_a_beginning_says_what_is_known_of_the_rest_and_becomes_the_whole():
    every = [(n, n * SECOND, "prompt.submitted", None) for n in range(1, 11)]
    whole = Timeline(every)
    part = Timeline(every[:3], outlook=RecordingOutline(count=10, ends=10 * SECOND))
    assert (len(part), part.count, part.recorded, part.is_whole) == (3, 10, whole.recorded, False)
    assert mark_cells(part, 20) == {}
    part.replace_with(whole)
    assert (len(part), part.count, part.recorded, part.is_whole) == (10, 10, whole.recorded, True)
    assert mark_cells(part, 20) == mark_cells(whole, 20) != {}


@pytest.mark.parametrize("ends", [-5, 1 << 62])
def test_an_end_that_no_calendar_has_is_bounded(ends):
    part = Timeline([(1, SECOND, "x", None)], outlook=RecordingOutline(count=9, ends=ends))
    assert part.time(0) <= part.ends < 1 << 60
