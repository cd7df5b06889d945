"""Reader of Inspect logs: an evaluation whose samples are sessions, as JSON or as a zip of JSON."""

import io
from collections.abc import Iterator, Mapping
from typing import Final
from zipfile import ZipFile

import orjson
from msgspec.structs import replace

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import json_fields as j
from workbench.formats import records as r
from workbench.formats.compression import decompression_errors, zip_module

MOST_ENTRY: Final = 128 << 20
"""Bytes of one entry of a zip, unpacked."""
MOST_UNPACKED: Final = 2 << 30
"""Bytes of all entries of a zip together, unpacked."""
_ATTACHMENT_PREFIX: Final = "attachment://"


def is_log(value: Json) -> bool:
    document = j.as_object(value)
    return {"version", "status", "eval"} <= document.keys() and "task" in j.object_of(document, "eval")


def read(value: Json, name: str) -> Iterator[r.Record]:
    """Yield a session for each sample of a log."""
    document = j.as_object(value)
    samples = j.objects_of(document, "samples")
    for number, sample in enumerate(samples, 1):
        yield from _read_sample(sample, document, name, number)
    if not samples:
        yield r.file_problem(1, "the log holds no samples")


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
        yield r.file_problem(1, why)
    if head != "header.json":
        yield r.file_problem(1, "the log was not finished; what it holds is read")
    number = unpacked = 0
    for entry in entries:
        if ".." in entry.split("/") or entry.startswith("/"):
            yield r.file_problem(1, f"{entry[:80]} leads out of the zip; it was left out")
            continue
        if not (entry.startswith("samples/") and entry.endswith(".json")):
            continue
        number += 1
        unpacked += archive.getinfo(entry).file_size
        if unpacked > MOST_UNPACKED:
            yield r.file_problem(
                number, f"the zip holds over {MOST_UNPACKED >> 30} GB; the rest was left out"
            )
            return
        sample, why = _read_entry(archive, entry)
        if why:
            yield r.file_problem(number, why)
        else:
            yield from _read_sample(sample, header, name, number)


def _read_entry(archive: ZipFile, entry: str) -> tuple[JsonObject, str]:
    if archive.getinfo(entry).file_size > MOST_ENTRY:
        return {}, f"{entry} is over {MOST_ENTRY >> 20} MB unpacked; it was left out"
    try:
        with archive.open(entry) as stream:
            data = stream.read(MOST_ENTRY + 1)
        return j.as_object(orjson.loads(data)), ""
    except NotImplementedError:
        return {}, f"{entry} is compressed in a way that this Python cannot read"
    except (EOFError, *decompression_errors()) as error:
        return {}, f"{entry} is damaged: {error}"


def _read_sample(sample: JsonObject, log: JsonObject, name: str, number: int) -> Iterator[r.Record]:
    about = j.object_of(log, "eval")
    run = j.first_text(about, "eval_id", "run_id") or name
    key = f"{run}:{sample.get('id', number)}:{sample.get('epoch', 1)}"
    attached = j.object_of(sample, "attachments")
    messages = [_with_attachments(attached, row) for row in j.objects_of(sample, "messages")]
    events = j.objects_of(sample, "events")
    prompt = next((j.content_of(row, "content") for row in messages if row.get("role") == "system"), "")
    yield r.SessionHead(
        key=key, title=f"{j.text_of(about, 'task')} {sample.get('id', number)}", system_prompt=prompt,
        provider=j.text_of(about, "model").partition("/")[0], model=j.text_of(about, "model"),
        at=j.time_of(about, "created"), status=j.text_of(log, "status") or None,
        facts={
            "task": j.text_of(about, "task"), "epoch": sample.get("epoch", 1),
            "target": sample.get("target"),
        },
    )  # fmt: skip
    answers = {j.text_of(row, "tool_call_id"): row for row in messages if row.get("role") == "tool"}
    decided = {j.text_of(event, "call", "id"): event for event in events if event.get("event") == "approval"}
    times = SampleTimes(events)
    call_ids = {j.text_of(call, "id") for row in messages for call in j.objects_of(row, "tool_calls")}
    usage = _ReplyUsage(sample, events, [row for row in messages if row.get("role") == "assistant"])
    for position, row in enumerate(messages, 1):
        if row.get("role") == "tool" and j.text_of(row, "tool_call_id") not in call_ids:
            call, text = j.text_of(row, "tool_call_id"), j.content_of(row, "content")
            yield r.CallResult(call=call, text=text, at=times.of_result(call), line=position)
            continue
        for record in _read_message(row, position, answers, decided, times):
            yield replace(record, usage=usage.of(row)) if isinstance(record, r.Reply) else record
    yield from usage.rest()
    yield from _unmapped_records(sample, events)


