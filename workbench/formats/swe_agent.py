"""Reader of SWE-agent and mini-swe-agent trajectories, with the file edits that their commands made."""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import orjson
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import patches
from workbench.formats import records as r
from workbench.formats.chat_messages import MOST_ERROR, parse_arguments, usage_within
from workbench.formats.usage_records import join_usage

_COMMAND_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
_COMMAND_RESULT: Final = re.compile(
    r"<returncode>(-?\d{1,9})</returncode>\s*(?:<output>\n?)?(.*?)(?:</output>)?\s*\Z", re.DOTALL
)


def is_swe_agent(value: Json) -> bool:
    document = j.as_object(value)
    if "trajectory_format" in document or "mini_version" in j.object_of(document, "info"):
        return False
    steps, history = j.objects_of(document, "trajectory"), j.objects_of(document, "history")
    is_step = bool(steps) and "action" in steps[0] and "observation" in steps[0]
    return is_step or (bool(history) and "role" in history[0])


def is_mini(value: Json) -> bool:
    """Tell whether a document is a trajectory of mini-swe-agent; the oldest are bare lists of messages."""
    document = j.as_object(value)
    if j.text_of(document, "trajectory_format").startswith("mini-swe-agent") or (
        "messages" in document and "mini_version" in j.object_of(document, "info")
    ):
        return True
    rows = j.as_objects(value)
    is_bare = len(rows) > 1 and all({"role", "content"} <= row.keys() for row in rows[:5])
    return is_bare and j.as_text(rows[0].get("role")) in ("system", "user")


def read(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    info = j.object_of(document, "info")
    history = [row for row in j.objects_of(document, "history") if row.get("is_demo") is not True]
    prompt = next((j.content_of(row, "content") for row in history if row.get("role") == "system"), "")
    facts = {key: document[key] for key in ("environment",) if isinstance(document.get(key), str)}
    yield r.SessionHead(
        key=_session_id(document, name), system_prompt=prompt, facts=facts,
        status=j.text_of(info, "exit_status") or None,
        model=j.text_of(document, "replay_config", "model"),
    )  # fmt: skip
    steps = j.objects_of(document, "trajectory")
    yield from join_usage(
        chain(_read_history(history) if history else _read_steps(steps), _session_end(info))
    )


def _session_id(document: JsonObject, name: str) -> str:
    import hashlib

    instance = j.first_text(document, "instance_id") or j.first_text(
        j.object_of(document, "info"), "instance_id", "run_id"
    )
    if instance:
        return instance
    del name
    data = orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str)
    return hashlib.sha256(data).hexdigest()


def _read_history(history: Sequence[JsonObject]) -> Iterator[r.Record]:
    waiting: dict[str, r.ToolCall] = {}
    editor = EditorWindow()
    for number, row in enumerate(history, 1):
        text = j.content_of(row, "content")
        match j.text_of(row, "role"):
            case "system":
                continue
            case "assistant":
                calls = _calls_of_row(row, number)
                waiting = {call.id: call for call in calls}
                thought = j.text_of(row, "thought") or j.content_of(row, "thinking_blocks")
                thinking = "" if thought == text else thought
                yield r.Reply(text=text, thinking=thinking, calls=calls, line=number)
            case "tool" | "user" if waiting:
                named = next(j.as_texts(row.get("tool_call_ids")), "")
                call_of_result = waiting.pop(named if named in waiting else next(iter(waiting)))
                yield _result_with_edits(
                    editor, call_of_result, r.CallResult(call=call_of_result.id, text=text, line=number)
                )
            case "user" | "tool":
                yield r.Prompt(text, line=number)
            case role:
                yield r.UnmappedRecord(f"history.{role}", row, line=number, is_understood=False)


