"""The plain facts that statistics are made of: one value a call, an answer, a session, a changed file.

Pure values; microseconds and milliseconds as their names say. The journal gives them, views count them.
"""

from typing import Literal

from workbench.domain.machines import ActionState, CallState, SessionStatus
from workbench.records import dataclass

Unasked = Literal["", "rule", "grant", "refused"]
"""A rule let a call pass; so did a pattern of the configuration, a trust or a tool that asks nobody; or the
gate did not allow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFact:
    """A tool call that has ended, or waits."""

    tool: str
    state: CallState
    run_ms: int | None
    """How long it ran; None if it never did."""
    waited_ms: int | None
    """How long its questions waited for a human, all of them together; None if it asked nothing."""
    unasked: Unasked = ""
    """Who decided it without a question; empty where one was asked, or nothing is decided or known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFact:
    """A question that was decided, expired, withdrawn or replaced by another one."""

    state: ActionState
    is_partly: bool
    took_ms: int | None
    """From the question to a human's answer; None where no human answered or the times are foreign."""
    tool: str | None = None
    """Whose call asked; None for gates and the like."""
    asked_at: int = 0
    """Microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFact:
    """What a session used."""

    status: SessionStatus
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    updated_at: int
    spent: tuple[tuple[int, int], ...] = ()
    """Of one that went on over midnight: quarters of an hour and the tokens of each; empty for all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """A file of a workspace, over all sessions."""

    path: str
    times: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Glance:
    """What a list says of a session beside its title."""

    rejected: int = 0
    expired: int = 0
    failed: int = 0
    """Calls that ran and failed."""
    turns: int = 0
    """Those that have ended."""
    files: int = 0
    """Times that a file was changed."""
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Weight:
    """What goes when a session is deleted."""

    events: int
    calls: int
    actions: int
    kept: int
    """Outputs and images of files."""
    steps: int
    """Sessions of a pipeline run that go with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """When a session worked and when its questions waited: beginnings and ends, in microseconds."""

    turns: tuple[tuple[int, int], ...]
    waits: tuple[tuple[int, int], ...]