class SampleTimes:
    """When the messages of a sample were said and its calls ran, by the events beside them."""

    def __init__(self, events: list[JsonObject]) -> None:
        self._replies: dict[str, int | None] = {}
        self._calls: dict[str, tuple[int | None, int | None]] = {}
        self._last: int | None = None
        for event in events:
            start_us, end_us = j.time_of(event, "timestamp"), j.time_of(event, "completed")
            match event.get("event"):
                case "model":
                    for choice in j.objects_of(event, "output", "choices"):
                        self._replies[j.text_of(choice, "message", "id")] = end_us or start_us
                case "tool":
                    self._calls[j.text_of(event, "id")] = (start_us, end_us or start_us)
                case "sample_init":
                    self._last = start_us
                case _:
                    pass

    def of_prompt(self) -> int | None:
        """Return the time of what is said next: that of what stands before it."""
        return self._last

    def of_reply(self, row: JsonObject) -> int | None:
        return self._later(self._replies.get(j.text_of(row, "id")))

    def of_call(self, call: str) -> int | None:
        return self._calls.get(call, (None, None))[0]

    def of_result(self, call: str) -> int | None:
        return self._later(self._calls.get(call, (None, None))[1])

    def _later(self, time_us: int | None) -> int | None:
        self._last = self._last if time_us is None else time_us
        return time_us


def _with_attachments(attached: Mapping[str, Json], value: JsonObject) -> JsonObject:
    """Return a message with the texts that were kept apart put back, two levels deep."""
    return {key: _put_back(attached, item, 0) for key, item in value.items()}


def _put_back(attached: Mapping[str, Json], value: Json, depth: int) -> Json:
    if isinstance(value, str) and value.startswith(_ATTACHMENT_PREFIX):
        return attached.get(value.removeprefix(_ATTACHMENT_PREFIX), value)
    if depth > 4:
        return value
    if isinstance(value, dict):
        return {key: _put_back(attached, item, depth + 1) for key, item in j.as_object(value).items()}
    if isinstance(value, list):
        return [_put_back(attached, item, depth + 1) for item in j.as_array(value)]
    return value


def _read_message(
    row: JsonObject, number: int, answers: Mapping[str, JsonObject], decided: Mapping[str, JsonObject],
    times: "SampleTimes",
) -> Iterator[r.Record]:  # fmt: skip
    text = j.content_of(row, "content")
    match j.text_of(row, "role"):
        case "user":
            yield r.Prompt(text, times.of_prompt(), number)
        case "assistant":
            calls = tuple(
                r.ToolCall(
                    j.text_of(fields, "id"),
                    j.text_of(fields, "function"),
                    j.object_of(fields, "arguments"),
                    starts_later=times.of_call(j.text_of(fields, "id")) is not None,
                )
                for fields in j.objects_of(row, "tool_calls")
            )
            thoughts = (j.first_text(item, "reasoning", "summary") for item in j.objects_of(row, "content"))
            thinking = "\n\n".join(filter(None, thoughts))
            yield r.Reply(
                text=text, thinking=thinking, calls=calls, model=j.text_of(row, "model"), line=number,
                at=times.of_reply(row), may_be_empty=row.get("source") == "generate",
            )  # fmt: skip
            for call in calls:
                yield from _read_answer(call, answers.get(call.id), decided.get(call.id), number, times)
        case "system" | "tool":
            return
        case role:
            yield r.UnmappedRecord(f"message.{role}", row, line=number, is_understood=False)


