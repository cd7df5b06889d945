"""Where settings are read from: a file, the environment, options; each gives one located JSON object.

Owns opening configuration files for reading, with a bound. It must never follow a link in a workspace,
wait on a pipe, or decide what a value means.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from workbench.config.keys import ALIASES, KEYS, PROVIDER_KEYS, Key
from workbench.config.kinds import Choice, Flag, ListOf, Text, Time, Url
from workbench.config.values import Layer
from workbench.records import dataclass
from workbench.text.located import JsonError, Node, node_of, parse

LARGEST_FILE = 1_048_576
_PREFIX = "WORKBENCH_"
_OTHERS = ("WORKBENCH_HOME", "WORKBENCH_CALL", "WORKBENCH_FAULT")
"""Variables (and beginnings of variables) of the program that are no settings."""
_FLAGS = {
    "1": True,
    "yes": True,
    "on": True,
    "true": True,
    "0": False,
    "no": False,
    "off": False,
    "false": False,
}


class Unreadable(Exception):
    """A file that is there and cannot be used as configuration."""

    def __init__(self, reason: str, remedy: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value that was given by itself, not as part of a file."""

    layer: Layer
    name: str
    """Environment variable, or `option`."""
    path: str
    """Dotted key; empty where the name is no known one."""
    node: Node


def read_file(path: Path, *, may_be_link: bool) -> Node | None:
    """Read a configuration file.

    Args:
        path: The file.
        may_be_link: Whether its last component may be a link; never in a workspace.

    Returns:
        The object in it; None where there is no file.

    Raises:
        Unreadable: For anything else.
    """
    data = _read_bytes(path, may_be_link)
    if data is None:
        return None
    try:
        root = parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(
            "it is not UTF-8 text.", "Save it as UTF-8.", data.count(b"\n", 0, error.start) + 1
        ) from None
    except JsonError as error:
        raise Unreadable(f"{error.reason}.", "Correct it.", error.line, error.column) from None
    if root.members is None:
        raise Unreadable("it holds no JSON object.", 'Begin it with "{".', root.line, root.column)
    return root


def from_environment(env: Mapping[str, str]) -> list[Setting]:
    """Return the settings among the environment variables, and those that only look like one."""
    return [
        _variable(name, text)
        for name, text in sorted(env.items())
        if name.startswith(_PREFIX) and not name.startswith(_OTHERS)
    ]


def from_options(options: Mapping[str, object]) -> list[Setting]:
    """Return the settings among the command-line options; None means not given."""
    return [
        Setting(layer="option", name="option", path=path, node=node_of(value))
        for path, value in options.items()
        if value is not None
    ]


def variable_name(path: str) -> str:
    """Return the environment variable of a dotted key."""
    return _PREFIX + path.replace(".", "_").replace("-", "_").upper()


def _read_bytes(path: Path, may_be_link: bool) -> bytes | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if may_be_link else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = "it is a link." if path.is_symlink() and not may_be_link else f"{error.strerror}."
        raise Unreadable(reason, "Make it a regular file that you can read.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("it is no regular file.", "Make it a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise Unreadable("it is over 1 MB.", "A configuration is smaller; look what was put there.")
    return data


def _variable(name: str, text: str) -> Setting:
    key, path = _known(name)
    node = node_of(text) if key is None else _node(key, text)
    return Setting(layer="environment", name=name, path=path, node=node)


def _known(name: str) -> tuple[Key | None, str]:
    for key in KEYS:
        if variable_name(key.path) == name and key.path != "config_version":
            return key, key.path
    for alias, path in ALIASES.items():
        if variable_name(alias) == name:
            return _provider_key(path.rsplit(".", 1)[1]), path
    for key in PROVIDER_KEYS:
        start, end = f"{_PREFIX}PROVIDERS_", f"_{key.path.upper()}"
        if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end):
            return key, f"providers.{name[len(start) : -len(end)].lower()}.{key.path}"
    return None, ""


def _provider_key(field: str) -> Key | None:
    return next((key for key in PROVIDER_KEYS if key.path == field), None)


def _node(key: Key, text: str) -> Node:
    """Read the text of a variable as the key has it: words as they are, the rest as JSON."""
    if isinstance(key.kind, Text | Url | Choice | Time):
        return node_of(text)
    if isinstance(key.kind, Flag):
        return node_of(_FLAGS.get(text.lower(), text))
    try:
        return node_of(parse(text).value)
    except JsonError:
        is_list = isinstance(key.kind, ListOf) and isinstance(key.kind.item, Text)
        return node_of([line for line in text.splitlines() if line.strip()] if is_list else text)
