"""The immutable state of a session's turn, folded by `reducer`; it holds no rule about what happens next.

`RepetitionCount` tells how often the same call ended the same way while nothing changed in between.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct, field

from workbench.domain.events import (
    ActionApproved,
    ActionRejected,
    CallFinished,
    ReplyCompleted,
    SessionCreated,
    UndoRequested,
)
from workbench.domain.machines import SETTLED_CALL_STATES, CallState, PauseReason, SessionStatus
from workbench.domain.values import BlobRef, FilePlan, GateVerdict, SelectedHunk

# What starts the count again: another result of the call; a written file; and anything else that may have
# changed the workspace, which is a command or an act that was not seen with this result before. So a
# test between two edits is never a loop, and neither is one between two different commands; two commands
# that take turns with the same results are. A word of the human starts everything again.


MOST_KEPT_CALLS: Final = 200
"""Different calls of a turn that are remembered; a longer loop is not noticed."""


class CountedCall(Struct, frozen=True):
    """The newest result of a call, and how often it came since something changed."""

    result: str
    times: int


class RepetitionCount(Struct, frozen=True):
    """The calls of a turn by their key, the one that ended last at the end."""

    calls: Mapping[str, CountedCall] = field(default_factory=dict[str, CountedCall])

    def with_call(self, key: str, result: str, *, may_change: bool) -> "RepetitionCount":
        """Return the count after a call ended; `may_change`: it may have changed the workspace unseen."""
        before = self.calls.get(key)
        is_same = before is not None and before.result == result
        times = before.times + 1 if before is not None and is_same else 1
        others = {name: call for name, call in self.calls.items() if name != key}
        if may_change and not is_same:
            others = {name: CountedCall(call.result, 0) for name, call in others.items()}
        if len(others) >= MOST_KEPT_CALLS:
            del others[next(iter(others))]
        return RepetitionCount({**others, key: CountedCall(result, times)})

    def times(self, key: str) -> int:
        """Return how often a call ended with its newest result since something changed."""
        call = self.calls.get(key)
        return call.times if call else 0


NOTHING_COUNTED: Final = RepetitionCount()


def repetition_digest(*facts: object) -> str:
    """Return a digest of plain values, for comparing calls and results with one another."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def repetition_note(times: int) -> str:
    """Return what a model is told in the result of a call that repeats itself."""
    return (
        f"Note of the workbench: this exact call has now given this exact result {times} times in this turn."
        " Do something else, or say what keeps you from it."
    )


TurnPhase = Literal["calling", "unanswered", "answered"]
"""A model call runs; it ended with its driver and without a reply; the reply of this round is there."""


class PromptItem(Struct, frozen=True, kw_only=True):
    """What a human said."""

    text: str
    text_ref: BlobRef | None = None


class QueuedPrompt(Struct, frozen=True, kw_only=True):
    """A prompt that no turn has begun with."""

    id: str
    """Of its event."""
    prompt: PromptItem
    is_withdrawable: bool = True
    """Whether a human wrote it; false for one that the program made for an incident or an expired action."""


UndoExtent = Literal["call", "calls", "redo"]
"""Whether one call was taken back, several at once, or what had been taken back was made again."""


class UndoneChange(Struct, frozen=True, kw_only=True):
    """A change of the agent that the user took back: its files are as they were before the call."""

    paths: tuple[str, ...]
    removed: tuple[str, ...] = ()
    """Those of them that are not there any more, because the call had created them."""
    provider_call_id: str = ""
    """The call under the id that the model knows; empty where it is not known any more."""
    tool: str = ""
    extent: UndoExtent = "call"


class ReplyNote(Struct, frozen=True, kw_only=True):
    """What this program did with a model's reply, as a sentence for the model."""

    text: str


class AppliedRest(Struct, frozen=True, kw_only=True):
    """A change of the agent of which the user applied more, or all again, by a call of its own."""

    paths: tuple[str, ...]
    provider_call_id: str = ""
    """The agent's call under the id that the model knows; empty where it is not known any more."""
    tool: str = ""
    is_whole: bool = True
    """Whether everything that was proposed of it the second time was taken."""