class EditorWindow:
    """The file that is open, and the lines of it that were shown."""

    def __init__(self) -> None:
        self._open = ""
        self._lines: dict[int, str] = {}

    def changes_of(self, call: r.ToolCall, text: str) -> tuple[tuple[r.FileEdit, ...], bool]:
        """Return what a command changed, and whether it was an edit that failed."""
        edits = tuple(self._changes(call))
        has_failed = bool(edits) and any(word in text[:600].casefold() for word in _FAILURE_TEXTS)
        self._note_window(text)
        return (() if has_failed else edits), has_failed

    def _note_window(self, text: str) -> None:
        if opened_file := _SHOWN_FILE.search(text):
            self._open = opened_file[1]
            self._lines = {int(match[1]): match[2] for match in _SHOWN_LINE.finditer(text, opened_file.end())}
        if (opened := _OPEN_FILE.search(text)) and opened[1] != "n/a":
            self._open = opened[1]

    def _changes(self, call: r.ToolCall) -> Iterator[r.FileEdit]:
        command = j.text_of(call.arguments, "command")
        if call.tool != "bash":
            yield from self._command_edits(call.tool, call.arguments)
        elif match := _EDIT_RANGE.match(command.strip()):
            yield self._replacement(int(match[1]), int(match[2]), match[3])
        else:
            tool, arguments = _parse_command(command)
            yield from self._command_edits(tool, arguments) if tool else here_document_edits(command)

    def _command_edits(self, tool: str, arguments: JsonObject) -> Iterator[r.FileEdit]:
        begin, end = j.integer_of(arguments, "start_line"), j.integer_of(arguments, "end_line")
        if tool == "create" and (name := j.first_text(arguments, "filename", "path")):
            yield r.FileEdit(path=name, change="create", new="")
        elif tool == "edit" and "search" in arguments and self._open:
            yield r.FileEdit(
                path=self._open, old=j.text_of(arguments, "search"), new=j.text_of(arguments, "replace")
            )
        elif tool == "edit" and begin and self._open:
            yield self._replacement(begin, end or begin, j.text_of(arguments, "replacement_text"))
        elif tool == "insert" and "text" in arguments and self._open:
            yield self._insertion(
                j.integer_of(arguments, "line") or max(self._lines, default=0), j.text_of(arguments, "text")
            )
        elif tool == _EDITOR_COMMAND and "insert_line" in arguments:
            line = j.integer_of(arguments, "insert_line") or 0
            yield self._insertion(line, j.text_of(arguments, "new_str"), j.text_of(arguments, "path"))
        elif tool == _EDITOR_COMMAND:
            yield from patches.edits_of_call(r.ToolCall("", tool, arguments))

    def _replacement(self, begin: int, end: int, new: str) -> r.FileEdit:
        old = [self._lines.get(number) for number in range(begin, min(end, begin + 5_000) + 1)]
        removed = [f"-{line}" for line in old if line is not None]
        added = [f"+{line}" for line in new.split("\n")] if new else []
        head = f"@@ -{begin},{len(removed)} +{begin},{len(added)} @@"
        return r.FileEdit(path=self._open or "?", patch="\n".join([head, *removed, *added]))

    def _insertion(self, line: int, new: str, path: str = "") -> r.FileEdit:
        added = [f"+{line_text}" for line_text in new.removesuffix("\n").split("\n")]
        head = f"@@ -{line},0 +{line + 1},{len(added)} @@"
        return r.FileEdit(path=path or self._open, patch="\n".join([head, *added]))


def _result_with_edits(editor: EditorWindow, call: r.ToolCall, result: r.CallResult) -> r.CallResult:
    changes, has_failed = editor.changes_of(call, result.text)
    if has_failed:
        return replace(result, state="failed", error=result.text[:MOST_ERROR])
    return replace(result, changes=changes if result.state == "succeeded" else ())


def _calls_of_row(row: JsonObject, number: int) -> tuple[r.ToolCall, ...]:
    calls = j.objects_of(row, "tool_calls")
    if calls:
        return tuple(openai_tool_call(call, f"call-{number}.{index}") for index, call in enumerate(calls))
    action = j.text_of(row, "action").strip()
    return (r.ToolCall(f"call-{number}", "bash", {"command": action}),) if action else ()


def openai_tool_call(call: JsonObject, default: str) -> r.ToolCall:
    function = j.object_of(call, "function") or call
    tool = j.text_of(function, "name") or j.text_of(call, "function")
    return r.ToolCall(j.text_of(call, "id") or default, tool, parse_arguments(function.get("arguments")))


