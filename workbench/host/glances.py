"""Files that are looked at now and then: which of them are not what they were.

Owns no thread and reads no file: what a file is, its status says. What watches for the system would wake up
as often, and takes a twentieth of a screen's memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Final

STEP: Final = 1.5
"""Seconds between two looks: each is a wake-up of a screen that rests."""

SETTLE: Final = 0.4
"""Seconds in which nothing may change any more before it is told."""

_LOOKS: Final = 5
"""How often what goes on changing is looked at before it is told anyway."""

Seen = Mapping[str, object]


def seen(paths: Iterable[str]) -> Seen:
    """Return what some files are now, by path; those that are not there are left out."""
    found = ((path, _status(path)) for path in paths)
    return {path: status for path, status in found if status is not None}


def _status(path: str) -> object:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def changes(look: Callable[[], Seen], before: Seen, over: Event) -> Iterator[set[str]]:
    """Yield paths that were made, written, replaced or removed, in groups, until it is over.

    Args:
        look: Returns what all files are.
        before: What they were when what they say was read.
        over: Ends it; the wait for it is what goes by between two looks.
    """
    while not over.wait(STEP):
        now = look()
        changed = _differing(before, now)
        for _ in range(_LOOKS if changed else 0):
            if over.wait(SETTLE):
                return
            last, now = now, look()
            if not (more := _differing(last, now)):
                break
            changed |= more
        before = now
        if changed:
            yield changed


def _differing(before: Seen, now: Seen) -> set[str]:
    return {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
