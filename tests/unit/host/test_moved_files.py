"""A file is moved or deleted in a session: asked with its diff, bound to bytes, undone exactly."""

import pytest

from tests.support.stage import USER, Stage, call, exchange, recording, text
from workbench.changes import apply
from workbench.changes.decision import action_hunks, sealed_changes
from workbench.cli.approval_display import file_change_lines
from workbench.domain import events
from workbench.domain.values import SelectedHunk
from workbench.formats.kaiak_export import KaiakMessages
from workbench.host import session_requests, undo
from workbench.views.approvals import queue_rows
from workbench.views.file_changes import file_details

MOVE = call("c1", "move_file", path="a.txt", new_path="d/b.txt")
DELETE = call("c1", "delete_file", path="a.txt")
OLD = b"one\r\n\xff two"


def tree(folder):
    """Return every file below a folder: its bytes and mode."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def staged_with(tmp_path):
    stages = []

    def stage_of(*calls, data=OLD, mode=0o640, **more):
        script = recording(exchange(*calls), *(exchange(text("ok")) for _ in range(3)))
        stage = Stage(tmp_path / f"stage{len(stages)}", script, files={"a.txt": data}, **more)
        stages.append(stage)
        (stage.workspace / "a.txt").chmod(mode)
        stage.begin().drive()
        return stage

    yield stage_of
    for stage in stages:
        stage.close()


def undone(stage):
    plan = undo.plan_undo(stage.journal, stage.session())
    undo.request_undo_of_files(stage.journal, plan, plan.ready, USER)
    stage.drive()
    return plan


@pytest.mark.spec(147, 158, 208)
def test_a_move_asks_with_its_rename_and_is_undone_to_the_byte(staged_with):
    stage = staged_with(MOVE)
    before = tree(stage.workspace)
    (action,) = stage.waiting()
    opened = stage.opened(action)
    assert (action.verb, action.target, action.warnings) == ("move", "a.txt -> d/b.txt", ("latin-1",))
    assert action_hunks(opened, stage.journal.blobs) == ()
    (detail,) = file_details(opened, ())
    assert (detail.change, detail.path, detail.old_path) == ("rename", "d/b.txt", "a.txt")
    assert detail.note == "moved from a.txt; its bytes stay the same"
    (row,) = queue_rows([action], {}, opened.created_at)
    assert (row.target, row.more_files) == ("a.txt -> d/b.txt", 0)
    lines = file_change_lines(sealed_changes(opened.files, stage.journal.blobs))
    assert lines == ["d/b.txt: moved from a.txt, 10 B"]
    assert tree(stage.workspace) == before
    assert stage.approve(action).ok
    stage.drive()
    assert tree(stage.workspace) == {"d/b.txt": (OLD, 0o640)}
    assert stage.calls()["c1"].summary == "moved a.txt to d/b.txt (10 bytes)"
    undone(stage)
    assert tree(stage.workspace) == before


@pytest.mark.spec(147, 158)
@pytest.mark.parametrize("data", [OLD, b"", b"\0\1binary"])
def test_a_deletion_is_undone_with_its_bytes_and_mode(staged_with, data):
    stage = staged_with(DELETE, data=data, mode=0o755)
    before = tree(stage.workspace)
    (action,) = stage.waiting()
    assert (action.verb, action.target) == ("del", "a.txt")
    assert "deletes" in action.warnings
    assert ("binary" in action.warnings) == (b"\0" in data)
    stage.approve(action)
    stage.drive()
    assert tree(stage.workspace) == {}
    session_requests.request_undo(stage.journal, action.id, USER)
    stage.drive()
    assert tree(stage.workspace) == before


def test_part_of_a_deletion_can_be_taken(staged_with):
    stage = staged_with(DELETE, data=b"one\ntwo\n")
    (action,) = stage.waiting()
    stage.approve(action, hunks=[SelectedHunk(hunk=1, lines=(1,))])
    stage.drive()
    assert tree(stage.workspace) == {"a.txt": (b"two\n", 0o640)}


def test_a_move_is_taken_whole(staged_with):
    stage = staged_with(MOVE)
    (action,) = stage.waiting()
    for part in ({"hunks": [1]}, {"edited": {"d/b.txt": b"x"}}, {"edited": {"a.txt": b"x"}}):
        with pytest.raises(ValueError, match=r"no hunk|taken as a whole"):
            stage.approve(action, **part)
    assert tree(stage.workspace).keys() == {"a.txt"}


@pytest.mark.spec(158)
@pytest.mark.parametrize("made", [MOVE, DELETE])
def test_a_file_that_changed_meanwhile_is_asked_about_again(staged_with, made):
    stage = staged_with(made)
    (action,) = stage.waiting()
    stage.approve(action)
    (stage.workspace / "a.txt").write_bytes(b"mine\n")
    stage.drive()
    assert tree(stage.workspace) == {"a.txt": (b"mine\n", 0o640)}
    (again,) = stage.waiting()
    assert again.supersedes == action.id
    stage.approve(again)
    stage.drive()
    left = {"d/b.txt": (b"mine\n", 0o640)} if made is MOVE else {}
    assert tree(stage.workspace) == left


def test_what_appeared_at_the_new_path_is_never_replaced(staged_with):
    stage = staged_with(MOVE)
    (action,) = stage.waiting()
    stage.approve(action)
    (stage.workspace / "d").mkdir()
    (stage.workspace / "d/b.txt").write_bytes(b"mine\n")
    stage.drive()
    found = tree(stage.workspace)
    assert (found["a.txt"][0], found["d/b.txt"][0]) == (OLD, b"mine\n")
    row = stage.calls()["c1"]
    assert (row.state, row.detail) == ("cancelled", "stale")
    assert "d/b.txt already exists" in row.error


def test_what_appears_between_the_last_look_and_the_write_is_never_replaced(staged_with, monkeypatch):
    stage = staged_with(MOVE)
    (action,) = stage.waiting()
    stage.approve(action)

    def appears(point):
        if point == "apply.renaming":
            (stage.workspace / "d/b.txt").write_bytes(b"mine\n")

    monkeypatch.setattr(apply, "fault_point", appears)
    stage.drive()
    found = tree(stage.workspace)
    assert (found["a.txt"][0], found["d/b.txt"][0]) == (OLD, b"mine\n")
    assert stage.calls()["c1"].state == "failed"


def test_a_move_builds_on_an_edit_of_the_same_turn(staged_with):
    edit = call("c0", "replace_string_in_file", path="a.txt", old_string="one", new_string="1")
    stage = staged_with(edit, MOVE, data=b"one\n")
    for action in stage.waiting():
        stage.approve(action)
    stage.drive()
    assert tree(stage.workspace) == {"d/b.txt": (b"1\n", 0o640)}


@pytest.mark.spec(147)
def test_both_are_told_to_others_by_their_names(staged_with):
    stage = staged_with(MOVE)
    stage.approve(stage.waiting()[0])
    stage.drive()
    messages = KaiakMessages(stage.journal.blobs.read)
    told = [
        message["content"]["FileModification"]
        for event in stage.journal.events(stage.session_id)
        for message in messages.of(event)
        if "FileModification" in message["content"]
    ]
    named = [(one["change_type"], one["file_path"], one["original_path"]) for one in told]
    assert named == [("Rename", "d/b.txt", "a.txt")] * 2
    moved = [body.moved_from for body in stage.bodies(events.FileChanged)]
    assert moved == ["a.txt", None]
