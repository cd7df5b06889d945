"""Folders of jobs that no driver will read any more: found and removed."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.effects.job_files import JobPlace, JobReader, JobUnreadable, remove_job
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import is_lease_live

KEPT_SECONDS: Final = 3600.0
"""Seconds that a folder is kept after its last change: its end may just be being recorded."""


def remove_old_jobs(home: Home, journal: Journal, kept_seconds: float = KEPT_SECONDS) -> int:
    """Remove the folders of jobs that are over and that no call or step waits for; return how many."""
    removed = 0
    for folder in _folders_in(home.path / "jobs"):
        for job in _folders_in(folder):
            if time.time() - job.lstat().st_mtime < kept_seconds or is_owned(job):
                continue
            if not _is_awaited(journal, folder.name, job.name):
                with suppress(OSError, ValueError):
                    remove_job(folder.parent, folder.name, job.name)
                    removed += 1
        with suppress(OSError):
            folder.rmdir()  # where it was the last one
    return removed


def remove_jobs_of_run(home: Home, journal: Journal, run_id: str) -> None:
    """Remove the folders of a run none of whose steps runs, those of an earlier driver too.

    Called under the lease of the run, so that no other driver reads them.
    """
    if any(step.state == "running" for step in journal.step_states(run_id)):
        return
    folder = home.path / "jobs" / run_id
    for job in _folders_in(folder):
        if not is_owned(job):
            with suppress(OSError, ValueError):
                remove_job(folder.parent, run_id, job.name)
    with suppress(OSError):
        folder.rmdir()


class OrphanedJob(Struct, frozen=True, kw_only=True):
    """A command that runs, and whose driver is gone; a run that is resumed takes it up."""

    session: str
    mark: str


def orphaned_jobs(home: Home, journal: Journal) -> list[OrphanedJob]:
    """Return the commands that run without a driver."""
    return [
        OrphanedJob(session=folder.name, mark=job.name)
        for folder in _folders_in(home.path / "jobs")
        for job in _folders_in(folder)
        if is_owned(job) and not is_lease_live(home, journal.lease(folder.name))
    ]


def is_owned(job: Path) -> bool:
    """Return whether an owner works on the job of a folder."""
    place = JobPlace(root=job.parent.parent, session=job.parent.name, mark=job.name, key=b"")
    try:
        reader = JobReader(place)
        try:
            return reader.state() != "over"
        finally:
            reader.close()
    except JobUnreadable:
        return False


def _is_awaited(journal: Journal, session_id: str, mark: str) -> bool:
    """Return whether a call or a step of a session has not ended that the job may belong to."""
    call = journal.call(mark)
    if call is not None:
        return call.state == "executing"
    return any(step.state == "running" for step in journal.step_states(session_id))


def _folders_in(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from (path for path in list(folder.iterdir()) if path.is_dir() and not path.is_symlink())
