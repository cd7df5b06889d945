"""Reader of Cline and Roo Code: tasks, as conversation or as messages on the screen, and newer sessions."""

# A task has two histories. `api_conversation_history.json` holds what was said and done; `ui_messages.json`
# beside it holds when, what it cost, and what a human was asked. The second is read alone only where the
# first is not there.

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.chat_messages import (
    call_result,
    calls_of_blocks,
    end_state,
    parse_json,
    result_blocks,
    said_text,
    thought_text,
    usage_apart,
    usage_within,
)
from workbench.formats.record_streams import session_key
from workbench.formats.usage_records import join_usage

_TOOLS: Final = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
    "search_and_replace", "edit_file", "search_files", "list_files", "list_code_definition_names",
    "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question", "attempt_completion",
    "plan_mode_respond", "new_task", "switch_mode", "fetch_instructions", "load_mcp_documentation",
    "web_fetch", "codebase_search", "update_todo_list", "condense", "new_rule", "use_skill",
)  # fmt: skip
_TOOL_TAG: Final = re.compile(rf"<({'|'.join(_TOOLS)})>")
_PARAMETER: Final = re.compile(r"<([a-z_]{1,40})>")
_SPOKEN_TOOLS: Final = {"attempt_completion": "result", "plan_mode_respond": "response"}
"""Calls that only say something."""
_MOST_TAGS: Final = 200
"""Tags of one message that are looked at."""
_RESULT_HEAD: Final = re.compile(r"\[([a-z_]{2,40})(?: for [^\n]{0,4000})?\] Result:\s*")
_ENVIRONMENT: Final = "<environment_details>"
_FOLDER: Final = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]{1,1000})\)")
_TYPED: Final = re.compile(
    r"<(task|feedback|user_message|answer|user_input)(?:\s[^>\n]{0,200})?>\s*(.*?)\s*</\1>", re.DOTALL
)
_DENIED: Final = ("The user denied this operation", "The user rejected")
_FAILED: Final = ("The tool execution failed", "Error executing", "<error_details>", "[ERROR]", "Error:")
_EXIT_CODE: Final = re.compile(r"(?:exit code|Exit code):? (-?\d{1,3})\b")
_ROO_MARKS: Final = ("<slug>", '"apiProtocol"')
"""What only Roo writes: its mode, and the protocol of a request."""
_ASKED: Final = ("tool", "command", "use_mcp_server", "browser_action_launch")
_BOOKKEEPING: Final = frozenset({
    "api_req_finished", "api_req_retried", "api_req_retry_delayed", "api_req_deleted", "checkpoint_created",
    "checkpoint_saved", "task_progress", "shell_integration_warning", "browser_action", "mcp_server_response",
    "browser_action_result", "browser_session_status", "mcp_server_request_started", "condense_context",
    "command_output", "resume_task", "resume_completed_task", "completion_result", "load_mcp_documentation",
    "info", "image", "subtask_result", "codebase_search_result", "api_req_rate_limited", "user_edit_todos",
    "sliding_window_truncation", "hook_status", "conditional_rules_applied",
})  # fmt: skip


def is_task(value: Json) -> bool:
    """Tell whether a document is the conversation of a task: the first message wraps what was typed."""
    first = j.as_objects(value)[:1]
    return bool(first) and first[0].get("role") == "user" and "content" in first[0] and bool(
        _TYPED.search(j.content_of(first[0], "content")) or _ENVIRONMENT in j.content_of(first[0], "content")
    )  # fmt: skip


def is_roo_task(value: Json) -> bool:
    return is_task(value) and any(
        _ROO_MARKS[0] in j.content_of(row, "content") for row in j.as_objects(value)[:5]
    )


def is_screen(value: Json) -> bool:
    """Tell whether a document is the messages of a task on the screen."""
    rows = j.as_objects(value)[:5]
    return bool(rows) and all(
        "ts" in row and row.get("type") in ("say", "ask") and j.text_of(row, j.text_of(row, "type"))
        for row in rows
    )


def is_roo_screen(value: Json) -> bool:
    return is_screen(value) and any(
        _ROO_MARKS[1] in j.text_of(row, "text") for row in j.as_objects(value)[:20]
    )


def is_session(value: Json) -> bool:
    """Tell whether a document is a session of Cline's own program."""
    document = j.as_object(value)
    rows = j.objects_of(document, "messages")[:5]
    return "sessionId" in document and bool(rows) and all(
        "role" in row and "ts" in row and isinstance(row.get("content"), list) for row in rows
    )  # fmt: skip


