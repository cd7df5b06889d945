"""What an agent's hook says, as messages of a supervised session; nothing of it is believed.

The calls of every agent are judged as calls of few tools: the names of its tools and parameters are replaced
by ours, and `HookMessage.agent_input` puts them back into the input that the agent is given.
"""

import posixpath
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta, Struct, field

from workbench.bridge.agents import AgentTool, HookedAgent, HookEvent
from workbench.bridge.own_rules import opencode_rules
from workbench.domain.tools import BUILT_IN_TOOLS
from workbench.domain.values import JsonObject
from workbench.policy.shell.patch_command import PatchCommand, find_carried_patch
from workbench.supervised.messages import MAX_LINE_BYTES, AgentEnded, Ask, Done, Hello, OwnRule, TurnDone
from workbench.supervised.tools import FOREIGN_TOOLS

MAX_HOOK_BYTES: Final = 64_000_000
"""Bytes of a hook's input; more are not read."""
MAX_OUTPUT_CHARACTERS: Final = 262_144
"""Characters of what a call printed; the rest is left out."""
_OUR_NAMES: Final = BUILT_IN_TOOLS | {tool.descriptor.id for tool in FOREIGN_TOOLS}
_PATCH_TOOL: Final = "apply_patch"
_SHELL_TOOL: Final = "Bash"

_SessionKey = Annotated[str, Meta(min_length=1, max_length=200)]
_Folder = Annotated[str, Meta(max_length=4_096)]
_ToolName = Annotated[str, Meta(max_length=160)]
_CallKey = Annotated[str, Meta(max_length=200)]


class HookRefused(ValueError):
    """A hook's input cannot be read; says why."""


class HookHeader(Struct, frozen=True, kw_only=True, tag="hook", forbid_unknown_fields=False):
    """The first line of a hook's client; the bytes of the hook's input follow it."""

    agent: Annotated[str, Meta(min_length=1, max_length=60)]
    event: Annotated[str, Meta(min_length=1, max_length=60)]
    nonce: Annotated[str, Meta(min_length=1, max_length=200)]
    size: Annotated[int, Meta(ge=0, le=MAX_HOOK_BYTES)]
    pid: Annotated[int, Meta(ge=0)] = 0
    """Process id of the agent."""
    waits: Annotated[float, Meta(ge=0, le=86_400)] = 0
    """Seconds until the agent stops waiting; 0 if it waits for ever."""


_headers: Final = msgspec.json.Decoder(HookHeader)


def is_hook_header(line: bytes) -> bool:
    """Return whether the first line of a connection is that of a hook's client."""
    return line.startswith(b'{"type":"hook",')


def decode_header(line: bytes) -> HookHeader:
    """Return the header of a line. Raises HookRefused."""
    try:
        return _headers.decode(line)
    except (ValueError, RecursionError) as error:
        raise HookRefused(str(error)) from None


class HookMessage(Struct, frozen=True, kw_only=True):
    """A hook's input, translated."""

    hello: Hello
    said: Ask | Done | TurnDone | AgentEnded | None = None
    """None where only the session is to be known."""
    is_left: bool = False
    """The call is left to the agent: nothing is asked."""
    tool: AgentTool = AgentTool("")
    given: JsonObject = field(default_factory=dict[str, Any])
    """The agent's own input of the call."""
    patch: PatchCommand | None = None
    """The line that its patch was in."""

    def agent_input(self, chosen: JsonObject) -> JsonObject:
        """Return an input of our tool by the agent's names. Raises ValueError where that is not possible."""
        if self.patch is not None:
            return {**self.given, "command": self.patch.with_patch(str(chosen["patch"]).encode())}
        back = {ours: theirs for theirs, ours in self.tool.names.items()}
        return {back.get(name, name): value for name, value in chosen.items()}


