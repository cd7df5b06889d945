"""Reader of OpenHands trajectories: one array of events, or rows that each hold a history."""

from collections.abc import Iterator
from typing import Final

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import MOST_ERROR, end_state, usage_within
from workbench.formats.input import JsonLines
from workbench.formats.patches import submitted_patch
from workbench.formats.swe_agent import openai_tool_call
from workbench.formats.usage_records import join_usage
from workbench.text.problems import Problem

_UNDERSTOOD_TYPES: Final = frozenset({
    "recall", "change_agent_state", "system", "null", "condensation", "condensation_request",
    "agent_state_changed", "loading", "success", "user_rejected",
})  # fmt: skip
_MESSAGE_TYPES: Final = frozenset({"message", "think", "finish", "reject"})
_NEWER_KINDS: Final = frozenset({
    "MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent", "AgentErrorEvent",
    "UserRejectObservation", "ConversationStateUpdateEvent", "CondensationSummaryEvent", "Condensation",
})  # fmt: skip
_WAITING_STATE: Final = "waiting_for_confirmation"


def is_trajectory(value: Json) -> bool:
    rows = j.as_objects(value)[:5]
    if any("source" in row and isinstance(row.get("action"), str) for row in rows):
        return True
    if any("source" in row and isinstance(row.get("observation"), str) for row in rows):
        return True
    return any(j.text_of(row, "kind") in _NEWER_KINDS for row in rows)


def is_rows(sample: list[JsonObject]) -> bool:
    """Tell whether lines are events, or rows with a history of events."""
    if any(is_trajectory(line.get("history")) for line in sample):
        return True
    return is_trajectory([*sample]) and "sessionId" not in sample[0]


def read(value: Json, name: str) -> Iterator[r.Record]:
    yield from _session(list(enumerate(j.as_objects(value), 1)), name, {})