def read(value: Json, name: str) -> Iterator[r.Record]:
    """Yield the session of a task, or one of Cline's own program."""
    document = j.as_object(value)
    rows = j.objects_of(document, "messages") or j.as_objects(value)
    key = j.text_of(document, "sessionId") or _task_key(name)
    origin = j.object_of(document, "origin")
    texts = (j.content_of(row, "content") for row in rows[:5])
    folder = next((match[1] for text in texts if (match := _FOLDER.search(text))), "")
    models = (j.object_of(row, "modelInfo") for row in rows)
    model = next(
        (name_of_model for info in models if (name_of_model := j.first_text(info, "modelId", "id"))), ""
    )
    yield r.SessionHead(
        key=key, workspace=folder, model=model, at=_start(key, rows),
        parent=j.text_of(origin, "parentThreadId"),
    )  # fmt: skip
    reader = _TaskReader()
    for number, row in enumerate(rows, 1):
        yield from reader.message(row, number)


def _task_key(name: str) -> str:
    return session_key(name, "api_conversation_history.json", "ui_messages.json", "claude_messages.json")


def _start(key: str, rows: list[JsonObject]) -> int | None:
    """Return when a task began: its id is that time, in milliseconds."""
    written = next((time_us for row in rows if (time_us := j.time_of(row, "ts"))), None)
    return written or (j.as_time(int(key)) if key.isdecimal() and len(key) == 13 else None)


class _TaskReader:
    def __init__(self) -> None:
        self._open: list[r.ToolCall] = []
        """Calls that the model wrote as text and that have no result yet."""

    def message(self, row: JsonObject, number: int) -> Iterator[r.Record]:
        time_us, content = j.time_of(row, "ts"), row.get("content")
        if row.get("role") == "assistant":
            yield from self._reply(row, content, time_us, number)
            return
        for block in result_blocks(content):
            text = j.content_of(block, "content")
            key, is_error = j.text_of(block, "tool_use_id"), block.get("is_error") is True
            yield from self._call_end(key, text, time_us, number, is_error=is_error)
        texts = [content] if isinstance(content, str) else [
            text for block in j.as_objects(content) if (text := said_text([block]))
        ]  # fmt: skip
        yield from self._user_records(texts, time_us, number)
        if not texts and not result_blocks(content):
            yield r.Prompt("", time_us, number)

    def _reply(self, row: JsonObject, content: Json, time_us: int | None, number: int) -> Iterator[r.Record]:
        text, written = split_calls(said_text(content), number)
        every_call = (*written, *calls_of_blocks(content, f"{number}."))
        spoken = [
            j.text_of(call.arguments, _SPOKEN_TOOLS[call.tool])
            for call in every_call
            if call.tool in _SPOKEN_TOOLS
        ]
        calls = tuple(call for call in every_call if call.tool not in _SPOKEN_TOOLS)
        self._open = [*self._open[-_MOST_TAGS:], *calls]
        metrics = j.object_of(row, "metrics")
        yield r.Reply(
            text="\n\n".join(filter(None, (text, *spoken))), thinking=thought_text(content), calls=calls,
            usage=_metrics_usage(metrics), model=j.first_text(j.object_of(row, "modelInfo"), "modelId", "id"),
            at=time_us, line=number,
        )  # fmt: skip
        for call in calls:
            if call.tool == "ask_followup_question":
                question = j.text_of(call.arguments, "question")
                yield r.CallQuestion(
                    call=call.id, prompt=question or "?", choices=_choices(call.arguments), at=time_us
                )

    def _user_records(self, texts: list[str], time_us: int | None, number: int) -> Iterator[r.Record]:
        """Yield what a user's message holds: results, what was typed, and what the editor added."""
        call, parts = "", list[str]()
        for text in texts:
            words, _, environment = text.partition(_ENVIRONMENT)
            if environment:
                yield r.UnmappedRecord("context.environment", environment[:8_000], time_us, number)
            if match := _RESULT_HEAD.match(words):
                yield from self._result(call, parts, time_us, number)
                call, parts = self._call_of_tool(match[1]), []
                words = words[match.end() :]
            if call:
                parts.append(words)
            elif words.strip():
                yield self._prompt_record(words, time_us, number)
        yield from self._result(call, parts, time_us, number)

    def _call_of_tool(self, tool: str) -> str:
        return next((call.id for call in self._open if call.tool == tool), "")

    def _result(self, call: str, parts: list[str], time_us: int | None, number: int) -> Iterator[r.Record]:
        text = "\n".join(part for part in parts if part.strip())
        if call:
            yield from self._call_end(call, text, time_us, number)

    def _prompt_record(self, text: str, time_us: int | None, number: int) -> r.Record:
        typed = _TYPED.search(text)
        if typed is None and text.lstrip().startswith(("[TASK RESUMPTION]", "[ERROR]", "# task_progress")):
            return r.UnmappedRecord("context.user", text, time_us, number)
        return r.Prompt(typed[2] if typed else text.strip(), time_us, number)

    def _call_end(
        self, key: str, text: str, time_us: int | None, number: int, *, is_error: bool = False
    ) -> Iterator[r.Record]:
        open_call = next((call for call in self._open if call.id == key), None)
        self._open = [call for call in self._open if call.id != key]
        typed = _TYPED.search(text)
        if open_call is not None and open_call.tool == "ask_followup_question":
            answer = typed[2] if typed else text
            choice = answer if answer in dict(_choices(open_call.arguments)) else ""
            yield r.CallDecision(call=key, is_approved=True, choice=choice, text=answer, at=time_us)
        # Roo's calls in blocks have results that are objects.
        status = j.text_of(j.as_object(parse_json(text)), "status") if text.startswith('{"status"') else ""
        is_denied = text.lstrip().startswith(_DENIED) or status == "denied"
        is_bad = is_error or text.lstrip().startswith(_FAILED) or status == "error"
        exits = _EXIT_CODE.search(text[:400])
        code = int(exits[1]) if exits else None
        state = end_state(is_bad=is_bad or bool(code), is_refused=is_denied)
        feedback = j.first_text(j.as_object(parse_json(text)), "feedback", "message") if status else ""
        reason = (typed[2] if typed else feedback) if is_denied else ""
        yield call_result(key, text, state, at=time_us, line=number, exit_code=code, reason=reason)


