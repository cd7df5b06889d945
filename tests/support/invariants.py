"""What must hold after every crash, checked from outside: events, tables, files, processes.

Nothing here knows where a driver died.
"""

import os
from collections import Counter
from pathlib import Path

from tests.support.scenarios import RAN
from tests.support.waits import until
from workbench.domain import events
from workbench.domain.machines import CALL_MOVES, SETTLED_CALL_STATES
from workbench.effects.file_primitives import TEMPORARY_NAME
from workbench.effects.process_table import carries_mark, read_process_table
from workbench.journal.index_tables import database_problems, index_table_differences

ENDINGS = {
    "succeeded": {"", "recovered", "partial", "edited"},
    "interrupted": {"nothing written", "rolled back", "nothing ran", "outcome unknown"},
    "cancelled": {"stale", "lapsed", "withdrawn", "stopped"},
    "rejected": {"rejected"},
    "expired": {"expired"},
}
"""Every ending of a call that the crash table allows in sessions where nothing fails by itself."""


def check_rest(stage):
    """Check a session that was taken over, at rest, before a human has said anything."""
    _no_model_call_by_itself(stage)
    for row in stage.journal.calls(stage.session_id):
        assert row.state != "executing", f"{row.provider_call_id} is executing and nobody does"
    check_disk(stage)


def _no_model_call_by_itself(stage):
    """Check that whoever took over from a dead driver called a model only after a human had spoken."""
    asked = heard = 0
    is_in_order, is_released = True, True
    epoch = epoch_of_call = 0
    for event in stage.journal.events(stage.session_id):
        match event.body:
            case events.LeaseTaken():
                epoch, is_in_order = event.body.epoch, is_released
                is_released = False
            case events.LeaseReleased():
                is_released = True
            case events.PromptSubmitted() | events.ContinueRequested():
                heard = event.position
            case events.TurnStarted():
                is_going_on = epoch_of_call == epoch or is_in_order
                assert is_going_on or heard > asked, "a model was called because a driver came back"
                asked, epoch_of_call = event.position, epoch


def check_end(stage):
    """Check a session that has come to its end."""
    assert index_table_differences(stage.journal) == []
    assert database_problems(stage.journal) == []
    assert stage.waiting() == []
    _no_model_call_by_itself(stage)
    for row in stage.journal.calls(stage.session_id):
        assert row.state in SETTLED_CALL_STATES, f"{row.provider_call_id} is {row.state} at the end"
        assert row.detail in ENDINGS.get(row.state, ()), f"{row.provider_call_id}: {row.state} ({row.detail})"
    _no_call_twice(stage)
    _nothing_unapproved(stage)
    check_disk(stage)
    check_commands(stage)


def check_told(stage, told):
    """Check that every event that a driver was told of is there, at its position."""
    there = {event.position: event.id for event in stage.journal.events()}
    lost = [pair for pair in told if there.get(pair[0]) != pair[1]]
    assert lost == [], f"acknowledged and lost: {lost}"


def _no_call_twice(stage):
    counts = Counter()
    for event in stage.journal.events(stage.session_id):
        body = event.body
        if isinstance(body, events.CallExecuting | events.CallFinished):
            counts[event.call_id, event.kind] += 1
        if isinstance(body, events.FileChanged):
            counts[event.call_id, event.kind, body.path] += 1
    assert [key for key, count in counts.items() if count > 1] == []


def _nothing_unapproved(stage):
    """Check that what was asked about ran only after its approval, and as it was approved."""
    asked, approved = set(), {}
    for event in stage.journal.events(stage.session_id):
        match event.body:
            case events.ActionOpened():
                asked.add(event.call_id)
            case events.CallProposed(tool="read_file", verdict=verdict) if verdict.outcome == "allowed":
                asked.discard(event.call_id)  # a read, and only a read, is released by a later grant
            case events.ActionApproved():
                approved[event.call_id] = event.body.result_digest
            case events.CallExecuting() if event.call_id in asked:
                assert approved.get(event.call_id) == event.body.digest, "it ran and was not approved"


def check_disk(stage):
    """Check that every file is what the recorded changes make of it, and that nothing lies beside them."""
    keyed = stage.journal.blobs.keyed
    expected = {name: {keyed(data.encode())} for name, data in stage.scenario.files.items()}
    for body in stage.bodies(events.FileChanged):
        expected[body.path] = {body.after}
    for name, data in stage.scenario.outside.items():
        expected.setdefault(name, {None}).add(keyed(data.encode()))
    found = {}
    for path in stage.workspace.rglob("*"):
        assert not TEMPORARY_NAME.fullmatch(path.name), f"{path.name} was left behind"
        if path.is_file() and path.name != RAN:
            found[str(path.relative_to(stage.workspace))] = keyed(path.read_bytes())
    for name in found.keys() | expected.keys():
        assert found.get(name) in expected.get(name, {None}), f"{name} is neither before nor after"


def check_commands(stage):
    """Check by the lines that commands leave that none ran twice, and that none of them is left."""
    path = stage.workspace / RAN
    lines = Counter(path.read_text().splitlines() if path.exists() else ())
    rows = stage.calls()
    begun = {
        event.call_id
        for event in stage.journal.events(stage.session_id)
        if isinstance(event.body, events.CallExecuting)
    }
    for name in stage.scenario.commands:
        most = 1 if name in rows and rows[name].id in begun else 0
        least = 1 if name in rows and rows[name].state == "succeeded" else 0
        assert least <= lines[name] <= most, f"{name} ran {lines[name]} times, {rows.get(name)}"
    if stage.scenario.commands:
        check_no_process(rows[name].id for name in stage.scenario.commands if name in rows)


def check_no_process(marks):
    """Check that nothing lives that carries the mark of a call; a helper may take a moment to notice."""
    marks = tuple(marks)
    until(
        lambda: not living(marks), lambda: f"processes {living(marks)} carry the mark of a call that is over"
    )


def living(marks):
    """Return the processes of this user that carry a mark."""
    rows = [row for row in read_process_table().values() if row.is_alive and row.pid != os.getpid()]
    return [row.pid for row in rows if any(carries_mark(row.pid, mark) for mark in marks)]


def temporaries(folder: Path):
    """Return the temporary files that are left below a folder."""
    return [path for path in folder.rglob("*") if TEMPORARY_NAME.fullmatch(path.name)]


assert set(ENDINGS) <= set(CALL_MOVES)
