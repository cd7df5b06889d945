"""Reader of Agent Client Protocol traces: JSON-RPC lines, of one direction or of both."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.input import JsonLines
from workbench.text.problems import Problem

_NO_ANSWER: Final = "the trace does not hold the answer, and the call did not run"
_CALL_STATES: Final[dict[str, r.ResultState]] = {"completed": "succeeded", "failed": "failed"}
_IGNORED_UPDATES: Final = (
    "available_commands_update", "current_mode_update", "config_option_update", "session_info_update",
    "usage_update",
)  # fmt: skip
_TURN_OUTCOMES: Final = {
    "cancelled": "interrupted",
    "max_tokens": "limit",
    "max_turn_requests": "limit",
    "refusal": "error",
}


def is_trace(sample: list[JsonObject]) -> bool:
    messages = [message_of(line) for line in sample]
    methods = {j.text_of(message, "method") for message in messages}
    if any(method.startswith(("session/", "fs/", "terminal/")) for method in methods):
        return True
    return any(
        message.get("jsonrpc") == "2.0" and "agentCapabilities" in j.object_of(message, "result")
        for message in messages
    )


def message_of(line: JsonObject) -> JsonObject:
    """Return the message of a line, which some tracers wrap."""
    if "jsonrpc" in line or "method" in line:
        return line
    return next(
        (
            j.as_object(line[key])
            for key in ("message", "msg", "data", "payload")
            if j.as_object(line.get(key))
        ),
        line,
    )


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield the sessions of a trace; usually it is one."""
    reader = _TraceReader(name)
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        row = j.as_object(line.value)
        yield from reader.message(
            message_of(row), j.as_time(row.get("timestamp") or row.get("ts")), line.number
        )
    yield from reader.flush()


