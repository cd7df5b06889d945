"""Drive one run to its end, in a process that may be killed: WORKBENCH_FAULTS arms where."""

import asyncio
import os
import sys

from workbench.host.kit import open_kit
from workbench.host.models import provider_of
from workbench.host.places import identity
from workbench.host.steps.drive import Driving, drive_run
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverLock


def main(home, workspace, run):
    journal = Journal.open(Home.open(home))
    driver = identity(journal, workspace, "run")
    kit = open_kit(journal.home, journal, workspace, provider=provider_of)
    with DriverLock(journal, driver):
        row = asyncio.run(drive_run(Driving(kit=kit, driver=driver), run))
    journal.close()
    print(row.status)


if __name__ == "__main__":
    from pathlib import Path

    os.environ.pop("WORKBENCH_HOME", None)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
