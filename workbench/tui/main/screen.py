"""The main screen: which pane has the focus, when the journal is read, and places that fill the body."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from workbench.config.types import NotifySettings
from workbench.domain.events import Event, SessionDeleted
from workbench.tui import keymap, pane
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.approvals.decision_writer import DecisionHandler
from workbench.tui.backend import Backend
from workbench.tui.compositor import use_dirty_compositor
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.journal_source import MAX_FRAMES_PER_SECOND, JournalFeed
from workbench.tui.main.bars import Footer, Header, SessionStrip, Sidebar, Tabs
from workbench.tui.main.layout import Layout, LayoutController
from workbench.tui.main.message_handlers import MessageScreen
from workbench.tui.main.notifications import LoggedMessage, Notifications, ToastController
from workbench.tui.main.places import PANE_PLACES, PLACES
from workbench.tui.main.presenter import Presenter, RedrawTimer
from workbench.tui.main.tasks import BackgroundTasks
from workbench.tui.pane import Pane, SourceChanged
from workbench.tui.pipeline.pipeline_pane import PipelinePane
from workbench.tui.state import ScreenState
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.tui.widgets.pane_frame import Divider, Rule
from workbench.views.sessions import leave_notice

if TYPE_CHECKING:
    from workbench.tui.conversation.composer import Composer
    from workbench.tui.library.session_actions import SessionActions
    from workbench.tui.main.overlays import PromptBar, ToastBox, TooSmallPage

PLACES_UNAVAILABLE: Final = "This is a replay: other places are behind it. esc leaves it."


class PlaceStackScreen(MessageScreen, inherit_bindings=False):
    """A screen with places beside its panes; `MainScreen` says how a place is gone to."""

    INNER: ClassVar[tuple[str, ...]] = ()
    panes: tuple[Pane, ...]
    _came_from: int = 2
    _deeds: "SessionActions | None" = None

    @property
    def is_away(self) -> bool:
        """Return whether a place has the body that is none of the five panes."""
        return self.place not in PANE_PLACES

    @property
    def away_panes(self) -> tuple[Pane, ...]:
        """Return the places that were opened so far."""
        return self.panes[len(PANE_PLACES) :]

    def go_back(self) -> None:
        """Go back to where the user was before they went to a place with the whole body."""
        self.go_to(self._came_from)

    def leaves_for(self, place: int) -> bool:
        """Note where the user goes, and make the place if it is not there yet; False where there is none."""
        if place in PANE_PLACES:
            self._came_from = place
            return True
        if not self.is_away:
            self._came_from = self.place
        return self._has(place) or self._make(place)

    def _has(self, place: int) -> bool:
        return any(place == pane.PLACE for pane in self.panes)

    def _make(self, place: int) -> bool:
        if self.INNER:
            self.say(PLACES_UNAVAILABLE)
            return False
        from workbench.tui.library.library_pane import LibraryPane
        from workbench.tui.library.session_actions import SessionActions

        factory = PLACES[place].factory
        pane = factory(cast("Any", self)) if factory is not None else None
        if pane is None:
            return False
        self.panes = (*self.panes, pane)
        self.query_one("#body").mount(pane)
        self.mount(cast("Any", pane).hint, after="#rule")
        if isinstance(pane, LibraryPane):
            self._deeds = SessionActions(cast("Any", self), pane)
        return True

    def show_away(self) -> None:
        """Show the place that the user is at, and what is said under it."""
        for widget in self.away_panes:
            cast("Any", widget).hint.display = widget.display = self.place == widget.PLACE

    def tell_away(self, fresh: Sequence[Event]) -> None:
        """Tell the places that were opened which sessions something happened to."""
        if self.away_panes and (changed := _changed_sessions(fresh)):
            for widget in self.away_panes:
                widget.show(changed)

    @on(pane.SessionRequest)
    def _session_wish(self, message: pane.SessionRequest) -> None:
        if self._deeds is not None:
            self._deeds.do(message)

    @on(pane.PlaceLeft)
    def _place_left(self) -> None:
        self.go_back()

    @on(pane.LibraryWanted)
    def _library_wanted(self, message: pane.LibraryWanted) -> None:
        from workbench.tui.library.library_pane import LibraryPane

        self.go_to(5)
        for widget in self.panes:  # a replay has none, and has said so
            if isinstance(widget, LibraryPane):
                self.call_after_refresh(widget.filter_by, message.text)


def _changed_sessions(fresh: Sequence[Event]) -> set[str]:
    """Return the sessions whose rows may read otherwise now; pieces of streamed text change none."""
    found = {event.session_id for event in fresh if event.body.DURABLE}
    return found | {event.body.deleted_id for event in fresh if isinstance(event.body, SessionDeleted)}


_CLICKABLE_GROUPS: Final = ("Move", "Many", "Hunks and lines")
"""Groups of keys that a click in the footer may stand for."""
_CHECK_HOST_AFTER: Final = 3.0
"""Seconds after the first frame: a host that is being started is no trouble."""
_WIDE_COLUMNS: Final = 100
"""Columns from which sentences are whole."""


class MainScreen(PlaceStackScreen, inherit_bindings=False):
    """Rail, conversation, tools, approvals, pipeline; header, composer and footer around them."""

    AUTO_FOCUS = ""
    NAME = "main"
    INNER: ClassVar[tuple[str, ...]] = ()
    """Scopes of keys that count before those of the panes."""
    BINDINGS = keymap.bindings("first", "app")

    def __init__(
        self,
        state: ScreenState,
        backend: Backend,
        answering: DecisionHandler,
        feed: JournalFeed,
        workspace: str,
        home: str,
        wishes: NotifySettings | None = None,
    ) -> None:
        super().__init__(id=self.NAME)
        use_dirty_compositor(self)
        self.state, self.backend, self.answering, self._feed = state, backend, answering, feed
        self.workspace, self.home = workspace, home
        self.branch, self.trouble, self.has_model, self.asks = "", "", True, ("every tool", 0)
        self.pipelines_found: int | None = None
        self.elsewhere = 0
        self.place, self.is_zoomed = 2, False
        self.header, self.strip, self.tabs, self.footer = Header(), SessionStrip(), Tabs(), Footer()
        self.rail, self.conversation = Sidebar(key="rail"), ConversationPane(key="conversation")
        self.tools, self.approvals = ToolsPane(key="tools"), ApprovalsPane(key="approvals")
        self.pipeline, self.composer = PipelinePane(key="pipeline"), self.make_composer()
        self.rule = Rule(key="rule")
        self._line_bar: PromptBar | None = None
        self._small: TooSmallPage | None = None
        self.panes: tuple[Pane, ...] = (
            self.rail, self.conversation, self.approvals, self.tools, self.pipeline,
        )  # fmt: skip
        self.showing, self.requests, self.notices = (
            Presenter(self),
            BackgroundTasks(self),
            Notifications(wishes=wishes),
        )
        self.telling, self.placing, self.timing = (
            ToastController(self),
            LayoutController(self),
            RedrawTimer(self),
        )
        self._looks_soon, self._looked_at = False, 0.0
        self.is_leaving = False

    def compose(self) -> ComposeResult:
        """Yield everything; which of it is shown follows from the size and from what waits."""
        self.load()
        # Said before anything is styled: later all of the pane would be styled anew.
        self.approvals.set_class(not self.state.pending, "-idle", update=False)
        self.placing.classify()
        yield self.header
        yield self.strip
        yield self.tabs
        with Horizontal(id="body"):
            yield self.rail
            yield Divider(key="rail-divider")
            with Vertical(id="left"):
                yield self.conversation
                yield self.tools
            yield Divider(key="middle-divider")
            with Vertical(id="right"):
                yield self.approvals
                yield self.pipeline
        yield from self.below()

    def make_composer(self) -> "Composer":
        """Return where the user writes; what only shows the past does not load it."""
        from workbench.tui.conversation.composer import Composer

        return Composer(self.backend, key="composer")

    def below(self) -> Iterable[Widget]:
        """Yield the rows under the body."""
        yield self.rule
        yield self.composer
        yield self.footer

    @property
    def line_bar(self) -> "PromptBar":
        """Return where a line is typed for a pane, made when one is first asked for."""
        if self._line_bar is None:
            from workbench.tui.main.overlays import PromptBar

            self._line_bar = PromptBar()
            self._line_bar.display = False
            self.mount(self._line_bar, before=self.footer)
        return self._line_bar

    @property
    def is_line_asked(self) -> bool:
        """Return whether a line is being typed for a pane."""
        return self._line_bar is not None and self._line_bar.asked is not None

    @property
    def small(self) -> "TooSmallPage":
        """Return what a screen says that is too small, made when it first is."""
        if self._small is None:
            from workbench.tui.main.overlays import TooSmallPage

            self._small = TooSmallPage()
            self.mount(self._small, after=self.footer)
        return self._small

    def on_mount(self) -> None:
        """Show what the journal holds and put the focus where something waits."""
        self.rearrange()
        self.showing.everything()
        # The first frame has the diff in it: what waits is read while it still waits.
        self.showing.detail(self.approvals.queue.cursor)
        self.start_focus()
        self.keep_time()
        self.timing.begin()

    def _compositor_refresh(self) -> None:
        """Draw, but nothing that goes nowhere: while the app starts, what is drawn is thrown away."""
        if self.drawing.is_held:
            self._repaint_required = True
            return
        if not self.has_frame:
            # Lines look where titles meet them after each layout, for the first frame before it is drawn.
            for line in (*self.walk_children(Divider), self.rule):
                line.look()
        super()._compositor_refresh()
        if not self.has_frame and self.is_current:
            self.has_frame = True
            if self.requests.is_behind:
                self.call_later(self.showing.detail, self.approvals.queue.cursor)
            # Threads that began before would load modules while the first frame is drawn.
            self.call_later(self.after_first_frame)
            # Whoever begins to listen is rung once: what came meanwhile is seen. Last, as it loads a watcher.
            self.call_later(self._feed.start)

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Lay out once while the app starts: the terminal says its size three times, and it is the same."""
        is_again = size is not None and size == self._compositor.size
        if self.has_frame or not is_again or not self.drawing.is_held:
            super()._refresh_layout(size, scroll)

    def load(self) -> None:
        """Read what the first frame shows; the text field is in it where nothing else wants the keys."""
        self.state.load(self.textual.opens_on)
        self.has_model = self.backend.has_model()
        if self.showing.has_model:
            self.composer.prepare()

    def start_focus(self) -> None:
        """Put the focus where something is said; without a model on the page that says how to get one."""
        is_alone = self.arrangement is not None and self.arrangement.is_alone
        is_first = not self.state.sessions or self.textual.opens_on is not None
        self.place = 1 if is_first and not (self.state.pending and (self.state.sessions or is_alone)) else 2
        if self.showing.has_model:
            self.composer.focus_input()
        else:
            self.conversation.focus_view.focus()

    def after_first_frame(self) -> None:
        """Do what no first frame may wait for."""
        self.requests.read_branch()
        self.requests.read_draft()
        self.requests.read_said(self.state.current.id if self.state.current else "")
        if not self.state.runs.rows:
            self.requests.read_pipelines()
        if not self.state.sessions:
            self.requests.read_elsewhere()
        self.set_timer(_CHECK_HOST_AFTER, self.requests.read_standing)
        if self.state.pending or self.answering.awaits(self.workspace):
            self.requests.ensure_host(self.workspace)

    def on_unmount(self) -> None:
        """Listen no more."""
        self._feed.stop()

    # --- the journal ----------------------------------------------------------------------------

    @on(SourceChanged)
    def _source_changed(self) -> None:
        """Look at what came, at most so many times a second."""
        if not self._looks_soon:
            self._looks_soon = True
            now = self.drawing.monotonic()
            wait = max(0.0, self._looked_at + 1 / MAX_FRAMES_PER_SECOND - now)
            if wait:
                self.set_timer(wait, self.look)
            else:
                self.look()

    def look(self) -> None:
        """Take in the events since the last look and show what they changed."""
        self._looks_soon = False
        self._looked_at = self.drawing.monotonic()
        fresh = self._feed.fresh()
        if not fresh:
            return
        self.take_in(fresh)

    def take_in(self, fresh: Sequence[Event]) -> None:
        """Fold events and show what they changed."""
        changed = self.state.apply(fresh)
        if self.conversation.view.is_following and self.state.trim():
            self.showing.another_part()
        if changed.has_first:
            self.showing.everything()
        else:
            self.showing.what_changed(changed)
        self.note_found(fresh)
        self.tell_away(fresh)
        self.telling.answers(fresh)
        self.tell(changed.troubles)
        self.keep_time()
        self.showing.footer()

    def tell(self, troubles: Iterable[Event] = ()) -> None:
        """Ring, and notify outside of the terminal, if something waits that did not; tell of troubles."""
        self.telling.tell(troubles)
        self.notices.look(self.showing.summary(), self.drawing.monotonic())
        if self.notices.rings:
            self.textual.bell()
        if self.notices.has_title:
            self.textual.set_terminal_title(self.showing.title())
        if self.notices.goes_out(has_terminal_focus=self.textual.app_focus):
            self.requests.notify(self.showing.facts.workspace.rpartition("/")[2])

    def keep_time(self) -> None:
        """Wake up when something on the screen counts on, and not at all while nothing does."""
        self.timing.keep()

    # --- where things are -----------------------------------------------------------------------

    def is_shown(self, pane: Pane) -> bool:
        """Return whether a pane is on the screen."""
        return self.arrangement is not None and pane.PLACE in self.arrangement.shown

    @property
    def focused_pane(self) -> Pane | None:
        """Return the pane that has the focus."""
        return next((pane for pane in self.panes if pane.has_pane_focus), None)

    @property
    def arrangement(self) -> Layout | None:
        """Return how panes are arranged; None until the first time."""
        return self.placing.arrangement

    def on_resize(self, event: events.Resize) -> None:
        """Arrange anew in another size."""
        del event
        self.rearrange()

    def rearrange(self) -> None:
        """Put panes where size, place and zoom want them."""
        self.placing.rearrange()

    def update_node_styles(self, animate: bool = True) -> None:
        """Apply the styles anew, but not to what was just made with them."""
        if self.has_frame:
            super().update_node_styles(animate)

    def on_toast_box_pressed(self, message: "ToastBox.Pressed") -> None:
        """Go where a toast leads; named so that its class need not be loaded for it."""
        self.go_to(message.place)

    def on_screen_resume(self) -> None:
        """Take what is under the answering keys for new: a dialog was over it."""
        if self.has_frame:
            self.approvals.uncovered()

    @on(Footer.Pressed)
    def _footer_pressed(self, message: Footer.Pressed) -> None:
        """Do what a clicked key does where that only moves, shows or chooses; a click never answers."""
        key, pane = keymap.key_of(message.key.id), self.focused_pane
        if not self.is_active:  # the first of two clicks has opened something over it
            return
        if key.id == "app.help":
            self.action_do(key.id)
        elif key.group not in _CLICKABLE_GROUPS:
            self.say(f"A click does not do that: press {message.key.keys}.")
        elif pane is not None:
            pane.action_do(key.id)

    @on(Rule.Changed)
    def _rule_changed(self) -> None:
        self.placing.status()

    def go_to(self, place: int) -> None:
        """Go to a place: give its pane the focus, and the body where there is room for one only."""
        if not self.leaves_for(place):
            return
        self.place = place
        if self.approvals.is_full and place != 2:
            self.approvals.is_full = False
        self.rearrange()
        self.showing.head()
        pane = next(pane for pane in self.panes if place == pane.PLACE)
        if pane.focus_view.is_attached:
            pane.focus_view.focus()

    def on_descendant_focus(self) -> None:
        """Note where the user is, whichever way they came."""
        pane = self.focused_pane
        if pane is not None and self.place != pane.PLACE:
            self.place = pane.PLACE
            self.showing.head()
            if self.arrangement is not None and self.arrangement.is_alone:
                self.rearrange()
        self.showing.footer()

    def on_descendant_blur(self) -> None:
        """Keys may mean nothing now."""
        self.showing.footer()

    def why_off(self, key_id: str) -> str:
        """Return why a key does nothing on this screen, whatever has the focus; empty where it does."""
        del key_id
        return ""

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True) -> None:
        """Say a sentence on the rule, for four seconds; it is kept in the messages."""
        if is_kept:
            self.notices.kept.append(LoggedMessage(self.state.source.now(), text, is_error))
        self.rule.say(text, is_error=is_error)

    # --- keys of everywhere ---------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the keys of the first page through only while it is shown, and has the keys."""
        if action == "do" and str(parameters[0]).startswith("first."):
            return not self.state.sessions and self.conversation.has_pane_focus
        return super().check_action(action, parameters)

    def action_do(self, key_id: str) -> None:
        """Do what the table says."""
        keymap.run_action(key_id, self)

    def focus_next_pane(self, step: int) -> None:
        """Give the next (1) or previous (-1) pane the focus."""
        if self.is_away:
            self.go_back()
            return
        panes = list(self.focusable_panes())
        if self.arrangement is not None and self.arrangement.is_alone:
            panes = [pane for pane in self.panes if pane.PLACE in PANE_PLACES]
        places = [pane.PLACE for pane in panes]
        index = places.index(self.place) if self.place in places else 0
        self.go_to(places[(index + step) % len(places)])

    def compose_message(self) -> None:
        """Give the composer the focus."""
        if not self.showing.has_model:
            self.say("There is no model yet that could read it: p says how one is set up.")
            return
        if self.is_away:
            self.go_to(1)
        self.composer.focus_input()

    def open_palette(self) -> None:
        """Open the command palette."""
        from workbench.tui.main.palette import open_palette

        open_palette(self)

    def open_help(self) -> None:
        """Show the keys of what has the focus."""
        from workbench.tui.main.info_pages import open_help

        open_help(self)

    def open_setup(self) -> None:
        """Show how a model is set up."""
        from workbench.tui.main.info_pages import open_setup

        open_setup(self)

    def toggle_zoom(self) -> None:
        """Give the pane the whole body, or take it back."""
        self.is_zoomed = not self.is_zoomed
        self.rearrange()
        self.approvals.disarm()

    def begin_session(self) -> None:
        """Begin a new session with the next message."""
        self.state.leave()
        self.showing.everything()
        self.compose_message()

    def copy_or_stop(self) -> None:
        """Copy the selection if there is one, else stop the agent on show and take the next message."""
        if text := self.get_selected_text():
            self.post_message(pane.CopyText(text, ""))
            return
        current = self.state.current
        if current is None or current.status != "processing":
            self.say("No agent works here. q leaves.")
            return
        self.post_message(pane.StopAgent())
        self.composer.focus_input()

    def back(self) -> None:
        """Go back one level; it never decides anything."""
        if self.approvals.ordering.text_filter and not self.is_away:
            self.approvals.line_dropped("filter")
        elif self.is_away:
            self.go_back()
        elif self.conversation.finding.text and self.place == self.conversation.PLACE:
            self.conversation.end_finding()
        elif self.is_zoomed:
            self.toggle_zoom()
        elif self.place != 2:
            self.go_to(2)

    def leave_app(self) -> None:
        """Leave; agents go on. What waits or works is said first, the same key again leaves."""
        if self.ask_to_leave():
            self.textual.exit()

    def suspend(self) -> None:
        """Stop this process and give the terminal to its shell; `fg` brings the screen back."""
        if self.textual.can_suspend:
            self.textual.action_suspend_process()
        else:
            self.say("No shell here takes over: this terminal runs workbench alone.")

    def redraw(self) -> None:
        """Draw the screen again."""
        self.textual.refresh(layout=True)
        self.refresh(repaint=True, layout=True)

    def ask_to_leave(self) -> bool:
        """Say what goes on without a screen; True when the user has said twice that they leave."""
        working = sum(session.status == "processing" for session in self.state.sessions.values())
        waiting = len(self.state.pending)
        is_tiny = self.arrangement is not None and self.arrangement.width == "tiny"
        if self.is_leaving or is_tiny or not (working or waiting):
            return True
        self.is_leaving = True
        self.rule.ask(leave_notice(working, waiting, is_wide=self.size.width >= _WIDE_COLUMNS))
        self.showing.footer()
        return False

    def stay(self) -> None:
        """Take the question back whether to leave."""
        self.is_leaving = False
        self.rule.ask("")
        self.showing.footer()

    @property
    def takes_text(self) -> bool:
        """Return whether words can be written on this screen as it is now."""
        is_tiny = self.arrangement is None or self.arrangement.width == "tiny"
        has_field = self.showing.has_model and self.composer.display and self.place in PANE_PLACES
        return self.is_current and has_field and not (is_tiny or self.is_line_asked or self.is_leaving)

    def focusable_panes(self) -> Iterator[Pane]:
        """Yield the panes that are on the screen, by their numbers."""
        yield from (pane for pane in self.panes if self.is_shown(pane))
