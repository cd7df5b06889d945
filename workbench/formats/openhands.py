"""OpenHands: a trajectory of events, as one array or as rows that each hold a history.

Pure. Owns which action an observation answers (by `cause`), and the confirmations. Times have no zone there.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import content, count, first, is_naive, moment, obj, objs, text, whole
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
from workbench.formats.patches import git_files
from workbench.formats.swe_agent import call_of

_SILENT: Final = frozenset({
    "recall", "change_agent_state", "system", "null", "condensation", "condensation_request",
    "agent_state_changed", "loading", "success", "user_rejected",
})  # fmt: skip
_TALK: Final = frozenset({"message", "think", "finish", "reject"})
_NEWER: Final = frozenset({
    "MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent", "AgentErrorEvent",
    "UserRejectObservation", "ConversationStateUpdateEvent", "CondensationSummaryEvent", "Condensation",
})  # fmt: skip
_WAITING: Final = "waiting_for_confirmation"


def is_trajectory(value: Json) -> bool:
    """Tell whether a document is an array of events."""
    rows = objs(value)[:5]
    if any("source" in row and isinstance(row.get("action"), str) for row in rows):
        return True
    if any("source" in row and isinstance(row.get("observation"), str) for row in rows):
        return True
    return any(text(row.get("kind")) in _NEWER for row in rows)


def is_rows(sample: list[JsonObject]) -> bool:
    """Tell whether lines are events, or rows with a history of events."""
    if any(is_trajectory(line.get("history")) for line in sample):
        return True
    return is_trajectory([*sample]) and "sessionId" not in sample[0]


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session from an array of events."""
    yield from _session(list(enumerate(objs(value), 1)), name, {})


def read_rows(lines: Iterable[Line | Problem], name: str) -> Iterator[Item]:
    """Yield a session for each row with a history, or one of all events."""
    events: list[tuple[int, JsonObject]] = []
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        found = obj(line.value)
        if history := objs(found.get("history")):
            key = first(found, "instance_id", "id") or f"{name}:{line.number}"
            yield from _session([(line.number, one) for one in history], key, found)
        else:
            events.append((line.number, found))
    if events:
        yield from _session(events, name, {})


def _session(events: list[tuple[int, JsonObject]], name: str, row: JsonObject) -> Iterator[Item]:
    start = next((moment(one.get("timestamp")) for _, one in events if one.get("timestamp")), None)
    model = text(obj(obj(row.get("metadata")).get("llm_config")).get("model"))
    shown = obj(next((one for _, one in events if one.get("kind") == "SystemPromptEvent"), None))
    yield Head(
        key=first(row, "instance_id") or _key(events, name), at=start, model=model,
        system_prompt=content([shown.get("system_prompt")]),
    )  # fmt: skip
    if any(is_naive(one.get("timestamp")) for _, one in events[:20]):
        yield Problem(line=1, why="times have no zone; they are taken as UTC")
    reader = _Events()
    for number, one in events:
        yield from reader.event(one, number)
    if patch := first(row, "git_patch") or first(obj(row.get("test_result")), "git_patch"):
        yield Reply(calls=(Asked(id="result", tool="submit", arguments={"path": "git_patch"}),))
        yield Result(call="result", text=patch, changes=git_files(patch))


def _key(events: list[tuple[int, JsonObject]], name: str) -> str:
    """Return what names a run that has no id: its first event."""
    first_one = obj(events[0][1] if events else None)
    if isinstance(first_one.get("id"), str):
        return text(first_one.get("id"))
    key = f"{text(first_one.get('timestamp'))}:{content(first_one.get('message'))[:200]}"
    return key if key != ":" else name


