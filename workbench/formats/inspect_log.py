"""Inspect logs: an evaluation with its samples, each a session; as JSON, or as a zip of JSON.

Pure. Owns what of a log is a conversation. Attachments are put back where strings name them; entries that
cannot be unpacked are reported.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Final
from zipfile import ZipFile

import orjson

from workbench.domain.values import Json, JsonObject, Usage
from workbench.formats import foreign
from workbench.formats.fields import arr, content, count, first, moment, obj, objs, text
from workbench.formats.foreign import (
    Asked,
    Closed,
    Decision,
    Head,
    Item,
    Kept,
    Problem,
    Prompt,
    Reply,
    Result,
)
from workbench.formats.unpacking import damaged, zip_module

MOST_ENTRY: Final = 128 << 20
"""Bytes of one entry of a zip, unpacked."""

MOST_UNPACKED: Final = 2 << 30
"""Bytes of all entries of a zip together, unpacked."""

_ATTACHED: Final = "attachment://"


def is_log(value: Json) -> bool:
    """Tell whether a document is a log of Inspect."""
    found = obj(value)
    return {"version", "status", "eval"} <= found.keys() and "task" in obj(found.get("eval"))


def read(value: Json, name: str) -> Iterator[Item]:
    """Yield a session for each sample of a log."""
    found = obj(value)
    samples = objs(found.get("samples"))
    for number, sample in enumerate(samples, 1):
        yield from _sample(sample, found, name, number)
    if not samples:
        yield Problem(line=1, why="the log holds no samples")


def read_zip(data: bytes, name: str) -> Iterator[Item]:
    """Yield a session for each sample of a zipped log.

    Raises:
        ValueError: It is no zip, or no log.
    """
    try:
        archive = zip_module().ZipFile(io.BytesIO(data))
        entries = set(archive.namelist())
    except (EOFError, *damaged()) as error:
        raise ValueError(f"it begins like a zip and is none: {error}") from None
    head = next((one for one in ("header.json", "_journal/start.json") if one in entries), None)
    if head is None:
        raise ValueError("it is a zip, but no log of Inspect: it has no header.json")
    return _entries(archive, head, sorted(entries), name)


def _entries(archive: ZipFile, head: str, entries: list[str], name: str) -> Iterator[Item]:
    header, why = _entry(archive, head)
    if why:
        yield Problem(line=1, why=why)
    if head != "header.json":
        yield Problem(line=1, why="the log was not finished; what it holds is read")
    number = unpacked = 0
    for entry in entries:
        if ".." in entry.split("/") or entry.startswith("/"):
            yield Problem(line=1, why=f"{entry[:80]} leads out of the zip; it was left out")
            continue
        if not (entry.startswith("samples/") and entry.endswith(".json")):
            continue
        number += 1
        unpacked += archive.getinfo(entry).file_size
        if unpacked > MOST_UNPACKED:
            yield Problem(
                line=number, why=f"the zip holds over {MOST_UNPACKED >> 30} GB; the rest was left out"
            )
            return
        sample, why = _entry(archive, entry)
        if why:
            yield Problem(line=number, why=why)
        else:
            yield from _sample(sample, header, name, number)


def _entry(archive: ZipFile, entry: str) -> tuple[JsonObject, str]:
    """Return one entry as JSON, or why it cannot be read."""
    if archive.getinfo(entry).file_size > MOST_ENTRY:
        return {}, f"{entry} is over {MOST_ENTRY >> 20} MB unpacked; it was left out"
    try:
        with archive.open(entry) as stream:
            data = stream.read(MOST_ENTRY + 1)
        return obj(orjson.loads(data)), ""
    except NotImplementedError:
        return {}, f"{entry} is compressed in a way that this Python cannot read"
    except (EOFError, *damaged()) as error:
        return {}, f"{entry} is damaged: {error}"


def _sample(sample: JsonObject, log: JsonObject, name: str, number: int) -> Iterator[Item]:
    about = obj(log.get("eval"))
    run = first(about, "eval_id", "run_id") or name
    key = f"{run}:{sample.get('id', number)}:{sample.get('epoch', 1)}"
    attached = obj(sample.get("attachments"))
    messages = [_with(attached, row) for row in objs(sample.get("messages"))]
    events = objs(sample.get("events"))
    prompt = next((content(row.get("content")) for row in messages if row.get("role") == "system"), "")
    yield Head(
        key=key, title=f"{text(about.get('task'))} {sample.get('id', number)}", system_prompt=prompt,
        provider=text(about.get("model")).partition("/")[0], model=text(about.get("model")),
        at=moment(about.get("created")), status=text(log.get("status")) or None,
        facts={
            "task": text(about.get("task")), "epoch": sample.get("epoch", 1), "target": sample.get("target"),
        },
    )  # fmt: skip
    answers = {text(row.get("tool_call_id")): row for row in messages if row.get("role") == "tool"}
    decided = {text(obj(one.get("call")).get("id")): one for one in events if one.get("event") == "approval"}
    for at, row in enumerate(messages, 1):
        yield from _message(row, at, answers, decided)
    yield from _rest(sample, events)


def _with(attached: Mapping[str, Json], value: JsonObject) -> JsonObject:
    """Return a message with the texts that were kept apart put back, two levels deep."""
    return {key: _put_back(attached, item, 0) for key, item in value.items()}


def _put_back(attached: Mapping[str, Json], value: Json, depth: int) -> Json:
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if depth > 4:
        return value
    if isinstance(value, dict):
        return {key: _put_back(attached, item, depth + 1) for key, item in obj(value).items()}
    if isinstance(value, list):
        return [_put_back(attached, item, depth + 1) for item in arr(value)]
    return value


def _message(
    row: JsonObject, number: int, answers: Mapping[str, JsonObject], decided: Mapping[str, JsonObject]
) -> Iterator[Item]:
    said = content(row.get("content"))
    match text(row.get("role")):
        case "user":
            yield Prompt(text=said, line=number)
        case "assistant":
            calls = tuple(
                Asked(
                    id=text(one.get("id")),
                    tool=text(one.get("function")),
                    arguments=obj(one.get("arguments")),
                )
                for one in objs(row.get("tool_calls"))
            )
            thoughts = (first(one, "reasoning", "summary") for one in objs(row.get("content")))
            thinking = "\n\n".join(filter(None, thoughts))
            yield Reply(
                text=said, thinking=thinking, calls=calls, model=text(row.get("model")), line=number
            )  # fmt: skip
            for call in calls:
                yield from _answered(call, answers.get(call.id), decided.get(call.id), number)
        case "system" | "tool":
            return
        case role:
            yield Kept(kind=f"message.{role}", content=row, line=number, is_understood=False)


def _answered(
    call: Asked, answer: JsonObject | None, decided: JsonObject | None, number: int
) -> Iterator[Item]:
    verdict = text((decided or {}).get("decision"))
    reason = text((decided or {}).get("explanation"))
    if verdict in ("reject", "terminate"):
        yield Result(call=call.id, state="rejected", reason=reason, line=number)
        return
    if verdict in ("approve", "modify"):
        yield Decision(call=call.id, is_approved=True, reason=reason)
    if answer is not None:
        error = text(obj(answer.get("error")).get("message"))
        yield Result(
            call=call.id, text=content(answer.get("content")), state="failed" if error else "succeeded",
            error=error, line=number,
        )  # fmt: skip


def _rest(sample: JsonObject, events: list[JsonObject]) -> Iterator[Item]:
    used = [obj(usage) for usage in obj(sample.get("model_usage")).values()]
    total = Usage(
        input_tokens=sum(count(one.get("input_tokens")) for one in used),
        output_tokens=sum(count(one.get("output_tokens")) for one in used),
    )
    if total.total_tokens:
        yield foreign.Spent(usage=total)
    if scores := obj(sample.get("scores")):
        yield Kept(kind="scores", content=dict(scores))
    for event in events:
        if event.get("event") in ("error", "logger") and event.get("event") == "error":
            message = text(obj(event.get("error")).get("message"))
            yield foreign.Failure(code="error", message=message, at=moment(event.get("timestamp")))
    if error := obj(sample.get("error")):
        yield foreign.Failure(code="sample", message=text(error.get("message")))
    if limit := obj(sample.get("limit")):
        yield foreign.Stopped(outcome="limit", detail=f"{text(limit.get('type'))} limit")
    yield Closed(is_failed=bool(error))
