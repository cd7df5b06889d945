"""Brings the content of a configuration file to this version: older names and older version marks.

Pure. Owns what each older form is called now. It must never drop a key, nor touch a value it does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from workbench.config.keys import ALIASES, CONFIG_VERSION
from workbench.domain.values import Json, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """A file's content in the form of this version."""

    content: JsonObject
    changes: tuple[str, ...]
    """What was changed, a sentence each; empty where nothing had to be."""


def migrated(content: Mapping[str, Json]) -> Migrated:
    """Return the content of a configuration file in the form of this version."""
    changes: list[str] = []
    found: dict[str, Json] = {"config_version": CONFIG_VERSION}
    version = content.get("config_version")
    if version != CONFIG_VERSION:
        was = "it had none" if version is None else f"it was {version}"
        changes.append(f"config_version is {CONFIG_VERSION}; {was}.")
    for name, value in content.items():
        if name == "config_version":
            continue
        if name in ALIASES and _put(found, content, ALIASES[name], value):
            changes.append(f"{name} is {ALIASES[name]} now.")
        else:
            found.setdefault(name, value)
    return Migrated(content=found, changes=tuple(changes))


def _put(found: dict[str, Json], content: Mapping[str, Json], path: str, value: Json) -> bool:
    """Put a value at a dotted key; False where the file says something else there, which holds then."""
    *sections, last = path.split(".")
    place = found
    for section in sections:
        below = place.get(section, content.get(section) if place is found else None)
        inner: dict[str, Json] = dict(cast("JsonObject", below)) if isinstance(below, Mapping) else {}
        place[section] = inner
        place = inner
    if last in place and place[last] != value:
        return False
    place[last] = value
    return True
