"""Reader of Inspect logs: an evaluation whose samples are sessions, as JSON or as a zip of JSON."""

import io
from collections.abc import Iterator, Mapping
from typing import Final
from zipfile import ZipFile

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records
from workbench.formats.input import decompression_errors, zip_module
from workbench.formats.records import (
    CallDecision,
    CallResult,
    FileProblem,
    Prompt,
    Record,
    Reply,
    SessionEnd,
    SessionHead,
    ToolCall,
    UnmappedRecord,
    as_array,
    as_count,
    as_object,
    as_objects,
    as_text,
    as_time,
    content_text,
    first_text,
)

MOST_ENTRY: Final = 128 << 20
"""Bytes of one entry of a zip, unpacked."""
MOST_UNPACKED: Final = 2 << 30
"""Bytes of all entries of a zip together, unpacked."""
_ATTACHMENT_PREFIX: Final = "attachment://"


def is_log(value: Json) -> bool:
    document = as_object(value)
    return {"version", "status", "eval"} <= document.keys() and "task" in as_object(document.get("eval"))


def read(value: Json, name: str) -> Iterator[Record]:
    """Yield a session for each sample of a log."""
    document = as_object(value)
    samples = as_objects(document.get("samples"))
    for number, sample in enumerate(samples, 1):
        yield from _read_sample(sample, document, name, number)
    if not samples:
        yield FileProblem(line=1, why="the log holds no samples")


def read_zip(data: bytes, name: str) -> Iterator[Record]:
    """Yield a session for each sample of a zipped log.

    Raises:
        ValueError: It is no zip, or no log.
    """
    try:
        archive = zip_module().ZipFile(io.BytesIO(data))
        entries = set(archive.namelist())
    except (EOFError, *decompression_errors()) as error:
        raise ValueError(f"it begins like a zip and is none: {error}") from None
    head = next((one for one in ("header.json", "_journal/start.json") if one in entries), None)
    if head is None:
        raise ValueError("it is a zip, but no log of Inspect: it has no header.json")
    return _read_entries(archive, head, sorted(entries), name)


def _read_entries(archive: ZipFile, head: str, entries: list[str], name: str) -> Iterator[Record]:
    header, why = _read_entry(archive, head)
    if why:
        yield FileProblem(line=1, why=why)
    if head != "header.json":
        yield FileProblem(line=1, why="the log was not finished; what it holds is read")
    number = unpacked = 0
    for entry in entries:
        if ".." in entry.split("/") or entry.startswith("/"):
            yield FileProblem(line=1, why=f"{entry[:80]} leads out of the zip; it was left out")
            continue
        if not (entry.startswith("samples/") and entry.endswith(".json")):
            continue
        number += 1
        unpacked += archive.getinfo(entry).file_size
        if unpacked > MOST_UNPACKED:
            yield FileProblem(
                line=number, why=f"the zip holds over {MOST_UNPACKED >> 30} GB; the rest was left out"
            )
            return
        sample, why = _read_entry(archive, entry)
        if why:
            yield FileProblem(line=number, why=why)
        else:
            yield from _read_sample(sample, header, name, number)


def _read_entry(archive: ZipFile, entry: str) -> tuple[JsonObject, str]:
    if archive.getinfo(entry).file_size > MOST_ENTRY:
        return {}, f"{entry} is over {MOST_ENTRY >> 20} MB unpacked; it was left out"
    try:
        with archive.open(entry) as stream:
            data = stream.read(MOST_ENTRY + 1)
        return as_object(orjson.loads(data)), ""
    except NotImplementedError:
        return {}, f"{entry} is compressed in a way that this Python cannot read"
    except (EOFError, *decompression_errors()) as error:
        return {}, f"{entry} is damaged: {error}"


def _read_sample(sample: JsonObject, log: JsonObject, name: str, number: int) -> Iterator[Record]:
    about = as_object(log.get("eval"))
    run = first_text(about, "eval_id", "run_id") or name
    key = f"{run}:{sample.get('id', number)}:{sample.get('epoch', 1)}"
    attached = as_object(sample.get("attachments"))
    messages = [_with_attachments(attached, row) for row in as_objects(sample.get("messages"))]
    events = as_objects(sample.get("events"))
    prompt = next((content_text(row.get("content")) for row in messages if row.get("role") == "system"), "")
    yield SessionHead(
        key=key, title=f"{as_text(about.get('task'))} {sample.get('id', number)}", system_prompt=prompt,
        provider=as_text(about.get("model")).partition("/")[0], model=as_text(about.get("model")),
        at=as_time(about.get("created")), status=as_text(log.get("status")) or None,
        facts={
            "task": as_text(about.get("task")), "epoch": sample.get("epoch", 1),
            "target": sample.get("target"),
        },
    )  # fmt: skip
    answers = {as_text(row.get("tool_call_id")): row for row in messages if row.get("role") == "tool"}
    decided = {
        as_text(as_object(event.get("call")).get("id")): event
        for event in events
        if event.get("event") == "approval"
    }
    for at, row in enumerate(messages, 1):
        yield from _read_message(row, at, answers, decided)
    yield from _unmapped_records(sample, events)


