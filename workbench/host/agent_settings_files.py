"""The settings files of other agents: where they are, and how they are read and replaced.

No link is followed below the folder that the user or an environment variable names, and nothing is written
over a change that was not seen.
"""

import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.bridge.agent_modes import AGENT_SETTINGS, SettingsSource
from workbench.bridge.agents import HookedAgent
from workbench.bridge.own_rules import claude_rules
from workbench.domain.values import Refused
from workbench.effects.file_primitives import FileRefused
from workbench.effects.files import Root
from workbench.effects.path_files import read_bounded
from workbench.supervised.messages import OwnRule
from workbench.text.human import sentence
from workbench.text.json_nodes import JsonError, parse_commented_json
from workbench.text.safe import one_line

LARGEST_SETTINGS: Final = 4_000_000
NEW_FILE_MODE: Final = 0o600


class SettingsRefused(Refused):
    """Settings of another agent were not changed."""


class SettingsFile(Struct, frozen=True, kw_only=True):
    """A file of an agent's settings: a folder that exists, and the path below it."""

    root: str
    name: str
    """Relative to the root."""

    @property
    def path(self) -> str:
        return str(Path(self.root, self.name))


class SettingsImage(Struct, frozen=True, kw_only=True):
    """A settings file as it was read."""

    file: SettingsFile
    data: bytes | None
    mode: int = NEW_FILE_MODE


def settings_file(agent: HookedAgent, env: Mapping[str, str], project: str | None) -> SettingsFile:
    """Return the file that has an agent's hooks: the user's, or that of a project's folder."""
    place = agent.settings
    if project is not None:
        return SettingsFile(root=project, name=place.project)
    named = env.get(place.variable, "") if place.variable else ""
    if named:
        folder = Path(_expanded(named, env)).absolute() / place.below_variable
        root = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
        return SettingsFile(root=str(root), name=str((folder / place.file).relative_to(root)))
    folder = Path(_expanded(place.folder, env)) / place.file
    home = user_home(env)
    return SettingsFile(root=home, name=str(folder.relative_to(home)))


def user_home(env: Mapping[str, str]) -> str:
    """Return the home of the user of an environment."""
    return env.get("HOME") or str(Path.home())


def _expanded(path: str, env: Mapping[str, str]) -> str:
    return path.replace("~", user_home(env), 1) if path == "~" or path.startswith("~/") else path


def read_settings(file: SettingsFile) -> SettingsImage:
    """Read a settings file. Raises SettingsRefused: it is a link, read-only, or cannot be read."""
    try:
        with Root(file.root) as root:
            image = root.image(file.name, LARGEST_SETTINGS)
    except FileRefused as error:
        raise refusal(file, error) from None
    if image is None:
        return SettingsImage(file=file, data=None)
    if not image.mode & stat.S_IWUSR:
        why = f"{file.path} is read-only, so something else looks after it."
        raise SettingsRefused("Nothing was changed.", why, f"chmod u+w {file.path} allows it.")
    if image.links > 1:
        why = f"{file.path} has other names (hard links), and they would keep the old content."
        raise SettingsRefused("Nothing was changed.", why, "Make it a file of its own.")
    return SettingsImage(file=file, data=image.data, mode=image.mode)


def refusal(file: SettingsFile, error: FileRefused) -> SettingsRefused:
    """Return why a settings file is not used, by the whole path."""
    return SettingsRefused("Nothing was changed.", f"{file.path}: {error.why}.", sentence(error.remedy))


def settings_text(image: SettingsImage) -> str:
    """Return the text of a settings file, a byte order mark included. Raises SettingsRefused."""
    try:
        return (image.data or b"").decode("utf-8")
    except UnicodeDecodeError:
        why = f"{image.file.path} is not UTF-8 text."
        raise SettingsRefused("Nothing was changed.", why, "Save it as UTF-8.") from None


def broken_settings(file: SettingsFile, error: JsonError) -> SettingsRefused:
    """Return where a settings file cannot be read as JSON."""
    why = f"{file.path}, line {error.line}, column {error.column}: {one_line(error.reason, 200)}."
    return SettingsRefused("Nothing was changed.", why, "Correct the file, then do this again.")


def settings_values(agent: HookedAgent, file: SettingsFile) -> dict[SettingsSource, object]:
    """Return what an agent's own settings say, as far as they can be read; nothing here is believed."""
    known = AGENT_SETTINGS[agent.id]
    folder = Path(file.path).parent
    config = next((path for name in known.config if (path := folder / name).is_file()), None)
    managed = next((path for name in known.managed if (path := Path(name)).is_file()), None)
    return {
        "settings": _values_of(Path(file.path)), "config": _values_of(config), "managed": _values_of(managed),
    }  # fmt: skip


_CLAUDE_PROJECT_FILES: Final = (".claude/settings.json", ".claude/settings.local.json")
LARGEST_PROJECT_SETTINGS: Final = 200_000
"""Bytes of a folder's settings that are read with each call; larger files are left out."""


def own_rules(agent: HookedAgent, workspace: str, env: Mapping[str, str]) -> tuple[OwnRule, ...]:
    """Return the rules in an agent's settings by which it asks its own user; blocking.

    OpenCode says its rules with each call.
    """
    if agent.id != "claude":
        return ()
    own = settings_values(agent, settings_file(agent, env, None))
    project = (_values_of(Path(workspace, name), LARGEST_PROJECT_SETTINGS) for name in _CLAUDE_PROJECT_FILES)
    return claude_rules((own["managed"], own["settings"], *project))


def _values_of(path: Path | None, most: int = LARGEST_SETTINGS) -> object:
    try:
        text = (read_bounded(path, most) or b"").decode("utf-8") if path else ""
        if path is not None and path.suffix == ".toml":
            return tomllib.loads(text)
        is_json = path is not None and path.suffix in (".json", ".jsonc")
        return parse_commented_json(text).value if is_json else None
    except (FileRefused, ValueError, RecursionError):
        return None
