"""Add personas to the text of a manifest, which stays as its author wrote it. Pure."""

import textwrap
from collections.abc import Mapping
from typing import Final, cast

from msgspec import Struct, field

from workbench.domain.values import Refused
from workbench.pipelines.model import BUILT_IN_ADAPTER
from workbench.pipelines.outline import MANIFEST_KIND
from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import YamlError, parse_yaml
from workbench.text.yaml_writer import yaml_text

_HEAD: Final = """\
# The agents of this project's pipelines: each persona is a prompt, and what it may do.
# `binary: workbench` is the built-in agent; its provider and model are those of the settings.
"""


class ManifestNotExtended(Refused):
    """A persona cannot be added to a manifest by a program."""


class PersonaEntry(Struct, frozen=True, kw_only=True):
    """A persona as a manifest has it, with the text of its prompt."""

    name: str
    description: str
    prompt: str
    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()
    model: str = ""


class ExtendedManifest(Struct, frozen=True, kw_only=True):
    """The text of a manifest with the personas that it did not have."""

    text: str = ""
    """Empty where nothing is to be added."""
    names: frozenset[str] = field(default_factory=frozenset[str])
    """Of the personas that were added."""


def with_personas(text: str | None, project: str, personas: Mapping[str, PersonaEntry]) -> ExtendedManifest:
    """Return a manifest with personas, by the paths of their prompts; those that it has by name stay.

    `text`: None for a new manifest of a project. Raises ManifestNotExtended.
    """
    if not personas:
        return ExtendedManifest()
    names = frozenset(persona.name for persona in personas.values())
    if text is None:
        return ExtendedManifest(text=_HEAD + yaml_text(_new_manifest(project, personas)), names=names)
    try:
        root = parse_yaml(text)
    except YamlError as error:
        why = f"The manifest cannot be read: {error}."
        raise ManifestNotExtended("Nothing was written.", why, "Correct it, then do this again.") from None
    missing = {path: one for path, one in personas.items() if one.name not in _members(root, "personas")}
    if not missing:
        return ExtendedManifest()
    adapter = _adapter(_members(root, "adapters"))
    entries = {one.name: _entry(one, adapter, path) for path, one in missing.items()}
    return ExtendedManifest(text=_inserted(text, root, entries), names=frozenset(entries))


def _new_manifest(project: str, personas: Mapping[str, PersonaEntry]) -> dict[str, object]:
    return {
        "apiVersion": "v1", "kind": MANIFEST_KIND, "metadata": {"name": project},
        "adapters": {"own": {"binary": BUILT_IN_ADAPTER, "mode": "headless"}},
        "personas": {one.name: _entry(one, "own", path) for path, one in personas.items()},
        "runtime": {"max_concurrent_workers": 2},
    }  # fmt: skip


def _entry(persona: PersonaEntry, adapter: str, prompt_file: str) -> dict[str, object]:
    permissions: dict[str, object] = {}
    if persona.allowed is not None:
        permissions["allowed_tools"] = list(persona.allowed)
    if persona.denied:
        permissions["deny"] = list(persona.denied)
    return {
        "adapter": adapter,
        **({"description": persona.description} if persona.description else {}),
        "system_prompt_file": prompt_file,
        **({"model": persona.model} if persona.model else {}),
        **({"permissions": permissions} if permissions else {}),
    }


def _members(root: LocatedNode, name: str) -> Mapping[str, LocatedNode]:
    node = (root.members or {}).get(name)
    return (node.members if node else None) or {}


def _adapter(adapters: Mapping[str, LocatedNode]) -> str:
    """Return the adapter of the built-in agent, else the first one."""
    binaries = {name: (node.members or {}).get("binary") for name, node in adapters.items()}
    own = (
        name
        for name, binary in binaries.items()
        if binary is not None and str(binary.value).rpartition("/")[2] == BUILT_IN_ADAPTER
    )
    return next(own, next(iter(adapters), "own"))


def _inserted(text: str, root: LocatedNode, entries: Mapping[str, dict[str, object]]) -> str:
    """Return a text with entries as the first members of `personas`, and nothing else changed."""
    place = (root.members or {}).get("personas")
    members = list((place.members if place else None) or {})
    written = yaml_text(dict(entries))
    if place is not None and place.members and members:
        first = place.members[members[0]]
        lines = text.splitlines(keepends=True)
        block = textwrap.indent(written, " " * (first.key_column - 1))
        inserted = "".join([*lines[: place.key_line], block, *lines[place.key_line :]])
        if _has_gained(root, inserted, entries):
            return inserted
    why = "Its list of personas is not written so that a program can add to it."
    remedy = f"Add this to personas by hand:\n{written}"
    raise ManifestNotExtended(f"The persona {one_line(', '.join(entries), 120)} was not added.", why, remedy)


def _has_gained(root: LocatedNode, inserted: str, entries: Mapping[str, dict[str, object]]) -> bool:
    """Return whether a new text has the entries more than the old one, and is the same otherwise."""
    try:
        after = cast("dict[str, object]", parse_yaml(inserted).value)
    except YamlError:
        return False
    before = cast("dict[str, object]", root.value)
    personas = cast("dict[str, object]", before["personas"])
    return after == {**before, "personas": {**personas, **entries}}
