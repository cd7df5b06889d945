"""Changed files below folders, noticed while they are watched."""

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

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
