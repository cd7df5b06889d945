"""Whole folders: walk, remove and watch them (watchfiles, inotify)."""

# On Linux the journal's change notifier asks inotify itself: one thread and a page of code, where the
# package that watches everywhere takes three threads and 0.7 MB in every screen and host. It stays for
# systems without inotify.

import contextlib
import os
import select
import shutil
import struct
import sys
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from msgspec import Struct

from workbench.effects.file_primitives import (
    FOLDER_FLAGS,
    FileKind,
    FileRefused,
    FileStamp,
    file_stamp,
    kind_of,
    open_regular_file,
    stat_name,
    translated_os_errors,
)
from workbench.effects.files import Root

MOST_FILES: Final = 100_000
SKIPPED_FOLDERS: Final = frozenset(
    {".git", "node_modules", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache"}
)
"""Folders that a copy leaves out: large, made again by their tools, or not to be had twice."""


def make_folder(path: str) -> None:
    """Make a folder that only this user may enter, and those on the way to it. Raises FileRefused."""
    with translated_os_errors(path):
        Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)


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
    with translated_os_errors(path):
        for folder, below, _ in os.walk(path):
            for name in below:
                if not os.path.islink(f"{folder}/{name}"):  # noqa: PTH114 -- text
                    os.chmod(f"{folder}/{name}", 0o700)  # noqa: PTH101 -- beside the call above
        shutil.rmtree(path)


MOST_NAMES: Final = 100_000
"""Names of one folder that are looked at; the rest is passed over."""
DEEPEST: Final = 40
"""Folders below one another; each holds a descriptor open while it is walked."""