class _CommandHook(Struct, frozen=True, kw_only=True):
    """The input of a hook that is a command, of every agent that has those."""

    session_id: _SessionKey
    cwd: _Folder = ""
    transcript_path: Annotated[str, Meta(max_length=4_096)] | None = None
    model: Any = None
    tool_name: _ToolName = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: _CallKey | None = None
    tool_call_id: _CallKey | None = None
    """The agent's own id where it makes another one for hooks (Qwen Code)."""
    tool_response: Any = None
    error: Any = None
    is_interrupt: bool = False


class _PluginCall(Struct, frozen=True, kw_only=True):
    tool: _ToolName = ""
    sessionID: _SessionKey = "?"  # noqa: N815 -- OpenCode's name
    callID: _CallKey = ""  # noqa: N815 -- OpenCode's name
    args: dict[str, Any] = {}


class _PluginResult(Struct, frozen=True, kw_only=True):
    args: dict[str, Any] | None = None
    output: Any = None


class _PluginEvent(Struct, frozen=True, kw_only=True):
    properties: dict[str, Any] = {}


class _PluginHook(Struct, frozen=True, kw_only=True):
    """What our plugin of OpenCode says: the arguments that it was called with."""

    directory: _Folder = ""
    permission: Any = None
    input: _PluginCall | None = None
    output: _PluginResult | None = None
    event: _PluginEvent | None = None


class _HookCall(Struct, frozen=True, kw_only=True):
    """A hook's input of any agent, by the same names."""

    session: str
    cwd: str
    model: str = ""
    transcript: str = ""
    tool: str = ""
    given: JsonObject = field(default_factory=dict[str, Any])
    key: str = ""
    output: str = ""
    is_error: bool = False
    own_rules: tuple[OwnRule, ...] = ()


def read_hook(
    agent: HookedAgent, event: HookEvent, header: HookHeader, data: bytes, workspace: str
) -> HookMessage:
    """Return what a hook's input means. Raises HookRefused.

    `workspace` is the folder of the session: the client has found it above the one that the agent works in.
    """
    try:
        call = _plugin_call(data) if agent.dialect == "opencode" else _command_call(data)
    except (ValueError, RecursionError) as error:
        raise HookRefused(str(error)) from None
    hello = Hello(
        agent=agent.origin, session=call.session, cwd=workspace, model=call.model[:200], pid=header.pid,
        format=agent.origin if agent.has_session_file else "", transcript=call.transcript,
    )  # fmt: skip
    match event.means:
        case "ask" | "done" | "failed":
            return _about_call(agent, event.means, header, call, hello, len(data))
        case "turn_done":
            return HookMessage(hello=hello, said=TurnDone())
        case "ended":
            return HookMessage(hello=hello, said=AgentEnded())
        case "started":
            return HookMessage(hello=hello)


def _about_call(
    agent: HookedAgent, means: Literal["ask", "done", "failed"], header: HookHeader, call: _HookCall,
    hello: Hello, size: int,
) -> HookMessage:  # fmt: skip
    if not call.tool:
        raise HookRefused("it names no tool")
    tool = agent.tools.get(call.tool, AgentTool(_unknown_name(agent, call.tool)))
    if not tool.judged_as:
        return HookMessage(hello=hello, is_left=True)
    is_too_large = size > MAX_LINE_BYTES and len(msgspec.json.encode(call.given)) > MAX_LINE_BYTES
    if is_too_large and means != "ask":
        return HookMessage(hello=hello)
    if is_too_large:
        raise HookRefused(f"an input of {size:,} bytes is too large to be judged")
    name, given, cwd, patch = _our_call(agent, tool, call)
    if means != "ask":
        said: Ask | Done = Done(
            tool=name, input=given, call=call.key, cwd=cwd, output=call.output,
            is_error=means == "failed" or call.is_error, nonce=header.nonce,
        )  # fmt: skip
    else:
        said = Ask(
            nonce=header.nonce, tool=name, input=given, call=call.key, cwd=cwd,
            takes_input=agent.takes_new_input, waits=header.waits or None, own_rules=call.own_rules,
        )  # fmt: skip
    return HookMessage(hello=hello, said=said, tool=tool, given=call.given, patch=patch)


