"""What is left when power, process or disk fail: everything acknowledged, nothing by halves."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.journal.disk import BROKEN, FULL, failing_disk
from tests.unit.journal.scenes import (
    ALLOW,
    HOST,
    USER,
    SettableClock,
    ask,
    assert_sound,
    history,
    open_journal,
    start,
    status,
    streamed,
)
from workbench.domain.events import CallExecuting, CallFinished, CallProposed, Event, PromptSubmitted
from workbench.domain.values import Decision
from workbench.effects import fault_points
from workbench.journal.decisions import decide_action
from workbench.journal.errors import JournalFailed, JournalFull
from workbench.journal.index_tables import database_problems
from workbench.journal.journal import Journal

ROOT = Path(__file__).parents[3]
HEADER, FRAME = 32, 24 + 4096


# --- power loss ----------------------------------------------------------------------------------


def _wal(journal: Journal) -> Path:
    return journal.home.path / "journal.db-wal"


@pytest.mark.spec(214)
@pytest.mark.faults
def test_the_wal_cut_at_every_frame_keeps_every_acknowledged_durable_event(
    journal: Journal, tmp_path: Path, clock: SettableClock
) -> None:
    written: list[tuple[int, Event, int]] = []
    frames = 0
    for events in history(journal):
        positions = journal.append(events)
        frames = (_wal(journal).stat().st_size - HEADER) // FRAME
        written += [(frames, event, position) for event, position in zip(events, positions, strict=True)]
    source = tmp_path / "source"
    shutil.copytree(journal.home.path, source)
    assert frames > 40
    for cut in range(frames + 1):
        _cut(source, tmp_path / "cut", HEADER + cut * FRAME, written, cut, clock)


def _cut(source: Path, home: Path, size: int, written: list[Any], frames: int, clock: SettableClock) -> None:
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    for name in ("run", "blobs", "logs"):
        (home / name).symlink_to(source / name)
    for name in ("journal.db", "key"):
        shutil.copyfile(source / name, home / name)
    (home / "journal.db-wal").write_bytes((source / "journal.db-wal").read_bytes()[:size])
    with open_journal(home, clock) as journal:
        kept = {event.id: event for event in journal.events()}
        for needed, event, position in written:
            if needed <= frames:
                assert kept[event.id].position == position
            elif event.body.DURABLE:
                assert event.id not in kept
        assert [event.position for event in kept.values()] == list(range(1, len(kept) + 1))
        assert_sound(journal)
        # What was lost can be appended again, and what was kept is not stored twice.
        again = journal.append([event for _, event, _ in written])
        assert again == [position for _, _, position in written]


def test_durable_events_and_what_waits_before_them_go_through_the_connection_that_syncs(
    journal: Journal,
) -> None:
    start(journal)
    waiting = journal.submit([streamed(journal, "s", 0)])
    journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert waiting.done()
    store: Any = journal._open_queue()._writer._store
    both = (store.fast, store.durable)
    assert [database.execute("PRAGMA synchronous").get for database in both] == [1, 2]
    first = [database.total_changes() for database in both]
    journal.append([streamed(journal, "s", 1)])
    second = [database.total_changes() for database in both]
    journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    third = [database.total_changes() for database in both]
    assert (first[0] < second[0], first[1] == second[1]) == (True, True)
    assert (second[0] == third[0], second[1] < third[1]) == (True, True)


# --- a full or broken disk -------------------------------------------------------------------------


def _append_what_goes(journal: Journal, session: str, error: type[Exception]) -> int:
    """Append a history, each append once more if it fails; return how many failed with the named error."""
    failed = 0
    stored: list[str] = []
    for events in history(journal, session):
        before = journal.last_position()
        try:
            journal.append(events)
        except error:
            failed += 1
            assert journal.last_position() == before
            journal.append(events)
        stored += [event.id for event in events]
    assert [event.id for event in journal.events(session)] == stored
    return failed


@pytest.mark.faults
@pytest.mark.parametrize(("number", "error", "first"), [(FULL, JournalFull, 1), (BROKEN, JournalFailed, 2)])
def test_each_write_that_fails_takes_back_one_append_and_no_other(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, number: int, error: type[Exception], first: int
) -> None:
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 0.0)
    with failing_disk() as disk:
        nth, total, failed = first, first, 0
        # Between them the two errors meet every write, those of checkpoints included.
        while nth <= total:
            disk.fail(nth, 1, number)
            failures = _append_what_goes(journal, f"s{nth}", error)
            total = max(total, disk.writes) if nth == first else total
            assert failures <= 1
            failed += failures
            nth += 2
        disk.heal()
    assert failed > 30
    assert_sound(journal)
    assert database_problems(journal) == []


def test_a_disk_that_stays_full_refuses_by_name_and_heals(journal: Journal) -> None:
    start(journal)
    with failing_disk() as disk:
        disk.fail(1, 10**9, FULL)
        last = journal.last_position()
        for _ in range(3):
            with pytest.raises(JournalFull) as caught:
                journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
        assert "the disk is full" in caught.value.why
        assert "free some space" in caught.value.remedy
        assert journal.last_position() == last
        assert journal.home.reserve.exists()
        disk.heal()
        journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert_sound(journal)


def _executing(journal: Journal) -> None:
    start(journal)
    journal.append([journal.event(CallProposed(tool="t", verdict=ALLOW), "s", HOST, call_id="c")])
    journal.append([journal.event(CallExecuting(), "s", HOST, call_id="c")])


def _full_while_the_reserve_is_there(journal: Journal) -> Any:
    def fire() -> None:
        if journal.home.reserve.exists():
            raise OSError(FULL, "No space left on device")

    return fire


def test_the_reserve_is_given_up_once_for_an_outcome(journal: Journal) -> None:
    _executing(journal)
    full = _full_while_the_reserve_is_there(journal)
    with fault_points.arm_fault("journal.before_commit", full), pytest.raises(JournalFull):
        journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert journal.home.reserve.exists()
    with fault_points.arm_fault("journal.before_commit", full):
        done = journal.event(CallFinished(state="succeeded"), "s", HOST, call_id="c")
        assert journal.append([done, journal.event(status("paused", "user"), "s", HOST)])
    assert not journal.home.reserve.exists()
    call = journal.call("c")
    assert call is not None
    assert call.state == "succeeded"
    with fault_points.arm_fault("journal.before_commit", "enospc"), pytest.raises(JournalFull):
        journal.append([journal.event(status("ready"), "s", HOST)])
    assert_sound(journal)


def test_one_that_is_too_large_does_not_fail_its_company(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(journal)
    monkeypatch.setattr("workbench.journal.write_queue.GROUP_SECONDS", 60.0)
    fast = [journal.submit([streamed(journal, "s", number)]) for number in range(3)]
    # The group fails as a whole, then the second of the four alone.
    once, again = (fault_points.arm_fault("journal.before_commit", "enospc", nth) for nth in (1, 2))
    with once, again:
        journal.append([journal.event(PromptSubmitted(text="x"), "s", USER)])
    assert isinstance(fast[1].exception(timeout=0), JournalFull)
    assert [fast[number].result(timeout=0) for number in (0, 2)] == [[5], [6]]
    assert_sound(journal)


@pytest.mark.parametrize(("action", "error"), [("enospc", JournalFull), ("eio", JournalFailed)])
def test_a_decision_on_a_full_disk_is_not_made_and_said_so(
    journal: Journal, action: str, error: type[Exception]
) -> None:
    start(journal)
    ask(journal, "s", "c", "a")
    given = Decision(action_id="a", verdict="approve")
    for point in ("decide.before_commit", "journal.before_commit"):
        with fault_points.arm_fault(point, action), pytest.raises(error):
            decide_action(journal, given, "d", USER)
        found = journal.action("a")
        assert found is not None
        assert found.state == "pending"
    assert decide_action(journal, given, "d", USER).ok


# --- killed processes ------------------------------------------------------------------------------

LIFE = """
import sys
from pathlib import Path
from tests.unit.journal.scenes import SettableClock, history, open_journal
journal = open_journal(Path(sys.argv[1]), SettableClock())
for number, events in enumerate(history(journal)):
    journal.append(events)
    print(number, flush=True)
