"""Records of boxes whose process was killed: kept for the next box, named, and removed with their workspace."""

import os

import pytest

from workbench.host.box_folders import running_boxes_folder
from workbench.host.lost_boxes import lost_boxes, remove_lost_boxes
from workbench.host.running_boxes import BoxRecord, RunningBox


@pytest.fixture
def record(tmp_path):
    """Return what records a box in a workspace, of a process that is gone or of this one, some days ago."""
    kept = []

    def make(workspace, days, *, runs=False):
        box = RunningBox(
            running_boxes_folder(str(tmp_path)), BoxRecord(workspace=os.fsencode(workspace), before={})
        )
        path = box._path
        if not runs:
            box.abandon(None)
        old = path.stat().st_mtime - days * 86_400
        os.utime(path, (old, old))
        kept.append(box)
        return path

    return make


def test_lost_boxes_are_named_and_those_that_run_are_not(tmp_path, record):
    record("/b", 3)
    record("/a", 0)
    record("/c", 9, runs=True)
    assert [(box.workspace, round(box.days)) for box in lost_boxes(str(tmp_path))] == [("/a", 0), ("/b", 3)]


def test_old_records_go_with_their_workspace(tmp_path, record):
    here = tmp_path / "here"
    here.mkdir()
    old, young, lives, stays = (
        record("/gone", 31),
        record("/gone", 29),
        record("/gone", 31, runs=True),
        record(here, 99),
    )
    unread = record("/gone", 31)
    unread.write_text("{")
    os.utime(unread, (1, 1))
    lock = old.with_name("alone.lock")
    lock.touch()
    os.utime(lock, (1, 1))
    remove_lost_boxes(str(tmp_path), 30)
    assert [path.exists() for path in (old, young, lives, stays, unread)] == [False, True, True, True, False]
    left = {path.name for path in old.parent.glob("*.lock")}
    assert left == {path.with_suffix(".lock").name for path in (young, lives, stays)}
