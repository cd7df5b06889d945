"""Blocks of a conversation, their order, calls grouped in compact mode.

Texts are raw unless a field says that it is one safe line.
"""

# A compact conversation takes all calls of a turn together that went well, where the first of them stood:
# in between stand sentences and what needs a look, in their order. Opened, each call stands where it stood.

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.domain.values import Place
from workbench.views.status_icons import StatusName

NoticeKind = Literal[
    "paused",
    "stopped",
    "continued",
    "limit",
    "expired",
    "mark",
    "trust",
    "ended",
    "changed",
    "unknown",
    "kept",
]


class PromptBlock(Struct, frozen=True, kw_only=True):
    """What a human said."""

    id: str
    at: int
    text: str
    is_queued: bool = False
    """The agent still works on an earlier one; queued prompts stand below everything else."""
    retired: Literal["", "taken back", "edited"] = ""
    """Why it was never sent; empty for one that was or will be."""


class TextBlock(Struct, frozen=True, kw_only=True):
    """What the agent said in one round."""

    id: str
    at: int
    text: str
    """Raw markdown."""
    is_open: bool = False
    """Still streaming: drawn as plain wrapped lines."""
    was_cut: bool = False
    """The turn ended before the reply did; what came is kept."""


class ThoughtBlock(Struct, frozen=True, kw_only=True):
    """What the model thought in one round."""

    id: str
    at: int
    text: str
    seconds: float | None = None
    """How long it thought, where deltas tell."""
    is_open: bool = False
    is_folded: bool = True


class CallBlock(Struct, frozen=True, kw_only=True):
    """One tool call: `✓ read_file  src/shop/app.py  § 12 ms`."""

    id: str
    at: int
    call_id: str
    action_id: str | None
    sign: StatusName
    tool: str
    target: str
    right: str = ""
    right_meaning: StatusName | None = None
    """Whose colour the right words have; None is muted."""
    is_by_rule: bool = False
    """A rule let it pass: `§` stands before the right words."""
    note: str = ""
    """A human's words under the line, without quotes: `you left hunk 2: keep the order`."""
    note_quote: str = ""
    has_output: bool = False
    is_folded: bool = True
    ran_ms: int = 0
    elapsed: int | None = None
    """Whole seconds it has run so far; None where nobody counts them."""
    limit_seconds: float | None = None
    last_line: str = ""
    """What it wrote last, one safe line."""
    agent_id: str = ""
    """The session of the agent that it began, where that is known."""
    place: Place | None = None
    """Where a command runs or ran; None of all else."""
    refused: str = ""
    """What the sandbox refused to it, one safe line under the others."""


GroupPlace = Place | Literal["mixed"]
"""Where the commands of a group ran: all at one place, or some inside and some outside."""


class CallGroupBlock(Struct, frozen=True, kw_only=True):
    """Calls that went well, one below the other: `✓ 6 calls  0.4 s`."""

    id: str
    at: int
    call_ids: tuple[str, ...]
    seconds: float = 0.0
    is_folded: bool = True
    place: GroupPlace | None = None
    """Where its commands ran; None without commands."""


class StepBlock(Struct, frozen=True, kw_only=True):
    """One step of a pipeline run, or how the run ended: `✓ tests  command  3 of 3 items  1:12`."""

    id: str
    at: int
    step: str
    name: str
    what: str
    sign: StatusName
    right: str = ""
    right_meaning: StatusName | None = None
    items: str = ""
    note: str = ""
    refused: int = 0
    """Calls of its agents that were refused in the last attempt."""

    @property
    def shown_sign(self) -> StatusName:
        """Return the sign: `risk` where it is done although calls were refused."""
        return "risk" if self.refused and self.sign == "ok" else self.sign

    def with_refused(self, count: int) -> "StepBlock":
        return self if count == self.refused else replace(self, refused=count)

    def with_items(self, words: str) -> "StepBlock":
        return replace(self, items=words)

    def with_note(self, words: str) -> "StepBlock":
        return replace(self, note=words)


class OutputBlock(Struct, frozen=True, kw_only=True):
    """What a command wrote; it has no rows while folded."""

    id: str
    at: int
    call_id: str
    text: str
    total_bytes: int = 0
    is_open: bool = False
    is_folded: bool = True


class ErrorBlock(Struct, frozen=True, kw_only=True):
    """What did not happen, why, and what to do."""

    id: str
    at: int
    code: str
    message: str
    details: str = ""
    remedy: str = ""
    keys: tuple[tuple[str, str], ...] = ()


class NoticeBlock(Struct, frozen=True, kw_only=True):
    """A sentence about the session itself."""

    id: str
    at: int
    kind: NoticeKind
    text: str
    keys: tuple[tuple[str, str], ...] = ()


ModelPhase = Literal["loads", "reads", "thinks", "writes"]


