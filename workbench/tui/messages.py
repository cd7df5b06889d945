"""What panes tell the screen: messages of one line each, routed by the main screen.

They say what the user wants or what was drawn; they never carry widgets.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from textual.message import Message

from workbench.domain.rows import Session
from workbench.domain.values import Approval, SeenBy, Taken
from workbench.records import dataclass
from workbench.views.blocks import Block, ErrorBlock
from workbench.views.detail import ActionDetail
from workbench.views.finding import Hit

if TYPE_CHECKING:
    from workbench.journal.decide import DecisionResult


@dataclass
class Decide(Message):
    """The user answers an action; `digest` is of what was drawn."""

    action_id: str
    verdict: Approval
    digest: str
    selection: tuple[Taken, ...] | None = None
    edited: dict[str, bytes] | None = None
    reason: str | None = None
    choice: str | None = None
    text: str | None = None
    seen: SeenBy | None = None
    """How much of it was on the screen, where it is approved."""


@dataclass
class Decided(Message):
    """What became of an answer."""

    action_id: str
    verdict: str
    result: "DecisionResult | None"
    error: str = ""


@dataclass
class Extend(Message):
    """The user gives an action 15 minutes more."""

    action_id: str


@dataclass
class Refresh(Message):
    """The user wants a stale action proposed anew."""

    action_id: str


@dataclass
class Undo(Message):
    """The user wants an applied change taken back."""

    action_id: str


@dataclass
class EditAction(Message):
    """The user wants to change a proposal in an editor."""

    action_id: str


class Hearing(Protocol):
    """What hears of a line that it asked for: a pane, a screen, or what asks for one."""

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Hear what is typed, and at last what was."""
        ...

    def line_dropped(self, purpose: str) -> None:
        """Hear that it was left with escape."""
        ...


@dataclass
class LineAsked(Message):
    """A pane needs a line of words; it replaces composer and footer.

    The pane hears it by `line_heard(purpose, text, is_final)`, and `line_dropped(purpose)` after escape.
    """

    pane: "Hearing"
    purpose: str
    """`reject`, `answer`, `filter`, `find`, `batch`: the pane's own word."""
    title: str
    right: str = ""
    """At the right end of the title: `the agent reads your reason`."""
    does: str = "do it"
    """What enter does, in the footer."""
    text: str = ""
    history: tuple[str, ...] = ()
    """Earlier lines, the newest first, for the up key."""
    is_armed: bool = False
    """Whether enter decides something: it counts only after 300 ms."""


@dataclass
class DetailWanted(Message):
    """The cursor of the queue came to an action (None: to nothing)."""

    action_id: str | None


@dataclass
class ToolWanted(Message):
    """The cursor of the tools came to a call (None: to nothing); answered by `show_detail(ToolShown)`."""

    call_id: str | None


@dataclass
class StepWanted(Message):
    """The cursor of the graph came to a step; answered by `show_step(ToolDetail)`."""

    step: str | None
    """As it is drawn: an item of a matrix and a fold have ids of their own."""
    is_opened: bool = False
    """Enter was pressed where there is no room for it: the pane is made large."""


@dataclass
class GateWanted(Message):
    """The user wants the queue's row of a gate."""

    action_id: str


@dataclass
class RunBeside(Message):
    """The user wants to see an older (-1) or newer (1) run."""

    step: int


RunWish = Literal["cancel", "retry", "from"]
"""What can be asked of a run: to end, to do a step again, to begin a new one from a step."""


@dataclass
class RunAsked(Message):
    """The user asks something of a run."""

    what: RunWish
    run: str
    step: str


@dataclass
class BatchAsked(Message):
    """The user wants the table of the marked actions; `verdict` is which answer was pressed."""

    verdict: Approval


@dataclass
class LaunchWanted(Message):
    """The user wants to start a pipeline."""


@dataclass
class ArtifactWanted(Message):
    """The user wants to open what the step under the cursor handed on; without a name the only one."""

    name: str = ""


@dataclass
class CompareWanted(Message):
    """The user wants the run on show beside another run of its pipeline."""


@dataclass
class SessionChosen(Message):
    """The user wants to see a session."""

    session_id: str


