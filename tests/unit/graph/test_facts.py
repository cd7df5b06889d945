"""States and badges: what is said beside a name and below it, and what is left out when there is no room."""

from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from workbench.graph.model import STATUS_BY_SEVERITY, GraphStep, StatusCounts, StepFacts
from workbench.graph.step_text import (
    as_ascii,
    badge_phrases,
    badge_text,
    badge_width,
    detail_phrases,
    head_phrases,
    only_line_phrases,
    status_sign,
)
from workbench.text.width import cell_width
from workbench.views.status_icons import ICONS, STEP_STATUSES


def test_every_state_has_a_sign_of_one_cell_and_a_rank():
    assert set(STATUS_BY_SEVERITY) == set(STEP_STATUSES)
    for state in STEP_STATUSES:
        assert cell_width(status_sign(StepFacts(state=state))) == 1
        assert status_sign(StepFacts(state=state), is_ascii=True).isascii()


@pytest.mark.parametrize(
    ("step", "room"),
    [
        (GraphStep(id="a"), 6),
        (GraphStep(id="a", attempts=3), 14),
        (GraphStep(id="a", contract=True), 6),
        (GraphStep(id="a", asks=True), 8),
        (GraphStep(id="a", many=12), 22),
    ],
)
def test_slots(step, room):
    assert badge_width(step) == room


FAILED = ICONS["failed"].unicode
EXIT = "it ended with exit code 3: 2 links lead nowhere"


@each_row(
    ("facts", "room", "text"),
    [
        (StepFacts(state="completed", duration="8:41"), 4, "8:41"),
        (StepFacts(state="completed", duration="8:41"), 3, ""),
        (StepFacts(state="completed", duration="2 h 5 min"), 6, "2 h"),
        (StepFacts(state="completed", duration="12 d 3 h"), 6, "12 d"),
        (StepFacts(state="retrying", attempt=2, duration="0:08"), 12, "0:08 2nd try"),
        (StepFacts(state="retrying", attempt=2, duration="8:41"), 7, "2nd try"),
        (StepFacts(state="completed", attempt=4, duration="2.1 s"), 13, "2.1 s 4th try"),
        (StepFacts(state="completed", duration="52 s", contract="kept"), 15, "52 s contract ✓"),
        (StepFacts(state="completed", duration="52 s", contract="kept"), 14, "52 s"),
        (StepFacts(state="failed", contract="broken"), 10, f"contract {FAILED}"),
        (StepFacts(state="failed", duration="52 s", reason=EXIT), 6, "exit 3"),
        (StepFacts(state="failed", duration="52 s", reason="the host was lost"), 6, "52 s"),
        (StepFacts(state="waiting", left="14:20"), 8, "14:20"),
        (StepFacts(state="waiting", asks="docs/a.md +2"), 8, "asks you"),
        (StepFacts(state="waiting", left="14:20"), 4, ""),
        (StepFacts(state="warned", duration="52 s"), 20, "52 s failed, allowed"),
        (StepFacts(state="warned", duration="52 s"), 19, "failed, allowed"),
        (StepFacts(state="warned", duration="52 s", reason=EXIT), 14, "exit 3 allowed"),
        (StepFacts(state="warned", duration="52 s", reason=EXIT), 6, "exit 3"),
        (StepFacts(state="warned", duration="52 s"), 4, "52 s"),
        (StepFacts(state="skipped"), 7, "skipped"),
        (StepFacts(state="skipped"), 4, "skip"),
        (StepFacts(state="completed_empty", duration="3.0 s"), 11, "3.0 s empty"),
        (StepFacts(state="cancelled"), 9, "cancelled"),
        (StepFacts(counts=StatusCounts(ok=9, run=2, failed=1)), 22, "9 ok 2 run 1 failed"),
        (StepFacts(counts=StatusCounts(ok=99, run=99, failed=99)), 22, "99 ok 99 run 99 failed"),
        (StepFacts(counts=StatusCounts(ok=9999, run=99, failed=12)), 18, "99 run 12 failed"),
        (StepFacts(counts=StatusCounts(ok=3)), 22, "3 of 3 done"),
        (StepFacts(counts=StatusCounts(ok=3, todo=1)), 22, "3 of 4 done"),
        (StepFacts(counts=StatusCounts(ok=3)), 6, "3 ok"),
        (StepFacts(counts=StatusCounts(ok=9, run=2, todo=1)), 22, "9 ok 2 run 1 todo"),
        (StepFacts(counts=StatusCounts(ok=99, run=2, failed=1, todo=12)), 22, "99 ok 2 run 1 failed"),
        (StepFacts(counts=StatusCounts(todo=12)), 22, ""),
    ],
)
def test_badges(facts, room, text):
    assert badge_text(facts, room) == text


