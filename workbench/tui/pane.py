"""What every pane is: its base class, the records it is shown, and the messages it sends.

A pane takes its keys from the table; a key that is off says why. Panes know no other pane: the main screen
handles their messages.
"""

# What is rarely shown is made when it is shown. The line at the bottom, toasts, completions, a call and a
# step in full, heads and changed files are properties that mount their widget at the first use (`Pane.put`
# for parts over another one): a widget that is made and then hidden costs a start a millisecond. The
# journal's writing side is made with the first thing that is written, and loaded behind the first frame for
# the first answer.

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from msgspec import Struct, field
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.domain.rows import Action, Call, Session
from workbench.domain.values import Decision
from workbench.text.human import sentence
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyOwner
from workbench.tui.widgets.line_view import JumpTarget, LineView, RowList
from workbench.tui.widgets.pane_frame import PaneTitle
from workbench.views.approvals import NO_FOLDER, Folder, FolderNames

if TYPE_CHECKING:
    from textual.widgets import Static

    from workbench.domain.events import Event
    from workbench.journal.decisions import DecisionResult
    from workbench.tui.main.context import MainContext
    from workbench.views.conversation import Transcript
    from workbench.views.conversation_blocks import ErrorBlock, TurnSummary
    from workbench.views.conversation_progress import CommandProgress
    from workbench.views.conversation_search import BlockHit
    from workbench.views.pipeline import PipelineRun
    from workbench.views.sessions import ChangedFile, HeaderFacts, RunTotals
    from workbench.views.sub_agents import SubAgent
    from workbench.views.welcome import WelcomeFacts


class _SessionMessage(Message):
    def __init__(self, session_id: str) -> None:
        super().__init__()
        self.session_id = session_id


class _TextMessage(Message):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class DecisionMade(Struct, kw_only=False, eq=False):
    """The user answers an action."""

    decision: Decision
    """Its bytes are not sealed yet, see `changes/decision.py:seal_decision`."""
    digest: str
    """Of what was drawn."""
    edited: Mapping[str, bytes] | None = None
    """The user's own text of a proposal, by path."""


@dataclass(eq=False, repr=False)
class DecisionReported(Message):
    """What became of an answer."""

    action_id: str
    verdict: str
    result: "DecisionResult | None"
    error: str = ""


class LineListener(Protocol):
    """What hears of a line that it asked for: a pane, a screen, or what asks for one."""

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Hear what is typed, and at last what was."""
        ...

    def line_dropped(self, purpose: str) -> None:
        """Hear that it was left with escape."""
        ...


@dataclass(eq=False, repr=False)
class LineWanted(Message):
    """A pane needs a line of words; it replaces composer and footer.

    The pane hears it by `line_heard(purpose, text, is_final)`, and `line_dropped(purpose)` after escape.
    """

    pane: "LineListener"
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


class DetailWanted(Message):
    """The cursor of the queue came to an action (None: to nothing)."""

    def __init__(self, action_id: str | None) -> None:
        super().__init__()
        self.action_id = action_id


class ToolWanted(Message):
    """The cursor of the tools came to a call (None: to nothing); answered by `show_detail`."""

    def __init__(self, call_id: str | None) -> None:
        super().__init__()
        self.call_id = call_id


@dataclass(eq=False, repr=False)
class StepWanted(Message):
    """The cursor of the graph came to a step; answered by `show_step`."""

    step: str | None
    """As it is drawn: an item of a matrix and a fold have ids of their own."""
    is_opened: bool = False
    """Enter was pressed where there is no room for it: the pane is made large."""


RunRequestKind = Literal["cancel", "retry", "from"]
"""What can be asked of a run: to end, to do a step again, to begin a new one from a step."""


class SessionChosen(_SessionMessage):
    """The user wants to see a session."""


class PromptSent(_TextMessage):
    """The user said something in the composer."""


@dataclass(eq=False, repr=False)
class QueuedPromptEdited(Message):
    """The user edited a queued message of a session; an empty text takes it back."""

    session_id: str
    prompt_id: str
    text: str


class StopAgent(Message):
    """The user stops the agent of the shown session."""


class ContinueSession(Message):
    """The user lets the shown session go on."""


class RetryModelCall(Message):
    """The user asks the model again after an error."""


class PlaceWanted(Message):
    """The user wants another place, by its number."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


class BackToPane(Message):
    """Escape in the composer: the focus returns to the pane it came from."""


class NextPane(Message):
    """Tab in an empty composer: the focus goes on to the next pane."""


