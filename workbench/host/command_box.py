"""Describe the box of a session's command: what it sees and can write, and what it may not leave behind.

Git's files and all that other programs run or obey are closed. What a command makes under such a name cannot
be prevented without a trace in the workspace, so it is moved out when the command has ended.

What was there before the command stays. Not so what has appeared since another box began that has not ended:
it may be of that box's command, so it counts as new in both (`running_boxes`). What was there before and has
changed meanwhile may be a human's, so it stays and is named.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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
from workbench.host.box_folders import (
    list_moved,
    quarantine_folder,
    running_boxes_folder,
    session_storage,
    temporary_folder,
    workspace_caches,
)
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
from workbench.host.running_boxes import (
    BoxRecord,
    RunningBox,
    clock_of_files,
    is_abandoned,
    read_records,
    remove_records,
)
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


class ClosedState(Struct, frozen=True, kw_only=True):
    """How a closed path is; what is equal has not been written."""

    target: str = ""
    """Where a link leads."""
    facts: tuple[int, ...] = ()
    """Which file it is and when it changed, of a folder only which; nothing of a link or where nothing is."""


class ClosedChanges(Struct, frozen=True, kw_only=True):
    """What became of closed paths while a command ran."""

    moved: tuple[str, ...] = ()
    """New ones, which were moved out, and links that were put back."""
    left: tuple[str, ...] = ()
    """New ones that could not be moved."""
    changed: tuple[str, ...] = ()
    """Those that were there before and are not as they were; they stay, for a human may have saved them."""
    unseen: str = ""
    """Why not all of the workspace was looked through."""


class CommandBox(Struct, frozen=True, kw_only=True):
    """A box, and what was there before its command."""

    box: BoxDescription
    places: BoxPlaces
    index: FolderIndex
    """Of the workspace, by the settings of git as they were: what a command sets closes nothing more."""
    before: Mapping[str, ClosedState]
    """Closed paths as they were."""
    running: RunningBox | None
    """Its record for other boxes."""
    abandoned: tuple[Path, ...]
    """Records of boxes that never ended; this one deals with what they left."""
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
    records, started = read_records(running_boxes_folder(places.data)), clock_of_files()
    try:
        index = workspace_index(places.workspace, places.home, denials)
        found = index.found()
        hidden = {places.data, *bound_socket_paths(), *_hidden_in(shown, places.workspace, denials)}
    except TooManyNames as error:
        raise BoxUnavailable(f"{error}.", "Open a smaller folder as the workspace.") from None
    there = {path: _state(path) for path in _closed(found, places)}
    there |= {path: _state(path) for path in other_names(there, places.workspace)}
    closed, whole = _within_limit(set(_mountable(there, places.workspace)), places.workspace)
    box = BoxDescription(
        level=level, workspace=places.workspace, folder=places.folder, visible=shown, shown_as=view.shown_as,
        closed=tuple(sorted(closed)),
        hidden=tuple(sorted(hidden.union(path for path, kind in found.items() if kind == HIDDEN))),
        home=places.home, temporary=temporary_folder(places.storage), caches=places.caches,
    )  # fmt: skip
    make_places(box)
    withheld = (f"{path} is not shown: something in it looks like a secret" for path in view.withheld)
    records |= read_records(running_boxes_folder(places.data))
    before = {
        path: state
        for path, state in there.items()
        if not any(record.has_new(path) for record in records.values())
    }
    own = os.fsencode(places.workspace)
    abandoned = (path for path, record in records.items() if record.workspace == own and is_abandoned(path))
    return CommandBox(
        box=box, places=places, index=index, before=before, notes=(*withheld, *whole),
        abandoned=tuple(abandoned),
        running=_record(places, started, before) if level == "workspace" else None,
    )  # fmt: skip


def _record(places: BoxPlaces, started: int, before: Iterable[str]) -> RunningBox | None:
    """Tell other boxes of this one; where the data folder cannot be written there are none to tell."""
    record = BoxRecord(
        workspace=os.fsencode(places.workspace), started=started, before=frozenset(map(os.fsencode, before))
    )
    with suppress(OSError, FileRefused):
        return RunningBox(running_boxes_folder(places.data), record) if Path(places.data).is_dir() else None
    return None


def quarantine_new_closed(planned: CommandBox) -> ClosedChanges:
    """Move out of the workspace what a command left under a closed name; return what became of such paths.

    Links that were replaced are put back. Call it when the command has ended; it blocks, so call it in a
    thread.
    """
    places, before = planned.places, planned.before
    if planned.box.level != "workspace":
        return ClosedChanges()
    unseen = ""
    try:
        found = planned.index.found()
    except TooManyNames as error:
        found, unseen = error.found, str(error)
    new = [
        f"{path}/HEAD" if found.get(path) == REPOSITORY else path
        for path in _closed(found, places)
        if path not in before
    ]
    now = {path: _state(path) for path in before}
    replaced = [path for path, was in before.items() if was.target and now[path].target != was.target]
    changed = [
        path
        for path, was in before.items()
        if not was.target and now[path] not in (was, ClosedState())
    ]  # fmt: skip
    numbers = _move_out(places, new, {path: before[path].target for path in replaced})
    left = [path for path, number in numbers.items() if number is None]
    rows = [("left" if number is None else str(number), path) for path, number in numbers.items()]
    rows += [("changed", path) for path in changed]
    list_moved(places.storage, ((word, os.path.relpath(path, places.workspace)) for word, path in rows))
    forget_box(planned)
    if not left and not unseen:
        remove_records(planned.abandoned)
    moved = tuple(path for path in (*new, *replaced) if path not in left)
    return ClosedChanges(moved=moved, left=tuple(left), changed=tuple(changed), unseen=unseen)


def forget_box(planned: CommandBox) -> None:
    """Tell other boxes that this one has no command: else it counts as one that never ended."""
    if planned.running is not None:
        planned.running.end()


def _move_out(places: BoxPlaces, new: Iterable[str], links: Mapping[str, str]) -> dict[str, int | None]:
    """Move each path to a numbered folder and put the links back; return the numbers, None of what stays."""
    numbers: dict[str, int | None] = dict.fromkeys((*new, *links))
    with suppress(FileRefused), Root(places.workspace) as root:
        for number, path in enumerate(tuple(numbers), _first_free_number(places.storage)):
            relative = os.path.relpath(path, places.workspace)
            target = f"{quarantine_folder(places.storage)}/{number}/{os.path.basename(path)}"  # noqa: PTH119 -- text
            with suppress(FileRefused):
                if os.path.lexists(path):
                    move_aside(root, relative, target)
                if path in links:
                    make_link(root, relative, links[path])
                numbers[path] = number
    return numbers


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


def _closed(found: Mapping[str, str], places: BoxPlaces) -> dict[str, None]:
    """Return the closed paths that are there, the top first."""
    named = (path for path in places.closed if is_below(path, places.workspace) and os.path.lexists(path))
    return dict.fromkeys((*(path for path, kind in found.items() if kind != HIDDEN), *named))


def _state(path: str) -> ClosedState:
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return ClosedState(target=os.readlink(path))  # noqa: PTH115 -- text
    except OSError:
        return ClosedState()
    facts = (status.st_dev, status.st_ino, stat.S_IFMT(status.st_mode))
    if not stat.S_ISDIR(status.st_mode):
        facts += (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return ClosedState(facts=facts)


def _mountable(before: Mapping[str, ClosedState], workspace: str) -> Iterator[str]:
    """Yield what is mounted for the closed paths: a link cannot be, but what it leads to in the workspace."""
    for path, state in before.items():
        real = os.path.realpath(path) if state.target else path
        if path == workspace:
            yield from (own for name in sorted(REPOSITORY_NAMES) if os.path.lexists(own := f"{path}/{name}"))
        elif real != workspace and is_below(real, workspace) and os.path.exists(real):  # noqa: PTH110 -- text
            yield real


def _within_limit(closed: set[str], workspace: str) -> tuple[set[str], list[str]]:
    """Close whole folders where there are too many closed paths; return also what to say about it."""
    notes: list[str] = []
    ways = {path: tuple(_folders_between(path, workspace)) for path in sorted(closed)}
    held = Counter(folder for folders in ways.values() for folder in folders)
    while len(ways.keys() | held.keys()) > MOST_CLOSED:
        if not held:
            why = f"{counted(len(ways), 'file')} at its top may not be changed, which is too many."
            raise BoxUnavailable(why, "Open a folder below it as the workspace.")
        whole = max(held, key=lambda folder: (held[folder], folder.count("/")))
        notes.append(f"{whole} is read-only as a whole: {held[whole]} paths in it may not be changed")
        for path in [path for path in ways if is_below(path, whole)]:
            held.subtract(ways.pop(path))
        ways[whole] = tuple(_folders_between(whole, workspace))
        held.update(ways[whole])
        held = +held
    return set(ways), notes


def _folders_between(path: str, workspace: str) -> Iterator[str]:
    folder = os.path.dirname(path)  # noqa: PTH120 -- text
    while folder != workspace:
        yield folder
        folder = os.path.dirname(folder)  # noqa: PTH120 -- text