def _read_steps(steps: Sequence[JsonObject]) -> Iterator[r.Record]:
    editor = EditorWindow()
    for number, step in enumerate(steps, 1):
        for message in j.as_objects(step.get("query") or step.get("messages")) if number == 1 else ():
            if message.get("role") == "user" and message.get("is_demo") is not True:
                yield r.Prompt(j.content_of(message, "content"), line=number)
        action, thought = j.text_of(step, "action").strip(), j.text_of(step, "thought")
        text = thought or j.text_of(step, "response")
        key = f"step-{number}"
        call = r.ToolCall(key, "bash", {"command": action})
        yield r.Reply(text=text, calls=(call,) if action else (), line=number)
        if action:
            seconds = step.get("execution_time")
            took = int(seconds * 1000) if isinstance(seconds, int | float) else None
            result = r.CallResult(
                call=key, text=j.text_of(step, "observation"), duration_ms=took, line=number
            )
            yield _result_with_edits(editor, call, result)


def _session_end(info: JsonObject) -> Iterator[r.Record]:
    stats = j.object_of(info, "model_stats")
    used = usage_within(stats, "tokens_sent", "tokens_received", cost=stats.get("instance_cost"))
    if used != Usage():
        yield r.UsageRecord(usage=used)
    if patch := j.text_of(info, "submission"):
        yield from patches.submitted_patch("submission", "submission", patch)
    status = j.text_of(info, "exit_status")
    if status and status.lower() not in ("submitted", "submit"):
        yield r.TurnStop(outcome="limit" if "cost" in status or "Limit" in status else "error", detail=status)
    yield r.SessionEnd(is_failed=status in ("exit_error", "exit_forfeit"))


