"""Reader of Inspect logs: an evaluation whose samples are sessions, as JSON or as a zip of JSON."""

import io
from collections.abc import Iterator, Mapping
from typing import Final
from zipfile import ZipFile

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import records as r
from workbench.formats.input import decompression_errors, zip_module

MOST_ENTRY: Final = 128 << 20
"""Bytes of one entry of a zip, unpacked."""
MOST_UNPACKED: Final = 2 << 30
"""Bytes of all entries of a zip together, unpacked."""
_ATTACHMENT_PREFIX: Final = "attachment://"


def is_log(value: Json) -> bool:
    document = r.as_object(value)
    return {"version", "status", "eval"} <= document.keys() and "task" in r.object_of(document, "eval")


def read(value: Json, name: str) -> Iterator[r.Record]:
    """Yield a session for each sample of a log."""
    document = r.as_object(value)
    samples = r.objects_of(document, "samples")
    for number, sample in enumerate(samples, 1):
        yield from _read_sample(sample, document, name, number)
    if not samples:
        yield r.FileProblem(line=1, why="the log holds no samples")


def read_zip(data: bytes, name: str) -> Iterator[r.Record]:
    """Yield a session for each sample of a zipped log. Raises ValueError if it is none."""
    try:
        archive = zip_module().ZipFile(io.BytesIO(data))
        entries = set(archive.namelist())
    except (EOFError, *decompression_errors()) as error:
        raise ValueError(f"it starts like a zip and is none: {error}") from None
    head = next(
        (name_of_head for name_of_head in ("header.json", "_journal/start.json") if name_of_head in entries),
        None,
    )
    if head is None:
        raise ValueError("it is a zip, but no log of Inspect: it has no header.json")
    return _read_entries(archive, head, sorted(entries), name)


def _read_entries(archive: ZipFile, head: str, entries: list[str], name: str) -> Iterator[r.Record]:
    header, why = _read_entry(archive, head)
    if why:
        yield r.FileProblem(line=1, why=why)
    if head != "header.json":
        yield r.FileProblem(line=1, why="the log was not finished; what it holds is read")
    number = unpacked = 0
    for entry in entries:
        if ".." in entry.split("/") or entry.startswith("/"):
            yield r.FileProblem(line=1, why=f"{entry[:80]} leads out of the zip; it was left out")
            continue
        if not (entry.startswith("samples/") and entry.endswith(".json")):
            continue
        number += 1
        unpacked += archive.getinfo(entry).file_size
        if unpacked > MOST_UNPACKED:
            yield r.FileProblem(
                line=number, why=f"the zip holds over {MOST_UNPACKED >> 30} GB; the rest was left out"
            )
            return
        sample, why = _read_entry(archive, entry)
        if why:
            yield r.FileProblem(line=number, why=why)
        else:
            yield from _read_sample(sample, header, name, number)


def _read_entry(archive: ZipFile, entry: str) -> tuple[JsonObject, str]:
    if archive.getinfo(entry).file_size > MOST_ENTRY:
        return {}, f"{entry} is over {MOST_ENTRY >> 20} MB unpacked; it was left out"
    try:
        with archive.open(entry) as stream:
            data = stream.read(MOST_ENTRY + 1)
        return r.as_object(orjson.loads(data)), ""
    except NotImplementedError:
        return {}, f"{entry} is compressed in a way that this Python cannot read"
    except (EOFError, *decompression_errors()) as error:
        return {}, f"{entry} is damaged: {error}"


