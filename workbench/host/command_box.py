"""Describe the box of a session's command: what it sees and can write, and what it may not leave behind.

Git's files and all that other programs run or obey are closed. What a command makes under such a name cannot
be prevented without a trace in the workspace, so it is moved out when the command has ended.

What was there before the command stays. Not so what was not there before another box that has not ended: it
may be of that box's command, so it counts as new in both (`running_boxes`). What was there before and has
changed meanwhile may be a human's, so it stays and is named. What cannot be moved out stays new until it can.
"""

import itertools
import os
import stat
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import Refused, SandboxLevel
from workbench.effects.file_primitives import FileMissing, FileRefused
from workbench.effects.files import Root
from workbench.effects.folder_index import LetIn, TooManyNames
from workbench.effects.folders import make_link, open_to_owner
from workbench.effects.home_view import home_view
from workbench.effects.moved_aside import move_aside
from workbench.effects.own_processes import own_installation
from workbench.effects.sandbox import SYSTEM_FOLDERS, BoxDescription, make_places
from workbench.effects.search_path import link_chain
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
    REPOSITORY_PART,
    PathDenials,
    WorkspaceIndex,
    bytecode_of,
    is_bytecode,
    is_closed,
    is_hidden,
    made_environment,
    shown_index,
    workspace_index,
)
from workbench.host.driver_context import STEP_WORKSPACES_FOLDER, DriverContext
from workbench.host.running_boxes import (
    BoxRecord,
    Closing,
    RunningBox,
    is_abandoned,
    is_in,
    read_records,
    settle_record,
)
from workbench.policy.autorun_files import autorun_reason
from workbench.policy.git_worktrees import worktree_origin
from workbench.policy.paths import git_config_folders, is_below
from workbench.text.human import counted

_SETTINGS_OF_SYSTEM: Final = ("/etc", "/usr/local/etc")
"""Where what not every user may read is hidden."""
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
    """Which file it is and when it changed, of a folder only which; nothing of a link."""
    names: int = 1
    """How many names a file has, as hard links."""


class ClosedChanges(Struct, frozen=True, kw_only=True):
    """What became of closed paths while a command ran."""

    moved: tuple[str, ...] = ()
    """New ones, which were moved out, and links that were put back."""
    shut: tuple[tuple[str, str], ...] = ()
    """New ones that could not leave the workspace, with the paths there by which they are now shut."""
    left: tuple[str, ...] = ()
    """New ones that could not be moved."""
    bytecode: tuple[str, ...] = ()
    """New bytecode of closed Python modules, which was moved out; Python makes it again."""
    changed: tuple[str, ...] = ()
    """Those that were there before and are not as they were; they stay, for a human may have saved them."""
    unseen: str = ""
    """Why not all of the workspace was looked through."""


