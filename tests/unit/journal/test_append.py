"""The one way in: order, numbers, guards, legality, and what is refused without a trace."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.waits import PATIENCE
from tests.unit.journal.scenes import (
    ALLOW,
    HOST,
    MINUTE,
    USER,
    SettableClock,
    ask,
    assert_sound,
    opened,
    question,
    reply,
    run_call,
    start,
    status,
    streamed,
)
from workbench.domain.codec import MalformedEventError, event_from_line, event_to_line
from workbench.domain.events import (
    AnswerRefused,
    CallExecuting,
    CallFinished,
    CallProposed,
    Event,
    PromptSubmitted,
    SecurityNoted,
    SessionChanged,
    SessionCreated,
    Unknown,
)
from workbench.domain.machines import CALL_MOVES, SESSION_MOVES, TERMINAL_SESSION_STATES, IllegalMoveError
from workbench.domain.values import DEFAULT_APPROVAL_MINUTES, Decision, Usage
from workbench.journal.decisions import decide_action
from workbench.journal.errors import (
    BlobMissing,
    EventConflict,
    GuardFailed,
    JournalClosed,
    SessionEnded,
    SessionUnknown,
)
from workbench.journal.journal import Journal
from workbench.journal.transaction import TransactionTables


class Never:
    """A guard that does not hold."""

    is_validating = False

    def check(self, live: TransactionTables) -> None:
        raise GuardFailed("nothing was written", "never", "do something else")


@pytest.mark.spec(141)
def test_positions_and_numbers_rise_without_gaps(journal: Journal) -> None:
    start(journal, "a")
    start(journal, "b")
    found = journal.events()
    assert [event.position for event in found] == list(range(1, 9))
    assert [event.sequence_number for event in journal.events("b")] == [1, 2, 3, 4]
    assert_sound(journal)


def test_an_append_over_two_sessions_is_one_transaction(journal: Journal) -> None:
    start(journal, "a")
    start(journal, "b")
    last = journal.last_position()
    with pytest.raises(IllegalMoveError):
        journal.append(
            [
                journal.event(status("paused", "user"), "a", USER),
                journal.event(status("initializing"), "b", USER),
            ]
        )
    assert journal.last_position() == last
    row = journal.session("a")
    assert row is not None
    assert row.status == "processing"


def test_the_same_event_twice_is_stored_once(journal: Journal) -> None:
    start(journal)
    event = journal.event(PromptSubmitted(text="go"), "s", USER)
    first = journal.append([event])
    assert journal.append([event]) == first
    assert journal.append([event, streamed(journal, "s", 0)]) == [first[0], first[0] + 1]
    assert journal.last_position() == first[0] + 1


def test_a_retry_is_answered_even_when_the_move_would_be_illegal_now(journal: Journal) -> None:
    start(journal)
    event = journal.event(status("completed"), "s", USER)
    assert journal.append([event]) == journal.append([event])


def test_an_id_with_other_content_is_refused(journal: Journal) -> None:
    start(journal)
    event = journal.event(PromptSubmitted(text="go"), "s", USER)
    journal.append([event])
    with pytest.raises(EventConflict, match=event.id):
        journal.append([replace(event, body=PromptSubmitted(text="stop"))])


def test_a_failed_guard_fails_only_its_own_call(journal: Journal) -> None:
    start(journal)
    journal.append([streamed(journal, "s", 0)])
    # The thread is within 25 ms of its last commit, so these three are one group.
    futures = [
        journal.submit([streamed(journal, "s", 1)]),
        journal.submit([streamed(journal, "s", 2)], guard=Never()),
        journal.submit([streamed(journal, "s", 3)]),
    ]
    assert futures[2].result() == [futures[0].result()[0] + 1]
    with pytest.raises(GuardFailed):
        futures[1].result()
    assert [event.body.offset for event in journal.events("s")[-2:]] == [1, 3]  # type: ignore[attr-defined]
    assert_sound(journal)


def test_what_a_failed_call_had_written_is_forgotten_by_the_next_of_its_group(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    pause, illegal, go_on = (
        journal.event(status(name), "s", USER) for name in ("paused", "created", "processing")
    )
    fast = journal.submit([streamed(journal, "s", 0)])
    # Legal only after the pause that is taken back with its call.
    futures = [journal.submit(events) for events in ([pause, illegal], [go_on], [pause])]
    assert [type(future.exception(10)) for future in futures] == [
        IllegalMoveError,
        IllegalMoveError,
        type(None),
    ]
    assert futures[2].result() == [fast.result()[0] + 1]
    assert_sound(journal)


def test_order_is_kept_between_fast_and_durable_events(journal: Journal) -> None:
    start(journal)
    events: list[Event] = []
    for number in range(60):
        body = PromptSubmitted(text=str(number))
        events.append(journal.event(body, "s", USER) if number % 7 == 3 else streamed(journal, "s", number))
    futures = [journal.submit([event]) for event in events]
    positions = [future.result()[0] for future in futures]
    assert positions == list(range(positions[0], positions[0] + 60))


def test_a_durable_event_does_not_wait_for_company(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    waiting = journal.submit([streamed(journal, "s", 0)])
    (position,) = journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert waiting.result(timeout=0) == [position - 1]


def test_fast_events_are_grouped_until_they_are_many(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    waiting = journal.submit([streamed(journal, "s", 0)])
    full = journal.submit([streamed(journal, "s", 1, "x" * 260_000)])
    assert waiting.result(timeout=PATIENCE) == [full.result(timeout=PATIENCE)[0] - 1]


def test_the_first_event_after_a_quiet_time_is_committed_at_once(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    journal._open_queue()._writer._last -= 61
    assert journal.submit([streamed(journal, "s", 0)]).result(timeout=PATIENCE)


def test_a_cancelled_call_is_not_written_and_harms_nobody(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    waiting = journal.submit([streamed(journal, "s", 7)])
    assert waiting.cancel()
    (position,) = journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert position == 5


def test_what_work_raises_is_raised_here_and_nothing_is_written(journal: Journal) -> None:
    start(journal)
    last = journal.last_position()

    def work(live: TransactionTables, now: int) -> list[Event]:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        journal.transact(work)
    assert journal.last_position() == last


def test_a_job_that_would_wait_for_itself_is_refused(journal: Journal) -> None:
    start(journal)

    def work(live: TransactionTables, now: int) -> list[Event]:
        journal.append([streamed(journal, "s", 0)])
        return []

    with pytest.raises(RuntimeError, match="must not wait"):
        journal.transact(work)


def test_a_closed_journal_takes_nothing_but_commits_what_it_took(journal: Journal) -> None:
    start(journal)
    late = streamed(journal, "s", 1)
    waiting = journal.submit([streamed(journal, "s", 0)])
    journal.close()
    journal.close()
    assert waiting.result(timeout=0)
    with pytest.raises(JournalClosed):
        journal.append([late])
    with pytest.raises(JournalClosed):
        journal.last_position()


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_text_that_is_no_unicode_is_refused(journal: Journal, text: str) -> None:
    start(journal)
    with pytest.raises(MalformedEventError):
        journal.append([journal.event(PromptSubmitted(text=text), "s", USER)])


# --- sessions ------------------------------------------------------------------------------------


def test_an_event_needs_a_session(journal: Journal) -> None:
    with pytest.raises(SessionUnknown):
        journal.append([journal.event(PromptSubmitted(text="x"), "nobody", USER)])


def test_a_session_is_created_once(journal: Journal) -> None:
    start(journal)
    with pytest.raises(GuardFailed, match="exists"):
        journal.append([journal.event(SessionCreated(), "s", USER)])


ROUTES: dict[str, tuple[str, ...]] = {
    "created": (),
    "initializing": ("initializing",),
    "ready": ("initializing", "ready"),
    "processing": ("initializing", "ready", "processing"),
    "paused": ("initializing", "ready", "paused"),
    "completed": ("initializing", "ready", "completed"),
    "failed": ("initializing", "failed"),
    "terminated": ("terminated",),
}


@pytest.mark.spec(8, 134, 135)
@pytest.mark.parametrize("old", ROUTES)
def test_a_session_makes_exactly_the_legal_moves(journal: Journal, old: str) -> None:
    for new in SESSION_MOVES:
        key = f"{old}-{new}"
        bodies = [SessionCreated(), *map(status, ROUTES[old])]
        journal.append([journal.event(body, key, USER) for body in bodies])
        event = journal.event(status(new, "user" if new == "paused" else None), key, USER)
        expected: Any = None if new in SESSION_MOVES[old] else IllegalMoveError
        if old in TERMINAL_SESSION_STATES:
            expected = SessionEnded
        if expected:
            with pytest.raises(expected):
                journal.append([event])
        else:
            journal.append([event])
        row = journal.session(key)
        assert row is not None
        assert row.status == (old if expected else new)
    assert_sound(journal)


@pytest.mark.spec(8)
@pytest.mark.parametrize("last", sorted(TERMINAL_SESSION_STATES))
def test_an_ended_session_takes_only_remarks_and_outcomes(journal: Journal, last: str) -> None:
    start(journal, to="created")
    journal.append([journal.event(status(name), "s", USER) for name in ROUTES[last]])
    journal.append(
        [
            journal.event(AnswerRefused(verdict="approve", why="decided"), "s", USER),
            journal.event(SessionChanged(title="new"), "s", USER),
            journal.event(SecurityNoted(what="tried"), "s", USER),
        ]
    )
    for body in (PromptSubmitted(text="x"), reply(), status("ready")):
        with pytest.raises(SessionEnded):
            journal.append([journal.event(body, "s", USER)])


def test_what_was_running_when_the_session_ended_still_gets_its_outcome(journal: Journal) -> None:
    start(journal)
    journal.append([journal.event(CallProposed(tool="t", verdict=ALLOW), "s", HOST, call_id="c")])
    journal.append([journal.event(CallExecuting(), "s", HOST, call_id="c")])
    journal.append([journal.event(status("terminated"), "s", USER)])
    journal.append([journal.event(CallFinished(state="interrupted"), "s", HOST, call_id="c")])
    call = journal.call("c")
    assert call is not None
    assert call.state == "interrupted"


@pytest.mark.spec(1, 13, 132)
def test_a_session_keeps_what_it_was_created_with_and_only_moves_its_update(
    journal: Journal, clock: SettableClock
) -> None:
    body = SessionCreated(
        workspace="/w", title="t", model="m", provider="p", configuration={"a": [1, {"b": None}]},
        active_tools=("x", "y"), parent_id="root", number=7,
    )  # fmt: skip
    created = clock.now()
    journal.append([journal.event(body, "s", USER)])
    for minute in range(1, 4):
        clock.advance(60)
        journal.append([journal.event(SessionChanged(title=f"t{minute}", tags=("q",)), "s", USER)])
        row = journal.session("s")
        assert row is not None
        assert (row.created_at, row.updated_at) == (created, created + minute * MINUTE)
    assert (row.workspace, row.model, row.title, row.tags) == ("/w", "m", "t3", ("q",))
    assert (dict(row.configuration), row.active_tools) == ({"a": [1, {"b": None}]}, ("x", "y"))


@pytest.mark.spec(138)
def test_usage_is_the_sum_of_all_replies_and_cannot_be_negative(journal: Journal) -> None:
    start(journal)
    for _ in range(3):
        journal.append([journal.event(reply(), "s", HOST)])
    row = journal.session("s")
    assert row is not None
    assert (row.usage, row.usage.total_tokens) == (Usage(input_tokens=30, output_tokens=9), 39)


# --- calls and actions -----------------------------------------------------------------------------


def _to(journal: Journal, call: str, state: str) -> None:
    """Bring a new call to a state."""
    ask(journal, "s", call, f"a-{call}")
    if state in ("rejected", "approved", "executing", "succeeded", "failed", "interrupted"):
        verdict: Any = "reject" if state == "rejected" else "approve"
        assert decide_action(journal, Decision(action_id=f"a-{call}", verdict=verdict), "d", USER).ok
    if state in ("executing", "succeeded", "failed", "interrupted"):
        journal.append([journal.event(CallExecuting(), "s", HOST, call_id=call)])
    if state in ("succeeded", "failed", "interrupted", "expired", "cancelled"):
        journal.append([journal.event(CallFinished(state=state), "s", HOST, call_id=call)])  # type: ignore[arg-type]


@pytest.mark.spec(22, 200)
@pytest.mark.parametrize("old", CALL_MOVES)
def test_a_call_makes_exactly_the_legal_moves(journal: Journal, old: str) -> None:
    start(journal)
    for new in CALL_MOVES:
        call = f"{old}-{new}"
        _to(journal, call, old)
        body = CallExecuting() if new == "executing" else CallFinished(state=new)  # type: ignore[arg-type]
        event = journal.event(body, "s", HOST, call_id=call)
        if new in CALL_MOVES[old]:
            journal.append([event])
        else:
            with pytest.raises(IllegalMoveError):
                journal.append([event])
        row = journal.call(call)
        assert row is not None
        assert row.state == (new if new in CALL_MOVES[old] else old)
    assert_sound(journal)


@pytest.mark.spec(199, 201)
def test_a_call_row_tells_what_was_asked_and_how_it_went(journal: Journal, clock: SettableClock) -> None:
    start(journal)
    _to(journal, "c", "approved")
    clock.advance(2)
    run_call(journal, "s", "c")
    row = journal.call("c")
    assert row is not None
    assert (row.id, row.session_id, row.tool, row.state) == ("c", "s", "create_file", "succeeded")
    assert (row.summary, row.duration_ms) == ("created a.py", 3)
    assert row.started_at is not None
    assert row.finished_at is not None
    assert row.finished_at >= row.started_at > row.requested_at


def test_an_outcome_before_its_start_is_stored_as_at_the_start(
    journal: Journal, clock: SettableClock
) -> None:
    start(journal)
    _to(journal, "c", "approved")
    late = journal.event(CallFinished(state="succeeded"), "s", HOST, call_id="c")
    clock.advance(5)
    journal.append([journal.event(CallExecuting(), "s", HOST, call_id="c")])
    journal.append([late])
    row = journal.call("c")
    assert row is not None
    assert row.finished_at == row.started_at


def test_a_lapsed_approval_does_not_begin(journal: Journal, clock: SettableClock) -> None:
    start(journal)
    _to(journal, "c", "approved")
    clock.advance(DEFAULT_APPROVAL_MINUTES * 60)
    with pytest.raises(GuardFailed, match="lapsed"):
        journal.append([journal.event(CallExecuting(), "s", HOST, call_id="c")])


def test_a_call_has_one_open_action(journal: Journal) -> None:
    start(journal)
    ask(journal, "s", "c", "a1")
    with pytest.raises(GuardFailed, match="open"):
        journal.append([journal.event(opened(journal), "s", HOST, call_id="c", action_id="a2")])


@pytest.mark.spec(206)
@pytest.mark.parametrize(
    ("minutes", "is_taken"), [(-1, False), (0, True), (15, True), (1440, True), (1441, False)]
)
def test_a_window_is_neither_negative_nor_longer_than_a_day(
    journal: Journal, minutes: int, is_taken: bool
) -> None:
    start(journal)
    expires: Callable[[], int] = lambda: journal.now() + minutes * MINUTE  # noqa: E731
    if is_taken:
        question(journal, "a", "s", expires_at=expires())
    else:
        with pytest.raises(GuardFailed, match="window"):
            question(journal, "a", "s", expires_at=expires())


def test_an_event_that_names_missing_bytes_is_refused(journal: Journal) -> None:
    start(journal)
    there, gone = journal.blobs.seal(b"x"), "sealed:" + "0" * 64
    journal.append([journal.event(PromptSubmitted(text="x", text_ref=there), "s", USER)])
    for ref in (gone, "sealed:../../key", "nonsense"):
        with pytest.raises(BlobMissing):
            journal.append([journal.event(PromptSubmitted(text="x", text_ref=ref), "s", USER)])


# --- time ------------------------------------------------------------------------------------------


def test_a_clock_set_back_does_not_turn_the_journal_back(journal: Journal, clock: SettableClock) -> None:
    start(journal)
    before = clock.now()
    stale = journal.event(PromptSubmitted(text="early"), "s", USER, at=before - 7)
    clock.offset = -3600 * 1_000_000
    assert journal.now() == before
    journal.append([journal.event(PromptSubmitted(text="now"), "s", USER)])
    journal.append([stale])
    assert [event.at for event in journal.events("s")[-2:]] == [before, before]
    assert journal.transact(lambda live, now: [journal.event(reply(), "s", HOST, at=now)])[0].at == before


@pytest.mark.spec(213)
def test_an_import_keeps_foreign_times_moves_and_fields(journal: Journal, clock: SettableClock) -> None:
    odd = event_from_line(
        '{"id":"e1","session_id":"s","at":"2001-01-01T00:00:00Z","actor":{"kind":"user"},'
        '"kind":"session.created","body":{"workspace":"/w","colour":"blue"}}'
    )
    jump = Event(id="e2", session_id="s", at=5, actor=HOST, body=status("failed"))
    alien = Event(
        id="e3", session_id="s", at=9, actor=HOST, body=Unknown(original_kind="x.y", content={"z": 1})
    )
    journal.append([odd, jump, alien], strict=False)
    found = journal.events("s")
    assert [event.at for event in found] == [odd.at, 5, 9]
    assert {event.recorded_at for event in found} == {clock.now()}
    assert '"colour":"blue"' in event_to_line(found[0])
    assert (found[2].kind, found[2].body) == ("x.y", alien.body)
    assert journal.now() == clock.now()
    assert_sound(journal)


@pytest.mark.spec(213)
def test_what_is_exported_line_by_line_comes_back_the_same(journal: Journal, tmp_path: Any) -> None:
    from tests.unit.journal.scenes import history, open_journal

    for events in history(journal):
        journal.append(events)
    lines = [event_to_line(event) for event in journal.events("s")]
    with open_journal(tmp_path / "other", journal.clock) as other:
        other.append([event_from_line(line) for line in lines], strict=False)
        back = [event_to_line(replace(event, recorded_at=None)) for event in other.events("s")]
    assert back == lines


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    content=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON, max_size=4)
)
def test_any_json_in_an_event_and_a_row_comes_back_the_same(journal: Journal, content: Any) -> None:
    key = journal.clock.new_id()
    journal.append([journal.event(SessionCreated(configuration=content), key, USER)])
    row, (event,) = journal.session(key), journal.events(key)
    assert row is not None
    assert row.configuration == content
    assert isinstance(event.body, SessionCreated)
    assert event.body.configuration == content


def test_threads_that_append_at_once_leave_no_gap(journal: Journal) -> None:
    start(journal)

    def many(number: int) -> None:
        for offset in range(30):
            body = PromptSubmitted(text="x") if offset % 3 == 0 else None
            journal.append([journal.event(body, "s", USER) if body else streamed(journal, "s", offset)])

    threads = [threading.Thread(target=many, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.sequence_number for event in journal.events("s")] == list(range(1, 125))
    assert_sound(journal)