def _read_sample(sample: JsonObject, log: JsonObject, name: str, number: int) -> Iterator[r.Record]:
    about = r.object_of(log, "eval")
    run = r.first_text(about, "eval_id", "run_id") or name
    key = f"{run}:{sample.get('id', number)}:{sample.get('epoch', 1)}"
    attached = r.object_of(sample, "attachments")
    messages = [_with_attachments(attached, row) for row in r.objects_of(sample, "messages")]
    events = r.objects_of(sample, "events")
    prompt = next((r.content_of(row, "content") for row in messages if row.get("role") == "system"), "")
    yield r.SessionHead(
        key=key, title=f"{r.text_of(about, 'task')} {sample.get('id', number)}", system_prompt=prompt,
        provider=r.text_of(about, "model").partition("/")[0], model=r.text_of(about, "model"),
        at=r.time_of(about, "created"), status=r.text_of(log, "status") or None,
        facts={
            "task": r.text_of(about, "task"), "epoch": sample.get("epoch", 1),
            "target": sample.get("target"),
        },
    )  # fmt: skip
    answers = {r.text_of(row, "tool_call_id"): row for row in messages if row.get("role") == "tool"}
    decided = {
        r.text_of(r.object_of(event, "call"), "id"): event
        for event in events
        if event.get("event") == "approval"
    }
    for position, row in enumerate(messages, 1):
        yield from _read_message(row, position, answers, decided)
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
        return {key: _put_back(attached, item, depth + 1) for key, item in r.as_object(value).items()}
    if isinstance(value, list):
        return [_put_back(attached, item, depth + 1) for item in r.as_array(value)]
    return value


def _read_message(
    row: JsonObject, number: int, answers: Mapping[str, JsonObject], decided: Mapping[str, JsonObject]
) -> Iterator[r.Record]:
    said = r.content_of(row, "content")
    match r.text_of(row, "role"):
        case "user":
            yield r.Prompt(text=said, line=number)
        case "assistant":
            calls = tuple(
                r.ToolCall(
                    id=r.text_of(fields, "id"),
                    tool=r.text_of(fields, "function"),
                    arguments=r.object_of(fields, "arguments"),
                )
                for fields in r.objects_of(row, "tool_calls")
            )
            thoughts = (r.first_text(item, "reasoning", "summary") for item in r.objects_of(row, "content"))
            thinking = "\n\n".join(filter(None, thoughts))
            yield r.Reply(
                text=said, thinking=thinking, calls=calls, model=r.text_of(row, "model"), line=number
            )  # fmt: skip
            for call in calls:
                yield from _read_answer(call, answers.get(call.id), decided.get(call.id), number)
        case "system" | "tool":
            return
        case role:
            yield r.UnmappedRecord(kind=f"message.{role}", content=row, line=number, is_understood=False)


def _read_answer(
    call: r.ToolCall, answer: JsonObject | None, decided: JsonObject | None, number: int
) -> Iterator[r.Record]:
    verdict = r.as_text((decided or {}).get("decision"))
    reason = r.as_text((decided or {}).get("explanation"))
    if verdict in ("reject", "terminate"):
        yield r.CallResult(call=call.id, state="rejected", reason=reason, line=number)
        return
    if verdict in ("approve", "modify"):
        yield r.CallDecision(call=call.id, is_approved=True, reason=reason)
    if answer is not None:
        error = r.text_of(r.object_of(answer, "error"), "message")
        yield r.CallResult(
            call=call.id, text=r.content_of(answer, "content"), state="failed" if error else "succeeded",
            error=error, line=number,
        )  # fmt: skip


def _unmapped_records(sample: JsonObject, events: list[JsonObject]) -> Iterator[r.Record]:
    used = [r.as_object(usage) for usage in r.object_of(sample, "model_usage").values()]
    total = Usage(
        input_tokens=sum(r.count_of(counts, "input_tokens") for counts in used),
        output_tokens=sum(r.count_of(counts, "output_tokens") for counts in used),
    )
    if total.total_tokens:
        yield r.UsageRecord(usage=total)
    if scores := r.object_of(sample, "scores"):
        yield r.UnmappedRecord(kind="scores", content=dict(scores))
    for event in events:
        if event.get("event") in ("error", "logger") and event.get("event") == "error":
            message = r.text_of(r.object_of(event, "error"), "message")
            yield r.ErrorRecord(code="error", message=message, at=r.time_of(event, "timestamp"))
    if error := r.object_of(sample, "error"):
        yield r.ErrorRecord(code="sample", message=r.text_of(error, "message"))
    if limit := r.object_of(sample, "limit"):
        yield r.TurnStop(outcome="limit", detail=f"{r.text_of(limit, 'type')} limit")
    yield r.SessionEnd(is_failed=bool(error))