class FirstWaiting(Message):
    """The user wants the waiting action with least time (`ctrl+g`, enter in an empty composer)."""


@dataclass(eq=False, repr=False)
class TranscriptPartWanted(Message):
    """The reader of a long conversation came to where its shown part ends: `first earlier later end`."""

    where: str
    step: int = 0
    """Then go on to the next (1) or previous (-1) prompt or problem there."""


@dataclass(eq=False, repr=False)
class SearchHitsFound(Message):
    """Some of the places that hold what is looked for."""

    session_id: str
    text: str
    hits: "Sequence[BlockHit]"
    is_whole: bool
    """Whether these were the last ones."""


@dataclass(eq=False, repr=False)
class OpenDetail(Message):
    """Enter in a list: deeper into what is under the cursor, by the id of its row."""

    pane: str
    row_id: str


@dataclass(eq=False, repr=False)
class StepOpened(Message):
    """Enter on a step of a run: to that step in the graph."""

    step: str
    """Its id; empty for the run as it is."""


@dataclass(eq=False, repr=False)
class CopyText(Message):
    """The user copies a text."""

    text: str
    what: str


class PipeWanted(_TextMessage):
    """The user gives a text to a shell command that the screen asks for."""


@dataclass(eq=False, repr=False)
class StatusMessage(Message):
    """A sentence for the status row, for four seconds."""

    text: str
    is_error: bool = False
    is_kept: bool = True
    """Whether it is worth a line on the page of messages."""
    about: str = ""
    """The action that it says how to answer; it is gone once another row is under the cursor."""


class AnswerEnded(Message):
    """An action was answered, or is no longer the one that keys answer: advice about it is out of date."""

    def __init__(self, following: str | None = None) -> None:
        super().__init__()
        self.following = following
        """The action that keys answer now."""


class KeysChanged(Message):
    """What a key does or why it is off has changed: the footer is drawn again."""


@dataclass(eq=False, repr=False)
class PartsSeen(Message):
    """Parts of an action were on the screen whole: receipts."""

    action_id: str
    hunks: frozenset[int]
    gone: frozenset[int] = frozenset()
    """Parts that left the screen too early to count."""
    left: int = 0
    """Lines of the one part that is left which were not on the screen yet."""


class JumpWanted(Message):
    """The user wants letters on what is on the screen: the next key goes there."""


class SourceChanged(Message):
    """The journal has new events; posted from the notifier's thread."""


@dataclass(eq=False, repr=False)
class CommandTyped(Message):
    """A `/command` of the composer, with what followed it."""

    name: str
    rest: str = ""


class LogWanted(Message):
    """The user wants to read what is known of an error."""

    def __init__(self, error: "ErrorBlock") -> None:
        super().__init__()
        self.error = error


SessionVerb = Literal[
    "open", "replay", "beside", "go_on", "fork", "undo", "diff", "resume", "rename", "tag", "archive", "end",
    "delete", "send", "take",
]  # fmt: skip
"""What is done with sessions; `take` imports some."""


class SessionRequest(Struct, eq=False):
    """The user wants something done with sessions of the library."""

    what: SessionVerb
    sessions: Sequence[Session]
    text: str | None = None
    """What was typed for it; None asks for it first."""


class ConversationModel(Struct, frozen=True, kw_only=True):
    """The conversation of one session."""

    session: Session | None
    """None: there is no session yet, or the next message begins one."""
    transcript: "Transcript"
    """Folded already; the same object as before while the session is the same."""
    changed: frozenset[str] | None
    """Ids of blocks that changed since the last `show`; None: another session, draw everything."""
    now: int
    welcome: "WelcomeFacts | None" = None
    """The first page, where there is no session to show."""
    folder: Folder = NO_FOLDER
    """Where its agent works."""
    part: str = ""
    """Which part of a long conversation is shown, where it is not the end."""
    is_driven: bool = True
    """Whether a living process drives the session; else nothing of it counts on."""
    waiting: int = 0
    """Questions of the session that wait, also those that are about none of its calls."""


