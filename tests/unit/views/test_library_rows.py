"""The library's rows: what comes first, what passes a filter, what is said, how long was worked."""

import pytest

from tests.support.tables import each_row
from workbench.domain.rows import ActivitySpans, Session, SessionCounts
from workbench.domain.values import Usage
from workbench.views import library
from workbench.views.library import (
    LIBRARY_ORDERS,
    SEPARATOR_ID,
    SessionFilter,
    complete_filter,
    is_typeable_title,
    library_row,
    sort_sessions,
    title_and_tags,
)
from workbench.views.statistics import worked_and_waited


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
        (0, ("asks", "busy", SEPARATOR_ID, "new", "old")),
        (1, ("busy", "asks", SEPARATOR_ID, "old", "new")),
        (3, ("asks", "busy", SEPARATOR_ID, "new", "old")),
        (4, ("asks", "busy", SEPARATOR_ID, "new", "old")),
    ],
)
def test_live_sessions_come_first_in_every_order(order, expected):
    assert sort_sessions([OLD, BUSY, NEW, ASKS], {"asks"}, LIBRARY_ORDERS[order]).ids == expected


def test_without_live_ones_there_is_no_line():
    assert sort_sessions([OLD, NEW], (), LIBRARY_ORDERS[0]).ids == ("new", "old")
    assert sort_sessions([BUSY], (), LIBRARY_ORDERS[0]).ids == ("busy",)


@each_row(
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
    assert (
        SessionFilter(library.parse_query(typed), holders, None).passes(one, title_and_tags(one)) is is_there
    )


@each_row(
    "typed", ["", "han", "rename handler", "-release", "rename -shop", "is:archived", "in:shop han", "found"]
)
def test_all_that_pass_are_those_that_pass_one_by_one(typed):
    sessions = {
        key: session(key, title=title, archived=key == "c", tags=("release",) if key == "b" else ())
        for key, title in (("a", "Rename handler"), ("b", "handle"), ("c", "rename the handler"), ("d", "x"))
    }
    seen = {key: title_and_tags(one) for key, one in sessions.items()}
    sieve = SessionFilter(library.parse_query(typed), {"d": 1} if typed == "found" else {}, None)
    passed = [key for key, one in sessions.items() if sieve.passes(one, seen[key])]
    assert list(sieve.passing(sessions, sessions, seen, {"c"})) == passed


def test_archived_ones_are_shown_when_they_are_asked_for():
    one = session("s", archived=True)
    assert not SessionFilter(library.parse_query(""), {}, None).passes(one, "s")
    assert SessionFilter(library.parse_query("is:archived"), {}, None).passes(one, "s")


def test_tools_and_answers_narrow_to_what_the_journal_found():
    asked = library.parse_query("tool:read_file")
    assert SessionFilter(asked, {}, frozenset({"s"})).passes(session("s"), "s")
    assert not SessionFilter(asked, {}, frozenset()).passes(session("s"), "s")


@each_row(
    ("one", "waiting", "glance", "said"),
    [
        (session(), 1, None, ("waiting", "1 waits")),
        (session(), 3, None, ("waiting", "3 wait")),
        (session(status="processing"), 0, SessionCounts(turns=2), ("running", "turn 3")),
        (session(status="failed"), 0, SessionCounts(added=1), ("failed", "failed")),
        (
            session(status="paused", reason="unattended"),
            0,
            SessionCounts(expired=2),
            ("expired", "2 expired"),
        ),
        (session(), 0, SessionCounts(rejected=5), ("rejected", "5 rejected")),
        (session(), 0, SessionCounts(rejected=5, files=1, added=2), ("ok", "")),
        (session(), 0, SessionCounts(turns=1, failed=2), ("ok", "2 failed")),
        (session(status="terminated"), 0, SessionCounts(), ("cancelled", "stopped")),
        (session(origin="claude-code"), 0, SessionCounts(turns=1), ("ok", "claude-code")),
        (session(), 0, SessionCounts(turns=1), ("ok", "no edits")),
        (session(), 0, None, ("ok", "")),
    ],
)
def test_what_is_said_beside_a_title(one, waiting, glance, said):
    found = library_row(one, waiting, glance)
    assert (found.sign, found.note) == said


def test_hits_are_marked_in_the_title_and_sizes_are_said():
    found = library_row(
        session(title="rename handler"),
        0,
        SessionCounts(turns=1, files=2, added=3),
        library.parse_query("hand").terms,
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
    assert worked_and_waited(ActivitySpans(turns=turns, waits=waits)) == expected


@each_row(
    ("typed", "words"),
    [
        ("sta", ("status:",)), ("rename sta", ("status:",)), ("", ()), ("status:", ("status:ready",)),
        ("status:x", ()), ("is:a", ("is:archived",)), ("tool:re", ("tool:read_file",)), ("in:s", ("in:shop",)),
        ("nonsense:", ()), ("model:two", ('model:"two words"',)),
    ],
)  # fmt: skip
def test_what_is_half_typed_is_completed(typed, words):
    there = [session("a"), session("b", model="two words")]
    assert complete_filter(typed, len(typed), there, ("read_file", "run_in_terminal")).words == words


def test_a_completion_replaces_the_half_typed_word_only():
    found = complete_filter("rename stat -x", 11, [])
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
    assert is_typeable_title(title) is can


@pytest.mark.spec(171)
@each_row(
    "said, note", [("accepted", "accepted"), ("rejected", "rejected"), ("quit", "quit"), (None, "quit")]
)
def test_a_command_made_of_words_says_what_came_of_it(said, note):
    row = library_row(session(kind="ask", status="completed", origin_status=said), 0, SessionCounts())
    assert row.note == note