FACTS = st.builds(
    StepFacts,
    state=st.sampled_from(list(STEP_STATUSES)),
    duration=st.text(max_size=12),
    attempt=st.integers(1, 99),
    contract=st.sampled_from(["", "kept", "broken"]),
    left=st.text(max_size=9),
    asks=st.text(max_size=30),
    reason=st.text(max_size=30) | st.just(EXIT),
    share=st.none() | st.floats(0, 1),
    counts=st.none() | st.builds(StatusCounts, ok=st.integers(0, 9999), failed=st.integers(0, 9999)),
)


@given(facts=FACTS, room=st.integers(0, 30), is_ascii=st.booleans())
def test_nothing_that_is_said_exceeds_its_room(facts, room, is_ascii):
    text = badge_text(facts, room, is_ascii=is_ascii)
    assert cell_width(text) <= room
    assert text.isascii() or not is_ascii
    for phrases in (
        detail_phrases(facts, room, is_ascii=is_ascii),
        only_line_phrases(facts, room, is_ascii=is_ascii),
        head_phrases(facts, room, is_ascii=is_ascii),
    ):
        words = said(phrases)
        assert cell_width(words) <= room
        assert words.isascii() or not is_ascii


def said(phrases):
    """Join phrases as they are drawn: the parts of a bar without a blank."""
    return "".join(
        f"{text} " if after and after[1] != "rest" else text
        for (text, _), after in zip_longest(phrases, phrases[1:])
    )


@each_row(
    ("facts", "room", "head", "detail"),
    [
        (StepFacts(state="completed", duration="1:12", contract="kept"), 16, "1:12", "contract ✓"),
        (StepFacts(state="completed", duration="1:12", contract="kept"), 9, "1:12", ""),
        (StepFacts(state="completed", duration="1.4 s"), 16, "1.4 s", ""),
        (StepFacts(state="failed", duration="1.4 s", contract="broken"), 16, "1.4 s", f"contract {FAILED}"),
        (StepFacts(state="running", duration="0:48", share=0.5), 8, "0:48", "━━━━╌╌╌╌"),
        (StepFacts(state="running", duration="0:48"), 8, "0:48", ""),
        (StepFacts(state="running", duration="0:48", attempt=2, share=0.5), 12, "0:48", "2nd try ━━╌╌"),
        (StepFacts(state="waiting", left="6:50", asks="docs/review.md +2"), 17, "6:50", "docs/review.md +2"),
        (StepFacts(state="waiting", left="6:50", asks="docs/review.md +2"), 13, "6:50", "…review.md +2"),
        (StepFacts(state="waiting", asks="publish?"), 16, "asks you", "publish?"),
        (StepFacts(state="warned", attempt=2, reason=EXIT), 16, "exit 3", "2nd try, allowed"),
        (StepFacts(state="warned", reason=EXIT), 16, "exit 3", "failed, allowed"),
        (StepFacts(state="failed", duration="41 s", reason="the host was lost"), 20, "41 s", "the host was lost"),
        (StepFacts(state="cancelled"), 16, "cancelled", ""),
        (StepFacts(state="pending"), 16, "", ""),
        (StepFacts(state="running", counts=StatusCounts(ok=9, run=2)), 22, "", "9 ok 2 run"),
    ],
)  # fmt: skip
def test_the_two_lines_of_a_box(facts, room, head, detail):
    assert said(head_phrases(facts, room)) == head
    assert said(detail_phrases(facts, room)) == detail


def test_what_is_wrong_has_the_colour_of_its_state():
    broken = StepFacts(state="failed", duration="1.4 s", contract="broken")
    assert (f"contract {FAILED}", "state") in detail_phrases(broken, 20)
    assert (f"contract {FAILED}", "state") in badge_phrases(broken, 16)
    kept = StepFacts(state="completed", duration="1.4 s", contract="kept")
    assert ("contract ✓", "plain") in detail_phrases(kept, 20)
    tolerated = StepFacts(state="warned", duration="3.0 s")
    assert badge_phrases(tolerated, 15) == (("failed, allowed", "state"),)
    assert status_sign(tolerated) == FAILED


def test_ascii():
    assert as_ascii(f"a…{FAILED}中é") == "a~x???"
