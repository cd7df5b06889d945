"""A session file has one owner: an import leaves out what is followed, and an agent takes over its older import."""

import json

import pytest

from tests.support.followed_files import FollowedFile
from tests.support.stage import USER, recording
from tests.unit.formats.test_claude_code import answers, asks, line
from workbench.domain.events import SessionChanged
from workbench.effects.fault_points import arm_fault
from workbench.formats.import_sources import ImportSource, find_sources
from workbench.host import supervised_session
from workbench.host.session_import import ImportRequest, SilentProgress, import_sources
from workbench.host.supervised_session import SessionNotTaken
from workbench.journal.errors import JournalError
from workbench.journal.imports import SessionImport, import_turn
from workbench.journal.index_tables import index_table_differences

ROWS = [
    line(0, "user", "rename it"),
    asks(1, "t1", "Bash", command="ls"),
    answers(2, "t1", "a.txt"),
    {**line(3, "assistant", [{"type": "text", "text": "below"}]), "isSidechain": True, "agentId": "a1"},
    line(
        4,
        "assistant",
        [{"type": "text", "text": "Done."}],
        message={"id": "m4", "usage": {"output_tokens": 3}},
    ),
]
for _row in ROWS:
    _row["requestId"] = f"r{_row['uuid']}"
DATA = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


@pytest.fixture
def stage(staged):
    stage = staged(recording())
    stage.driver()
    yield stage
    stage.lock.close()


def imported(stage, path, **wish):
    return import_sources(stage.journal, find_sources([str(path)]), ImportRequest(**wish), SilentProgress())


def older_import(stage):
    """Import the file of `s1`, and give it a title and a tag here."""
    path = stage.root / "s1.jsonl"
    path.write_bytes(DATA)
    result = imported(stage, path)
    key = next(session.session_id for session in result.reports[0].sessions if session.key == "s1")
    changed = SessionChanged(title="mine", tags=("kept",))
    stage.journal.append([stage.journal.event(changed, key, USER)])
    return key


def counts(stage, session_id):
    session = stage.journal.session(session_id)
    return session.usage, len(stage.journal.calls(session_id))


def test_an_import_leaves_a_followed_session_out_and_says_so(stage, monkeypatch):
    file = FollowedFile(stage, "s1", "claude-code").grow(DATA)
    before = counts(stage, file.session_id)
    result = imported(stage, file.path)
    assert (result.followed, result.left_out) == (1, 1)
    assert [session.key for session in result.reports[0].sessions] == ["s1/a1"]
    assert (counts(stage, file.session_id), result.reports[0].why_not) == (before, "")
    child = stage.journal.session(result.reports[0].sessions[0].session_id)
    assert child.parent_id == file.session_id
    monkeypatch.setattr(ImportSource, "open", lambda source: pytest.fail(f"{source.name} was opened"))
    sources = [ImportSource(name=str(file.path))]
    again = import_sources(stage.journal, sources, ImportRequest(returns_deleted=False), SilentProgress())
    assert (again.unchanged, again.followed) == (1, 0)


def test_imported_then_followed_then_imported_comes_to_one_reading(stage):
    key = older_import(stage)
    before = counts(stage, key)
    file = FollowedFile(stage, "s1", "claude-code")
    assert file.session_id == key
    assert (stage.journal.session(key).title, stage.journal.session(key).tags) == ("mine", ("kept",))
    file.grow(DATA)
    assert counts(stage, key) == before
    assert stage.journal.session(key).title == "mine"
    result = imported(stage, file.path, is_again=True)
    assert (result.followed, counts(stage, key)) == (1, before)
    assert index_table_differences(stage.journal) == []


class Died(BaseException):
    """The death of a process."""


@pytest.mark.parametrize(
    "point", ["import.before_replaced", "journal.before_commit", "journal.after_commit", "import.replaced"]
)
def test_a_death_while_an_import_is_taken_over_leaves_one_of_both(stage, point):
    key = older_import(stage)
    error = OSError(5, "died") if point.startswith("journal") else Died()
    with arm_fault(point, error), pytest.raises((Died, JournalError)):
        FollowedFile(stage, "s1", "claude-code")
    session = stage.journal.session(key)
    assert session.kind in ("import", "supervised")
    assert (session.title, session.tags) == ("mine", ("kept",))
    file = FollowedFile(stage, "s1", "claude-code").grow(DATA)
    session = stage.journal.session(file.session_id)
    assert (session.kind, session.title, session.tags) == ("supervised", "mine", ("kept",))


def test_an_agent_is_refused_while_its_session_is_imported_for_long(stage, monkeypatch):
    older_import(stage)
    monkeypatch.setattr(supervised_session, "_MOST_WAITS", 1)
    with import_turn(stage.journal, lambda: None), pytest.raises(SessionNotTaken, match="being imported"):
        FollowedFile(stage, "s1", "claude-code")


def test_an_import_that_met_its_agent_midway_stores_nothing_and_removes_nothing(stage):
    path = stage.root / "s1.jsonl"
    path.write_bytes(DATA)
    connected = []
    begin = SessionImport.add

    def connect_then_add(self, event):
        begin(self, event)
        if not connected:
            connected.append(FollowedFile(stage, "s1", "claude-code"))
            path.write_bytes(DATA)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SessionImport, "add", connect_then_add)
        result = imported(stage, path)
    session_id = connected[0].session_id
    assert result.is_cancelled is False
    assert stage.journal.session(session_id).kind == "supervised"
    assert counts(stage, session_id)[1] == 0
    assert {event.recorded_at for event in stage.journal.events(session_id)} == {None}
    again = imported(stage, path, is_again=True)
    assert again.followed == 1
