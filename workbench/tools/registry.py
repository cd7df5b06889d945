"""The registry of tools: fixed once it is made, and checked before anything is offered to a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, get_args

from msgspec.structs import replace

from workbench.config.sections import ToolSettings, narrowed_providers
from workbench.domain.values import Capability, Risk, ToolDescriptor
from workbench.policy import schemas
from workbench.tools.base import AnyTool
from workbench.tools.create_directory import CreateDirectory
from workbench.tools.execution import RunInTerminal, RunPipeline, TerminalLastCommand
from workbench.tools.fetch_webpage import FetchWebpage
from workbench.tools.file_edit import CreateFile, ReplaceString
from workbench.tools.file_move import DeleteFile, MoveFile
from workbench.tools.file_read import ContextRead, ReadFile
from workbench.tools.file_search import FileSearch
from workbench.tools.grep_search import GrepSearch
from workbench.tools.list_directory import ListDir
from workbench.tools.patch_apply import ApplyPatch
from workbench.tools.prepare_pr import PreparePr

_WIRE_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


NO_SETTINGS: Final[Mapping[str, ToolSettings]] = MappingProxyType({})


class InvalidTool(ValueError):
    """A tool may not be registered; names it and says why."""


class ToolRegistry:
    """Tools by id and wire name."""

    def __init__(
        self, tools: Iterable[AnyTool], requested: Iterable[AnyTool] = (), *, is_checked: bool = False
    ) -> None:
        """Check and keep the tools; those `requested` are for humans, and no model is offered them.

        `is_checked`: their descriptors were checked before.

        Raises:
            InvalidTool: A name is there twice or malformed, a schema or an example is wrong, a parameter that
                the descriptor names does not exist, or nobody may see the tool.
        """
        by_name: dict[str, AnyTool] = {}
        requested = tuple(requested)
        for tool in (*tools, *requested):
            for name in {tool.descriptor.id, tool.descriptor.wire_name}:
                if name in by_name:
                    raise InvalidTool(f"{name}: registered twice; give one of the tools another name")
                by_name[name] = tool
            for problem in () if is_checked else _tool_problems(tool.descriptor):
                raise InvalidTool(f"{tool.descriptor.id}: {problem}")
        self._requested = MappingProxyType({tool.descriptor.id: tool for tool in requested})
        self._tools: Mapping[str, AnyTool] = MappingProxyType(
            {name: tool for name, tool in by_name.items() if tool not in requested}
        )
        self._descriptors: Mapping[str, ToolDescriptor] = _narrowed_descriptors(self._tools, NO_SETTINGS)
        self._narrowed = (NO_SETTINGS, self._descriptors)
        """The settings that narrowed the tools last, and the descriptors that came of it."""

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name) or self._requested.get(name)

    def requested_descriptors(self) -> Mapping[str, ToolDescriptor]:
        """Return the descriptors of the tools of humans, by id."""
        return {name: tool.descriptor for name, tool in self._requested.items()}

    def descriptors(self, settings: Mapping[str, ToolSettings] = NO_SETTINGS) -> Mapping[str, ToolDescriptor]:
        """Return descriptors by id and by wire name, as the gate takes them.

        `settings` narrow them, once for each object: settings are never changed, only replaced.
        """
        if not settings:
            return self._descriptors
        narrowed_by, descriptors = self._narrowed
        if narrowed_by is not settings:
            descriptors = _narrowed_descriptors(self._tools, settings)
            self._narrowed = settings, descriptors
        return descriptors

    def read_only_names(self) -> frozenset[str]:
        """Return the ids and wire names of the tools that only read."""
        return frozenset(name for name, tool in self._tools.items() if tool.descriptor.capability == "read")

    def visible(
        self,
        provider: str,
        active: Sequence[str] = (),
        kind: str = "",
        settings: Mapping[str, ToolSettings] = NO_SETTINGS,
    ) -> tuple[ToolDescriptor, ...]:
        """Return the tools that a provider sees in a session, in the order of registration.

        Args:
            provider: Name of the provider.
            active: Ids of the session's active tools; empty means all.
            kind: Kind of the provider, where it has another name.
            settings: What the configuration says of tools.
        """
        unique = {descriptor.id: descriptor for descriptor in self.descriptors(settings).values()}
        return tuple(
            descriptor
            for descriptor in unique.values()
            if descriptor.is_offered_to(provider, kind) and (not active or descriptor.id in active)
        )


def every_tool() -> tuple[AnyTool, ...]:
    """Return all tools that there are, unchecked: who only names them need not wait for their schemas."""
    return (
        CreateFile(), ReadFile(), ReplaceString(), ListDir(), FileSearch(), GrepSearch(), RunInTerminal(),
        TerminalLastCommand(), CreateDirectory(), FetchWebpage(), ContextRead(), PreparePr(), RunPipeline(),
        MoveFile(), DeleteFile(),
    )  # fmt: skip


def _narrowed_descriptors(
    tools: Mapping[str, AnyTool], settings: Mapping[str, ToolSettings]
) -> Mapping[str, ToolDescriptor]:
    return MappingProxyType({name: narrowed_tool(tool.descriptor, settings) for name, tool in tools.items()})


def narrowed_tool(descriptor: ToolDescriptor, settings: Mapping[str, ToolSettings]) -> ToolDescriptor:
    """Return a tool as the configuration offers it: to fewer providers, never to more."""
    named = [settings[name] for name in {descriptor.id, descriptor.wire_name} if name in settings]
    if not named:
        return descriptor
    allowed: Sequence[str] = descriptor.allowed_providers
    for tool in named:
        allowed = narrowed_providers(allowed, tool.providers)
    return replace(descriptor, allowed_providers=tuple(allowed))


def tool_descriptors() -> tuple[ToolDescriptor, ...]:
    """Return the descriptor of every tool, sorted by id."""
    return tuple(sorted((tool.descriptor for tool in every_tool()), key=lambda tool: tool.id))


@cache
def tool_registry() -> ToolRegistry:
    """Return the registry of all tools that there are, made once: no tool keeps anything.

    A test checks their descriptors; at each start it would take longer than all else until the first event.
    """
    return ToolRegistry(every_tool(), requested=(ApplyPatch(),), is_checked=True)


def _tool_problems(descriptor: ToolDescriptor) -> Iterator[str]:
    if not descriptor.id or _WIRE_NAME.fullmatch(descriptor.wire_name) is None:
        yield "wire_name: 1 to 64 letters, digits, - or _"
    if not descriptor.description.strip():
        yield "description: empty; say what the tool does"
    if descriptor.risk_level not in get_args(Risk) or descriptor.capability not in get_args(Capability):
        yield f"risk_level or capability: one of {', '.join((*get_args(Risk), *get_args(Capability)))}"
    if not descriptor.allowed_providers:
        yield "allowed_providers: empty; name providers or their kinds, or * for all"
    yield from (f"input_schema: {problem}" for problem in schemas.schema_problems(descriptor.input_schema))
    yield from (f"output_schema: {problem}" for problem in schemas.schema_problems(descriptor.output_schema))
    if not descriptor.examples:
        yield "examples: none; show at least one call"
    yield from _unknown_parameters(descriptor)
    for example in descriptor.examples:
        for problem in schemas.parameter_problems(descriptor.input_schema, example.parameters):
            yield f"example '{example.description}': {problem}"


def _unknown_parameters(descriptor: ToolDescriptor) -> Iterator[str]:
    named = (
        *descriptor.path_parameters,
        descriptor.command_parameter,
        descriptor.url_parameter,
        descriptor.target_parameter,
    )
    properties = descriptor.input_schema.get("properties", {})
    yield from (f"{name}: not a parameter of its schema" for name in named if name and name not in properties)