class CommandBox(Struct, frozen=True, kw_only=True):
    """A box, and what was there before its command."""

    box: BoxDescription
    places: BoxPlaces
    index: WorkspaceIndex
    """Of the workspace, by the settings of git as they were: what a command sets closes nothing more."""
    before: Mapping[str, ClosedState]
    """Closed paths as they were."""
    folders: Container[str]
    """The folders of the workspace that were there."""
    workspace: ClosedState | None
    """The workspace itself as it was."""
    hidden: Mapping[str, ClosedState]
    """Hidden folders of the workspace as they were."""
    named: frozenset[bytes]
    """As in `BoxRecord`."""
    denials: str
    """As in `BoxRecord`."""
    running: RunningBox | None
    """Its record for other boxes."""
    records: Mapping[Path, BoxRecord]
    """Those of other boxes that had not ended."""
    abandoned: tuple[Path, ...]
    """Of these the boxes that never will; this one deals with what they left."""
    notes: tuple[str, ...]
    """What one might not expect, for people: withheld settings, folders that are closed as a whole."""

    @property
    def held(self) -> tuple[int, ...]:
        """The descriptors that the owner of its command holds open."""
        return () if self.running is None else self.running.descriptors


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
    places = replace(places, closed=(*places.closed, *_own_installation(places.workspace)))
    view = home_view(places.home, places.search_path, places.workspace)
    own = tuple(_user_paths(places))
    shown = (*view.visible, *own, *_repository_paths(places))
    private = [path for path in view.private if not any(is_below(path, asked) for asked in own)]
    try:
        index = workspace_index(places.workspace, places.home, denials)
        found = index.before
        if index.closes_all:
            raise _hooks_from_workspace()
        places = replace(places, closed=(*places.closed, *_ways_to(_closed(found, places), places.workspace)))
        hidden = {
            places.data,
            places.storage,
            *private,
            *bound_socket_paths(),
            *_hidden_in(shown, places.workspace, denials),
        }
    except TooManyNames as error:
        raise BoxUnavailable(f"{error}.", "Open a smaller folder as the workspace.") from None
    # Boxes whose commands may have run when the states were taken are recorded before that or after it.
    records = read_records(running_boxes_folder(places.data))
    there = _states(_closed(found, places))
    there |= _states(index.other_names(there, _linked_numbers(there), of_closed_folders=True))
    hidden_there = _states(path for path, kind in found.items() if is_hidden(kind))
    hidden.update(hidden_there, index.other_names(hidden_there, _linked_numbers(hidden_there)))
    # In the place of another hidden path, such as a pipe, another box may make a folder.
    folders = {path: state for path, state in hidden_there.items() if _is_folder(state)}
    records |= read_records(running_boxes_folder(places.data))
    closed, whole = _within_limit(set(_mountable(there, places.workspace)), places.workspace)
    box = BoxDescription(
        level=level, workspace=places.workspace, folder=places.folder, visible=shown, shown_as=view.shown_as,
        closed=tuple(sorted(closed)), hidden=tuple(sorted(_ends(hidden, places.workspace))),
        home=places.home, temporary=temporary_folder(places.storage), caches=places.caches,
    )  # fmt: skip
    make_places(box)
    withheld = [f"{path} is not shown: something in it looks like a secret" for path in view.withheld]
    withheld += [f"{path} is hidden: it looks private" for path in private]
    named = frozenset(os.fsencode(path) for path in (*index.named, *places.closed))
    denied = sha256(repr(denials.key).encode("utf-8", "surrogatepass")).hexdigest()
    planned = CommandBox(
        box=box, places=places, index=index, before=there, hidden=folders, named=named,
        denials=denied, records=records, abandoned=tuple(filter(is_abandoned, records)), running=None,
        notes=(*withheld, *whole), workspace=_state(places.workspace), folders=index.folders,
    )  # fmt: skip
    planned = replace(planned, before=_before_all_boxes(planned, found))
    return replace(planned, running=_record(planned) if level == "workspace" else None)


def _before_all_boxes(planned: CommandBox, found: Mapping[str, str]) -> dict[str, ClosedState]:
    """Return the closed paths that no box that has not ended may have made, with links as they were then."""
    before = {path: state for path, state in planned.before.items() if not _is_new(planned, path, found)}
    for file, record in planned.records.items():
        is_put_back = file not in planned.abandoned  # a link that is gone may have been removed since
        links = record.links_below(planned.places.workspace)
        before |= {
            path: ClosedState(target=target)
            for path, target in links.items()
            if is_put_back or _state(path) is not None
        }
    return before


def _is_new(planned: CommandBox, path: str, found: Mapping[str, str]) -> bool:
    """Return whether a path may be of the command of another box that has not ended."""
    if not planned.records:
        return False
    is_part = found.get(path) in (REPOSITORY, REPOSITORY_PART)
    why = Closing(
        by_name=is_part or planned.index.closes_by_name(path),
        by_settings=is_in(os.fsencode(path), planned.named, os.fsencode(planned.places.workspace)),
        denials=planned.denials if planned.index.denies_change(path) else "",
    )  # fmt: skip
    return any(record.has_new(path, why) for record in planned.records.values())


def _record(planned: CommandBox) -> RunningBox | None:
    """Tell other boxes of this one; where the data folder cannot be written there are none to tell."""
    data = planned.places.data
    known = {**planned.hidden, **planned.before}
    record = BoxRecord(
        workspace=os.fsencode(planned.places.workspace), named=planned.named, denials=planned.denials,
        before={os.fsencode(path): os.fsencode(state.target) for path, state in known.items()},
    )  # fmt: skip
    with suppress(OSError, FileRefused):
        return RunningBox(running_boxes_folder(data), record) if Path(data).is_dir() else None
    return None


