"""Reader of OpenHands trajectories: one array of events, or rows that each hold a history."""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import JsonLine
from workbench.formats.patches import PatchRefused, parse_git_diff
from workbench.formats.records import (
    CallDecision,
    CallResult,
    FileEdit,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_count,
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_time,
    content_text,
    first_text,
    lacks_time_zone,
)
from workbench.formats.swe_agent import openai_tool_call

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
    rows = as_objects(value)[:5]
    if any("source" in row and isinstance(row.get("action"), str) for row in rows):
        return True
    if any("source" in row and isinstance(row.get("observation"), str) for row in rows):
        return True
    return any(as_text(row.get("kind")) in _NEWER_KINDS for row in rows)


def is_rows(sample: list[JsonObject]) -> bool:
    """Tell whether lines are events, or rows with a history of events."""
    if any(is_trajectory(line.get("history")) for line in sample):
        return True
    return is_trajectory([*sample]) and "sessionId" not in sample[0]


def read(value: Json, name: str) -> Iterator[Record]:
    yield from _session(list(enumerate(as_objects(value), 1)), name, {})


def read_rows(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield a session for each row with a history, or one of all events."""
    events: list[tuple[int, JsonObject]] = []
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
            continue
        row = as_object(line.value)
        if history := as_objects(row.get("history")):
            key = first_text(row, "instance_id", "id") or f"{name}:{line.number}"
            yield from _session([(line.number, entry) for entry in history], key, row)
        else:
            events.append((line.number, row))
    if events:
        yield from _session(events, name, {})


def _session(events: list[tuple[int, JsonObject]], name: str, row: JsonObject) -> Iterator[Record]:
    start = next((as_time(one.get("timestamp")) for _, one in events if one.get("timestamp")), None)
    model = as_text(as_object(as_object(row.get("metadata")).get("llm_config")).get("model"))
    shown = as_object(next((one for _, one in events if one.get("kind") == "SystemPromptEvent"), None))
    yield SessionHead(
        key=first_text(row, "instance_id") or _session_id(events, name), at=start, model=model,
        system_prompt=content_text([shown.get("system_prompt")]),
    )  # fmt: skip
    if any(lacks_time_zone(one.get("timestamp")) for _, one in events[:20]):
        yield FileProblem(line=1, why="times have no zone; they are taken as UTC")
    reader = _EventReader()
    for number, one in events:
        yield from reader.event(one, number)
    if patch := first_text(row, "git_patch") or first_text(as_object(row.get("test_result")), "git_patch"):
        yield Reply(calls=(ToolCall(id="result", tool="submit", arguments={"path": "git_patch"}),))
        try:
            changes = parse_git_diff(patch)
        except PatchRefused as error:
            changes = ()
            yield FileProblem(line=1, why=f"the patch is kept as text, for it is no unified diff: {error}")
        yield CallResult(call="result", text=patch, changes=changes)


def _session_id(events: list[tuple[int, JsonObject]], name: str) -> str:
    first_one = as_object(events[0][1] if events else None)
    if isinstance(first_one.get("id"), str):
        return as_text(first_one.get("id"))
    key = f"{as_text(first_one.get('timestamp'))}:{content_text(first_one.get('message'))[:200]}"
    return key if key != ":" else name


class _EventReader:
    def __init__(self) -> None:
        self._actions: dict[str, tuple[str, str, JsonObject]] = {}
        self._usage = Usage()
        self._waits = False

    def event(self, found: JsonObject, number: int) -> Iterator[Record]:
        at = as_time(found.get("timestamp"))
        yield from self._spent(as_object(found.get("llm_metrics")))
        if "action" in found and isinstance(found["action"], str):
            yield from self._action(found, at, number)
        elif isinstance(found.get("observation"), str):
            yield from self._observation(found, at, number)
        else:
            yield from self._newer(found, at, number)

    def _spent(self, metrics: JsonObject) -> Iterator[Record]:
        used = as_object(metrics.get("accumulated_token_usage"))
        now = Usage(
            input_tokens=as_count(used.get("prompt_tokens")),
            output_tokens=as_count(used.get("completion_tokens")),
        )
        more = now.total_tokens - self._usage.total_tokens
        if more > 0:
            yield records.UsageRecord(
                usage=Usage(
                    input_tokens=max(0, now.input_tokens - self._usage.input_tokens),
                    output_tokens=max(0, now.output_tokens - self._usage.output_tokens),
                )
            )
            self._usage = now

    def _action(self, found: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        kind, arguments = as_text(found.get("action")), as_object(found.get("args"))
        said = first_text(arguments, "content", "thought", "final_thought") or as_text(found.get("message"))
        if kind == "message" and found.get("source") == "user":
            yield Prompt(text=said, at=at, line=number)
        elif kind in _MESSAGE_TYPES:
            is_thought = kind == "think"
            yield Reply(
                text="" if is_thought else said, thinking=said if is_thought else "", at=at, line=number
            )
        elif kind in _UNDERSTOOD_TYPES:
            yield UnmappedRecord(kind=f"action.{kind}", content=arguments, at=at, line=number)
        else:
            key = (
                as_text(as_object(found.get("tool_call_metadata")).get("tool_call_id"))
                or f"event-{found.get('id', number)}"
            )
            self._actions[str(found.get("id"))] = (key, kind, arguments)
            given = {
                name: value
                for name, value in arguments.items()
                if name != "thought" and value not in (None, "")
            }
            tool = as_text(as_object(found.get("tool_call_metadata")).get("function_name")) or kind
            asked = ToolCall(id=key, tool=tool, arguments=given)
            yield Reply(text=as_text(arguments.get("thought")), calls=(asked,), at=at, line=number)
            state = as_text(arguments.get("confirmation_state"))
            if state == "confirmed" and arguments.get("security_risk") is not None:
                yield CallDecision(call=key, is_approved=True, at=at)
            elif state == "rejected":
                self._actions.pop(str(found.get("id")))
                yield CallResult(call=key, state="rejected", at=at, line=number)

    def _observation(self, found: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        kind, extras = as_text(found.get("observation")), as_object(found.get("extras"))
        asked = self._actions.pop(str(found.get("cause")), None)
        said = as_text(found.get("content")) or as_text(found.get("message"))
        if asked is not None:
            yield self._result(asked, found, kind, said, at, number)
        elif kind == "error":
            yield records.ErrorRecord(code="error", message=said, at=at)
        elif kind == "agent_state_changed" and extras.get("agent_state") in ("stopped", "error"):
            yield records.TurnStop(detail=as_text(extras.get("agent_state")), at=at)
        else:
            known = kind in _UNDERSTOOD_TYPES
            yield UnmappedRecord(
                kind=f"observation.{kind}", content=found, at=at, line=number, is_understood=known
            )

    def _result(
        self, asked: tuple[str, str, JsonObject], found: JsonObject, kind: str, said: str, at: int | None,
        number: int,
    ) -> CallResult:  # fmt: skip
        key, tool, arguments = asked
        extras = as_object(found.get("extras"))
        code = as_integer(as_object(extras.get("metadata")).get("exit_code"))
        code = as_integer(extras.get("exit_code")) if code is None else code
        is_bad = kind == "error" or bool(code and code > 0)
        state: records.ResultState = (
            "rejected" if kind == "user_rejected" else "failed" if is_bad else "succeeded"
        )
        return CallResult(
            call=key, text=said, state=state, error=said[:2_000] if is_bad else "", exit_code=code, at=at,
            line=number, changes=_edits_of_result(tool, arguments, said),
        )  # fmt: skip

    def _newer(self, found: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        match as_text(found.get("kind")):
            case "MessageEvent":
                yield from self._message(found, at, number)
            case "ActionEvent":
                yield self._asked(found, at, number)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" as kind:
                yield from self._newer_result(kind, found, at, number)
            case "PauseEvent" | "InterruptEvent" as kind:
                yield records.TurnStop(detail=kind, at=at)
            case "ConversationErrorEvent":
                yield records.ErrorRecord(
                    code=first_text(found, "code"), message=as_text(found.get("detail")), at=at
                )
            case kind:
                self._waits = self._waits or found.get("value") == _WAITING_STATE
                yield UnmappedRecord(
                    kind=kind or "event", content=found, at=at, line=number, is_understood=bool(kind)
                )

    def _message(self, found: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        message = as_object(found.get("llm_message"))
        said = content_text(message.get("content"))
        if found.get("source") == "user":
            yield Prompt(text=said, at=at, line=number)
        elif found.get("source") == "environment":
            yield UnmappedRecord(kind="environment", content=said, at=at, line=number)
        else:
            thinking = as_text(message.get("reasoning_content"))
            yield Reply(text=said, thinking=thinking, at=at, line=number)

    def _asked(self, found: JsonObject, at: int | None, number: int) -> Reply:
        action = as_object(found.get("action"))
        key = as_text(found.get("tool_call_id")) or as_text(found.get("id"))
        tool = first_text(found, "tool_name") or as_text(action.get("kind"))
        given = {name: value for name, value in action.items() if name != "kind"}
        if not given:
            given = dict(openai_tool_call(as_object(found.get("tool_call")), key).arguments)
        self._actions[key] = (key, tool, given)
        return Reply(
            text=content_text(found.get("thought")), thinking=as_text(found.get("reasoning_content")), at=at,
            line=number, calls=(ToolCall(id=key, tool=tool, arguments=given),),
        )  # fmt: skip

    def _newer_result(self, kind: str, found: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        observation, key = as_object(found.get("observation")), as_text(found.get("tool_call_id"))
        said = (
            content_text(observation.get("content"))
            or first_text(observation, "output")
            or as_text(found.get("error"))
        )
        code = as_integer(observation.get("exit_code"))
        code = as_integer(as_object(observation.get("metadata")).get("exit_code")) if code is None else code
        is_bad = kind == "AgentErrorEvent" or bool(code) or observation.get("is_error") is True
        state: records.ResultState = (
            "rejected" if kind == "UserRejectObservation" else "failed" if is_bad else "succeeded"
        )
        if self._waits and state != "rejected":
            yield CallDecision(call=key, is_approved=True, at=at)
        self._waits = False
        yield CallResult(
            call=key, text=said, state=state, exit_code=code, at=at, line=number,
            error=said[:2_000] if is_bad else "", reason=as_text(found.get("rejection_reason")),
            changes=_edit_of_observation(observation) if state == "succeeded" else (),
        )  # fmt: skip


def _edit_of_observation(observation: JsonObject) -> tuple[FileEdit, ...]:
    before, after = observation.get("old_content"), observation.get("new_content")
    if not isinstance(after, str) or before == after:
        return ()
    known = before if isinstance(before, str) else None
    is_new = known is None or observation.get("prev_exist") is False
    path = as_text(observation.get("path"))
    return (
        FileEdit(
            path=path, change="create" if is_new else "modify", old=None if is_new else known, new=after
        ),
    )


def _edits_of_result(tool: str, arguments: JsonObject, said: str) -> tuple[FileEdit, ...]:
    path = as_text(arguments.get("path"))
    if tool == "write":
        return (FileEdit(path=path, change="create", new=as_text(arguments.get("content"))),)
    if tool != "edit" or as_text(arguments.get("command")) == "view":
        return ()
    if as_text(arguments.get("command")) == "create":
        return (FileEdit(path=path, change="create", new=as_text(arguments.get("file_text"))),)
    if "old_str" in arguments:
        return (
            FileEdit(path=path, old=as_text(arguments.get("old_str")), new=as_text(arguments.get("new_str"))),
        )
    return (FileEdit(path=path, patch=said),) if "@@" in said else ()
