"""Files of the seed programs: Wink's sessions (S0) and the assistant's (S4), read.

A file that breaks a rule of its format is read all the same, and the rule is
reported.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.kept_rows import RowBatches

# `sessions export --format wink` shows a session so; `kaiak_export` has S2, `assistant` S4.


WINK: Final = "wink"
"""The name of the format, and the origin of sessions that were read from it."""
WINK_LISTS: Final = ("messages", "tool_results")
WINK_ROLES: Final = ("user", "assistant", "system", "tool")
WINK_STATUSES: Final = ("active", "paused", "completed", "errored")
WINK_CALL_STATUSES: Final = ("pending", "approved", "rejected", "executed", "failed")
WINK_OUTPUT_LIMIT: Final = 10_240


# --- out -------------------------------------------------------------------------------------------


# --- S0 -------------------------------------------------------------------------------------------


def is_wink(value: Json) -> bool:
    return {"id", "working_dir", "model", "messages"} <= j.as_object(value).keys()


def read_wink(value: Json, name: str) -> Iterator[r.Record]:
    document = j.as_object(value)
    messages = j.objects_of(document, "messages")
    prompt = next((j.content_of(row, "content") for row in messages[:1] if row.get("role") == "system"), "")
    yield r.SessionHead(
        key=j.text_of(document, "id") or name, workspace=j.text_of(document, "working_dir"),
        system_prompt=prompt,
        model=j.text_of(document, "model"), at=j.time_of(document, "created_at"),
        status=j.text_of(document, "status"),
        provider="ollama",
    )  # fmt: skip
    for problem in wink_violations(document):
        yield r.file_problem(1, f"{problem.where}: {problem.why}")
    results = {j.text_of(row, "tool_call_id"): row for row in j.objects_of(document, "tool_results")}
    tool_messages = {j.text_of(row, "tool_call_id"): row for row in messages if row.get("role") == "tool"}
    for number, row in enumerate(messages, 1):
        yield from _read_wink_message(row, number, results, tool_messages)
    yield from _kept_document(document)
    yield r.SessionEnd(is_failed=document.get("status") == "errored")


def _kept_document(document: JsonObject) -> Iterator[r.KeptRows]:
    lists = {name: j.as_array(document.get(name)) for name in WINK_LISTS}
    no_rows: list[Json] = []
    facts: Json = {**document, **{name: no_rows for name, rows in lists.items() if rows}}
    for part, rows in {"document": [facts], **lists}.items():
        batches = RowBatches(part)
        yield from (replace(kept, is_last=True) for row in rows for kept in batches.add(row))
        yield from batches.rest()


def _read_wink_message(
    row: JsonObject, number: int, results: dict[str, JsonObject], tool_messages: dict[str, JsonObject]
) -> Iterator[r.Record]:
    text, time_us = j.content_of(row, "content"), j.time_of(row, "timestamp")
    match j.text_of(row, "role"):
        case "user":
            yield r.Prompt(text, time_us, number)
        case "assistant":
            calls = j.objects_of(row, "tool_calls")
            meta = j.object_of(row, "metadata")
            yield r.Reply(
                text=text, at=time_us, line=number, model=j.text_of(meta, "model"),
                usage=Usage(output_tokens=j.count_of(meta, "token_count")),
                calls=tuple(
                    r.ToolCall(
                        j.text_of(call, "id"), j.text_of(call, "tool_name"), j.object_of(call, "parameters"),
                        rule=j.text_of(call, "approval_rule_id"),
                    )
                    for call in calls
                ),
            )  # fmt: skip
            for call in calls:
                key = j.text_of(call, "id")
                yield from _read_wink_call(call, results.get(key), tool_messages.get(key), number)
        case "system" | "tool":
            pass
        case role:
            yield r.UnmappedRecord(f"message.{role}", row, time_us, number, is_understood=False)


def _read_wink_call(
    call: JsonObject, result: JsonObject | None, tool_message: JsonObject | None, number: int
) -> Iterator[r.Record]:
    key, status = j.text_of(call, "id"), j.text_of(call, "status")
    time_us = j.time_of(call, "executed_at") or j.as_time((tool_message or {}).get("timestamp"))
    text = j.content_text((tool_message or {}).get("content"))
    if status == "rejected":
        yield r.CallResult(call=key, state="rejected", reason=text, at=time_us, line=number)
        return
    if call.get("approval_method") == "manual":
        yield r.CallDecision(call=key, is_approved=True, at=time_us)
    if result is None and tool_message is None:
        return
    fields = result or {}
    is_bad = status == "failed" or fields.get("success") is False
    paths = j.as_texts(fields.get("files_affected"))
    yield r.CallResult(
        call=key, text=j.text_of(fields, "output") or text, state="failed" if is_bad else "succeeded",
        metadata=j.object_of(fields, "metadata"),
        error=j.text_of(fields, "error"), duration_ms=j.integer_of(fields, "execution_time_ms"), at=time_us,
        line=number,
        changes=tuple(_wink_edit(call, path) for path in paths),
    )  # fmt: skip


def _wink_edit(call: JsonObject, path: str) -> r.FileEdit:
    fields = j.object_of(call, "parameters")
    if "old_string" in fields:
        return r.FileEdit(path=path, old=j.text_of(fields, "old_string"), new=j.text_of(fields, "new_string"))
    return r.FileEdit(path=path, change="create", new=j.text_of(fields, "content"))


# --- the rules of S0 ------------------------------------------------------------------------------


class RuleViolation(Struct, frozen=True, kw_only=True):
    """Something in a file that is not as S0 has it; `where` is a path such as `messages[3].role`."""

    where: str
    why: str


def wink_violations(document: JsonObject) -> Iterator[RuleViolation]:
    """Yield everything in a session's document that breaks a rule of S0."""
    if str(document.get("status", "active")) not in WINK_STATUSES:
        yield RuleViolation(where="status", why=f"it is none of {', '.join(WINK_STATUSES)}")
    if not PurePosixPath(str(document.get("working_dir", ""))).is_absolute():
        yield RuleViolation(where="working_dir", why="it is not an absolute path")
    if not str(document["model"]).strip():
        yield RuleViolation(where="model", why="it is empty")
    yield from _message_list_violations(j.objects_of(document, "messages"))
    yield from _result_list_violations(document)


