"""Folders of jobs are removed when no call or step waits for them, and never while their owner works."""

import asyncio

import pytest

from workbench.effects.owned_command import Jobs
from workbench.host.job_folders import OrphanedJob, is_owned, orphaned_jobs, remove_old_jobs
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.maintenance import remove_session_remains


@pytest.fixture
def journal(tmp_path):
    journal = Journal.open(Home.open(tmp_path / "home"))
    yield journal
    journal.close()


LOOKED_AT = "echo x; until [ -e looked-at ]; do sleep 0.02; done"
"""Prints, and runs until somebody has looked."""


def test_a_job_that_is_over_goes_and_one_that_runs_stays(journal, tmp_path):
    home = journal.home
    jobs = Jobs(home.path, home.key, home.logs / "commands.log")
    folder = home.path / "jobs" / "session" / "mark"
    seen = []

    def look(chunk):
        seen.append((is_owned(folder), remove_old_jobs(home, journal, 0.0), folder.is_dir()))
        (tmp_path / "looked-at").touch()

    async def work():
        command = await jobs.prepare(
            "session", ["sh", "-c", LOOKED_AT], str(tmp_path), {"PATH": "/bin"}, "mark", life="outlives"
        )
        seen.append((is_owned(folder), remove_old_jobs(home, journal, 0.0), folder.is_dir()))
        assert orphaned_jobs(home, journal) == [OrphanedJob(session="session", mark="mark")]
        await command.go(look, None, None, 100)

    asyncio.run(work())
    jobs.close()
    assert seen == [(True, 0, True)] * 2
    assert remove_old_jobs(home, journal) == 0, "it may just be being recorded"
    while is_owned(folder):
        pass
    assert remove_old_jobs(home, journal, 0.0) == 1
    assert list((home.path / "jobs").iterdir()) == []


def test_what_a_deleted_session_printed_goes_with_it(journal):
    folder = journal.home.path / "jobs" / "session" / "mark"
    folder.mkdir(parents=True)
    (folder / "out.0").write_text("printed")
    remove_session_remains(journal, "session")
    assert not folder.parent.exists()
