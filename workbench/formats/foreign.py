"""What the files of other systems say, in one small vocabulary: the readers make it, one assembler takes it.

Pure values. A reader yields a `Head` and what followed it; the next `Head` begins another session. Texts are
raw here: scrubbing and bounding are the assembler's. Times are microseconds, None where the file has none.
"""

from dataclasses import dataclass, field
from typing import Literal

from workbench.domain.values import Json, JsonObject, Usage

ResultState = Literal["succeeded", "failed", "rejected", "cancelled", "interrupted", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled:
    """The session got a title later."""

    title: str
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A human, or what speaks for one, said something."""

    text: str
    at: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A tool call in a reply."""

    id: str
    tool: str
    arguments: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The model said something, thought, or called tools."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Asked, ...] = ()
    usage: Usage = Usage()
    key: str = ""
    """Pieces with the same key are one message: their usage counts once, the last one's."""
    model: str = ""
    at: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file was changed, or would have been."""

    path: str
    change: Literal["create", "modify", "delete"] = "modify"
    old: str | None = None
    new: str | None = None
    """Both texts, or the parts of them that are known."""
    patch: str = ""
    """A unified diff instead, with or without headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A human answered whether a call may run."""

    call: str
    is_approved: bool
    reason: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a call ended."""

    call: str
    text: str = ""
    state: ResultState = "succeeded"
    error: str = ""
    reason: str = ""
    """What a human said when it was rejected."""
    exit_code: int | None = None
    duration_ms: int | None = None
    changes: tuple[Change, ...] = ()
    at: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens or money that the file counts apart from replies."""

    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The turn was stopped, or reached a limit."""

    outcome: Literal["done", "interrupted", "limit", "error"] = "interrupted"
    detail: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error that the file tells of."""

    code: str
    message: str
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A record that has no place here, kept as it is under its own name."""

    kind: str
    content: Json = None
    at: int | None = None
    line: int = 0
    is_understood: bool = True
    """False counts it as not understood; True is bookkeeping that is known and says nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something in the file that is not as it should be."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The session is over; in words of ours."""

    is_failed: bool = False
    at: int | None = None


Item = (
    Head | Titled | Prompt | Reply | Decision | Result | Spent | Stopped | Failure | Kept | Problem | Closed
)