class _TraceReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._has_begun = False
        self._said: dict[str, list[str]] = {"user": [], "agent": [], "thought": []}
        self._last = ""
        self._calls: dict[str, dict[str, object]] = {}
        self._asked: set[str] = set()
        self._requests: dict[str, tuple[str, dict[str, str]]] = {}
        self._running: set[str] = set()
        self._workspace = ""
        self._at: int | None = None

    def message(self, rpc: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        self._at = time_us if time_us is not None else self._at
        method, params = j.text_of(rpc, "method"), j.object_of(rpc, "params")
        if method == "session/update":
            yield from self._update(params, number)
        elif method == "session/request_permission":
            yield from self._permission(repr(rpc.get("id")), params, number)
        elif method == "session/prompt":
            yield from self._prompt(params, number)
        elif method in ("session/new", "session/load"):
            self._workspace = j.text_of(params, "cwd") or self._workspace
        elif method == "session/cancel":
            yield from self.flush()
            yield r.TurnStop(at=self._at)
        elif "result" in rpc or "error" in rpc:
            yield from self._answer(rpc, number)
        elif method and method != "initialize":
            yield from self._begin("")
            yield r.UnmappedRecord(method, params, self._at, number)

    def _begin(self, key: str) -> Iterator[r.Record]:
        if not self._has_begun:
            self._has_begun = True
            yield r.SessionHead(key=key or self._name, workspace=self._workspace, at=self._at)

    def flush(self) -> Iterator[r.Record]:
        text = {kind: "".join(parts) for kind, parts in self._said.items()}
        self._said, self._last = {"user": [], "agent": [], "thought": []}, ""
        if text["user"]:
            yield r.Prompt(text["user"], self._at)
        if text["agent"] or text["thought"]:
            yield r.Reply(text=text["agent"], thinking=text["thought"], at=self._at)

    def _prompt(self, params: JsonObject, number: int) -> Iterator[r.Record]:
        yield from self._begin(j.text_of(params, "sessionId"))
        yield from self.flush()
        yield r.Prompt(j.content_of(params, "prompt"), self._at, number)

    def _update(self, params: JsonObject, number: int) -> Iterator[r.Record]:
        yield from self._begin(j.text_of(params, "sessionId"))
        update = j.object_of(params, "update")
        kind = j.text_of(update, "sessionUpdate")
        if kind.endswith("_chunk"):
            yield from self._chunk(kind.removesuffix("_chunk"), update)
        elif kind in ("tool_call", "tool_call_update"):
            yield from self.flush()
            yield from self._call(update, number)
        elif kind == "plan":
            yield r.UnmappedRecord("plan", update.get("entries"), self._at, number)
        else:
            if kind == "session_info_update" and (title := j.text_of(update, "title")):
                yield r.TitleChange(title, self._at)
            is_known = kind in _IGNORED_UPDATES
            yield r.UnmappedRecord(kind or "update", update, self._at, number, is_known)

    def _chunk(self, kind: str, update: JsonObject) -> Iterator[r.Record]:
        speaker = {"user_message": "user", "agent_message": "agent", "agent_thought": "thought"}.get(kind)
        if speaker is None:
            return
        if (speaker == "user") != (self._last == "user") and self._last:
            yield from self.flush()
        self._last = speaker
        self._said[speaker].append(j.content_text([update.get("content")]))

    def _call(self, update: JsonObject, number: int) -> Iterator[r.Record]:
        key = j.text_of(update, "toolCallId")
        call = self._calls.setdefault(key, {})
        call.update({name: value for name, value in update.items() if value is not None})
        status = j.text_of(call, "status")
        if "rawInput" in call or status in ("in_progress", *_CALL_STATES):
            yield from self._ask(key, number)
        if status == "in_progress" and key not in self._running and not call.get("is_done"):
            self._running.add(key)
            yield r.CallStart(key, self._at)
        if status in _CALL_STATES and not call.get("is_done"):
            call["is_done"] = True
            yield from self._call_end(key, call, _CALL_STATES[status], number)

    def _call_end(
        self, key: str, call: dict[str, object], state: r.ResultState, number: int
    ) -> Iterator[r.Record]:
        """Yield the end of a call; a trace of one direction holds questions without their answers."""
        unanswered = [request for request, (asked_call, _) in self._requests.items() if asked_call == key]
        for request in unanswered:
            del self._requests[request]
        result = self._result(key, call, state, number)
        if unanswered and key in self._running:
            # What ran after its question had been allowed.
            yield r.CallDecision(call=key, is_approved=True, at=self._at)
        elif unanswered and state == "failed":
            why = f"{_NO_ANSWER}: {result.text}" if result.text else _NO_ANSWER
            result = replace(result, state="cancelled", error=why)
        yield result

    def _ask(self, key: str, number: int) -> Iterator[r.Record]:
        if key in self._asked:
            return
        self._asked.add(key)
        call = self._calls.get(key, {})
        paths = [j.text_of(location, "path") for location in j.objects_of(call, "locations")]
        raw = j.object_of(call, "rawInput") or {
            name: value for name, value in (("path", " ".join(paths)),) if value
        }
        arguments = raw or {"title": j.text_of(call, "title")}
        tool_call = r.ToolCall(key, j.text_of(call, "kind") or j.text_of(call, "title") or "tool", arguments)
        yield r.Reply(calls=(tool_call,), at=self._at, line=number)

    def _result(self, key: str, call: dict[str, object], state: r.ResultState, number: int) -> r.CallResult:
        items = j.objects_of(call, "content")
        text = j.content_text([item.get("content") for item in items if item.get("type") == "content"])
        changes = tuple(
            r.FileEdit(
                path=j.text_of(item, "path"),
                old=(old := j.text_or_none(item.get("oldText"))),
                new=j.text_of(item, "newText"),
                change="create" if old is None else "modify",
            )
            for item in items
            if item.get("type") == "diff"
        )
        return r.CallResult(call=key, text=text, state=state, changes=changes, at=self._at, line=number)

    def _permission(self, request: str, params: JsonObject, number: int) -> Iterator[r.Record]:
        yield from self._begin(j.text_of(params, "sessionId"))
        yield from self.flush()
        call = j.object_of(params, "toolCall")
        key = j.text_of(call, "toolCallId")
        self._calls.setdefault(key, {}).update({k: v for k, v in call.items() if v is not None})
        yield from self._ask(key, number)
        options = {
            j.text_of(option, "optionId"): j.text_of(option, "kind")
            for option in j.objects_of(params, "options")
        }
        self._requests[request] = (key, options)
        self._running.discard(key)
        yield r.CallQuestion(call=key, at=self._at)

    def _answer(self, message: JsonObject, number: int) -> Iterator[r.Record]:
        result, request = j.object_of(message, "result"), repr(message.get("id"))
        if request in self._requests:
            key, options = self._requests.pop(request)
            yield from self._decision(key, j.object_of(result, "outcome"), options, number)
        elif "stopReason" in result:
            yield from self.flush()
            reason = j.text_of(result, "stopReason")
            if reason in _TURN_OUTCOMES:
                yield r.TurnStop(outcome=_TURN_OUTCOMES[reason], detail=reason, at=self._at)  # type: ignore[arg-type]
        elif "error" in message:
            yield from self._begin("")
            yield r.ErrorRecord("rpc", j.text_of(message, "error", "message"), self._at)
        elif "sessionId" in result:
            yield from self._begin(j.text_of(result, "sessionId"))

    def _decision(
        self, key: str, outcome: JsonObject, options: dict[str, str], number: int
    ) -> Iterator[r.Record]:
        kind = options.get(j.text_of(outcome, "optionId"), "")
        if j.first_text(outcome, "outcome") != "selected" or not kind:
            yield r.CallResult(
                call=key, state="cancelled", error="the question was cancelled", at=self._at, line=number
            )
        elif kind.startswith("allow"):
            yield r.CallDecision(call=key, is_approved=True, at=self._at)
        else:
            self._calls[key]["is_done"] = True
            yield r.CallResult(call=key, state="rejected", at=self._at, line=number)
