"""The agents of this machine: program, version, mode, connections, and what keeps hooks from running."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.bridge.agent_modes import OffSwitch, PresentMode, off_switches, present_mode
from workbench.bridge.agents import AGENTS, HookedAgent
from workbench.effects.child_processes import ProcessNotStarted, run_hook
from workbench.effects.process_environment import scrubbed_environment
from workbench.effects.search_path import own_environment, own_search_path
from workbench.host.agent_connections import ConnectedFile, connected_file, connection_files
from workbench.host.agent_settings_files import (
    SettingsFile,
    SettingsRefused,
    read_settings,
    settings_file,
    settings_values,
    user_home,
)
from workbench.journal.home import Home
from workbench.text.safe import one_line

_VERSION: Final = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.+-]*", re.ASCII)
_VERSION_SECONDS: Final = 5.0
_VERSION_BYTES: Final = 4_000


class FoundAgent(Struct, frozen=True, kw_only=True):
    """An agent whose hooks are understood, as it is found on this machine."""

    agent: HookedAgent
    program: str | None
    file: str
    """Path of its settings with hooks."""
    mode: PresentMode | None
    connections: tuple[ConnectedFile, ...]
    """In the user's settings, those of the folder, and wherever else it was connected."""
    obstacles: tuple[str, ...]
    """What keeps it from being connected, or its hooks from running."""
    version: str = ""

    @property
    def is_here(self) -> bool:
        """Return whether it is worth a row."""
        return self.program is not None or bool(self.connections)


def find_agents(
    home: Home, window_minutes: float, workspace: str, env: Mapping[str, str] = os.environ
) -> tuple[FoundAgent, ...]:
    """Return every agent of the table that is on this machine, or is connected; no program is started."""
    found = (find_agent(home, agent, window_minutes, workspace, env) for agent in AGENTS)
    return tuple(one for one in found if one.is_here)


def find_agent(
    home: Home, agent: HookedAgent, window_minutes: float, workspace: str,
    env: Mapping[str, str] = os.environ,
) -> FoundAgent:  # fmt: skip
    """Return one agent of the table, whether it is there or not; its program is not started."""
    file = settings_file(agent, env, None)
    values = settings_values(agent, file)
    files = connection_files(home, agent, workspace, env)
    connections = (connected_file(home, agent, one, window_minutes) for one in files)
    return FoundAgent(
        agent=agent, program=program_path(agent.command, env), file=file.path,
        mode=present_mode(agent.id, values), connections=tuple(one for one in connections if one is not None),
        obstacles=(*_file_obstacles(file), *map(_switch_text, off_switches(agent.id, values))),
    )  # fmt: skip


def _file_obstacles(file: SettingsFile) -> Iterator[str]:
    try:
        read_settings(file)
    except SettingsRefused as error:
        yield f"{error.why} {error.remedy}"


def _switch_text(switch: OffSwitch) -> str:
    value = str(switch.value).lower()
    owner = {"settings": "Its settings", "config": "Its config.toml", "managed": "Its administrator"}
    return f"{owner[switch.source]}: {'.'.join(switch.path)} is {value}, so no hook of ours runs."


def program_path(command: str, env: Mapping[str, str]) -> str | None:
    """Return where an agent's program is: the user's own, not one in the workspace."""
    named = own_search_path(env.get("PATH", ""))
    usual = [f"{user_home(env)}/{name}" for name in (".local/bin", f".{command}/local", f".{command}/bin")]
    return shutil.which(command, path=os.pathsep.join(filter(None, (named, *usual))))


def with_versions(
    agents: tuple[FoundAgent, ...], env: Mapping[str, str] = os.environ
) -> tuple[FoundAgent, ...]:
    """Return agents with the versions that their programs print; empty where one prints none in time."""
    with ThreadPoolExecutor(max_workers=len(agents) or 1) as threads:
        versions = list(threads.map(_version, (found.program for found in agents), repeat(env)))
    return tuple(replace(found, version=text) for found, text in zip(agents, versions, strict=True))


def _version(program: str | None, env: Mapping[str, str]) -> str:
    if program is None:
        return ""
    try:
        ended = run_hook(
            [program, "--version"], b"", user_home(env), own_environment(scrubbed_environment(env)),
            _VERSION_SECONDS, keep=_VERSION_BYTES,
        )  # fmt: skip
    except ProcessNotStarted:
        return ""
    match = _VERSION.search(ended.output.decode("utf-8", "replace"))
    return one_line(match[0], 40) if match and ended.code == 0 else ""