def _unknown_name(agent: HookedAgent, name: str) -> str:
    """Return the name under which a tool is judged that is not in the table: never that of a known one."""
    return f"{agent.id}.{name}" if name in _OUR_NAMES else name


def _our_call(
    agent: HookedAgent, tool: AgentTool, call: _HookCall
) -> tuple[str, JsonObject, str, PatchCommand | None]:
    """Return tool, input and folder of a call as it is judged, and the line that its patch was in."""
    cwd = _below(call.cwd, call.given.get(tool.folder)) if tool.folder else call.cwd
    command = call.given.get("command")
    if agent.patch_commands and tool.judged_as == _SHELL_TOOL and isinstance(command, str):
        patch = find_carried_patch(command)
        if patch is not None:
            text = patch.patch.decode("utf-8")
            return _PATCH_TOOL, {"patch": text}, _below(call.cwd, patch.folder), patch
    return tool.judged_as, _renamed(call.given, tool.names), cwd, None


def _renamed(given: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """Return an input by our names; a member that has one of ours already is not the agent's parameter."""
    ours = set(names.values())
    return {names.get(name, name): value for name, value in given.items() if name not in ours}


def _below(cwd: str, folder: object) -> str:
    """Return the folder in which a call runs that names one; relative to the agent's."""
    return posixpath.join(cwd, folder) if isinstance(folder, str) and folder else cwd


# --- agents whose hooks are commands ------------------------------------------------------------------

_command_hooks: Final = msgspec.json.Decoder(_CommandHook)


def _command_call(data: bytes) -> _HookCall:
    hook = _command_hooks.decode(data)
    return _HookCall(
        session=hook.session_id, cwd=hook.cwd, model=hook.model if isinstance(hook.model, str) else "",
        transcript=hook.transcript_path or "", tool=hook.tool_name, given=hook.tool_input,
        key=hook.tool_call_id or hook.tool_use_id or "",
        output=_output_text(hook.tool_response or hook.error),
        is_error=hook.is_interrupt or _has_failed(hook.tool_response),
    )  # fmt: skip


_TEXTS_OF_RESPONSES: Final = ("stdout", "stderr", "llmContent", "output", "content", "message", "error")


def _output_text(response: Any) -> str:
    """Return what a call printed, as far as the response says it in text."""
    texts = [response] if isinstance(response, str) else map(_members(response).get, _TEXTS_OF_RESPONSES)
    return "\n".join(text[:MAX_OUTPUT_CHARACTERS] for text in texts if isinstance(text, str) and text)


def _has_failed(response: Any) -> bool:
    return bool(_members(response).get("interrupted") or _members(response).get("error"))


def _members(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


# --- OpenCode -----------------------------------------------------------------------------------------

_plugin_hooks: Final = msgspec.json.Decoder(_PluginHook)


def _plugin_call(data: bytes) -> _HookCall:
    hook = _plugin_hooks.decode(data)
    if hook.event is not None:
        return _HookCall(session=_event_session(hook.event.properties), cwd=hook.directory)
    if hook.input is None:
        raise ValueError("it has neither a call nor an event")
    result = hook.output or _PluginResult()
    output = result.output if isinstance(result.output, str) else ""
    return _HookCall(
        session=hook.input.sessionID, cwd=hook.directory, tool=hook.input.tool, key=hook.input.callID,
        given=hook.input.args if result.args is None else result.args, output=output[:MAX_OUTPUT_CHARACTERS],
        own_rules=opencode_rules(hook.permission),
    )  # fmt: skip


def _event_session(properties: Mapping[str, Any]) -> str:
    found = properties.get("sessionID") or _members(properties.get("info")).get("id")
    if not isinstance(found, str) or not 0 < len(found) <= 200:
        raise ValueError("the event names no session")
    return found
