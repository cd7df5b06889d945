"""The host process of one workspace: hold its lock, drive its sessions, end by itself.

Owns the process: lock, signals, log. Started detached by `ensure`, never by hand.
"""

import asyncio
import logging
import signal

from workbench.effects.faults import point
from workbench.effects.locks import FileLock
from workbench.effects.offspring import become_subreaper
from workbench.host import config_rules, log, trusting
from workbench.host.config_following import DELAY, following
from workbench.host.endpoints import key_variables
from workbench.host.kit import ConfigUnusable, Kit, open_kit
from workbench.host.models import provider_of
from workbench.host.pipeline_watch import PipelineWatch, logged
from workbench.host.places import has_screen, host_lock, identity
from workbench.host.supervisor import LINGER, Supervisor
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.journal.lease import DriverIdentity, DriverLock
from workbench.policy.trust import TrustRefused

LOG = logging.getLogger("workbench.host")


def serve(home: Home, workspace: str, host_id: str | None = None, linger: float = LINGER) -> int:
    """Be the host of a workspace until nothing is left to do; return the exit code.

    Args:
        home: the data folder.
        workspace: real path.
        host_id: the id that the log file is named after.
        linger: seconds to stay without work and without a screen.
    """
    log.begin(home.logs / f"host-{host_id}.log")
    lock = FileLock(host_lock(home, workspace))
    if not lock.try_acquire():
        LOG.info("another host serves %s", workspace)
        return 0
    become_subreaper()
    journal = Journal.open(home)
    try:
        kit = open_kit(home, journal, workspace, provider=provider_of)
        driver = identity(journal, workspace, "host", host_id, key_variables(kit.loaded().config))
        with DriverLock(journal, driver):
            point("host.started")
            LOG.info("host %s, pid %d, serves %s", driver.host_id, driver.pid, workspace)
            config_rules.sync(journal, kit.loaded(), kit.tools.descriptors())
            _ask(journal, workspace)
            asyncio.run(_serve(kit, driver, linger))
            LOG.info("host %s ended", driver.host_id)
    except ConfigUnusable as error:
        LOG.error("%s", error)
        return 1
    finally:
        journal.close()
        lock.release()
    return 0


def _ask(journal: Journal, workspace: str) -> None:
    try:
        trusting.ask(journal, workspace)
    except TrustRefused as error:
        LOG.warning("the trust question was not asked: %s", error)


async def _serve(kit: Kit, driver: DriverIdentity, linger: float) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: LOG.info("the terminal is gone; agents go on"))
    watching = PipelineWatch(kit.journal, kit.workspace, logged, DELAY)
    try:
        with following(kit):
            await Supervisor(kit, driver, lambda: has_screen(kit.home, kit.workspace), linger).run(stop)
    finally:
        watching.close()