@dataclass
class ReplayWanted(Message):
    """The user wants to see a session again, from its beginning."""

    session_id: str


@dataclass
class ForkAsked(Message):
    """The user wants a session that goes on from the end of one; None is the one on show."""

    session_id: str | None
    block: Block | None = None
    """Not from its end, but from where this block of its conversation was done."""


@dataclass
class BesideWanted(Message):
    """The user wants to see a session beside the one on show."""

    session_id: str


@dataclass
class PromptSent(Message):
    """The user said something in the composer."""

    text: str


@dataclass
class Interrupt(Message):
    """The user stops the agent of the shown session."""


@dataclass
class Continue(Message):
    """The user lets the shown session go on."""


@dataclass
class Retry(Message):
    """The user asks the model again after an error."""


@dataclass
class GoTo(Message):
    """The user wants another place: its number (0 to 9)."""

    place: int


@dataclass
class BackToPane(Message):
    """Escape in the composer: the focus returns to the pane it came from."""


@dataclass
class NextPane(Message):
    """Tab in an empty composer: the focus goes on to the next pane."""


@dataclass
class FirstWaiting(Message):
    """The user wants the waiting action with least time (`ctrl+g`, enter in an empty composer)."""


@dataclass
class PartWanted(Message):
    """The reader of a long conversation came to where its shown part ends: `first earlier later end`."""

    where: str
    step: int = 0
    """Then go on to the next (1) or previous (-1) prompt or problem there."""


@dataclass
class FindAsked(Message):
    """The user looks for words in the conversation on show; answered by `ConversationPane.take_hits`."""

    text: str


@dataclass
class HitsFound(Message):
    """Some of the places that hold what is looked for."""

    session_id: str
    text: str
    hits: Sequence[Hit]
    is_whole: bool
    """Whether these were the last ones."""


@dataclass
class HitWanted(Message):
    """The reader wants to see a place that was found, in whichever part of the conversation it is."""

    hit: Hit


@dataclass
class OpenDetail(Message):
    """Enter in a list: deeper into what is under the cursor, by the id of its row."""

    pane: str
    row_id: str


@dataclass
class OpenStep(Message):
    """Enter on a step of a run: to that step in the graph."""

    step: str
    """Its id; empty for the run as it is."""


@dataclass
class Copy(Message):
    """The user copies a text."""

    text: str
    what: str


@dataclass
class PipeAsked(Message):
    """The user gives a text to a shell command that the screen asks for."""

    text: str


@dataclass
class Said(Message):
    """A sentence for the status row, for four seconds."""

    text: str
    is_error: bool = False
    is_kept: bool = True
    """Whether it is worth a line on the page of messages."""


@dataclass
class KeysChanged(Message):
    """What a key does or why it is off has changed: the footer is drawn again."""


@dataclass
class HunksShown(Message):
    """Parts of an action were on the screen whole: receipts."""

    action_id: str
    hunks: frozenset[int]
    gone: frozenset[int] = frozenset()
    """Parts that left the screen too early to count."""
    left: int = 0
    """Lines of the one part that is left which were not on the screen yet."""


@dataclass
class SourceChanged(Message):
    """The journal has new events; posted from the doorbell's thread."""


@dataclass
class CommandTyped(Message):
    """A `/command` of the composer, with what followed it."""

    name: str
    rest: str = ""


@dataclass
class LogWanted(Message):
    """The user wants to read what is known of an error."""

    error: ErrorBlock


@dataclass
class AlwaysAsked(Message):
    """The user wants to make a rule of an action."""

    detail: ActionDetail


@dataclass
class SessionWish(Message):
    """The user wants something done with sessions of the library."""

    what: str
    """`open`, `replay`, `go_on`, `fork`, `rename`, `tag`, `archive`, `end`, `delete`, `send`; `take` and
    `cancel` an import."""
    sessions: Sequence[Session]
    text: str | None = None
    """What was typed for it; None asks for it first."""


@dataclass
class PlaceLeft(Message):
    """The user wants to go back from a place that has the whole body to where they came from."""


@dataclass
class LibraryWanted(Message):
    """The user wants the library, narrowed by a filter."""

    text: str
