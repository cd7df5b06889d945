"""What session files of other programs say, as one small set of records.

Readers yield a `SessionHead` and what followed it; one assembler turns that into events. Texts are raw here.
Times are microseconds.
"""

# Readers speak one vocabulary, and one assembler makes events of it: scrubbing, bounds, ids and legal moves
# are in one place and not in twenty. Ids come from the format, the foreign id and the place, so the same
# file twice is one session and a longer one brings only what is new; what closes an unfinished one has ids
# of its own.

from typing import Final, Literal

from msgspec import Struct, field

from workbench.domain.values import Json, JsonObject, Usage
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
    telemetry_id: str = ""
    """The id of its log stream (S4)."""
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
    rule: str = ""
    """The id of the rule that allowed it there."""


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
    moved_from: str | None = None
    """The path that the file had before; another edit deletes it."""


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
    metadata: JsonObject = field(default_factory=dict[str, Json])
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


class KeptRows(Struct, frozen=True, kw_only=True):
    """Rows of the file as they came, which an export in the same format gives back."""

    part: str
    """What they are rows of, in one word."""
    rows: list[Json]
    is_last: bool = False
    """Nothing follows them in the file so far; a longer file has more rows in this record."""


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
    | KeptRows
    | Problem
    | SessionEnd
)


def is_empty_reply(reply: Reply) -> bool:
    """Return whether nothing was found in a reply, though it should say something."""
    says_something = reply.text.strip() or reply.thinking or reply.calls or reply.usage != Usage()
    return not (says_something or reply.may_be_empty)


def file_problem(line: int, why: str) -> Problem:
    """Return what is not as it should be in a line of a file, which is imported all the same."""
    return Problem(message=why, line=line, severity="warning", fatal=False)


NOTHING_YET: Final = file_problem(0, "nothing yet")
"""Marks the present end of a growing file: readers pass it on, and keep records that need a later line."""
