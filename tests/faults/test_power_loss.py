"""The power fails: what SQLite had not written yet is gone, whatever was acknowledged as durable is there.

A write-ahead log that is cut at a border between two frames is what a disk may hold after that. The frame
at which each event was acknowledged is noted while a session is played.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.campaign import wanted
from tests.support.crashes import Human, TellingJournal
from tests.support.invariants import check_end, check_rest
from workbench.agents.planner import TurnLimits, due_effects
from workbench.agents.reducer import fold_turn
from workbench.domain import events
from workbench.journal.index_tables import database_problems, index_table_differences

pytestmark = pytest.mark.faults

HEADER, FRAME = 32, 24 + 4096
MOST_CUTS = 10_000 if wanted() >= 2000 else 60


@dataclass(frozen=True)
class Noted:
    """What was acknowledged, and what was on the disk then."""

    frames: int
    events: tuple[tuple[int, str], ...]
    workspace: Path


class NotingJournal(TellingJournal):
    """Notes how far the log was when a producer was told, and what the workspace held."""

    notes: list[Noted]
    workspace: Path
    copies: Path

    def _tell(self, pairs):
        pairs = tuple(pairs)
        size = (self.home.path / "journal.db-wal").stat().st_size
        copy = self.copies / str(len(self.notes))
        shutil.copytree(self.workspace, copy)
        self.notes.append(Noted((size - HEADER) // FRAME, pairs, copy))


class Disk:
    """What a disk held while a session was played."""

    def __init__(self, stage, copies):
        self.stage = stage
        self.notes = []
        database = stage.home.database
        self.wal = database.with_name("journal.db-wal")
        self.before = database.read_bytes()
        stage.journal = journal = NotingJournal.open(stage.home, stage.clock)
        journal.notes, journal.workspace, journal.copies = self.notes, stage.workspace, copies
        try:
            stage.perform(is_takeover=False)
            self.events = journal.events()
            self.log = self.wal.read_bytes()
            assert database.read_bytes() == self.before, "a checkpoint ran: the log alone is not the session"
        finally:
            journal.close()
        self.frames = (len(self.log) - HEADER) // FRAME

    def cut(self, frames):
        """Put the disk back to what it held when so many frames had reached it."""
        for path in self.stage.home.path.glob("journal.db-*"):
            path.unlink()
        self.stage.home.database.write_bytes(self.before)
        self.wal.write_bytes(self.log[: HEADER + frames * FRAME])

    def put_back(self, workspace):
        """Put the workspace back to what it held then."""
        shutil.rmtree(self.stage.workspace)
        shutil.copytree(workspace, self.stage.workspace)


@pytest.fixture
def played(on_stage, tmp_path):
    copies = Path(tempfile.mkdtemp(dir=tmp_path))
    return lambda scenario: Disk(on_stage(scenario), copies)


def is_durable(event):
    return event.body.DURABLE


@pytest.mark.spec(214)
@pytest.mark.parametrize("scenario", ["several", "undo", "partial"])
def test_a_log_cut_anywhere_holds_a_session_with_all_that_was_acknowledged_before(played, scenario):
    disk = played(scenario)
    stage, whole = disk.stage, [event.id for event in disk.events]
    durable = {event.id for event in disk.events if is_durable(event)}
    assert disk.frames > 80
    for frames in range(0, disk.frames + 1, max(1, disk.frames // MOST_CUTS)):
        disk.cut(frames)
        with stage.at_work():
            assert database_problems(stage.journal) == []
            assert index_table_differences(stage.journal) == []
            kept = stage.journal.events()
            acknowledged = {key for note in disk.notes if note.frames <= frames for _, key in note.events}
            assert acknowledged & durable <= {event.id for event in kept}
            assert [event.id for event in kept] == whole[: len(kept)], "an event in the middle was lost"
            state = fold_turn(stage.journal.events(stage.session_id))
            due_effects(state, TurnLimits(max_rounds=50))
            assert stage.session().status == state.status


@pytest.mark.spec(72, 214)
@pytest.mark.parametrize("scenario", ["modify-create-delete", "edited", "command", "undo"])
def test_power_loss_after_t3_t4_or_any_acknowledgement_ends_as_a_death_there(played, scenario):
    disk = played(scenario)
    stage, states = disk.stage, set()
    for note in disk.notes:
        disk.cut(note.frames)
        disk.put_back(note.workspace)
        with stage.at_work():
            there = {event.position: event.id for event in stage.journal.events()}
            assert all(there.get(position) == key for position, key in note.events)
            rows = stage.calls()
            states |= {row.state for row in rows.values()}
            stage.perform(is_takeover=True)
            check_end(stage)
    assert {"pending", "approved", "executing", "succeeded"} <= states


def test_power_loss_after_t4_is_settled_by_what_the_files_are(played):
    disk = played("three-files")
    stage = disk.stage
    kinds = {event.id: event for event in disk.events}
    (t4,) = [
        note
        for note in disk.notes
        if any(isinstance(kinds[key].body, events.CallExecuting) for _, key in note.events)
    ]
    for done, (state, detail) in enumerate(
        [("interrupted", "nothing written"), ("interrupted", "rolled back"), ("interrupted", "rolled back"),
         ("succeeded", "recovered")]
    ):  # fmt: skip
        disk.cut(t4.frames)
        disk.put_back(t4.workspace)
        for name in ("a.txt", "b.txt", "d/c.txt")[:done]:
            (stage.workspace / name).write_text(stage.scenario.end[name])
        with stage.at_work():
            Human.rest(stage)
            row = stage.calls()["c1"]
            assert (row.state, row.detail) == (state, detail)
            check_rest(stage)
