"""The conversation pane: what was said, thought, called and noticed, search in it, and its keys."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from textual import on
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from workbench.domain.events import Event
from workbench.domain.machines import LOST
from workbench.domain.rows import Session
from workbench.render.cells import safe_content
from workbench.render.list_rows import agent_sign, folder_prefix
from workbench.text.human import countdown_text
from workbench.text.safe import one_line
from workbench.tui import render_context, transcript_window
from workbench.tui.conversation.transcript_view import TranscriptView
from workbench.tui.conversation.turn_list import TurnNavigation
from workbench.tui.keyboard import keymap
from workbench.tui.pane import (
    ConversationModel,
    KeysChanged,
    LineWanted,
    LogWanted,
    OpenDetail,
    Pane,
    SearchHitsFound,
    StatusMessage,
    StepOpened,
    TranscriptPartWanted,
)
from workbench.tui.places import place_number
from workbench.tui.widgets.line_view import RowList
from workbench.views.approvals import NO_FOLDER
from workbench.views.conversation import Transcript
from workbench.views.conversation_blocks import (
    Block,
    CallBlock,
    CallGroupBlock,
    CompactView,
    ErrorBlock,
    NoticeBlock,
    OutputBlock,
    ProgressBlock,
    PromptBlock,
    StepBlock,
    TextBlock,
    ThoughtBlock,
)
from workbench.views.data_source import DataSource
from workbench.views.sessions import session_title
from workbench.views.status_icons import session_status
from workbench.views.supervised import Subject, why_not_asked

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState
    from workbench.views.conversation_search import BlockHit, ConversationSearch
    from workbench.views.welcome import WelcomeFacts

_WHOLE_SESSION: Final = 1_000_000

_TURN_AND_STATE_CELLS: Final = 60
"""Cells of the pane from which its title has the turn behind the state of a supervised agent."""
_NEXT_MESSAGE_LINES: Final = ("Write below what you want done;", "enter sends it.")


class ConversationPresenter(Protocol):
    """What shows other parts of the conversation, and what depends on the turn in view."""

    state: "ScreenState"

    @property
    def is_driven(self) -> bool:
        """Return whether a process drives the session."""
        ...

    def tools(self) -> None:
        """Show the calls of the turn in view."""

    def another_part(self) -> None:
        """Show the part that the state keeps now."""

    def part(self, wanted: TranscriptPartWanted) -> None:
        """Read the part before or behind the one on show."""


class ConversationPane(Pane):
    """Place `conversation`."""

    PLACE: ClassVar[int] = place_number("conversation")
    NAME: ClassVar[str] = "Conversation"
    SCOPES: ClassVar[tuple[str, ...]] = ("conversation", "list")
    BINDINGS: ClassVar = [*keymap.bindings("conversation", "list")]
    ONE_ORDER = "A conversation is always in the order of time."

    def __init__(self, *, key: str | None = None) -> None:
        super().__init__(key=key)
        self.view = TranscriptView(key="conversation-view")
        self._transcript: Transcript | None = None
        self._session: Session | None = None
        self._part = ""
        self._folder, self._waiting = NO_FOLDER, 0
        self.turns = TurnNavigation(self.view)
        self._is_asked = False
        self._folding = CompactView()
        self.presenter: ConversationPresenter | None = None
        """Shows other parts of the conversation; None where there is nothing but this pane."""
        self._is_far_wanted = False
        """Whether the reader has sent the words: then a hit is shown wherever it is."""
        self._is_typed = False
        self._opened = ""
        """The block that was opened to show a hit in it."""

    def compose_body(self) -> Iterable[Widget]:
        yield self.view

    @property
    def list_view(self) -> TranscriptView:
        return self.view

    @property
    def focus_view(self) -> Widget:
        return self.view

    def show(self, view: ConversationModel) -> None:
        if self._transcript is not None and self._transcript.session_id != view.transcript.session_id:
            self.end_finding()
        self._session, self._transcript, self._folder = view.session, view.transcript, view.folder
        self._waiting = view.waiting
        self.turns.transcript = view.transcript
        self._is_asked = False
        unread, was, self._part = self.view.unread, self._part, view.part
        self.view.has_later = bool(view.part)
        self.view.empty = self._empty_lines(view)
        self.view.page = None if view.welcome is None else self._page(view.welcome)
        self.turns.fit(self)
        changed, counted = view.changed, self._count_on(view.now, is_driven=view.is_driven)
        changed = None if changed is None else changed | counted
        if changed is None or changed:
            self._put(view.transcript.blocks, changed)
            if was != view.part:
                self.view.unread = unread
        self._show_title()
        self._note_turn()

    def tick(self, now: int) -> None:
        is_driven = self.presenter is None or self.presenter.is_driven
        if self._transcript is not None and (changed := self._count_on(now, is_driven=is_driven)):
            self._put(self._transcript.blocks, changed)
        self._show_title()

    def _count_on(self, now: int, *, is_driven: bool) -> set[str]:
        """Measure what goes on at the end of the conversation; return the ids of blocks that changed."""
        if self._transcript is None or self._part:
            return set()
        return self._transcript.tick(now if is_driven else None)

    def _put(self, blocks: Sequence[Block], changed: Collection[str] | None) -> None:
        if self.view.is_compact:
            blocks, changed = self._folding.fold(blocks, changed)
        self.view.show_blocks(blocks, changed)

    def set_compact(self, *, is_compact: bool) -> None:
        """Take another density: calls that went well on one line, no blank rows."""
        if is_compact != self.view.is_compact:
            self.view.is_compact = is_compact
            if self._transcript is not None:
                self._put(self._transcript.blocks, None)

    def on_block_view_looked(self, message: TranscriptView.Looked) -> None:
        """Say whether there is more below, and ask for another part of a long one where this one ends."""
        message.stop()
        self._show_title()
        self._note_turn()
        view = self.view
        if self._is_asked or view.is_following or not view.blocks:
            return
        page = view.size.height
        if view.first_line < page:
            self._ask_for_part("earlier")
        elif self._part and view.first_line + 2 * page >= view.line_count:
            self._ask_for_part("later")

    def _ask_for_part(self, where: str, step: int = 0) -> None:
        self._is_asked = True
        self.post_message(TranscriptPartWanted(where, step))

    def _note_turn(self) -> None:
        """Have the tools follow where another turn comes into view."""
        if self.turns.look() and self.presenter is not None:
            self.presenter.tools()

    def on_resize(self) -> None:
        """Put the list of turns beside the text where there is room."""
        self.turns.fit(self)

    def on_row_list_clicked(self, message: RowList.Clicked) -> None:
        """Go to a turn that was clicked."""
        message.stop()
        self.view.focus()
        self.turns.go_to(message.row_id)

    def move_turn(self, step: int) -> None:
        """Go to the next (1) or previous (-1) turn; behind the last one to the end."""
        if self.turns.move(step):
            return
        if step > 0:
            self.move_to_end(is_last=True)
        else:
            self._ask_for_part("earlier", step)

    def part_shown(self) -> None:
        """Note that a part that was asked for is shown, or that there is none."""
        self._is_asked = False

    def on_transcript_view_opened(self, message: TranscriptView.Opened) -> None:
        """Open what was clicked twice."""
        message.stop()
        self.open_row()

    @property
    def forked_block(self) -> Block | None:
        """Return the block that a fork goes on from; None is the end, where nothing more was said."""
        block, blocks = self.view.cursor_block, self.view.blocks
        is_end = block is not None and not self._part and block is blocks[-1]
        return None if is_end or isinstance(block, ProgressBlock) else block

    def why_not_asked(self, subject: Subject) -> str:
        """Return why the agent on show is not asked for something from here; empty where it can be."""
        return why_not_asked(self._session, subject) if self._session is not None else ""

    @property
    def agent_id(self) -> str:
        """Return the session of the agent that the call under the cursor began; empty where it began none."""
        block = self.view.cursor_block
        return block.agent_id if isinstance(block, CallBlock) else ""

    # --- the title ------------------------------------------------------------------------------

    def _show_title(self) -> None:
        ink = render_context.ink(self)
        session = self._session
        title = safe_content(session_title(session), ink.of("muted"), ink) if session else Content("")
        if session is not None and session.is_supervised:
            title = agent_sign(ink, render_context.glyphs(self), is_supervised=True) + title
        if self._folder.is_other:
            title = folder_prefix(self._folder.name, ink) + title
        if self.view.find:
            title = safe_content(self._found_words(), ink.of("waiting"), ink)
        right = Content("  ").join(part for part in self._right() if part.plain)
        self.title_row.show(title, right, says_more=bool(self._part) or self.view.unread > 0)

    def _right(self) -> Sequence[Content]:
        ink, glyphs = render_context.ink(self), render_context.glyphs(self)
        facts = self._transcript.facts if self._transcript else None
        new = Content("")
        if self.view.unread and not self.view.is_following:
            new = Content.styled(f"{glyphs.of('new')} {self.view.unread} new", ink.of("info"))
        if self._part:
            return new, Content.styled(self._part, ink.of("muted"))
        if self._session is not None and self._session.status in ("paused", LOST):
            # The waiting sign is for what waits for a human to answer, and the header counts that.
            sign, _ = session_status(self._session, facts.waiting if facts else 0)
            return new, Content.assemble((glyphs.of(sign), ink.sign(sign)), f" {self._session.status}")
        if self._session is not None and self._session.is_supervised:
            sign, word = session_status(self._session, self._waiting)
            state = Content.assemble((glyphs.of(sign), ink.sign(sign)), f" {word}")
            if facts is None or not facts.turns or self.size.width < _TURN_AND_STATE_CELLS:
                return new, state
            return new, state, Content(f"turn {facts.turns}")
        if facts is None or not facts.turns:
            return (new,)
        turn = Content(f"turn {facts.turns}")
        if facts.is_working:
            turn = Content.assemble((glyphs.of("running"), ink.of("info")), " ", turn)
        if facts.turn_seconds is not None:
            turn = Content.assemble(turn, (f"  {countdown_text(facts.turn_seconds)}", ink.of("muted")))
        return new, turn

    def _empty_lines(self, view: ConversationModel) -> list[Content]:
        ink = render_context.ink(self)
        sentence = "Nothing was said yet." if view.session else "A new session."
        is_read = not self.is_past and not (view.session and view.session.is_supervised)
        rest = ("", *_NEXT_MESSAGE_LINES) if is_read else ()
        bold, muted = ink.of("foreground", bold=True), ink.of("muted")
        return [Content(""), Content.styled(sentence, bold), *(Content.styled(line, muted) for line in rest)]

    def _page(self, facts: "WelcomeFacts") -> Callable[[int], Sequence[Strip]]:
        """Return what draws the first page; each size and each look of it once."""
        from workbench.render.welcome import welcome_rows

        draw = lru_cache(1)(welcome_rows)

        def page(width: int) -> Sequence[Strip]:
            look = render_context.context_of(self)
            shown = facts if self.main.layout.is_alone else facts.beside_question()
            return draw(shown, width, self.view.size.height, look.ink, look.glyphs, look.painter)

        return page

    # --- list keys ------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        self.view.move(rows)

    def move_to_end(self, *, is_last: bool) -> None:
        if not (is_last and self._part):
            self.view.move_to_end(is_last=is_last)
        self._ask_for_part("end" if is_last else "first")

    def move_to_problem(self, step: int) -> None:
        if self.view.find:
            self.go_to_hit(step)
        elif not self.view.move_to_problem(step):
            self._ask_for_part("earlier" if step < 0 else "later", step)

    # --- finding --------------------------------------------------------------------------------

    def ask_filter(self) -> None:
        text, self._is_typed = self.finding.text, False
        again = "enter alone goes to the one before" if text else ""
        self.post_message(LineWanted(self, "find", "Find in the conversation", again, "find", text=text))

    def line_heard(self, purpose: str, text: str, *, is_final: bool) -> None:
        if purpose != "find":
            return
        if text != self.finding.text:
            self._begin_finding(text)
        elif is_final and not self._is_typed:
            self.go_to_hit(-1)
        self._is_far_wanted = is_final
        self._go_to_first()

    def line_dropped(self, purpose: str) -> None:
        if purpose == "find":
            self.end_finding()

    @property
    def is_found_from_here(self) -> bool:
        """Return whether words are looked for and the keys are here: they go from place to place then."""
        return bool(self.view.find) and self.has_pane_focus

    @cached_property
    def finding(self) -> "ConversationSearch":
        """Return the search that goes on; of no words at first."""
        from workbench.views.conversation_search import ConversationSearch

        return ConversationSearch()

    def _begin_finding(self, text: str) -> None:
        from workbench.views.conversation_search import ConversationSearch

        self.finding = ConversationSearch(text, self.finding.place if self.finding.text else self._place())
        self._is_far_wanted, self._is_typed = False, True
        self.view.find = self.finding.text
        self.view.invalidate()
        self._show_title()
        if self.presenter is not None and self._session is not None and self.finding.text:
            self._search(self.presenter.state.source, self._session.id, self.finding.text)

    def _search(self, source: DataSource, session_id: str, text: str) -> None:
        """Look through a session in a thread, the newest events first, as long as the text is looked for."""

        def work() -> None:
            from workbench.views.conversation_search import block_hits

            for events in _search_batches(source, session_id):
                if self.finding.text != text:
                    return
                hits = [hit for event in events for hit in block_hits(event, text)]
                self.post_message(SearchHitsFound(session_id, text, hits, is_whole=False))
            self.post_message(SearchHitsFound(session_id, text, (), is_whole=True))

        self.run_worker(
            work, group="find", description="find in the conversation", thread=True, exclusive=True,
            exit_on_error=False,
        )  # fmt: skip

    def end_finding(self) -> None:
        """Look for nothing any more; the reader stays where they are."""
        if self.view.find:
            del self.finding
            self.view.find = self._opened = ""
            self.view.invalidate()
            self._show_title()
            self.post_message(KeysChanged())

    def _place(self) -> int:
        """Return when the last thing was said that is on the screen."""
        block = self.view.cursor_block or (self.view.blocks[-1] if self.view.blocks else None)
        return 0 if block is None else block.at

    @on(SearchHitsFound)
    def take_hits(self, found: SearchHitsFound) -> None:
        """Take over what was found so far, if it is still looked for."""
        found.stop()
        is_here = self._session is not None and self._session.id == found.session_id
        if is_here and found.text == self.finding.text:
            self.finding.add(found.hits, is_whole=found.is_whole)
            self._show_title()
            self._go_to_first()

    def take_events(self, events: Iterable[Event]) -> None:
        """Look into what has just happened, too."""
        if self.view.find and self._session is not None:
            from workbench.views.conversation_search import block_hits

            here = self._session.id
            events = [event for event in events if event.session_id == here]
            self.finding.add(hit for event in events for hit in block_hits(event, self.finding.text))

    def _go_to_first(self) -> None:
        """Go to the nearest hit: as it is typed only within what is shown, then wherever it is."""
        finding = self.finding
        hit = finding.first() if finding.current is None else None
        if hit is not None and (self._is_far_wanted or self.view.has_block(hit.block_id)):
            self._go(hit)
        elif self._is_far_wanted and finding.is_whole and finding.text and not len(finding):
            self.post_message(StatusMessage(f"{self._quoted()} is not in this conversation.", is_kept=False))
            self.end_finding()

    def show_place_of(self, hit: "BlockHit") -> None:
        """Show a place that was found, in whichever part of the conversation it is."""
        presenter = self.presenter
        if (
            presenter is not None
            and not self.view.has_block(hit.block_id)
            and presenter.state.look_at(hit.number)
        ):
            presenter.another_part()
        self.show_hit(hit)

    @on(TranscriptPartWanted)
    def _part_wanted(self, message: TranscriptPartWanted) -> None:
        if self.presenter is not None:
            message.stop()
            self.presenter.part(message)

    def go_to_hit(self, step: int) -> None:
        """Go to the next (1) or previous (-1) hit, or say that there is none."""
        finding = self.finding
        hit = finding.next(step)
        if hit is not None:
            self._go(hit)
        elif not len(finding):
            self.post_message(StatusMessage(f"{self._quoted()} is not in this conversation."))
        else:
            self.post_message(
                StatusMessage(f"{'No later' if step > 0 else 'No earlier'} place holds {self._quoted()}.")
            )

    def _go(self, hit: "BlockHit") -> None:
        self.finding.current = hit
        self._show_title()
        self.show_place_of(hit)
        if not self.title_row.display:
            self.post_message(StatusMessage(self._found_words(), is_kept=False))

    def show_hit(self, hit: "BlockHit") -> None:
        """Show a hit that is in the shown part; what is folded around it is opened."""
        if self._opened != hit.block_id:
            self._fold_again()
        if self._transcript is not None and self._folding.open_for(hit.block_id):
            self._put(self._transcript.blocks, ())
        block = self._transcript.block(hit.block_id) if self._transcript is not None else None
        if isinstance(block, ThoughtBlock | OutputBlock) and block.is_folded:
            self._toggle(hit.block_id)
            self._opened = hit.block_id
        self.view.show_hit(hit.block_id)

    def _fold_again(self) -> None:
        """Fold what was opened for the hit before: only where the reader stays is left open."""
        key, self._opened = self._opened, ""
        block = self._transcript.block(key) if self._transcript is not None else None
        if isinstance(block, ThoughtBlock | OutputBlock) and not block.is_folded:
            self._toggle(key)

    def _toggle(self, block_id: str) -> None:
        if self._transcript is not None:
            self._folding.toggle(block_id)
            changed = self._transcript.toggle(block_id)
            self.view.stay()
            self._put(self._transcript.blocks, changed)
            self.view.stay_no_more()

    def _quoted(self) -> str:
        line = render_context.glyphs(self).line
        return f"{line('“')}{one_line(self.finding.text, 30)}{line('”')}"

    def _found_words(self) -> str:
        return f"{self._quoted()} {self.finding.words}"

    # --- rows -----------------------------------------------------------------------------------

    def open_row(self) -> None:
        block = self.view.cursor_block
        if isinstance(block, CallBlock):
            self.post_message(OpenDetail("conversation", block.call_id))
        elif isinstance(block, StepBlock):
            self.post_message(StepOpened(block.step))
        elif self.can_fold:
            self.fold()

    def copy_text(self) -> str:
        block = self.view.cursor_block
        return "" if block is None else _plain_block_text(block)

    # --- its own keys ---------------------------------------------------------------------------

    @property
    def can_fold(self) -> bool:
        """Return whether something under the cursor can be folded or opened."""
        block = self.view.cursor_block
        return isinstance(block, ThoughtBlock | OutputBlock | CallGroupBlock) or (
            isinstance(block, CallBlock) and block.has_output
        )

    def fold(self) -> None:
        """Fold or open the thought or output under the cursor; its first line keeps its place."""
        block = self.view.cursor_block
        if block is None or self._transcript is None:
            return
        if isinstance(block, OutputBlock):
            self.view.put_cursor(f"call:{block.call_id}")
        self._toggle(block.id)

    @property
    def error(self) -> ErrorBlock | None:
        """Return the error that waits for an answer, if there is one."""
        return next((b for b in reversed(self.view.blocks) if isinstance(b, ErrorBlock) and b.keys), None)

    def label_of(self, key_id: str) -> str:
        block = self.view.cursor_block
        if key_id == "conversation.fold" and isinstance(
            block, ThoughtBlock | CallBlock | CallGroupBlock | OutputBlock
        ):
            return "open" if block.is_folded else "fold"
        if key_id == "list.filter":
            return "find"
        if key_id == "list.problem-next" and self.view.find:
            return "next hit"
        return super().label_of(key_id)

    def open_log(self) -> None:
        """Show what is known of the error that waits for an answer."""
        if self.error is not None:
            self.post_message(LogWanted(self.error))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if parameters == ("conversation.model",) and self.error is None:
            # Without an error the key is free for the first page and for the end of the demo.
            return False
        return super().check_action(action, parameters)

    @property
    def is_paused(self) -> bool:
        """Return whether the session waits to be continued."""
        return self._session is not None and self._session.status in ("paused", LOST)

    @property
    def is_looping(self) -> bool:
        """Return whether the session is paused because its agent repeats itself."""
        return self.is_paused and self._session is not None and self._session.reason == "loop"


def _plain_block_text(block: Block) -> str:
    match block:
        case PromptBlock() | TextBlock() | ThoughtBlock() | OutputBlock() | NoticeBlock():
            return block.text
        case CallBlock():
            return block.target or block.tool
        case StepBlock():
            return block.note or block.name
        case CallGroupBlock():
            return f"{len(block.call_ids)} calls"
        case ProgressBlock():
            return f"{block.model} {block.phase}"
        case ErrorBlock():
            return "\n".join(part for part in (block.message, block.details, block.remedy) if part)


def _search_batches(source: DataSource, session_id: str) -> Iterator[Sequence[Event]]:
    if isinstance(source, transcript_window.EventArchive):
        yield from transcript_window.event_batches(source, session_id)
    else:
        yield source.events(session_id, 0, _WHOLE_SESSION)
