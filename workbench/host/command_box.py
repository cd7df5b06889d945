"""Describe the box of a session's command: what it sees and can write, and what it may not leave behind.

Git's files and all that other programs run or obey are closed. What a command makes under such a name cannot
be prevented without a trace in the workspace, so it is moved out when the command has ended.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.domain.values import Refused, SandboxLevel
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.folder_index import FolderIndex, TooManyNames
from workbench.effects.folders import make_link, move_aside
from workbench.effects.home_view import home_view
from workbench.effects.sandbox import SYSTEM_FOLDERS, BoxDescription, make_places
from workbench.effects.unix_sockets import bound_socket_paths
from workbench.host.box_folders import quarantine_folder, session_storage, temporary_folder, workspace_caches
from workbench.host.closed_names import (
    HIDDEN,
    NO_DENIALS,
    REPOSITORY,
    REPOSITORY_NAMES,
    PathDenials,
    other_names,
    shown_index,
    workspace_index,
)
from workbench.host.driver_context import STEP_WORKSPACES_FOLDER, DriverContext
from workbench.policy.autorun_files import autorun_reason
from workbench.policy.git_worktrees import worktree_origin
from workbench.policy.paths import git_config_folders, is_below
from workbench.text.human import counted

MOST_CLOSED: Final = 60
"""Mounts for closed paths; each makes the start of a box slower than the one before."""


class BoxUnavailable(Refused):
    """A command cannot be boxed in this workspace."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__("The command does not run in the sandbox.", why, remedy)


class BoxPlaces(Struct, frozen=True, kw_only=True):
    """Where a command runs, and what its box is made from; real paths."""

    data: str
    """The data folder, which is never shown."""
    storage: str
    """A folder for what is kept of the session: its /tmp, and what was moved out of the workspace."""
    caches: str
    workspace: str
    folder: str
    home: str
    search_path: str
    visible: tuple[str, ...] = ()
    """Further paths that the user lets commands read, as in `sandbox.visible`."""
    closed: tuple[str, ...] = ()
    """Further paths that stay as they are, such as programs of hooks."""


class CommandBox(Struct, frozen=True, kw_only=True):
    """A box, and what was there before its command."""

    box: BoxDescription
    places: BoxPlaces
    index: FolderIndex
    """Of the workspace, by the settings of git as they were: what a command sets closes nothing more."""
    before: Mapping[str, str]
    """Closed paths, and where those that are links lead."""
    notes: tuple[str, ...]
    """What one might not expect, for people: withheld settings, folders that are closed as a whole."""


def command_box(
    context: DriverContext,
    session_id: str,
    level: SandboxLevel,
    folder: str,
    *,
    visible: Iterable[str] = (),
    closed: Iterable[str] = (),
    denials: PathDenials = NO_DENIALS,
) -> CommandBox:
    """Describe the box of a session's next command and make its folders; blocks, so call it in a thread.

    `visible` is `sandbox.visible`. Raises BoxUnavailable, and FileRefused for the data folder.
    """
    data, workspace = str(context.home.path), context.workspace
    places = BoxPlaces(
        data=data, storage=session_storage(data, session_id), caches=workspace_caches(data, workspace),
        workspace=workspace, folder=os.path.realpath(folder), home=os.path.realpath(Path.home()),
        search_path=context.environment.get("PATH", ""), visible=tuple(visible), closed=tuple(closed),
    )  # fmt: skip
    return plan_box(places, level, denials)


def plan_box(places: BoxPlaces, level: SandboxLevel, denials: PathDenials = NO_DENIALS) -> CommandBox:
    """Describe a box and make its folders. Raises BoxUnavailable, and FileRefused for the data folder."""
    _require_boxable(places)
    view = home_view(places.home, places.search_path, places.workspace)
    shown = (*view.visible, *_user_paths(places), *_repository_paths(places))
    try:
        index = workspace_index(places.workspace, places.home, denials)
        found = index.found()
        hidden = {places.data, *bound_socket_paths(), *_hidden_in(shown, places.workspace, denials)}
    except TooManyNames as error:
        raise BoxUnavailable(f"{error}.", "Open a smaller folder as the workspace.") from None
    before = {path: _link_target(path) for path, kind in found.items() if kind != HIDDEN}
    before |= {path: _link_target(path) for path in places.closed if is_below(path, places.workspace)}
    before |= dict.fromkeys(other_names(before, places.workspace), "")
    closed, whole = _within_limit(set(_mountable(before, places.workspace)), places.workspace)
    box = BoxDescription(
        level=level, workspace=places.workspace, folder=places.folder, visible=shown, shown_as=view.shown_as,
        closed=tuple(sorted(closed)),
        hidden=tuple(sorted(hidden.union(path for path, kind in found.items() if kind == HIDDEN))),
        home=places.home, temporary=temporary_folder(places.storage), caches=places.caches,
    )  # fmt: skip
    make_places(box)
    withheld = (f"{path} is not shown: something in it looks like a secret" for path in view.withheld)
    return CommandBox(box=box, places=places, index=index, before=before, notes=(*withheld, *whole))


