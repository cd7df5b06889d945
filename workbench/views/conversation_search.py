"""Search in a conversation: which blocks hold the words, and the one that the reader is at."""

# Finding reads events, not blocks. Every lasting event of a session is looked at from the newest back, in a
# thread, and only hits are kept; the part that a hit is in is folded when somebody goes there. What is
# folded opens while the reader is at it and closes again behind them.

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from msgspec import Struct

from workbench.domain import events as e
from workbench.domain.events import Event
from workbench.domain.values import Json
from workbench.views.conversation_blocks import Block, CallGroupBlock

MAX_SEARCH_CHARS: Final = 200


class BlockHit(Struct, frozen=True, kw_only=True):
    """A block that holds the words."""

    number: int
    at: int
    block_id: str


def block_hits(event: Event, wanted: str) -> list[BlockHit]:
    folded = wanted.casefold()
    return [
        BlockHit(number=event.sequence_number, at=event.at, block_id=block_id)
        for block_id, text in _searchable_texts(event)
        if folded in text.casefold()
    ]


def _searchable_texts(event: Event) -> Iterator[tuple[str, str]]:
    match event.body:
        case e.PromptSubmitted(text=text):
            yield f"prompt:{event.id}", text
        case e.ReplyCompleted():
            yield from _reply_texts(event, event.body)
        case e.ConversationCompacted(summary=summary):
            yield f"summary:{event.id}", summary
        case e.CallProposed(tool=tool, target=target):
            yield f"call:{event.call_id}", f"{tool} {target}"
        case e.CallFinished(preview=preview):
            yield f"output:{event.call_id}", preview
        case e.ActionRejected(reason=reason) | e.ActionApproved(reason=reason):
            yield f"call:{event.call_id}", reason or ""
        case e.ErrorRaised(message=message, details=details, remedy=remedy):
            yield f"error:{event.id}", f"{message}\n{details}\n{remedy}"
        case e.MarkAdded(label=label):
            yield f"notice:{event.id}", label
        case (
            # A suggested command is in the block of its reply, which has its words.
            e.TurnStarted() | e.TextStreamed() | e.ThinkingStreamed() | e.TurnEnded() | e.ProgressReported()
            | e.HookRan() | e.CommandSuggested() | e.CallExecuting() | e.ProcessStarted() | e.OutputStreamed()
            | e.FileChanged() | e.CallRepeated() | e.SandboxRefused() | e.SessionCreated()
            | e.SessionStatusChanged()
            | e.SessionChanged() | e.SessionDeleted() | e.LeaseTaken() | e.LeaseReleased()
            | e.AgentConnected() | e.AgentGone()
            | e.InterruptRequested()
            | e.PromptWithdrawn() | e.PromptsReordered()
            | e.ContinueRequested() | e.CompactionRequested() | e.RefreshRequested()
            | e.UndoRequested()
            | e.PatchRequested() | e.ForkRequested() | e.ContextCollected() | e.ActionOpened()
            | e.ActionExpired() | e.ActionSuperseded() | e.ActionCancelled() | e.ActionBecameStale()
            | e.AnswerRefused() | e.RuleAdded() | e.RuleUsed() | e.RuleRevoked() | e.RulePlaced()
            | e.WorkspaceTrusted()
            | e.WorkspaceTrustRevoked() | e.AgentsHeld()
            | e.AgentsReleased() | e.SecurityNoted() | e.RunRequested() | e.RunCancelRequested()
            | e.StepRetryRequested() | e.RunStarted() | e.RunChanged() | e.StepChanged() | e.ContractChecked()
            | e.ArtifactStored() | e.IncidentsListed() | e.IncidentsRequested() | e.IncidentsCancelRequested()
            | e.IncidentDismissed() | e.IncidentStarted() | e.IncidentChecked() | e.IncidentEnded()
            | e.Unknown()
        ):  # fmt: skip
            pass
        case _:
            assert_never(event.body)


