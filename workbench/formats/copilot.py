"""Reader of Copilot CLI: the events of a session as JSON lines (github/copilot-sdk, session-events)."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from workbench.domain.values import JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, end_state, parse_arguments, usage_apart, usage_within
from workbench.formats.input import JsonLines
from workbench.formats.patches import DiffRefused, parse_git_diff
from workbench.formats.record_streams import head_with_model, object_lines
from workbench.formats.usage_records import join_usage_before
from workbench.text.problems import Problem

_BOOKKEEPING: Final = frozenset({
    "session.resume", "session.idle", "session.info", "session.warning", "session.model_change",
    "session.mode_changed", "session.plan_changed", "session.workspace_file_changed", "session.handoff",
    "session.truncation", "session.snapshot_rewind", "session.shutdown", "session.usage_info",
    "session.usage_checkpoint", "session.compaction_start", "session.compaction_complete",
    "session.auto_mode_resolved", "session.context_changed", "session.task_complete",
    "assistant.turn_start", "assistant.turn_end", "assistant.intent", "assistant.usage",
    "assistant.message_delta", "assistant.reasoning_delta", "assistant.streaming_delta",
    "tool.execution_progress", "tool.user_requested", "skill.invoked", "subagent.started",
    "subagent.completed", "subagent.failed", "subagent.selected", "subagent.deselected", "hook.start",
    "hook.end", "system.message", "system.notification", "pending_messages.modified",
})  # fmt: skip
_GROUPS: Final = ("session.", "assistant.", "tool.")


def is_session(sample: list[JsonObject]) -> bool:
    return any(
        isinstance(line.get("data"), dict)
        and "parentId" in line
        and (j.text_of(line, "type").startswith(_GROUPS) or line.get("type") == "user.message")
        for line in sample
    )


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    yield from head_with_model(join_usage_before(_read(lines, name)))


def _read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    reader = _SessionReader(name)
    asides: dict[str, list[tuple[JsonObject, int]]] = {}
    for line in object_lines(lines):
        if isinstance(line, Problem):
            yield line
            continue
        row, number = line
        # What an agent below says stands between the lines of the one that asked for it.
        if parent := j.text_of(row, "data", "parentToolCallId"):
            reader.children.add(parent)
            asides.setdefault(parent, []).append(line)
        else:
            yield from reader.event(row, number)
    yield from reader.ended()
    for parent, rows in asides.items():
        below = _SessionReader(name, key=f"{reader.key}/{parent}", parent=reader.key)
        for row, number in rows:
            yield from below.event(row, number)
        yield from below.ended()


class _SessionReader:
    def __init__(self, name: str, key: str = "", parent: str = "") -> None:
        path = PurePath(name)
        self.key = key or (path.parent.name if path.name == "events.jsonl" else path.stem)
        self._parent, self._model, self._thought = parent, "", ""
        self._has_begun = False
        self._asked: set[str] = set()
        self._questions: dict[str, str] = {}
        self._spent = 0
        """Output tokens that replies since the last shutdown counted."""
        self.children: set[str] = set()

    def event(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        kind, data = j.text_of(row, "type"), j.object_of(row, "data")
        time_us = j.time_of(row, "timestamp")
        if not self._has_begun:
            self._has_begun = True
            yield self._head(data if kind == "session.start" else {}, time_us)
            if kind == "session.start":
                return
        match kind:
            case "user.message":
                yield from self._prompt(data, time_us, number)
            case "assistant.message":
                yield self._reply(data, time_us, number)
            case "assistant.reasoning":
                self._thought = j.text_of(data, "content")
            case "session.error":
                text = j.text_of(data, "message") or "error"
                yield r.ErrorRecord(j.text_of(data, "errorType") or "error", text, time_us)
            case "abort":
                yield r.TurnStop(detail=j.text_of(data, "reason"), at=time_us)
            case "session.title_changed":
                yield r.TitleChange(j.text_of(data, "title"), time_us)
            case _ if kind.startswith(("tool.execution", "permission.")):
                yield from self._call_event(kind, data, time_us, number)
            case _:
                yield from self._other(kind, row, time_us, number)

    def _head(self, start: JsonObject, time_us: int | None) -> r.SessionHead:
        context = j.object_of(start, "context")
        self.key = j.text_of(start, "sessionId") or self.key
        self._model = j.text_of(start, "selectedModel")
        facts = {
            key: value
            for key in ("copilotVersion", "branch", "repository", "gitRoot")
            if (value := j.first_text(start, key) or j.text_of(context, key))
        }
        return r.SessionHead(
            key=self.key, workspace=j.text_of(context, "cwd"), provider="github", model=self._model,
            parent=self._parent, at=j.time_of(start, "startTime") or time_us, facts=dict(facts),
        )  # fmt: skip

    def ended(self) -> Iterator[r.Record]:
        if self._thought:
            yield r.Reply(thinking=self._thought, model=self._model)

    def _prompt(self, data: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        text = j.text_of(data, "content")
        if j.text_of(data, "source") not in ("", "user"):
            yield r.UnmappedRecord("context.user", data, time_us, number)
            return
        files = [
            f"[{j.first_text(item, 'displayName', 'path')}]" for item in j.objects_of(data, "attachments")
        ]
        yield r.Prompt("\n".join(filter(None, (text, *files))), time_us, number)

    def _reply(self, data: JsonObject, time_us: int | None, number: int) -> r.Reply:
        self._model = j.text_of(data, "model") or self._model
        thought, self._thought = j.text_of(data, "reasoningText") or self._thought, ""
        calls = tuple(
            r.ToolCall(
                j.text_of(call, "toolCallId"), j.text_of(call, "name"), parse_arguments(call.get("arguments"))
            )
            for call in j.objects_of(data, "toolRequests")
        )
        self._asked |= {call.id for call in calls}
        output_tokens = j.count_of(data, "outputTokens")
        self._spent += output_tokens
        return r.Reply(
            text=j.text_of(data, "content"), thinking=thought, calls=calls, model=self._model,
            usage=Usage(output_tokens=output_tokens), at=time_us, line=number,
            may_be_empty=bool(j.text_of(data, "encryptedContent") or j.text_of(data, "reasoningOpaque")),
        )  # fmt: skip

    def _call_event(
        self, kind: str, data: JsonObject, time_us: int | None, number: int
    ) -> Iterator[r.Record]:
        key = j.text_of(data, "toolCallId")
        match kind:
            case "tool.execution_start":
                if key not in self._asked:
                    self._asked.add(key)
                    arguments = parse_arguments(data.get("arguments"))
                    request = r.ToolCall(key, j.text_of(data, "toolName"), arguments)
                    yield r.Reply(calls=(request,), model=self._model, at=time_us, line=number)
                yield r.CallStart(key, time_us)
            case "tool.execution_partial_result":
                text = j.text_of(data, "partialOutput")
                yield r.CallProgress(
                    call=key, kind="output", text=text, content=data, at=time_us, line=number
                )
            case "tool.execution_complete":
                yield self._result(key, data, time_us, number)
            case "permission.requested" if request := j.object_of(data, "permissionRequest"):
                call = j.text_of(request, "toolCallId")
                self._questions[j.text_of(data, "requestId")] = call
                yield r.CallQuestion(call=call, at=time_us)
            case "permission.completed" if call := self._questions.get(j.text_of(data, "requestId"), ""):
                outcome = j.text_of(data, "result", "kind")
                is_approved = outcome.startswith("approved")
                yield r.CallDecision(call=call, is_approved=is_approved, choice=outcome, at=time_us)
            case _:
                yield r.UnmappedRecord(kind, data, time_us, number, kind in _BOOKKEEPING)

    def _result(self, key: str, data: JsonObject, time_us: int | None, number: int) -> r.CallResult:
        result, error = j.object_of(data, "result"), j.object_of(data, "error")
        text = j.content_of(result, "content") or j.text_of(error, "message") or j.text_of(data, "result")
        is_refused = j.text_of(error, "code") in ("rejected", "denied")
        state = end_state(is_bad=data.get("success") is not True, is_refused=is_refused)
        return call_result(
            key, text, state, at=time_us, line=number,
            duration_ms=j.integer_of(data, "toolTelemetry", "metrics", "durationMs"),
            changes=_edits(j.text_of(result, "detailedContent")),
            child=f"{self.key}/{key}" if key in self.children else "",
        )  # fmt: skip

    def _other(self, kind: str, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        data = j.object_of(row, "data")
        self._model = j.text_of(data, "newModel") or self._model
        if kind == "session.shutdown" and (usage := _shutdown_usage(data)) != Usage():
            counted, self._spent = Usage(output_tokens=self._spent), 0
            yield r.UsageRecord(usage=usage.beyond(counted))
        yield r.UnmappedRecord(kind or "record", row, time_us, number, kind in _BOOKKEEPING)


def _edits(patch: str) -> tuple[r.FileEdit, ...]:
    if "diff --git " not in patch[:200]:
        return ()
    try:
        return parse_git_diff(patch)
    except DiffRefused:
        return ()


def _shutdown_usage(data: JsonObject) -> Usage:
    """Return what a session spent since it was begun or taken up again: as billed, or else by model."""
    if details := j.object_of(data, "tokenDetails"):
        counts: JsonObject = {name: j.count_of(details, name, "tokenCount") for name in details}
        return usage_apart(counts, "input", "output", "cache_read", "cache_write")
    total = Usage()
    for metrics in j.object_of(data, "modelMetrics").values():
        used = j.object_of(j.as_object(metrics), "usage")
        total = total.plus(
            usage_within(used, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        )
    return total
