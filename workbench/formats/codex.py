"""Reader of Codex CLI: rollouts old and new, `exec --json`, and the prompt history."""

import re
from collections.abc import Collection, Iterator
from typing import Final, Literal

from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import call_result, parse_arguments, parse_json, usage_within
from workbench.formats.input import JsonLines
from workbench.formats.patches import move_edits, parse_begin_patch
from workbench.formats.record_streams import read_sessions, typed_prompts
from workbench.formats.usage_records import join_usage
from workbench.text.human import SECOND_MICROS
from workbench.text.problems import Problem

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
        j.text_of(line, "type") in _WRAPPER_TYPES and isinstance(line.get("payload"), dict) for line in sample
    ):
        return True
    start = j.as_object(sample[0] if sample else None)
    is_old = {"id", "timestamp"} <= start.keys() and ("instructions" in start or "git" in start)
    return is_old and "type" not in start


def is_exec(sample: list[JsonObject]) -> bool:
    kinds = {j.text_of(line, "type") for line in sample}
    return "thread.started" in kinds or bool(kinds & {"item.completed", "item.started"})


def is_history(sample: list[JsonObject]) -> bool:
    return any({"session_id", "ts", "text"} <= line.keys() for line in sample)


def read_history(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield one session for each id, with what was typed."""
    del name
    yield from typed_prompts(
        lines,
        "session_id",
        "text",
        "ts",
        lambda key, time_us: r.SessionHead(key=f"history:{key}", at=time_us),
    )


def read(lines: JsonLines, name: str) -> Iterator[r.Record]:
    yield from join_usage(read_sessions(lines, lambda: _RolloutReader(name)))


class _RolloutReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._head: r.SessionHead | None = None
        self._has_title = False
        self._has_begun = False
        self._model = ""
        self._thinking: list[str] = []
        self._patches: dict[str, tuple[r.FileEdit, ...]] = {}
        self._last_usage = ""
        self._policy = ""
        self._asks: set[str] = set()
        self._called: set[str] = set()
        self._event_texts: dict[str, list[r.Record]] = {"user": [], "agent": []}
        self._item_texts: set[int] = set()
        self._has_items = False

    def is_another(self, row: JsonObject) -> bool:
        """Return whether a line begins another rollout: its head, behind items of this one.

        A rollout that was forked off another one holds the head of that right behind its own.
        """
        is_head = j.text_of(row, "type") == "session_meta" and self._has_items and self._head is not None
        key = j.text_of(row, "payload", "id")
        return is_head and bool(key) and self._head is not None and key != self._head.key

    def row(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        kind, payload = j.text_of(row, "type"), j.object_of(row, "payload")
        self._has_items = self._has_items or kind == "response_item"
        time_us = j.time_of(row, "timestamp")
        if kind not in _WRAPPER_TYPES:
            kind, payload = ("session_meta", row) if self._is_old_head(row) else ("response_item", row)
        if self._head is None:
            self._head = self._session_head(payload if kind == "session_meta" else {}, time_us)
        if self._model or number > _MOST_LINES_WITHOUT_MODEL:
            yield from self.head()
        match kind:
            case "session_meta":
                return
            case "turn_context":
                self._model = j.text_of(payload, "model") or self._model
                self._policy = j.text_of(payload, "approval_policy") or self._policy
            case "response_item":
                yield from self._item(payload, time_us, number)
            case "event_msg":
                yield from self._event(payload, time_us, number)
            case _:
                yield r.UnmappedRecord(kind, payload, time_us, number)

    def head(self) -> Iterator[r.Record]:
        if self._head is not None and not self._has_begun:
            self._has_begun = True
            yield replace(self._head, model=self._head.model or self._model)

    def _is_old_head(self, row: JsonObject) -> bool:
        return self._head is None and "id" in row and "type" not in row

    def _session_head(self, meta: JsonObject, time_us: int | None) -> r.SessionHead:
        git = j.object_of(meta, "git")
        facts = {key: value for key in ("cli_version", "originator", "source") if (value := meta.get(key))}
        if git:
            facts = {**facts, "git": git}
        spawn = j.object_of(meta, "source", "subagent", "thread_spawn")
        prompt = j.content_of(meta, "instructions") or j.text_of(meta, "base_instructions", "text")
        return r.SessionHead(
            key=j.text_of(meta, "id") or self._name, workspace=j.text_of(meta, "cwd"), provider="openai",
            model=j.text_of(meta, "model"), at=j.time_of(meta, "timestamp") or time_us, facts=facts,
            system_prompt=prompt, parent=j.text_of(spawn, "parent_thread_id"),
        )  # fmt: skip

    def ended(self) -> Iterator[r.Record]:
        yield from self.head()
        yield from self._unrepeated("user")
        yield from self._unrepeated("agent")

    def _unrepeated(self, speaker: str) -> Iterator[r.Record]:
        events, self._event_texts[speaker] = self._event_texts[speaker], []
        for record in events:
            text = record.text if isinstance(record, r.Prompt | r.Reply) else ""
            if hash((speaker, text)) not in self._item_texts:
                yield record

    def _item(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        kind = j.text_of(payload, "type") or ("message" if "role" in payload else "")
        if kind == "message":
            yield from self._message(payload, time_us, number)
        elif kind == "reasoning":
            text = j.content_of(payload, "summary") or j.content_of(payload, "content")
            if text:
                self._thinking.append(text)
        elif kind in _CALL_TYPES:
            yield from self._unrepeated("user")
            yield from self._call(kind, payload, time_us, number)
        elif kind.endswith("_output"):
            yield from self._output(payload, time_us, number)
        elif payload.get("record_type") == "state" or kind in _UNMAPPED_TYPES:
            yield r.UnmappedRecord(kind or "state", payload, time_us, number)
        else:
            yield r.UnmappedRecord(kind or "record", payload, time_us, number, is_understood=False)

    def _message(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        text, role = j.content_of(payload, "content"), j.text_of(payload, "role")
        if role == "assistant":
            yield from self._unrepeated("user")
            self._item_texts.add(hash(("agent", text)))
            yield self._reply(text, (), time_us, number)
        elif role == "user" and not text.startswith(_INJECTED_PREFIXES):
            yield from self._unrepeated("agent")
            # The event beside it names images elsewhere: its text is what was typed, and nothing more.
            typed = "\n".join(
                j.text_of(item, "text") for item in j.objects_of(payload, "content") if "text" in item
            )
            self._item_texts |= {hash(("user", text)), hash(("user", typed))}
            request = text.partition(_REQUEST_HEADING)[2].strip()
            if request and not self._has_title:
                yield r.TitleChange(request, time_us)
            self._has_title = True
            yield r.Prompt(text, time_us, number)
        else:
            self._place(text)
            yield r.UnmappedRecord(f"context.{role}", text, time_us, number)

    def _place(self, text: str) -> None:
        if self._head is not None and not self._head.workspace and (match := _WORKING_FOLDER.search(text)):
            self._head = replace(self._head, workspace=(match[1] or match[2]).strip())

    def _reply(self, text: str, calls: tuple[r.ToolCall, ...], time_us: int | None, number: int) -> r.Reply:
        thinking, self._thinking = "\n\n".join(self._thinking), []
        return r.Reply(text=text, thinking=thinking, calls=calls, model=self._model, at=time_us, line=number)

    def _call(self, kind: str, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        if kind == "web_search_call":
            action = j.object_of(payload, "action")
            yield r.UnmappedRecord("web_search", action, time_us, number)
            return
        tool = j.text_of(payload, "name") or ("tool_search" if kind == "tool_search_call" else "shell")
        written = payload.get("arguments", payload.get("action", payload.get("input")))
        arguments = parse_arguments(written)
        key = j.first_text(payload, "call_id", "id")
        self._called.add(key)
        self._patches[key] = parse_begin_patch(_patch_text(written, arguments))
        if arguments.get("with_escalated_permissions") is True or arguments.get("sandbox_permissions") == (
            "require_escalated"
        ):
            self._asks.add(key)
        yield self._reply("", (r.ToolCall(key, tool, arguments),), time_us, number)
        if key in self._asks and self._policy not in ("", "never"):
            yield r.CallQuestion(call=key, at=time_us)

    def _output(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        key = j.first_text(payload, "call_id", "id")
        text, code, seconds = _call_outcome(payload.get("output"))
        is_bad = code not in (None, 0) or j.object_of(payload, "output").get("success") is False
        lower = text[:400].casefold()
        state: r.ResultState = "failed" if is_bad else "succeeded"
        if _REJECTED_BY_SETTINGS in lower:
            state = "failed"
        elif "rejected by user" in lower or "declined" in lower:
            state = "rejected"
        elif "aborted by user" in lower or text.startswith("aborted"):
            state = "cancelled"
        elif key in self._asks and self._policy not in ("", "never"):
            # What is known of the answer is when the command ended and how long it ran.
            ran_us = None if seconds is None else int(seconds * SECOND_MICROS)
            start_us = None if time_us is None or ran_us is None else time_us - ran_us
            yield r.CallDecision(call=key, is_approved=True, at=start_us or time_us)
        yield call_result(
            key, text, state, at=time_us, line=number, exit_code=code,
            duration_ms=None if seconds is None else int(seconds * 1000),
            changes=self._patches.pop(key, ()),
        )  # fmt: skip

    def _event(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        match j.text_of(payload, "type"):
            case "token_count":
                yield from self._tokens(j.object_of(payload, "info"))
            case "turn_aborted":
                yield from self._unrepeated("user")
                yield r.TurnStop(outcome="interrupted", detail=j.text_of(payload, "reason"), at=time_us)
            case "error" | "stream_error":
                yield r.ErrorRecord("error", j.text_of(payload, "message"), time_us)
            case "user_message":
                text = j.text_of(payload, "message")
                self._event_texts["user"].append(r.Prompt(text, time_us, number))
            case "agent_message":
                text = j.text_of(payload, "message")
                self._event_texts["agent"].append(self._reply(text, (), time_us, number))
            case "agent_reasoning" | "agent_reasoning_raw_content":
                return
            case "exec_command_begin" | "patch_apply_begin" | "mcp_tool_call_begin":
                yield r.CallStart(j.text_of(payload, "call_id"), time_us)
            case "exec_approval_request" | "apply_patch_approval_request":
                yield r.CallQuestion(call=j.text_of(payload, "call_id"), at=time_us)
            case "patch_apply_end" | "exec_command_end" | "mcp_tool_call_end":
                yield from self._call_of_end(payload, time_us, number)
            case kind:
                yield r.UnmappedRecord(f"event.{kind}", payload, time_us, number)

    def _call_of_end(self, payload: JsonObject, time_us: int | None, number: int) -> Iterator[r.Record]:
        """Yield a call that only its end tells of, as those made within a script; the others are items."""
        key = j.text_of(payload, "call_id")
        changes = _applied_edits(j.object_of(payload, "changes"))
        if key in self._called:
            if changes and key in self._patches:
                self._patches[key] = changes
            return
        self._called.add(key)
        yield self._reply("", (_call_of_ended_item(key, payload),), time_us, number)
        text = j.first_text(payload, "aggregated_output", "formatted_output", "stdout", "stderr")
        code = j.integer_of(payload, "exit_code")
        is_bad = bool(code) or payload.get("success") is False or "Err" in j.object_of(payload, "result")
        yield r.CallResult(
            call=key,
            text=text or j.content_of(payload, "result", "Ok", "content"),
            state="failed" if is_bad else "succeeded", exit_code=code, changes=changes, at=time_us,
            line=number, duration_ms=_duration_ms(payload.get("duration")),
        )  # fmt: skip

    def _tokens(self, info: JsonObject) -> Iterator[r.Record]:
        total, last = j.object_of(info, "total_token_usage"), j.object_of(info, "last_token_usage")
        counted = str(sorted(total.items()))
        if last and counted != self._last_usage:
            self._last_usage = counted
            yield r.UsageRecord(usage=usage_of_counts(last))


def _duration_ms(duration: Json) -> int | None:
    parts = j.as_object(duration)
    return j.count_of(parts, "secs") * 1000 + j.count_of(parts, "nanos") // 1_000_000 if parts else None


def _call_of_ended_item(key: str, payload: JsonObject) -> r.ToolCall:
    fields = j.object_of(payload, "invocation")
    if fields:
        tool, arguments = (
            f"{j.text_of(fields, 'server')}.{j.text_of(fields, 'tool')}",
            j.object_of(fields, "arguments"),
        )
    elif "changes" in payload:
        tool, arguments = "apply_patch", {"path": " ".join(j.object_of(payload, "changes"))}
    else:
        tool, arguments = "shell", {"command": payload.get("command")}
    return r.ToolCall(key, tool, arguments)


def _applied_edits(changes: JsonObject) -> tuple[r.FileEdit, ...]:
    edits: list[r.FileEdit] = []
    for path, value in changes.items():
        change = j.as_object(value)
        kind = _CHANGE_KINDS.get(j.text_of(change, "type"), "modify")
        whole_text = j.text_or_none(change.get("content"))
        if target := j.text_of(change, "move_path"):
            edits += move_edits(path, target, j.text_of(change, "unified_diff"))
            continue
        edits.append(
            r.FileEdit(
                path=path, change=kind,
                patch=j.text_of(change, "unified_diff"), old=whole_text if kind == "delete" else None,
                new=whole_text if kind == "create" else None,
            )
        )  # fmt: skip
    return tuple(edits)


def usage_of_counts(counts: JsonObject) -> Usage:
    """Return tokens as Codex counts them; cached ones are among the input, reasoning among the output."""
    return usage_within(counts, "input_tokens", "output_tokens", "cached_input_tokens")


def _patch_text(written: Json, arguments: JsonObject) -> str:
    parts = [j.as_text(item) for item in j.as_array(arguments.get("command"))] or [
        j.first_text(arguments, "input", "patch", "command")
    ]
    return "\n".join([*parts, written if isinstance(written, str) and not arguments else ""])


def _call_outcome(output: Json) -> tuple[str, int | None, float | None]:
    if isinstance(output, str) and output.startswith("{"):
        parsed = parse_json(output)
        if not j.as_object(parsed).keys() & {"output", "content", "metadata"}:
            return output, None, None  # what a program printed, or a tool of somebody else's gave back
        output = parsed
    if isinstance(output, list):
        output = j.content_text(output)
    if isinstance(output, str):
        code = _number_behind(output, "Exit code:")
        code = _number_behind(output, "Process exited with code") if code is None else code
        return output, code, _seconds_behind(output, "Wall time:")
    fields = j.as_object(output)
    meta = j.object_of(fields, "metadata")
    seconds = meta.get("duration_seconds")
    text = j.text_of(fields, "output") or j.content_of(fields, "content") or j.content_text(output)
    return (
        text,
        j.integer_of(meta, "exit_code"),
        float(seconds) if isinstance(seconds, int | float) else None,
    )


def _number_behind(text: str, words: str) -> int | None:
    match = re.match(r"\s*(-?\d{1,9})\b", text[:400].partition(words)[2])
    return int(match[1]) if match else None


def _seconds_behind(text: str, words: str) -> float | None:
    digits = text[:400].partition(words)[2].split()
    try:
        return float(digits[0]) if digits else None
    except ValueError:
        return None


def read_exec(lines: JsonLines, name: str) -> Iterator[r.Record]:
    """Yield a session from the events of `codex exec --json`; they have no times."""
    yield from join_usage(_read_exec(lines, name))


def _read_exec(lines: JsonLines, name: str) -> Iterator[r.Record]:
    has_begun = False
    running: set[str] = set()
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        row = j.as_object(line.value)
        kind, item = j.text_of(row, "type"), j.object_of(row, "item")
        if not has_begun:
            has_begun = True
            yield r.SessionHead(key=j.text_of(row, "thread_id") or name, provider="openai")
        if kind == "item.started" and (call := _exec_call(item)):
            running.add(call.id)
            yield r.Reply(calls=(call,), line=line.number)
        elif kind == "item.completed":
            yield from _exec_item(item, line.number, running)
        elif kind == "turn.completed":
            yield r.UsageRecord(usage=usage_of_counts(j.object_of(row, "usage")))
        elif kind in ("turn.failed", "error"):
            why = j.text_of(row, "error", "message") or j.text_of(row, "message")
            yield r.ErrorRecord("turn_failed", why)
        elif kind not in ("thread.started", "turn.started", "item.started", "item.updated"):
            yield r.UnmappedRecord(kind or "record", row, line=line.number, is_understood=False)


def _exec_call(item: JsonObject) -> r.ToolCall | None:
    """Return the call that an item of `codex exec` is, None where it is none."""
    key = j.text_of(item, "id")
    match _item_kind(item):
        case "command_execution":
            return r.ToolCall(key, "shell", {"command": j.text_of(item, "command")})
        case "file_change":
            paths = [j.text_of(change, "path") for change in j.objects_of(item, "changes")]
            return r.ToolCall(key, "apply_patch", {"path": " ".join(paths)})
        case "mcp_tool_call":
            tool = f"{j.text_of(item, 'server')}.{j.text_of(item, 'tool')}"
            return r.ToolCall(key, tool, j.object_of(item, "arguments"))
        case _:
            return None


def _item_kind(item: JsonObject) -> str:
    return j.text_of(item, "type") or j.text_of(item, "item_type")


def _exec_item(item: JsonObject, number: int, running: Collection[str]) -> Iterator[r.Record]:
    call, kind = _exec_call(item), _item_kind(item)
    if call is not None:
        if call.id not in running:
            yield r.Reply(calls=(call,), line=number)
        yield _exec_result(item, call.id, number)
        return
    match kind:
        case "agent_message" | "assistant_message":
            yield r.Reply(text=j.text_of(item, "text"), line=number)
        case "reasoning":
            yield r.Reply(thinking=j.text_of(item, "text"), line=number)
        case "error":
            yield r.ErrorRecord("error", j.text_of(item, "message"))
        case "todo_list" | "web_search":
            yield r.UnmappedRecord(kind, item, line=number)
        case _:
            yield r.UnmappedRecord(f"item.{kind}", item, line=number, is_understood=False)


def _exec_result(item: JsonObject, call: str, number: int) -> r.CallResult:
    code = j.integer_of(item, "exit_code")
    state = _ITEM_STATES.get(j.text_of(item, "status"), "succeeded" if not code else "failed")
    changes = tuple(
        r.FileEdit(
            path=j.text_of(fields, "path"),
            change=_CHANGE_KINDS.get(j.text_of(fields, "kind"), "modify"),
        )
        for fields in j.objects_of(item, "changes")
    )
    text = j.text_of(item, "aggregated_output") or j.content_of(item, "result", "content")
    return r.CallResult(call=call, text=text, state=state, exit_code=code, changes=changes, line=number)


_ITEM_STATES: Final[dict[str, r.ResultState]] = {
    "completed": "succeeded", "failed": "failed", "declined": "rejected", "in_progress": "interrupted",
}  # fmt: skip
_CHANGE_KINDS: Final[dict[str, Literal["create", "modify", "delete"]]] = {
    "add": "create", "update": "modify", "delete": "delete",
}  # fmt: skip
