"""What session files of other programs say, as one small set of records, and typed access to their JSON.

Readers yield a `SessionHead` and what followed it; one assembler turns that into events. Texts are raw here.
A missing or wrong JSON value reads as empty and never raises. Times are microseconds.
"""

# Readers speak one vocabulary, and one assembler makes events of it: scrubbing, bounds, ids and legal moves
# are in one place and not in twenty. Ids come from the format, the foreign id and the place, so the same
# file twice is one session and a longer one brings only what is new; what closes an unfinished one has ids
# of its own.

from collections.abc import Iterator
from typing import Final, Literal, cast

from msgspec import Struct, field

from workbench.domain.values import Json, JsonObject, Usage
from workbench.text.human import parse_iso_time
from workbench.text.problems import Problem

ResultState = Literal["succeeded", "failed", "rejected", "cancelled", "interrupted", "expired"]


class SessionHead(Struct, frozen=True, kw_only=True):
    """A session begins."""

    key: str
    """Its id there; two files with the same one are one session."""
    title: str = ""
    workspace: str = ""
    provider: str = ""
    model: str = ""
    system_prompt: str = ""
    parent: str = ""
    """The key of the session that it belongs to, where an agent started it."""
    at: int | None = None
    status: str | None = None
    """Its status in the words of the file."""
    facts: JsonObject = field(default_factory=dict[str, Json])
    """What is worth knowing besides: versions, branches, parents."""
    active_tools: tuple[str, ...] = ()
    """Ids of the tools that it might call, where the file says so; they grant nothing."""


class TitleChange(Struct, frozen=True):
    """The session got a title later."""

    title: str
    at: int | None = None


class Prompt(Struct, frozen=True):
    """A human, or what speaks for one, said something."""

    text: str
    at: int | None = None
    line: int = 0


class ToolCall(Struct, frozen=True):
    """A tool call in a reply."""

    id: str
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    starts_later: bool = False
    """A `CallStart` follows that says when it was asked for; else that was at the time of the reply."""


class Reply(Struct, frozen=True, kw_only=True):
    """The model said something, thought, or called tools."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    key: str = ""
    """Pieces with the same key are one message: their usage counts once, the last one's."""
    request: str = ""
    """Names what was paid, the same in every session that its history was copied to; may be empty."""
    may_be_empty: bool = False
    """False: without a text, a call and usage it counts as not understood."""
    model: str = ""
    at: int | None = None
    line: int = 0


class FileEdit(Struct, frozen=True, kw_only=True):
    """A file was changed, or would have been."""

    path: str
    change: Literal["create", "modify", "delete"] = "modify"
    old: str | None = None
    new: str | None = None
    """Both texts, or the parts of them that are known."""
    patch: str = ""
    """A unified diff instead, with or without headers."""


class CallStart(Struct, frozen=True):
    """A call began to run."""

    call: str
    at: int | None = None


class CallQuestion(Struct, frozen=True, kw_only=True):
    """A human is asked about a call: whether it may run, or what it asks itself."""

    call: str
    prompt: str = ""
    """What is asked, where the call is a question and nothing to allow."""
    choices: tuple[tuple[str, str], ...] = ()
    """The answers that it offers: how each is called in an answer, and what it says."""
    at: int | None = None


class CallDecision(Struct, frozen=True, kw_only=True):
    """A human answered whether a call may run, or what it asked."""

    call: str
    is_approved: bool
    reason: str = ""
    choice: str = ""
    text: str = ""
    """The answer in words."""
    at: int | None = None


class CallProgress(Struct, frozen=True, kw_only=True):
    """A call told how far it is; where the call is not open, it is kept as bookkeeping."""

    call: str
    kind: str
    """What tells of it, in one word: `output`, `agent`, `hook`."""
    text: str = ""
    """What was written since."""
    content: Json = None
    at: int | None = None
    line: int = 0


