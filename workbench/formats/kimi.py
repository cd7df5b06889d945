"""Reader of Kimi: the wire files of Kimi Code, and those of Kimi CLI before it."""

# An approval is recorded where it was given, before the call that it is about: the question stood since the
# last thing that the model said, for a call is shown as soon as it is whole.

from collections.abc import Iterator
from itertools import chain
from pathlib import PurePath
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import JsonObject
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, end_state, parse_arguments, usage_apart
from workbench.formats.input import JsonLines
from workbench.formats.record_streams import read_rows, with_heads
from workbench.formats.usage_records import join_usage_before

_PREPARATION: Final = (
    "metadata", "config.update", "tools.set_active_tools", "profile.bind", "permission.set_mode",
    "plugin.session_start", "runtime.set_binding", "llm.tools_snapshot", "llm.request",
)  # fmt: skip
"""What comes before the first prompt and says how a session is set up."""
_BOOKKEEPING: Final = frozenset({
    *_PREPARATION, "context.append_message", "plan_mode.enter", "plan_mode.exit", "turn.ended",
    "full_compaction.begin", "full_compaction.complete", "context.apply_compaction", "usage.record",
    "token_counting.measured", "token_counting.turn_recorded", "step.begin", "step.retry", "CompactionBegin",
    "CompactionEnd", "StepBegin", "StatusUpdate", "TurnEnd", "SubagentEvent", "ToolCallPart",
})  # fmt: skip
_MAIN: Final = "main"
_LEGACY: Final = {
    "TurnBegin": "turn.prompt", "SteerInput": "turn.steer", "ContentPart": "content.part",
    "ToolCall": "tool.call", "ToolResult": "tool.result", "StepInterrupted": "turn.cancel",
}  # fmt: skip


def is_wire(sample: list[JsonObject]) -> bool:
    if any(line.get("type") == "metadata" and "protocol_version" in line for line in sample):
        return True
    return any(
        line.get("type") in ("turn.prompt", "context.append_loop_event", "llm.request") and "time" in line
        for line in sample
    ) or any("timestamp" in line and j.text_of(line, "message", "type") in _LEGACY for line in sample)


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    reader = _WireReader(name)
    yield from join_usage_before(chain(read_rows(lines, reader.row), reader.ended()))


