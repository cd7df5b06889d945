"""The library's rows: what comes first, what passes a filter, what is said, how long was worked."""

import pytest

from workbench.domain.counting import Glance, Spans
from workbench.domain.rows import Session
from workbench.domain.values import Usage
from workbench.views import query
from workbench.views.completing import offer
from workbench.views.library import (
    ORDERS,
    SPLIT,
    Sieve,
    is_typeable,
    row,
    seen_of,
    worked_and_waited,
)
from workbench.views.ranking import ranked


def session(key="s", **more):
    made = {
        "kind": "chat",
        "status": "ready",
        "created_at": 1,
        "updated_at": 1,
        "title": key,
        "workspace": "/w/shop",
    }
    return Session(id=key, **{**made, **more})


OLD, NEW = session("old", updated_at=1), session("new", updated_at=9, usage=Usage(input_tokens=5))
BUSY, ASKS = session("busy", status="processing", updated_at=2), session("asks", updated_at=3)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (0, ("asks", "busy", SPLIT, "new", "old")),
        (1, ("busy", "asks", SPLIT, "old", "new")),
        (3, ("asks", "busy", SPLIT, "new", "old")),
        (4, ("asks", "busy", SPLIT, "new", "old")),
    ],
)
def test_live_sessions_come_first_in_every_order(order, expected):
    assert ranked([OLD, BUSY, NEW, ASKS], {"asks"}, ORDERS[order]).ids == expected


def test_without_live_ones_there_is_no_line():
    assert ranked([OLD, NEW], (), ORDERS[0]).ids == ("new", "old")
    assert ranked([BUSY], (), ORDERS[0]).ids == ("busy",)


@pytest.mark.parametrize(
    ("typed", "is_there"),
    [
        ("", True), ("RENAME", True), ("ename", True), ("other", False), ("-rename", False), ("tag:rel", True),
        ("status:ready", True), ("status:failed", False), ("is:archived", False), ("found", True),
        ("found status:failed", False), ("in:shop", True), ("in:web", False),
    ],
)  # fmt: skip
def test_words_are_looked_for_in_titles_tags_and_conversations(typed, is_there):
    one = session("s", title="Rename handler", tags=("release",))
    holders = {"s": 2} if "found" in typed else {}
    assert Sieve(query.parse(typed), holders, None).passes(one, seen_of(one)) is is_there


def test_archived_ones_are_shown_when_they_are_asked_for():
    one = session("s", archived=True)
    assert not Sieve(query.parse(""), {}, None).passes(one, "s")
    assert Sieve(query.parse("is:archived"), {}, None).passes(one, "s")


def test_tools_and_answers_narrow_to_what_the_journal_found():
    asked = query.parse("tool:read_file")
    assert Sieve(asked, {}, frozenset({"s"})).passes(session("s"), "s")
    assert not Sieve(asked, {}, frozenset()).passes(session("s"), "s")


@pytest.mark.parametrize(
    ("one", "waiting", "glance", "said"),
    [
        (session(), 1, None, ("waiting", "1 waits")),
        (session(), 3, None, ("waiting", "3 wait")),
        (session(status="processing"), 0, Glance(turns=2), ("running", "turn 3")),
        (session(status="failed"), 0, Glance(added=1), ("failed", "failed")),
        (session(status="paused", reason="unattended"), 0, Glance(expired=2), ("expired", "2 expired")),
        (session(), 0, Glance(rejected=5), ("rejected", "5 rejected")),
        (session(), 0, Glance(rejected=5, files=1, added=2), ("ok", "")),
        (session(), 0, Glance(turns=1, failed=2), ("ok", "2 failed")),
        (session(status="terminated"), 0, Glance(), ("cancelled", "stopped")),
        (session(origin="claude-code"), 0, Glance(turns=1), ("ok", "claude-code")),
        (session(), 0, Glance(turns=1), ("ok", "no edits")),
        (session(), 0, None, ("ok", "")),
    ],
)
def test_what_is_said_beside_a_title(one, waiting, glance, said):
    found = row(one, waiting, glance)
    assert (found.sign, found.note) == said


def test_hits_are_marked_in_the_title_and_sizes_are_said():
    found = row(
        session(title="rename handler"), 0, Glance(turns=1, files=2, added=3), query.parse("hand").terms
    )
    assert (found.hits, found.added, found.removed, found.note) == (((7, 11),), 3, 0, "")


@pytest.mark.parametrize(
    ("turns", "waits", "expected"),
    [
        ((), (), (0, 0)),
        (((0, 10),), (), (10, 0)),
        (((0, 10),), ((2, 4),), (8, 2)),
        (((0, 10),), ((2, 6), (4, 8)), (4, 6)),
        (((0, 10), (20, 30)), ((8, 22),), (16, 14)),
        (((0, 10), (5, 20)), (), (20, 0)),
    ],
)
def test_time_that_waited_is_no_working_time(turns, waits, expected):
    assert worked_and_waited(Spans(turns=turns, waits=waits)) == expected


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sta", ("status:",)), ("rename sta", ("status:",)), ("", ()), ("status:", ("status:ready",)),
        ("status:x", ()), ("is:a", ("is:archived",)), ("tool:re", ("tool:read_file",)), ("in:s", ("in:shop",)),
        ("nonsense:", ()), ("model:two", ('model:"two words"',)),
    ],
)  # fmt: skip
def test_what_is_half_typed_is_completed(typed, words):
    there = [session("a"), session("b", model="two words")]
    assert offer(typed, len(typed), there, ("read_file", "run_in_terminal")).words == words


def test_a_completion_replaces_the_half_typed_word_only():
    found = offer("rename stat -x", 11, [])
    assert found.taken("rename stat -x", 11) == ("rename status:-x", 14)


@pytest.mark.parametrize(
    ("title", "can"),
    [
        ("rename handler", True),
        ("", False),
        ("x" * 41, False),
        ("päper", False),
        ("a\u202eb", False),
        (" a", False),
    ],
)
def test_only_plain_titles_are_asked_to_be_typed(title, can):
    assert is_typeable(title) is can
