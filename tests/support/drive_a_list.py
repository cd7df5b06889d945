"""Drive one list of incidents as far as it goes, in a process that may be killed: WORKBENCH_FAULTS arms where."""

import asyncio
import os
import sys
from pathlib import Path

from workbench.host.driver_context import open_driver_context
from workbench.host.host_locks import driver_identity
from workbench.host.incident_driver import IncidentDriverOptions, drive_incidents
from workbench.host.session_provider import provider_of
from workbench.host.steps.pipeline_tool import SessionPipelineStarter
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.leases import DriverLock


def main(words):
    home, workspace, list_id = words
    os.environ.pop("WORKBENCH_HOME", None)
    journal = Journal.open(Home.open(Path(home)))
    driver = driver_identity(journal, workspace, "run")
    context = open_driver_context(
        journal.home, journal, workspace, provider=provider_of, pipelines=SessionPipelineStarter
    )
    with DriverLock(journal, driver):
        options = IncidentDriverOptions(context=context, driver=driver, parks=True)
        asyncio.run(drive_incidents(options, list_id))
    journal.close()


if __name__ == "__main__":
    main(sys.argv[1:])
