"""Let a driver work by its configuration as it changes, as far as that is safe.

Owns what a driver does about a changed file: take over what may change at once, revoke rules that are gone,
say the rest in the log. It must never add a rule or run anything.
"""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from workbench.host import config_rules
from workbench.host.config_watch import ConfigWatch
from workbench.host.kit import Kit
from workbench.host.trusting import is_trusted
from workbench.journal.errors import JournalError

LOG = logging.getLogger("workbench.host")

DELAY: Final = 2.0
"""Seconds before a driver loads and watches anything: most runs are over by then."""


@contextmanager
def following(kit: Kit, delay: float = DELAY) -> Generator[None, None, None]:
    """Let a driver work by its configuration as it changes, as far as that is safe; for use inside a loop."""
    loop = asyncio.get_running_loop()

    def changed() -> None:
        with suppress(RuntimeError):  # the loop may be gone by now
            loop.call_soon_threadsafe(take_over, kit)

    watching = ConfigWatch(kit.settings.files, changed, delay)
    try:
        yield
    finally:
        watching.close()


def take_over(kit: Kit) -> None:
    """Read the configuration again; what may change at once holds from now on, the log says what does not."""
    try:
        found = kit.settings.read_again(trusted=is_trusted(kit.journal, kit.workspace))
        if found.words:
            LOG.info("%s", found.words)
        config_rules.sync(kit.journal, found.loaded, kit.tools.descriptors())
    except JournalError as error:
        LOG.warning("the changed configuration is not used: %s", error)