class WalkedFolder(Struct, kw_only=True):
    """One folder on the way; valid until the next one is asked for."""

    path: str
    """Relative to the root; empty for the root itself."""
    files: list[str]
    folders: list[str]
    """Names of folders, in order; what is taken out of the list is not entered."""
    others: int
    """Links, pipes, sockets and devices."""
    is_cut: bool
    """Whether it has more names than are looked at, or lies too deep for what is below it."""
    here: int
    """Its descriptor."""

    def below(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def stamp(self, name: str) -> FileStamp | None:
        """Return what tells a file in it from itself after a change; None if it is not there any more."""
        with contextlib.suppress(OSError):
            status = stat_name(self.here, name)
            return file_stamp(status) if status is not None else None
        return None

    def open(self, name: str) -> BinaryIO:
        """Open a regular file in it, following no link, waiting for nothing. Raises FileRefused."""
        return os.fdopen(open_regular_file(self.here, name, self.below(name)), "rb", buffering=0)


def walk_folder(root: Root, rel: str = ".") -> Iterator[WalkedFolder]:
    """Yield a folder and all below it, each before what it holds. Raises FileRefused for the first folder."""
    with root.folder(rel) as (directory, path):
        yield from _walk_below(directory, path, 1)


def _walk_below(directory: int, path: str, depth: int) -> Generator[WalkedFolder]:
    folder = _list_folder(directory, path)
    if depth >= DEEPEST and folder.folders:
        folder.folders.clear()
        folder.is_cut = True
    yield folder
    for name in folder.folders:
        try:
            below = os.open(name, FOLDER_FLAGS, dir_fd=directory)
        except OSError:
            continue
        try:
            yield from _walk_below(below, folder.below(name), depth + 1)
        finally:
            os.close(below)


def _list_folder(directory: int, path: str) -> WalkedFolder:
    files: list[str] = []
    folders: list[str] = []
    others = count = 0
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for count, entry in enumerate(entries, 1):
            if count > MOST_NAMES:
                break
            match _entry_kind(entry):
                case "file":
                    files.append(entry.name)
                case "folder":
                    folders.append(entry.name)
                case _:
                    others += 1
    is_cut = count > MOST_NAMES
    files.sort()
    folders.sort()
    return WalkedFolder(path=path, files=files, folders=folders, others=others, is_cut=is_cut, here=directory)


def _entry_kind(entry: os.DirEntry[str]) -> FileKind | None:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    if entry.is_file(follow_symlinks=False):
        return "file"
    with contextlib.suppress(OSError):
        return kind_of(entry.stat(follow_symlinks=False).st_mode)
    return None


_STEP_MS: Final = 200
"""How often what was collected is looked at."""
_SETTLE_MS: Final = 800
"""How long a group is collected at the most."""


def folder_changes(
    folders: Iterable[str], stop: threading.Event, *, is_wanted: Callable[[str], bool]
) -> Iterator[frozenset[str]]:
    """Yield the wanted paths that changed in folders, not below them, in groups, until `stop` is set.

    Missing folders are passed over; with none left nothing is yielded. Raises OSError or RuntimeError: they
    cannot be watched.
    """

    def passes(_change: object, path: str) -> bool:
        return is_wanted(path)

    return _watched_changes(
        folders, watch_filter=passes, stop_event=stop, step=_STEP_MS,
        debounce=_SETTLE_MS, rust_timeout=5_000, recursive=False,
    )  # fmt: skip


def tree_changes(folders: Iterable[str], stop: threading.Event) -> Iterator[frozenset[str]]:
    """Yield the paths that changed in folders and all below them, in groups, until `stop` is set.

    An empty group is yielded every 10 seconds in which nothing changed. Missing folders are passed over; with
    none left nothing is yielded. Raises OSError or RuntimeError: they cannot be watched.
    """
    return _watched_changes(
        folders, watch_filter=None, stop_event=stop, step=_REST_STEP_MS, debounce=_SETTLE_MS * 4,
        rust_timeout=_CHECK_MS, recursive=True, yield_on_timeout=True,
    )  # fmt: skip


def _watched_changes(folders: Iterable[str], **options: Any) -> Iterator[frozenset[str]]:
    import watchfiles

    existing = [folder for folder in folders if Path(folder).is_dir()]
    watch = cast("Any", watchfiles).watch
    for group in watch(*existing, raise_interrupt=False, **options) if existing else ():
        yield frozenset(str(path) for _, path in group)


_REST_STEP_MS: Final = 1_000
"""Milliseconds between two looks at what the system collected: each wakes a program that rests."""
_CHECK_MS: Final = 10_000
"""Milliseconds after which files are compared although nothing was told of them."""


def changed_files(
    files: Callable[[], Iterable[str]], folders: Collection[str], stop: threading.Event
) -> Iterator[frozenset[str]]:
    """Yield files that were changed, made or removed, in groups, until `stop` is set.

    `files` returns the full paths that count now, those of missing files too; all of them lie directly in
    `folders`, which may be missing. What the system tells only wakes: the status of the files decides.
    """
    before = _file_states(files())
    while not stop.is_set():
        watched = _watchable_folders(folders)
        for _ in _wake_ups(watched, stop):
            now = _file_states(files())
            changed = frozenset(
                path for path in before.keys() | now.keys() if before.get(path) != now.get(path)
            )
            before = now
            if changed and not stop.is_set():
                yield changed
            if _watchable_folders(folders) != watched:
                break


def _file_states(paths: Iterable[str]) -> dict[str, tuple[int, int, int]]:
    states: dict[str, tuple[int, int, int]] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            status = Path(path).stat()
            states[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return states


def _watchable_folders(folders: Collection[str]) -> frozenset[str]:
    """Return the folders that are there, each with the one above it: there a missing one appears."""
    nearest: set[str] = set()
    for folder in map(Path, folders):
        existing = next(above for above in (folder, *folder.parents) if above.is_dir())
        nearest |= {str(existing), str(existing.parent)} if existing == folder else {str(existing)}
    return frozenset(nearest)


def _wake_ups(folders: Iterable[str], stop: threading.Event) -> Iterator[object]:
    """Yield at once and when something may have changed; after some seconds where nothing can be watched."""
    import watchfiles

    yield ()
    watch = cast("Any", watchfiles).watch
    try:
        yield from watch(
            *folders, watch_filter=None, stop_event=stop, step=_REST_STEP_MS, rust_timeout=_CHECK_MS,
            recursive=False, raise_interrupt=False, yield_on_timeout=True,
        )  # fmt: skip
    except (OSError, RuntimeError):
        stop.wait(_CHECK_MS / 1_000)
        yield ()


_MODIFIED, _TOUCHED, _TOO_MANY = 0x2, 0x4, 0x4000
_EVENT_HEAD: Final = struct.Struct("iIII")
"""Watch, what happened, cookie, length of the name that follows, filled up with zeros."""
_MOST_EVENT_BYTES: Final = 64 * 1024


def watch_files(
    folder: Path, names: Collection[str], ring: Callable[[], object]
) -> Callable[[], None] | None:
    """Call `ring`, which must not raise, in another thread when a named file of a folder was changed.

    The files may come and go. Returns what ends it; None where this system has no inotify. watchfiles cannot
    stand in: it looks in steps, and 10 ms of them wake a resting program 90 times a second. Raises OSError.
    """
    if sys.platform != "linux":
        return None
    source = _open_inotify(os.fsencode(folder))
    try:
        ending, end = os.pipe()
    except OSError:
        os.close(source)
        raise
    file_names = frozenset(map(os.fsencode, names))
    thread = threading.Thread(
        target=_read_events, args=(source, ending, file_names, ring), name="journal-watch", daemon=True
    )
    thread.start()

    def stop() -> None:
        os.close(end)
        thread.join()

    return stop


def _open_inotify(folder: bytes) -> int:
    import ctypes

    library: Any = ctypes.CDLL(None, use_errno=True)
    source = int(library.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    if source < 0:
        raise _os_error(ctypes.get_errno())
    if library.inotify_add_watch(source, ctypes.c_char_p(folder), _MODIFIED | _TOUCHED) < 0:
        error = _os_error(ctypes.get_errno())
        os.close(source)
        raise error
    return source


def _os_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _read_events(source: int, ending: int, names: frozenset[bytes], ring: Callable[[], object]) -> None:
    ready = select.poll()
    ready.register(source, select.POLLIN)
    ready.register(ending, 0)
    try:
        while not any(descriptor == ending for descriptor, _ in ready.poll()):
            with contextlib.suppress(BlockingIOError):
                if is_about_names(os.read(source, _MOST_EVENT_BYTES), names):
                    ring()
    finally:
        os.close(source)
        os.close(ending)


def is_about_names(data: bytes, names: frozenset[bytes]) -> bool:
    """Return whether one of the events that were read is about a name, or whether some were lost."""
    offset = 0
    while offset + _EVENT_HEAD.size <= len(data):
        _, mask, _, length = _EVENT_HEAD.unpack_from(data, offset)
        offset += _EVENT_HEAD.size + length
        if mask & _TOO_MANY or data[offset - length : offset].rstrip(b"\0") in names:
            return True
    return False
