"""Boxes whose process was killed, in workspaces where no other box has dealt with what they left."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.file_locks import remove_unheld_lock
from workbench.host.box_folders import running_boxes_folder
from workbench.host.running_boxes import is_abandoned, read_records, remove_record

_DAY_SECONDS: Final = 86_400


class LostBox(Struct, frozen=True, kw_only=True):
    """A box that never ended."""

    record: Path
    workspace: str
    """Real path; the folder may be gone."""
    days: float
    """Since the box began, or since its record changed last."""


def lost_boxes(data: str) -> list[LostBox]:
    """Return the boxes of a data folder that never ended, by their workspaces."""
    found = (
        LostBox(record=path, workspace=os.fsdecode(record.workspace), days=_days_since(path))
        for path, record in read_records(running_boxes_folder(data)).items()
        if is_abandoned(path)
    )
    return sorted(found, key=lambda box: box.workspace)


def remove_lost_boxes(data: str, days: int) -> None:
    """Remove old records of lost boxes whose workspace is gone, and what cannot be read of others.

    A workspace may be on a disk that is not there now, so its record is kept for some days.
    """
    known = read_records(running_boxes_folder(data))
    gone = {path for path, record in known.items() if not os.path.lexists(os.fsdecode(record.workspace))}
    for path in _old_records(Path(running_boxes_folder(data)), days):
        if (path in gone or path not in known) and is_abandoned(path):
            remove_record(path)
    for lock in Path(running_boxes_folder(data)).glob("*.lock"):
        if not lock.with_suffix(".json").exists() and _days_since(lock) > 1:
            with suppress(OSError):
                remove_unheld_lock(lock)


def _old_records(folder: Path, days: int) -> Iterator[Path]:
    return (path for path in folder.glob("*.json") if _days_since(path) > days)


def _days_since(path: Path) -> float:
    try:
        return max(0.0, time.time() - path.stat().st_mtime) / _DAY_SECONDS
    except OSError:
        return 0.0
