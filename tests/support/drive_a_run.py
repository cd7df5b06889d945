"""Drive one run until it ends or waits, in a process that may be killed: WORKBENCH_FAULTS arms where.

With a fourth word its steps run elsewhere, below that folder, and the process dies once the first has begun.
"""

import asyncio
import os
import sys
from pathlib import Path

from msgspec.structs import replace

from tests.support.elsewhere import Elsewhere
from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.host.steps.run_driver import RunDriverOptions, drive_run
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock


def main(words):
    home, workspace, run, elsewhere = (*words, "")[:4]
    os.environ.pop("WORKBENCH_HOME", None)
    journal = Journal.open(Home.open(Path(home)))
    driver = driver_identity(journal, workspace, "run")
    context = open_driver_context(
        journal.home, journal, workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    with DriverLock(journal, driver):
        options = RunDriverOptions(context=context, driver=driver, until=lambda at: at.is_waiting)
        if elsewhere:
            options = replace(options, machine=lambda here: Elsewhere(here, elsewhere, dies=True).machine)
        row = asyncio.run(drive_run(options, run))
    journal.close()
    print(row.status)


if __name__ == "__main__":
    main(sys.argv[1:])