UserItem = PromptItem | UndoneChange | ReplyNote | AppliedRest
"""What a model call says on the user's side."""


class UserMessage(Struct, frozen=True, kw_only=True):
    """Prompts, and notes of undone changes, that went to the model as one message."""

    prompts: tuple[UserItem, ...]


class TurnCall(Struct, frozen=True, kw_only=True):
    """A tool call as the machine sees it."""

    id: str
    provider_call_id: str
    tool: str
    """The wire name from the reply; what the gate made of it once it has spoken."""
    state: CallState = "pending"
    verdict: GateVerdict | None = None
    """None until the gate has spoken."""
    on_top_of: tuple[tuple[str, int], ...] = ()
    """(call id, revision) of the earlier proposals that this one was computed on."""
    undoes: str = ""
    """The call whose change this one takes back; empty where it takes back those of several."""
    undo_extent: UndoExtent = "call"
    plan: tuple[FilePlan, ...] = ()
    """What it would do to files, kept for a call that takes a change back."""
    reopens: str = ""
    """The approved action of which it proposes what the files lack; empty for any other call."""
    revision: int = 0
    """Rises whenever the call is proposed with other bytes."""
    action_id: str | None = None
    is_stale: bool = False
    is_orphaned: bool = False
    """It was executing when its driver was lost."""
    has_begun: bool = False
    has_process: bool = False
    """It started a command, which may have changed files that nobody noted."""
    approval: ActionApproved | None = None
    rejection: ActionRejected | None = None
    finished: CallFinished | None = None
    key: str = ""
    """Names tool and parameters, once the gate has spoken."""
    times: int = 0
    """How often it ended so since something changed or the human spoke; 0 until it is settled."""
    repeats: int = 0
    """`times` as it was noted for the model; 0 where nothing was."""

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED_CALL_STATES

    @property
    def is_altered(self) -> bool:
        hunks_left = self.finished.hunks_left if self.finished else ()
        return bool(hunks_left) or self.is_edited or any(t.lines is not None for t in self.selection)

    @property
    def is_edited(self) -> bool:
        return self.approval is not None and bool(self.approval.edited)

    @property
    def selection(self) -> tuple[SelectedHunk, ...]:
        """The hunks that a human chose; empty where all were taken."""
        return (self.approval.selection or ()) if self.approval else ()

    @property
    def was_done_as_shown(self) -> bool:
        return self.state == "succeeded" and not self.is_altered


class ModelReply(Struct, frozen=True, kw_only=True):
    """A model's reply with its calls as they stand; a call that replaces another has its place."""

    body: ReplyCompleted
    calls: tuple[TurnCall, ...] = ()


class ConversationHistory(Struct, frozen=True, eq=False):
    """A linked list of what was said; appending copies nothing."""

    item: UserMessage | ModelReply
    before: "ConversationHistory | None" = None

    def __iter__(self) -> Iterator[UserMessage | ModelReply]:
        link: ConversationHistory | None = self
        while link is not None:
            yield link.item
            link = link.before

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversationHistory) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Turn(Struct, frozen=True, kw_only=True):
    """The open turn."""

    id: str
    round: int = 1
    phase: TurnPhase = "calling"
    is_interrupted: bool = False
    is_followed: bool = False
    """A human spoke after the interrupt, so the pause after it is already answered."""
    limit: str = ""
    """What limit stops it, in words; empty while none does."""
    worked: int = 0
    """Microseconds that it has worked, without what `working_since` adds."""
    working_since: int | None = None
    """When its clock was started; None while it stands."""
    ended_calls: RepetitionCount = NOTHING_COUNTED
    takes_prompts: bool = False
    """A prompt resumed the lost turn: what waits joins its next model call."""


