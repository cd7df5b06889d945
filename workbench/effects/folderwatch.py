"""Waiting for changes in folders, for what is looked at only while somebody needs it.

Owns the only use of watchfiles (MIT; half typed, so nothing else sees it). Folders are watched, never files:
a watch on a file dies when an editor puts a new one in its place. It wakes often, so nothing keeps it open
without need.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, cast

_STEP_MS: Final = 200
"""How often what was collected is looked at."""

_SETTLE_MS: Final = 800
"""How long a group is collected at the most."""


def changes(
    folders: Iterable[str],
    stop: threading.Event,
    *,
    is_wanted: Callable[[str], bool],
) -> Iterator[frozenset[str]]:
    """Yield the paths that changed in folders, not below them, in groups, until told to stop.

    Args:
        folders: Those that are not there are passed over; with none left nothing is yielded.
        stop: Ends the watch.
        is_wanted: Whether a changed path is one to tell of.

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
        *there, watch_filter=is_told, stop_event=stop, step=_STEP_MS, debounce=_SETTLE_MS,
        rust_timeout=5_000, recursive=False, raise_interrupt=False,
    ):  # fmt: skip
        yield frozenset(str(path) for _, path in group)