def _metrics_usage(metrics: JsonObject) -> Usage:
    if tokens := j.object_of(metrics, "tokens"):
        return usage_within(tokens, "prompt", "completion", "cached", cost=metrics.get("cost"))
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return usage_apart(metrics, *names, metrics.get("cost"))


def split_calls(text: str, number: int) -> tuple[str, list[r.ToolCall]]:
    """Return a reply's words without the calls in them, and the calls, which are written as tags."""
    words: list[str] = []
    calls: list[r.ToolCall] = []
    place = 0
    for match in list(_TOOL_TAG.finditer(text))[:_MOST_TAGS]:
        end = text.find(f"</{match[1]}>", match.end()) if match.start() >= place else -1
        if end < 0:
            continue
        words.append(text[place : match.start()])
        arguments = _parameters(text[match.end() : end])
        calls.append(r.ToolCall(f"{number}.{len(calls) + 1}", match[1], arguments))
        place = end + len(match[1]) + 3
    words.append(text[place:])
    spoken = "".join(words).replace("<thinking>", "").replace("</thinking>", "").strip()
    return spoken, calls


def _parameters(text: str) -> JsonObject:
    parameters: dict[str, Json] = {}
    place = 0
    for match in list(_PARAMETER.finditer(text))[:_MOST_TAGS]:
        # The end is the last one: what is written to a file may hold the same tag.
        end = text.rfind(f"</{match[1]}>") if match.start() >= place else -1
        if end > match.start():
            parameters[match[1]] = text[match.end() : end].strip("\n")
            place = end
    return parameters


def _choices(arguments: JsonObject) -> tuple[tuple[str, str], ...]:
    options = arguments.get("options", arguments.get("follow_up"))
    if isinstance(options, str):
        listed = re.findall(r"<suggest(?:\s[^>]{0,80})?>([^<]{1,400})</suggest>", options[:20_000])
        options = listed or parse_json(options)
    text = [j.as_text(item) or j.text_of(j.as_object(item), "text") for item in j.as_array(options)]
    return tuple((words, words) for words in text if words)


# --- what stands on the screen --------------------------------------------------------------------------


def _request_usage(row: JsonObject) -> Usage:
    counts = j.as_object(parse_json(j.text_of(row, "text")))
    return usage_apart(counts, "tokensIn", "tokensOut", "cacheReads", "cacheWrites", counts.get("cost"))


def join_screen(records: Iterator[r.Record], documents: list[JsonObject]) -> Iterator[r.Record]:
    """Yield a task with the times, the tokens and the questions that its screen showed."""
    screen, conversation, about = documents
    is_screen_alone = False
    for record in records:
        if not isinstance(record, r.SessionHead):
            yield record
            continue
        is_screen_alone = "screen" in record.facts
        if is_screen_alone and conversation:
            why = "its conversation stands in api_conversation_history.json beside it, which is read instead"
            yield r.file_problem(1, why)
            return
        used = j.objects_of(about, "model_usage")[-1:]
        yield replace(record, model=record.model or (j.text_of(used[0], "model_id") if used else ""))
        break
    rows = [row for row in j.objects_of(screen, "rows") if row.get("partial") is not True]
    yield from records if is_screen_alone or not rows else _with_screen(records, rows)


