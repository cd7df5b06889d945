"""A conversation as blocks: an incremental fold of ONE session's events.

`reply.completed` replaces what was streamed of its turn and round, `call.finished` what was streamed of its
output, so a transcript of live events comes to the same blocks as one of what lasts. Total: any event in any
state is folded or ignored. Knows nothing of widths and heights.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.domain.events import Event
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


Block = Prompt | Text | Thought | CallLine | Output | ErrorBlock | Notice


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


class Transcript:
    """The blocks of one session. Feed it events in order; it says which blocks changed."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks in reading order."""
        raise NotImplementedError

    @property
    def facts(self) -> TranscriptFacts:
        """Return what the title says."""
        raise NotImplementedError

    def block(self, block_id: str) -> Block | None:
        """Return one block as it stands."""
        raise NotImplementedError(block_id)

    def apply(self, event: Event) -> set[str]:
        """Fold one event; return the ids of blocks that came, changed or went (`block` is None then)."""
        raise NotImplementedError(event)

    def apply_all(self, events: Iterable[Event]) -> set[str]:
        """Fold events in order; return the ids of all blocks that changed."""
        raise NotImplementedError(events)

    def toggle(self, block_id: str) -> set[str]:
        """Fold or open a thought, or the output of a call line; return the ids that changed."""
        raise NotImplementedError(block_id)