def quarantine_new_closed(planned: CommandBox) -> tuple[str, ...]:
    """Move out of the workspace what a command left under a closed name; return the paths where it was.

    Links that were replaced are put back. Call it when the command has ended; it blocks, so call it in a
    thread. Raises FileRefused where something cannot be moved, after all else was.
    """
    places, box = planned.places, planned.box
    if box.level != "workspace":
        return ()
    closed = {path: kind for path, kind in planned.index.found().items() if kind != HIDDEN}
    new = [
        f"{path}/HEAD" if kind == REPOSITORY else path
        for path, kind in closed.items()
        if path not in planned.before
    ]
    replaced = [path for path, target in planned.before.items() if target and _link_target(path) != target]
    failures: list[FileRefused] = []
    with Root(places.workspace) as root:
        for number, path in enumerate((*new, *replaced), _first_free_number(places.storage)):
            relative = os.path.relpath(path, places.workspace)
            try:
                if os.path.lexists(path):
                    move_aside(root, relative, f"{quarantine_folder(places.storage)}/{number}/{relative}")
                if path in replaced:
                    make_link(root, relative, planned.before[path])
            except FileRefused as error:
                failures.append(error)
    if failures:
        raise failures[0]
    return (*new, *replaced)


def _first_free_number(storage: str) -> int:
    folder = Path(quarantine_folder(storage))
    numbers = [int(path.name) for path in folder.iterdir() if path.name.isdigit()] if folder.is_dir() else []
    return 1 + max(numbers, default=0)


# --- what cannot be boxed -------------------------------------------------------------------------


def _require_boxable(places: BoxPlaces) -> None:
    workspace = places.workspace
    remedy = "Open a folder below it as the workspace."
    if is_below(places.home, workspace):
        raise BoxUnavailable("The workspace is your home folder or holds it.", remedy)
    own = f"{places.data}/{STEP_WORKSPACES_FOLDER}"
    if is_below(workspace, places.data) and (workspace == own or not is_below(workspace, own)):
        raise BoxUnavailable("The workspace is in workbench's data folder.", "Open another folder.")
    if any(is_below(folder, workspace) for folder in (*SYSTEM_FOLDERS, "/proc", "/dev", "/run")):
        raise BoxUnavailable("The workspace holds folders of the system.", remedy)
    if autorun_reason(f"{workspace}/x", workspace):
        raise BoxUnavailable(
            "Git takes hooks from the workspace itself.", "Name another folder as core.hooksPath."
        )


# --- what is shown --------------------------------------------------------------------------------


def _user_paths(places: BoxPlaces) -> Iterator[str]:
    for path in places.visible:
        real = os.path.realpath(f"{places.home}{path[1:]}" if path.startswith("~/") else path)
        is_device = any(is_below(real, folder) for folder in ("/proc", "/dev"))
        if os.path.exists(real) and real != "/" and not is_device:  # noqa: PTH110 -- text
            yield real


def _repository_paths(places: BoxPlaces) -> Iterator[str]:
    """Yield what git needs to read: the repository that the workspace is in, and that of a git worktree."""
    top = _folder_with_git(places.workspace)
    if top and worktree_origin(top) is not None:
        yield from map(os.path.realpath, git_config_folders(top)[1:])
    while top:
        if top != places.workspace and not is_below(places.home, top):
            yield top
        top = _folder_with_git(os.path.dirname(top)) if top != "/" else ""  # noqa: PTH120 -- text


def _folder_with_git(folder: str) -> str:
    """Return the nearest folder above, or this one, that has a `.git`; empty where none has."""
    while not os.path.lexists(f"{folder}/.git"):
        if folder in ("", "/"):
            return ""
        folder = os.path.dirname(folder)  # noqa: PTH120 -- text
    return folder


def _hidden_in(shown: Iterable[str], workspace: str, denials: PathDenials) -> Iterator[str]:
    yield from shown_index("/etc", workspace, denials, hides_private=True).found()
    if denials.reads is not None:
        for folder in shown:
            yield from (folder,) if denials.reads(folder) else shown_index(folder, workspace, denials).found()


# --- what is closed -------------------------------------------------------------------------------


def _link_target(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 -- text
    except OSError:
        return ""


def _mountable(before: Mapping[str, str], workspace: str) -> Iterator[str]:
    """Yield what is mounted for the closed paths: a link cannot be, but what it leads to in the workspace."""
    for path, target in before.items():
        real = os.path.realpath(path) if target else path
        if path == workspace:
            yield from (own for name in sorted(REPOSITORY_NAMES) if os.path.lexists(own := f"{path}/{name}"))
        elif real != workspace and is_below(real, workspace) and os.path.exists(real):  # noqa: PTH110 -- text
            yield real


def _within_limit(closed: set[str], workspace: str) -> tuple[set[str], list[str]]:
    """Close whole folders where there are too many closed paths; return also what to say about it."""
    notes: list[str] = []
    while True:
        ways = {path: list(_folders_between(path, workspace)) for path in closed}
        mounts = len(closed.union(*ways.values())) if ways else 0
        if mounts <= MOST_CLOSED:
            return closed, notes
        held = Counter(folder for folders in ways.values() for folder in folders)
        if not held:
            why = f"{counted(len(closed), 'file')} at its top may not be changed, which is too many."
            raise BoxUnavailable(why, "Open a folder below it as the workspace.")
        whole = max(held, key=lambda folder: (held[folder], folder.count("/")))
        notes.append(f"{whole} is read-only as a whole: {held[whole]} paths in it may not be changed")
        closed = {path for path in closed if not is_below(path, whole)} | {whole}


def _folders_between(path: str, workspace: str) -> Iterator[str]:
    folder = os.path.dirname(path)  # noqa: PTH120 -- text
    while folder != workspace:
        yield folder
        folder = os.path.dirname(folder)  # noqa: PTH120 -- text
