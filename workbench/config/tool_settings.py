"""The settings of single tools: which providers' models may see them. They only narrow."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from workbench.config.keys import Text, text_kind, text_map_kind


class ToolSettings(Struct, frozen=True, kw_only=True):
    """What the configuration says of one tool."""

    providers: Annotated[
        list[Text],
        Meta(
            description="Providers, by name or kind, whose models may see the tool; without any, none may.",
            extra={"words": 'a list of providers such as ["ollama"]'},
        ),
    ]


TOOL_MAP = text_map_kind(
    'an object such as {"fetch_webpage": {"providers": ["ollama"]}}',
    text_kind("the id of a tool", limit=128),
    Annotated[ToolSettings, Meta(extra={"words": "settings of a tool {providers}"})],
)  # fmt: skip


def narrowed_tools(
    earlier: Mapping[str, ToolSettings], later: Mapping[str, ToolSettings]
) -> dict[str, ToolSettings]:
    """Return the settings of two layers together: a provider has to be named by both that speak of a tool."""
    both = {
        tool: ToolSettings(providers=narrowed_providers(earlier[tool].providers, settings.providers))
        for tool, settings in later.items()
        if tool in earlier
    }
    return {**earlier, **later, **both}


def narrowed_providers(allowed: Sequence[str], named: Sequence[str]) -> list[str]:
    """Return the providers that are in both lists; `*` is every one."""
    if "*" in allowed:
        return list(named)
    return [provider for provider in allowed if "*" in named or provider in named]