class TurnState(Struct, frozen=True, kw_only=True):
    """The fold of one session's events."""

    session_id: str = ""
    created: SessionCreated | None = None
    status: SessionStatus | None = None
    pause: PauseReason | None = None
    is_held: bool = False
    """No model call until a human speaks."""
    is_lost: bool = False
    """Held because a driver died with a turn open."""
    has_human_word: bool = False
    """A human spoke and no driver has said anything since: the next one may go on at once."""
    expected_pause: PauseReason | None = None
    """The pause whose cause has been folded; its own event must not undo what a human said since."""
    wants_turn: bool = False
    is_continued: bool = False
    """Whether a human asked to continue, so that a turn is wanted with or without a prompt."""
    turn: Turn | None = None
    history: "ConversationHistory | None" = None
    """What was said before the newest reply, the newest first."""
    reply: ModelReply | None = None
    """The newest reply; its calls are the ones that move."""
    since_reply: tuple[UserItem, ...] = ()
    """What belongs to the conversation and came after the newest reply."""
    queued_prompts: tuple[QueuedPrompt, ...] = ()
    """Prompts that no turn has taken up yet."""
    untold_notes: tuple[UndoneChange | ReplyNote | AppliedRest, ...] = ()
    """What happened to the agent's work and no model call has told yet."""
    unannounced_calls: tuple[TurnCall, ...] = ()
    """Open calls that no reply announced: those that a human asked for."""
    leftover_calls: tuple[TurnCall, ...] = ()
    """Open calls of a reply that another one followed; nothing of them may run."""
    lease: tuple[str, int] | None = None
    is_released: bool = False
    refreshes: tuple[str, ...] = ()
    reopenings: tuple[tuple[str, str], ...] = ()
    """(approved action, request event id) of what a human wants proposed again and is not yet."""
    undos: tuple[tuple[str, str, UndoRequested], ...] = ()
    """(action id or nothing, request event id, request) not yet proposed."""
    patches: tuple[str, ...] = ()
    """Ids of the requests for patches that are not yet proposed."""
    used_exchanges: frozenset[int] = frozenset()
    compaction: str | None = None
    """What a human said who asked for a summary of the conversation; None: nobody asked."""
    is_compaction_begun: bool = False
    has_failed_compaction: bool = False
    """No summary came of the conversation as it is: none is tried again by itself."""

    @property
    def calls(self) -> tuple[TurnCall, ...]:
        return self.reply.calls if self.reply else ()

    @property
    def is_active(self) -> bool:
        """Return whether the calls of the newest reply may still be proposed and run."""
        turn = self.turn
        return turn is not None and turn.phase == "answered" and not turn.is_interrupted

    @property
    def unsent(self) -> tuple[UserItem, ...]:
        """What the next model call says on the user's side for the first time."""
        takes = self.turn is None or self.turn.takes_prompts
        is_calling = self.turn is not None and self.turn.phase == "calling"
        notes = () if is_calling else self.untold_notes
        queued = tuple(queued.prompt for queued in self.queued_prompts) if takes else ()
        return (*self.since_reply, *notes, *queued)

    @property
    def is_undoing(self) -> bool:
        """Whether a human's request changes files now: the model is asked after that."""
        return bool(self.undos) or self.is_request_running

    @property
    def is_request_running(self) -> bool:
        """Whether a call that a human asked for runs or is about to; not one that waits for an answer."""
        return any(call.state in ("approved", "executing") for call in self.unannounced_calls)

    @property
    def has_news(self) -> bool:
        return bool(self.calls) or any(isinstance(item, PromptItem) for item in self.unsent)

    def every_call(self) -> tuple[TurnCall, ...]:
        """Return all calls that can still move, and the settled ones of the newest reply."""
        return (*self.calls, *self.unannounced_calls, *self.leftover_calls)

    def call(self, call_id: str | None) -> TurnCall | None:
        return next((call for call in self.every_call() if call.id == call_id), None)

    def earlier_call(self, call_id: str = "", action_id: str = "") -> TurnCall | None:
        """Return a call of the whole conversation by id or by the action that asked about it."""
        newest = ConversationHistory(self.reply, self.history) if self.reply else self.history
        calls = (call for item in newest or () if isinstance(item, ModelReply) for call in item.calls)
        return next((c for c in calls if c.id == call_id or (action_id and c.action_id == action_id)), None)

    def call_of(self, action_id: str | None) -> TurnCall | None:
        """Return the call that an action asks about now."""
        if action_id is None:
            return None
        return next((call for call in self.every_call() if call.action_id == action_id), None)