def read_rows(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session for each row with a history, or one of all events."""
    events: list[tuple[int, JsonObject]] = []
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        row = j.as_object(line.value)
        if history := j.objects_of(row, "history"):
            key = j.first_text(row, "instance_id", "id") or f"{name}:{line.number}"
            yield from _session([(line.number, entry) for entry in history], key, row)
        else:
            events.append((line.number, row))
    if events:
        yield from _session(events, name, {})


def _session(events: list[tuple[int, JsonObject]], name: str, row: JsonObject) -> Iterator[r.Record]:
    start = next((j.time_of(event, "timestamp") for _, event in events if event.get("timestamp")), None)
    model = j.text_of(row, "metadata", "llm_config", "model")
    system_event = j.as_object(
        next((event for _, event in events if event.get("kind") == "SystemPromptEvent"), None)
    )
    yield r.SessionHead(
        key=j.first_text(row, "instance_id") or _session_id(events, name), at=start, model=model,
        system_prompt=j.content_text([system_event.get("system_prompt")]),
    )  # fmt: skip
    if any(j.lacks_time_zone(event.get("timestamp")) for _, event in events[:20]):
        yield r.file_problem(1, "times have no zone; they are taken as UTC")
    reader = _EventReader()
    yield from join_usage(record for number, event in events for record in reader.event(event, number))
    if patch := j.first_text(row, "git_patch") or j.first_text(j.object_of(row, "test_result"), "git_patch"):
        yield from submitted_patch("result", "git_patch", patch)


def _session_id(events: list[tuple[int, JsonObject]], name: str) -> str:
    first_one = j.as_object(events[0][1] if events else None)
    if isinstance(first_one.get("id"), str):
        return j.text_of(first_one, "id")
    key = f"{j.text_of(first_one, 'timestamp')}:{j.content_of(first_one, 'message')[:200]}"
    return key if key != ":" else name


class _EventReader:
    def __init__(self) -> None:
        self._actions: dict[str, tuple[str, str, JsonObject]] = {}
        self._usage = Usage()
        self._waits = False

    def event(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us = j.time_of(row, "timestamp")
        yield from self._usage_records(j.object_of(row, "llm_metrics"))
        if "action" in row and isinstance(row["action"], str):
            yield from self._action(row, time_us, number)
        elif isinstance(row.get("observation"), str):
            yield from self._observation(row, time_us, number)
        else:
            yield from self._newer_event(row, time_us, number)

    def _usage_records(self, metrics: JsonObject) -> Iterator[r.Record]:
        now = usage_within(
            j.object_of(metrics, "accumulated_token_usage"), "prompt_tokens", "completion_tokens",
            "cache_read_tokens", "cache_write_tokens", metrics.get("accumulated_cost"),
        )  # fmt: skip
        more = now.beyond(self._usage)
        if more != Usage():
            yield r.UsageRecord(usage=more)
            self._usage = self._usage.plus(more)

    def _action(self, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        kind, arguments = j.text_of(row, "action"), j.object_of(row, "args")
        text = j.first_text(arguments, "content", "thought", "final_thought") or j.text_of(row, "message")
        if kind == "message" and row.get("source") == "user":
            yield r.Prompt(text, time_us, number)
        elif kind in _MESSAGE_TYPES:
            is_thought = kind == "think"
            yield r.Reply(
                text="" if is_thought else text, thinking=text if is_thought else "", at=time_us, line=number
            )
        elif kind in _UNDERSTOOD_TYPES:
            yield r.UnmappedRecord(f"action.{kind}", arguments, time_us, number)
        else:
            key = j.text_of(row, "tool_call_metadata", "tool_call_id") or f"event-{row.get('id', number)}"
            self._actions[str(row.get("id"))] = (key, kind, arguments)
            call_arguments = {
                name: value
                for name, value in arguments.items()
                if name != "thought" and value not in (None, "")
            }
            tool = j.text_of(row, "tool_call_metadata", "function_name") or kind
            call = r.ToolCall(key, tool, call_arguments)
            yield r.Reply(text=j.text_of(arguments, "thought"), calls=(call,), at=time_us, line=number)
            state = j.text_of(arguments, "confirmation_state")
            if state == "confirmed" and arguments.get("security_risk") is not None:
                yield r.CallDecision(call=key, is_approved=True, at=time_us)
            elif state == "rejected":
                self._actions.pop(str(row.get("id")))
                yield r.CallResult(call=key, state="rejected", at=time_us, line=number)

    def _observation(self, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        kind, extras = j.text_of(row, "observation"), j.object_of(row, "extras")
        call = self._actions.pop(str(row.get("cause")), None)
        text = j.text_of(row, "content") or j.text_of(row, "message")
        if call is not None:
            yield self._result(call, row, kind, text, time_us, number)
        elif kind == "error":
            yield r.ErrorRecord("error", text, time_us)
        elif kind == "agent_state_changed" and extras.get("agent_state") in ("stopped", "error"):
            yield r.TurnStop(detail=j.text_of(extras, "agent_state"), at=time_us)
        else:
            is_known = kind in _UNDERSTOOD_TYPES
            yield r.UnmappedRecord(f"observation.{kind}", row, time_us, number, is_known)

    def _result(
        self, call: tuple[str, str, JsonObject], row: JsonObject, kind: str, text: str, time_us: int | None,
        number: int,
    ) -> r.CallResult:  # fmt: skip
        key, tool, arguments = call
        extras = j.object_of(row, "extras")
        code = j.integer_of(extras, "metadata", "exit_code")
        code = j.integer_of(extras, "exit_code") if code is None else code
        is_bad = kind == "error" or bool(code and code > 0)
        state = end_state(is_bad=is_bad, is_refused=kind == "user_rejected")
        return r.CallResult(
            call=key, text=text, state=state, error=text[:MOST_ERROR] if is_bad else "", exit_code=code,
            at=time_us, line=number, changes=_edits_of_result(tool, arguments, text),
        )  # fmt: skip

    def _newer_event(self, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match j.text_of(row, "kind"):
            case "MessageEvent":
                yield from self._message(row, time_us, number)
            case "ActionEvent":
                yield self._action_reply(row, time_us, number)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" as kind:
                yield from self._newer_result(kind, row, time_us, number)
            case "PauseEvent" | "InterruptEvent" as kind:
                yield r.TurnStop(detail=kind, at=time_us)
            case "ConversationErrorEvent":
                yield r.ErrorRecord(j.first_text(row, "code"), j.text_of(row, "detail"), time_us)
            case kind:
                if row.get("value") == _WAITING_STATE:
                    self._waits = True
                    for key, *_ in self._actions.values():
                        yield r.CallQuestion(call=key, at=time_us)
                yield r.UnmappedRecord(kind or "event", row, time_us, number, bool(kind))

    def _message(self, row: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        message = j.object_of(row, "llm_message")
        text = j.content_of(message, "content")
        if row.get("source") == "user":
            yield r.Prompt(text, time_us, number)
        elif row.get("source") == "environment":
            yield r.UnmappedRecord("environment", text, time_us, number)
        else:
            thinking = j.text_of(message, "reasoning_content")
            yield r.Reply(text=text, thinking=thinking, at=time_us, line=number)

    def _action_reply(self, row: JsonObject, time_us: int | None, number: int) -> r.Reply:
        action = j.object_of(row, "action")
        key = j.text_of(row, "tool_call_id") or j.text_of(row, "id")
        tool = j.first_text(row, "tool_name") or j.text_of(action, "kind")
        arguments = {name: value for name, value in action.items() if name != "kind"}
        if not arguments:
            arguments = dict(openai_tool_call(j.object_of(row, "tool_call"), key).arguments)
        self._actions[key] = (key, tool, arguments)
        return r.Reply(
            text=j.content_of(row, "thought"), thinking=j.text_of(row, "reasoning_content"), at=time_us,
            line=number, calls=(r.ToolCall(key, tool, arguments),),
        )  # fmt: skip

    def _newer_result(
        self, kind: str, row: JsonObject, time_us: int | None, number: int
    ) -> Iterator[r.Record]:
        observation, key = j.object_of(row, "observation"), j.text_of(row, "tool_call_id")
        self._actions.pop(key, None)
        text = (
            j.content_of(observation, "content")
            or j.first_text(observation, "output")
            or j.text_of(row, "error")
        )
        code = j.integer_of(observation, "exit_code")
        code = j.integer_of(observation, "metadata", "exit_code") if code is None else code
        is_bad = kind == "AgentErrorEvent" or bool(code) or observation.get("is_error") is True
        state = end_state(is_bad=is_bad, is_refused=kind == "UserRejectObservation")
        if self._waits and state != "rejected":
            yield r.CallDecision(call=key, is_approved=True, at=time_us)
        self._waits = False
        yield r.CallResult(
            call=key, text=text, state=state, exit_code=code, at=time_us, line=number,
            error=text[:MOST_ERROR] if is_bad else "", reason=j.text_of(row, "rejection_reason"),
            changes=_edit_of_observation(observation) if state == "succeeded" else (),
        )  # fmt: skip


def _edit_of_observation(observation: JsonObject) -> tuple[r.FileEdit, ...]:
    before, after = (j.text_or_none(observation.get(name)) for name in ("old_content", "new_content"))
    if after is None or before == after:
        return ()
    is_new = before is None or observation.get("prev_exist") is False
    edit = r.FileEdit(
        path=j.text_of(observation, "path"), change="create" if is_new else "modify",
        old=None if is_new else before, new=after,
    )  # fmt: skip
    return (edit,)


def _edits_of_result(tool: str, arguments: JsonObject, text: str) -> tuple[r.FileEdit, ...]:
    path = j.text_of(arguments, "path")
    if tool == "write":
        return (r.FileEdit(path=path, change="create", new=j.text_of(arguments, "content")),)
    if tool != "edit" or j.text_of(arguments, "command") == "view":
        return ()
    if j.text_of(arguments, "command") == "create":
        return (r.FileEdit(path=path, change="create", new=j.text_of(arguments, "file_text")),)
    if "old_str" in arguments:
        return (
            r.FileEdit(path=path, old=j.text_of(arguments, "old_str"), new=j.text_of(arguments, "new_str")),
        )
    return (r.FileEdit(path=path, patch=text),) if "@@" in text else ()
