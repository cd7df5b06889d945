"""What a hook prints and how it ends: a decision by the words of each agent."""

import msgspec
from msgspec import Struct

from workbench.bridge.agents import HookedAgent, HookEvent
from workbench.domain.values import JsonObject
from workbench.supervised.messages import CallAnswer

_BLOCKED = 2
"""Exit code by which every agent takes a call as denied, with the reason from stderr."""


class HookOutput(Struct, frozen=True, kw_only=True):
    """What a hook prints, and its exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0


LEAVE: HookOutput = HookOutput()
"""Empty output: the agent continues as if there were no hook."""


def blocked(reason: str) -> HookOutput:
    """Return the output that denies a call whose input could not be read."""
    return HookOutput(stderr=reason.encode("utf-8", "replace"), code=_BLOCKED)


def decision_output(
    agent: HookedAgent, event: HookEvent, answer: CallAnswer, new_input: JsonObject | None
) -> HookOutput:
    """Return the output for an answer; `new_input` has the agent's own names."""
    if answer.outcome == "deny":
        return _printed(_denial(agent, event, answer.reason or "It was not allowed."))
    if new_input is None and agent.allow_needs_input:
        return LEAVE
    note = {"additionalContext": answer.note} if answer.note and event.tells_model else {}
    return _printed(_permission(agent, event, new_input, note))


def note_output(agent: HookedAgent, event: HookEvent, note: str) -> HookOutput:
    """Return the output that tells the model something after its call."""
    if not note or not event.tells_model:
        return LEAVE
    if agent.dialect == "opencode":
        return _printed({"note": note})
    return _printed({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": note}})


def _denial(agent: HookedAgent, event: HookEvent, reason: str) -> JsonObject:
    if agent.dialect != "claude":
        return {"decision": "deny", "reason": reason}
    if event.name == "PermissionRequest":
        return _specific(event, {"decision": {"behavior": "deny", "message": reason}})
    return _specific(event, {"permissionDecision": "deny", "permissionDecisionReason": reason})


def _permission(
    agent: HookedAgent, event: HookEvent, new_input: JsonObject | None, note: JsonObject
) -> JsonObject:
    if agent.dialect == "opencode":
        return {"decision": "allow", **_member("args", new_input)}
    if agent.dialect == "gemini":
        if new_input is None:
            return {"decision": "allow"}
        return {"decision": "allow", **_specific(event, {"tool_input": new_input})}
    updated = _member("updatedInput", new_input)
    if event.name == "PermissionRequest":
        return _specific(event, {"decision": {"behavior": "allow", **updated}})
    return _specific(event, {"permissionDecision": "allow", **updated, **note})


def _specific(event: HookEvent, members: JsonObject) -> JsonObject:
    return {"hookSpecificOutput": {"hookEventName": event.name, **members}}


def _member(name: str, value: JsonObject | None) -> JsonObject:
    return {} if value is None else {name: value}


def _printed(document: JsonObject) -> HookOutput:
    return HookOutput(stdout=msgspec.json.encode(document))