"""


@pytest.mark.spec(72, 214)
@pytest.mark.faults
@pytest.mark.parametrize(
    ("point", "nth", "kept_more"),
    [("journal.before_commit", 1, 0), ("journal.before_commit", 6, 0), ("journal.before_commit", 11, 0),
     ("journal.after_commit", 1, 1), ("journal.after_commit", 6, 1), ("journal.after_commit", 11, 1)],
)  # fmt: skip
def test_a_killed_process_leaves_what_it_committed_and_nothing_by_halves(
    tmp_path: Path, point: str, nth: int, kept_more: int
) -> None:
    import os

    env = {**os.environ, "WORKBENCH_FAULTS": f"{point}:kill:{nth}"}
    child = subprocess.run(
        [sys.executable, "-c", LIFE, str(tmp_path)], cwd=ROOT, env=env, capture_output=True, check=False
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    acknowledged = len(child.stdout.splitlines())
    assert acknowledged == nth - 1
    with open_journal(tmp_path, SettableClock()) as journal:
        appends = history(journal)
        expected = [event.kind for events in appends[: acknowledged + kept_more] for event in events]
        assert [event.kind for event in journal.events()] == expected
        assert_sound(journal)
        # The producer that was not told tries again, under the same ids, and goes on to the end.
        for events in appends:
            journal.append(events)
        assert [event.kind for event in journal.events()] == [event.kind for e in appends for event in e]
        assert_sound(journal)
