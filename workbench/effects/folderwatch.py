"""Waiting for changes below folders, for what is looked at only while somebody needs it.

Owns the only use of watchfiles (MIT; half typed, so nothing else sees it). Folders are watched, never files:
a watch on a file dies at the first atomic rename. It wakes often, so nothing keeps it open without need.
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast


def changes(folders: list[str], stop: threading.Event, milliseconds: int = 200) -> Iterator[frozenset[str]]:
    """Yield the paths that changed below folders, in groups, until told to stop.

    Args:
        folders: Those that are not there are passed over; with none left nothing is yielded.
        stop: Ends the watch.
        milliseconds: How long a group is collected.
    """
    import watchfiles

    there = [folder for folder in folders if Path(folder).is_dir()]
    if not there:
        return
    watch = cast("Any", watchfiles).watch
    for group in watch(
        *there, stop_event=stop, step=milliseconds, debounce=milliseconds * 4, raise_interrupt=False
    ):
        yield frozenset(str(path) for _, path in group)
