"""Folders of PATH, and of Python's own search path, that commands of agents can change.

What runs as the user is not looked for in them.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import workbench

_PACKAGE: Final = str(Path(workbench.__file__).parents[1])
"""The folder that this package is in."""
_MOST_LINKS: Final = 40
"""As many as Linux follows."""
_NOTED: Final[set[str]] = set()
"""Real paths of the workspaces that this process works in."""


def note_workspace(folder: str) -> None:
    """Remember that agents of this process work in a folder, unless it holds the whole home folder.

    From then on it imports no module from there, as PYTHONPATH may have it.
    """
    real = os.path.realpath(folder)
    if not _is_below(os.path.realpath(Path.home()), real):
        _NOTED.add(real)
        sys.path[:] = import_path_outside(sys.path, real)


def import_path_outside(path: Iterable[str], workspace: str) -> list[str]:
    """Return an import path without folders of a workspace, but with our own environment, which is closed.

    Where this package is in such a folder, that comes last: no file next to it is imported in the place of
    another module.
    """
    prefixes = (sys.prefix, sys.base_prefix)
    closed = [f"{prefix}/{name}" for prefix in prefixes for name in ("lib", "lib64")]
    folders = [os.path.abspath(folder) for folder in path]  # noqa: PTH100 -- text; empty is this folder
    kept = [
        folder
        for folder in folders
        if any(_is_below(folder, own) for own in closed) or not leads_through(folder, workspace)
    ]
    return [*kept, _PACKAGE] if _PACKAGE in folders and _PACKAGE not in kept else kept


def own_search_path(path: str) -> str:
    """Return a PATH as this process looks for programs of its own, without what passes a noted workspace."""
    return search_path_outside(path, sorted(_NOTED))


def own_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables for a program of this process, with such a PATH."""
    return {**variables, "PATH": own_search_path(variables.get("PATH", os.defpath))}


def leads_through(path: str, workspace: str) -> bool:
    """Return whether a path, or a link that it follows, passes a workspace: a command could have made it."""
    links = 0
    for here, is_link in _walk(path):
        links += is_link
        if _is_below(here, workspace) or links > _MOST_LINKS:
            return True
    return False


def link_chain(path: str) -> tuple[str, ...]:
    """Return the links that a path leads through, also those of its folders, and where it ends.

    The end may not exist. Of more links than Linux follows, the first ones are returned.
    """
    links: list[str] = []
    end = "/"
    for end, is_link in _walk(path):
        links += [end] if is_link else []
    return (*links, end)


def _walk(path: str) -> Iterator[tuple[str, bool]]:
    """Yield each place on the way of a path, links followed, and whether a link is there."""
    passed, links = "/", 0
    due = os.path.join(os.getcwd(), path).split("/")[::-1]  # noqa: PTH109, PTH118 -- text
    while due and links <= _MOST_LINKS:
        name = due.pop()
        if name in ("", "."):
            continue
        if name == "..":
            passed = os.path.dirname(passed)  # noqa: PTH120 -- text
            yield passed, False
            continue
        here = f"{passed.rstrip('/')}/{name}"
        target = _link_target(here)
        yield here, target is not None
        links += target is not None
        passed = here if target is None else "/" if target.startswith("/") else passed
        due += [] if target is None else target.split("/")[::-1]


def _link_target(path: str) -> str | None:
    try:
        return os.readlink(path)  # noqa: PTH115 -- text
    except OSError:
        return None


def search_path_outside(path: str, workspaces: Iterable[str]) -> str:
    """Return a PATH without its relative folders and those that pass a workspace; these are real paths."""
    kept = [folder for folder in path.split(os.pathsep) if folder.startswith("/")]
    for workspace in workspaces:
        kept = [folder for folder in kept if not leads_through(folder, workspace)]
    return os.pathsep.join(kept)


def program_in_workspace(name: str, path: str, folder: str, workspace: str) -> str:
    """Return the path in a workspace of the file that a command's first word runs; empty if it is elsewhere.

    Links in the workspace count, and what is in it where a link elsewhere leads to it. A word with a slash
    says itself which file it is, and is not looked for. `folder` is where the command runs, `workspace` a
    real path.
    """
    if not name or "/" in name or "\0" in name:
        return ""
    candidates = (os.path.join(folder, entry, name) for entry in path.split(os.pathsep))  # noqa: PTH118 -- text
    found = next((file for file in candidates if os.path.isfile(file) and os.access(file, os.X_OK)), "")  # noqa: PTH113 -- text
    if not found or not leads_through(found, workspace):
        return ""
    real = os.path.realpath(found)
    return os.path.relpath(real if _is_below(real, workspace) else found, workspace)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
