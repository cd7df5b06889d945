"""Hook entries in an agent's settings: added as new items, found by their command line, cut out again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from msgspec import Struct

from workbench.bridge.agents import HookedAgent, HookEvent, Scope
from workbench.bridge.hook_command import HookSetup, hook_arguments, hook_seconds
from workbench.bridge.hook_line import HookLine, hook_line, parse_hook_line
from workbench.text.json_edit import add_item, remove_item
from workbench.text.json_nodes import parse_commented_json

_SECTION: Final = "hooks"


class HookEntry(Struct, frozen=True, kw_only=True):
    """A hook of ours in the settings of an agent, and what removes it byte for byte."""

    event: str
    command: str
    inserted: str = ""
    made: int = 0


class OwnHook(Struct, frozen=True, kw_only=True):
    """A hook of ours that was found in settings, and the path to it."""

    event: str
    command: str
    path: tuple[str | int, ...]
    is_whole_group: bool
    """Whether its group has no other hooks."""
    line: HookLine


def hook_group(agent: HookedAgent, event: HookEvent, setup: HookSetup) -> dict[str, object]:
    """Return the value that an agent's settings have for one hook of an event."""
    seconds = hook_seconds(event, setup)
    timeout = seconds * 1000 if agent.timeout_unit == "milliseconds" else seconds
    command = hook_line(hook_arguments(agent, event, setup))
    matcher = {"matcher": "*"} if event.has_matcher else {}
    return {**matcher, "hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def with_hooks(
    text: str, agent: HookedAgent, scope: Scope, setup: HookSetup
) -> tuple[str, tuple[HookEntry, ...]]:
    """Add a hook to each event of a scope. Raises JsonError."""
    entries: list[HookEntry] = []
    for event in agent.events_of(scope):
        added = add_item(text, (_SECTION, event.name), hook_group(agent, event, setup))
        text = added.text
        command = hook_line(hook_arguments(agent, event, setup))
        entries.append(HookEntry(event=event.name, command=command, inserted=added.inserted, made=added.made))
    return text, tuple(entries)


def own_hooks(settings: object, agent: HookedAgent, data: str) -> tuple[OwnHook, ...]:
    """Return the hooks in an agent's settings that lead to a data folder, whatever else is in there."""
    return tuple(
        hook for hook in workbench_hooks(settings) if hook.line.agent == agent.id and hook.line.data == data
    )


def workbench_hooks(settings: object) -> Iterator[OwnHook]:
    """Yield the hooks in settings that run the client, of any agent and data folder."""
    for event, groups in _members(_members(settings).get(_SECTION)).items():
        for group_number, group in enumerate(_items(groups)):
            handlers = _items(_members(group).get("hooks"))
            for number, handler in enumerate(handlers):
                command = _members(handler).get("command")
                line = parse_hook_line(command)
                if line is not None:
                    path = (_SECTION, event, group_number)
                    is_whole = len(handlers) == 1
                    yield OwnHook(
                        event=event, command=str(command), is_whole_group=is_whole, line=line,
                        path=path if is_whole else (*path, "hooks", number),
                    )  # fmt: skip


def without_hooks(text: str, agent: HookedAgent, data: str, entries: Sequence[HookEntry]) -> str:
    """Remove our hooks of an agent and a data folder; everything else stays byte for byte.

    `entries` are what was added, in that order: what was made with them goes too. Raises JsonError.
    """
    order = {(entry.event, entry.command): number for number, entry in enumerate(entries)}
    while hooks := own_hooks(parse_commented_json(text).value, agent, data):
        # The last that was added goes first, in front of it what was never noted, copies last to first.
        hook = max(reversed(hooks), key=lambda hook: order.get((hook.event, hook.command), len(order)))
        entry = entries[number] if (number := order.get((hook.event, hook.command))) is not None else None
        if entry is None or not hook.is_whole_group:
            text = remove_item(text, hook.path)
        else:
            text = remove_item(text, hook.path, inserted=entry.inserted, made=entry.made)
    return text


def toml_hooks(agent: HookedAgent, scope: Scope, setup: HookSetup) -> Iterator[str]:
    """Yield the lines of a TOML file that have the same hooks; TOML is shown and never written."""
    for event in agent.events_of(scope):
        group = hook_group(agent, event, setup)
        yield f"[[{_SECTION}.{event.name}]]"
        if event.has_matcher:
            yield 'matcher = "*"'
        for handler in cast("list[dict[str, object]]", group["hooks"]):
            yield f"[[{_SECTION}.{event.name}.hooks]]"
            # Basic strings of TOML have the escapes of JSON, and escape DEL too.
            for name, value in handler.items():
                yield f"{name} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
        yield ""


def _members(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()