class ToolsModel(Struct, frozen=True, kw_only=True):
    """The calls of the session on show."""

    session: Session | None
    calls: Sequence[Call]
    actions: Mapping[str, Action]
    """By id: those that calls name."""
    now: int
    earlier: int = 0
    """Calls that came before these and are not listed."""
    turn: "TurnSummary | None" = None
    """The turn in view of the conversation: a small pane shows its calls only; None shows all."""
    turns: "Sequence[TurnSummary]" = ()
    commands: "Mapping[str, CommandProgress]" = field(default_factory=lambda: {})
    """Commands that run, by the id of their call."""
    agents: "Mapping[str, SubAgent]" = field(default_factory=lambda: {})
    """What the agents have done that calls began, by the id of the call."""
    moment: str | None = None
    """The call that something happened to last, which is followed."""
    names: "Mapping[str, str] | None" = None
    """The titles of the sessions by id, where the calls are those of all sessions; else None."""


class CallDetailModel(Struct, frozen=True, kw_only=True):
    """One call in full; what `ToolsPane.show_detail` is given after `messages.ToolWanted`."""

    call: Call
    action: Action | None
    events: "Sequence[Event]"
    """Of the call."""
    output: str | None = None
    """Its whole recorded output, if it is kept."""


class ComposerModel(Struct, frozen=True, kw_only=True):
    """Whom a message would go to."""

    session: Session | None
    has_model: bool = True
    is_working: bool = False
    """The agent works: a message is queued."""
    workspace: str = ""
    """Where its agent works, if that is not the folder of the screen."""
    folder: str = ""
    """The name of that folder."""
    queue: Sequence[tuple[str, str]] = ()
    """The queued messages, the first to be sent first: the id of the event, and the text."""
    mode: str = "asks before every call"
    """At the right end while nothing is typed; a reminder such as `2 marked, a opens the table`."""
    now: dict[str, str] = field(default_factory=dict[str, str])
    """Command, and what it would change."""


class QueueModel(Struct, frozen=True, kw_only=True):
    """Everything that waits and what was decided lately."""

    actions: Sequence[Action]
    sessions: Mapping[str, Session]
    now: int
    calls: Mapping[str, Call] = field(default_factory=dict[str, Call])
    """By id: those that decided actions name."""
    hunk_sizes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """By id of actions that were taken in part: the changed lines of each hunk."""
    ruled: Sequence[Call] = ()
    """Calls of the session on show that a rule let pass."""
    undone: Collection[str] = frozenset[str]()
    """Ids of actions whose changes were taken back."""
    blocked: Collection[str] = frozenset[str]()
    """Ids of approved actions whose calls wait for one before them."""
    folders: Mapping[str, Folder] = field(default_factory=dict[str, Folder])
    """Of each row its folder, by the row's id, where folders are told apart."""
    is_wide: bool = False
    """Whether what waits in all folders is listed."""
    whose: str = ""
    """Whose what waits is, where not all of it belongs to the session on show: `of 3 sessions`."""
    elsewhere: int = 0
    """How many wait in folders that are not listed."""
    has_times: bool = True
    """Whether times were recorded."""
    changed: frozenset[str] = frozenset()
    """Ids of actions that changed since the last `show`."""


class SidebarModel(Struct, frozen=True, kw_only=True):
    """The sessions, what the one on show changed, and its facts."""

    sessions: Sequence[Session]
    actions: Sequence[Action]
    current: Session | None
    now: int
    turns: int = 0
    run: "RunTotals | None" = None
    """What the steps of the run on show come to; None for any other session."""
    seconds: int | None = None
    """How long the turn of the one on show has worked; None while it does not."""
    asks: str = "every call"
    sandbox: str = ""
    """The sandbox of the one on show, where it is not the one that most have."""
    rules: int = 0
    changed_files: "Sequence[ChangedFile]" = ()
    folders: FolderNames | None = None


class HeaderModel(Struct, frozen=True, kw_only=True):
    """The header."""

    facts: "HeaderFacts"