class ProgressBlock(Struct, frozen=True, kw_only=True):
    """What the model does now: `● qwen3-coder reads  12 s  8.4k tok, usually 9 s`; below what was said."""

    at: int
    phase: ModelPhase
    model: str
    """One safe line."""
    seconds: int | None
    """Since it was asked, or since its first word; None where the beginning is not known."""
    tokens: int = 0
    """Estimated: of the request while it reads, then of the reply; 0 is not known."""
    usual: float | None = None
    """Seconds after which the same model usually says its first word."""
    bars: tuple[int | None, ...] = ()
    """Bytes of each of the last seconds; None before the first word."""
    rate: int | None = None
    """Tokens a second, estimated."""
    silent: int = 0
    """Seconds without a word, where they are many."""
    id: str = "progress"


Block = (
    PromptBlock
    | TextBlock
    | ThoughtBlock
    | CallBlock
    | CallGroupBlock
    | StepBlock
    | OutputBlock
    | ErrorBlock
    | NoticeBlock
    | ProgressBlock
)


class TurnSummary(Struct, frozen=True, kw_only=True):
    """One turn of a conversation in a list of them."""

    id: str
    number: int
    sign: StatusName
    block_id: str = ""
    """The prompt that it begins with; empty where it has none."""
    title: str = ""
    """The first words of the prompt, one safe line."""
    failed: int = 0
    """Calls that failed."""


class TranscriptFacts(Struct, frozen=True, kw_only=True):
    """What the pane's title says of the session."""

    turns: int = 0
    is_working: bool = False
    waiting: int = 0
    queue: tuple[PromptBlock, ...] = ()
    """The prompts that wait, the first to be sent first."""
    model: str = ""
    position: int = 0
    """Of the last event folded; where reading goes on."""
    turn_seconds: int | None = None
    """How long the turn has lasted, while something of it works and its beginning is known."""


class BlockOrder:
    """An ordered set of blocks that remembers what changed."""

    def __init__(self) -> None:
        self._order: list[str] = []
        self._blocks: dict[str, Block] = {}
        self._changed: set[str] = set()
        self._open: set[str] = set()
        self._keyed: set[str] = set()
        self._progress: ProgressBlock | None = None
        self.queued = 0
        """How many prompts stand at the end, not yet begun."""

    def begin(self) -> None:
        self._changed = set()

    def changed(self) -> set[str]:
        """Return the ids that came, changed or went since `begin`."""
        return set(self._changed)

    def all(self) -> tuple[Block, ...]:
        blocks = [self._blocks[key] for key in self._order]
        if self._progress is not None:
            blocks.insert(len(blocks) - self.queued, self._progress)
        return tuple(blocks)

    @property
    def progress(self) -> ProgressBlock | None:
        """Return what the model does now, which stands above the queued prompts."""
        return self._progress

    def put_progress(self, block: ProgressBlock | None) -> None:
        known = self._progress
        if block != known:
            self._progress = block
            self._changed.add("progress")

    def get(self, key: str) -> Block | None:
        return self._blocks.get(key)

    def last(self) -> Block | None:
        """Return the last block that is no queued prompt."""
        end = len(self._order) - self.queued
        return self._blocks[self._order[end - 1]] if end else None

    def append(self, prompt: PromptBlock) -> None:
        """Add a prompt behind everything."""
        if prompt.id in self._blocks:
            return
        self._order.append(prompt.id)
        self._set(prompt)
        self.queued += prompt.is_queued

    def put(self, block: Block, *, behind: str | None = None, before: str | None = None) -> None:
        """Set a block; a new one stands behind or before another, else above the queued prompts."""
        if block.id not in self._blocks:
            self._order.insert(self._place(behind, before), block.id)
        elif self._blocks[block.id] == block:
            return
        self._set(block)

    def remove(self, key: str) -> None:
        if self._blocks.pop(key, None) is not None:
            self._order.remove(key)
            self._changed.add(key)
            self._open.discard(key)
            self._keyed.discard(key)

    def queued_prompts(self) -> tuple[PromptBlock, ...]:
        """Return the prompts that wait, the first to be sent first."""
        blocks = (self._blocks[key] for key in self._order[len(self._order) - self.queued :])
        return tuple(block for block in blocks if isinstance(block, PromptBlock))

    def retire(self, key: str, why: Literal["taken back", "edited"], successor: PromptBlock | None) -> bool:
        """Mark a queued prompt as never sent, above those that wait; another may take its place.

        Return whether it was queued.
        """
        waiting = [block.id for block in self.queued_prompts()]
        if key not in waiting:
            return False
        place, first = waiting.index(key), len(self._order) - self.queued
        waiting[place : place + 1] = [] if successor is None else [successor.id]
        self._order[first:] = [key, *waiting]
        self.queued = len(waiting)
        block = self._blocks[key]
        assert isinstance(block, PromptBlock)
        self._set(replace(block, is_queued=False, retired=why))
        if successor is not None:
            self._set(replace(successor, is_queued=True))
        return True

    def reorder_queued(self, keys: Sequence[str]) -> None:
        """Put the queued prompts into another order; other prompts are left out."""
        first = len(self._order) - self.queued
        waiting = self._order[first:]
        self._order[first:] = [
            *(key for key in keys if key in waiting),
            *(key for key in waiting if key not in keys),
        ]
        self._changed.update(waiting)

    def take_queued(self) -> None:
        """The agent has begun on the prompts that waited."""
        for key in self._order[len(self._order) - self.queued :]:
            prompt = self._blocks[key]
            if isinstance(prompt, PromptBlock):
                self._set(replace(prompt, is_queued=False))
        self.queued = 0

    def open_texts(self) -> list[TextBlock | ThoughtBlock]:
        blocks = [self._blocks[key] for key in sorted(self._open)]
        return [block for block in blocks if isinstance(block, TextBlock | ThoughtBlock)]

    def retire_keys(self) -> None:
        """Take the keys off errors and notices: something came after them."""
        for key in sorted(self._keyed):
            block = self._blocks[key]
            if isinstance(block, ErrorBlock | NoticeBlock):
                self._set(replace(block, keys=()))

    def _set(self, block: Block) -> None:
        self._blocks[block.id] = block
        self._changed.add(block.id)
        is_open = isinstance(block, TextBlock | ThoughtBlock) and block.is_open
        has_keys = isinstance(block, ErrorBlock | NoticeBlock) and bool(block.keys)
        for known, holds in ((self._open, is_open), (self._keyed, has_keys)):
            if holds:
                known.add(block.id)
            else:
                known.discard(block.id)

    def _place(self, behind: str | None, before: str | None) -> int:
        if behind is not None and behind in self._blocks:
            return self._order.index(behind) + 1
        if before is not None and before in self._blocks:
            return self._order.index(before)
        return len(self._order) - self.queued


