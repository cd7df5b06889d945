"""Taking sessions in: once each, growing, cancelled without a trace, and touching nothing else."""

import pytest
from msgspec.structs import replace

from tests.unit.journal.scenes import USER, ask, assert_sound, start
from workbench.domain.events import (
    ActionApproved,
    Event,
    PromptSubmitted,
    ReplyCompleted,
    RuleAdded,
    SessionChanged,
    SessionCreated,
    SessionStatusChanged,
    WorkspaceTrusted,
)
from workbench.domain.values import ReplyCall
from workbench.journal import imports
from workbench.journal.errors import GuardFailed
from workbench.journal.imports import (
    SessionImport,
    import_turn,
    is_imported_session,
    undo_unfinished_imports,
)
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverIdentity, DriverLock, take_lease
from workbench.journal.maintenance import delete_session

DRIVER = DriverIdentity(host_id="h1", pid=101)


def foreign(number: int, body: object = None, session: str = "f", **more: object) -> Event:
    found = body or (PromptSubmitted(text=f"xylophone {number}") if number else SessionCreated(title="t"))
    return Event(
        id=f"{session}.{number}", session_id=session, at=1_000 + number, actor=USER, body=found, **more
    )  # type: ignore[arg-type]


def take(journal: Journal, *events: Event) -> SessionImport:
    intake = SessionImport(journal)
    for event in events:
        intake.add(event)
    intake.finish()
    return intake


def test_twice_is_once_and_a_longer_file_brings_what_is_new(journal: Journal) -> None:
    assert take(journal, foreign(0), foreign(1)).added == {"f": 2}
    assert take(journal, foreign(0), foreign(1)).added == {}
    assert take(journal, foreign(0), foreign(1), foreign(2)).added == {"f": 1}
    assert [event.id for event in journal.events("f")] == ["f.0", "f.1", "f.2"]
    assert [event.at for event in journal.events("f")] == [1_000, 1_001, 1_002]
    assert is_imported_session(journal, "f")
    assert_sound(journal)