class CallResult(Struct, frozen=True, kw_only=True):
    """How a call ended."""

    call: str
    text: str = ""
    state: ResultState = "succeeded"
    error: str = ""
    reason: str = ""
    """What a human said when it was rejected."""
    exit_code: int | None = None
    duration_ms: int | None = None
    changes: tuple[FileEdit, ...] = ()
    child: str = ""
    """The key of the session that an agent led for it."""
    at: int | None = None
    line: int = 0


class UsageRecord(Struct, frozen=True, kw_only=True):
    """Tokens or money that the file counts apart from replies."""

    usage: Usage = Usage()
    is_last: bool = False
    """Nothing follows it in the file so far; a longer file may hold the reply that it belongs to."""


class TurnStop(Struct, frozen=True, kw_only=True):
    """The turn was stopped, or reached a limit."""

    outcome: Literal["done", "interrupted", "limit", "error"] = "interrupted"
    detail: str = ""
    at: int | None = None


class ErrorRecord(Struct, frozen=True):
    """An error that the file tells of."""

    code: str
    message: str
    at: int | None = None


class UnmappedRecord(Struct, frozen=True):
    """A record that has no place here, kept as it is under its own name."""

    kind: str
    content: Json = None
    at: int | None = None
    line: int = 0
    is_understood: bool = True
    """False counts it as not understood; True is bookkeeping that is known and says nothing here."""


class SessionEnd(Struct, frozen=True, kw_only=True):
    """The session is over; in words of ours."""

    is_failed: bool = False
    at: int | None = None


Record = (
    SessionHead
    | TitleChange
    | Prompt
    | Reply
    | CallStart
    | CallQuestion
    | CallDecision
    | CallProgress
    | CallResult
    | UsageRecord
    | TurnStop
    | ErrorRecord
    | UnmappedRecord
    | Problem
    | SessionEnd
)


def file_problem(line: int, why: str) -> Problem:
    """Return what is not as it should be in a line of a file, which is imported all the same."""
    return Problem(message=why, line=line, severity="warning", fatal=False)


_EMPTY_OBJECT: Final[JsonObject] = {}
_YEAR_10000: Final = 253_402_300_800_000_000
"""Microseconds of the year 10000, which ISO 8601 cannot write."""


def as_object(value: Json) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, dict) else _EMPTY_OBJECT


