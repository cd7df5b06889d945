"""Moves and deletions against the disk, in any order with writes of others and with undo."""

import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.changes.apply import NotUndoable, PlannedFile, apply_files, stale_paths, undo_changes
from workbench.changes.decision import decided_changes, file_plans
from workbench.changes.diff import FileChange, make_hunks
from workbench.domain.values import FilePlan
from workbench.effects.files import Root
from workbench.tools.base import ToolRefused
from workbench.tools.file_move import DeleteFile, MoveFile

_NUMBERS = itertools.count()
MOVED = (
    FileChange(path="b", before=None, after=b"x\n", mode=0o644, moved_from="a"),
    FileChange(path="a", before=b"x\n", after=None, mode=0o644),
    FileChange(path="c", before=b"c\n", after=b"C\n", mode=0o644),
)


def keyed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest(data: bytes | None) -> str | None:
    return None if data is None else keyed(data)


class World:
    """A folder, what must be in it, and what can be undone."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.root = folder, Root(folder)
        self.model: dict[str, bytes] = {}
        self.done: list[tuple[tuple[FilePlan, ...], dict[str, bytes | None]]] = []

    def write(self, path: str, data: bytes) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_bytes(data)
        self.model[path] = data

    def move(self, path: str, other: str) -> None:
        may = path in self.model and other not in self.model
        self.run(MoveFile(), {"path": path, "new_path": other}, may=may)

    def delete(self, path: str) -> None:
        self.run(DeleteFile(), {"path": path}, may=path in self.model)

    def run(self, tool: MoveFile | DeleteFile, parameters: dict[str, str], *, may: bool) -> None:
        try:
            changes = tool.propose({**parameters}, self.root.image)
        except ToolRefused:
            assert not may
            return
        assert may
        plans = file_plans(changes, keyed)
        assert stale_paths(self.root, plans, keyed) == ()
        self.apply(changes)
        assert set(stale_paths(self.root, plans, keyed)) == {change.path for change in changes}
        self.done.append((plans, {change.path: change.before for change in changes}))

    def undo(self) -> None:
        if not self.done:
            return
        plans, images = self.done.pop()
        may = all(digest(self.model.get(plan.path)) in (plan.base, plan.after) for plan in plans)
        try:
            back = undo_changes(self.root, plans, keyed, images.get)
        except NotUndoable:
            assert not may
            return
        assert may
        self.apply(back)
        assert {path: self.model.get(path) for path in images} == images

    def apply(self, changes: Sequence[FileChange]) -> None:
        steps = [PlannedFile(path=c.path, base=c.before, after=c.after, mode=c.mode) for c in changes]
        apply_files(self.root, steps)
        for change in changes:
            self.model.pop(change.path, None)
            if change.after is not None:
                self.model[change.path] = change.after

    def check(self) -> None:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        assert {str(path.relative_to(self.folder)): path.read_bytes() for path in files} == self.model


NAMES = st.sampled_from(["a", "b", "c/d"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.binary(max_size=4)),
    st.tuples(st.just("move"), NAMES, NAMES),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("undo")),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=12))
def test_all_or_nothing_and_never_over_what_others_wrote(
    tmp_path: Path, steps: list[tuple[object, ...]]
) -> None:
    world = World(tmp_path / str(next(_NUMBERS)))
    with world.root:
        for name, *values in steps:
            getattr(world, str(name))(*values)
            world.check()


def test_a_move_has_no_hunks_and_is_not_edited() -> None:
    hunks = make_hunks(MOVED)
    assert [hunk.path for hunk in hunks] == ["c"]
    assert decided_changes(MOVED, hunks, None) == MOVED
    assert decided_changes(MOVED, hunks, ()) == ()
    for path in "abc":
        with pytest.raises(ValueError, match="taken as a whole"):
            decided_changes(MOVED, hunks, None, {path: b"y"})


def test_a_plan_keeps_where_a_file_came_from() -> None:
    assert [plan.moved_from for plan in file_plans(MOVED, keyed)] == ["a", None, None]
