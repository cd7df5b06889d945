"""Everything a driver needs, in one frozen record that the composition root fills.

Holds no state of any session.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from workbench.config.values import Loaded
from workbench.effects.clock import Clock
from workbench.effects.environment import agent_environment
from workbench.effects.files import Root
from workbench.host.charge import PLAIN, Charge
from workbench.host.endpoints import key_variables, teach
from workbench.host.models import ProviderMaker
from workbench.host.settings import Settings
from workbench.host.trusting import is_trusted
from workbench.journal.home import Home
from workbench.journal.journal import Journal
from workbench.tools.base import Limits
from workbench.tools.registry import Registry, catalogue


class ConfigUnusable(Exception):
    """A configuration file cannot be used; says which, why and what to do."""

    what = "Nothing was started."

    def __init__(self, loaded: Loaded) -> None:
        problem = next(problem for problem in loaded.problems if problem.fatal)
        self.why, self.remedy = str(problem), "workbench config validate names everything that is wrong."
        super().__init__(f"{self.what} {self.why} {self.remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What a driver of one workspace works with."""

    home: Home
    journal: Journal
    clock: Clock
    workspace: str
    root: Root
    settings: Settings
    tools: Registry
    provider: ProviderMaker
    environment: Mapping[str, str]
    can_ask: bool = True
    """False: nobody can answer, so what would be asked is denied."""
    charge: Charge = PLAIN
    """What a step of a pipeline adds; nothing for any other session."""
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)

    def loaded(self) -> Loaded:
        """Return the settings as the present trust in the workspace allows.

        Raises:
            ConfigUnusable: going on could mean that less is denied than was written.
        """
        loaded = self.settings.loaded(trusted=is_trusted(self.journal, self.governor))
        if not loaded.is_usable:
            raise ConfigUnusable(loaded)
        return loaded

    @property
    def governor(self) -> str:
        """Return the workspace whose trust and settings hold here."""
        return self.charge.project or self.workspace

    def limits(self) -> Limits:
        """Return the limits that tools get."""
        limits = self.loaded().config.limits
        return Limits(
            tool_output_bytes=limits.tool_output_bytes,
            context_file_bytes=limits.context_file_bytes,
            command_seconds=limits.command_seconds,
            output_blob_bytes=limits.output_blob_bytes,
        )


def open_kit(
    home: Home,
    journal: Journal,
    workspace: str,
    *,
    provider: ProviderMaker,
    options: Mapping[str, object] | None = None,
    can_ask: bool = True,
    tools: Registry | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Kit:
    """Put a kit together for a workspace, given by its real path.

    Raises:
        ConfigUnusable: a configuration file cannot be used.
    """
    settings = Settings(home, workspace, options or {})
    config = settings.loaded(trusted=True).config
    teach(config)
    environment = agent_environment(os.environ, workspace, key_variables(config))
    kit = Kit(
        home=home, journal=journal, clock=journal.clock, workspace=workspace, root=Root(workspace),
        settings=settings, tools=tools or catalogue(), provider=provider,
        environment=environment, can_ask=can_ask, sleep=sleep,
    )  # fmt: skip
    kit.loaded()
    return kit
