"""Convert the content of an older configuration file to the form of this version."""

from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from workbench.config.keys import (
    CONFIG_VERSION,
)
from workbench.config.types import (
    KEY_ALIASES,
)
from workbench.domain.values import Json, JsonObject


class MigratedContent(Struct, frozen=True, kw_only=True):
    """A file's content in the form of this version."""

    content: JsonObject
    changes: tuple[str, ...]
    """What was changed, a sentence each; empty where nothing had to be."""


def migrate_content(content: Mapping[str, Json]) -> MigratedContent:
    """Return the content of a configuration file in the form of this version."""
    changes: list[str] = []
    migrated: dict[str, Json] = {"config_version": CONFIG_VERSION}
    version = content.get("config_version")
    if version != CONFIG_VERSION:
        was = "it had none" if version is None else f"it was {version}"
        changes.append(f"config_version is {CONFIG_VERSION}; {was}.")
    for name, value in content.items():
        if name == "config_version":
            continue
        if name in KEY_ALIASES and _put_value(migrated, content, KEY_ALIASES[name], value):
            changes.append(f"{name} is {KEY_ALIASES[name]} now.")
        else:
            migrated.setdefault(name, value)
    return MigratedContent(content=migrated, changes=tuple(changes))


def _put_value(migrated: dict[str, Json], content: Mapping[str, Json], path: str, value: Json) -> bool:
    """Put a value at a dotted key; False where the file says something else there, which holds then."""
    *sections, last = path.split(".")
    parent = migrated
    for section in sections:
        below = parent.get(section, content.get(section) if parent is migrated else None)
        inner: dict[str, Json] = dict(cast("JsonObject", below)) if isinstance(below, Mapping) else {}
        parent[section] = inner
        parent = inner
    if last in parent and parent[last] != value:
        return False
    parent[last] = value
    return True