def join_state(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a session with the title and the folder that its state names."""
    state = documents[0] or documents[-1]

    def named(head: r.SessionHead) -> r.SessionHead:
        title = "" if head.parent else j.text_of(state, "title")
        folder = j.text_of(state, "workDir") or head.workspace
        return replace(head, title=title or head.title, workspace=folder)

    yield from with_heads(records, named)


def _session_key(name: str) -> tuple[str, str]:
    """Return the id of a session and of the one above it, which are names of folders."""
    path = PurePath(name)
    if path.name != "wire.jsonl":
        return path.stem or name, ""
    if path.parent.parent.name != "agents":
        return path.parent.name, ""
    session, agent = path.parent.parent.parent.name, path.parent.name
    return (session, "") if agent == _MAIN else (f"{session}/{agent}", session)


class _WireReader:
    def __init__(self, name: str) -> None:
        self._key, self._parent = _session_key(name)
        self._model = self._workspace = self._system_prompt = ""
        self._at: int | None = None
        self._has_begun = False
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._said_at: int | None = None
        """When the model said what comes before the next call."""
        self._approvals: dict[str, tuple[JsonObject, int | None]] = {}
        """By call; what was answered before the call itself stands in the file."""
        self._behind: list[r.Record] = []
        self._refused: set[str] = set()
        self._questions: dict[str, str] = {}
        self._counted: JsonObject = {}

    def row(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        kind = j.text_of(row, "type")
        time_us = j.time_of(row, "time") or j.time_of(row, "timestamp") or j.time_of(row, "created_at")
        self._at = self._at or time_us
        if kind in _PREPARATION:
            self._prepare(row)
        elif not self._has_begun:
            self._has_begun = True
            yield self._head()
        if event := j.object_of(row, "event"):
            yield from self._event(j.text_of(event, "type"), event, time_us, number)
        elif not kind and "message" in row:
            message = j.object_of(row, "message")
            payload = j.object_of(message, "payload")
            yield from self._legacy(j.text_of(message, "type"), payload, time_us, number)
        else:
            yield from self._record(kind, row, time_us, number)

    def _prepare(self, row: JsonObject) -> None:
        alias = j.text_of(row, "modelAlias").rpartition("/")[2]
        self._model = j.text_of(row, "model") or alias or self._model
        self._system_prompt = self._system_prompt or j.text_of(row, "systemPrompt")
        disclosed = j.object_of(row, "environmentDisclosure")
        self._workspace = self._workspace or j.text_of(disclosed, "cwd")

    def _head(self) -> r.SessionHead:
        return r.SessionHead(
            key=self._key, parent=self._parent, provider="moonshot", model=self._model, at=self._at,
            workspace=self._workspace, system_prompt=self._system_prompt,
        )  # fmt: skip

    def ended(self) -> Iterator[r.Record]:
        if not self._has_begun and self._at is not None:
            yield self._head()
        yield from self._flush()

    def _flush(self) -> Iterator[r.Record]:
        """Yield what was said and not followed by a call, and calls of which only the refusal is known."""
        if self._texts or self._thoughts:
            yield self._reply((), self._said_at, 0)
        for key, (approval, time_us) in list(self._approvals.items()):
            arguments: JsonObject = {"action": approval.get("action")}
            call = r.ToolCall(key, j.text_of(approval, "toolName"), arguments)
            yield from self._call_records(call, time_us, 0)
            if key in self._refused:
                yield call_result(key, "", "rejected", at=time_us, line=0)
        behind, self._behind = self._behind, []
        yield from behind

    def _reply(self, calls: tuple[r.ToolCall, ...], time_us: int | None, number: int) -> r.Reply:
        text, thinking = "\n".join(self._texts), "\n\n".join(self._thoughts)
        self._texts, self._thoughts = [], []
        return r.Reply(text=text, thinking=thinking, calls=calls, model=self._model, at=time_us, line=number)

    def _record(self, kind: str, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match kind:
            case "turn.prompt" | "turn.steer":
                yield from self._flush()
                yield r.Prompt(j.content_of(row, "input"), time_us, number)
            case "turn.cancel":
                yield from self._flush()
                yield r.TurnStop(detail="cancelled by the user", at=time_us)
            case "permission.record_approval_result":
                self._approvals[j.text_of(row, "toolCallId")] = (row, time_us)
                if not j.text_of(row, "result", "decision").startswith("approve"):
                    self._refused.add(j.text_of(row, "toolCallId"))
            case "usage.record" if (used := j.object_of(row, "usage")) != self._counted:
                yield self._usage_record(used)
            case "context.append_message" if self._is_prompt_again(row):
                return
            case _:
                record = r.UnmappedRecord(kind or "record", row, time_us, number, kind in _BOOKKEEPING)
                if self._approvals:
                    # The call that was approved comes next, and was asked for before this.
                    self._behind.append(record)
                else:
                    yield record

    def _is_prompt_again(self, row: JsonObject) -> bool:
        """Return whether a message is what was typed, which stands in a record of its own too."""
        origin = j.object_of(row, "message", "origin")
        return j.text_of(origin, "kind") == "user"

    def _usage_record(self, used: JsonObject) -> r.UsageRecord:
        self._counted = used
        names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
        if "input_other" in used:
            names = ("input_other", "output", "input_cache_read", "input_cache_creation")
        return r.UsageRecord(usage=usage_apart(used, *names))

    def _event(self, kind: str, event: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match kind:
            case "content.part":
                part = j.object_of(event, "part")
                thought = j.first_text(part, "think", "thinking")
                text = j.content_text(part) if not thought and part.get("type") != "think" else ""
                self._thoughts += [thought] if thought else []
                self._texts += [text] if text else []
                self._said_at = time_us
            case "tool.call":
                key = j.first_text(event, "toolCallId", "uuid")
                arguments = parse_arguments(event.get("args"))
                call = r.ToolCall(key, j.text_of(event, "name"), arguments)
                display = j.object_of(event, "display")
                yield from self._call_records(call, time_us, number, j.text_of(display, "plan"))
                self._said_at = time_us
            case "tool.result":
                yield self._result(event, time_us, number)
                self._said_at = time_us
            case "step.end":
                yield from self._flush()
                if used := j.object_of(event, "usage"):
                    yield self._usage_record(used)
            case "step.begin":
                yield from self._flush()
                self._said_at, self._counted = time_us, {}
            case _:
                yield r.UnmappedRecord(f"event.{kind}", event, time_us, number, kind in _BOOKKEEPING)

    def _call_records(
        self, call: r.ToolCall, time_us: int | None, number: int, question: str = ""
    ) -> Iterator[r.Record]:
        nothing: tuple[JsonObject, int | None] = ({}, None)
        approval, decided_at = self._approvals.pop(call.id, nothing)
        yield self._reply((call,), (self._said_at or time_us) if approval else time_us, number)
        if not approval:
            return
        result = j.object_of(approval, "result")
        yield r.CallQuestion(call=call.id, prompt=question, at=self._said_at or decided_at)
        yield r.CallDecision(
            call=call.id, is_approved=call.id not in self._refused, at=decided_at,
            choice=j.first_text(result, "selectedLabel", "scope", "decision"),
            reason=j.first_text(result, "feedback", "reason"),
        )  # fmt: skip
        if call.id not in self._refused:
            yield r.CallStart(call.id, time_us)
        behind, self._behind = self._behind, []
        yield from behind

    def _result(self, event: JsonObject, time_us: int | None, number: int) -> r.CallResult:
        key, result = j.text_of(event, "toolCallId"), j.object_of(event, "result")
        text = j.content_of(result, "output") or j.text_of(result, "message")
        is_bad = result.get("isError") is True or result.get("is_error") is True
        is_refused = key in self._refused or (is_bad and "rejected by the user" in text[:400])
        agent = (
            text.partition("agent_id: ")[2].partition("\n")[0].strip() if text[:10] == "agent_id: " else ""
        )
        return call_result(
            key, text, end_state(is_bad=is_bad, is_refused=is_refused), at=time_us, line=number,
            child=f"{self._parent or self._key}/{agent}" if agent else "",
        )  # fmt: skip

    def _legacy(self, kind: str, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match kind:
            case "TurnBegin" | "SteerInput" | "StepInterrupted":
                row: JsonObject = {"input": payload.get("user_input")}
                yield from self._record(_LEGACY[kind], row, time_us, number)
            case "ContentPart":
                yield from self._event("content.part", {"part": payload}, time_us, number)
            case "ToolCall":
                function = j.object_of(payload, "function")
                call: JsonObject = {
                    "toolCallId": payload.get("id"), "name": function.get("name"),
                    "args": function.get("arguments"),
                }  # fmt: skip
                yield from self._event("tool.call", call, time_us, number)
            case "ToolResult":
                ended: JsonObject = {
                    "toolCallId": payload.get("tool_call_id"), "result": payload.get("return_value"),
                }  # fmt: skip
                yield from self._event("tool.result", ended, time_us, number)
            case "ApprovalRequest":
                key = j.text_of(payload, "tool_call_id")
                self._questions[j.text_of(payload, "id")] = key
                yield r.CallQuestion(call=key, at=time_us)
            case "ApprovalRequestResolved" | "ApprovalResponse":
                yield from self._legacy_decision(payload, time_us)
            case _:
                if kind in ("TurnEnd", "StepBegin"):
                    yield from self._flush()
                if used := j.object_of(payload, "token_usage"):
                    yield from self._flush()
                    yield self._usage_record(used)
                yield r.UnmappedRecord(kind or "record", payload, time_us, number, kind in _BOOKKEEPING)

    def _legacy_decision(self, payload: JsonObject, time_us: int | None) -> Iterator[r.Record]:
        key = self._questions.get(j.text_of(payload, "request_id"), "")
        response = j.text_of(payload, "response")
        is_approved = response.startswith("approve")
        if not is_approved:
            self._refused.add(key)
        yield r.CallDecision(call=key, is_approved=is_approved, choice=response, at=time_us)