def _reply_texts(event: Event, body: e.ReplyCompleted) -> Iterator[tuple[str, str]]:
    key = f"{event.turn_id}:{body.round}"
    yield f"thought:{key}", body.thinking
    yield f"text:{key}", body.text
    for call in body.calls:
        yield f"call:{call.call_id}", f"{call.tool} {_first_argument_text(call.arguments.values())}"


def _first_argument_text(values: Iterable[Json]) -> str:
    return next((value for value in values if isinstance(value, str)), "")


class ConversationSearch:
    """The hits of one search, as far as they are known, and the one the reader is at."""

    def __init__(self, text: str = "", place: int = 0) -> None:
        """Begin a search; `place` is the time of the last event on the screen, in microseconds."""
        self.text = text[:MAX_SEARCH_CHARS]
        self.is_whole = False
        """Whether every event was looked at."""
        self.current: BlockHit | None = None
        self.place = place
        self._by_block: dict[str, BlockHit] = {}
        self._hits: list[BlockHit] = []
        self._order: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._hits)

    def add(self, hits: Iterable[BlockHit], *, is_whole: bool = False) -> None:
        """Take hits in; a block counts once, by its earliest event."""
        self.is_whole = self.is_whole or is_whole
        for hit in hits:
            known = self._by_block.get(hit.block_id)
            if known is None or hit.number < known.number:
                self._by_block[hit.block_id] = hit
        self._hits = sorted(self._by_block.values(), key=lambda hit: hit.number)
        self._order = {hit.block_id: index for index, hit in enumerate(self._hits)}

    def first(self) -> BlockHit | None:
        """Return the last hit at or above the reader's place, else the first below; None until known."""
        above = [hit for hit in self._hits if hit.at <= self.place]
        if above:
            return above[-1]
        return self._hits[0] if self._hits and self.is_whole else None

    def next(self, step: int) -> BlockHit | None:
        """Return the next (1) or previous (-1) hit; None at the end."""
        if self.current is None:
            return self.first()
        index = self._order[self.current.block_id] + step
        return self._hits[index] if 0 <= index < len(self._hits) else None

    @property
    def number(self) -> int:
        """Return which hit the reader is at, from 1; 0 for none."""
        return 0 if self.current is None else self._order[self.current.block_id] + 1

    @property
    def words(self) -> str:
        """Return how many there are: `3 of 17`, with a plus while more may come."""
        if not self._hits:
            return "nothing" if self.is_whole else "looking"
        total = f"{len(self._hits):,}{'' if self.is_whole else '+'}"
        return f"{self.number:,} of {total}" if self.current else total


_TURN_END_EVENTS: Final = (e.TurnEnded, e.SessionStatusChanged, e.LeaseTaken, e.LeaseReleased)


def last_block_id(block: Block) -> str:
    """Return the block whose moment is meant: of calls that are folded together the last."""
    return f"call:{block.call_ids[-1]}" if isinstance(block, CallGroupBlock) else block.id


def last_event_of_block(pieces: Iterable[Sequence[Event]], block_id: str) -> Event | None:
    """Return the last event of a block, or the end of its turn; None if there is none or it still streams.

    `pieces` are lasting events of the session, the newest piece first.
    """
    ended: Event | None = None
    for events in pieces:
        for event in reversed(events):
            if _belongs_to_block(event, block_id):
                return ended or event
            if isinstance(event.body, e.TurnEnded):
                ended = event
            elif not isinstance(event.body, _TURN_END_EVENTS):
                ended = None
    return None


def _belongs_to_block(event: Event, block_id: str) -> bool:
    kind, _, name = block_id.partition(":")
    match kind:
        case "call" | "output":
            return event.call_id == name
        case "text" | "thought":
            return isinstance(event.body, e.ReplyCompleted) and name == f"{event.turn_id}:{event.body.round}"
        case _:
            return event.id == name
