"""The main screen: which pane has the focus, when the journal is read, and what panes ask of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from workbench.config.sections import NotifySettings
from workbench.domain.events import Event
from workbench.tui import pane as tui_pane
from workbench.tui.approvals.approvals_pane import ApprovalsPane
from workbench.tui.backend import Backend
from workbench.tui.compositor import DirtyScreen
from workbench.tui.conversation.conversation_pane import ConversationPane
from workbench.tui.journal_source import MAX_FRAMES_PER_SECOND, JournalFeed
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.owner import KeyScreen
from workbench.tui.main.context import MainContext, MainWidgets, WorkspaceStatus
from workbench.tui.main.detail_request import DetailRequest
from workbench.tui.main.first_page import FirstPage
from workbench.tui.main.header import Header
from workbench.tui.main.layout import LayoutController
from workbench.tui.main.place_stack import PlaceStack
from workbench.tui.main.presenter import Presenter
from workbench.tui.main.session_strip import SessionStrip
from workbench.tui.main.sidebar import Sidebar
from workbench.tui.main.tabs import Tabs
from workbench.tui.pane import Pane
from workbench.tui.pipeline.pipeline_pane import PipelinePane
from workbench.tui.places import PANE_PLACES, PLACES
from workbench.tui.render_context import call_once_after
from workbench.tui.state import ScreenState
from workbench.tui.tools.tools_pane import ToolsPane
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.hold_view import HoldView
from workbench.tui.widgets.pane_frame import Divider, PaneRule, PaneTitle
from workbench.views.supervised import why_not_asked

if TYPE_CHECKING:
    from workbench.domain.rows import Action
    from workbench.domain.values import JsonObject
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.approvals.decision_writer import DecisionHandler
    from workbench.tui.main.notifications import Notifications, ToastController
    from workbench.tui.main.redraw_timer import RedrawTimer
    from workbench.tui.main.toast_box import ToastBox
    from workbench.views.action_detail import CommandParts

_CLICKABLE_GROUPS: Final = ("Move", "Many", "Hunks and lines", "Commands")
"""Groups of keys that a click in the footer may stand for."""
_FINDINGS_ANSWERED: Final = "Nothing more of these findings waits. 8 shows them."
_CHECK_HOST_AFTER: Final = 3.0
"""Seconds after the first frame: a host that is being started is no trouble."""


def live_widgets(backend: Backend) -> MainWidgets:
    """Return the widgets of a screen on a living workspace."""
    from workbench.tui.conversation.composer import Composer

    return MainWidgets(
        rail=Sidebar(key="rail"), conversation=ConversationPane(key="conversation"),
        approvals=ApprovalsPane(key="approvals"), tools=ToolsPane(key="tools"),
        pipeline=PipelinePane(key="pipeline"), header=Header(), strip=SessionStrip(), tabs=Tabs(),
        footer=Footer(), rule=PaneRule(key="rule"), composer=Composer(backend, key="composer"),
    )  # fmt: skip


class MainScreen(DirtyScreen, KeyScreen, HoldView, inherit_bindings=False):
    """Rail, conversation, tools, approvals, pipeline; header, composer and footer around them."""

    AUTO_FOCUS = ""
    NAME = "main"
    INNER: ClassVar[tuple[str, ...]] = ()
    """Scopes of keys that count before those of the panes."""
    BINDINGS = keymap.bindings("first", is_first=True) + keymap.bindings("demo", "app", "trust")

    def __init__(
        self,
        state: ScreenState,
        backend: Backend,
        decisions: "Callable[[], DecisionHandler]",
        feed: JournalFeed,
        status: WorkspaceStatus,
        notify: NotifySettings | None = None,
        widgets: MainWidgets | None = None,
    ) -> None:
        super().__init__(self.NAME)
        self.widgets = widgets = widgets or live_widgets(backend)
        self.rail, self.conversation, self.approvals = widgets.rail, widgets.conversation, widgets.approvals
        self.tools, self.pipeline, self.composer = widgets.tools, widgets.pipeline, widgets.composer
        self.rule = widgets.rule
        five = (self.rail, self.conversation, self.approvals, self.tools, self.pipeline)
        self.state, self._feed = state, feed
        self.context = context = MainContext(self, state, backend, decisions, widgets, status)
        self._notify = notify
        self.places = context.places = PlaceStack(self, context, five, is_replay=bool(self.INNER))
        self.first_page = context.first_page = FirstPage(self, context)
        self.presenter = context.presenter = self.make_presenter()
        self.layout_controller = context.layout = self.make_layout()
        self.detail_request = DetailRequest(self, context)
        self.presenter.command_parts = self._command_parts
        self.conversation.presenter = self.presenter
        for pane in five:
            pane.main, pane.is_claimed = context, self.first_page.is_claimed
        self._looks_soon, self._says_keys, self._looked_at = False, False, 0.0
        self._said_unasked = ""

    @cached_property
    def notifications(self) -> "Notifications":
        """Return what the user was told, and is to be told of."""
        from workbench.tui.main.notifications import Notifications

        return Notifications(wishes=self._notify)

    @cached_property
    def toasts(self) -> "ToastController":
        """Return what tells of trouble and of what ended, made for the first news."""
        from workbench.tui.main.notifications import ToastController

        return ToastController(self, self.context, self.notifications)

    @cached_property
    def redraw_timer(self) -> "RedrawTimer":
        """Return what wakes the screen when something on it counts on, made after the first frame."""
        from workbench.tui.main.redraw_timer import RedrawTimer

        return RedrawTimer(self, self.context)

    def make_presenter(self) -> Presenter:
        """Return what shows the state to the widgets."""
        return Presenter(self, self.context)

    def make_layout(self) -> LayoutController:
        """Return what arranges the widgets."""
        return LayoutController(self, self.context)

    def _command_parts(self, action: "Action", parameters: "JsonObject") -> "CommandParts | None":
        return self.context.tasks.parts_of(action, parameters) if self.has_frame else None

    @property
    def textual(self) -> "WorkbenchApp":
        """Return the app."""
        return self.context.app

    def compose(self) -> ComposeResult:
        self.load()
        # Said before anything is styled: later all of the pane would be styled anew.
        self.approvals.set_class(not self.state.pending, "-idle", update=False)
        yield self.widgets.header
        yield from self.layout_controller.first_rows()
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

    def below(self) -> Iterable[Widget]:
        """Yield the rows under the body."""
        yield self.rule
        yield self.composer
        yield self.widgets.footer

    def on_mount(self) -> None:
        self.layout_controller.rearrange()
        self.presenter.everything()
        self.places.point_at_first_waiting()
        # The first frame has the diff in it: what waits is read while it still waits.
        self.presenter.detail(self.approvals.queue.cursor)
        self.start_focus()

    @property
    def is_held(self) -> bool:
        return self.textual.is_held

    def before_first_frame(self) -> None:
        # Lines look where titles meet them after each layout, for the first frame before it is drawn.
        for line in (*self.walk_children(Divider), self.rule):
            line.look()

    def first_frame_drawn(self) -> None:
        self.call_later(self.first_page.start_writing)
        self.call_later(self.begin_time)
        if self.approvals.detail is not None and self.approvals.detail.command:
            self.call_later(self.presenter.detail, self.approvals.queue.cursor)
        # Threads that began before would load modules while the first frame is drawn.
        self.call_later(self.after_first_frame)
        # Whoever begins to listen is rung once: what came meanwhile is seen. Last, as it loads a watcher.
        self.call_later(self._feed.start)

    def load(self) -> None:
        """Read what the first frame shows."""
        self.state.load(self.textual.opens_on)
        self.context.status.has_model = self.context.backend.has_model()
        self.first_page.begin()

    def start_focus(self) -> None:
        """Put the focus where something is said; without a model on the page that says how to get one."""
        self.places.current = self.first_page.start_place(self.textual.opens_on)
        if self.first_page.asks_first:
            self.layout_controller.focus(self.approvals.focus_view)
        elif self.presenter.has_model and not self.first_page.ended_demo:
            # A text field takes longer to make than all the rest of the first frame; until then keys wait.
            self.composer.is_awaited = True
        else:
            self.conversation.focus_view.focus()

    def after_first_frame(self) -> None:
        """Do what no first frame may wait for."""
        self.context.tasks.read_at_start(lambda ends: self.toasts.ends.since_left(ends))
        self.first_page.read()
        self.context.folders.look()
        self.set_timer(_CHECK_HOST_AFTER, self.context.tasks.read_standing)
        self.context.tasks.ensure_host_if(is_needed=self.context.folders.wants_host)
        for folder in self.context.folders.worktrees:
            self.context.tasks.ensure_host(folder)

    def on_unmount(self) -> None:
        """Listen no more."""
        self._feed.stop()

    # --- the journal ----------------------------------------------------------------------------

    @on(tui_pane.SourceChanged)
    def _source_changed(self) -> None:
        """Look at what came, at most so many times a second."""
        if not self._looks_soon:
            self._looks_soon = True
            now = self.textual.monotonic()
            wait = max(0.0, self._looked_at + 1 / MAX_FRAMES_PER_SECOND - now)
            if wait:
                call_once_after(self, wait, self.look)
            else:
                self.look()

    def look(self) -> None:
        """Take in the events since the last look and show what they changed."""
        self._looks_soon = False
        self._looked_at = self.textual.monotonic()
        fresh = self._feed.fresh()
        if fresh:
            self.take_in(fresh)

    def show_hold(self) -> None:
        """Show whether all agents are held now; its header has it from the journal."""

    def take_in(self, fresh: Sequence[Event]) -> None:
        """Fold events and show what they changed."""
        changed = self.state.apply(fresh)
        if changed.has_hold:
            self.textual.show_hold()
        if self.conversation.view.is_following and self.state.trim():
            self.presenter.another_part()
        if changed.has_first:
            self.presenter.everything()
        else:
            self.presenter.what_changed(changed)
        self.conversation.take_events(fresh)
        self.places.tell(fresh)
        self.toasts.take(fresh)
        self.tell(changed.troubles)
        self.keep_time()
        if changed.has_first or self.context.backend.opening:
            self.first_page.follow()
        self.presenter.footer()

    def tell(self, troubles: Iterable[Event] = ()) -> None:
        """Ring, and notify outside of the terminal, if something waits that did not; tell of troubles."""
        self.toasts.tell(troubles)
        self.toasts.ring()

    def keep_time(self) -> None:
        """Wake up when something on the screen counts on, and not at all while nothing does."""
        self.redraw_timer.keep()

    def begin_time(self) -> None:
        """Count on from the first frame on."""
        self.keep_time()
        self.redraw_timer.begin()

    # --- where things are -----------------------------------------------------------------------

    @property
    def focused_pane(self) -> Pane | None:
        """Return the pane that has the focus."""
        return next((pane for pane in self.panes if pane.has_pane_focus), None)

    def on_resize(self) -> None:
        """Arrange anew in another size."""
        self.layout_controller.rearrange()

    def on_toast_box_pressed(self, message: "ToastBox.Pressed") -> None:
        """Go where a toast leads; named so that its class need not be loaded for it."""
        self.go_to(message.place)

    def on_screen_resume(self) -> None:
        """Take what is under the answering keys for new: a dialog was over it."""
        if self.has_frame:
            self.approvals.uncovered()
            self.pipeline.uncovered()

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

    @on(PaneRule.Changed)
    def _rule_changed(self) -> None:
        self.layout_controller.status()

    @property
    def place(self) -> int:
        """Return the number of the place where the user is."""
        return self.places.current

    @property
    def panes(self) -> Sequence[Pane]:
        """Return the five panes, and places that were opened since."""
        return self.places.panes

    def go_to(self, place: int) -> None:
        """Go to a place: give its pane the focus, and the body where there is room for one only."""
        is_other = place != self.places.current
        if not self.places.enter(place):
            return
        if self.approvals.is_full and place != self.approvals.PLACE:
            self.approvals.is_full = False
        self.layout_controller.rearrange()
        self.presenter.head()
        pane = next(pane for pane in self.panes if place == pane.PLACE)
        # At once: a footer of the pane that was left would be drawn over the body of this one. A place that
        # is made now takes the focus itself; until then no pane has keys.
        view = pane.focus_view if pane.focus_view.is_attached else None
        if is_other and self.has_frame and not self.layout_controller.is_tiny:
            self.set_focus(view)
            self.presenter.footer()
        elif view is not None:
            view.focus()

    def on_descendant_focus(self) -> None:
        """Note where the user is, whichever way they came."""
        pane = self.focused_pane
        if pane is not None and self.place != pane.PLACE:
            self.places.current = pane.PLACE
            self.presenter.head()
            if self.layout_controller.is_alone:
                self.layout_controller.rearrange()
        self.rule.set_focused(self.widgets.composer.is_written_in)
        self.presenter.footer()

    def on_descendant_blur(self) -> None:
        """Keys may mean nothing now."""
        self.rule.set_focused(self.widgets.composer.is_written_in)
        self.presenter.footer()

    @on(tui_pane.PlaceWanted)
    @on(Tabs.Clicked)
    def _go_to(self, message: tui_pane.PlaceWanted | Tabs.Clicked) -> None:
        self.go_to(message.place)

    @on(PaneTitle.Pressed)
    def _title_pressed(self, message: PaneTitle.Pressed) -> None:
        for ancestor in message.title.ancestors:
            if isinstance(ancestor, Pane):
                self.go_to(ancestor.PLACE)
                return

    @on(tui_pane.BackToPane)
    def _back_to_pane(self) -> None:
        self.go_to(self.place)

    @on(tui_pane.NextPane)
    def _next_pane(self) -> None:
        self.run_key("app.pane-next")

    @on(tui_pane.FirstWaiting)
    def _first_waiting(self) -> None:
        if not self.context.show_first_waiting():
            self.say("Nothing waits.")

    @on(tui_pane.OpenDetail)
    def _open_detail(self, message: tui_pane.OpenDetail) -> None:
        call = self.state.listed_call(message.row_id)
        action = self.state.actions.get(call.action_id or "") if call else None
        if action is not None and action.state == "pending":
            self.context.show_action(action.id)
        elif call is not None:
            self.places.is_zoomed = True
            self.go_to(self.tools.PLACE)
            self.tools.put_cursor(call.id)

    @on(tui_pane.StepOpened)
    def _open_step(self, message: tui_pane.StepOpened) -> None:
        self.go_to(self.pipeline.PLACE)
        if message.step:
            self.pipeline.graph.put_cursor(message.step)

    @on(ApprovalsPane.FullChanged)
    def _full_changed(self) -> None:
        self.layout_controller.rearrange()
        self.presenter.footer()

    # --- what is said, and lines that are typed -----------------------------------------------------

    def say(self, text: str, *, is_error: bool = False, is_kept: bool = True, about: str = "") -> None:
        """Say a sentence on the rule, for four seconds; it is kept in the messages."""
        if is_kept:
            self.notifications.keep(self.state.source.now(), text, is_error=is_error)
        self.rule.say(text, is_error=is_error, about=about)

    def say_unasked(self, text: str, *, is_error: bool = False) -> None:
        """Say what no key asked for; while the rule shows what a key did, only the messages have it."""
        if is_error or self.rule.said in ("", self._said_unasked):
            self._said_unasked = text
            self.say(text, is_error=is_error)
        else:
            self.notifications.keep(self.state.source.now(), text, is_error=False)

    @on(tui_pane.StatusMessage)
    def _said(self, message: tui_pane.StatusMessage) -> None:
        self.say(message.text, is_error=message.is_error, is_kept=message.is_kept, about=message.about)

    @on(tui_pane.AnswerEnded)
    def _answer_ended(self, message: tui_pane.AnswerEnded) -> None:
        self.rule.end_advice(message.following)

    @on(tui_pane.KeysChanged)
    def _keys_changed(self) -> None:
        """Say what the keys do now, once the frame is out that shows what the last one did."""
        if not self._says_keys:
            self._says_keys = True
            self.call_after_refresh(self._say_keys)

    def _say_keys(self) -> None:
        self._says_keys = False
        self.presenter.footer()
        self.presenter.composer()

    @on(tui_pane.LineWanted)
    def _line_asked(self, message: tui_pane.LineWanted) -> None:
        self.layout_controller.show_bottom(is_shown=False)
        self.layout_controller.line_bar.ask(message)

    # --- what panes ask for -------------------------------------------------------------------------

    @on(tui_pane.DetailWanted)
    def _detail_wanted(self, message: tui_pane.DetailWanted) -> None:
        if message.action_id == self.approvals.queue.cursor and self.has_frame:
            self.detail_request.changed(message.action_id)

    def before_input(self, key: str) -> bool:
        return self.detail_request.make_before_key(key)

    @on(tui_pane.ToolWanted)
    def _tool_wanted(self, message: tui_pane.ToolWanted) -> None:
        call = self.state.listed_call(message.call_id)
        shown = self.presenter.call_in_full(call.id) if call is not None else None
        if shown is not None:
            self.tools.show_detail(shown)

    @on(tui_pane.StepWanted)
    def _step_wanted(self, message: tui_pane.StepWanted) -> None:
        if message.is_opened:
            self.places.is_zoomed = True
            self.go_to(self.pipeline.PLACE)
            self.pipeline.call_after_refresh(self.pipeline.open_step)
        if message.step == self.pipeline.graph.cursor:
            self.pipeline.show_step(self.presenter.step_in_full(message.step or ""))

    @on(tui_pane.SessionChosen)
    def _session_chosen(self, message: tui_pane.SessionChosen) -> None:
        self.show_session(message.session_id)

    def show_session(self, session_id: str) -> None:
        """Show a session or a run in all panes."""
        self.state.choose(session_id)
        self.presenter.everything()
        self.context.tasks.read_about_session(session_id)
        self.context.tasks.read_asks()

    @on(tui_pane.DecisionReported)
    def _decided(self, message: tui_pane.DecisionReported) -> None:
        self.look()
        self.approvals.decided(message)
        if message.result is not None and message.result.ok:
            self.context.tasks.ensure_host(self.context.folders.of_action(message.action_id))
            self.context.tasks.read_asks()
            self._say_findings_answered(message.action_id)

    def _say_findings_answered(self, action_id: str) -> None:
        """Say which key leads to the findings once nothing of their list waits; the focus stays."""
        action = self.state.actions.get(action_id)
        session = self.state.sessions.get(action.session_id) if action is not None else None
        if session is None or not session.parent_id or "incident_ids" not in session.configuration:
            return
        sessions = (self.state.sessions.get(waiting.session_id) for waiting in self.state.pending)
        if not any(other is not None and other.parent_id == session.parent_id for other in sessions):
            # Behind what the pane says of the answer itself.
            self.approvals.post_message(tui_pane.StatusMessage(_FINDINGS_ANSWERED))

    @on(tui_pane.PromptSent)
    def _prompt_sent(self, message: tui_pane.PromptSent) -> None:
        self.context.tasks.prompt(message.text)

    @on(tui_pane.QueuedPromptEdited)
    def _queued_prompt_edited(self, message: tui_pane.QueuedPromptEdited) -> None:
        self.context.tasks.edit_queued(message.session_id, message.prompt_id, message.text)

    @on(tui_pane.StopAgent)
    def _interrupt(self) -> None:
        self.context.tasks.ask_current(self.context.backend.interrupt_session, "Asked to stop.")

    @on(tui_pane.ContinueSession)
    def _continue(self) -> None:
        self.context.tasks.ask_current(self.context.backend.continue_session, "Continues.")

    @on(tui_pane.RetryModelCall)
    def _retry(self) -> None:
        self.context.tasks.ask_current(self.context.backend.continue_session, "Asks again.")

    @on(tui_pane.CopyText)
    def _copy(self, message: tui_pane.CopyText) -> None:
        if not self.context.backend.copy_to_clipboard(message.text):
            self.textual.copy_to_clipboard(message.text)
        self.say("Copied." if not message.what else f"Copied: {message.what}.")

    @on(tui_pane.PipeWanted)
    def _pipe_asked(self, message: tui_pane.PipeWanted) -> None:
        from workbench.tui.main.pipe_prompt import PipePrompt

        PipePrompt(self.context, message.text).ask()

    @on(tui_pane.CommandTyped)
    def _command_typed(self, message: tui_pane.CommandTyped) -> None:
        from workbench.tui.main.slash_commands import run_slash_command

        run_slash_command(self.context, message.name.lstrip("/"), message.rest)

    @on(tui_pane.LogWanted)
    def _log_wanted(self, message: tui_pane.LogWanted) -> None:
        from workbench.tui.main.info_pages import open_log

        open_log(self.context, message.error)

    # --- keys of everywhere ---------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "do" and (key_id := str(parameters[0])).startswith(("first.", "demo.")):
            return self.first_page.takes(key_id)
        if action == "do" and str(parameters[0]).startswith("trust."):
            return self.approvals.asks_for_trust and self.layout_controller.is_shown(self.approvals)
        return super().check_action(action, parameters)

    def action_do(self, key_id: str) -> None:
        if key_id.startswith("trust."):
            # No letter: it counts wherever the focus is while its question is drawn.
            self.approvals.action_do(key_id)
        else:
            super().action_do(key_id)

    def focus_next_pane(self, step: int) -> None:
        """Give the next (1) or previous (-1) pane the focus."""
        if self.places.is_away:
            self.context.go_back()
            return
        is_alone = self.layout_controller.is_alone
        places = list(PANE_PLACES) if is_alone else [pane.PLACE for pane in self.focusable_panes()]
        index = places.index(self.place) if self.place in places else 0
        self.go_to(places[(index + step) % len(places)])

    def stop_agent(self) -> bool:
        current = None if self.is_recording else self.state.current
        if current is None or current.status != "processing" or current.is_supervised:
            return False
        self.post_message(tui_pane.StopAgent())
        return True

    def compose_message(self) -> None:
        """Give the composer the focus; say so where nothing can be sent to the agent on show."""
        if self.state.current is not None and (why := why_not_asked(self.state.current)):
            self.say(f"{why} Nothing can be sent to it from here; ctrl+n starts a session.")
            if not self.presenter.has_model:
                return
        elif not self.presenter.has_model:
            self.say("There is no model yet that could read it: p says how one is set up.")
            return
        if self.places.is_away:
            self.go_to(self.conversation.PLACE)
        self.composer.focus_input()

    def toggle_zoom(self) -> None:
        """Give the pane the whole body, or take it back."""
        self.places.is_zoomed = not self.places.is_zoomed
        self.layout_controller.rearrange()
        self.approvals.disarm()

    def begin_session(self) -> None:
        """Begin a new session with the next message; again choose whether it gets a worktree of its own."""
        from workbench.tui.main import next_session

        if self.state.current is None and self.composer.is_written_in:
            next_session.toggle_worktree(self.context)
            return
        next_session.begin_session(self.context)
        self.compose_message()
        if self.presenter.has_model:
            self.say("Your next message starts a new session.", is_kept=False)

    def copy_or_stop(self) -> None:
        """Copy the selection if there is one, else stop the agent on show and take the next message."""
        if text := self.get_selected_text():
            self.post_message(tui_pane.CopyText(text, ""))
            return
        if self.state.current is None or self.state.current.status != "processing":
            self.say("No agent works here. q q leaves.")
            return
        if why := why_not_asked(self.state.current, "turn"):
            self.say(why)
            return
        self._interrupt()
        self.composer.focus_input()

    def back(self) -> None:
        """Go back one level; it never decides anything."""
        if (pane := self.places.filtered) is not None and not self.places.is_away:
            pane.line_dropped("filter")
        elif self.places.is_away:
            self.context.go_back()
        elif self.conversation.finding.text and self.place == self.conversation.PLACE:
            self.conversation.end_finding()
        elif self.places.is_zoomed:
            self.toggle_zoom()
        elif self.place != self.approvals.PLACE:
            self.go_to(self.approvals.PLACE)

    def leave_app(self) -> None:
        """Leave; agents keep working. What waits or works is said first, the same key again leaves."""
        from workbench.tui.main.notifications import ask_to_leave

        if ask_to_leave(self.context):
            self.textual.exit()

    def confirm(self, key_id: str) -> None:
        if key_id == "app.leave":
            self.textual.exit()
        else:
            super().confirm(key_id)

    def show_waiting(self, key_id: str, words: str) -> None:
        if key_id == "app.leave":
            from workbench.tui.main.notifications import show_leave_notice

            show_leave_notice(self.context, is_shown=bool(words))

    @property
    def is_on_show(self) -> bool:
        return self.is_active

    @property
    def is_leaving(self) -> bool:
        return self.context.is_leaving

    def stay(self) -> None:
        from workbench.tui.main.notifications import stay

        stay(self.context)

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

    def hint_of_key(self, key: str) -> str:
        users = keymap.user_keymap(self)
        for pane in self.focusable_panes():
            for row in () if pane.has_pane_focus else keymap.keys_of_scopes(pane.scopes()):
                if keymap.is_key_of(row.id, key, users) and not pane.why_not(row.id):
                    place = keymap.own_key(keymap.key_of(PLACES[pane.PLACE].key_id), users)
                    return f"{keymap.printed_key(key)} is a key of {pane.NAME}: {place} goes there."
        return self.first_page.hint_of_key(key)

    # --- text that was typed where keys decide ------------------------------------------------------

    @property
    def keeps_text(self) -> bool:
        return self.presenter.has_model

    def remember_text(self, before: str, text: str) -> None:
        self.composer.history.grow(before, text)

    def focus_composer(self) -> None:
        self.layout_controller.focus_composer()

    def show_keys(self) -> None:
        self.presenter.footer()

    def restore_choices(self, since: float, done: Sequence[str]) -> None:
        if done.count("approvals.folders") % 2:
            self.context.folders.toggle()
        if not self.approvals.choosing.restore_choices(since):
            return
        self.approvals.draw_detail()
        if self.pipeline.is_answering:
            self.pipeline.answer.draw_detail()

    @property
    def takes_text(self) -> bool:
        layout = self.layout_controller
        is_tiny = layout.arrangement is None or layout.is_tiny
        has_field = layout.has_composer and self.place in PANE_PLACES
        return self.is_current and has_field and not (is_tiny or layout.is_line_asked or self.is_leaving)

    def focusable_panes(self) -> Iterator[Pane]:
        """Yield the panes that are on the screen, by their numbers."""
        yield from (pane for pane in self.panes if self.layout_controller.is_shown(pane))
