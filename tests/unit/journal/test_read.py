"""What is read back: events by position and number, rows by filter, and nothing held between calls."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import HOST, USER, SettableClock, ask, history, start, streamed
from workbench.domain.codec import actor_json, body_json
from workbench.domain.events import Event, SessionChanged, SessionCreated, TurnEnded, TurnStarted
from workbench.domain.values import Decision
from workbench.journal.decisions import decide_action
from workbench.journal.journal import Journal
from workbench.journal.storage import decode_event, event_with_position


@pytest.fixture
def two(journal: Journal) -> Journal:
    start(journal, "a")
    start(journal, "b")
    journal.append([streamed(journal, "a", number) for number in range(10)])
    return journal


def sequences(events: list[Event]) -> list[int]:
    return [event.sequence_number for event in events]


def test_events_are_read_by_position(two: Journal) -> None:
    assert [event.position for event in two.events(after=15)] == [16, 17, 18]
    assert [event.position for event in two.events(limit=2)] == [1, 2]
    assert sequences(two.events("a")) == list(range(1, 15))
    assert sequences(two.events("a", limit=3)) == [1, 2, 3]
    assert [event.position for event in two.events("a", after=3, limit=3)] == [4, 9, 10]
    assert two.events("b", after=8) == []


def test_a_window_is_read_by_number(two: Journal) -> None:
    assert sequences(two.window("a", 6, 4)) == [6, 7, 8, 9]
    assert sequences(two.window("a", 13, 10)) == [13, 14]
    assert two.window("a", 99, 5) == []
    assert two.last_sequence("a") == 14
    assert two.last_sequence("nobody") == 0
    assert two.event_at(99) is None


def test_turns_that_ended_before_an_event_are_counted_from_either_end(journal: Journal) -> None:
    journal.append([journal.event(SessionCreated(workspace="/w"), "s", USER)])
    for number in range(5):
        bodies = (TurnStarted(provider="p", model="m"), TurnEnded(outcome="done"))
        journal.append(
            [journal.event(body, "s", HOST, turn_id=f"t{number}") for body in bodies], strict=False
        )
    found = [event.body.KIND == "turn.ended" for event in journal.events("s")]
    counts = [journal.turns_before("s", number) for number in range(1, len(found) + 1)]
    assert counts == [sum(found[: number - 1]) for number in range(1, len(found) + 1)]
    assert (counts[-1], journal.turns_before("nobody", 1)) == (4, 0)


def test_an_empty_journal_has_nothing(journal: Journal, clock: SettableClock) -> None:
    assert (journal.last_position(), journal.events(), journal.now()) == (0, [], clock.now())


def test_what_is_read_equals_what_was_appended(journal: Journal) -> None:
    made = [event for events in history(journal) for event in events]
    for event in made:
        journal.append([event])
    found = journal.events()
    assert found == [event_with_position(event, number, number) for number, event in enumerate(made, 1)]
    assert found == [
        replace(event, position=number, sequence_number=number) for number, event in enumerate(made, 1)
    ]


def test_a_decoded_event_is_a_frozen_event_like_any_other(journal: Journal) -> None:
    event = streamed(journal, "s", 3)
    values = (7, event.id, "s", 2, event.at, None, actor_json(HOST), "t1", None, None, None, event.kind,
              body_json(event))  # fmt: skip
    found = decode_event(values)
    assert type(found) is Event
    assert found == replace(event, position=7, sequence_number=2)
    assert hash(found) == hash(replace(event, position=7, sequence_number=2))
    with pytest.raises(AttributeError, match="immutable"):
        found.position = 8  # type: ignore[misc]


@pytest.fixture
def many(journal: Journal, clock: SettableClock) -> Journal:
    for number, workspace in enumerate(("/w", "/w", "/x", "/w")):
        clock.advance(1)
        start(journal, f"s{number}", workspace, to="ready" if number else "created")
    clock.advance(1)
    journal.append([journal.event(SessionChanged(archived=True), "s3", USER)])
    body = SessionCreated(workspace="/w", session_kind="step", parent_id="s0")
    clock.advance(1)
    journal.append([journal.event(body, "child", USER)])
    return journal


@pytest.mark.parametrize(
    ("workspace", "filters", "expected"),
    [
        (None, {}, ["child", "s3", "s2", "s1", "s0"]),
        ("/w", {}, ["child", "s3", "s1", "s0"]),
        ("/w", {"status": ["ready"]}, ["s3", "s1"]),
        ("/w", {"status": []}, []),
        ("/w", {"kinds": ["chat"], "archived": False}, ["s1", "s0"]),
        (None, {"parent_id": "s0"}, ["child"]),
        (None, {"limit": 2, "offset": 1}, ["s3", "s2"]),
        (None, {"offset": 3}, ["s1", "s0"]),
        ("/nowhere", {}, []),
    ],
)
def test_sessions_are_listed_by_filter_the_last_changed_first(
    many: Journal, workspace: str | None, filters: dict[str, Any], expected: list[str]
) -> None:
    assert [session.id for session in many.sessions(workspace, **filters)] == expected


def test_calls_and_actions_are_listed_in_order_and_by_state(journal: Journal) -> None:
    start(journal)
    start(journal, "other")
    for number in range(3):
        ask(journal, "s", f"c{number}", f"a{number}")
    ask(journal, "other", "c9", "a9")
    decide_action(journal, Decision(action_id="a1", verdict="reject"), "d", USER)
    assert [call.id for call in journal.calls("s")] == ["c0", "c1", "c2"]
    assert [call.id for call in journal.calls("s", ["rejected"])] == ["c1"]
    assert [call.id for call in journal.calls("s", provider_call_id="p-c2")] == ["c2"]
    assert [call.id for call in journal.calls("s", ["rejected"], turn_id="t1")] == ["c1"]
    assert journal.calls("s", turn_id="t2") == journal.calls("other", provider_call_id="p-c2") == []
    assert [action.id for action in journal.actions()] == ["a0", "a1", "a2", "a9"]
    assert [action.id for action in journal.actions("s", ["pending"])] == ["a0", "a2"]


def _plan(journal: Journal, statement: str) -> str:
    with journal.snapshot() as database:
        return " ".join(str(row[3]) for row in database.execute(f"EXPLAIN QUERY PLAN {statement}"))


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("SELECT * FROM action WHERE state = 'pending' AND expires_at <= 5", "action_state"),
        ("SELECT * FROM call WHERE session_id = 's'", "call_session"),
        ("SELECT * FROM session WHERE workspace = '/w' ORDER BY updated_at DESC, id", "session_workspace"),
        ("SELECT * FROM event WHERE session_id = 's' AND sequence_number >= 5 ORDER BY sequence_number",
         "sqlite_autoindex_event_2 (session_id=? AND sequence_number>?)"),
        ("SELECT 1 FROM event WHERE kind = 'session.deleted' AND json_extract(body, '$.deleted_id') = 'x'",
         "event_tombstone"),
    ],
)  # fmt: skip
def test_questions_asked_all_the_time_have_an_index(journal: Journal, statement: str, index: str) -> None:
    assert index in _plan(journal, statement)


def test_no_transaction_stays_open_between_questions(two: Journal) -> None:
    two.sessions()
    two.events()
    assert two._idle
    assert not any(database.in_transaction for database in two._idle)
    assert len(two._idle) == 1
