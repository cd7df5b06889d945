"""Drawn patches against git and GNU patch: the same bytes, or a refusal and nothing written."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.changes.diff import FileChange
from workbench.changes.unified_diff import PatchUnusable, patched_changes
from workbench.effects.files import FileImage
from workbench.formats.unified_diff_reader import PatchBroken, read_unified_diff

Tree = dict[str, bytes]

LINES = st.sampled_from([
    b"a", b"b", b"c", b"d", b"e", b"", b" ", b"\tx", b"-- ", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"\\",
    b"diff --git a/x b/x", b"\\ No newline at end of file", b"caf\xe9", "ü".encode(), b"\x0c", b"e\r", b"\x85",
])  # fmt: skip
PATHS = st.sampled_from(["a.txt", "dir/b.py", "c d.txt", "ü.txt", 'q"uote', "dir/back\\slash", "e"])


@st.composite
def contents(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(LINES, max_size=18))
    return b"\n".join(lines) + (b"\n" if lines and draw(st.booleans()) else b"")


def edited(draw: st.DrawFn, data: bytes) -> bytes:
    """Return bytes with a few lines added, replaced or left out."""
    lines = data.splitlines(keepends=True)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 2))] = [
            draw(LINES) + b"\n" for _ in range(draw(st.integers(0, 2)))
        ]
    return b"".join(lines)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Tree, Tree, Tree]:
    """Return the trees of which a patch is made, and one to which it is applied."""
    old = draw(st.dictionaries(PATHS, contents(), max_size=4))
    new = {path: edited(draw, data) for path, data in old.items() if draw(st.integers(0, 4))}
    new |= draw(st.dictionaries(PATHS, contents(), max_size=1))
    if old and draw(st.booleans()):
        moved = draw(st.sampled_from(sorted(old)))
        new.pop(moved, None)
        new["moved/to here"] = edited(draw, old[moved])
    base = {path: edited(draw, data) if not draw(st.integers(0, 2)) else data for path, data in old.items()}
    return old, new, base


def write(tree: Tree, folder: Path) -> None:
    for path, data in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def read(folder: Path) -> Tree:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(folder).parts
    }


class Oracle:
    """Folders for git, made empty for each case."""

    def __init__(self, folder: Path) -> None:
        self.repository, self.target = folder / "repository", folder / "target"
        self._environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        self.repository.mkdir()
        self.run("git", "init", "-q", at=self.repository)

    def run(self, *words: str, at: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            words, cwd=at, env=self._environment, input=given, capture_output=True, check=False
        )

    def patch_of(self, old: Tree, new: Tree, *options: str) -> bytes:
        self._clear(self.repository)
        write(old, self.repository)
        self.run("git", "add", "-A", at=self.repository)
        self._clear(self.repository)
        write(new, self.repository)
        self.run("git", "add", "-AN", at=self.repository)
        return self.run("git", "diff", "-M", "--text", *options, at=self.repository).stdout

    def gnu_patch_of(self, old: Tree, new: Tree) -> bytes:
        self._clear(self.repository)
        write(old, self.repository / "old")
        write(new, self.repository / "new")
        (self.repository / "old").mkdir(exist_ok=True)
        (self.repository / "new").mkdir(exist_ok=True)
        return self.run("diff", "-ruN", "--text", "old", "new", at=self.repository).stdout

    def applied(self, base: Tree, patch: bytes, *words: str) -> Tree | None:
        """Return what a program makes of a tree; None where it refuses."""
        shutil.rmtree(self.target, ignore_errors=True)
        self.target.mkdir()
        write(base, self.target)
        ended = self.run(*words, at=self.target, given=patch)
        return None if ended.returncode else read(self.target)

    def _clear(self, folder: Path) -> None:
        for entry in folder.iterdir():
            if entry.name == ".git":
                continue
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


def reader(tree: Tree) -> Callable[[str], FileImage | None]:
    images = {path: FileImage(data=data, mode=0o644, size=len(data), links=1) for path, data in tree.items()}
    return images.get


def with_changes(tree: Tree, changes: tuple[FileChange, ...]) -> Tree:
    after = dict(tree)
    for change in changes:
        assert after.pop(change.path, None) == change.before
        if change.after is not None:
            after[change.path] = change.after
    return after


def ours(base: Tree, patch: bytes, strip: int = 1) -> Tree | None:
    try:
        return with_changes(base, patched_changes(read_unified_diff(patch), strip, reader(base)))
    except (PatchUnusable, PatchBroken):
        return None


@settings(max_examples=60, deadline=None)
@given(case=cases(), context=st.sampled_from([0, 1, 3, 3, 3]))
def test_what_is_applied_is_what_git_applies(
    oracle: Oracle, case: tuple[Tree, Tree, Tree], context: int
) -> None:
    old, new, base = case
    if patch := oracle.patch_of(old, new, f"-U{context}"):
        assert ours(base, patch) == oracle.applied(base, patch, "git", "apply")


GNU_PATCH = ("patch", "-p1", "-s", "-f", "-F0", "--no-backup-if-mismatch")


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_what_is_applied_of_gnu_diff_is_what_gnu_patch_applies(
    oracle: Oracle, case: tuple[Tree, Tree, Tree]
) -> None:
    old, new, base = case
    patch = oracle.gnu_patch_of(old, new)
    got = ours(base, patch) if patch else None
    assert got is None or got == oracle.applied(base, patch, *GNU_PATCH)
    if old == base and patch:
        assert got is not None
