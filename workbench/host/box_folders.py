"""Where the data folder keeps what boxes need: a folder a session, and caches a workspace."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from workbench.domain.machines import TERMINAL_SESSION_STATES
from workbench.effects.file_primitives import FileRefused
from workbench.effects.folders import make_folder, remove_tree
from workbench.effects.path_files import open_append
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.policy.paths import MAX_PATH_LENGTH
from workbench.text.safe import one_line

_FOLDER: Final = "sandbox"
_PROOFS: Final = "proofs"
_DAY_SECONDS: Final = 86_400


def session_storage(data: str, session_id: str) -> str:
    """Return the folder of what boxes keep for a session; it is removed with it.

    A run of a pipeline and the hooks of a workspace have such a folder too. What was moved out of a workspace
    for them is kept: no session that is deleted answers for it.
    """
    return f"{data}/{_FOLDER}/sessions/{session_id}"


def temporary_folder(storage: str) -> str:
    """Return the folder that is /tmp in the boxes of a session."""
    return f"{storage}/tmp"


def quarantine_folder(storage: str) -> str:
    """Return the folder of what was moved out of the workspace, in numbered folders."""
    return f"{storage}/quarantine"


def moved_list(storage: str) -> str:
    """Return the file that lists each path of the workspace that was moved out, with its numbered folder."""
    return f"{quarantine_folder(storage)}/moved.txt"


def list_moved(storage: str, rows: Iterable[tuple[str, str]]) -> None:
    """Add paths to that list, each after its number or what became of it; a path is any name."""
    lines = [
        f"{word}\t{one_line(os.fsencode(path).decode('utf-8', 'replace'), MAX_PATH_LENGTH)}\n"
        for word, path in rows
    ]
    if lines:
        with suppress(FileRefused, OSError):
            make_folder(quarantine_folder(storage))
            with open_append(Path(moved_list(storage))) as file:
                file.write("".join(lines).encode())


def workspace_caches(data: str, workspace: str) -> str:
    """Return the folder of the caches that boxes of a workspace have."""
    return f"{data}/{_FOLDER}/caches/{_digest(workspace)}"


def hooks_owner(workspace: str) -> str:
    """Return the name by which the boxes of a workspace's hooks keep what a session keeps by its id."""
    return f"hooks-{_digest(workspace)}"


def _digest(path: str) -> str:
    return sha256(os.fsencode(path)).hexdigest()[:16]


def running_boxes_folder(data: str) -> str:
    """Return the folder of the records of boxes that have not ended."""
    return f"{data}/{_FOLDER}/running"


def proof_folder(home: Path) -> str | None:
    """Return the folder in which a sandbox is proven; None before the data folder exists."""
    return os.path.realpath(home / _FOLDER / _PROOFS) if home.is_dir() else None


def remove_old_box_folders(home: Home, journal: Journal, days: int) -> None:
    """Remove what is kept of deleted sessions, /tmp of ended ones, and caches that were not used for days.

    Of runs and hooks everything goes after a day but what was moved out of a workspace. Also what a killed
    process left of a proof.
    """
    folder = home.path / _FOLDER
    for path in _folders_in(folder / "sessions"):
        session = journal.session(path.name)
        if session is None and _days_since_use(path) > 1:
            _remove_but_moved(path, is_deleted=_is_deleted(journal, path.name))
        elif session is not None and session.status in TERMINAL_SESSION_STATES:
            _remove(Path(temporary_folder(str(path))))
    for path in _folders_in(folder / "caches"):
        if _days_since_use(path) > days:
            _remove(path)
    for path in _folders_in(folder / _PROOFS):
        if _days_since_use(path) > 1:
            _remove(path)


def folders_of_moved(data: str) -> list[str]:
    """Return the folders in which the data folder keeps what was moved out of workspaces."""
    owners = _folders_in(Path(data) / _FOLDER / "sessions")
    return [folder for folder in sorted(quarantine_folder(str(owner)) for owner in owners) if _holds(folder)]


def _holds(quarantine: str) -> bool:
    return any(os.listdir(folder) for folder in _folders_in(Path(quarantine)))  # noqa: PTH208 -- text


def _is_deleted(journal: Journal, session_id: str) -> bool:
    return journal.change(lambda live: live.is_deleted(session_id))


def _remove_but_moved(storage: Path, *, is_deleted: bool) -> None:
    quarantine = Path(quarantine_folder(str(storage)))
    if is_deleted or not _holds(str(quarantine)):
        _remove(storage)
        return
    for path in _folders_in(storage):
        if path != quarantine:
            _remove(path)


def _folders_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def _days_since_use(path: Path) -> float:
    return (time.time() - path.stat().st_mtime) / _DAY_SECONDS


def _remove(path: Path) -> None:
    with suppress(FileRefused):
        remove_tree(str(path))
