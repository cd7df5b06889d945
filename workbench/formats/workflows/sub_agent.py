"""A sub-agent of Claude Code as a persona: its front matter as facts, its text as the prompt."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from workbench.formats.workflows.outline import MOST_BYTES, split_front_matter
from workbench.formats.workflows.task_values import scalar
from workbench.text.json_nodes import LocatedNode
from workbench.text.safe import one_line
from workbench.text.yaml_nodes import YamlError, parse_yaml

_READ: Final = frozenset({"name", "description", "tools", "disallowedTools", "model"})
_WITHOUT_EFFECT: Final = frozenset({"color"})
_TIERS: Final = frozenset({"sonnet", "opus", "haiku", "inherit", ""})
"""Words for a model that only Claude Code knows."""
_MOST_TOOLS: Final = 200
_MOST_NAME: Final = 60


class SubAgentRefused(ValueError):
    """A file is not a sub-agent that can be read; says why."""


class ImportedPersona(Struct, frozen=True, kw_only=True):
    """A persona, not yet in a manifest."""

    name: str
    description: str
    prompt: str
    allowed: tuple[str, ...] | None
    """Permission patterns; None where the file limits nothing."""
    denied: tuple[str, ...]
    model: str
    notes: tuple[str, ...]
    """What was left out, a sentence each."""


def read_sub_agent(text: str) -> ImportedPersona:
    """Read a sub-agent. Raises SubAgentRefused."""
    front = split_front_matter(text.replace("\r\n", "\n"))
    if front is None:
        raise SubAgentRefused("it has no front matter with a text below")
    try:
        members = parse_yaml(front.yaml, most_bytes=MOST_BYTES, most_values=10_000).members or {}
    except YamlError as error:
        # Line 1 of the file are the hyphens.
        raise SubAgentRefused(f"line {error.line + 1}: {one_line(error.reason, 200)}") from None
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", scalar(members.get("name"))).strip("-")[:_MOST_NAME]
    if not name:
        raise SubAgentRefused("its front matter has no name")
    tools, model = members.get("tools"), scalar(members.get("model"))
    return ImportedPersona(
        name=name, description=one_line(" ".join(scalar(members.get("description")).split()), 600),
        prompt=front.body, allowed=None if tools is None else tuple(_tool_names(tools)),
        denied=tuple(_tool_names(members.get("disallowedTools"))),
        model="" if model in _TIERS else model,
        notes=tuple(_notes(members, model)),
    )  # fmt: skip


def _tool_names(node: LocatedNode | None) -> Iterator[str]:
    """Yield the tools of a list, or of a text with commas, which patterns in brackets may hold too."""
    if node is None:
        return
    written = [scalar(item) for item in node.items] if node.items is not None else [scalar(node)]
    for text in written[:_MOST_TOOLS]:
        yield from (name for part in re.split(r",(?![^()]*\))", text)[:_MOST_TOOLS] if (name := part.strip()))


def _notes(members: Mapping[str, LocatedNode], model: str) -> Iterator[str]:
    if model in _TIERS and model not in ("", "inherit"):
        yield f"model: {model} is a word of Claude Code; the persona uses the model of its provider"
    for name in members:
        if name not in _READ and name not in _WITHOUT_EFFECT:
            yield f"{one_line(name, 60)}: personas have no such setting"