def read_mini(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    info = j.object_of(document, "info")
    messages = j.objects_of(document, "messages") or j.as_objects(value)
    prompt = next((j.content_of(row, "content") for row in messages if row.get("role") == "system"), "")
    model = j.object_of(info, "config", "model")
    yield r.SessionHead(
        key=_session_id(document or {"messages": list(messages)}, name), system_prompt=prompt,
        model=j.first_text(model, "model_name", "model"), status=j.text_of(info, "exit_status") or None,
        at=_row_time(messages[0]) if messages else None,
    )  # fmt: skip
    waiting: dict[str, r.ToolCall] = {}
    rows = (
        record for number, row in enumerate(messages, 1) for record in _read_mini_row(row, number, waiting)
    )
    yield from join_usage(chain(rows, _session_end(info)))


def _row_time(row: JsonObject) -> int | None:
    return j.as_time(j.object_of(row, "extra").get("timestamp") or row.get("timestamp"))


def _read_mini_row(row: JsonObject, number: int, waiting: dict[str, r.ToolCall]) -> Iterator[r.Record]:
    text, time_us, role = j.content_of(row, "content"), _row_time(row), j.text_of(row, "role")
    if role == "assistant":
        calls = tuple(
            openai_tool_call(fields, f"call-{number}.{n}")
            for n, fields in enumerate(j.objects_of(row, "tool_calls"))
        )
        if not calls and (block := _COMMAND_BLOCK.search(text)):
            calls = (r.ToolCall(f"call-{number}", "bash", {"command": block[1]}),)
        waiting.clear()
        waiting.update({call.id: call for call in calls})
        yield r.Reply(text=text, calls=calls, at=time_us, line=number)
    elif role in ("user", "tool") and waiting:
        key = j.text_of(row, "tool_call_id")
        call_of_result = waiting.pop(key if key in waiting else next(iter(waiting)))
        yield _read_mini_result(row, call_of_result, text, time_us, number)
    elif role == "user":
        yield r.Prompt(text, time_us, number)
    elif role != "system":
        yield r.UnmappedRecord(f"message.{role}", row, time_us, number, role == "exit")


def _read_mini_result(
    row: JsonObject, call: r.ToolCall, text: str, time_us: int | None, number: int
) -> r.CallResult:
    extra = j.object_of(row, "extra")
    match = _COMMAND_RESULT.search(text)
    code = j.integer_of(extra, "returncode")
    if code is None and match:
        code = int(match[1])
    output = j.text_of(extra, "raw_output") or (match[2] if match else text)
    changes = () if code else tuple(here_document_edits(j.text_of(call.arguments, "command")))
    return r.CallResult(
        call=call.id, text=output, state="failed" if code else "succeeded", exit_code=code, at=time_us,
        line=number, changes=changes,
    )  # fmt: skip


_SHOWN_FILE: Final = re.compile(r"^\[File: (.+) \(\d+ lines total\)\]\r?$", re.MULTILINE)
_OPEN_FILE: Final = re.compile(r"^\(Open file: (.+)\)\r?$", re.MULTILINE)
_SHOWN_LINE: Final = re.compile(r"^(\d{1,7}):(.*?)\r?$", re.MULTILINE)
_EDIT_RANGE: Final = re.compile(r"edit (\d{1,7}):(\d{1,7})[ \t]*\n(.*?)\n?end_of_edit\s*\Z", re.DOTALL)
_FAILURE_TEXTS: Final = (
    "your proposed edit has introduced", "your changes have not been applied", "no replacement was performed",
    "no file open", "text not found", "your edit was not applied", "error:", "usage:", "invalid `path`",
    "the file already exists", "file already exists", "no edit found",
)  # fmt: skip
_PATH_WORD: Final = r"""(?P<{0}>"[^"\n]+"|'[^'\n]+'|[^\s;&|<>"'$`]+)"""
_HERE_DOCUMENT: Final = re.compile(
    r"^[ \t]*(?:cd [^\s;&|]+ && )?cat[ \t]*(?:"
    rf"(?P<add1>>>?)[ \t]*{_PATH_WORD.format('path1')}[ \t]*<<-?[ \t]*(?P<q1>['\"]?)(?P<end1>\w+)(?P=q1)"
    rf"|<<-?[ \t]*(?P<q2>['\"]?)(?P<end2>\w+)(?P=q2)[ \t]*(?P<add2>>>?)[ \t]*{_PATH_WORD.format('path2')}"
    r")[ \t]*\n",
    re.MULTILINE,
)
_EDITOR_COMMAND: Final = "str_replace_editor"
_MOST_WORDS: Final = 200_000
"""Characters of a command that are taken apart as words of a shell."""


def _parse_command(command: str) -> tuple[str, JsonObject]:
    name = command.split(maxsplit=1)[0] if command.strip() else ""
    if name not in ("create", "edit", "insert", _EDITOR_COMMAND) or len(command) > _MOST_WORDS:
        return "", {}
    try:
        text = shlex.split(command)[1:]
    except ValueError:
        return "", {}
    arguments: dict[str, Json] = {}
    if name == "create" and len(text) == 1:
        arguments = {"filename": text[0]}
    elif name == "edit" and len(text) in (2, 3):
        arguments = {"search": text[0], "replace": text[1]}
    elif name == "insert" and text:
        arguments = {"text": text[0], "line": int(text[1]) if text[1:] and text[1].isdecimal() else None}
    elif name == _EDITOR_COMMAND:
        arguments = _option_arguments(text)
    return (name, arguments) if arguments else ("", {})


def _option_arguments(text: list[str]) -> dict[str, Json]:
    """Return `command path --option value …` as arguments."""
    arguments: dict[str, Json] = dict(zip(("command", "path"), text[:2], strict=False))
    rest = text[2:]
    for option, value in zip(rest[::2], rest[1::2], strict=False):
        if option.startswith("--"):
            number = option == "--insert_line" and value.isdecimal()
            arguments[option[2:]] = int(value) if number else value
    return arguments


def here_document_edits(command: str) -> Iterator[r.FileEdit]:
    """Yield the files that a command writes with `cat` and a here-document whose text nothing expands."""
    position = 0
    while match := _HERE_DOCUMENT.search(command, position):
        which = "1" if match["end1"] else "2"
        end = re.compile(rf"^\t*{re.escape(match['end' + which])}[ \t]*$", re.MULTILINE)
        last = end.search(command, match.end())
        if last is None:
            return
        body = command[match.end() : last.start()]
        if match["q" + which] or not any(sign in body for sign in "$`\\"):
            path = match["path" + which].strip("'\"")
            yield _edit_of_written(path, body, is_added=match["add" + which] == ">>")
        position = last.end()


def _edit_of_written(path: str, body: str, *, is_added: bool) -> r.FileEdit:
    if not is_added:
        return r.FileEdit(path=path, change="create", new=body)
    added = [f"+{line}" for line in body.removesuffix("\n").split("\n")]
    return r.FileEdit(path=path, patch="\n".join([f"@@ -0,0 +1,{len(added)} @@", *added]))
