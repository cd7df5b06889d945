"""Whole folders: make and remove them, list and put their files."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workbench.effects.file_primitives import (
    FileRefused,
    translated_os_errors,
)
from workbench.effects.files import Root
from workbench.effects.owned_folders import let_owner_in, opened, remove_at, writable

MOST_FILES: Final = 100_000
SKIPPED_FOLDERS: Final = frozenset(
    {".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache"}
)
"""Folders that a copy leaves out: large, made again by their tools, or not to be had twice."""


def make_folder(path: str) -> None:
    """Make a folder that only this user may enter, and those on the way to it. Raises FileRefused."""
    with translated_os_errors(path):
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)


def temporary_folder(prefix: str) -> str:
    """Make a new folder, among the temporary ones, that only this user may enter."""
    return tempfile.mkdtemp(prefix=prefix)


def _folders_below(root: str, skip: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    for folder, below, _ in os.walk(root):
        below[:] = sorted(
            name
            for name in below
            if name not in SKIPPED_FOLDERS
            and f"{folder}/{name}" not in skip
            and not os.path.islink(f"{folder}/{name}")  # noqa: PTH114
        )
        yield folder, os.path.relpath(folder, root)


def _regular_files(folder: str) -> list[str]:
    with os.scandir(folder) as items:
        return sorted(item.name for item in items if item.is_file(follow_symlinks=False))


def files_below(root: str, most: int = MOST_FILES) -> list[str]:
    """Return the sorted paths of the regular files below a folder. Raises FileRefused: over `most`."""
    paths: list[str] = []
    with translated_os_errors(root):
        for folder, relative in _folders_below(root):
            paths += [os.path.normpath(f"{relative}/{name}") for name in _regular_files(folder)]
            if len(paths) > most:
                raise FileRefused(root, f"it holds more than {most:,} files", "name a smaller folder")
    return sorted(paths)


def put_file(root: str, relative: str, data: bytes) -> None:
    """Write a file below a folder. Raises FileRefused: it leads out or behind a link."""
    with Root(root) as folder:
        folder.commit(folder.stage(relative, data, 0o644), lambda _: True)


def remove_tree(path: str) -> None:
    """Remove a folder with all in it, links themselves; nothing there is no error. Raises FileRefused."""
    if not os.path.lexists(path):
        return
    folder, name = os.path.split(path.rstrip("/"))
    with translated_os_errors(path), opened(folder or ".", os.O_RDONLY | os.O_DIRECTORY) as above:
        remove_at(above, name)


def remove_below(root: Root, path: str) -> None:
    """Remove whatever is at a path below a folder, links themselves. Raises FileRefused."""
    folder, _, name = path.rpartition("/")
    with translated_os_errors(path), root.folder(folder or ".") as (directory, _):
        remove_at(directory, name)


def open_to_owner(root: str, path: str) -> None:
    """Let this user list, enter and change a folder below another one, or that one. Raises FileRefused."""
    folder, name = os.path.split(os.path.relpath(path, root))
    with translated_os_errors(path):
        let_owner_in(None, root)
    if name != ".":
        with translated_os_errors(path), Root(root) as opened_root, opened_root.folder(folder) as (above, _):
            let_owner_in(above, name)


def make_empty_file(root: Root, path: str) -> None:
    """Make a file at a path below a folder unless something is there. Raises FileRefused."""
    folder, _, name = path.rpartition("/")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with (
        translated_os_errors(path),
        root.folder(folder or ".") as (directory, _),
        contextlib.suppress(FileExistsError),
    ):
        os.close(os.open(name, flags, 0o600, dir_fd=directory))


def make_link(root: Root, path: str, target: str) -> None:
    """Make a symbolic link at a path below a folder where nothing is. Raises FileRefused."""
    folder, _, name = path.rpartition("/")
    with (
        translated_os_errors(path),
        root.folder(folder or ".") as (directory, _),
        writable(directory),
    ):
        os.symlink(target, name, dir_fd=directory)