def _with_attachments(attached: Mapping[str, Json], value: JsonObject) -> JsonObject:
    """Return a message with the texts that were kept apart put back, two levels deep."""
    return {key: _put_back(attached, item, 0) for key, item in value.items()}


def _put_back(attached: Mapping[str, Json], value: Json, depth: int) -> Json:
    if isinstance(value, str) and value.startswith(_ATTACHMENT_PREFIX):
        return attached.get(value.removeprefix(_ATTACHMENT_PREFIX), value)
    if depth > 4:
        return value
    if isinstance(value, dict):
        return {key: _put_back(attached, item, depth + 1) for key, item in as_object(value).items()}
    if isinstance(value, list):
        return [_put_back(attached, item, depth + 1) for item in as_array(value)]
    return value


def _read_message(
    row: JsonObject, number: int, answers: Mapping[str, JsonObject], decided: Mapping[str, JsonObject]
) -> Iterator[Record]:
    said = content_text(row.get("content"))
    match as_text(row.get("role")):
        case "user":
            yield Prompt(text=said, line=number)
        case "assistant":
            calls = tuple(
                ToolCall(
                    id=as_text(one.get("id")),
                    tool=as_text(one.get("function")),
                    arguments=as_object(one.get("arguments")),
                )
                for one in as_objects(row.get("tool_calls"))
            )
            thoughts = (first_text(item, "reasoning", "summary") for item in as_objects(row.get("content")))
            thinking = "\n\n".join(filter(None, thoughts))
            yield Reply(
                text=said, thinking=thinking, calls=calls, model=as_text(row.get("model")), line=number
            )  # fmt: skip
            for call in calls:
                yield from _read_answer(call, answers.get(call.id), decided.get(call.id), number)
        case "system" | "tool":
            return
        case role:
            yield UnmappedRecord(kind=f"message.{role}", content=row, line=number, is_understood=False)


def _read_answer(
    call: ToolCall, answer: JsonObject | None, decided: JsonObject | None, number: int
) -> Iterator[Record]:
    verdict = as_text((decided or {}).get("decision"))
    reason = as_text((decided or {}).get("explanation"))
    if verdict in ("reject", "terminate"):
        yield CallResult(call=call.id, state="rejected", reason=reason, line=number)
        return
    if verdict in ("approve", "modify"):
        yield CallDecision(call=call.id, is_approved=True, reason=reason)
    if answer is not None:
        error = as_text(as_object(answer.get("error")).get("message"))
        yield CallResult(
            call=call.id, text=content_text(answer.get("content")), state="failed" if error else "succeeded",
            error=error, line=number,
        )  # fmt: skip


def _unmapped_records(sample: JsonObject, events: list[JsonObject]) -> Iterator[Record]:
    used = [as_object(usage) for usage in as_object(sample.get("model_usage")).values()]
    total = Usage(
        input_tokens=sum(as_count(one.get("input_tokens")) for one in used),
        output_tokens=sum(as_count(one.get("output_tokens")) for one in used),
    )
    if total.total_tokens:
        yield records.UsageRecord(usage=total)
    if scores := as_object(sample.get("scores")):
        yield UnmappedRecord(kind="scores", content=dict(scores))
    for event in events:
        if event.get("event") in ("error", "logger") and event.get("event") == "error":
            message = as_text(as_object(event.get("error")).get("message"))
            yield records.ErrorRecord(code="error", message=message, at=as_time(event.get("timestamp")))
    if error := as_object(sample.get("error")):
        yield records.ErrorRecord(code="sample", message=as_text(error.get("message")))
    if limit := as_object(sample.get("limit")):
        yield records.TurnStop(outcome="limit", detail=f"{as_text(limit.get('type'))} limit")
    yield SessionEnd(is_failed=bool(error))
