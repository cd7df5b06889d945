"""Agent Client Protocol: a trace of JSON-RPC lines, of one direction or of both.

Pure. Owns joining chunks into messages, patches into calls, and requests for permission with their answers.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import JsonObject
from workbench.formats import foreign
from workbench.formats.fields import content, first, moment, obj, objs, text
from workbench.formats.foreign import (
    Asked,
    Change,
    Decision,
    Head,
    Item,
    Kept,
    Problem,
    Prompt,
    Reply,
    Result,
)
from workbench.formats.lines import Line

_ENDS: Final[dict[str, foreign.ResultState]] = {"completed": "succeeded", "failed": "failed"}
_QUIET: Final = (
    "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
    "usage_update",
)  # fmt: skip
_STOPS: Final = {
    "cancelled": "interrupted",
    "max_tokens": "limit",
    "max_turn_requests": "limit",
    "refusal": "error",
}


def is_trace(sample: list[JsonObject]) -> bool:
    """Tell whether lines are messages of the protocol."""
    found = [message_of(line) for line in sample]
    methods = {text(one.get("method")) for one in found}
    if any(method.startswith(("session/", "fs/", "terminal/")) for method in methods):
        return True
    return any(one.get("jsonrpc") == "2.0" and "agentCapabilities" in obj(one.get("result")) for one in found)


def message_of(line: JsonObject) -> JsonObject:
    """Return the message of a line, which some tracers wrap."""
    if "jsonrpc" in line or "method" in line:
        return line
    return next((obj(line[key]) for key in ("message", "msg", "data", "payload") if obj(line.get(key))), line)


def read(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield the sessions of a trace; usually it is one."""
    reader = _Trace(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        yield from reader.message(
            message_of(found), moment(found.get("timestamp") or found.get("ts")), line.number
        )
    yield from reader.flush()


class _Trace:
    """What has to be remembered between messages."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._has_begun = False
        self._said: dict[str, list[str]] = {"user": [], "agent": [], "thought": []}
        self._last = ""
        self._calls: dict[str, dict[str, object]] = {}
        self._asked: set[str] = set()
        self._requests: dict[str, tuple[str, dict[str, str]]] = {}
        self._workspace = ""
        self._at: int | None = None

    def message(self, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        self._at = at if at is not None else self._at
        method, params = text(found.get("method")), obj(found.get("params"))
        if method == "session/update":
            yield from self._update(params, number)
        elif method == "session/request_permission":
            yield from self._permission(repr(found.get("id")), params, number)
        elif method == "session/prompt":
            yield from self._prompt(params, number)
        elif method in ("session/new", "session/load"):
            self._workspace = text(params.get("cwd")) or self._workspace
        elif method == "session/cancel":
            yield from self.flush()
            yield foreign.Stopped(at=self._at)
        elif "result" in found or "error" in found:
            yield from self._answer(found, number)
        elif method and method != "initialize":
            yield from self._begin("")
            yield Kept(kind=method, content=params, at=self._at, line=number)

    def _begin(self, key: str) -> Iterator[Item]:
        if not self._has_begun:
            self._has_begun = True
            yield Head(key=key or self._name, workspace=self._workspace, at=self._at)

    def flush(self) -> Iterator[Item]:
        """Yield what was said in chunks."""
        said = {kind: "".join(parts) for kind, parts in self._said.items()}
        self._said, self._last = {"user": [], "agent": [], "thought": []}, ""
        if said["user"]:
            yield Prompt(text=said["user"], at=self._at)
        if said["agent"] or said["thought"]:
            yield Reply(text=said["agent"], thinking=said["thought"], at=self._at)

    def _prompt(self, params: JsonObject, number: int) -> Iterator[Item]:
        yield from self._begin(text(params.get("sessionId")))
        yield from self.flush()
        yield Prompt(text=content(params.get("prompt")), at=self._at, line=number)

    def _update(self, params: JsonObject, number: int) -> Iterator[Item]:
        yield from self._begin(text(params.get("sessionId")))
        update = obj(params.get("update"))
        kind = text(update.get("sessionUpdate"))
        if kind.endswith("_chunk"):
            yield from self._chunk(kind.removesuffix("_chunk"), update)
        elif kind in ("tool_call", "tool_call_update"):
            yield from self.flush()
            yield from self._call(update, number)
        elif kind == "plan":
            yield Kept(kind="plan", content=update.get("entries"), at=self._at, line=number)
        else:
            if kind == "session_info_update" and (title := text(update.get("title"))):
                yield foreign.Titled(title=title, at=self._at)
            known = kind in _QUIET
            yield Kept(kind=kind or "update", content=update, at=self._at, line=number, is_understood=known)

    def _chunk(self, kind: str, update: JsonObject) -> Iterator[Item]:
        who = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}.get(kind)
        if who is None:
            return
        if (who == "user") != (self._last == "user") and self._last:
            yield from self.flush()
        self._last = who
        self._said[who].append(content([update.get("content")]))

    def _call(self, update: JsonObject, number: int) -> Iterator[Item]:
        key = text(update.get("toolCallId"))
        call = self._calls.setdefault(key, {})
        call.update({name: value for name, value in update.items() if value is not None})
        status = text(call.get("status"))
        if "rawInput" in call or status in ("in_progress", *_ENDS):
            yield from self._ask(key, number)
        if status in _ENDS and not call.get("is_done"):
            call["is_done"] = True
            yield self._result(key, call, _ENDS[status], number)

    def _ask(self, key: str, number: int) -> Iterator[Item]:
        if key in self._asked:
            return
        self._asked.add(key)
        call = self._calls.get(key, {})
        paths = [text(one.get("path")) for one in objs(call.get("locations"))]
        given = obj(call.get("rawInput")) or {
            name: value for name, value in (("path", " ".join(paths)),) if value
        }
        arguments = given or {"title": text(call.get("title"))}
        asked = Asked(
            id=key, tool=text(call.get("kind")) or text(call.get("title")) or "tool", arguments=arguments
        )
        yield Reply(calls=(asked,), at=self._at, line=number)

    def _result(self, key: str, call: dict[str, object], state: foreign.ResultState, number: int) -> Result:
        items = objs(call.get("content"))
        said = content([one.get("content") for one in items if one.get("type") == "content"])
        changes = tuple(
            Change(
                path=text(one.get("path")), old=old if isinstance(old := one.get("oldText"), str) else None,
                new=text(one.get("newText")),
                change="modify" if isinstance(one.get("oldText"), str) else "create",
            )
            for one in items
            if one.get("type") == "diff"
        )  # fmt: skip
        return Result(call=key, text=said, state=state, changes=changes, at=self._at, line=number)

    def _permission(self, request: str, params: JsonObject, number: int) -> Iterator[Item]:
        yield from self._begin(text(params.get("sessionId")))
        yield from self.flush()
        call = obj(params.get("toolCall"))
        key = text(call.get("toolCallId"))
        self._calls.setdefault(key, {}).update({k: v for k, v in call.items() if v is not None})
        yield from self._ask(key, number)
        options = {text(one.get("optionId")): text(one.get("kind")) for one in objs(params.get("options"))}
        self._requests[request] = (key, options)

    def _answer(self, found: JsonObject, number: int) -> Iterator[Item]:
        result, request = obj(found.get("result")), repr(found.get("id"))
        if request in self._requests:
            key, options = self._requests.pop(request)
            yield from self._decided(key, obj(result.get("outcome")), options, number)
        elif "stopReason" in result:
            yield from self.flush()
            reason = text(result.get("stopReason"))
            if reason in _STOPS:
                yield foreign.Stopped(outcome=_STOPS[reason], detail=reason, at=self._at)  # type: ignore[arg-type]
        elif "error" in found:
            yield from self._begin("")
            yield foreign.Failure(
                code="rpc", message=text(obj(found.get("error")).get("message")), at=self._at
            )
        elif "sessionId" in result:
            yield from self._begin(text(result.get("sessionId")))

    def _decided(self, key: str, outcome: JsonObject, options: dict[str, str], number: int) -> Iterator[Item]:
        kind = options.get(text(outcome.get("optionId")), "")
        if first(outcome, "outcome") != "selected" or not kind:
            yield Result(
                call=key, state="cancelled", error="the question was cancelled", at=self._at, line=number
            )
        elif kind.startswith("allow"):
            yield Decision(call=key, is_approved=True, at=self._at)
        else:
            self._calls[key]["is_done"] = True
            yield Result(call=key, state="rejected", at=self._at, line=number)