class PipelineModel(Struct, frozen=True, kw_only=True):
    """The run on show, or that there is none."""

    run: "PipelineRun | None" = None
    before: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds by step id of the last completed run of the same pipeline."""
    newer: str = ""
    """The title of a run that goes on and is newer than the one on show; empty where there is none."""
    every_run: "Sequence[PipelineRun] | None" = None
    """The runs of all sessions, where the pane lists them; else None."""
    whose: str = ""
    """That the run does not belong to the session on show: `not this session`; else empty."""
    found: int | None = 0
    """How many pipelines there are in the workspace; None while nobody has looked."""


class Pane(Vertical, KeyOwner):
    """A numbered place of the main screen.

    A subclass sets `PLACE`, `NAME`, `SCOPES` and `BINDINGS = keymap.bindings(*SCOPES)`, composes its body and
    implements `show`.
    """

    DEFAULT_CSS = "Pane { background: $background; }"

    PLACE: ClassVar[int] = 0
    NAME: ClassVar[str] = ""
    TAB: ClassVar[str] = ""
    """The name in the tab row, when it is shorter."""
    SCOPES: ClassVar[tuple[str, ...]] = ("list",)
    """Scopes of the key table whose keys this pane can take, inner ones first."""
    MARKS_REFUSED_LETTERS = True
    MOVING: ClassVar[frozenset[str]] = frozenset()
    """Keys that only move: what the others do stays the same, and the footer is not made anew for them."""

    text_filter: str = ""
    """By which its rows are filtered; escape clears it, as `line_dropped`."""

    main: "MainContext"
    """What it shares with its screen, which sets it; a pane of a comparison has none."""
    hint: "Static"
    """What is said under it; only a place that is made at its first visit has one."""

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(id=key)
        self.title_row = PaneTitle(self.NAME, self.PLACE)
        self.title_row.set_class(True, "-pane-title", update=False)

    def compose(self) -> ComposeResult:
        """Yield the title and the body."""
        yield self.title_row
        self.follow_list()
        yield from self.compose_body()

    @property
    def list_view(self) -> LineView | None:
        """Return the list whose title says what of it is not on the screen."""
        return None

    def follow_list(self) -> None:
        """Let the title say what of the list is not on the screen."""
        if (view := self.list_view) is not None:
            self.title_row.follow(view)

    @abstractmethod
    def compose_body(self) -> Iterable[Widget]:
        """Yield what is below the title row."""

    @staticmethod
    def put(part: Widget, above: Widget, *, is_shown: bool) -> None:
        """Show a part over another one, or hide it; what was never shown is not among the widgets yet."""
        if part.parent is not None:
            part.display = is_shown
        elif is_shown and isinstance(above.parent, Widget):
            above.parent.mount(part, before=above)

    def left_for(self, place: int) -> None:
        """Prepare another place, to which the user goes from here by its key."""

    @abstractmethod
    def show(self, view: Any) -> None:
        """Take a new view; the pane's one input."""

    @property
    @abstractmethod
    def focus_view(self) -> Widget:
        """Return the widget that has the focus when the pane has it."""

    @property
    def has_pane_focus(self) -> bool:
        """Return whether the focus is anywhere in this pane."""
        return self.has_focus_within

    def set_title(
        self, facts: Content | None = None, right: Content | None = None, name: str | None = None
    ) -> None:
        """Say something beside the pane's name and at the right end of its title."""
        self.title_row.show(facts, right, name)

    def jump_targets(self) -> Iterator[JumpTarget]:
        """Yield what letters lead to here, by cells of the screen: the pane, and what its views show."""
        title = self.title_row.region
        if title.area:
            yield JumpTarget(title.offset, self.focus_view.focus)
        for view in self.walk_children(LineView):
            keys = view if view.focusable else self.focus_view
            for target in view.jump_targets() if view.region.area else ():
                yield JumpTarget(view.region.offset + target.at, partial(_jump, keys, target))

    @property
    def is_folded(self) -> bool:
        """Return whether there is room for its title only."""
        return self.size.height <= 1

    def tick(self, now: int) -> None:
        """Be told of a new second while something is pending or runs; `now` in microseconds."""

    # --- what list keys ask for; panes override what they have -------------------------------------

    def move(self, rows: int) -> None:
        """Move the cursor by rows, or scroll by them where there is no cursor."""
        view = self.focus_view
        if isinstance(view, RowList):
            view.move(rows)
        elif isinstance(view, LineView):
            view.scroll_to_line(view.first_line + rows)

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last row."""
        view = self.focus_view
        if isinstance(view, RowList):
            view.move_to_end(is_last=is_last)
        elif isinstance(view, LineView):
            view.scroll_to_line(view.line_count if is_last else 0)

    def scroll_half(self, direction: int) -> None:
        """Scroll half a page of the pane's larger part, down (1) or up (-1)."""
        view = self.focus_view
        if isinstance(view, LineView):
            self.move(direction * max(1, view.size.height // 2))

    def move_to_problem(self, step: int) -> None:
        """Go to the next (1) or previous (-1) row that waits or failed."""
        del step

    FILTER_TITLE: ClassVar[str] = ""
    FILTER_HINT: ClassVar[str] = ""
    """What can be typed, at the right end of the line's title."""

    def ask_filter(self) -> None:
        """Open the line in which the pane's rows are filtered."""
        title, hint = self.FILTER_TITLE, self.FILTER_HINT
        self.post_message(LineWanted(self, "filter", title, hint, "filter", text=self.text_filter))

    def filter_by(self, text: str) -> None:
        """Show the rows that pass a filter."""
        if text != self.text_filter:
            self.text_filter = text
            self.lay_out()

    def lay_out(self) -> None:
        """Show again the rows that pass the filter."""

    def next_order(self) -> None:
        """Take the next order of rows and say which."""

    def open_row(self) -> None:
        """Go deeper into the row under the cursor."""

    def copy_text(self) -> str:
        """Return what `y` copies and `|` pipes: path, command or text under the cursor."""
        return ""

    def copy_row(self) -> None:
        """Copy what is under the cursor."""
        text = self.copy_text()
        self.post_message(CopyText(text, "") if text else StatusMessage(_NOTHING_TO_COPY))

    def pipe_row(self) -> None:
        """Give what is under the cursor to a command."""
        text = self.copy_text()
        self.post_message(PipeWanted(text) if text else StatusMessage(_NOTHING_TO_COPY))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        """Called with the text of the line that a `LineWanted` asked for, at each change and at the end."""
        if purpose == "filter":
            self.filter_by(text.strip())
        elif is_final:
            self.line_answered(purpose, text)

    def line_answered(self, purpose: str, text: str) -> None:
        """Called with what was typed for another purpose than the filter."""

    def line_dropped(self, purpose: str) -> None:
        """Called when the line was left with escape."""
        if purpose == "filter":
            self.filter_by("")

    # --- keys -----------------------------------------------------------------------------------

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes in force now, inner ones first; a mode adds or removes some."""
        return self.SCOPES

    MARKS: ClassVar[tuple[str, tuple[tuple[str, str], ...]]] = ("", ())
    """A heading, and marks of its rows with their meanings, for the page of keys."""
    ONE_ORDER: ClassVar[str] = ""
    """Why its rows have no other order; empty where they have."""
    NO_FILTER: ClassVar[str] = ""
    """Why its rows cannot be filtered."""
    NO_PROBLEMS: ClassVar[str] = ""
    """Why there is no next row that waits or failed."""

    def why_no_row(self) -> str:
        """Return why keys that are about rows do nothing; empty while there is a row."""
        return ""

    def why_not_open(self) -> str:
        """Return why there is nothing to open; empty when there is."""
        return self.why_no_row()

    def why_off(self, key_id: str) -> str:
        """Return why a key does nothing now; empty when it is on."""
        return keymap.key_of(key_id).why_off(self)

    forbids: Callable[[str], str] | None = None
    """Returns why a screen wants none of a key, empty where it does: in a replay nothing is answered."""

    is_claimed: Callable[[str], bool] | None = None
    """Returns whether the screen offers the press of a key for something else, see `FirstPage.is_claimed`."""

    is_past: bool = False
    """Whether it shows a recording: then it does not say how something is begun or answered."""
    is_compared: bool = False
    """Whether it shows one of two sessions side by side: then it has no `main`."""

    def why_not(self, key_id: str) -> str:
        """Return why a key does nothing now, for the screen or for the pane; empty when it is on."""
        return (self.forbids(key_id) if self.forbids else "") or self.why_off(key_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let only keys of scopes in force through, so that one key may mean another thing in a mode."""
        if action != "do":
            return super().check_action(action, parameters)
        key_id = str(parameters[0])
        return keymap.is_innermost_key(key_id, self.scopes()) and not self._gives_way(key_id)

    def _gives_way(self, key_id: str) -> bool:
        """Return whether a key that does nothing now leaves its press to the screen, which offers it."""
        return self.is_claimed is not None and self.is_claimed(key_id) and bool(self.why_not(key_id))

    def refuse(self, why: str) -> None:
        self.post_message(StatusMessage(sentence(why)))

    def after_key(self, key_id: str) -> None:
        if key_id not in self.MOVING:
            self.post_message(KeysChanged())

    def on_descendant_focus(self) -> None:
        """Show in the title that the keys count here."""
        self.title_row.set_focused(True)

    def on_descendant_blur(self) -> None:
        """Show in the title that they do not any more, unless the focus only went elsewhere in here."""
        self.title_row.set_focused(self.has_pane_focus)


def _jump(keys: Widget, target: JumpTarget) -> None:
    keys.focus()
    target.go()


_NOTHING_TO_COPY = "There is nothing to copy under the cursor."
