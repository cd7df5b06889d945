"""Everything a driver needs, in one frozen record that the composition root fills.

Owns how a workspace's settings follow its trust: what an untrusted workspace says only narrows. Holds no
state of any session.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.config.layers import USER_FILE, WORKSPACE_FILE, load
from workbench.config.live import Merged, merged
from workbench.config.values import Loaded
from workbench.effects.clock import Clock
from workbench.effects.environment import AGENT_VARIABLE, scrubbed_environment
from workbench.effects.files import Root
from workbench.host.charge import PLAIN, Charge
from workbench.host.endpoints import key_variables, teach
from workbench.host.models import ProviderMaker
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


class Settings:
    """The configuration of one workspace, read once for each answer to the trust question."""

    def __init__(self, home: Home, workspace: str, options: Mapping[str, object]) -> None:
        self._home, self._workspace, self._options = home, workspace, options
        self._loaded: dict[bool, Loaded] = {}

    def loaded(self, *, trusted: bool) -> Loaded:
        """Return the settings with all that was found wrong in their files."""
        if trusted not in self._loaded:
            self._loaded[trusted] = self._read(trusted=trusted)
        return self._loaded[trusted]

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that are read."""
        return self._home.path / USER_FILE, Path(self._workspace) / WORKSPACE_FILE

    def read_again(self, *, trusted: bool) -> Merged:
        """Take over from the files what may change while things run, and say what that is.

        Args:
            trusted: For which answer to the trust question it is told; both are read.
        """
        told = Merged(loaded=self.loaded(trusted=trusted))
        for known, present in list(self._loaded.items()):
            found = merged(present, self._read(trusted=known))
            self._loaded[known] = found.loaded
            told = found if known == trusted else told
        return told

    def _read(self, *, trusted: bool) -> Loaded:
        return load(
            Path(self._home.path), Path(self._workspace), trusted=trusted, env=os.environ,
            options=self._options,
        )  # fmt: skip


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
    environment = {
        **scrubbed_environment(os.environ, key_variables(config)), AGENT_VARIABLE: "1", "PWD": workspace
    }  # fmt: skip
    kit = Kit(
        home=home, journal=journal, clock=journal.clock, workspace=workspace, root=Root(workspace),
        settings=settings, tools=tools or catalogue(), provider=provider,
        environment=environment, can_ask=can_ask, sleep=sleep,
    )  # fmt: skip
    kit.loaded()
    return kit