def quarantine_new_closed(planned: CommandBox) -> ClosedChanges:
    """Move out of the workspace what a command left under a closed name; return what became of such paths.

    Links that were replaced are put back. Call it when the command has ended; it blocks, so call it in a
    thread.
    """
    if planned.box.level != "workspace":
        return ClosedChanges()
    if _state(planned.places.workspace) != planned.workspace:
        forget_box(planned)
        return ClosedChanges(unseen="it was moved or replaced while the command ran")
    new, unseen = _look_through(planned)
    now = {path: _state(path) for path in planned.before}
    links = {
        path: was.target
        for path, was in planned.before.items()
        if was.target and (now[path] or ClosedState()).target != was.target
    }
    due = {**new, **{path: path for path in links}}
    places = _move_out(planned.places, due, links)
    left = [path for path in due if path not in places]
    _settle_records(planned, left, unseen)
    outside = quarantine_folder(planned.places.storage)
    moved = {due[path]: place for path, place in places.items()}
    shut = {path: place for path, place in moved.items() if place and not is_below(place, outside)}
    gone = [path for path in moved if path not in shut]
    changes = ClosedChanges(
        moved=tuple(path for path in gone if not is_bytecode(path)), shut=tuple(shut.items()),
        left=tuple(due[path] for path in left), bytecode=tuple(filter(is_bytecode, gone)),
        changed=_changed(planned, now), unseen=unseen,
    )  # fmt: skip
    _list_changes(planned.places, changes, moved)
    return changes


def _changed(planned: CommandBox, now: Mapping[str, ClosedState | None]) -> tuple[str, ...]:
    """Return the closed paths that are still there and are not as they were, without links."""
    before = planned.before.items()
    return tuple(path for path, was in before if not was.target and now[path] not in (was, None))


def _look_through(planned: CommandBox) -> tuple[dict[str, str], str]:
    """Return the new closed paths, each with what is moved because of it, and why not all was looked at."""
    unseen = ""

    def found_by(look: Callable[[LetIn], dict[str, str]]) -> Mapping[str, str]:
        nonlocal unseen
        try:
            return look(_opening(planned))
        except TooManyNames as error:
            unseen = str(error)
            return error.found

    found = found_by(planned.index.found)
    new = _new_closed(planned, found)
    for folder in [path for path, kind in found.items() if kind == HIDDEN]:
        is_new = planned.hidden.get(folder) != _state(folder)
        if is_new or not all(record.knows(folder) for record in planned.records.values()):
            inside = found_by(partial(planned.index.found_in_hidden, folder))
            closed = (path for path, kind in inside.items() if is_closed(kind))
            new |= {
                path: _moved_for(path, inside)
                for path in closed
                if is_new or _is_new(planned, path, inside)
            }  # fmt: skip
    return new, unseen


def _opening(planned: CommandBox) -> LetIn:
    """Return what lets this user into folders that were not shut before the command."""
    workspace = planned.places.workspace

    def let_in(folder: str) -> None:
        if is_below(folder, workspace) and not is_in(folder, planned.before, workspace):
            with suppress(FileRefused):
                open_to_owner(workspace, folder)

    return let_in


def _new_closed(planned: CommandBox, found: Mapping[str, str]) -> dict[str, str]:
    """Return the closed paths that were not there before, the top ones, each with what is moved."""
    workspace, new, moved = planned.places.workspace, dict[str, str](), set[str]()
    known = {*planned.before, *(path for path, was in planned.hidden.items() if _state(path) == was)}
    is_repository = workspace in planned.before
    for path in _closed(found, planned.places):
        if found.get(path) == REPOSITORY_PART and not is_repository:
            continue  # the workspace becomes none when its HEAD is moved
        above = os.path.dirname(path)  # noqa: PTH120 -- text
        if is_in(path, known, workspace) or made_environment(path, planned.folders):
            continue
        if path == workspace or not is_in(above, moved, workspace):
            new[path] = _moved_for(path, found)
            moved.add(new[path])
    return new


def _moved_for(path: str, found: Mapping[str, str]) -> str:
    """Return what is moved because a path is closed: of a bare repository the file that makes it one."""
    return f"{path}/HEAD" if found.get(path) == REPOSITORY else path


def _settle_records(planned: CommandBox, left: Sequence[str], unseen: str) -> None:
    """End the record of a box if all was dealt with, else leave it to the next one; end abandoned ones."""
    if not left and not unseen:
        forget_box(planned)
    elif planned.running is None:
        return
    else:
        planned.running.abandon(None if unseen else left)
    for path in planned.abandoned:
        settle_record(path, planned.records[path], planned.places.workspace)


def forget_box(planned: CommandBox) -> None:
    """Tell other boxes that this one has no command: else it counts as one that never ended."""
    if planned.running is not None:
        planned.running.end()


def _move_out(places: BoxPlaces, moved: Mapping[str, str], links: Mapping[str, str]) -> dict[str, str]:
    """Move out what there is for each path and put the links back; return where that is now."""
    done: dict[str, str] = {}
    with suppress(FileRefused), Root(places.workspace) as root:
        for path, name in moved.items():
            relative = os.path.relpath(name, places.workspace)
            with suppress(FileRefused):
                place = ""
                with suppress(FileMissing):  # another box may have moved it
                    place = move_aside(root, relative, quarantine_folder(places.storage))
                if path in links:
                    make_link(root, relative, links[path])
                done[path] = place
    return done