def test_cancelling_leaves_nothing(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_CHUNK_EVENTS", 2)
    take(journal, foreign(0, session="old"), foreign(1, session="old"))
    before = journal.events("old")
    intake = SessionImport(journal)
    ref = intake.store(b"whole")
    for event in (*(foreign(n) for n in range(5)), *(foreign(n, session="old") for n in range(2, 7))):
        intake.add(event)
    intake.cancel()
    assert journal.session("f") is None
    assert [(event.id, event.body) for event in journal.events("old")] == [(e.id, e.body) for e in before]
    assert not journal.blobs.has(ref)
    assert_sound(journal)
    assert take(journal, foreign(0), foreign(1)).added == {"f": 2}


def test_a_deleted_session_comes_back_under_the_next_id(journal: Journal) -> None:
    take(journal, foreign(0))
    intake = SessionImport(journal)
    assert intake.current_id("f") == "f"
    delete_session(journal, "f", USER)
    again = intake.current_id("f")
    assert again != "f"
    assert SessionImport(journal).current_id("f") == again


def test_a_session_that_was_made_here_takes_nothing(journal: Journal) -> None:
    start(journal)
    with pytest.raises(GuardFailed, match="was made here"):
        take(journal, foreign(1, session="s"))
    with pytest.raises(GuardFailed, match="was made here"):
        take(journal, foreign(1, session="system"))


@pytest.mark.parametrize(
    "reaching",
    [
        foreign(1, ReplyCompleted(calls=(ReplyCall(call_id="c1", provider_call_id="p", tool="t"),))),
        foreign(1, ActionApproved(digest="d", approved_until=9**15, result_digest="d"), action_id="a1"),
        foreign(1, PromptSubmitted(text="x"), call_id="c1"),
    ],
)
def test_an_event_that_reaches_into_another_session_is_refused(journal: Journal, reaching: Event) -> None:
    start(journal)
    ask(journal, "s", "c1", "a1")
    before = (journal.call("c1"), journal.action("a1"))
    intake = SessionImport(journal)
    with pytest.raises(GuardFailed, match="belongs to another session"):
        for event in (foreign(0), reaching):
            intake.add(event)
        intake.finish()
    intake.cancel()
    assert (journal.call("c1"), journal.action("a1")) == before
    assert journal.session("f") is None


@pytest.mark.spec(218)
def test_an_imported_session_is_given_to_no_driver(journal: Journal) -> None:
    take(journal, foreign(0), foreign(1))
    before = journal.last_position()
    with DriverLock(journal, DRIVER), pytest.raises(GuardFailed, match="it was imported"):
        take_lease(journal, "f", DRIVER)
    assert (journal.lease("f"), journal.last_position()) == (None, before)


@pytest.mark.spec(218)
def test_an_imported_rule_or_trust_grants_nothing(journal: Journal) -> None:
    rule = RuleAdded(
        rule="R1", effect="allow", origin="user", scope="always", tool="run_in_terminal",
        pattern_kind="glob", pattern="*", description="all",
    )  # fmt: skip
    take(
        journal, foreign(0), foreign(1, rule), foreign(2, WorkspaceTrusted(workspace="/w", content_hash="h"))
    )
    assert (journal.rules(), journal.trust("/w")) == ([], None)
    assert len(journal.events("f")) == 3
    assert_sound(journal)


def test_a_file_that_says_something_else_stands_for_what_it_said_before(journal: Journal) -> None:
    take(journal, *(foreign(number) for number in range(5)))
    journal.append([journal.event(SessionChanged(tags=("mine",)), "f", USER)])
    other = PromptSubmitted(text="something else")
    intake = take(journal, foreign(0), foreign(1), foreign(2, other), foreign(3), foreign(7))
    ids = [event.id for event in journal.events("f") if event.id.startswith("f.")]
    assert (ids, intake.added) == (["f.0", "f.1", "f.2", "f.3", "f.7"], {"f": 3})
    assert [event.body for event in journal.events("f") if event.id == "f.2"] == [other]
    session = journal.session("f")
    assert session is not None and session.tags == ("mine",)
    assert_sound(journal)


def test_an_older_file_that_says_something_else_changes_nothing(journal: Journal) -> None:
    take(journal, *(foreign(number) for number in range(5)))
    before = [(event.id, event.body, event.at) for event in journal.events("f")]
    intake = SessionImport(journal)
    for event in (foreign(0), foreign(1, PromptSubmitted(text="older")), foreign(2)):
        intake.add(event)
    assert intake.end_file() == ("f",)
    assert intake.end_file() == ()
    intake.add(foreign(5))
    assert intake.end_file() == ()
    intake.finish()
    found = [(event.id, event.body, event.at) for event in journal.events("f")]
    assert (found[:5], found[5][0], intake.added) == (before, "f.5", {"f": 1})
    assert_sound(journal)


def test_one_session_in_several_files_of_one_import_is_one_session(journal: Journal) -> None:
    other = foreign(1, PromptSubmitted(text="something else"))
    for files, expected in (
        ([range(3), range(3)], ["f.0", "f.1", "f.2"]),
        ([range(2), range(4), range(3)], ["f.0", "f.1", "f.2", "f.3"]),
    ):
        intake = SessionImport(journal)
        for numbers in files:
            for number in numbers:
                intake.add(foreign(number))
            assert intake.end_file() == ()
        intake.finish()
        assert ([event.id for event in journal.events("f")], intake.new_sessions) == (expected, ["f"])
        assert intake.added == {"f": len(expected)}
        imports.discard_import(journal, "f")
    take(journal, foreign(0), foreign(1))
    intake = SessionImport(journal)
    for event in (foreign(0), foreign(1), foreign(2)):
        intake.add(event)
    assert intake.end_file() == ()
    for event in (foreign(0), other, foreign(2), foreign(3)):
        intake.add(event)
    assert intake.end_file() == ()
    intake.cancel()
    assert [event.id for event in journal.events("f")] == ["f.0", "f.1"]
    assert_sound(journal)


def test_cancelling_brings_back_what_a_file_said_before(journal: Journal) -> None:
    take(journal, *(foreign(number) for number in range(5)))
    before = [(event.id, event.body) for event in journal.events("f")]
    intake = SessionImport(journal)
    intake.add(foreign(0))
    intake.add(foreign(1, PromptSubmitted(text="something else")))
    intake.cancel()
    assert [(event.id, event.body) for event in journal.events("f")] == before
    assert_sound(journal)


def test_what_closed_a_shorter_file_goes_when_it_has_grown(journal: Journal) -> None:
    def closer(name: str, status: str) -> Event:
        event = foreign(1, SessionStatusChanged(status=status))  # type: ignore[arg-type]
        return replace(event, id=f"f.end.{name}")

    take(journal, foreign(0), foreign(1), closer("call1.0", "ready"), closer("status", "completed"))
    take(journal, foreign(0), foreign(1), foreign(2), closer("status", "completed"))
    assert [event.id for event in journal.events("f")] == ["f.0", "f.1", "f.2", "f.end.status"]
    assert_sound(journal)


def test_imports_take_turns_and_undo_nothing_of_one_another(journal: Journal) -> None:
    waits: list[int] = []

    class GaveUp(Exception):
        pass

    def wait() -> None:
        assert journal.session("f") is not None, "the import that is under way was undone"
        waits.append(1)
        if len(waits) == 2:
            raise GaveUp

    with import_turn(journal, wait):
        intake = SessionImport(journal)
        intake.add(foreign(0))
        intake.flush()
        assert undo_unfinished_imports(journal) == 0
        with pytest.raises(GaveUp), import_turn(journal, wait):
            raise AssertionError("two imports at once")
        intake.finish()
    with import_turn(journal, wait):
        assert journal.session("f") is not None
    assert len(waits) == 2
    assert_sound(journal)


def test_what_a_killed_import_stored_is_undone_before_the_next_one(journal: Journal) -> None:
    killed = SessionImport(journal)
    killed.add(foreign(0))
    killed.flush()
    killed._lock.release()
    with import_turn(journal, lambda: None):
        assert journal.session("f") is None
    assert_sound(journal)


def test_what_a_killed_import_stored_is_taken_back(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_CHUNK_EVENTS", 2)
    take(journal, *(foreign(n, session="old", recorded_at=7) for n in range(2)))
    before = [event.id for event in journal.events("old")]
    killed = SessionImport(journal)
    for event in (*(foreign(n) for n in range(5)), *(foreign(n, session="old") for n in range(7))):
        killed.add(event)
    killed._settle()
    assert undo_unfinished_imports(journal) == 0
    killed._lock.release()
    assert undo_unfinished_imports(journal) == 2
    assert journal.session("f") is None
    assert [event.id for event in journal.events("old")] == before
    assert undo_unfinished_imports(journal) == 0
    assert_sound(journal)