MIN_GROUPED_CALLS = 2
"""Calls that make a run: one alone takes one line as well."""


class CompactView:
    """The runs of one conversation, and which of them are open."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._runs: dict[str, CallGroupBlock] = {}

    def toggle(self, run_id: str) -> None:
        """Open or fold a run; nothing for any other block."""
        if run_id in self._runs:
            self._open ^= {run_id}

    def open_for(self, block_id: str) -> bool:
        """Open the run that hides a block; False if none does."""
        call_id = block_id.partition(":")[2]
        for run in self._runs.values():
            if run.is_folded and call_id in run.call_ids:
                self._open.add(run.id)
                return True
        return False

    def fold(
        self, blocks: Sequence[Block], changed: Collection[str] | None
    ) -> tuple[Sequence[Block], Collection[str] | None]:
        """Return the blocks with calls grouped, and the ids that differ; `changed` None is all."""
        if changed is None:
            self._open.clear()
            self._runs.clear()
        before, self._runs = self._runs, {}
        shown = tuple(self._shown(blocks, before))
        if changed is None:
            return shown, None
        different = set(changed)
        for key in before.keys() | self._runs.keys():
            if before.get(key) is not self._runs.get(key):
                different |= _hidden_block_ids(before.get(key)) | _hidden_block_ids(self._runs.get(key))
        return shown, different

    def _shown(self, blocks: Sequence[Block], before: dict[str, CallGroupBlock]) -> Iterator[Block]:
        for turn in _blocks_by_turn(blocks):
            calls = [block for block in turn if isinstance(block, CallBlock) and _can_be_grouped(block)]
            if len(calls) < MIN_GROUPED_CALLS:
                yield from turn
                continue
            group = self._run(calls)
            known = before.get(group.id)
            run = known if known is not None and known == group else group
            self._runs[run.id] = run
            hidden = _hidden_block_ids(run) if run.is_folded else ()
            for block in turn:
                if block is calls[0]:
                    yield run
                if block.id not in hidden:
                    yield block

    def _run(self, calls: Sequence[CallBlock]) -> CallGroupBlock:
        key = f"run:{calls[0].call_id}"
        return CallGroupBlock(
            id=key, at=calls[-1].at, call_ids=tuple(call.call_id for call in calls),
            seconds=sum(call.ran_ms for call in calls) / 1000, is_folded=key not in self._open,
            place=_common_place(calls),
        )  # fmt: skip


def _common_place(calls: Iterable[CallBlock]) -> GroupPlace | None:
    places: set[Place] = {call.place for call in calls if call.place is not None}
    return "mixed" if len(places) > 1 else min(places, default=None)


def _blocks_by_turn(blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    begins = [index for index, block in enumerate(blocks) if isinstance(block, PromptBlock)]
    for first, after in pairwise([0, *begins, len(blocks)]):
        yield blocks[first:after]


def _can_be_grouped(call: CallBlock) -> bool:
    return call.sign == "ok" and not (call.note or call.refused)


def _hidden_block_ids(run: CallGroupBlock | None) -> set[str]:
    if run is None:
        return set()
    calls = {f"call:{key}" for key in run.call_ids} | {f"output:{key}" for key in run.call_ids}
    return {run.id} | calls