def _with_screen(records: Iterator[r.Record], rows: list[JsonObject]) -> Iterator[r.Record]:
    requests = [row for row in rows if row.get("say") == "api_req_started"]
    questions = [
        (row, j.time_of(after, "ts"))
        for row, after in zip(rows, [*rows[1:], {}], strict=True)
        if row.get("ask") in _ASKED
    ]
    count = 0
    for record in records:
        time_us = j.time_of(requests[count], "ts") if count < len(requests) else None
        if isinstance(record, r.Reply):
            usage = record.usage
            if usage == Usage() and count < len(requests):
                usage = _request_usage(requests[count])
            yield replace(record, usage=usage, at=record.at or time_us)
            count += 1
            for call in record.calls:
                yield from _question(call, questions)
        elif isinstance(record, r.Prompt | r.CallResult) and record.at is None:
            # What is sent goes with the request that comes next.
            yield replace(record, at=time_us)
        else:
            yield record


def _question(call: r.ToolCall, questions: list[tuple[JsonObject, int | None]]) -> Iterator[r.Record]:
    """Yield when a human was asked about a call and when it went on; the first question in the same words."""
    subject = j.first_text(call.arguments, "command", "path", "url", "tool_name")
    for place, (row, answered) in enumerate(questions[:50]):
        if subject and subject in j.text_of(row, "text"):
            del questions[: place + 1]
            yield r.CallQuestion(call=call.id, at=j.time_of(row, "ts"))
            if answered is not None:
                yield r.CallStart(call.id, answered)
            return


def read_screen(value: Json, name: str) -> Iterator[r.Record]:
    """Yield the session of a task from its screen, which holds no results but those of commands."""
    rows = [
        (number, row) for number, row in enumerate(j.as_objects(value), 1) if row.get("partial") is not True
    ]
    key = _task_key(name)
    facts: JsonObject = {"screen": True}
    yield r.SessionHead(key=key, at=_start(key, [row for _, row in rows]), facts=facts)
    yield from join_usage(_read_screen(rows))


def _read_screen(rows: list[tuple[int, JsonObject]]) -> Iterator[r.Record]:
    command = ""
    for place, (number, row) in enumerate(rows):
        time_us, text = j.time_of(row, "ts"), j.text_of(row, "text")
        kind = j.text_of(row, "say") or j.text_of(row, "ask")
        match kind:
            case "text" if not place:
                yield r.Prompt(text, time_us, number)
            case "user_feedback" | "task":
                yield r.Prompt(text, time_us, number)
            case "text" | "plan_mode_respond" | "completion_result" if text:
                yield r.Reply(text=text, at=time_us, line=number)
            case "reasoning":
                yield r.Reply(thinking=text, at=time_us, line=number)
            case "api_req_started":
                yield r.UsageRecord(usage=_request_usage(row))
            case "error" | "api_req_failed" | "diff_error" | "mistake_limit_reached":
                yield r.ErrorRecord(kind, text or kind, time_us)
            case "tool" | "command" | "use_mcp_server" | "followup" | "browser_action_launch":
                yield from _screen_call(kind, row, text, time_us, number)
                command = str(number) if kind == "command" else ""
            case "command_output" if command and text:
                yield call_result(command, text, "succeeded", at=time_us, line=number)
                command = ""
            case _:
                yield r.UnmappedRecord(kind or "row", row, time_us, number, kind in _BOOKKEEPING)


def _screen_call(
    kind: str, row: JsonObject, text: str, time_us: int | None, number: int
) -> Iterator[r.Record]:
    arguments = j.as_object(parse_json(text)) or {"command" if kind == "command" else "question": text}
    tool = j.text_of(arguments, "tool") or ("ask_followup_question" if kind == "followup" else kind)
    call = r.ToolCall(str(number), tool, arguments)
    yield r.Reply(calls=(call,), at=time_us, line=number)
    if kind == "followup":
        prompt = j.text_of(arguments, "question") or text
        yield r.CallQuestion(call=call.id, prompt=prompt or "?", choices=_choices(arguments), at=time_us)
    elif "ask" in row:
        yield r.CallQuestion(call=call.id, at=time_us)