def as_array(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []


def as_objects(value: Json) -> list[JsonObject]:
    return [cast("JsonObject", item) for item in as_array(value) if isinstance(item, dict)]


def as_text(value: Json) -> str:
    """Return a string, or an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def value_of(holder: JsonObject, name: str, *below: str) -> Json:
    """Return the value of a member, or of one below it; None where there is none."""
    value = holder.get(name)
    for inner_name in below:
        value = as_object(value).get(inner_name)
    return value


def text_of(holder: JsonObject, name: str, *below: str) -> str:
    # Every line of a file is asked for some twenty texts: without a path nothing else is called.
    value = value_of(holder, name, *below) if below else holder.get(name)
    return value if isinstance(value, str) else ""


def object_of(holder: JsonObject, name: str, *below: str) -> JsonObject:
    return as_object(value_of(holder, name, *below) if below else holder.get(name))


def objects_of(holder: JsonObject, *path: str) -> list[JsonObject]:
    return as_objects(value_of(holder, *path))


def count_of(holder: JsonObject, *path: str) -> int:
    return as_count(value_of(holder, *path))


def integer_of(holder: JsonObject, *path: str) -> int | None:
    return as_integer(value_of(holder, *path))


def time_of(holder: JsonObject, *path: str) -> int | None:
    return as_time(value_of(holder, *path))


def content_of(holder: JsonObject, *path: str) -> str:
    return content_text(value_of(holder, *path))


def first_text(holder: JsonObject, *names: str) -> str:
    """Return the first of some fields that holds a text."""
    return next((text for name in names if (text := as_text(holder.get(name)))), "")


def as_count(value: Json) -> int:
    """Return a whole number from 0 on, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1 << 53 else 0


def as_cost(dollars: Json) -> int:
    """Return US dollars as millionths of one, 0 for what is no amount."""
    if isinstance(dollars, bool) or not isinstance(dollars, int | float) or not 0 <= dollars < 1e9:
        return 0
    return round(dollars * 1_000_000)


def as_integer(value: Json) -> int | None:
    """Return a whole number, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53:
        return value
    return None


def as_time(value: Json) -> int | None:
    """Return a time in microseconds: ISO 8601, or a number of s, ms, µs or ns since 1970; None if neither."""
    if isinstance(value, str):
        try:
            time = parse_iso_time(value)
        except ValueError:
            return None
        return time if 0 <= time < _YEAR_10000 else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e19:
        return None
    for limit, factor in ((1e11, 1_000_000.0), (1e14, 1_000.0), (1e17, 1.0)):
        if value < limit:
            return int(value * factor)
    return int(value) // 1000


def lacks_time_zone(value: Json) -> bool:
    """Return whether a time is written without a zone."""
    return isinstance(value, str) and "T" in value and value[-1:].isdigit() and not _has_offset(value)


def _has_offset(value: str) -> bool:
    return any(sign in value[19:] for sign in "+-")


def content_text(value: Json) -> str:
    """Return content as one text: a string, or a block or several of which only text is taken whole."""
    if isinstance(value, str):
        return value
    blocks: list[Json] = [value] if isinstance(value, dict) else as_array(value)
    return "\n".join(part for part in map(_block_text, blocks) if part)


_NAMED_BLOCKS: Final = ("tool_reference", "resource_link", "web_search_result", "document")
"""Blocks without text of which a name is shown."""
_FILE_BLOCKS: Final = ("file", "audio", "video", "input_file", "input_audio")


def _block_text(block: Json) -> str:
    if isinstance(block, str):
        return block
    fields = as_object(block)
    text = first_text(fields, "text", "input_text", "output_text", "thinking")
    if text or not fields:
        return text
    if part := _gemini_part_text(fields):
        return part
    kind = as_text(fields.get("type")) or as_text(fields.get("mime"))
    if kind == "tool_result":
        return content_text(fields.get("content"))
    if "image" in kind or "source" in fields or kind in _FILE_BLOCKS:
        return image_note(fields)
    if kind == "resource":
        return as_text(as_object(fields.get("resource")).get("text"))
    return (
        f"[{kind} {first_text(fields, 'tool_name', 'name', 'title', 'url', 'uri')}]"
        if kind in _NAMED_BLOCKS
        else ""
    )


def _gemini_part_text(part: JsonObject) -> str:
    """Return a part that has no type but a member that says what it is (ai.google.dev/api, Part)."""
    if data := as_object(part.get("inlineData")) or as_object(part.get("inline_data")):
        return image_note(data)
    if file := as_object(part.get("fileData")) or as_object(part.get("file_data")):
        return (
            f"[{first_text(file, 'mimeType', 'mime_type') or 'file'}"
            f" {first_text(file, 'fileUri', 'file_uri')}]"
        )
    code, result = as_object(part.get("executableCode")), as_object(part.get("codeExecutionResult"))
    return as_text(code.get("code")) or as_text(result.get("output"))


def image_note(block: JsonObject) -> str:
    """Return what is kept of an image: that there was one, its type and its size."""
    source = as_object(block.get("source"))
    where = first_text(block, "image_url", "url") or as_text(as_object(block.get("image_url")).get("url"))
    where = where or as_text(source.get("url"))
    data = as_text(source.get("data")) or as_text(block.get("data"))
    if where.startswith("data:"):
        head, _, data = where.partition(",")
        kind = head.removeprefix("data:").partition(";")[0]
    else:
        kind = first_text(block, "mimeType", "mime_type", "mime", "media_type")
    named = as_text(block.get("type"))
    kind = as_text(source.get("media_type")) or kind or (named if named in _FILE_BLOCKS else "image")
    words = [kind, first_text(block, "filename", "name")]
    text = " ".join(filter(None, (*words, "" if data else where)))
    return f"[{text}, {len(data) * 3 // 4} bytes, not kept]" if data else f"[{text}]"


def as_texts(value: Json) -> Iterator[str]:
    yield from (item for item in as_array(value) if isinstance(item, str))