class _Events:
    """What has to be remembered between events."""

    def __init__(self) -> None:
        self._actions: dict[str, tuple[str, str, JsonObject]] = {}
        self._usage = Usage()
        self._waits = False

    def event(self, found: JsonObject, number: int) -> Iterator[Item]:
        at = moment(found.get("timestamp"))
        yield from self._spent(obj(found.get("llm_metrics")))
        if "action" in found and isinstance(found["action"], str):
            yield from self._action(found, at, number)
        elif isinstance(found.get("observation"), str):
            yield from self._observation(found, at, number)
        else:
            yield from self._newer(found, at, number)

    def _spent(self, metrics: JsonObject) -> Iterator[Item]:
        used = obj(metrics.get("accumulated_token_usage"))
        now = Usage(
            input_tokens=count(used.get("prompt_tokens")), output_tokens=count(used.get("completion_tokens"))
        )
        more = now.total_tokens - self._usage.total_tokens
        if more > 0:
            yield foreign.Spent(
                usage=Usage(
                    input_tokens=max(0, now.input_tokens - self._usage.input_tokens),
                    output_tokens=max(0, now.output_tokens - self._usage.output_tokens),
                )
            )
            self._usage = now

    def _action(self, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        kind, arguments = text(found.get("action")), obj(found.get("args"))
        said = first(arguments, "content", "thought", "final_thought") or text(found.get("message"))
        if kind == "message" and found.get("source") == "user":
            yield Prompt(text=said, at=at, line=number)
        elif kind in _TALK:
            is_thought = kind == "think"
            yield Reply(
                text="" if is_thought else said, thinking=said if is_thought else "", at=at, line=number
            )
        elif kind in _SILENT:
            yield Kept(kind=f"action.{kind}", content=arguments, at=at, line=number)
        else:
            key = (
                text(obj(found.get("tool_call_metadata")).get("tool_call_id"))
                or f"event-{found.get('id', number)}"
            )
            self._actions[str(found.get("id"))] = (key, kind, arguments)
            given = {
                name: value
                for name, value in arguments.items()
                if name != "thought" and value not in (None, "")
            }
            tool = text(obj(found.get("tool_call_metadata")).get("function_name")) or kind
            asked = Asked(id=key, tool=tool, arguments=given)
            yield Reply(text=text(arguments.get("thought")), calls=(asked,), at=at, line=number)
            state = text(arguments.get("confirmation_state"))
            if state == "confirmed" and arguments.get("security_risk") is not None:
                yield Decision(call=key, is_approved=True, at=at)
            elif state == "rejected":
                self._actions.pop(str(found.get("id")))
                yield Result(call=key, state="rejected", at=at, line=number)

    def _observation(self, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        kind, extras = text(found.get("observation")), obj(found.get("extras"))
        asked = self._actions.pop(str(found.get("cause")), None)
        said = text(found.get("content")) or text(found.get("message"))
        if asked is not None:
            yield self._result(asked, found, kind, said, at, number)
        elif kind == "error":
            yield foreign.Failure(code="error", message=said, at=at)
        elif kind == "agent_state_changed" and extras.get("agent_state") in ("stopped", "error"):
            yield foreign.Stopped(detail=text(extras.get("agent_state")), at=at)
        else:
            known = kind in _SILENT
            yield Kept(kind=f"observation.{kind}", content=found, at=at, line=number, is_understood=known)

    def _result(
        self, asked: tuple[str, str, JsonObject], found: JsonObject, kind: str, said: str, at: int | None,
        number: int,
    ) -> Result:  # fmt: skip
        key, tool, arguments = asked
        extras = obj(found.get("extras"))
        code = whole(obj(extras.get("metadata")).get("exit_code"))
        code = whole(extras.get("exit_code")) if code is None else code
        is_bad = kind == "error" or bool(code and code > 0)
        state: foreign.ResultState = (
            "rejected" if kind == "user_rejected" else "failed" if is_bad else "succeeded"
        )
        return Result(
            call=key, text=said, state=state, error=said[:2_000] if is_bad else "", exit_code=code, at=at,
            line=number, changes=_changes(tool, arguments, said),
        )  # fmt: skip

    def _newer(self, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        """Yield an event of the newer kind, which names its class."""
        match text(found.get("kind")):
            case "MessageEvent":
                yield from self._message(found, at, number)
            case "ActionEvent":
                yield self._asked(found, at, number)
            case "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" as kind:
                yield from self._newer_result(kind, found, at, number)
            case "PauseEvent" | "InterruptEvent" as kind:
                yield foreign.Stopped(detail=kind, at=at)
            case "ConversationErrorEvent":
                yield foreign.Failure(code=first(found, "code"), message=text(found.get("detail")), at=at)
            case kind:
                self._waits = self._waits or found.get("value") == _WAITING
                yield Kept(kind=kind or "event", content=found, at=at, line=number, is_understood=bool(kind))

    def _message(self, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        message = obj(found.get("llm_message"))
        said = content(message.get("content"))
        if found.get("source") == "user":
            yield Prompt(text=said, at=at, line=number)
        elif found.get("source") == "environment":
            yield Kept(kind="environment", content=said, at=at, line=number)
        else:
            thinking = text(message.get("reasoning_content"))
            yield Reply(text=said, thinking=thinking, at=at, line=number)

    def _asked(self, found: JsonObject, at: int | None, number: int) -> Reply:
        action = obj(found.get("action"))
        key = text(found.get("tool_call_id")) or text(found.get("id"))
        tool = first(found, "tool_name") or text(action.get("kind"))
        given = {name: value for name, value in action.items() if name != "kind"}
        if not given:
            given = dict(call_of(obj(found.get("tool_call")), key).arguments)
        self._actions[key] = (key, tool, given)
        return Reply(
            text=content(found.get("thought")), thinking=text(found.get("reasoning_content")), at=at,
            line=number, calls=(Asked(id=key, tool=tool, arguments=given),),
        )  # fmt: skip

    def _newer_result(self, kind: str, found: JsonObject, at: int | None, number: int) -> Iterator[Item]:
        observation, key = obj(found.get("observation")), text(found.get("tool_call_id"))
        said = content(observation.get("content")) or first(observation, "output") or text(found.get("error"))
        code = whole(observation.get("exit_code"))
        code = whole(obj(observation.get("metadata")).get("exit_code")) if code is None else code
        is_bad = kind == "AgentErrorEvent" or bool(code) or observation.get("is_error") is True
        state: foreign.ResultState = (
            "rejected" if kind == "UserRejectObservation" else "failed" if is_bad else "succeeded"
        )
        if self._waits and state != "rejected":
            yield Decision(call=key, is_approved=True, at=at)
        self._waits = False
        yield Result(
            call=key, text=said, state=state, exit_code=code, at=at, line=number,
            error=said[:2_000] if is_bad else "", reason=text(found.get("rejection_reason")),
            changes=_seen(observation) if state == "succeeded" else (),
        )  # fmt: skip


def _seen(observation: JsonObject) -> tuple[Change, ...]:
    """Return the change that an observation shows with both texts."""
    before, after = observation.get("old_content"), observation.get("new_content")
    if not isinstance(after, str) or before == after:
        return ()
    known = before if isinstance(before, str) else None
    is_new = known is None or observation.get("prev_exist") is False
    path = text(observation.get("path"))
    return (
        Change(path=path, change="create" if is_new else "modify", old=None if is_new else known, new=after),
    )


def _changes(tool: str, arguments: JsonObject, said: str) -> tuple[Change, ...]:
    path = text(arguments.get("path"))
    if tool == "write":
        return (Change(path=path, change="create", new=text(arguments.get("content"))),)
    if tool != "edit" or text(arguments.get("command")) == "view":
        return ()
    if text(arguments.get("command")) == "create":
        return (Change(path=path, change="create", new=text(arguments.get("file_text"))),)
    if "old_str" in arguments:
        return (Change(path=path, old=text(arguments.get("old_str")), new=text(arguments.get("new_str"))),)
    return (Change(path=path, patch=said),) if "@@" in said else ()