def _message_list_violations(messages: Sequence[JsonObject]) -> Iterator[RuleViolation]:
    call_ids: set[str] = set()
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        yield from _message_violations(where, message, call_ids)
        for index, call in enumerate(j.objects_of(message, "tool_calls")):
            call_ids.add(str(call.get("id", "")))
            if str(call.get("status", "pending")) not in WINK_CALL_STATUSES:
                yield RuleViolation(
                    where=f"{where}.tool_calls[{index}].status", why="it is not a status of a call"
                )
    for number, (earlier, later) in enumerate(
        pairwise(j.time_of(message, "timestamp") for message in messages)
    ):
        if earlier is not None and later is not None and later < earlier:
            yield RuleViolation(
                where=f"messages[{number + 1}].timestamp", why="it is before the message above"
            )


def _message_violations(where: str, message: JsonObject, call_ids: set[str]) -> Iterator[RuleViolation]:
    role, calls = message.get("role"), message.get("tool_calls")
    if str(role) not in WINK_ROLES:
        yield RuleViolation(where=f"{where}.role", why=f"it is none of {', '.join(WINK_ROLES)}")
    if not message.get("content") and not calls:
        yield RuleViolation(where=f"{where}.content", why="it is empty, and there are no tool calls")
    if role == "user" and calls:
        yield RuleViolation(where=f"{where}.tool_calls", why="a user message has none")
    if role == "tool" and not message.get("tool_call_id"):
        yield RuleViolation(where=f"{where}.tool_call_id", why="it is missing")
    elif role == "tool" and str(message["tool_call_id"]) not in call_ids:
        yield RuleViolation(where=f"{where}.tool_call_id", why="no earlier message made this call")


def _result_list_violations(document: JsonObject) -> Iterator[RuleViolation]:
    calls = {
        str(c.get("id")) for m in j.objects_of(document, "messages") for c in j.objects_of(m, "tool_calls")
    }
    earlier_ids: set[str] = set()
    for number, result in enumerate(j.objects_of(document, "tool_results")):
        where, call_id = f"tool_results[{number}]", str(result.get("tool_call_id", ""))
        if call_id not in calls:
            yield RuleViolation(where=f"{where}.tool_call_id", why="no message made this call")
        if call_id in earlier_ids:
            yield RuleViolation(where=f"{where}.tool_call_id", why="the call has a result already")
        earlier_ids.add(call_id)
        yield from _result_violations(where, result, str(document["working_dir"]))


def _result_violations(where: str, result: JsonObject, working_dir: str) -> Iterator[RuleViolation]:
    has_error = bool(result.get("error"))
    if result.get("success") is True and has_error:
        yield RuleViolation(where=f"{where}.error", why="it succeeded, so there is none")
    if result.get("success") is False and not has_error:
        yield RuleViolation(where=f"{where}.error", why="it failed, so there is one")
    if len(str(result.get("output", "")).encode()) > WINK_OUTPUT_LIMIT:
        yield RuleViolation(where=f"{where}.output", why=f"it is over {WINK_OUTPUT_LIMIT} bytes")
    for path in j.as_array(result.get("files_affected")):
        if not _is_inside(working_dir, str(path)):
            yield RuleViolation(
                where=f"{where}.files_affected", why=f"{path} is outside the working directory"
            )


def _is_inside(folder: str, path: str) -> bool:
    return PurePosixPath(normpath(PurePosixPath(folder, path))).is_relative_to(PurePosixPath(folder))
