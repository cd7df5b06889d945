"""The blocks of a conversation as values: what is said, thought, called, written, missed and noticed.

Texts are raw unless a field says that it is one safe line. Knows no widths and no heights.
"""

from typing import Literal

from workbench.records import dataclass, replace
from workbench.views.signs import Meaning

NoticeKind = Literal[
    "paused", "stopped", "continued", "limit", "expired", "mark", "trust", "ended", "changed", "unknown"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a human said."""

    id: str
    at: int
    text: str
    """Raw."""
    is_queued: bool = False
    """The agent still works on an earlier one; queued prompts stand below everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """What the agent said in one round."""

    id: str
    at: int
    text: str
    """Raw markdown."""
    is_open: bool = False
    """Still streaming: drawn as plain wrapped lines."""
    was_cut: bool = False
    """The turn ended before the reply did; what came is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What the model thought in one round."""

    id: str
    at: int
    text: str
    """Raw."""
    seconds: float | None = None
    """How long it thought, where deltas tell."""
    is_open: bool = False
    is_folded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """One tool call: `✓ read_file  src/shop/app.py  § 12 ms`."""

    id: str
    at: int
    call_id: str
    action_id: str | None
    sign: Meaning
    tool: str
    target: str
    right: str = ""
    """`12 ms`, `2 of 3`, `exit 1`, `asks you`."""
    right_meaning: Meaning | None = None
    """Whose colour the right words have; None is muted."""
    is_by_rule: bool = False
    """A rule let it pass: `§` stands before the right words."""
    note: str = ""
    """A human's words under the line, without quotes: `you left hunk 2: keep the order`."""
    note_quote: str = ""
    """The quoted part of the note, one safe line."""
    has_output: bool = False
    is_folded: bool = True
    """Whether its output is."""
    ran_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRun:
    """Calls that went well, one below the other: `✓ 6 calls  0.4 s`."""

    id: str
    at: int
    """Of the last of them."""
    call_ids: tuple[str, ...]
    seconds: float = 0.0
    """That they ran, in all."""
    is_folded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLine:
    """One step of a pipeline run, or how the run ended: `✓ tests  command  3 of 3 items  1:12`."""

    id: str
    at: int
    """When it began."""
    step: str
    """Its id; empty for the run itself."""
    name: str
    """One safe line, like all below."""
    what: str
    """`agent planner`, `command`, `gate`."""
    sign: Meaning
    right: str = ""
    right_meaning: Meaning | None = None
    items: str = ""
    """Of a matrix: `2 of 3 items`."""
    note: str = ""
    """Why it failed, waits, is tried again, was skipped."""

    def with_items(self, words: str) -> "StepLine":
        """Return the line with another count of its items."""
        return replace(self, items=words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command wrote; it has no rows while folded."""

    id: str
    at: int
    call_id: str
    text: str
    """Raw; the preview once the call is finished."""
    total_bytes: int = 0
    is_open: bool = False
    is_folded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBlock:
    """What did not happen, why, and what to do."""

    id: str
    at: int
    code: str
    message: str
    details: str = ""
    remedy: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    """Key and words: `("r", "ask again")`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A sentence about the session itself."""

    id: str
    at: int
    kind: NoticeKind
    text: str
    keys: tuple[tuple[str, str], ...] = ()


Block = Prompt | Text | Thought | CallLine | CallRun | StepLine | Output | ErrorBlock | Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFacts:
    """What the pane's title says of the session."""

    turns: int = 0
    is_working: bool = False
    """A turn is open."""
    waiting: int = 0
    """Calls that ask a human."""
    queued: int = 0
    """Prompts that the agent has not begun."""
    model: str = ""
    position: int = 0
    """Of the last event folded; where reading goes on."""
