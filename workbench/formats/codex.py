"""Reader of Codex CLI: rollouts old and new, `exec --json`, and the prompt history."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal

import orjson
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import JsonLine
from workbench.formats.patches import move_edits, parse_begin_patch
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
    as_array,
    as_count,
    as_integer,
    as_object,
    as_objects,
    as_text,
    as_time,
    content_text,
    first_text,
    typed_prompts,
)

_WRAPPER_TYPES: Final = frozenset({
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
    "inter_agent_communication", "inter_agent_communication_metadata", "token_usage_record",
    "retained_context", "security_risk_score", "realtime_item",
})  # fmt: skip
_INJECTED_PREFIXES: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "# AGENTS.md",
)
_MOST_LINES_WITHOUT_MODEL: Final = 50
"""Lines after which a session begins without its model being known."""
_REQUEST_HEADING: Final = "## My request for Codex:"
"""Where an editor's extension ends its own context and the human begins."""
_REJECTED_BY_SETTINGS: Final = "rejected by user approval settings"
"""What is said where no human was asked: the settings said no."""
_CALL_TYPES: Final = (
    "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
)  # fmt: skip
_UNMAPPED_TYPES: Final = (
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "image_generation_call",
    "other",
)
_WORKING_FOLDER: Final = re.compile(r"<cwd>(.*?)</cwd>|Current working directory: (.+)")
"""How a first message names the folder, where the head does not."""


def is_rollout(sample: list[JsonObject]) -> bool:
    if any(
        as_text(line.get("type")) in _WRAPPER_TYPES and isinstance(line.get("payload"), dict)
        for line in sample
    ):
        return True
    start = as_object(sample[0] if sample else None)
    is_old = {"id", "timestamp"} <= start.keys() and ("instructions" in start or "git" in start)
    return is_old and "type" not in start


def is_exec(sample: list[JsonObject]) -> bool:
    kinds = {as_text(line.get("type")) for line in sample}
    return "thread.started" in kinds or bool(kinds & {"item.completed", "item.started"})


def is_history(sample: list[JsonObject]) -> bool:
    return any({"session_id", "ts", "text"} <= line.keys() for line in sample)