def _list_changes(places: BoxPlaces, changes: ClosedChanges, moved: Mapping[str, str]) -> None:
    """Add what became of closed paths to the list that the data folder keeps; `moved`: where they are now."""
    numbers = {
        path: os.path.basename(os.path.dirname(moved[path])) or "back"  # noqa: PTH119, PTH120 -- text
        for path in (*changes.moved, *changes.bytecode)
    }
    rows = [
        *((number, path) for path, number in numbers.items()),
        *((os.path.basename(place), path) for path, place in changes.shut),  # noqa: PTH119 -- text
        *(("left", path) for path in changes.left),
        *(("changed", path) for path in changes.changed),
    ]
    list_moved(places.storage, ((word, os.path.relpath(path, places.workspace)) for word, path in rows))


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
        raise _hooks_from_workspace()


def _hooks_from_workspace() -> BoxUnavailable:
    return BoxUnavailable(
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
    for folder in _SETTINGS_OF_SYSTEM:
        yield from shown_index(folder, workspace, denials, hides_private=True).found()
    if denials.reads is not None:
        for folder in shown:
            yield from (folder,) if denials.reads(folder) else shown_index(folder, workspace, denials).found()


def _ends(hidden: Iterable[str], workspace: str) -> set[str]:
    """Return hidden paths without links: of these what they lead to, unless it is of the system."""
    ends = {path: os.path.realpath(path) if os.path.islink(path) else path for path in hidden}  # noqa: PTH114
    return {
        end
        for path, end in ends.items()
        if end == path or not (is_below(workspace, end) or _is_of_system(end) or _state(end) is None)
    }


def _is_of_system(path: str) -> bool:
    return any(is_below(path, folder) or is_below(folder, path) for folder in SYSTEM_FOLDERS)


# --- what is closed -------------------------------------------------------------------------------


def _closed(found: Mapping[str, str], places: BoxPlaces) -> dict[str, None]:
    """Return the closed paths that are there, the top first."""
    named = (path for path in places.closed if is_below(path, places.workspace) and os.path.lexists(path))
    closed = dict.fromkeys((*(path for path, kind in found.items() if is_closed(kind)), *named))
    return {**closed, **dict.fromkeys(itertools.chain.from_iterable(map(bytecode_of, closed)))}


def _own_installation(workspace: str) -> Iterator[str]:
    """Yield what is in a workspace of the environment that workbench runs from: it starts each command."""
    for place in itertools.chain.from_iterable(map(link_chain, own_installation())):
        if place != workspace and is_below(place, workspace):
            yield place


def _linked_numbers(states: Mapping[str, ClosedState]) -> frozenset[int]:
    """Return the inode numbers of files that have several names."""
    return frozenset(state.facts[1] for state in states.values() if state.names > 1)


def _ways_to(paths: Iterable[str], workspace: str) -> Iterator[str]:
    """Yield the links in a workspace that other links lead through, and their ends, which may be missing."""
    links = [path for path in paths if os.path.islink(path)]  # noqa: PTH114 -- text
    for way in itertools.chain.from_iterable(map(link_chain, links)):
        if way != workspace and is_below(way, workspace):
            yield way


def _states(paths: Iterable[str]) -> dict[str, ClosedState]:
    """Return how those paths are that are there."""
    states = ((path, _state(path)) for path in paths)
    return {path: state for path, state in states if state is not None}


def _state(path: str) -> ClosedState | None:
    """Return how a path is; None where nothing is, and no facts of what cannot be looked at."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return ClosedState(target=os.readlink(path))  # noqa: PTH115 -- text
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return ClosedState()
    facts = (status.st_dev, status.st_ino, stat.S_IFMT(status.st_mode))
    if stat.S_ISDIR(status.st_mode):
        return ClosedState(facts=facts)
    facts += (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return ClosedState(facts=facts, names=status.st_nlink)


def _is_folder(state: ClosedState) -> bool:
    return bool(state.facts) and stat.S_ISDIR(state.facts[2])


def _mountable(before: Mapping[str, ClosedState], workspace: str) -> Iterator[str]:
    """Yield what is mounted for the closed paths: a link cannot be, but what it leads to in the workspace."""
    for path, state in before.items():
        real = os.path.realpath(path) if state.target else path
        if real != workspace and is_below(real, workspace) and os.path.exists(real):  # noqa: PTH110 -- text
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
