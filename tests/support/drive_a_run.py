"""Drive one run to its end, in a process that may be killed: WORKBENCH_FAULTS arms where."""

import asyncio
import os
import sys

from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.model_selection import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock


def main(home, workspace, run):
    journal = Journal.open(Home.open(home))
    driver = driver_identity(journal, workspace, "run")
    context = open_driver_context(
        journal.home, journal, workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    with DriverLock(journal, driver):
        row = asyncio.run(drive_run(RunDriverOptions(context=context, driver=driver), run))
    journal.close()
    print(row.status)


if __name__ == "__main__":
    from pathlib import Path

    os.environ.pop("WORKBENCH_HOME", None)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
