"""Folders of PATH that commands of agents can change: what runs as the user is not looked for in them."""

import os
from collections.abc import Iterable


def leads_through(path: str, workspace: str) -> bool:
    """Return whether a path passes a workspace, where a command could have made a link."""
    while not _is_below(os.path.realpath(path), workspace):
        if path in ("", "/"):
            return False
        path = os.path.dirname(path)  # noqa: PTH120 -- text
    return True


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