def read_history(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield one session for each id, with what was typed."""
    del name
    rows = list(lines)
    yield from (row for row in rows if isinstance(row, FileProblem))
    yield from typed_prompts(
        ((row.number, as_object(row.value)) for row in rows if isinstance(row, JsonLine)),
        "session_id", "text", "ts", lambda key, at: SessionHead(key=f"history:{key}", at=at),
    )  # fmt: skip


def read(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    reader = _RolloutReader(name)
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
        elif row := as_object(line.value):
            yield from reader.record(row, line.number)
        else:
            yield FileProblem(line=line.number, why="it is no object")
    yield from reader.ended()


class _RolloutReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._head: SessionHead | None = None
        self._has_title = False
        self._has_begun = False
        self._model = ""
        self._thinking: list[str] = []
        self._patches: dict[str, tuple[FileEdit, ...]] = {}
        self._last_usage = ""
        self._policy = ""
        self._asks: set[str] = set()
        self._called: set[str] = set()
        self._told: dict[str, list[Record]] = {"user": [], "agent": []}
        self._spoken: set[int] = set()

    def record(self, found: JsonObject, number: int) -> Iterator[Record]:
        kind, payload = as_text(found.get("type")), as_object(found.get("payload"))
        at = as_time(found.get("timestamp"))
        if kind not in _WRAPPER_TYPES:
            kind, payload = ("session_meta", found) if self._is_old_head(found) else ("response_item", found)
        if self._head is None:
            self._head = self._first(payload if kind == "session_meta" else {}, at)
        if self._model or number > _MOST_LINES_WITHOUT_MODEL:
            yield from self.begun()
        match kind:
            case "session_meta":
                return
            case "turn_context":
                self._model = as_text(payload.get("model")) or self._model
                self._policy = as_text(payload.get("approval_policy")) or self._policy
            case "response_item":
                yield from self._item(payload, at, number)
            case "event_msg":
                yield from self._event(payload, at, number)
            case _:
                yield UnmappedRecord(kind=kind, content=payload, at=at, line=number)

    def begun(self) -> Iterator[Record]:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=self._head.model or self._model)

    def _is_old_head(self, found: JsonObject) -> bool:
        return self._head is None and "id" in found and "type" not in found

    def _first(self, meta: JsonObject, at: int | None) -> SessionHead:
        git = as_object(meta.get("git"))
        facts = {key: value for key in ("cli_version", "originator", "source") if (value := meta.get(key))}
        if git:
            facts = {**facts, "git": git}
        spawn = as_object(as_object(as_object(meta.get("source")).get("subagent")).get("thread_spawn"))
        prompt = content_text(meta.get("instructions")) or as_text(
            as_object(meta.get("base_instructions")).get("text")
        )
        return SessionHead(
            key=as_text(meta.get("id")) or self._name, workspace=as_text(meta.get("cwd")), provider="openai",
            model=as_text(meta.get("model")), at=as_time(meta.get("timestamp")) or at, facts=facts,
            system_prompt=prompt, parent=as_text(spawn.get("parent_thread_id")),
        )  # fmt: skip

    def ended(self) -> Iterator[Record]:
        yield from self.begun()
        yield from self._untold("user")
        yield from self._untold("agent")

    def _untold(self, who: str) -> Iterator[Record]:
        told, self._told[who] = self._told[who], []
        for one in told:
            said = one.text if isinstance(one, Prompt | Reply) else ""
            if hash((who, said)) not in self._spoken:
                yield one

    def _item(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        kind = as_text(payload.get("type")) or ("message" if "role" in payload else "")
        if kind == "message":
            yield from self._message(payload, at, number)
        elif kind == "reasoning":
            said = content_text(payload.get("summary")) or content_text(payload.get("content"))
            if said:
                self._thinking.append(said)
        elif kind in _CALL_TYPES:
            yield from self._untold("user")
            yield self._call(kind, payload, at, number)
        elif kind.endswith("_output"):
            yield from self._output(payload, at, number)
        elif payload.get("record_type") == "state" or kind in _UNMAPPED_TYPES:
            yield UnmappedRecord(kind=kind or "state", content=payload, at=at, line=number)
        else:
            yield UnmappedRecord(
                kind=kind or "record", content=payload, at=at, line=number, is_understood=False
            )

    def _message(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        said, role = content_text(payload.get("content")), as_text(payload.get("role"))
        if role == "assistant":
            yield from self._untold("user")
            self._spoken.add(hash(("agent", said)))
            yield self._reply(said, (), at, number)
        elif role == "user" and not said.startswith(_INJECTED_PREFIXES):
            yield from self._untold("agent")
            # The event beside it names images elsewhere: its text is what was typed, and nothing more.
            typed = "\n".join(
                as_text(item.get("text")) for item in as_objects(payload.get("content")) if "text" in item
            )
            self._spoken |= {hash(("user", said)), hash(("user", typed))}
            request = said.partition(_REQUEST_HEADING)[2].strip()
            if request and not self._has_title:
                yield records.TitleChange(title=request, at=at)
            self._has_title = True
            yield Prompt(text=said, at=at, line=number)
        else:
            self._place(said)
            yield UnmappedRecord(kind=f"context.{role}", content=said, at=at, line=number)

    def _place(self, said: str) -> None:
        if self._head is not None and not self._head.workspace and (match := _WORKING_FOLDER.search(said)):
            self._head = replace(self._head, workspace=(match[1] or match[2]).strip())

    def _reply(self, said: str, calls: tuple[ToolCall, ...], at: int | None, number: int) -> Reply:
        thinking, self._thinking = "\n\n".join(self._thinking), []
        return Reply(text=said, thinking=thinking, calls=calls, model=self._model, at=at, line=number)

    def _call(self, kind: str, payload: JsonObject, at: int | None, number: int) -> Record:
        if kind == "web_search_call":
            kept = as_object(payload.get("action"))
            return UnmappedRecord(kind="web_search", content=kept, at=at, line=number)
        tool = as_text(payload.get("name")) or ("tool_search" if kind == "tool_search_call" else "shell")
        given = payload.get("arguments", payload.get("action", payload.get("input")))
        arguments = _call_arguments(given)
        key = first_text(payload, "call_id", "id")
        self._called.add(key)
        self._patches[key] = parse_begin_patch(_patch_text(given, arguments))
        if arguments.get("with_escalated_permissions") is True or arguments.get("sandbox_permissions") == (
            "require_escalated"
        ):
            self._asks.add(key)
        return self._reply("", (ToolCall(id=key, tool=tool, arguments=arguments),), at, number)

    def _output(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        key = first_text(payload, "call_id", "id")
        said, code, seconds = _call_outcome(payload.get("output"))
        is_bad = code not in (None, 0) or as_object(payload.get("output")).get("success") is False
        lower = said[:400].casefold()
        state: records.ResultState = "failed" if is_bad else "succeeded"
        if _REJECTED_BY_SETTINGS in lower:
            state = "failed"
        elif "rejected by user" in lower or "declined" in lower:
            state = "rejected"
        elif "aborted by user" in lower or said.startswith("aborted"):
            state = "cancelled"
        elif key in self._asks and self._policy not in ("", "never"):
            yield CallDecision(call=key, is_approved=True, at=at)
        yield CallResult(
            call=key, text=said, state=state, error=said[:2_000] if state == "failed" else "", exit_code=code,
            duration_ms=None if seconds is None else int(seconds * 1000), at=at, line=number,
            changes=self._patches.pop(key, ()),
        )  # fmt: skip

    def _event(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        match as_text(payload.get("type")):
            case "token_count":
                yield from self._tokens(as_object(payload.get("info")))
            case "turn_aborted":
                yield from self._untold("user")
                yield records.TurnStop(outcome="interrupted", detail=as_text(payload.get("reason")), at=at)
            case "error" | "stream_error":
                yield records.ErrorRecord(code="error", message=as_text(payload.get("message")), at=at)
            case "user_message":
                said = as_text(payload.get("message"))
                self._told["user"].append(Prompt(text=said, at=at, line=number))
            case "agent_message":
                self._told["agent"].append(self._reply(as_text(payload.get("message")), (), at, number))
            case "agent_reasoning" | "agent_reasoning_raw_content":
                return
            case "patch_apply_end" | "exec_command_end" | "mcp_tool_call_end":
                yield from self._ended_call(payload, at, number)
            case kind:
                yield UnmappedRecord(kind=f"event.{kind}", content=payload, at=at, line=number)

    def _ended_call(self, payload: JsonObject, at: int | None, number: int) -> Iterator[Record]:
        """Yield a call that only its end tells of, as those made within a script; the others are items."""
        key = as_text(payload.get("call_id"))
        changes = _applied_edits(as_object(payload.get("changes")))
        if key in self._called:
            if changes and key in self._patches:
                self._patches[key] = changes
            return
        self._called.add(key)
        yield self._reply("", (_call_of_ended_item(key, payload),), at, number)
        said = first_text(payload, "aggregated_output", "formatted_output", "stdout", "stderr")
        code = as_integer(payload.get("exit_code"))
        is_bad = bool(code) or payload.get("success") is False or "Err" in as_object(payload.get("result"))
        yield CallResult(
            call=key,
            text=said or content_text(as_object(as_object(payload.get("result")).get("Ok")).get("content")),
            state="failed" if is_bad else "succeeded", exit_code=code, changes=changes, at=at, line=number,
        )  # fmt: skip

    def _tokens(self, info: JsonObject) -> Iterator[Record]:
        total, last = as_object(info.get("total_token_usage")), as_object(info.get("last_token_usage"))
        told = str(sorted(total.items()))
        if last and told != self._last_usage:
            self._last_usage = told
            yield records.UsageRecord(usage=usage_of_counts(last))


def _call_of_ended_item(key: str, payload: JsonObject) -> ToolCall:
    fields = as_object(payload.get("invocation"))
    if fields:
        tool, given = (
            f"{as_text(fields.get('server'))}.{as_text(fields.get('tool'))}",
            as_object(fields.get("arguments")),
        )
    elif "changes" in payload:
        tool, given = "apply_patch", {"path": " ".join(as_object(payload.get("changes")))}
    else:
        tool, given = "shell", {"command": payload.get("command")}
    return ToolCall(id=key, tool=tool, arguments=given)


def _applied_edits(changes: JsonObject) -> tuple[FileEdit, ...]:
    found: list[FileEdit] = []
    for path, value in changes.items():
        change = as_object(value)
        kind = _CHANGE_KINDS.get(as_text(change.get("type")), "modify")
        whole_text = change.get("content")
        known = whole_text if isinstance(whole_text, str) else None
        if target := as_text(change.get("move_path")):
            found += move_edits(path, target, as_text(change.get("unified_diff")))
            continue
        found.append(
            FileEdit(
                path=path, change=kind,
                patch=as_text(change.get("unified_diff")), old=known if kind == "delete" else None,
                new=known if kind == "create" else None,
            )
        )  # fmt: skip
    return tuple(found)


def usage_of_counts(found: JsonObject) -> Usage:
    """Return tokens as Codex counts them; cached ones are among the input."""
    return Usage(
        input_tokens=as_count(found.get("input_tokens")), output_tokens=as_count(found.get("output_tokens"))
    )


def _call_arguments(given: Json) -> JsonObject:
    if isinstance(given, str):
        try:
            value = orjson.loads(given)
        except ValueError:
            return {"input": given}
        return as_object(value) or {"input": given}
    return as_object(given)


def _patch_text(given: Json, arguments: JsonObject) -> str:
    parts = [as_text(item) for item in as_array(arguments.get("command"))] or [
        first_text(arguments, "input", "patch", "command")
    ]
    return "\n".join([*parts, given if isinstance(given, str) and not arguments else ""])


def _call_outcome(given: Json) -> tuple[str, int | None, float | None]:
    if isinstance(given, str) and given.startswith("{"):
        try:
            parsed: Json = orjson.loads(given)
        except ValueError:
            return given, None, None
        if not as_object(parsed).keys() & {"output", "content", "metadata"}:
            return given, None, None  # what a program printed, or a tool of somebody else's gave back
        given = parsed
    if isinstance(given, list):
        given = content_text(given)
    if isinstance(given, str):
        code = _number_behind(given, "Exit code:")
        code = _number_behind(given, "Process exited with code") if code is None else code
        return given, code, _seconds_behind(given, "Wall time:")
    fields = as_object(given)
    meta = as_object(fields.get("metadata"))
    seconds = meta.get("duration_seconds")
    said = as_text(fields.get("output")) or content_text(fields.get("content")) or content_text(given)
    return (
        said,
        as_integer(meta.get("exit_code")),
        float(seconds) if isinstance(seconds, int | float) else None,
    )


def _number_behind(said: str, words: str) -> int | None:
    match = re.match(r"\s*(-?\d{1,9})\b", said[:400].partition(words)[2])
    return int(match[1]) if match else None


def _seconds_behind(said: str, words: str) -> float | None:
    digits = said[:400].partition(words)[2].split()
    try:
        return float(digits[0]) if digits else None
    except ValueError:
        return None


def read_exec(lines: Iterable[JsonLine | FileProblem], name: str) -> Iterator[Record]:
    """Yield a session from the events of `codex exec --json`; they have no times."""
    has_begun = False
    for line in lines:
        if isinstance(line, FileProblem):
            yield line
            continue
        row = as_object(line.value)
        kind = as_text(row.get("type"))
        if not has_begun:
            has_begun = True
            yield SessionHead(key=as_text(row.get("thread_id")) or name, provider="openai")
        if kind == "item.completed":
            yield from _exec_item(as_object(row.get("item")), line.number)
        elif kind == "turn.completed":
            yield records.UsageRecord(usage=usage_of_counts(as_object(row.get("usage"))))
        elif kind in ("turn.failed", "error"):
            why = as_text(as_object(row.get("error")).get("message")) or as_text(row.get("message"))
            yield records.ErrorRecord(code="turn_failed", message=why)
        elif kind not in ("thread.started", "turn.started", "item.started", "item.updated"):
            yield UnmappedRecord(kind=kind or "record", content=row, line=line.number, is_understood=False)


def _exec_item(item: JsonObject, number: int) -> Iterator[Record]:
    key, kind = as_text(item.get("id")), as_text(item.get("type")) or as_text(item.get("item_type"))
    match kind:
        case "agent_message" | "assistant_message":
            yield Reply(text=as_text(item.get("text")), line=number)
        case "reasoning":
            yield Reply(thinking=as_text(item.get("text")), line=number)
        case "command_execution":
            asked = ToolCall(id=key, tool="shell", arguments={"command": as_text(item.get("command"))})
            yield Reply(calls=(asked,), line=number)
            code = as_integer(item.get("exit_code"))
            state = _ITEM_STATES.get(as_text(item.get("status")), "succeeded" if not code else "failed")
            yield CallResult(
                call=key,
                text=as_text(item.get("aggregated_output")),
                state=state,
                exit_code=code,
                line=number,
            )
        case "file_change":
            changes = tuple(
                FileEdit(path=as_text(one.get("path")),
                         change=_CHANGE_KINDS.get(as_text(one.get("kind")), "modify"))
                for one in as_objects(item.get("changes"))
            )  # fmt: skip
            paths = [change.path for change in changes]
            yield Reply(
                calls=(ToolCall(id=key, tool="apply_patch", arguments={"path": " ".join(paths)}),),
                line=number,
            )
            yield CallResult(
                call=key, changes=changes, state=_ITEM_STATES.get(as_text(item.get("status")), "succeeded")
            )
        case "error":
            yield records.ErrorRecord(code="error", message=as_text(item.get("message")))
        case "todo_list" | "web_search":
            yield UnmappedRecord(kind=kind, content=item, line=number)
        case "mcp_tool_call":
            tool = f"{as_text(item.get('server'))}.{as_text(item.get('tool'))}"
            yield Reply(
                calls=(ToolCall(id=key, tool=tool, arguments=as_object(item.get("arguments"))),), line=number
            )
            said = content_text(as_object(item.get("result")).get("content"))
            yield CallResult(
                call=key, text=said, state=_ITEM_STATES.get(as_text(item.get("status")), "succeeded")
            )
        case _:
            yield UnmappedRecord(kind=f"item.{kind}", content=item, line=number, is_understood=False)


_ITEM_STATES: Final[dict[str, records.ResultState]] = {
    "completed": "succeeded", "failed": "failed", "declined": "rejected", "in_progress": "interrupted",
}  # fmt: skip
_CHANGE_KINDS: Final[dict[str, Literal["create", "modify", "delete"]]] = {
    "add": "create", "update": "modify", "delete": "delete",
}  # fmt: skip
