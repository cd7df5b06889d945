"""Poll the status of files and yield the paths that changed, after a quiet moment. Reads no file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Final

POLL_SECONDS: Final = 1.5
"""Seconds between two looks: each is a wake-up of a screen that rests."""
QUIET_SECONDS: Final = 0.4
"""Seconds in which nothing may change any more before it is told."""
_MAX_QUIET_CHECKS: Final = 5
"""How often what goes on changing is looked at before it is told anyway."""
FileStates = Mapping[str, object]


def file_states(paths: Iterable[str]) -> FileStates:
    """Return the state of each file that is there."""
    states = ((path, _file_state(path)) for path in paths)
    return {path: status for path, status in states if status is not None}


def _file_state(path: str) -> object:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def poll_changes(look: Callable[[], FileStates], before: FileStates, over: Event) -> Iterator[set[str]]:
    """Yield groups of changed paths until `over` is set; `before` are the states read last."""
    while not over.wait(POLL_SECONDS):
        now = look()
        changed = _changed_paths(before, now)
        for _ in range(_MAX_QUIET_CHECKS if changed else 0):
            if over.wait(QUIET_SECONDS):
                return
            last, now = now, look()
            if not (more := _changed_paths(last, now)):
                break
            changed |= more
        before = now
        if changed:
            yield changed


def _changed_paths(before: FileStates, now: FileStates) -> set[str]:
    return {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