def _read_answer(
    call: r.ToolCall, answer: JsonObject | None, decided: JsonObject | None, number: int, times: "SampleTimes"
) -> Iterator[r.Record]:
    if start_us := times.of_call(call.id):
        yield r.CallStart(call.id, start_us)
    when = j.time_of(decided or {}, "timestamp")
    verdict = j.as_text((decided or {}).get("decision"))
    reason = j.as_text((decided or {}).get("explanation"))
    if verdict in ("reject", "terminate"):
        yield r.CallResult(call=call.id, state="rejected", reason=reason, at=when, line=number)
        return
    if verdict in ("approve", "modify"):
        yield r.CallDecision(call=call.id, is_approved=True, reason=reason, at=when)
    if answer is not None:
        error = j.text_of(answer, "error", "message")
        yield r.CallResult(
            call=call.id, text=j.content_of(answer, "content"), state="failed" if error else "succeeded",
            error=error, at=times.of_result(call.id), line=number,
        )  # fmt: skip


def usage_of_counts(counts: JsonObject) -> Usage:
    """Return tokens as Inspect counts them; services differ in whether cached ones are among the input."""
    sent, received = j.count_of(counts, "input_tokens"), j.count_of(counts, "output_tokens")
    read = j.count_of(counts, "input_tokens_cache_read")
    written = j.count_of(counts, "input_tokens_cache_write")
    if (read or written) and j.count_of(counts, "total_tokens") != sent + received:
        sent += read + written
    return Usage(
        input_tokens=sent, output_tokens=received, cache_read_tokens=read, cache_write_tokens=written,
        cost_microdollars=j.as_cost(counts.get("total_cost")),
    )  # fmt: skip


class _ReplyUsage:
    """What each reply of a sample used; what no reply is known to have used goes to the last one."""

    def __init__(self, sample: JsonObject, events: list[JsonObject], replies: list[JsonObject]) -> None:
        self._known: dict[str, Usage] = {}
        for event in events:
            output = j.object_of(event, "output")
            for choice in j.objects_of(output, "choices")[:1]:
                key = j.text_of(choice, "message", "id")
                if event.get("event") == "model" and key:
                    self._known[key] = usage_of_counts(j.object_of(output, "usage"))
        reply_ids = {j.text_of(row, "id") for row in replies}
        self._known = {key: used for key, used in self._known.items() if key in reply_ids}
        whole = Usage()
        for counts in j.object_of(sample, "model_usage").values():
            whole = whole.plus(usage_of_counts(j.as_object(counts)))
        for used in self._known.values():
            whole = whole.beyond(used)
        self._rest, self._last = whole, replies[-1] if replies else None

    def of(self, row: JsonObject) -> Usage:
        used = self._known.get(j.text_of(row, "id"), Usage())
        if row is self._last:
            used, self._rest = used.plus(self._rest), Usage()
        return used

    def rest(self) -> Iterator[r.Record]:
        if self._rest != Usage():
            yield r.UsageRecord(usage=self._rest)


def _unmapped_records(sample: JsonObject, events: list[JsonObject]) -> Iterator[r.Record]:
    if scores := j.object_of(sample, "scores"):
        yield r.UnmappedRecord("scores", dict(scores))
    for event in events:
        if event.get("event") in ("error", "logger") and event.get("event") == "error":
            message = j.text_of(event, "error", "message")
            yield r.ErrorRecord("error", message, j.time_of(event, "timestamp"))
    if error := j.object_of(sample, "error"):
        yield r.ErrorRecord("sample", j.text_of(error, "message"))
    if limit := j.object_of(sample, "limit"):
        yield r.TurnStop(outcome="limit", detail=f"{j.text_of(limit, 'type')} limit")
    yield r.SessionEnd(is_failed=bool(error))
