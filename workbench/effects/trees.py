"""Folders as a whole: copied into a workspace, given back from it, removed; and files put into one.

Owns the limits of such a copy. It follows no link, copies no device, and never writes outside the folder
that it was given. Whether a folder may be copied is decided elsewhere.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from workbench.effects import faults
from workbench.effects.refusal import FileRefused, refusing

MOST_FILES: Final = 100_000
MOST_BYTES: Final = 4 * 1024**3
LEFT_OUT: Final = frozenset({".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache"})
"""Folders that a copy leaves out: large, made again by their tools, or not to be had twice."""


@dataclass(slots=True)
class _Budget:
    files: int = 0
    size: int = 0

    def spend(self, path: str, size: int) -> None:
        self.files += 1
        self.size += size
        if self.files > MOST_FILES or self.size > MOST_BYTES:
            why = f"it holds more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes"
            raise FileRefused(path, why, "mount a smaller folder, or use a worktree")


def make_folder(path: str) -> None:
    """Make a folder that only this user may enter, and those on the way to it.

    Raises:
        FileRefused: It cannot be made.
    """
    with refusing(path):
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)


def copy_tree(source: str, target: str, *, is_readonly: bool, skip: frozenset[str] = frozenset()) -> None:
    """Copy a folder or a file; links, devices and the folders of `LEFT_OUT` are left out.

    Args:
        source: Real path.
        target: What it becomes; made if it is not there.
        is_readonly: Take the write permission off every copy.
        skip: Real paths of folders below the source that are left out.

    Raises:
        FileRefused: It is too large, or cannot be copied.
    """
    budget = _Budget()
    with refusing(source):
        make_folder(str(Path(target).parent))
        if not Path(source).is_dir():
            _copy_file(source, target, budget, is_readonly=is_readonly)
            return
        # Whole or not there: what a dead process left half-way is not taken for a copy.
        partial = f"{target}.partial"
        remove_tree(partial)
        _copy_folder(source, partial, budget, skip, is_readonly=is_readonly)
        faults.point("tree.copied")
        os.rename(partial, target)  # noqa: PTH104 -- beside the calls below


def _copy_folder(
    source: str, target: str, budget: _Budget, skip: frozenset[str], *, is_readonly: bool
) -> None:
    made: list[str] = []
    for folder, relative in _folders(source, skip):
        here = os.path.normpath(f"{target}/{relative}")
        make_folder(here)
        made.append(here)
        for name in _regular(folder):
            _copy_file(f"{folder}/{name}", f"{here}/{name}", budget, is_readonly=is_readonly)
    for here in reversed(made) if is_readonly else ():
        os.chmod(here, 0o500)  # noqa: PTH101 -- beside the calls below


def _copy_file(source: str, target: str, budget: _Budget, *, is_readonly: bool) -> None:
    found = os.lstat(source)
    budget.spend(source, found.st_size)
    shutil.copyfile(source, target, follow_symlinks=False)
    mode = stat.S_IMODE(found.st_mode) & 0o755
    os.chmod(target, mode & 0o555 if is_readonly else mode | 0o600)  # noqa: PTH101 -- beside the calls above


def _folders(root: str, skip: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """Yield every folder below a root with its relative path; links are not followed."""
    for folder, below, _ in os.walk(root):
        below[:] = sorted(
            name
            for name in below
            if name not in LEFT_OUT
            and f"{folder}/{name}" not in skip
            and not os.path.islink(f"{folder}/{name}")  # noqa: PTH114
        )
        yield folder, os.path.relpath(folder, root)


def _regular(folder: str) -> list[str]:
    with os.scandir(folder) as found:
        return sorted(item.name for item in found if item.is_file(follow_symlinks=False))


def files_below(root: str, most: int = MOST_FILES) -> list[str]:
    """Return the relative paths of the regular files below a folder, sorted; links are left out.

    Raises:
        FileRefused: It cannot be listed, or holds too many.
    """
    found: list[str] = []
    with refusing(root):
        for folder, relative in _folders(root):
            found += [os.path.normpath(f"{relative}/{name}") for name in _regular(folder)]
            if len(found) > most:
                raise FileRefused(root, f"it holds more than {most:,} files", "name a smaller folder")
    return sorted(found)


def put_file(root: str, relative: str, data: bytes) -> None:
    """Write a file below a folder; what is on the way to it may be no link.

    Raises:
        FileRefused: It leads out, lies behind a link, or cannot be written.
    """
    from workbench.effects.files import Root

    with Root(root) as place:
        place.commit(place.stage(relative, data, 0o644), lambda _: True)


def remove_tree(path: str) -> None:
    """Remove a folder with all that is in it; nothing there is no error. Links are removed, not followed.

    Raises:
        FileRefused: It cannot be removed.
    """
    if not os.path.lexists(path):
        return
    with refusing(path):
        for folder, below, _ in os.walk(path):
            for name in below:
                if not os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 -- text
                    os.chmod(f"{folder}/{name}", 0o700)  # noqa: PTH101 -- beside the call above
        shutil.rmtree(path)
