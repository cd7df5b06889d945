"""Waiting for changes in folders, for what is looked at only while somebody needs it.

Owns the only use of watchfiles (MIT; half typed, so nothing else sees it). Folders are watched, never files:
a watch on a file dies when an editor puts a new one in its place. It wakes often, so nothing keeps it open
without need.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast


def changes(
    folders: Iterable[str],
    stop: threading.Event,
    *,
    is_wanted: Callable[[str], bool],
    step_ms: int = 200,
    settle_ms: int = 800,
) -> Iterator[frozenset[str]]:
    """Yield the paths that changed in folders, not below them, in groups, until told to stop.

    Args:
        folders: Those that are not there are passed over; with none left nothing is yielded.
        stop: Ends the watch.
        is_wanted: Whether a changed path is one to tell of.
        step_ms: How often what was collected is looked at: each look is a wake-up.
        settle_ms: How long a group is collected at the most.

    Raises:
        OSError, RuntimeError: The folders cannot be watched.
    """
    import watchfiles

    there = [folder for folder in folders if Path(folder).is_dir()]
    if not there:
        return

    def is_told(_change: object, path: str) -> bool:
        return is_wanted(path)

    watch = cast("Any", watchfiles).watch
    for group in watch(
        *there, watch_filter=is_told, stop_event=stop, step=step_ms, debounce=settle_ms,
        rust_timeout=5_000, recursive=False, raise_interrupt=False,
    ):  # fmt: skip
        yield frozenset(str(path) for _, path in group)
